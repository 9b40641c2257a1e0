import CoreDataStorage

/// The value of a row that a placeholder of a writing statement is bound to.
package enum RowParameter: Sendable, Hashable {
  case key
  /// The row's entity number in the database.
  case entityNumber
  /// The row's version after the write.
  case version
  /// The version that the store must still have.
  case expectedVersion
  /// A value; `isTagged` values get a tag byte (external storage).
  case value(word: Int, kind: ColumnKind, isTagged: Bool)
  /// Key and entity number of a to-one target; both `NULL` without target.
  case target(word: Int)
  case targetEntityNumber(word: Int)
}

/// A statement that writes rows, prepared once per shape and bound once per row.
package struct WriteStatement: Sendable, Hashable {
  package var sql: String
  /// In the order of the placeholders.
  package var parameters: [RowParameter]
}
