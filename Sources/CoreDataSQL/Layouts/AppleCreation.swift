import CoreDataModel
import CoreDataStorage

/// The statements that create a fresh store, with Apple's text: tables, join tables, indexes, bookkeeping.
///
///     CREATE TABLE ZUSER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )
///     CREATE TABLE Z_1TAGS ( Z_1CAREPLANS INTEGER, Z_13TAGS INTEGER, PRIMARY KEY (Z_1CAREPLANS, Z_13TAGS) )
///     CREATE INDEX Z_1TAGS_Z_13TAGS_INDEX ON Z_1TAGS (Z_13TAGS, Z_1CAREPLANS)
///     CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)
///     INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, 0)
///
/// The engine writes the metadata and the model cache.
package struct AppleCreation: Sendable {
  package let schema: StoreSchema

  package init(_ schema: StoreSchema) { self.schema = schema }

  /// All statements, in the order to run them.
  package func statements() -> [CompiledStatement] {
    (tables() + joinTables() + indexes() + bookkeeping()).map { CompiledStatement(sql: $0) }
      + primaryKeyRows()
  }

  /// By table and column, the types of the columns of attributes and references.
  package func columnTypes() -> [String: [String: String]] {
    let pairs: [(String, [String: String])] = schema.tables.map { table in
      let types: [(String, String)] = table.columns.map { ($0.name, AppleLayout().type($0.purpose, $0.kind)) }
      return (table.name, Dictionary(types, uniquingKeysWith: { first, _ in first }))
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  package func tables() -> [String] { schema.tables.map { text(.table(table($0))) } }

  func table(_ table: TableSchema) -> TableDefinition {
    let fixed: [ColumnDefinition] = [
      ColumnDefinition(table.key, AppleNames.keyType, isPrimaryKey: true),
      ColumnDefinition(AppleNames.entityNumber, AppleNames.keyType),
      ColumnDefinition(table.version, AppleNames.keyType),
    ]
    return TableDefinition(
      table.name,
      fixed + table.columns.map { ColumnDefinition($0.name, AppleLayout().type($0.purpose, $0.kind)) },
      isPadded: true)
  }

  package func joinTables() -> [String] { schema.joinTables.map { text(.table(joinTable($0))) } }

  func joinTable(_ table: JoinTable) -> TableDefinition {
    let keys: [String] = [table.ownerKey, table.targetKey]
    return TableDefinition(
      table.name, (keys + table.orderColumns).map { ColumnDefinition($0, AppleNames.keyType) },
      primaryKey: keys,
      isPadded: true)
  }

  package func bookkeeping() -> [String] { AppleBookkeeping.definitions.map { text(.table($0)) } }

  /// One row for each entity of the model, abstract ones too.
  package func primaryKeyRows() -> [CompiledStatement] {
    schema.layout.entities.map { entity in
      AppleBookkeeping.entityRow(
        number: schema.entityNumbers[entity.index], name: entity.name,
        superNumber: entity.superIndex.map { schema.entityNumbers[$0] } ?? 0)
    }
  }

  func text(_ tree: SchemaTree) -> String { SQLRenderer.text(tree, dialect: SQLiteDialect()) }
}
