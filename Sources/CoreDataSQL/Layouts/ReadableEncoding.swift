import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Values in columns of specific types: Booleans, timestamps in microseconds, UUIDs, exact numbers.
///
/// Integers are bound as such, and a constant that is no integer becomes a limit with the same result for
/// integers (`rank < 2.5` is `rank <= 2`); the same applies to dates, which the database stores in
/// microseconds.
package struct ReadableEncoding: ValueEncoding {
  package init() {}

  package func form(of kind: ColumnKind) -> StoredForm {
    switch kind {
    case .int16, .int32, .int64, .toOne: .integer
    case .bool: .boolean
    case .double, .float: .real
    case .date: .timestamp
    case .decimal: .numeric
    case .string, .uri: .text
    case .uuid: .uuid
    case .data, .transformable: .bytes
    }
  }

  package func bind(_ constant: PredicateValue, as type: ValueType, comparedBy symbol: SQLOperator)
    -> BoundValue
  {
    if constant.isNull { return .null }
    switch (type, constant) {
    case (.integer, _) where constant.isNumber: return whole(constant, symbol)
    case (.real, _) where constant.isNumber, (.number, _) where constant.isNumber: return real(constant)
    case (.decimal, _) where constant.isNumber: return exact(constant)
    case (.string, .string(let text)): return self.text(text, symbol)
    case (.url, .url(let url)): return self.text(url.absoluteString, symbol)
    case (.date, .date(let date)):
      let microseconds: Double = date.timeIntervalSinceReferenceDate * 1e6
      return Self.rounded(microseconds, symbol).map { .value(.timestamp($0)) } ?? .never
    case (.uuid, .uuid(let uuid)): return .value(.uuid(uuid))
    case (.data, .data(let data)): return .value(.blob(data))
    default: return .never
    }
  }

  package func read(_ column: SQLExpression, _ kind: ColumnKind) -> SQLExpression {
    kind == .bool ? .cast(column, .flag) : column
  }

  package func numberTest(
    _ symbol: SQLOperator, _ value: SQLExpression, _ type: ValueType, _ constant: PredicateValue
  ) -> SQLExpression? {
    if case .cast(let column, .flag) = value, symbol == .equal, let flag = Self.flag(constant) {
      return .binary(.equal, column, .bound(.boolean(flag)))
    }
    // A comparison of decimals with doubles is one of doubles.
    guard type == .decimal, case .double(let number) = constant else { return nil }
    return number.isNaN ? .truth(false) : .binary(symbol, .cast(value, .real), .bound(.real(number)))
  }

  package func seconds(ofDate value: SQLExpression) -> SQLExpression {
    .binary(.subtract, .builtin("date_part", [.text("epoch"), value]), .integer(Self.secondsBefore2001))
  }

  package func date(ofSeconds value: SQLExpression) throws -> SQLExpression {
    throw StoreError.unsupported(
      part: "CAST to NSDate", reason: "PostgreSQL fails for seconds that no date of its own is",
      advice: "filter the fetched objects")
  }

  /// From 1970 to 2001.
  private static let secondsBefore2001: Int64 = 978_307_200

  // MARK: Numbers

  private static func flag(_ constant: PredicateValue) -> Bool? {
    switch constant {
    case .bool(let flag): flag
    case .integer(let number): number == 0 ? false : number == 1 ? true : nil
    default: nil
    }
  }

  private func whole(_ constant: PredicateValue, _ symbol: SQLOperator) -> BoundValue {
    switch constant {
    case .bool(let flag): return .value(.integer(flag ? 1 : 0))
    case .integer(let number): return .value(.integer(number))
    case .unsigned(let number): return .value(.decimal("\(number)"))
    case .double(let number):
      if let rounded = Self.rounded(number, symbol) { return .value(.integer(rounded)) }
      return number.isNaN || symbol == .equal ? .never : .value(.real(number))
    case .decimal(let number):
      if number.isNaN { return .never }
      return .value(Int64(number.description).map(SQLValue.integer) ?? .decimal(number.description))
    default: return .never
    }
  }

  private func real(_ constant: PredicateValue) -> BoundValue {
    guard let number = NumberComparison.double(constant), !number.isNaN else { return .never }
    return .value(.real(number))
  }

  private func exact(_ constant: PredicateValue) -> BoundValue {
    switch constant {
    case .bool(let flag): .value(.decimal(flag ? "1" : "0"))
    case .integer(let number): .value(.decimal("\(number)"))
    case .unsigned(let number): .value(.decimal("\(number)"))
    case .decimal(let number): number.isNaN ? .never : .value(.decimal(number.description))
    default: .never
    }
  }

  /// The integer to compare with in place of `number`, so that the result for integers is the same; nil if
  /// none equals it, or if it exceeds 64 bits.
  private static func rounded(_ number: Double, _ symbol: SQLOperator) -> Int64? {
    switch symbol {
    case .less, .greaterOrEqual: Int64(exactly: number.rounded(.up))
    case .lessOrEqual, .greater: Int64(exactly: number.rounded(.down))
    default: Int64(exactly: number)
    }
  }

  // MARK: Text

  /// No text of the database contains a NUL. A constant that does sorts between the part before it, `head`,
  /// and every longer text.
  private func text(_ text: String, _ symbol: SQLOperator) -> BoundValue {
    guard let end = text.unicodeScalars.firstIndex(of: "\0") else { return .value(.text(text)) }
    let head = String(text.unicodeScalars[..<end])
    switch symbol {
    case .less, .greaterOrEqual: return .value(.text(head + "\u{1}"))
    case .lessOrEqual, .greater: return .value(.text(head))
    default: return .never
    }
  }
}
