import CoreDataPredicates

/// What an expression means, where databases have no common words for it. A dialect makes an expression of it
/// (``SQLDialect``).
///
/// The rule of ``SQLExpression`` holds for what is made, too: a condition is true exactly when the predicate
/// holds in memory.
package enum SemanticNode: Sendable {
  /// text, part or pattern: a test of text. A part is not empty.
  case textTest(SQLTextTest, SQLExpression, SQLExpression, ComparisonOptions)
  /// `left symbol right`, by an order that is not that of plain values.
  case ordered(SQLOperator, SQLExpression, SQLExpression, SQLOrderRule)
  /// The value is one of these, none of which is `NULL`.
  case member(SQLExpression, [SQLValue])
  /// `left symbol right` of numbers. What has no result is `NULL`, never an error.
  case computed(SQLOperator, SQLExpression, SQLExpression, SQLNumberKind)
  /// A number with the other sign.
  case negated(SQLExpression)
  /// A sum divided by a count, as a real; `NULL` for nothing.
  case quotient(SQLExpression, SQLExpression)
  /// At least 0, less than 1.
  case randomFraction
  /// A whole number from 0 up to, not including, a bound; `NULL` for a bound that is not positive.
  case randomBelow(SQLExpression)
  /// A decimal's nearest real.
  case realOfDecimal(SQLExpression)
  /// The least or the greatest of values that are of one kind.
  case extreme(isLeast: Bool, SQLExpression, SQLExtremeKind)
  case function(SQLFunction, [SQLExpression])
  case aggregate(SQLAggregate, [SQLExpression])
}

package enum SQLTextTest: Sendable, Hashable {
  /// Both `NULL` are equal, too.
  case equal
  case contains, beginsWith, endsWith
  case like
  /// A regular expression of ICU's, over the whole text.
  case matches
}

package enum SQLOrderRule: Sendable, Hashable {
  case text(ComparisonOptions)
  /// A decimal, and a decimal or a whole number.
  case decimals
}

package enum SQLNumberKind: Sendable, Hashable {
  case whole
  case real
  /// Whole or not, row by row.
  case mixed
}

package enum SQLExtremeKind: Sendable, Hashable {
  case plain, decimal, bytes
}
