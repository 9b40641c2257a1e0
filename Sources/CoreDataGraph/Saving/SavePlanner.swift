import CoreDataModel
import CoreDataStorage
import Foundation

/// Makes a plan of the changes for one store: provisional keys, rows in slabs, changed slots, to-many edits.
///
/// No code of the program runs meanwhile: value transformers were called before (`values`). The only values
/// read here are the members of ordered relationships that were reordered and then unloaded by a refresh or a
/// merge.
struct SavePlanner {
  let store: NSPersistentStore
  unowned let context: NSManagedObjectContext
  let values: TransformedValues
  private var plan = SavePlan()
  /// The objects that become new rows of the store.
  private var newObjects: [NSManagedObject] = []
  /// Their temporary keys and the numbers of the provisional ones; made when a relationship first refers to
  /// one of them.
  private var provisionalKeys: Int64HashMap?
  /// Rows that relationships refer to and that nothing else in the plan checks.
  private var targets: Set<RowID> = []
  /// Members to append to an ordered one-to-many relationship whose owner has no edit with them.
  private var late: [ToManyEdit] = []

  /// Read once: asking the context for each value costs a tenth of a save.
  private let isUnvalidated: Bool

  private init(store: NSPersistentStore, context: NSManagedObjectContext, values: TransformedValues) {
    self.store = store
    self.context = context
    self.values = values
    isUnvalidated = context.savesUnvalidated
  }

  /// The plan for a part; sets the rows that the part's objects will have.
  static func plan(
    _ part: inout StoreChanges, of context: NSManagedObjectContext, _ values: TransformedValues
  ) throws -> SavePlan {
    var planner = SavePlanner(store: part.store, context: context, values: values)
    try planner.plan(&part)
    return planner.plan
  }

