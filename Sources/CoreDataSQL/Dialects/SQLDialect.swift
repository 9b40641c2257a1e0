import CoreDataStorage

/// How a kind of database says things.
///
/// Where compilers need what databases say in different ways, they make a node that says what is meant
/// (``SemanticNode``) and hand it to the dialect, which *rewrites* it: the node becomes an expression that
/// the database has, or the dialect throws `StoreError.unsupported`, and the graph evaluates that part of the
/// predicate in memory (Decisions/0013, 0059). Expressions are *spelled* when the renderer makes the text. A
/// dialect never sees plans, and never opens a database.
package protocol SQLDialect: Sendable {
  // MARK: Rewriting

  /// The expression by which the database says what a node means.
  func rewrite(_ node: SemanticNode) throws -> SQLExpression
  /// The same of a term that rows are ordered by.
  func rewrite(_ term: SQLOrderTerm) throws -> SQLOrderTerm

  // MARK: Spelling

  /// An identifier as it stands in a statement, quoted if it needs to be.
  func identifier(_ name: String) -> String
  /// A table, where it is named as such.
  func table(_ name: String) -> String
  /// The n-th value (from 1) of a statement that names each of its values once, in order.
  func placeholder(_ position: Int) -> String
  /// The n-th value (from 1), which may stand in several places.
  func numberedPlaceholder(_ position: Int) -> String
  /// A value as text, where none can be bound.
  func literal(_ value: SQLValue) -> String
  func truth(_ value: Bool) -> String
  func symbol(_ symbol: SQLOperator) -> String
  func type(_ cast: SQLCast) -> String
  func name(_ function: SQLFunction) -> String
  func name(_ function: SQLAggregate) -> String
  func name(_ collation: SQLCollation) -> String
  /// The function that gives the first of its arguments that is not `NULL`, of two.
  var firstPresent: String { get }
  /// What keeps an index from being chosen when it stands before a column.
  var indexBarrier: String { get }
  /// The alias of a select in `FROM` that needs none; nil where there may be none.
  var selectAlias: String? { get }
  /// `NULL`s first when ascending, last when descending, beside an order term; nil if that is what happens
  /// anyway.
  func nullOrder(ascending: Bool) -> String?
  /// `LIMIT` and `OFFSET` of a select; both are trees so that they are bound.
  func limit(_ limit: String?, offset: String?) -> String
  /// What stands before the table of an insertion, and behind its values.
  func insert(_ conflict: InsertStatement.Conflict) -> (prefix: String, suffix: String)
}

extension SQLDialect {
  package func table(_ name: String) -> String { identifier(name) }

  /// A condition or value that is left to memory.
  func unsupported(_ part: String, _ reason: String) -> StoreError {
    .unsupported(
      part: part, reason: reason, advice: "filter the fetched objects, or compute the value before")
  }
}
