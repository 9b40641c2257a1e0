import CoreDataPredicates

/// The meaning of an expression that databases spell in different ways. A dialect rewrites it to an
/// expression (``SQLDialect``).
///
/// The rule of ``SQLExpression`` applies to the result, too: a condition is true exactly when the predicate
/// is true in memory.
package enum SemanticNode: Sendable {
  /// text, part or pattern: a test of text. A part is not empty.
  case textTest(SQLTextTest, SQLExpression, SQLExpression, ComparisonOptions)
  /// `left symbol right`, by an order that is not the plain order of values.
  case ordered(SQLOperator, SQLExpression, SQLExpression, SQLOrderRule)
  /// The value is one of these, none of which is `NULL`.
  case member(SQLExpression, [SQLValue])
  /// `left symbol right` of numbers. If it has no result it is `NULL`, never an error.
  case computed(SQLOperator, SQLExpression, SQLExpression, SQLNumberKind)
  /// A number with its sign inverted.
  case negated(SQLExpression)
  /// A sum divided by a count, as a real; `NULL` for a count of 0.
  case quotient(SQLExpression, SQLExpression)
  /// At least 0, less than 1.
  case randomFraction
  /// An integer from 0 up to, but not including, a limit; `NULL` for a limit that is not positive.
  case randomBelow(SQLExpression)
  /// A decimal's nearest real.
  case realOfDecimal(SQLExpression)
  /// The least or the greatest of values of one kind.
  case extreme(isLeast: Bool, SQLExpression, SQLExtremeKind)
  case function(SQLFunction, [SQLExpression])
  case aggregate(SQLAggregate, [SQLExpression])
}

package enum SQLTextTest: Sendable, Hashable {
  /// True also if both are `NULL`.
  case equal
  case contains, beginsWith, endsWith
  case like
  /// A regular expression of ICU's, over the whole text.
  case matches
}

package enum SQLOrderRule: Sendable, Hashable {
  case text(ComparisonOptions)
  /// A decimal, and a decimal or an integer.
  case decimals
}

package enum SQLNumberKind: Sendable, Hashable {
  case whole
  case real
  /// Integers and reals, differing from row to row.
  case mixed
}

package enum SQLExtremeKind: Sendable, Hashable {
  case plain, decimal, bytes
}
