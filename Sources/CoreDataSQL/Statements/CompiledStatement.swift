import CoreDataStorage

/// SQL text with the values to bind, in the order of their placeholders.
///
/// The text depends on the shape of a request only, so it is the key of a cache of prepared statements.
package struct CompiledStatement: Sendable, Hashable {
  package var sql: String
  package var bindings: [SQLValue]
  /// The bound values that are parameters of the statement's shape.
  var places: [ConstantPlace] = []

  package init(sql: String, bindings: [SQLValue] = []) {
    self.sql = sql
    self.bindings = bindings
  }
}

/// Relates one of a statement's values to a use of a parameter.
struct ConstantPlace: Sendable, Hashable {
  var binding: Int
  var use: Int
}

/// A statement that yields rows, with the way to read them.
package struct RowStatement: Sendable {
  package var statement: CompiledStatement
  package var columns: RowColumns
}
