import CoreDataStorage

/// What a question mark of a writing statement stands for, given a row.
package enum RowParameter: Sendable, Hashable {
  case key
  /// The row's entity number in the database.
  case entityNumber
  /// The row's version: what the version column holds after the write.
  case version
  /// The version the store must still have.
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
  /// In the order of the question marks.
  package var parameters: [RowParameter]
}
