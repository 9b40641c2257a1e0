import CoreDataModel
import CoreDataStorage

extension StoreSchema {
  /// The schema of an existing database: Apple's names for the numbers found in `Z_PRIMARYKEY`, each looked
  /// up in the database; join tables under either side's name with the columns they actually have.
  ///
  /// `entities`: names of the entities of the store's configuration, nil for all.
  /// Throws `StoreError.unsupportedModel` naming entity, property, table and column if the database lacks
  /// one.
  package init(layout: ModelLayout, database: ExistingDatabase, entities: Set<String>? = nil) throws {
    self = try Self.matched(layout, database, entities, incomplete: []).schema
  }

  /// The same for a damaged database, which may lack columns and join tables of the entities that are
  /// `incomplete`, by their indexes: these properties have no storage, and are listed.
  package static func matched(
    _ layout: ModelLayout, _ database: ExistingDatabase, _ entities: Set<String>?, incomplete: Set<Int>
  ) throws -> (schema: StoreSchema, missing: [MissingProperty]) {
    let numbers: [Int] = EntityNumbers(layout: layout, rows: database.entities).resolve()
    let predicted: StoreSchema = SchemaBuilder(
      layout: layout, rules: AppleLayout(), entities: entities, numbers: numbers
    ).build()
    for entity in layout.entities
    where predicted.tablePosition[entity.index] != nil && numbers[entity.index] == 0 {
      throw StoreError.unsupportedModel(
        entity: entity.name, property: nil,
        reason: database.entities.isEmpty
          ? "the database's Z_PRIMARYKEY has no rows, so it is damaged or no complete store"
          : "the database's Z_PRIMARYKEY has no row for it (it has "
            + database.entities.prefix(20).map(\.name).joined(separator: ", ")
            + "); the store was written with another model and needs a migration")
    }
    var matcher = DatabaseMatcher(
      schema: predicted, names: DatabaseNames(database), incomplete: incomplete)
    return (try matcher.match(), matcher.missing)
  }
}

extension StoreSchema {
  /// The name that the table of a root entity has in Apple's layout.
  package static func tableName(of root: EntityLayout) -> String { AppleNames.table(root.name) }
}

/// Finds each entity's number in `Z_PRIMARYKEY`: by name, else by an earlier name, else by its number in a
/// fresh store (a migration that renames an entity may keep the old name there). 0 if there is none.
struct EntityNumbers {
  let layout: ModelLayout
  let rows: [ExistingDatabase.EntityRow]

  func resolve() -> [Int] {
    var numbers = [Int](repeating: 0, count: layout.entities.count)
    var free: [Int: ExistingDatabase.EntityRow] = Dictionary(
      rows.filter { $0.number > 0 && $0.number < 16000 }.map { ($0.number, $0) },
      uniquingKeysWith: { first, _ in first })
    func claim(_ matches: (EntityLayout, ExistingDatabase.EntityRow) -> Bool) {
      for entity in layout.entities where numbers[entity.index] == 0 {
        let candidates = free.values.filter { matches(entity, $0) }
        guard let row = candidates.min(by: { $0.number < $1.number }) else { continue }
        numbers[entity.index] = row.number
        free[row.number] = nil
      }
    }
    claim { $0.name == $1.name }
    claim { $0.name.uppercased() == $1.name.uppercased() }
    claim { $0.entity.renamingIdentifier == $1.name }
    claim { entity, row in
      let parent: Int = entity.superIndex.map { numbers[$0] } ?? 0
      return entity.index + 1 == row.number && parent == row.superNumber
    }
    return numbers
  }
}

/// Replaces predicted names by those of the database.
private struct DatabaseMatcher {
  let schema: StoreSchema
  let names: DatabaseNames
  /// The entities whose properties may be missing in the database.
  let incomplete: Set<Int>
  private(set) var missing: [MissingProperty] = []

  init(schema: StoreSchema, names: DatabaseNames, incomplete: Set<Int>) {
    self.schema = schema
    self.names = names
    self.incomplete = incomplete
  }

