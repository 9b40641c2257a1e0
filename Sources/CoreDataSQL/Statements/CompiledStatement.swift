import CoreDataStorage

/// SQL text with the values to bind, in the order of their question marks.
///
/// The text depends on the shape of a request only, so it is the key of a cache of prepared statements.
package struct CompiledStatement: Sendable, Hashable {
  package var sql: String
  package var bindings: [SQLValue]
  /// The values that parameters of the statement's shape stand for.
  var places: [ConstantPlace] = []

  package init(sql: String, bindings: [SQLValue] = []) {
    self.sql = sql
    self.bindings = bindings
  }
}

/// Which of a statement's values is which use of a parameter.
struct ConstantPlace: Sendable, Hashable {
  var binding: Int
  var use: Int
}

/// A statement that yields rows, with the way to read them.
package struct RowStatement: Sendable {
  package var statement: CompiledStatement
  package var columns: RowColumns
}
