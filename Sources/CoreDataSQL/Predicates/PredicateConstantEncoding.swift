import CoreDataPredicates
import CoreDataStorage
import Foundation

/// How a constant is bound so that it can be equal to a column's values.
enum BoundValue {
  case value(SQLValue)
  case null
  /// No value of that type ever equals it: a string beside a number, NaN.
  case never
}

enum PredicateConstantEncoding {
  /// The constant in the form in which columns of this type store it.
  static func bind(_ value: PredicateValue, as type: ValueType) -> BoundValue {
    if value.isNull { return .null }
    switch (type, value) {
    case (.integer, _) where value.isNumber, (.real, _) where value.isNumber,
      (.number, _) where value.isNumber:
      return number(value).map(BoundValue.value) ?? .never
    case (.decimal, _) where value.isNumber:
      return (decimal(value) ?? number(value)).map(BoundValue.value) ?? .never
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

  /// A number that is exactly a decimal, as a decimal column holds it; nil for doubles, which only resemble one.
  static func decimal(_ value: PredicateValue) -> SQLValue? {
    switch value {
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .integer(let number): .integer(number)
    case .unsigned(let number): DecimalText.stored(Decimal(number))
    case .decimal(let number): DecimalText.stored(number)
    default: nil
    }
  }

  /// Any number as an integer or a real; nil for NaN, which SQLite would take for `NULL`.
  static func number(_ value: PredicateValue) -> SQLValue? {
    switch value {
    case .bool(let flag): return .integer(flag ? 1 : 0)
    case .integer(let number): return .integer(number)
    case .unsigned(let number): return .real(Double(number))
    case .double(let number): return number.isNaN ? nil : .real(number)
    case .decimal(let number):
      if let integer = Int64(number.description) { return .integer(integer) }
      guard let real = NumberComparison.double(value), !real.isNaN else { return nil }
      return .real(real)
    default: return nil
    }
  }

  /// The type a constant has on its own, for arithmetic and for comparisons of computed values; nil for what no column holds.
  static func type(of value: PredicateValue) -> ValueType? {
    switch value {
    case .bool, .integer: .integer
    case .unsigned, .double: .real
    case .decimal: .decimal
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .url: .url
    case .data: .data
    case .null, .nullObject, .array, .set, .dictionary, .object: nil
    }
  }
}

extension SQLValue {
  /// A value as columns of its own type hold it; nil for what no column holds.
  package init?(_ value: PredicateValue) {
    if value.isNull {
      self = .null
      return
    }
    guard let type = PredicateConstantEncoding.type(of: value),
      case .value(let bound) = PredicateConstantEncoding.bind(value, as: type)
    else { return nil }
    self = bound
  }
}
