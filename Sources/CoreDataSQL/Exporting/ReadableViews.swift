import CoreDataModel
import CoreDataStorage

/// Views over a store's tables, with the names of the model: a view for each entity, sub-entities included,
/// and one for each to-many relationship that has a table of pairs.
///
///     CREATE VIEW Item AS SELECT Z_PK AS id, ZTITLE AS title, datetime(ZDUE + 978307200, 'unixepoch') AS due, … FROM ZITEM
///     CREATE VIEW Item_tags AS SELECT Z_8ITEMS AS Item, Z_12TAGS AS tags FROM Z_8TAGS
///
/// A name that a table or another view has gets an underscore.
package struct ReadableViews {
  private let schema: StoreSchema
  private let dialect: any SQLDialect
  private var names: Set<String>

  package init(_ schema: StoreSchema, existing: [String], dialect: any SQLDialect = SQLiteDialect()) {
    self.schema = schema
    self.dialect = dialect
    names = Set(existing.map { $0.uppercased() })
  }

  /// The seconds from 1970 to the dates of a store.
  private static let secondsTo2001: Int64 = 978_307_200

  package mutating func statements() -> [String] {
    var statements: [String] = []
    for entity in schema.layout.entities where schema.tablePosition[entity.index] != nil {
      guard let table = try? schema.table(of: entity.index) else { continue }
      statements.append(text(.view(name(entity.name), view(of: entity, table))))
    }
    for join in schema.joinTables {
      let entity: EntityLayout = schema.layout.entities[join.entity]
      let slot: PropertySlot = entity.slots[join.slot]
      var select = SelectStatement(
        columns: [
          .named(.column(nil, join.ownerKey), entity.name), .named(.column(nil, join.targetKey), slot.name),
        ], source: .table(join.name, alias: nil))
      select.columns += join.orderColumns.enumerated().map { place, column in
        .named(.column(nil, column), "position\(place == 0 ? "" : "\(place + 1)")")
      }
      statements.append(text(.view(name("\(entity.name)_\(slot.name)"), select)))
    }
    return statements
  }

  private func text(_ tree: SchemaTree) -> String { SQLRenderer.text(tree, dialect: dialect) + ";" }

  /// A name that is still free.
  private mutating func name(_ wanted: String) -> String {
    var name: String = wanted
    while !names.insert(name.uppercased()).inserted { name += "_" }
    return name
  }

  private func view(of entity: EntityLayout, _ table: TableSchema) -> SelectStatement {
    var select = SelectStatement(source: .table(table.name, alias: nil))
    var used: Set<String> = []
    func add(_ value: SQLExpression, _ wanted: String) {
      var name: String = wanted
      while !used.insert(name.uppercased()).inserted { name += "_" }
      select.columns.append(.named(value, name))
    }
    add(.column(nil, table.key), "id")
    if let column = table.entity, entity.hasSubentities { add(.column(nil, column), "entity") }
    for (number, slot) in entity.slots.enumerated() {
      switch schema.storage(of: entity.index, slot: number) {
      case .attribute(let column): add(value(column), slot.name)
      case .toOne(let columns): add(.column(nil, columns.key), slot.name)
      case .toMany, .none: continue
      }
    }
    if let column = table.entity {
      let numbers: [SQLExpression] = entity.family.map { .integer(Int64(schema.entityNumber(of: $0))) }
      select.condition = .inList(.column(nil, column), numbers)
    }
    return select
  }

  private func value(_ column: AttributeColumn) -> SQLExpression {
    let stored: SQLExpression = .column(nil, column.name)
    if column.kind == .date {
      return .builtin(
        "datetime", [.binary(.add, stored, .integer(Self.secondsTo2001)), .text("unixepoch")])
    }
    // Behind the byte that tells where the value is.
    return column.isTagged ? .builtin("substr", [stored, .integer(2)]) : stored
  }
}