  mutating func match() throws -> StoreSchema {
    let tables: [TableSchema] = try schema.tables.map(table)
    var joins: [JoinTable] = []
    var storage: [[SlotStorage]] = schema.storage
    // Columns declared by a parent are matched once, for the parent, and copied to the children.
    for entity in schema.layout.entities where schema.tablePosition[entity.index] != nil {
      let position: Int = schema.tablePosition[entity.index]!
      for (number, slot) in entity.slots.enumerated() {
        if slot.declaringEntity != entity.index {
          storage[entity.index][number] = storage[slot.declaringEntity][number]
          continue
        }
        storage[entity.index][number] = try place(
          schema.storage[entity.index][number], of: slot, in: entity, table: tables[position].name)
      }
    }
    for join in schema.joinTables {
      let slot: PropertySlot = schema.layout.entities[join.entity].slots[join.slot]
      /// Where the other side of the relationship is declared.
      let inverse: (entity: Int, slot: Int)? = slot.destination.flatMap { destination in
        slot.inverseSlot.map { back in
          (schema.layout.entities[destination].slots[back].declaringEntity, back)
        }
      }.flatMap { $0 == (join.entity, join.slot) ? nil : $0 }
      guard let found = try joinTable(join) else {
        storage[join.entity][join.slot] = .none
        if let inverse { storage[inverse.entity][inverse.slot] = .none }
        continue
      }
      joins.append(found)
      let ownOrder: String? = order(of: found.targetKey, in: found.name)
      let inverseOrder: String? = order(of: found.ownerKey, in: found.name)
      func members(flipped: Bool, of old: SlotStorage) -> SlotStorage {
        guard case .toMany(.joinTable(let expected)) = old else { return old }
        let isOrdered: Bool = expected.order != nil
        let isInverseOrdered: Bool = expected.inverseOrder != nil
        return .toMany(
          .joinTable(
            JoinTableMembers(
              table: found.name, owner: flipped ? found.targetKey : found.ownerKey,
              member: flipped ? found.ownerKey : found.targetKey,
              order: isOrdered ? (flipped ? inverseOrder : ownOrder) : nil,
              inverseOrder: isInverseOrdered ? (flipped ? ownOrder : inverseOrder) : nil,
              isReflexive: expected.isReflexive)))
      }
      storage[join.entity][join.slot] = members(
        flipped: false, of: schema.storage[join.entity][join.slot])
      if let inverse {
        storage[inverse.entity][inverse.slot] = members(
          flipped: true, of: schema.storage[inverse.entity][inverse.slot])
      }
    }
    for entity in schema.layout.entities {
      guard let parent = entity.superIndex else { continue }
      for number in schema.layout.entities[parent].slots.indices {
        storage[entity.index][number] = storage[parent][number]
      }
    }
    return StoreSchema(
      layout: schema.layout, dialect: schema.dialect, encoding: schema.encoding, tables: tables,
      joinTables: joins, tablePosition: schema.tablePosition,
      entityNumbers: schema.entityNumbers, storage: storage)
  }

  private func table(_ predicted: TableSchema) throws -> TableSchema {
    let entity: EntityLayout = schema.layout.entities[predicted.root]
    guard let found = tableName(predicted, entity: entity) else {
      throw StoreError.unsupportedModel(
        entity: entity.name, property: nil,
        reason: "the database has no table \(predicted.name); the store was written with another model, "
          + "or was copied without its -wal file")
    }
    var result: TableSchema = predicted
    result.name = found
    for fixed in AppleNames.fixedColumns where names.column(fixed, in: found) == nil {
      throw StoreError.unsupportedModel(
        entity: entity.name, property: nil,
        reason: "table \(found) has no column \(fixed), so it was not written by Core Data")
    }
    result.columns = predicted.columns.compactMap { column in
      guard let name = names.column(column.name, in: found) else { return nil }
      var copy: ColumnSchema = column
      copy.name = name
      return copy
    }
    return result
  }

  private func tableName(_ predicted: TableSchema, entity: EntityLayout) -> String? {
    if let table = names.table(predicted.name) { return table.name }
    if let old = entity.entity.renamingIdentifier { return names.table(AppleNames.table(old))?.name }
    return nil
  }

  /// Notes what an incomplete entity lacks; throws for another one.
  private mutating func note(
    _ part: MissingProperty.Part, of slot: PropertySlot, in entity: EntityLayout, _ reason: String,
    advice: String = "; the store was written with another version of the model and needs a migration"
  ) throws {
    guard incomplete.contains(entity.index) else {
      throw StoreError.unsupportedModel(entity: entity.name, property: slot.name, reason: reason + advice)
    }
    missing.append(
      MissingProperty(entity: entity.name, property: slot.name, part: part, reason: reason))
  }

