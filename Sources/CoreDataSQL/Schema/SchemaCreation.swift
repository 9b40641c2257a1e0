import CoreDataModel
import CoreDataStorage

/// The statements that make a fresh store, with Apple's text: tables, join tables, indexes, bookkeeping.
///
///     CREATE TABLE ZUSER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZPETNAME VARCHAR )
///     CREATE TABLE Z_1TAGS ( Z_1CAREPLANS INTEGER, Z_13TAGS INTEGER, PRIMARY KEY (Z_1CAREPLANS, Z_13TAGS) )
///     CREATE INDEX Z_1TAGS_Z_13TAGS_INDEX ON Z_1TAGS (Z_13TAGS, Z_1CAREPLANS)
///     CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)
///     INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, 0)
///
/// `Z_METADATA`'s row and the model cache are the engine's to fill.
package struct SchemaCreation: Sendable {
  package let schema: StoreSchema
  private let dialect = SQLiteDialect()

  package init(_ schema: StoreSchema) { self.schema = schema }

  /// All of it, in the order to run.
  package func statements() -> [CompiledStatement] {
    (tables() + joinTables() + indexes() + bookkeeping()).map { CompiledStatement(sql: $0) }
      + primaryKeyRows()
  }

  package func tables() -> [String] { schema.tables.map(table) }

  private func name(_ name: String) -> String { dialect.identifier(name) }

  private func table(_ table: TableSchema) -> String {
    let columns: [String] =
      ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
      + table.columns.map { "\(name($0.name)) \($0.type)" }
    return "CREATE TABLE \(name(table.name)) ( \(columns.joined(separator: ", ")) )"
  }

  package func joinTables() -> [String] { schema.joinTables.map(joinTable) }

  private func joinTable(_ table: JoinTable) -> String {
    let keys: [String] = [name(table.ownerKey), name(table.targetKey)]
    let columns: [String] =
      (keys + table.orderColumns.map(name)).map { "\($0) INTEGER" }
      + ["PRIMARY KEY (\(keys.joined(separator: ", ")))"]
    return "CREATE TABLE \(name(table.name)) ( \(columns.joined(separator: ", ")) )"
  }

  package func bookkeeping() -> [String] {
    [
      "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
      "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
      "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]
  }

  /// One row an entity of the model, abstract ones too; `Z_MAX` starts at 0.
  package func primaryKeyRows() -> [CompiledStatement] {
    schema.layout.entities.map { entity in
      CompiledStatement(
        sql: "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, 0)",
        bindings: [
          .integer(Int64(schema.entityNumbers[entity.index])), .text(entity.name),
          .integer(Int64(entity.superIndex.map { schema.entityNumbers[$0] } ?? 0)),
        ])
    }
  }
}
