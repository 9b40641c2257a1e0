import CoreDataStorage

/// How a kind of database spells SQL.
///
/// Where databases express something in different ways, a compiler makes a node with the meaning
/// (``SemanticNode``) and passes it to the dialect, which *rewrites* it: the node becomes an expression that
/// the database has, or the dialect throws `StoreError.unsupported`, and the graph evaluates that part of the
/// predicate in memory (Decisions/0013, 0059). The renderer calls the dialect to *spell* expressions when it
/// makes the text. A dialect never sees plans and never opens a database.
package protocol SQLDialect: Sendable {
  // MARK: Rewriting

  /// The expression that has a node's meaning in the database.
  func rewrite(_ node: SemanticNode) throws -> SQLExpression
  /// Rewrites a term that rows are ordered by.
  func rewrite(_ term: SQLOrderTerm) throws -> SQLOrderTerm

  // MARK: Spelling

  /// An identifier as it appears in a statement, quoted if necessary.
  func identifier(_ name: String) -> String
  /// The name of a table in a statement.
  func table(_ name: String) -> String
  /// The n-th value (from 1) of a statement that uses each of its values once, in order.
  func placeholder(_ position: Int) -> String
  /// The n-th value (from 1), which may be used in several places.
  func numberedPlaceholder(_ position: Int) -> String
  /// A value as text, where none can be bound.
  func literal(_ value: SQLValue) -> String
  func truth(_ value: Bool) -> String
  func symbol(_ symbol: SQLOperator) -> String
  func type(_ cast: SQLCast) -> String
  func name(_ function: SQLFunction) -> String
  func name(_ function: SQLAggregate) -> String
  func name(_ collation: SQLCollation) -> String
  /// The function that returns the first of its two arguments that is not `NULL`.
  var firstPresent: String { get }
  /// A prefix for a column that keeps the database from using an index for it.
  var indexBarrier: String { get }
  /// The alias of a select in `FROM` whose name nothing uses; nil if an alias is not allowed.
  var selectAlias: String? { get }
  /// Puts `NULL`s first when ascending and last when descending; appended to an order term. nil if that is
  /// the database's default.
  func nullOrder(ascending: Bool) -> String?
  /// `LIMIT` and `OFFSET` of a select; both are placeholders, so that they are bound.
  func limit(_ limit: String?, offset: String?) -> String
  /// The text before the table of an insertion, and the text after its values.
  func insert(_ conflict: InsertStatement.Conflict) -> (prefix: String, suffix: String)
}

extension SQLDialect {
  package func table(_ name: String) -> String { identifier(name) }

  /// Every text from the prefix up to, but not including, the first text after all those that begin with it:
  /// a range that an index serves. Columns compare texts by code points.
  func begins(_ text: SQLExpression, with prefix: String) -> SQLExpression {
    let low: SQLExpression = .binary(.greaterOrEqual, text, .text(prefix))
    guard let successor = Comparison.successor(of: prefix) else { return low }
    return .conjunction([low, .binary(.less, text, .text(successor))])
  }

  /// A text literal. A NUL would end the statement's text.
  func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''").replacing("\0", with: "\u{FFFD}") + "'"
  }

  /// The error for a condition or value that is evaluated in memory.
  func unsupported(_ part: String, _ reason: String) -> StoreError {
    .unsupported(
      part: part, reason: reason, advice: "filter the fetched objects, or compute the value before")
  }
}
