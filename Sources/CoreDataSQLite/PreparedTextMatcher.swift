import CoreDataEvaluation
import CoreDataPredicates
import Foundation
import GRDBSQLite

/// A text operator of a statement, with its right side prepared.
///
/// That side usually is the same for all rows: it is folded, or compiled, at the first row, and SQLite keeps
/// the result beside the argument until the statement ends. The texts of rows are compared without being
/// copied.
final class PreparedTextMatcher {
  private enum Test {
    case bytes(TextTest)
    case like(LikePattern)
    /// nil for a pattern that is no regular expression and matches nothing. Constant patterns are checked
    /// earlier.
    case expression(RegularExpression?)
    /// A comparison by the rules of a locale, which Foundation does.
    case localized(String)
  }

  private let comparison: ComparisonOperator
  private let options: ComparisonOptions
  private let test: Test

  private init(_ comparison: ComparisonOperator, _ constant: String, _ options: ComparisonOptions) {
    self.comparison = comparison
    self.options = options
    switch comparison {
    case .like: test = .like(LikePattern(constant, options))
    case .matches: test = .expression(try? RegularExpressionCache.shared.expression(constant, options))
    default:
      test =
        TextTest.isTest(comparison, options)
        ? .bytes(TextTest(comparison, constant, options)) : .localized(constant)
    }
  }

  /// Whether the operator holds between the first two arguments; false if one of them is no text.
  ///
  /// - Throws: `PredicateError` for a match without an end.
  static func holds(
    _ comparison: ComparisonOperator, _ values: UnsafeBufferPointer<OpaquePointer?>,
    _ options: ComparisonOptions, _ context: OpaquePointer?
  ) throws -> Bool {
    guard let text = bytes(values[0]) else { return false }
    if let address = sqlite3_get_auxdata(context, 1) {
      let known: Bool? = try Unmanaged<PreparedTextMatcher>.fromOpaque(address)._withUnsafeGuaranteedRef {
        $0.comparison == comparison && $0.options == options ? try $0.holds(text) : nil
      }
      if let known { return known }
    }
    guard let constant = bytes(values[1]) else { return false }
    let made = PreparedTextMatcher(comparison, String(decoding: constant, as: UTF8.self), options)
    let result: Bool = try made.holds(text)
    // SQLite may release it at once, and does so if the argument changes from row to row.
    sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(made).toOpaque(), release)
    return result
  }

  private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { address in
    if let address { Unmanaged<PreparedTextMatcher>.fromOpaque(address).release() }
  }

  /// The UTF-8 of a text argument, valid until the argument is read in another way.
  private static func bytes(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
    guard sqlite3_value_type(value) == SQLITE_TEXT, let start = sqlite3_value_text(value) else { return nil }
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }

  private func holds(_ bytes: UnsafeBufferPointer<UInt8>) throws -> Bool {
    switch test {
    case .bytes(let test): return test.holds(bytes)
    case .like(let pattern): return pattern.matches(bytes)
    case .expression(let expression):
      return try expression?.matches(String(decoding: bytes, as: UTF8.self)) ?? false
    case .localized(let constant): return holds(String(decoding: bytes, as: UTF8.self), constant)
    }
  }

  private func holds(_ text: String, _ constant: String) -> Bool {
    switch comparison {
    case .contains: StringMatching.contains(text, constant, options)
    case .beginsWith: StringMatching.beginsWith(text, constant, options)
    case .endsWith: StringMatching.endsWith(text, constant, options)
    default: StringMatching.equals(text, constant, options)
    }
  }
}
