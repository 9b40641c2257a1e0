import CoreDataStorage

/// The readable layout's tables about the store itself. All can be read by SQL; data that only a program can
/// decode is in `archive` and `plist`.
package enum ReadableBookkeeping {
  static let tables: [String] = definitions.map(\.name)

  static let definitions: [TableDefinition] = [
    TableDefinition(
      "clarus_store",
      [key("key", "text"), column("value", "jsonb"), column("plist", "bytea", isRequired: false)]),
    TableDefinition(
      "clarus_entity",
      [
        key("number", "integer"), column("name", "text"), column("super", "integer", isRequired: false),
        column("root", "integer"), column("table_name", "text"), column("version_hash", "text"),
      ]),
    TableDefinition(
      "clarus_property",
      [
        column("entity", "integer"), column("name", "text"), column("kind", "text"),
        column("column_name", "text", isRequired: false), column("renaming_id", "text", isRequired: false),
      ], primaryKey: ["entity", "name"]),
    TableDefinition(
      "clarus_model", [key("checksum", "text"), column("state", "text"), column("archive", "bytea")]),
    TableDefinition("clarus_commit", [key("token", "uuid"), column("at", "timestamptz")]),
  ]

  private static func key(_ name: String, _ type: String) -> ColumnDefinition {
    ColumnDefinition(name, type, isPrimaryKey: true)
  }

  private static func column(_ name: String, _ type: String, isRequired: Bool = true) -> ColumnDefinition {
    ColumnDefinition(name, type, isRequired: isRequired)
  }

  /// (token, now): records that a transaction commits. It returns no row if the token was recorded before: so
  /// a program that has lost its connection finds out whether its transaction was committed.
  package static func commit(_ dialect: any SQLDialect) -> String {
    var insert = InsertStatement(
      into: "clarus_commit", ["token", "at"], values: [.parameter(1), .parameter(2)])
    insert.conflict = .ignore
    insert.returning = [.column(nil, "token")]
    return SQLRenderer.text(.insert(insert), dialect: dialect)
  }

  /// The row of an entity, and the rows of its own properties.
  static func rows(of entity: EntityLayout, _ schema: StoreSchema) -> [CompiledStatement] {
    func insert(_ table: String, _ values: [(String, SQLValue)]) -> CompiledStatement {
      SQLRenderer.statement(
        .insert(InsertStatement(into: table, values.map(\.0), values: values.map { .bound($0.1) })),
        dialect: schema.dialect)
    }
    func number(_ index: Int) -> SQLValue { .integer(Int64(schema.entityNumbers[index])) }
    guard let table = try? schema.table(of: entity.index) else { return [] }
    let own: CompiledStatement = insert(
      "clarus_entity",
      [
        ("number", number(entity.index)), ("name", .text(entity.name)),
        ("super", entity.superIndex.map(number) ?? .null), ("root", number(entity.rootIndex)),
        ("table_name", .text(table.name)), ("version_hash", .text(entity.entity.versionHash.hexDigits)),
      ])
    let properties: [CompiledStatement] = entity.slots.enumerated()
      .filter { $0.element.declaringEntity == entity.index }
      .map { slot, property in
        let (kind, column): (String, String?) =
          switch schema.storage(of: entity.index, slot: slot) {
          case .none: ("none", nil)
          case .attribute(let column): ("attribute", column.name)
          case .toOne(let columns): ("to-one", columns.key)
          case .toMany(.foreignKey(let members)): ("to-many", members.key)
          case .toMany(.joinTable(let members)): ("many-to-many", members.table)
          }
        return insert(
          "clarus_property",
          [
            ("entity", number(entity.index)), ("name", .text(property.name)), ("kind", .text(kind)),
            ("column_name", column.map(SQLValue.text) ?? .null),
            ("renaming_id", property.property.renamingIdentifier.map(SQLValue.text) ?? .null),
          ])
      }
    return [own] + properties
  }
}
