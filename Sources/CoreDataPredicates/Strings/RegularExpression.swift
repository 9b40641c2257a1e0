import Foundation

/// A compiled `MATCHES` pattern.
package final class RegularExpression: @unchecked Sendable {
  // Immutable after init; NSRegularExpression may be used from any thread.
  private let expression: NSRegularExpression
  /// The pattern wrapped so that it must reach the end; nil where wrapping breaks it (an open `\Q` or `#` comment).
  private let anchored: NSRegularExpression?
  private let ignoresDiacritics: Bool

  /// - Throws: ``PredicateError`` when the pattern is invalid.
  package init(_ pattern: String, _ options: ComparisonOptions) throws(PredicateError) {
    ignoresDiacritics = options.contains(.diacriticInsensitive) && !options.contains(.normalized)
    let pattern: String =
      ignoresDiacritics ? StringMatching.fold(pattern, options: .diacriticInsensitive) : pattern
    let ignoresCase: Bool = options.contains(.caseInsensitive) && !options.contains(.normalized)
    let flags: NSRegularExpression.Options = ignoresCase ? .caseInsensitive : []
    do {
      expression = try NSRegularExpression(pattern: pattern, options: flags)
    } catch {
      throw .evaluation(
        "Can't do regex matching, reason: the pattern \"\(pattern.prefix(200))\" of MATCHES is no valid ICU "
          + "regular expression. Escape brackets and backslashes that are meant literally, or use LIKE.")
    }
    anchored = try? NSRegularExpression(pattern: "(?:\(pattern))\\z", options: flags)
  }

  /// Whether the whole text matches.
  package func matches(_ text: String) -> Bool {
    let text: String = ignoresDiacritics ? StringMatching.fold(text, options: .diacriticInsensitive) : text
    let whole: NSRange = NSRange(location: 0, length: text.utf16.count)
    // The wrapped pattern finds whole matches that come second to a shorter one, as `a|ab` on "ab".
    let expression: NSRegularExpression = anchored ?? expression
    return expression.firstMatch(in: text, options: .anchored, range: whole)?.range == whole
  }
}

/// The compiled patterns of the process: statements and evaluations that follow each other mostly ask for the same ones.
package final class RegularExpressionCache: @unchecked Sendable {
  // `lock` guards `entries`.
  package static let shared: RegularExpressionCache = .init()

  private struct Key: Hashable {
    let pattern: LiteralText
    let options: ComparisonOptions
  }

  private static let capacity: Int = 64
  private let lock: NSLock = .init()
  private var entries: [Key: RegularExpression] = [:]

  /// - Throws: ``PredicateError`` when the pattern is invalid.
  package func expression(
    _ pattern: String, _ options: ComparisonOptions
  ) throws(PredicateError) -> RegularExpression {
    let key: Key = Key(pattern: LiteralText(pattern), options: options)
    if let known = lock.withLock({ entries[key] }) { return known }
    let expression: RegularExpression = try RegularExpression(pattern, options)
    lock.withLock {
      // Emptied rather than aged: few programs have more patterns, and they pay one compilation each.
      if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
      entries[key] = expression
    }
    return expression
  }
}
