import CoreDataPredicates
import Foundation

/// A compiled `MATCHES` pattern.
package final class RegularExpression: @unchecked Sendable {
  // Immutable after init; NSRegularExpression may be used from any thread.
  private let expression: NSRegularExpression
  /// The pattern extended so that it must reach the end; nil if that is impossible (an open `\Q` or `#`
  /// comment).
  private let anchored: NSRegularExpression?
  private let ignoresDiacritics: Bool
  /// For messages.
  private let pattern: String

  /// - Throws: ``PredicateError`` if the pattern is invalid.
  package init(_ pattern: String, _ options: ComparisonOptions) throws(CoreDataPredicates.PredicateError) {
    ignoresDiacritics = options.contains(.diacriticInsensitive) && !options.contains(.normalized)
    self.pattern = pattern
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

  /// How often ICU may report progress, which it does every ten thousand steps: half a second or so. Counted
  /// rather than timed, so that the result does not depend on the machine. Behind 33 million steps ICU gives
  /// up by itself, and says that nothing matches.
  private static let mostReports: Int = 2500

  private static let exhaustion: String = "MATCHES gave up on the pattern"

  /// Whether a message is that of an aborted match: SQLite returns only the message of an error.
  package static func isExhaustion(_ message: String) -> Bool { message.hasPrefix(exhaustion) }

  /// Whether the whole text matches.
  ///
  /// - Throws: ``PredicateError`` when ICU overflows its stack, or backtracks without end: there
  ///   is no result then.
  package func matches(_ text: String) throws(CoreDataPredicates.PredicateError) -> Bool {
    let text: String = ignoresDiacritics ? StringMatching.fold(text, options: .diacriticInsensitive) : text
    let whole: NSRange = NSRange(location: 0, length: text.utf16.count)
    // The extended pattern finds whole matches where a shorter alternative comes first, as `a|ab` on "ab".
    let expression: NSRegularExpression = anchored ?? expression
    var isWhole: Bool = false
    var reports: Int = 0
    var hasOverflown: Bool = false
    expression.enumerateMatches(
      in: text, options: [.anchored, .reportProgress, .reportCompletion], range: whole
    ) { result, flags, stop in
      if let result {
        isWhole = result.range == whole
        stop.pointee = true
      } else if flags.contains(.internalError) {
        hasOverflown = true
      } else if flags.contains(.progress) {
        reports += 1
        if reports > Self.mostReports { stop.pointee = true }
      }
    }
    if hasOverflown { throw exhaustion("ICU's stack overflowed", whole.length) }
    if reports > Self.mostReports { throw exhaustion("ICU backtracks without end", whole.length) }
    return isWhole
  }

  private func exhaustion(_ cause: String, _ length: Int) -> PredicateError {
    .exhausted(
      "\(Self.exhaustion) \"\(pattern.prefix(200))\" over a text of \(length) characters: \(cause). Repeat no group that "
        + "repeats something itself: a+b for (a+)+b, [ab]* for (a|b)*; or use possessive quantifiers such as a++."
    )
  }
}

/// The compiled patterns of the process: statements and evaluations that follow each other mostly use
/// the same ones.
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

  /// - Throws: ``PredicateError`` if the pattern is invalid.
  package func expression(
    _ pattern: String, _ options: ComparisonOptions
  ) throws(CoreDataPredicates.PredicateError) -> RegularExpression {
    let key: Key = Key(pattern: LiteralText(pattern), options: options)
    if let known = lock.withLock({ entries[key] }) { return known }
    let expression: RegularExpression = try RegularExpression(pattern, options)
    lock.withLock {
      // Emptied as a whole: few programs have more patterns, and these pay one compilation each.
      if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
      entries[key] = expression
    }
    return expression
  }
}
