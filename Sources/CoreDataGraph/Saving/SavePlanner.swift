import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The part of a save that goes to one store.
struct StoreChanges {
  let store: NSPersistentStore
  var inserted: [NSManagedObject] = []
  var updated: [NSManagedObject] = []
  var deleted: [NSManagedObject] = []
  /// After planning: the rows that `inserted` and `updated` take over (nil: nothing stored changed).
  var insertedRows: [RowRef] = []
  var updatedRows: [RowRef?] = []
  /// After writing: the keys of `inserted`.
  var keys: [Int64] = []

  init(store: NSPersistentStore) { self.store = store }

  static func split(
    _ changes: PendingChanges, context: NSManagedObjectContext, coordinator: NSPersistentStoreCoordinator
  ) throws -> [StoreChanges] {
    var parts: [StoreChanges] = []
    func place(_ store: NSPersistentStore) -> Int {
      if let known = parts.firstIndex(where: { $0.store === store }) { return known }
      parts.append(StoreChanges(store: store))
      return parts.count - 1
    }
    // The store of the last new object of each entity: looking it up for every object would cost more than its row.
    var storeOfEntity: [Int: Int] = [:]
    for object in changes.inserted {
      if let known = storeOfEntity[object.runtime.index], object.store == nil, context.assignedStores.isEmpty
      {
        parts[known].inserted.append(object)
        continue
      }
      let number: Int = place(try store(for: object, context: context, coordinator: coordinator))
      if object.store == nil, context.assignedStores.isEmpty { storeOfEntity[object.runtime.index] = number }
      parts[number].inserted.append(object)
    }
    for object in changes.updated {
      guard let store = object.store else { continue }
      parts[place(store)].updated.append(object)
    }
    for object in changes.deleted {
      guard let store = object.store else { continue }
      parts[place(store)].deleted.append(object)
    }
    return parts
  }

  /// The store of an object: where it is, where it was assigned, or the first writable store that holds its entity.
  static func store(
    for object: NSManagedObject, context: NSManagedObjectContext, coordinator: NSPersistentStoreCoordinator
  ) throws -> NSPersistentStore {
    if let store = object.store { return store }
    if let store = context.assignedStores[ObjectIdentifier(object)] { return store }
    let holding: [NSPersistentStore] = coordinator.persistentStores.filter { $0.holds(object.runtime) }
    if let store = holding.first(where: { !$0.isReadOnly }) { return store }
    throw GraphError.noStore(
      entity: object.runtime.layout.name,
      reason: holding.isEmpty
        ? "no store's configuration contains it" : "every store that holds it is read-only")
  }
}

/// Turns the changes for one store into a plan: keys, rows in slabs, changed slots, to-many edits.
struct SavePlanner {
  let store: NSPersistentStore
  unowned let context: NSManagedObjectContext
  private(set) var insertedRows: [RowRef] = []
  private(set) var updatedRows: [RowRef?] = []

  init(store: NSPersistentStore, context: NSManagedObjectContext) {
    self.store = store
    self.context = context
  }

  mutating func plan(_ changes: StoreChanges, _ transaction: any SaveTransaction) throws -> SavePlan {
    var plan = SavePlan()
    try giveKeys(to: changes.inserted, transaction)
    plan.inserts = try insertions(changes.inserted)
    plan.updates = try updates(changes.updated)
    plan.deletes = changes.deleted.map { object in
      RowDelete(
        id: RowID(entity: object.runtime.index, key: object.key), expectedVersion: object.row?.version ?? 0)
    }
    plan.checks = context.watched.filter { $0.store === store && !$0.hasChanges }.compactMap { object in
      object.row.map {
        RowDelete(id: RowID(entity: object.runtime.index, key: object.key), expectedVersion: $0.version)
      }
    }
    var joined = Set<JoinedPair>()
    for object in changes.inserted + changes.updated + changes.deleted {
      try appendEdits(of: object, to: &plan, &joined)
    }
    return plan
  }

  // MARK: Keys and rows

  private func giveKeys(to objects: [NSManagedObject], _ transaction: any SaveTransaction) throws {
    // By root index; arrays, because every new object asks.
    var counts: [Int] = Array(repeating: 0, count: store.runtime.entities.count)
    for object in objects where object.key < 0 { counts[object.runtime.layout.rootIndex] += 1 }
    var next: [Int64] = Array(repeating: 0, count: counts.count)
    for (root, count) in counts.enumerated() where count > 0 {
      next[root] = try transaction.allocateKeys(for: store.runtime.layout.entities[root], count: count)
    }
    for object in objects {
      let root: Int = object.runtime.layout.rootIndex
      guard object.key < 0 else {
        object.pendingKey = object.key
        continue
      }
      object.pendingKey = next[root]
      next[root] += 1
    }
  }

