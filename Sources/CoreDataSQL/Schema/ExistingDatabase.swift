/// The tables, columns and entities of a database, as far as a schema needs them. The engine reads them from
/// `sqlite_master`, `PRAGMA table_xinfo` and `Z_PRIMARYKEY`.
package struct ExistingDatabase: Sendable {
  package struct Table: Sendable {
    package var name: String
    /// In the order of `PRAGMA table_xinfo`, generated ones too.
    package var columns: [String]

    package init(name: String, columns: [String]) {
      self.name = name
      self.columns = columns
    }
  }

  /// A row of `Z_PRIMARYKEY`.
  package struct EntityRow: Sendable {
    package var number: Int
    package var name: String
    package var superNumber: Int
    package var maxKey: Int64

    package init(number: Int, name: String, superNumber: Int, maxKey: Int64) {
      self.number = number
      self.name = name
      self.superNumber = superNumber
      self.maxKey = maxKey
    }
  }

  package var tables: [Table]
  package var entities: [EntityRow]
  package var indexNames: [String]

  package init(tables: [Table], entities: [EntityRow], indexNames: [String] = []) {
    self.tables = tables
    self.entities = entities
    self.indexNames = indexNames
  }
}

/// Looks names up as SQLite does: ASCII letters without regard to case.
struct DatabaseNames {
  private var tables: [String: ExistingDatabase.Table] = [:]
  private var columns: [String: [String: String]] = [:]
  let all: [ExistingDatabase.Table]

  init(_ database: ExistingDatabase) {
    all = database.tables
    for table in database.tables {
      let folded: String = Self.fold(table.name)
      tables[folded] = table
      columns[folded] = Dictionary(
        table.columns.map { (Self.fold($0), $0) }, uniquingKeysWith: { first, _ in first })
    }
  }

  func table(_ name: String) -> ExistingDatabase.Table? { tables[Self.fold(name)] }

  /// The column's spelling in the database.
  func column(_ column: String, in table: String) -> String? {
    columns[Self.fold(table)]?[Self.fold(column)]
  }

  static func fold(_ name: String) -> String {
    String(decoding: name.utf8.map { $0 >= 97 && $0 <= 122 ? $0 - 32 : $0 }, as: UTF8.self)
  }
}
