/// An expression of a statement, independent of any dialect.
///
/// Conditions follow one rule: an expression is *true* exactly when the predicate it represents is true in
/// memory. Otherwise the expression may be false or `NULL`; so a negation is `IS NOT TRUE`, never `NOT`.
/// `negated` has the cheaper forms. So SQL's third truth value never reaches a user, and `name = ?` still
/// uses its index.
package indirect enum SQLExpression: Sendable, Hashable {
  /// A column of a table under its alias; without alias in single-table statements.
  case column(String?, String)
  /// A column under its table's own name.
  case tableColumn(String, String)
  case bound(SQLValue)
  /// A bound value that is a parameter of the statement's shape: the n-th use of one (`ConstantTrace`).
  case constant(SQLValue, use: Int)
  /// The n-th value of a statement that is prepared once and bound often. Each is used once, in order.
  case parameter(Int)
  /// The n-th value, which may be used in several places.
  case numbered(Int)
  case integer(Int64)
  case null
  case truth(Bool)
  case binary(SQLOperator, SQLExpression, SQLExpression)
  case negative(SQLExpression)
  case bitNot(SQLExpression)
  /// Keeps the database from using an index for a column.
  case noIndex(SQLExpression)
  case all([SQLExpression])
  case any([SQLExpression])
  case isNull(SQLExpression)
  case isNotNull(SQLExpression)
  case isNotTrue(SQLExpression)
  case between(SQLExpression, SQLExpression, SQLExpression)
  case inList(SQLExpression, [SQLExpression])
  /// Equal to a member of an array.
  case inArray(SQLExpression, SQLExpression)
  case inSelect(SQLExpression, SelectStatement)
  case exists(SelectStatement, isNegated: Bool)
  case scalar(SelectStatement)
  case function(SQLFunction, [SQLExpression])
  case aggregate(SQLAggregate, [SQLExpression])
  /// A function every SQL database has under this name.
  case builtin(String, [SQLExpression])
  /// `DISTINCT x`, only as the argument of an aggregate.
  case distinct(SQLExpression)
  /// `x AS name`, only as a column of a nested select.
  case named(SQLExpression, String)
  /// `COUNT(*)`
  case countRows
  case choice(when: SQLExpression, then: SQLExpression, otherwise: SQLExpression)
  case cast(SQLExpression, SQLCast)
  /// Always in parentheses: for a text that is compared with the text of a definition.
  case enclosed(SQLExpression)
}

package enum SQLOperator: Sendable, Hashable {
  case equal
  /// Equal, `NULL` being equal to `NULL`.
  case same
  case notSame
  /// Different, and neither is `NULL`.
  case unequal
  case less, lessOrEqual, greater, greaterOrEqual
  case add, subtract, multiply, divide, remainder
  case bitAnd, bitOr, bitXor, shiftLeft, shiftRight
  /// A text and a pattern with SQL's own wildcards.
  case matchesPattern

  /// As the standard and most databases spell it; empty for operators that each database spells in its own
  /// way.
  var standard: String {
    switch self {
    case .equal: "="
    case .unequal: "<>"
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    case .add: "+"
    case .subtract: "-"
    case .multiply: "*"
    case .divide: "/"
    case .remainder: "%"
    case .bitAnd: "&"
    case .bitOr: "|"
    case .shiftLeft: "<<"
    case .shiftRight: ">>"
    case .matchesPattern: "LIKE"
    case .same, .notSame, .bitXor: ""
    }
  }
}

package enum SQLCast: Sendable, Hashable {
  case real, integer, text, bytes
  /// A truth value as 0 or 1.
  case flag
}

extension SQLExpression {
  /// True exactly when this expression is not.
  package var negated: SQLExpression {
    switch self {
    case .truth(let value): .truth(!value)
    case .isNull(let operand): .isNotNull(operand)
    case .isNotNull(let operand): .isNull(operand)
    case .isNotTrue(let operand): operand
    // `equal` is built only where one side can't be NULL.
    case .binary(.equal, let left, let right), .binary(.same, let left, let right):
      .binary(.notSame, left, right)
    case .binary(.notSame, let left, let right): .binary(.same, left, right)
    case .exists(let select, let isNegated): .exists(select, isNegated: !isNegated)
    default: .isNotTrue(self)
    }
  }

  /// All of these, constants folded.
  package static func conjunction(_ members: [SQLExpression]) -> SQLExpression {
    var rest: [SQLExpression] = []
    for member in members {
      switch member {
      case .truth(true): continue
      case .truth(false): return .truth(false)
      case .all(let inner): rest += inner
      default: rest.append(member)
      }
    }
    return rest.isEmpty ? .truth(true) : rest.count == 1 ? rest[0] : .all(rest)
  }

  /// One of these, constants folded.
  package static func disjunction(_ members: [SQLExpression]) -> SQLExpression {
    var rest: [SQLExpression] = []
    for member in members {
      switch member {
      case .truth(false): continue
      case .truth(true): return .truth(true)
      case .any(let inner): rest += inner
      default: rest.append(member)
      }
    }
    return rest.isEmpty ? .truth(false) : rest.count == 1 ? rest[0] : .any(rest)
  }

  package static func text(_ value: String) -> SQLExpression { .bound(.text(value)) }
}