  private mutating func insertions(_ objects: [NSManagedObject]) throws -> [(
    layout: EntityLayout, rows: RowBatch
  )] {
    var groups: [(layout: EntityLayout, rows: RowBatch)] = []
    var groupOfEntity: [Int: Int] = [:]
    var places: [(slab: RowSlab, position: Int)] = []
    places.reserveCapacity(objects.count)
    for object in objects {
      let layout: EntityLayout = object.runtime.layout
      let group: Int
      if let known = groupOfEntity[layout.index] {
        group = known
      } else {
        group = groups.count
        groupOfEntity[layout.index] = group
        groups.append((layout, RowBatch()))
      }
      let slab: RowSlab
      if let last = groups[group].rows.slabs.last, !last.isFull {
        slab = last
      } else {
        slab = RowSlab(
          layout: layout, family: false,
          rowCapacity: min(objects.count, max(1, RowSlab.targetSizeInBytes / max(1, layout.rowSize) / 2)))
        groups[group].rows.slabs.append(slab)
      }
      let row: UnsafeMutableRawPointer = slab.appendRow(
        key: object.pendingKey, entity: layout.index, version: 1)
      try encode(object, all: true, into: slab, row)
      places.append((slab, slab.count - 1))
    }
    // Only now: adding rows may have moved those before.
    insertedRows = places.map { $0.slab.row($0.position) }
    return groups
  }

  private mutating func updates(_ objects: [NSManagedObject]) throws -> [RowUpdate] {
    var pending: [(place: Int, slab: RowSlab, position: Int, changed: SlotSet, version: Int32)] = []
    var slabs: [Int: RowSlab] = [:]
    updatedRows = Array(repeating: nil, count: objects.count)
    for (place, object) in objects.enumerated() {
      let changes: SlotSet = object.persistentChanges()
      guard !changes.isEmpty, let old = object.row else { continue }
      let layout: EntityLayout = object.runtime.layout
      let slab: RowSlab
      if let last = slabs[layout.index], !last.isFull {
        slab = last
      } else {
        slab = RowSlab(layout: layout, family: false, rowCapacity: min(objects.count, 256))
        slabs[layout.index] = slab
      }
      let row: UnsafeMutableRawPointer = slab.appendRow(
        key: object.key, entity: layout.index, version: old.version &+ 1)
      try encode(object, all: false, into: slab, row)
      var stored = SlotSet()
      for slot in changes.members {
        if case .stored = layout.slots[slot].role, !layout.slots[slot].isDerived { stored.insert(slot) }
      }
      pending.append((place, slab, slab.count - 1, stored, old.version))
    }
    return pending.map { entry in
      let row: RowRef = entry.slab.row(entry.position)
      updatedRows[entry.place] = row
      return RowUpdate(row: row, changed: entry.changed, expectedVersion: entry.version)
    }
  }

  /// Fills a row: from the slots, and for an update from the old row where a slot was not set.
  private func encode(
    _ object: NSManagedObject, all: Bool, into slab: RowSlab, _ row: UnsafeMutableRawPointer
  ) throws {
    let runtime: EntityRuntime = object.runtime
    let state: ObjectState? = object.state
    for number in 0..<runtime.slotCount {
      let brief: SlotBrief = runtime.brief[number]
      guard brief.word >= 0 else { continue }
      let (kind, word): (ColumnKind, Int) = (brief.kind, Int(brief.word))
      let value: SlotValue = state?.values[number] ?? .unset
      let isSet: Bool = !value.isUnset && (all || state?.changed.contains(number) == true)
      if !isSet {
        slab.copy(word, kind, from: object.row, to: row)
      } else if kind == .toOne {
        if case .object(let target) = value, let target = target as? NSManagedObject {
          slab.set(row, word: word, toTarget: try id(of: target, from: object, number))
        }
      } else {
        try slab.set(
          row, word: word, kind: kind, value: value, attribute: runtime.layout.slots[number].attribute)
      }
    }
  }

  /// The row a target has, or will have after this save.
  private func id(of target: NSManagedObject, from source: NSManagedObject, _ slot: Int) throws -> RowID {
    let name: String = source.runtime.layout.slots[slot].name
    if target.flags.contains(.deletedElsewhere) {
      throw GraphError.deletedTarget(object: source.objectID, relationship: name, target: target.objectID)
    }
    if let theirs = target.store {
      guard theirs === store else {
        throw GraphError.externalRelationship(
          object: source.objectID, relationship: name, target: target.objectID)
      }
      return RowID(entity: target.runtime.index, key: target.key)
    }
    if target.isInserted, target.registry === context.registry {
      if target.pendingKey > 0 {
        if let assigned = context.assignedStores[ObjectIdentifier(target)], assigned !== store {
          throw GraphError.externalRelationship(
            object: source.objectID, relationship: name, target: target.objectID)
        }
        return RowID(entity: target.runtime.index, key: target.pendingKey)
      }
      throw GraphError.externalRelationship(
        object: source.objectID, relationship: name, target: target.objectID)
    }
    throw GraphError.unsavedTarget(
      object: source.objectID, relationship: name, targetDescription: "\(target.runtime.layout.name)")
  }

  // MARK: To-many

  /// One membership of a many-to-many pair, whichever side tells of it.
  private struct JoinedPair: Hashable {
    let left: RowID
    let right: RowID
    let relationship: ObjectIdentifier
    let isAddition: Bool
  }