  private mutating func plan(_ part: inout StoreChanges) throws {
    newObjects = part.inserted
    part.insertedRows = try planInsertions(part.inserted)
    part.updatedRows = try planUpdates(part.updated)
    plan.deletes = part.deleted.map { object in
      RowDelete(
        id: RowID(entity: object.runtime.index, key: object.key), expectedVersion: object.row?.version ?? 0)
    }
    plan.author = SaveAuthor(contextName: context.name, author: context.transactionAuthor)
    plan.tombstones = part.deleted.compactMap { object in
      guard let slots = object.runtime.layout.tombstoneSlots, let row = object.row else { return nil }
      return RowTombstone(row: row, slots: slots)
    }
    plan.checks = context.work.lockChecked.filter { $0.store === store && !$0.hasChanges }.compactMap {
      object in
      object.row.map {
        RowDelete(id: RowID(entity: object.runtime.index, key: object.key), expectedVersion: $0.version)
      }
    }
    var joined = Set<JoinedPair>()
    for list in [part.inserted, part.updated, part.deleted] {
      for object in list { try planEdits(of: object, &joined) }
    }
    plan.toMany += late
    plan.targets = targets.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) }
  }

  // MARK: Keys and rows

  private mutating func planInsertions(_ objects: [NSManagedObject]) throws -> [RowRef] {
    var groupOfEntity: [Int: Int] = [:]
    var places: [(slab: RowSlab, position: Int)] = []
    places.reserveCapacity(objects.count)
    for object in objects {
      let layout: EntityLayout = object.runtime.layout
      let group: Int
      if let known = groupOfEntity[layout.index] {
        group = known
      } else {
        group = plan.inserts.count
        groupOfEntity[layout.index] = group
        plan.inserts.append((layout, RowBatch()))
      }
      let slab: RowSlab
      if let last = plan.inserts[group].rows.slabs.last, !last.isFull {
        slab = last
      } else {
        slab = nextSlab(after: plan.inserts[group].rows.slabs.last, layout, count: objects.count)
        plan.inserts[group].rows.slabs.append(slab)
      }
      let key: Int64 = object.key < 0 ? plan.provisionalKey(in: layout) : object.key
      let row: UnsafeMutableRawPointer = slab.appendRow(
        key: key, entity: layout.index, version: firstVersion(of: object))
      try encode(object, all: true, into: slab, row)
      places.append((slab, slab.count - 1))
    }
    // Only now, because adding rows may have moved those before.
    return places.map { $0.slab.row($0.position) }
  }

  /// The slab for further rows of an entity. `count`: how many there are at most.
  private func nextSlab(after last: RowSlab?, _ layout: EntityLayout, count: Int) -> RowSlab {
    if let last, last.count > 0 {
      return RowSlab(layout: layout, family: false, tailPerRow: last.tailCount / last.count)
    }
    return RowSlab(
      layout: layout, family: false,
      rowCapacity: min(count, max(1, RowSlab.targetSizeInBytes / max(1, layout.rowSize) / 2)))
  }

  /// A row that is restored under its old key must not have a version that others may have read of the
  /// deleted one, because they could not distinguish the two.
  private func firstVersion(of object: NSManagedObject) -> Int32 {
    guard let former = object.state?.formerVersion else { return 1 }
    return former &+ 65_536
  }

  private mutating func planUpdates(_ objects: [NSManagedObject]) throws -> [RowRef?] {
    var pending: [(place: Int, slab: RowSlab, position: Int, changed: SlotSet, version: Int32)] = []
    var slabs: [Int: RowSlab] = [:]
    var rows: [RowRef?] = Array(repeating: nil, count: objects.count)
    for (place, object) in objects.enumerated() {
      let changes: SlotSet = object.persistentChanges(values)
      guard !changes.isEmpty, let old = object.row?.version else { continue }
      let layout: EntityLayout = object.runtime.layout
      let slab: RowSlab
      if let last = slabs[layout.index], !last.isFull {
        slab = last
      } else {
        slab = nextSlab(after: slabs[layout.index], layout, count: objects.count)
        slabs[layout.index] = slab
      }
      let row: UnsafeMutableRawPointer = slab.appendRow(
        key: object.key, entity: layout.index, version: old &+ 1)
      try encode(object, all: false, into: slab, row)
      var stored = SlotSet()
      let briefs: UnsafeMutablePointer<CompactSlot> = object.home.facts.pointee.slots
      changes.forEach { slot in
        if briefs[slot].word >= 0, !briefs[slot].isDerived { stored.insert(slot) }
      }
      pending.append((place, slab, slab.count - 1, stored, old))
    }
    plan.updates = pending.map { entry in
      let row: RowRef = entry.slab.row(entry.position)
      rows[entry.place] = row
      return RowUpdate(row: row, changed: entry.changed, expectedVersion: entry.version)
    }
    return rows
  }

  /// Fills a row: from the slots, and for an update from the old row where a slot was not set.
  private mutating func encode(
    _ object: NSManagedObject, all: Bool, into slab: RowSlab, _ row: UnsafeMutableRawPointer
  ) throws {
    // What every slot needs is read once: a reference that is read for each is retained for each.
    let facts: UnsafePointer<EntityFacts> = object.home.facts
    let state: ObjectState? = object.state
    let values: [SlotValue] = state?.values ?? []
    let changed: SlotSet = state?.changed ?? SlotSet()
    let old: RowRef? = object.row
    for number in 0..<facts.pointee.slotCount {
      let brief: CompactSlot = facts.pointee.slots[number]
      guard brief.word >= 0 else { continue }
      let (kind, word): (ColumnKind, Int) = (brief.kind, Int(brief.word))
      guard state != nil, all || changed.contains(number), !values[number].isUnset else {
        slab.copy(word, kind, from: old, to: row)
        continue
      }
      let value: SlotValue = values[number]
      if isPlain(brief) {
        switch value {
        case .integer(let integer) where brief.form == .integer && !isUnvalidated:
          slab.set(row, word: word, toInteger: integer)
          continue
        case .double(let double) where brief.form.isFloatingPoint && !isUnvalidated && !double.isNaN:
          slab.set(row, word: word, toDouble: double)
          continue
        case .null: continue
        default: break
        }
      }
      if kind == .toOne {
        if case .object(let target) = value, let target = target as? NSManagedObject {
          let id: RowID = try id(of: target, from: object, number)
          note(target, id, hasInverse: brief.hasInverse)
          slab.set(row, word: word, toTarget: id)
          if brief.hasOrderedInverse, old?.leads(to: id, word) != true {
            place(object, in: target, id, number)
          }
        }
      } else {
        if !brief.isDerived, !value.isStorable(as: kind), !object.copiesNotANumber(value, kind) {
          try object.refuseValue(number)
        }
        // Validation, which was left out, would have found a number that the attribute does not take.
        if isUnvalidated, !object.isValid(value, number) { try object.refuseValue(number) }
        guard kind == .transformable, case .object = value else {
          let isRounded: Bool = brief.isRounded && !store.keepsExactDecimals
          slab.set(row, word: word, value: isRounded ? value.rounded : value)
          continue
        }
        switch try self.values.find(object, number) {
        case .changed(let data): slab.set(row, word: word, bytes: data)
        case .same: slab.copy(word, kind, from: old, to: row)
        }
      }
    }
  }

  /// Whether a number of a slot is written as it is.
  @inline(__always)
  private func isPlain(_ brief: CompactSlot) -> Bool { brief.role == .attribute && !brief.isRounded }

  /// The id of the row that a target has, or will have after this save.
  private mutating func id(of target: NSManagedObject, from source: NSManagedObject, _ slot: Int) throws
    -> RowID
  {
    if target.flags.contains(.remotelyDeleted) {
      throw GraphError.deletedTarget(
        object: source.objectID, relationship: source.runtime.layout.slots[slot].name, target: target.objectID
      )
    }
    if target.store === store { return RowID(entity: target.runtime.index, key: target.key) }
    if target.store == nil, let key = provisionalKey(of: target) {
      return RowID(entity: target.runtime.index, key: key)
    }
    let name: String = source.runtime.layout.slots[slot].name
    if target.store != nil || (target.isInserted && target.identityMap === context.identityMap) {
      let other: NSPersistentStore? =
        target.store ?? context.work.assignedStore(of: target)
        ?? context.persistentStoreCoordinator.flatMap {
          try? StoreChanges.store(for: target, context: context, coordinator: $0)
        }
      throw GraphError.externalRelationship(
        object: source.objectID, relationship: name, target: target.objectID,
        stores: (store.placeInMessages, other?.placeInMessages ?? "that has no place yet"))
    }
    throw GraphError.unsavedTarget(
      object: source.objectID, relationship: name, targetDescription: "\(target.runtime.layout.name)")
  }

  /// The plan writes objects that are changed together with the relationship, and these are checked then;
  /// other targets are recorded to be checked.
  @inline(__always)
  private mutating func note(_ target: NSManagedObject, _ id: RowID, hasInverse: Bool) {
    if !target.flags.isDisjoint(with: hasInverse ? [.inserted, .deleted, .updated] : [.inserted, .deleted]) {
      return
    }
    targets.insert(id)
  }

  /// The owner's members were refreshed and do not contain the member that refers to it: the member is
  /// appended.
  private mutating func place(_ member: NSManagedObject, in owner: NSManagedObject, _ id: RowID, _ slot: Int)
  {
    guard !owner.isDeleted, let inverse = member.runtime.layout.slots[slot].inverseSlot,
      owner.state?.toMany(inverse)?.adds(member) != true
    else { return }
    let key: Int64 = member.key < 0 ? provisionalKey(of: member) ?? member.key : member.key
    let added = RowID(entity: member.runtime.index, key: key)
    if let last = late.last, last.owner == id, last.slot == inverse {
      late[late.count - 1].appended.append(added)
    } else {
      late.append(ToManyEdit(owner: id, slot: inverse, added: [], removed: [], appended: [added]))
    }
  }

  /// nil if the object is not one of those that become new rows.
  private mutating func provisionalKey(of object: NSManagedObject) -> Int64? {
    if provisionalKeys == nil {
      var keys = Int64HashMap()
      keys.reserve(more: newObjects.count)
      var counts: [UInt64] = Array(repeating: 0, count: store.runtime.entities.count)
      for object in newObjects where object.key < 0 {
        counts[object.runtime.layout.rootIndex] += 1
        keys.insert(object.key, counts[object.runtime.layout.rootIndex])
      }
      provisionalKeys = keys
    }
    return provisionalKeys?.find(object.key).map { -Int64($0) }
  }

  // MARK: To-many

  /// One membership of a many-to-many pair, whichever side records it.
  private struct JoinedPair: Hashable {
    let left: RowID
    let right: RowID
    let relationship: ObjectIdentifier
    let isAddition: Bool
  }

  private mutating func planEdits(of object: NSManagedObject, _ joined: inout Set<JoinedPair>) throws {
    guard let state = object.state else { return }
    for slot in object.runtime.relationshipSlots where object.runtime.compactSlots[slot].role == .toMany {
      guard let many = state.toMany(slot), many.isChanged,
        let relationship = object.runtime.layout.slots[slot].relationship
      else { continue }
      let inverseIsToOne: Bool = relationship.inverseRelationship.map { !$0.isToMany } ?? false
      // A plain one-to-many is stored in the member's own row.
      if inverseIsToOne, !relationship.isOrdered || object.isDeleted { continue }
      if many.isReordered, many.members == nil { try loadMembers(of: object, slot) }
      let owner = RowID(
        entity: object.runtime.index,
        key: object.key < 0 ? provisionalKey(of: object) ?? object.key : object.key)
      var (added, removed): ([RowID], [RowID]) = ([], [])
      if !inverseIsToOne {
        let pairs = many.pairs
        added = try pairs.added.map { member in
          let id: RowID = try id(of: member, from: object, slot)
          note(member, id, hasInverse: relationship.inverseRelationship != nil)
          return id
        }
        removed = try pairs.removed.filter { $0.store != nil && !$0.flags.contains(.remotelyDeleted) }.map {
          try id(of: $0, from: object, slot)
        }
      }
      if let inverse = relationship.inverseRelationship, inverse.isToMany {
        // Both sides of a pair record it; the store gets it once.
        added = added.filter { joined.insert(Self.pair(owner, $0, relationship, inverse, true)).inserted }
        removed = removed.filter {
          joined.insert(Self.pair(owner, $0, relationship, inverse, false)).inserted
        }
      }
      var ordering: [RowID]?
      var appended: [RowID] = []
      if relationship.isOrdered, !object.isDeleted {
        if many.isReordered {
          ordering = try many.members?.map { try id(of: $0, from: object, slot) }
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

  /// Members are read during planning, before the store is written.
  private func loadMembers(of object: NSManagedObject, _ slot: Int) throws {
    object.load(slot, try context.loadMembers(of: object, slot: slot))
  }

  private static func pair(
    _ owner: RowID, _ member: RowID, _ relationship: NSRelationshipDescription,
    _ inverse: NSRelationshipDescription,
    _ isAddition: Bool
  ) -> JoinedPair {
    // The same pair recorded by the other side must be the same value; a relationship that is its own inverse
    // orders by key.
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

extension RowRef {
  fileprivate func leads(to target: RowID, _ word: Int) -> Bool {
    hasValue(word) && self.target(word) == target
  }
}
