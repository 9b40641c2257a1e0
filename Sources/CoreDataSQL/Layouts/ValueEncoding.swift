import CoreDataPredicates
import CoreDataStorage

/// How a layout stores the values of each attribute type: it decides what is written for a row, and what is
/// bound for a constant that is compared with it.
package protocol ValueEncoding: Sendable {
  /// The stored form of a column of this kind.
  func form(of kind: ColumnKind) -> StoredForm

  /// The constant in the form in which columns of this type hold it, so that `column symbol constant` is true
  /// for exactly the rows for which the comparison is true in memory.
  func bind(_ constant: PredicateValue, as type: ValueType, comparedBy symbol: SQLOperator) -> BoundValue

  /// `value symbol constant` in another form if the database's own comparison with the bound constant would
  /// be wrong; nil if it is right. Both are numbers.
  func numberTest(
    _ symbol: SQLOperator, _ value: SQLExpression, _ type: ValueType, _ constant: PredicateValue
  ) throws -> SQLExpression?

  /// A column as a value for computations.
  func read(_ column: SQLExpression, _ kind: ColumnKind) -> SQLExpression

  /// Seconds since 2001 of a date, and the reverse.
  func seconds(ofDate value: SQLExpression) throws -> SQLExpression
  func date(ofSeconds value: SQLExpression) throws -> SQLExpression
}

/// The form in which a column's values are bound and read.
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
  /// No value of that type equals it: a string compared with a number, NaN.
  case never
}

extension ValueType {
  /// The type of a constant alone, for arithmetic and for comparisons of computed values; nil for a constant
  /// that no column holds.
  init?(_ constant: PredicateValue) {
    guard let kind = constant.scalarKind else { return nil }
    self.init(kind)
  }
}

extension ValueEncoding {
  /// A constant in the form in which columns of its own type hold it; nil for a constant that no column
  /// holds.
  func bind(_ constant: PredicateValue) -> (SQLValue, ValueType)? {
    guard let type = ValueType(constant),
      case .value(let bound) = bind(constant, as: type, comparedBy: .equal)
    else { return nil }
    return (bound, type)
  }
}
