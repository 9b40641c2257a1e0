/// A `SELECT` as a value.
package struct SelectStatement: Sendable, Hashable {
  package var isDistinct: Bool = false
  package var columns: [SQLExpression] = []
  package var source: SQLSource
  package var joins: [SQLJoin] = []
  package var condition: SQLExpression = .truth(true)
  package var groups: [SQLExpression] = []
  /// A condition on groups; `.truth(true)` for none.
  package var having: SQLExpression = .truth(true)
  package var order: [SQLOrderTerm] = []
  package var limit: SQLExpression?
  package var offset: SQLExpression?
  /// Further selects whose rows are added, without duplicates.
  package var union: [SelectStatement] = []
  /// Whether duplicates in the union are kept.
  package var keepsDuplicates: Bool = false

  package init(columns: [SQLExpression] = [], source: SQLSource) {
    self.columns = columns
    self.source = source
  }
}

package indirect enum SQLSource: Sendable, Hashable {
  case table(String, alias: String?)
  case select(SelectStatement, alias: String?)
  /// One row without columns.
  case nothing
  /// A function that returns rows.
  case function(String, [SQLExpression])
}

package struct SQLJoin: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable {
    case inner = "JOIN"
    case left = "LEFT JOIN"
  }
  package var kind: Kind
  package var table: String
  package var alias: String
  package var condition: SQLExpression
}

package struct SQLOrderTerm: Sendable, Hashable {
  package var expression: SQLExpression
  package var ascending: Bool
  package var collation: SQLCollation?

  package init(_ expression: SQLExpression, ascending: Bool, collation: SQLCollation? = nil) {
    self.expression = expression
    self.ascending = ascending
    self.collation = collation
  }
}
