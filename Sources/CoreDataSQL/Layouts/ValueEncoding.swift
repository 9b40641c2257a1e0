import CoreDataPredicates
import CoreDataStorage

/// How a layout keeps the values of each attribute type: the one place that decides what is written for a
/// row, and what is bound for a constant that is compared with it.
package protocol ValueEncoding: Sendable {
  /// What a column of this kind holds.
  func form(of kind: ColumnKind) -> StoredForm

  /// The constant in the form in which columns of this type hold it, so that `column symbol constant` holds
  /// for the rows for which the comparison holds in memory.
  func bind(_ constant: PredicateValue, as type: ValueType, comparedBy symbol: SQLOperator) -> BoundValue

  /// `value symbol constant` where the database's own comparison with the bound constant would not do; nil
  /// where it does. Both are numbers.
  func numberTest(
    _ symbol: SQLOperator, _ value: SQLExpression, _ type: ValueType, _ constant: PredicateValue
  ) throws -> SQLExpression?

  /// A column as a value to compute with.
  func read(_ column: SQLExpression, _ kind: ColumnKind) -> SQLExpression

  /// Seconds since 2001, and the date that they are.
  func seconds(ofDate value: SQLExpression) throws -> SQLExpression
  func date(ofSeconds value: SQLExpression) throws -> SQLExpression
}

/// What a column holds, as it is bound and read.
package enum StoredForm: Sendable, Hashable {
  case integer, real, text, bytes
  /// A number as an integer, a real or text (``DecimalText``).
  case decimalText
  case boolean, timestamp, uuid
  /// An exact number of any length.
  case numeric
}

/// How a constant is bound so that it can be equal to a column's values.
package enum BoundValue: Sendable, Hashable {
  case value(SQLValue)
  case null
  /// No value of that type ever equals it: a string beside a number, NaN.
  case never
}

extension ValueType {
  /// The type a constant has on its own, for arithmetic and for comparisons of computed values; nil for what
  /// no column holds.
  init?(_ constant: PredicateValue) {
    switch constant {
    case .bool, .integer: self = .integer
    case .unsigned, .double: self = .real
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .url: self = .url
    case .data: self = .data
    case .null, .nullObject, .array, .set, .dictionary, .object: return nil
    }
  }
}

extension ValueEncoding {
  /// A constant as columns of its own type hold it; nil for what no column holds.
  func bind(_ constant: PredicateValue) -> (SQLValue, ValueType)? {
    guard let type = ValueType(constant),
      case .value(let bound) = bind(constant, as: type, comparedBy: .equal)
    else { return nil }
    return (bound, type)
  }
}
