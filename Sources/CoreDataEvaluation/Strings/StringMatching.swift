import CoreDataPredicates
import Foundation

// Text compared, searched and matched as predicates do. The evaluator calls these functions and the SQL
// engines register them, so memory and store agree.
//
// - Without options, and with `n`, text is compared by code points, unaware of composed
//   and decomposed forms.
// - `c` and `d` fold both sides first (``fold(_:options:)``).
// - `l` compares with Foundation, in the current locale.

extension StringMatching {
  /// The order of two texts: by code points, of the folded texts with `c` or `d`, of the locale with `l`.
  package static func compare(
    _ left: String, _ right: String, _ options: ComparisonOptions = []
  ) -> ComparisonResult {
    switch Mode(options) {
    case .literal: return literalOrder(left, right)
    case .folded:
      if let result = asciiOrder(left, right, folding: options.contains(.caseInsensitive)) { return result }
      return literalOrder(fold(left, options: options), fold(right, options: options))
    case .localized: return localizedOrder(left, right, options)
    }
  }

  package static func equals(_ left: String, _ right: String, _ options: ComparisonOptions = []) -> Bool {
    switch Mode(options) {
    case .literal: literallyEqual(left, right)
    case .folded, .localized: compare(left, right, options) == .orderedSame
    }
  }

  /// Whether `text` contains `part`. An empty part is never found.
  package static func contains(_ text: String, _ part: String, _ options: ComparisonOptions = []) -> Bool {
    search(text, part, options, [], ByteSearch.contains)
  }

  /// Whether `text` begins with `part`. False for an empty part.
  package static func beginsWith(_ text: String, _ part: String, _ options: ComparisonOptions = []) -> Bool {
    search(text, part, options, .anchored, ByteSearch.begins)
  }

  /// Whether `text` ends with `part`. False for an empty part.
  package static func endsWith(_ text: String, _ part: String, _ options: ComparisonOptions = []) -> Bool {
    search(text, part, options, [.anchored, .backwards], ByteSearch.ends)
  }

  /// Whether the whole text matches a pattern of `*` (any run), `?` (one character), `\*`, `\?` and `\\`.
  package static func like(_ text: String, _ pattern: String, _ options: ComparisonOptions = []) -> Bool {
    LikePattern(pattern, options).matches(text)
  }

  /// Whether the whole text matches an ICU regular expression. Compiled expressions are cached.
  ///
  /// - Throws: ``PredicateError`` if the expression is invalid, or the match does not terminate.
  package static func matches(
    _ text: String, _ pattern: String, _ options: ComparisonOptions = []
  ) throws(CoreDataPredicates.PredicateError) -> Bool {
    try RegularExpressionCache.shared.expression(pattern, options).matches(text)
  }

  /// Folds a text for `c` and `d`: two texts are equal under these options if their folded forms are. `n`
  /// folds nothing.
  package static func fold(_ text: String, options: ComparisonOptions) -> String {
    if options.contains(.normalized) { return text }
    var text: String = text
    let isASCII: Bool = text.withUTF8 { $0.isASCII }
    if isASCII { return options.contains(.caseInsensitive) ? text.lowercased() : text }
    var foldings: String.CompareOptions = []
    if options.contains(.caseInsensitive) { foldings.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { foldings.insert(.diacriticInsensitive) }
    if foldings.isEmpty { return text }
    // Composed last, so that a base letter is not found inside an accented one.
    let folded: String = text.folding(options: foldings, locale: nil)
    return folded.utf8.allSatisfy { $0 < 0x80 } ? folded : folded.precomposedStringWithCanonicalMapping
  }

  // MARK: Modes

  enum Mode {
    case literal
    case folded
    case localized

    init(_ options: ComparisonOptions) {
      if options.contains(.normalized) {
        self = .literal
      } else if options.contains(.localeSensitive) {
        self = .localized
      } else if options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) {
        self = .literal
      } else {
        self = .folded
      }
    }
  }

  private static func search(
    _ text: String, _ part: String, _ options: ComparisonOptions, _ place: String.CompareOptions,
    _ bytes: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    if part.isEmpty { return false }
    switch Mode(options) {
    case .literal: return withBytes(text, part, bytes)
    case .folded: return withBytes(fold(text, options: options), fold(part, options: options), bytes)
    case .localized:
      let foldings: String.CompareOptions = foundationOptions(options).union(place)
      return text.range(of: part, options: foldings, range: nil, locale: .current) != nil
    }
  }

  private static func localizedOrder(
    _ left: String, _ right: String, _ options: ComparisonOptions
  ) -> ComparisonResult {
    left.compare(right, options: foundationOptions(options), range: nil, locale: .current)
  }

  private static func foundationOptions(_ options: ComparisonOptions) -> String.CompareOptions {
    var result: String.CompareOptions = []
    if options.contains(.caseInsensitive) { result.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { result.insert(.diacriticInsensitive) }
    return result
  }

  // MARK: Bytes

  private static func literalOrder(_ left: String, _ right: String) -> ComparisonResult {
    withBytes(left, right, ByteSearch.order)
  }

  /// The order of two ASCII texts without folded copies; nil if either is not ASCII.
  private static func asciiOrder(_ left: String, _ right: String, folding: Bool) -> ComparisonResult? {
    withBytes(left, right) { a, b in
      guard a.isASCII, b.isASCII else { return nil }
      for index in 0..<min(a.count, b.count) {
        let x: UInt8 = folding ? lowercased(a[index]) : a[index]
        let y: UInt8 = folding ? lowercased(b[index]) : b[index]
        if x != y { return x < y ? .orderedAscending : .orderedDescending }
      }
      return a.count < b.count ? .orderedAscending : a.count > b.count ? .orderedDescending : .orderedSame
    }
  }

  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  @inline(__always)
  static func withBytes<Result>(
    _ left: String, _ right: String,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    var left: String = left
    var right: String = right
    return left.withUTF8 { a in right.withUTF8 { b in body(a, b) } }
  }
}