  /// `.none` for a property that an incomplete database lacks.
  private mutating func place(
    _ predicted: SlotStorage, of slot: PropertySlot, in entity: EntityLayout, table: String
  ) throws -> SlotStorage {
    let isIncomplete: Bool = incomplete.contains(entity.index)
    func lacks(_ name: String, in table: String) -> String { "table \(table) has no column \(name)" }
    switch predicted {
    case .none, .toMany(.joinTable): return predicted
    case .attribute(var attribute):
      guard
        let name = elementColumn(attribute.name, of: slot, in: entity, table: table)
          ?? names.column(attribute.name, in: table)
      else {
        try note(.value, of: slot, in: entity, lacks(attribute.name, in: table))
        return .none
      }
      attribute.name = name
      return .attribute(attribute)
    case .toOne(var columns):
      let key: String = columns.key
      guard let found = names.column(key, in: table) else {
        try note(.value, of: slot, in: entity, lacks(key, in: table))
        return .none
      }
      columns.key = found
      if let name = columns.entity {
        let wanted: String = entityColumn(name, key: key, table: table)
        columns.entity = names.column(wanted, in: table)
        // The targets' own rows tell their entity as well.
        if columns.entity == nil, !isIncomplete {
          try note(.value, of: slot, in: entity, lacks(wanted, in: table))
        }
      }
      if let name = columns.order {
        columns.order = names.column(name, in: table)
        // It belongs to the other side, which notes it.
        if columns.order == nil, !isIncomplete {
          try note(.order, of: slot, in: entity, lacks(name, in: table))
        }
      }
      return .toOne(columns)
    case .toMany(.foreignKey(var members)):
      let destination: Int = slot.destination ?? entity.index
      let position: Int = schema.tablePosition[destination]!
      members.table =
        tableName(
          schema.tables[position], entity: schema.layout.entities[schema.tables[position].root])
        ?? members.table
      let key: String = members.key
      guard let found = names.column(key, in: members.table) else {
        // Without an inverse nothing else notes it.
        if members.isHidden || !isIncomplete {
          try note(.members, of: slot, in: entity, lacks(key, in: members.table))
        }
        return .none
      }
      members.key = found
      if let name = members.entity {
        let wanted: String = entityColumn(name, key: key, table: members.table)
        members.entity = names.column(wanted, in: members.table)
        if members.entity == nil, !isIncomplete {
          try note(.members, of: slot, in: entity, lacks(wanted, in: members.table))
        }
      }
      if let name = members.order {
        members.order = names.column(name, in: members.table)
        if members.order == nil { try note(.order, of: slot, in: entity, lacks(name, in: members.table)) }
      }
      return .toMany(.foreignKey(members))
    }
  }

  /// How Apple's framework names the column of an element is not documented: a column with the element's own
  /// name is accepted if the name is not ambiguous.
  private func elementColumn(
    _ predicted: String, of slot: PropertySlot, in entity: EntityLayout, table: String
  ) -> String? {
    guard slot.isElement, names.column(predicted, in: table) == nil else { return nil }
    let name: String = AppleNames.column(slot.property.name)
    let family: ClosedRange<Int> = schema.layout.entities[entity.rootIndex].family
    let namesakes: Set<String> = Set(
      family.flatMap { schema.layout.entities[$0].slots }
        .filter { AppleNames.column($0.property.name) == name }.map(\.name))
    return namesakes.count == 1 ? names.column(name, in: table) : nil
  }

  /// The column with the target's entity number may have the number that the destination had before a
  /// migration, or the suffix of its key column.
  private func entityColumn(_ predicted: String, key: String, table: String) -> String {
    if names.column(predicted, in: table) != nil { return predicted }
    let tail: String = "_" + key.dropFirst()
    let found: String? = names.table(table)?.columns.first { column in
      let folded: String = DatabaseNames.fold(column)
      guard folded.hasPrefix("Z"), folded.hasSuffix(DatabaseNames.fold(tail)) else { return false }
      let digits = folded.dropFirst().dropLast(tail.count)
      return !digits.isEmpty && digits.allSatisfy(\.isNumber)
    }
    return found ?? predicted
  }

  private func order(of key: String, in table: String) -> String? {
    names.column(AppleNames.joinOrder(of: key), in: table)
  }