  private func appendEdits(
    of object: NSManagedObject, to plan: inout SavePlan, _ joined: inout Set<JoinedPair>
  ) throws {
    guard let state = object.state else { return }
    for slot in object.runtime.relationshipSlots {
      guard let many = state.toMany(slot), many.isChanged else { continue }
      let described: PropertySlot = object.runtime.layout.slots[slot]
      guard case .toMany = described.role, let relationship = described.relationship else { continue }
      let inverseIsToOne: Bool = relationship.inverseRelationship.map { !$0.isToMany } ?? false
      // The member's own row carries a plain one-to-many.
      if inverseIsToOne, !relationship.isOrdered || object.isDeleted { continue }
      let owner = RowID(
        entity: object.runtime.index, key: object.pendingKey > 0 ? object.pendingKey : object.key)
      var (added, removed): ([RowID], [RowID]) = ([], [])
      if !inverseIsToOne {
        let pairs = many.pairs
        added = try pairs.added.map { try id(of: $0, from: object, slot) }
        removed = try pairs.removed.filter { $0.store != nil && !$0.flags.contains(.deletedElsewhere) }.map {
          try id(of: $0, from: object, slot)
        }
      }
      if let inverse = relationship.inverseRelationship, inverse.isToMany {
        // Both sides of a pair tell of it; the store hears of it once.
        added = added.filter { joined.insert(pair(owner, $0, relationship, inverse, true)).inserted }
        removed = removed.filter { joined.insert(pair(owner, $0, relationship, inverse, false)).inserted }
      }
      var ordering: [RowID]?
      var appended: [RowID] = []
      if relationship.isOrdered, !object.isDeleted {
        if many.isReordered {
          ordering = try object.members(slot).map { try id(of: $0, from: object, slot) }
        } else {
          appended = try many.added.map { try id(of: $0, from: object, slot) }
        }
      }
      if added.isEmpty, removed.isEmpty, ordering == nil, appended.isEmpty { continue }
      plan.toMany.append(
        ToManyEdit(
          owner: owner, slot: slot, added: added, removed: removed, ordering: ordering, appended: appended))
    }
  }

  private func pair(
    _ owner: RowID, _ member: RowID, _ relationship: NSRelationshipDescription,
    _ inverse: NSRelationshipDescription,
    _ isAddition: Bool
  ) -> JoinedPair {
    // The same pair seen from the other side must be the same value; a relationship that is its own inverse orders by key.
    let (mine, theirs) = (ObjectIdentifier(relationship), ObjectIdentifier(inverse))
    if relationship === inverse {
      let isFirst: Bool = owner.key <= member.key
      return JoinedPair(
        left: isFirst ? owner : member, right: isFirst ? member : owner, relationship: mine,
        isAddition: isAddition)
    }
    return mine < theirs
      ? JoinedPair(left: owner, right: member, relationship: mine, isAddition: isAddition)
      : JoinedPair(left: member, right: owner, relationship: theirs, isAddition: isAddition)
  }
}

extension RowSlab {
  /// Gives a row the value that another one has.
  func copy(_ word: Int, _ kind: ColumnKind, from old: RowRef?, to row: UnsafeMutableRawPointer) {
    guard let old, old.hasValue(word) else { return }
    if kind.isInTail {
      let bytes: UnsafeRawBufferPointer = old.bytes(word)
      set(row, word: word, to: appendTail(bytes.baseAddress, count: bytes.count))
    } else if kind == .toOne {
      set(row, word: word, toTarget: old.target(word))
    } else {
      set(row, word: word, to: old.word(word))
    }
  }
}

/// Errors of a save, with the objects concerned.
enum SaveErrors {
  static func error(
    for error: StoreError, store: NSPersistentStore, context: NSManagedObjectContext, partly: Bool
  ) -> any Error {
    var info: [String: Any] = [NSAffectedStoresErrorKey: [store]]
    var made: CocoaError = GraphError.store(error, store.url).asCocoaError
    if case .conflicts(let conflicts) = error {
      let entities: [EntityLayout] = store.runtime.layout.entities
      info[NSAffectedObjectsErrorKey] = conflicts.compactMap { conflict in
        context.registry.object(
          store: store.ordinal, root: entities[Int(conflict.id.entity)].rootIndex, key: conflict.id.key)
      }
      let message: ErrorMessage = error.message(url: store.url) {
        "\(entities[Int($0.entity)].name)/p\($0.key)"
      }
      info.merge(message.userInfo) { _, new in new }
    }
    made = CocoaError(made.code, userInfo: made.userInfo.merging(info) { _, new in new })
    guard partly else { return made }
    info[NSUnderlyingErrorKey] = made as NSError
    return ErrorMessage(
      "Some of the stores were saved, \(store.url?.path ?? store.identifier) was not: \(made.localizedDescription)",
      advice: (made as NSError).localizedRecoverySuggestion
    ).cocoaError(NSPersistentStoreIncompleteSaveError, info)
  }
}
