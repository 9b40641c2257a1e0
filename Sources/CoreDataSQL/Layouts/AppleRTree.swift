import CoreDataModel
import CoreDataStorage

// An R-tree index is a table of its own, in SQLite's rtree module, that holds a copy of each row's numbers.
// Triggers on the entity's table update it, whatever program writes; their names and texts are Apple's:
//
//     CREATE VIRTUAL TABLE Z_RT_Asset_boundedByRect USING RTREE (Z_PK …, ZLATITUDE_MIN FLOAT, …)
//     CREATE TRIGGER Z_RT_Asset_boundedByRect_INSERT AFTER INSERT ON ZASSET FOR EACH ROW BEGIN … ; END
//     CREATE TRIGGER Z_RT_Asset_boundedByRect_UPDATE AFTER UPDATE ON ZASSET …
//
// A missing number counts as 0 in the tree. A model declares such an index by a fetch index of R-tree
// elements, or by a transient attribute whose user info names the attributes it is made of. Some of Apple's
// files have the tree without its triggers: a connection that writes to such a file creates temporary ones.

package struct RTree: Sendable {
  /// Whether a table of this name is a tree of an entity.
  package static func isTree(_ name: String, of entity: String) -> Bool {
    DatabaseNames.fold(name).hasPrefix(DatabaseNames.fold(AppleNames.rTree("", of: entity)))
  }

  /// The entity of a layout that a tree of this name belongs to, of those that fit: an entity's name may be a
  /// prefix of another's.
  package static func owner(
    of name: String, in layout: ModelLayout, where isFit: (EntityLayout) -> Bool = { _ in true }
  ) -> EntityLayout? {
    layout.entities.filter { isTree(name, of: $0.name) && isFit($0) }.max { $0.name.count < $1.name.count }
  }

  /// What the triggers of a tree in a database watch. The name of a tree does not tell it: the same name may
  /// belong to an index of another entity.
  package struct Watch: Sendable {
    package static let events: [String] = ["INSERT", "UPDATE", "DELETE"]

    let table: String
    /// The entity numbers of the rows that get into the tree; nil for all rows.
    let numbers: Set<Int>?

    /// nil unless there are triggers for all events, on one table.
    package init?(_ triggers: [(table: String, sql: String)]) {
      guard triggers.count == Self.events.count,
        Set(triggers.map { DatabaseNames.fold($0.table) }).count == 1
      else { return nil }
      table = triggers[0].table
      // The last one removes rows.
      let conditions: [Set<Int>] = triggers.dropLast().compactMap { Self.numbers(in: $0.sql) }
      numbers = conditions.isEmpty ? nil : conditions.reduce(conditions[0]) { $0.intersection($1) }
    }

    /// The numbers in the condition of a trigger; nil if it has none.
    private static func numbers(in sql: String) -> Set<Int>? {
      let text: String = DatabaseNames.fold(sql)
      guard let begin = text.firstRange(of: /\sBEGIN\s/)?.lowerBound,
        let when = text[..<begin].firstRange(of: /\sWHEN\s/)?.upperBound
      else { return nil }
      return Set(text[when..<begin].matches(of: /\b[0-9]+\b/).compactMap { Int($0.output) })
    }
  }

  /// `Z_RT_<Entity>_<index>`.
  package let name: String
  /// The table with the rows.
  package let table: String
  let columns: [String]
  let key: String
  /// The index of the entity whose rows are in the tree, with those of its sub-entities.
  package let entity: Int
  /// The entity numbers whose rows are in the tree, if the table has rows of other entities; nil for all
  /// rows.
  let numbers: [Int]?

  init(
    _ index: String, _ columns: [String], of entity: EntityLayout, on table: TableSchema, schema: StoreSchema
  ) {
    name = AppleNames.rTree(index, of: entity.name)
    self.table = table.name
    key = table.key
    self.entity = entity.index
    self.columns = columns
    numbers = entity.superIndex == nil ? nil : entity.family.map { schema.entityNumbers[$0] }
  }

  /// A tree of an existing file, by its own columns; nil unless these are two for each of some columns of the
  /// entity's table. With `watch`, nil also if the triggers do not have all rows of the entity in the tree.
  package init?(
    _ tree: ExistingDatabase.Table, schema: StoreSchema, database: ExistingDatabase, watch: Watch? = nil
  ) {
    func isWatched(_ entity: EntityLayout) -> Bool {
      guard let position = schema.tablePosition[entity.index] else { return false }
      guard let watch else { return true }
      guard DatabaseNames.fold(watch.table) == DatabaseNames.fold(schema.tables[position].name) else {
        return false
      }
      return watch.numbers.map { $0.isSuperset(of: entity.family.map { schema.entityNumbers[$0] }) } ?? true
    }
    guard let owner = Self.owner(of: tree.name, in: schema.layout, where: isWatched),
      let position = schema.tablePosition[owner.index], let key = tree.columns.first,
      DatabaseNames.fold(key) == schema.tables[position].key
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
    self.key = schema.tables[position].key
    entity = owner.index
    columns = found
    numbers = owner.superIndex == nil ? nil : owner.family.map { schema.entityNumbers[$0] }
  }

  var creation: SchemaTree { .rTree(RTreeDefinition(name: name, key: key, bounds: bounds)) }

  private var bounds: [String] { columns.flatMap { [$0 + "_MIN", $0 + "_MAX"] } }

  /// The three triggers. `isTemporary`: those of one connection, which are never written to the file.
  package func triggers(isTemporary: Bool = false) -> [String] {
    triggerTrees(isTemporary: isTemporary).map { SQLRenderer.text($0, dialect: SQLiteDialect()) }
  }

  func triggerTrees(isTemporary: Bool = false) -> [SchemaTree] {
    func column(_ row: String, _ name: String) -> SQLExpression { .column(row, name) }
    var insert = InsertStatement(
      into: name, [key] + bounds,
      values: [column("NEW", key)] + columns.flatMap { [column("NEW", $0), column("NEW", $0)] })
    insert.spacing = .rTree
    var replacement: InsertStatement = insert
    replacement.conflict = .replace
    func removal(_ row: String) -> RowTree {
      .delete(DeleteStatement(from: name, where: .binary(.equal, .column(nil, key), column(row, key))))
    }
    func trigger(_ suffix: String, _ event: TriggerDefinition.Event, _ row: String, _ body: [RowTree])
      -> SchemaTree
    {
      let condition: SQLExpression? = numbers.map { numbers in
        .inList(column(row, AppleNames.entityNumber), numbers.map { .integer(Int64($0)) })
      }
      return .trigger(
        TriggerDefinition(
          name: "\(name)_\(suffix)", isTemporary: isTemporary, event: event, table: table,
          condition: condition, body: body, hasWideSemicolons: true))
    }
    return [
      trigger("INSERT", .insert, "NEW", [.insert(replacement)]),
      trigger("UPDATE", .update(of: []), "NEW", [removal("NEW"), .insert(insert)]),
      trigger("DELETE", .delete, "OLD", [removal("OLD")]),
    ]
  }
}

extension EntityLayout {
  /// The location attributes that this entity itself declares: transient ones made of stored numbers, by
  /// name. Apple's models list these under `_NSLocationAttributeDerivedComponents` in the user info, as a
  /// list or as names separated by commas.
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

extension AppleCreation {
  func rTree(_ index: String, _ columns: [String], of entity: EntityLayout, on table: TableSchema)
    -> NamedIndex
  {
    let tree = RTree(index, columns, of: entity, on: table, schema: schema)
    return NamedIndex(name: tree.name, trees: [tree.creation] + tree.triggerTrees(), rTree: tree)
  }
}
