import CoreDataStorage

/// An index that does not exist, to find out whether the database would use it.
package struct SQLiteIndexTrial {
  /// The statements that made a database's tables and indexes, in their order.
  package static let readSchema: String =
    "SELECT sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL "
    + "AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, rowid"

  /// The statement that makes the index, as a fetch index of the model would be made.
  package let create: String

  /// nil if one of the attributes has no column.
  package init?(_ slots: [IndexedSlot], of entity: EntityLayout, _ schema: StoreSchema) {
    guard let position = schema.tablePosition[entity.index], !slots.isEmpty else { return nil }
    var columns: [IndexDefinition.Column] = []
    for element in slots {
      guard case .attribute(let column) = schema.storage(of: entity.index, slot: element.slot) else {
        return nil
      }
      columns.append(
        .init(.column(nil, column.name), collation: "BINARY", ascending: element.ascending))
    }
    let definition = IndexDefinition(
      name: "TRIAL_INDEX", table: schema.tables[position].name, columns: columns)
    create = SQLRenderer.text(SchemaTree.index(definition), dialect: SQLiteDialect())
  }
}