  /// nil for one that an incomplete database lacks.
  private mutating func joinTable(_ predicted: JoinTable) throws -> JoinTable? {
    let entity: EntityLayout = schema.layout.entities[predicted.entity]
    let slot: PropertySlot = entity.slots[predicted.slot]
    let destination: Int = slot.destination ?? predicted.entity
    let back: PropertySlot = slot.inverseSlot.map { schema.layout.entities[destination].slots[$0] } ?? slot
    let otherName: String = AppleNames.joinTable(
      back.name, owner: schema.entityNumbers[back.declaringEntity])
    let candidates: [String] = [predicted.name, otherName]
    let tables: [ExistingDatabase.Table] =
      candidates.compactMap { names.table($0) } + names.all.filter { isJoinTable($0.name) }
    for table in tables {
      guard let (owner, target) = keys(predicted, slot: slot, back: back, in: table) else { continue }
      var found: JoinTable = predicted
      found.name = table.name
      found.ownerKey = owner
      found.targetKey = target
      let wantsOrder: Bool = slot.relationship?.isOrdered ?? false
      let wantsInverseOrder: Bool =
        !(back.property === slot.property) && (back.relationship?.isOrdered ?? false)
      let sides: [(isWanted: Bool, key: String, slot: PropertySlot, entity: EntityLayout)] = [
        (wantsOrder, target, slot, entity),
        (wantsInverseOrder, owner, back, schema.layout.entities[back.declaringEntity]),
      ]
      for side in sides where side.isWanted && order(of: side.key, in: table.name) == nil {
        try note(
          .order, of: side.slot, in: side.entity,
          "join table \(table.name) has no order column \(AppleNames.joinOrder(of: side.key))")
      }
      return found
    }
    let reason: String =
      "the database has no join table for it; looked for \(predicted.name) and \(otherName) with columns "
      + "\(predicted.ownerKey) and \(predicted.targetKey)"
    try note(.members, of: slot, in: entity, reason, advice: "")
    if back.property !== slot.property {
      try note(.members, of: back, in: schema.layout.entities[back.declaringEntity], reason, advice: "")
    }
    return nil
  }

  private func isJoinTable(_ name: String) -> Bool {
    let folded: String = DatabaseNames.fold(name)
    return folded.hasPrefix("Z_") && folded.dropFirst(2).first?.isNumber ?? false
  }

  /// The columns of a join table that hold the owner's and the target's keys: by exact name, else by the
  /// relationship's name with any number and suffix that a migration has kept.
  private func keys(
    _ predicted: JoinTable, slot: PropertySlot, back: PropertySlot, in table: ExistingDatabase.Table
  ) -> (String, String)? {
    if let owner = names.column(predicted.ownerKey, in: table.name),
      let target = names.column(predicted.targetKey, in: table.name)
    {
      return (owner, target)
    }
    let keys: [String] = table.columns.filter { !DatabaseNames.fold($0).hasPrefix("Z_FOK_") }
    guard keys.count == 2 else { return nil }
    let candidates: Set<String> = [
      DatabaseNames.fold(predicted.name),
      DatabaseNames.fold(AppleNames.joinTable(back.name, owner: schema.entityNumbers[back.declaringEntity])),
    ]
    guard candidates.contains(DatabaseNames.fold(table.name)) else { return nil }
    let ownerName: String = AppleNames.upper(back.name)
    let targetName: String = AppleNames.upper(slot.name)
    let bases: [String] = keys.map(base)
    if ownerName != targetName {
      if bases[0] == ownerName, bases[1] == targetName { return (keys[0], keys[1]) }
      if bases[1] == ownerName, bases[0] == targetName { return (keys[1], keys[0]) }
      return nil
    }
    guard bases[0] == ownerName, bases[1] == ownerName else { return nil }
    // Equal names on both sides: the owner's keys come first in the table that the owner names.
    let isNamedByOwner: Bool = DatabaseNames.fold(table.name) == DatabaseNames.fold(predicted.name)
    return isNamedByOwner ? (keys[0], keys[1]) : (keys[1], keys[0])
  }

  /// `Z_17USERS1` → `USERS`, unless the number at the end is part of the name.
  private func base(_ column: String) -> String {
    var rest = DatabaseNames.fold(column)[...]
    if rest.hasPrefix("Z_") { rest = rest.dropFirst(2) }
    while rest.first?.isNumber ?? false { rest.removeFirst() }
    while rest.last?.isNumber ?? false { rest.removeLast() }
    return String(rest)
  }
}
