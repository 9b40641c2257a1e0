import CoreDataModel
import CoreDataStorage

// An R-tree index is a table of its own, in SQLite's rtree module, that holds each row's numbers once more. Triggers on the entity's
// table keep it up, whoever writes; their names and texts are Apple's:
//
//     CREATE VIRTUAL TABLE Z_RT_Asset_boundedByRect USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, ZLATITUDE_MAX FLOAT, …)
//     CREATE TRIGGER Z_RT_Asset_boundedByRect_INSERT AFTER INSERT ON ZASSET FOR EACH ROW BEGIN INSERT OR REPLACE INTO … ; END
//     CREATE TRIGGER Z_RT_Asset_boundedByRect_UPDATE AFTER UPDATE ON ZASSET …     CREATE TRIGGER Z_RT_Asset_boundedByRect_DELETE …
//
// A number that is missing counts as 0 in the tree. A model asks for one by a fetch index of R-tree elements, or by a transient attribute
// whose user info names the attributes it is made of. Some of Apple's files have the tree without its triggers: whoever writes to
// such a file makes them for the time being.

package struct RTree: Sendable {
  /// `Z_RT_<Entity>_<index>`.
  package let name: String
  /// The table with the rows.
  package let table: String
  let columns: [String]
  /// The entity numbers whose rows are in the tree, where the table has rows of other entities; nil for all rows.
  let numbers: [Int]?

  init(
    _ index: String, _ columns: [String], of entity: EntityLayout, on table: TableSchema, schema: StoreSchema
  ) {
    name = "Z_RT_\(entity.name)_\(index)"
    self.table = table.name
    self.columns = columns
    numbers = entity.superIndex == nil ? nil : entity.family.map { schema.entityNumbers[$0] }
  }

  /// A tree of an existing file, by its own columns; nil if they are not two for each of some columns of the entity's table.
  package init?(_ tree: ExistingDatabase.Table, schema: StoreSchema, database: ExistingDatabase) {
    let folded: String = DatabaseNames.fold(tree.name)
    let owners: [EntityLayout] = schema.layout.entities.filter { entity in
      schema.tablePosition[entity.index] != nil
        && folded.hasPrefix("Z_RT_\(DatabaseNames.fold(entity.name))_")
    }
    // An entity's name may begin with another's.
    guard let owner = owners.max(by: { $0.name.count < $1.name.count }),
      let position = schema.tablePosition[owner.index], let key = tree.columns.first,
      DatabaseNames.fold(key) == "Z_PK"
    else { return nil }
    let names = DatabaseNames(database)
    let bounds: [String] = tree.columns.dropFirst().map(DatabaseNames.fold)
    let found: [String] = stride(from: 0, to: bounds.count - 1, by: 2).compactMap { place in
      let low: String = bounds[place]
      guard low.hasSuffix("_MIN"), bounds[place + 1] == low.dropLast(4) + "_MAX" else { return nil }
      return names.column(String(low.dropLast(4)), in: schema.tables[position].name)
    }
    guard !found.isEmpty, found.count * 2 == bounds.count else { return nil }
    name = tree.name
    table = schema.tables[position].name
    columns = found
    numbers = owner.superIndex == nil ? nil : owner.family.map { schema.entityNumbers[$0] }
  }

  var creation: String {
    let dimensions: String = columns.map {
      "\(SQLIdentifier.quoted($0 + "_MIN")) FLOAT, \(SQLIdentifier.quoted($0 + "_MAX")) FLOAT"
    }.joined(separator: ", ")
    return "CREATE VIRTUAL TABLE \(SQLIdentifier.quoted(name)) USING RTREE "
      + "(Z_PK INTEGER PRIMARY KEY, \(dimensions))"
  }

  /// The three triggers. `isTemporary`: those of one connection, which the file never sees.
  package func triggers(isTemporary: Bool = false) -> [String] {
    let tree: String = SQLIdentifier.quoted(name)
    let names: String = columns.map {
      "\(SQLIdentifier.quoted($0 + "_MIN")), \(SQLIdentifier.quoted($0 + "_MAX"))"
    }.joined(separator: ", ")
    let values: String = columns.enumerated().map { place, column in
      let value = "NEW.\(SQLIdentifier.quoted(column))"
      // The blank stands before the first comma in Apple's text.
      return place == 0 ? "\(value) ,\(value)" : "\(value), \(value)"
    }.joined(separator: ", ")
    let row = "INTO \(tree) (Z_PK, \(names)) VALUES (NEW.Z_PK, \(values))"
    func trigger(_ event: String, _ row: String, _ body: String) -> String {
      let list: String? = numbers.map { $0.map(String.init).joined(separator: ", ") }
      let condition: String = list.map { " WHEN (\(row).Z_ENT IN (\($0)))" } ?? ""
      let kind: String = isTemporary ? "TEMP TRIGGER" : "TRIGGER"
      let target: String = (isTemporary ? "main." : "") + SQLIdentifier.quoted(table)
      return "CREATE \(kind) \(SQLIdentifier.quoted("\(name)_\(event)")) AFTER \(event) ON \(target) "
        + "FOR EACH ROW\(condition) BEGIN \(body) ; END"
    }
    return [
      trigger("INSERT", "NEW", "INSERT OR REPLACE \(row)"),
      trigger("UPDATE", "NEW", "DELETE FROM \(tree) WHERE Z_PK = NEW.Z_PK ; INSERT \(row)"),
      trigger("DELETE", "OLD", "DELETE FROM \(tree) WHERE Z_PK = OLD.Z_PK"),
    ]
  }
}

extension EntityLayout {
  /// The location attributes that this entity itself declares: transient ones that stand for stored numbers, by name. Apple's models say
  /// which by `_NSLocationAttributeDerivedComponents` in the user info, as a list or as names with commas between.
  var locations: [(name: String, parts: [String])] {
    slots.filter { $0.declaringEntity == index }.compactMap { slot in
      switch slot.property.userInfo?["_NSLocationAttributeDerivedComponents"] {
      case let text as String:
        (slot.name, text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
      case let names as [String]: (slot.name, names)
      default: nil
      }
    }.filter { !$0.parts.isEmpty && $0.parts.count <= 5 }
  }
}

extension SchemaCreation {
  func rTree(_ index: String, _ columns: [String], of entity: EntityLayout, on table: TableSchema)
    -> IndexText
  {
    let tree = RTree(index, columns, of: entity, on: table, schema: schema)
    return IndexText(name: tree.name, sql: [tree.creation] + tree.triggers())
  }
}
