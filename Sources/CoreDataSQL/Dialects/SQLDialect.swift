import CoreDataStorage

/// How a kind of database spells things. A dialect sees trees and may rewrite them; it never sees plans.
package protocol SQLDialect: Sendable {
  /// An identifier as it stands in a statement, quoted if it needs to be.
  func identifier(_ name: String) -> String
  /// The n-th value (from 1) of a statement that names each of its values once, in order.
  func placeholder(_ position: Int) -> String
  /// The n-th value (from 1), which may stand in several places.
  func numberedPlaceholder(_ position: Int) -> String
  /// `NULL`s first when ascending, last when descending, beside an order term; nil if that is what happens anyway.
  func nullOrder(ascending: Bool) -> String?
  /// `LIMIT` and `OFFSET` of a select; both are trees so that they are bound.
  func limit(_ limit: String?, offset: String?) -> String
  /// What stands before the table of an insertion, and behind its values.
  func insert(_ conflict: InsertStatement.Conflict) -> (prefix: String, suffix: String)
}
