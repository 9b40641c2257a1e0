import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Values in Apple's columns: numbers and Booleans as integers and reals, dates as seconds since 2001, UUIDs
/// as their 16 bytes, URLs as text, decimals in two forms (``DecimalText``).
package struct AppleEncoding: ValueEncoding {
  package init() {}

  package func form(of kind: ColumnKind) -> StoredForm {
    switch kind {
    case .int16, .int32, .int64, .bool, .toOne: .integer
    case .double, .float, .date: .real
    case .decimal: .decimalText
    case .string, .uri: .text
    case .uuid, .data, .transformable: .bytes
    }
  }

  package func read(_ column: SQLExpression, _ kind: ColumnKind) -> SQLExpression { column }
  package func seconds(ofDate value: SQLExpression) -> SQLExpression { value }
  package func date(ofSeconds value: SQLExpression) -> SQLExpression { value }

  /// The same for all operators.
  package func bind(_ value: PredicateValue, as type: ValueType, comparedBy symbol: SQLOperator)
    -> BoundValue
  {
    if value.isNull { return .null }
    switch (type, value) {
    // A decimal and a double are compared as doubles, also if the decimal is an integer that no double is.
    case (.real, .decimal): return Self.real(value).map(BoundValue.value) ?? .never
    case (.integer, _) where value.isNumber, (.real, _) where value.isNumber,
      (.number, _) where value.isNumber:
      return Self.number(value).map(BoundValue.value) ?? .never
    case (.decimal, _) where value.isNumber:
      return (Self.decimal(value) ?? Self.number(value)).map(BoundValue.value) ?? .never
    case (.string, .string(let text)): return .value(.text(text))
    case (.date, .date(let date)):
      let seconds: Double = date.timeIntervalSinceReferenceDate
      return seconds.isNaN ? .never : .value(.real(seconds))
    case (.uuid, .uuid(let uuid)): return .value(.blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }))
    case (.url, .url(let url)): return .value(.text(url.absoluteString))
    case (.data, .data(let data)): return .value(.blob(data))
    default: return .never
    }
  }

  /// The stored form of a number that is exactly a decimal; nil for doubles, which are only approximations.
  static func decimal(_ value: PredicateValue) -> SQLValue? {
    switch value {
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .integer(let number): .integer(number)
    case .unsigned(let number): DecimalText.stored(Decimal(number))
    case .decimal(let number): DecimalText.stored(number)
    default: nil
    }
  }

  /// Any number as an integer or a real; nil for NaN, which SQLite would store as `NULL`.
  private static func number(_ value: PredicateValue) -> SQLValue? {
    switch value {
    case .bool(let flag): return .integer(flag ? 1 : 0)
    case .integer(let number): return .integer(number)
    case .unsigned(let number): return .real(Double(number))
    case .double(let number): return number.isNaN ? nil : .real(number)
    case .decimal(let number):
      if let integer = Int64(number.description) { return .integer(integer) }
      return real(value)
    default: return nil
    }
  }

  /// The nearest double; nil for NaN.
  private static func real(_ value: PredicateValue) -> SQLValue? {
    guard let real = NumberComparison.double(value), !real.isNaN else { return nil }
    return .real(real)
  }
}

extension SQLValue {
  /// A value in the form in which Apple's columns of its own type hold it; nil for a value that no column
  /// holds.
  package init?(_ value: PredicateValue) {
    if value.isNull {
      self = .null
      return
    }
    guard let (bound, _) = AppleEncoding().bind(value) else { return nil }
    self = bound
  }
}
