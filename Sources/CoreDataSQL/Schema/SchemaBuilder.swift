import CoreDataModel
import CoreDataStorage

/// Assigns tables and columns to every entity and property, by the rules of a layout, from the model and the
/// entities' numbers alone.
struct SchemaBuilder {
  let layout: ModelLayout
  let rules: any SQLLayout
  let numbers: [Int]
  private let included: [Bool]
  private var tables: [TableSchema] = []
  private var tablePosition: [Int?]
  private var pools: [NamePool] = []
  private var storage: [[SlotStorage]]
  private var joinTables: [JoinTable] = []

  init(layout: ModelLayout, rules: any SQLLayout, entities: Set<String>?, numbers: [Int]) {
    self.layout = layout
    self.rules = rules
    self.numbers = numbers
    // A hierarchy shares a table, so one of its entities includes the whole hierarchy.
    let roots: Set<Int> = Set(
      layout.entities.filter { entities?.contains($0.name) ?? true }.map(\.rootIndex))
    included = layout.entities.map { roots.contains($0.rootIndex) }
    tablePosition = layout.entities.map { _ in nil }
    storage = layout.entities.map { $0.slots.map { _ in .none } }
  }

  func build() -> StoreSchema {
    var work: SchemaBuilder = self
    work.nameTables()
    work.nameColumns()
    work.nameHiddenKeys()
    work.nameJoinTables()
    work.linkToMany()
    work.inherit()
    for position in work.tables.indices { work.tables[position].sortColumns(layout, rules) }
    return StoreSchema(
      layout: layout, dialect: rules.dialect, encoding: rules.encoding, tables: work.tables,
      joinTables: work.joinTables, tablePosition: work.tablePosition,
      entityNumbers: numbers, storage: work.storage)
  }

  private mutating func nameTables() {
    var pool = NamePool(rules, reserved: rules.reservedTables)
    for entity in layout.entities where included[entity.index] {
      if entity.superIndex == nil {
        tablePosition[entity.index] = tables.count
        let table = TableSchema(
          name: pool.claim(rules.table(entity.name)), root: entity.index, rootNumber: numbers[entity.index],
          key: rules.key, entity: rules.entityNumber(hasSubentities: entity.hasSubentities),
          version: rules.version)
        tables.append(table)
        pools.append(NamePool(rules, reserved: rules.fixedColumns))
      } else {
        tablePosition[entity.index] = tablePosition[entity.rootIndex]
      }
    }
  }

  /// Own attributes and to-one relationships, entity by entity, depth first.
  private mutating func nameColumns() {
    for entity in layout.entities {
      guard let position = tablePosition[entity.index] else { continue }
      for (number, slot) in entity.slots.enumerated() where slot.declaringEntity == entity.index {
        guard case .stored(let kind, _) = slot.role else { continue }
        let name: String = pools[position].claim(
          kind == .toOne ? rules.toOneKey(slot.name) : rules.attribute(slot.name))
        func add(_ name: String, _ purpose: ColumnSchema.Purpose) {
          tables[position].columns.append(
            ColumnSchema(name: name, kind: kind, owner: entity.index, slot: number, purpose: purpose))
        }
        guard kind == .toOne else {
          add(name, .attribute)
          storage[entity.index][number] = .attribute(
            AttributeColumn(
              name: name, kind: kind, isTagged: slot.attribute?.allowsExternalBinaryDataStorage ?? false))
          continue
        }
        var columns = ToOneColumns(key: name)
        add(name, .toOneKey)
        if let destination = slot.destination, layout.entities[destination].hasSubentities {
          let column: String = pools[position].claim(
            rules.toOneEntity(slot.name, destination: numbers[destination]))
          columns.entity = column
          add(column, .toOneEntity)
        }
        if let inverse = slot.relationship?.inverseRelationship, inverse.isToMany, inverse.isOrdered {
          let column: String = pools[position].claim(rules.toOneOrder(slot.name))
          columns.order = column
          add(column, .order)
        }
        storage[entity.index][number] = .toOne(columns)
      }
    }
  }

  /// To-many relationships without inverse keep the owner's key in the members' table.
  private mutating func nameHiddenKeys() {
    for entity in layout.entities where included[entity.index] {
      for (number, slot) in entity.slots.enumerated() where slot.declaringEntity == entity.index {
        guard slot.role == .toMany, slot.relationship?.inverseRelationship == nil,
          let destination = slot.destination, let position = tablePosition[destination]
        else { continue }
        let key: String = pools[position].claim(
          rules.hiddenKey(slot.name, of: entity.name, source: numbers[entity.index]))
        tables[position].columns.append(
          ColumnSchema(name: key, kind: .toOne, owner: entity.index, slot: number, purpose: .hiddenKey))
        var order: String?
        if slot.relationship?.isOrdered ?? false {
          let column: String = pools[position].claim(
            rules.hiddenOrder(slot.name, of: entity.name, source: numbers[entity.index]))
          tables[position].columns.append(
            ColumnSchema(name: column, kind: .toOne, owner: entity.index, slot: number, purpose: .order))
          order = column
        }
        storage[entity.index][number] = .toMany(
          .foreignKey(
            ForeignKeyMembers(
              table: tables[position].name, key: key, entity: nil, order: order, isHidden: true)))
      }
    }
  }

  /// Entities by name ignoring case, a super-entity before its sub-entities; a pair's table belongs to the
  /// first one.
  private func joinOrder() -> [EntityLayout] {
    var done: Set<Int> = []
    var result: [EntityLayout] = []
    func visit(_ entity: EntityLayout) {
      if let parent = entity.superIndex { visit(layout.entities[parent]) }
      if done.insert(entity.index).inserted { result.append(entity) }
    }
    let flat: [EntityLayout] = layout.entities.sorted {
      ($0.name.uppercased(), $0.name) < ($1.name.uppercased(), $1.name)
    }
    for entity in flat where included[entity.index] { visit(entity) }
    return result
  }

  private mutating func nameJoinTables() {
    var tablePool = NamePool(rules, reserved: rules.reservedTables + tables.map(\.name))
    var keyPool = NamePool(rules)
    var done: Set<ObjectIdentifier> = []
    for entity in joinOrder() {
      let own: [(Int, PropertySlot)] = entity.slots.enumerated()
        .filter { $0.element.declaringEntity == entity.index && $0.element.role == .toMany }
        .sorted {
          ($0.element.name.uppercased(), $0.element.name) > ($1.element.name.uppercased(), $1.element.name)
        }
        .map { ($0.offset, $0.element) }
      for (number, slot) in own {
        guard let relationship = slot.relationship, let inverse = relationship.inverseRelationship,
          inverse.isToMany, let destination = slot.destination, let back = slot.inverseSlot,
          done.insert(ObjectIdentifier(relationship)).inserted
        else { continue }
        done.insert(ObjectIdentifier(inverse))
        let isReflexive: Bool = inverse === relationship
        let backSlot: PropertySlot = layout.entities[destination].slots[back]
        let owner: Int = backSlot.destination ?? entity.index
        if !rules.joinKeysAreUnique { keyPool = NamePool(rules) }
        func key(_ relationship: String, _ entity: Int) -> String {
          keyPool.claim(
            rules.joinKey(relationship, of: layout.entities[entity].name, number: numbers[entity]))
        }
        let table: String = tablePool.claim(
          rules.joinTable(slot.name, of: entity.name, owner: numbers[entity.index]))
        let ownerKey: String = key(inverse.name, owner)
        let targetKey: String = (isReflexive ? rules.reflexiveKey : nil) ?? key(slot.name, destination)
        let order: String? = relationship.isOrdered ? rules.joinOrder(of: targetKey) : nil
        let inverseOrder: String? =
          inverse.isOrdered && !isReflexive ? rules.joinOrder(of: ownerKey) : nil
        joinTables.append(
          JoinTable(
            name: table, ownerKey: ownerKey, targetKey: targetKey,
            orderColumns: [inverseOrder, order].compactMap(\.self), entity: entity.index, slot: number))
        storage[entity.index][number] = .toMany(
          .joinTable(
            JoinTableMembers(
              table: table, owner: ownerKey, member: targetKey, order: order,
              inverseOrder: inverseOrder, isReflexive: isReflexive)))
        if !isReflexive {
          storage[backSlot.declaringEntity][back] = .toMany(
            .joinTable(
              JoinTableMembers(
                table: table, owner: targetKey, member: ownerKey, order: inverseOrder,
                inverseOrder: order, isReflexive: false)))
        }
      }
    }
  }

  /// A plain one-to-many uses its inverse's column.
  private mutating func linkToMany() {
    for entity in layout.entities where included[entity.index] {
      for (number, slot) in entity.slots.enumerated() where slot.declaringEntity == entity.index {
        guard slot.role == .toMany, let destination = slot.destination, let back = slot.inverseSlot,
          let position = tablePosition[destination]
        else { continue }
        let declaring: Int = layout.entities[destination].slots[back].declaringEntity
        guard case .toOne(let columns) = storage[declaring][back] else { continue }
        storage[entity.index][number] = .toMany(
          .foreignKey(
            ForeignKeyMembers(
              table: tables[position].name, key: columns.key, entity: columns.entity,
              order: slot.relationship?.isOrdered ?? false ? columns.order : nil, isHidden: false)))
      }
    }
  }

  /// Slot numbers of a parent are valid for its children, and so are the columns.
  private mutating func inherit() {
    for entity in layout.entities {
      guard let parent = entity.superIndex else { continue }
      for number in layout.entities[parent].slots.indices {
        storage[entity.index][number] = storage[parent][number]
      }
    }
  }
}

extension TableSchema {
  /// By the layout's ranks, the entities depth first, their relationships after their attributes, then by
  /// name.
  fileprivate mutating func sortColumns(_ layout: ModelLayout, _ rules: any SQLLayout) {
    let ranked = columns.enumerated().map { place, column in
      let isToOne: Int = column.purpose == .toOneKey || column.purpose == .toOneEntity ? 1 : 0
      let name: String = layout.entities[column.owner].slots[column.slot].name
      return (
        key: (rules.rank(column.purpose, column.kind), column.owner, isToOne, name, place), column: column
      )
    }
    columns = ranked.sorted { $0.key < $1.key }.map(\.column)
  }
}
