import CoreDataModel
import CoreDataStorage
import Foundation

// Uniquing and firing faults: from ids and rows to objects.

extension NSManagedObjectContext {
  // MARK: Objects by id

  /// The one object of this context for a row; created as a fault if it is not registered yet. No I/O.
  final func object(_ id: RowID, store: NSPersistentStore) -> NSManagedObject {
    let runtime: EntityRuntime = store.runtime.entities[Int(id.entity)]
    let root: Int = runtime.layout.rootIndex
    if let known = identityMap.object(store: store.ordinal, root: root, key: id.key) { return known }
    let home: ObjectHome = identityMap.homes.home(of: runtime, store, in: identityMap)
    let made: NSManagedObject = home.makeObject()
    made.settle(in: home)
    made.key = id.key
    made.insertFlags(identityMap.marks.union(.fault))
    retained.record(made)
    identityMap.insert(made, store: store.ordinal, root: root, key: id.key)
    if store.observesRegistration { identityMap.noteRegistration(of: made) }
    return made
  }

  /// The objects for a batch of rows, in order. New objects and faults get the row; loaded ones keep their
  /// values unless `refresh`. One lock, no allocation except the objects.
  final func objects(
    for batch: RowBatch, store: NSPersistentStore, refresh: Bool = false
  ) -> [NSManagedObject] {
    guard let first = batch.first else { return [] }
    let root: Int = store.runtime.entities[first.entity].layout.rootIndex
    let runtimes: [EntityRuntime] = store.runtime.entities
    var home: ObjectHome = identityMap.homes.home(of: runtimes[first.entity], store, in: identityMap)
    var result: [NSManagedObject] = []
    // Objects whose row is replaced after the identity map's lock is released: observers may need the
    // identity map, and objects that are released remove themselves from it.
    var later: [(object: NSManagedObject, row: RowRef)] = []
    let count: Int = batch.count
    result.reserveCapacity(count)
    identityMap.withTableAddress(store: store.ordinal, root: root) { address in
      // An empty table needs no look-up: the first fetch, which usually is the largest, saves one probe for
      // each row. A table with objects may have those of this batch already, and grows when it must.
      let isFresh: Bool = address.pointee.count == 0
      if isFresh { address.pointee.reserve(more: count) }
      let marks: ObjectFlags = identityMap.marks.union(.fault)
      for slab in batch.slabs {
        var slabs = References(slab, count: slab.count)
        var homes = References(home, count: slab.count)
        defer {
          slabs.end()
          homes.end()
        }
        for position in 0..<slab.count {
          // No `RowRef`, which would retain the slab for each row.
          let base: UnsafeMutableRawPointer = slab.rows + position &* slab.stride
          let key: Int64 = RowLayout.key(base)
          if !isFresh, let known = IdentityMap.find(key, in: address.pointee) {
            let row = RowRef(slab: slab, base: base)
            // A changed object keeps the row that its changes are based on: optimistic locking compares with
            // it.
            if known.flags.contains(.remotelyDeleted) {
              later.append((known, row))
            } else if known.row == nil || known.flags.contains(.fault) || (refresh && !known.hasChanges) {
              if known.flags.contains(.observed) || (refresh && known.state != nil) {
                later.append((known, row))
              } else {
                known.row = row
              }
            }
            result.append(known)
            continue
          }
          let entity: Int = RowLayout.entity(base)
          if home.facts.pointee.index != entity {
            homes.end()
            home = identityMap.homes.home(of: runtimes[entity], store, in: identityMap, address)
            homes = References(home, count: slab.count - position)
          }
          let made: NSManagedObject = home.makeObject()
          made.settle(in: homes.take())
          made.key = key
          made.insertFlags(marks)
          retained.record(made)
          made.rowSlab = slabs.take()
          made.rowBase = base
          address.pointee.insert(key, IdentityMap.payload(of: made))
          result.append(made)
        }
      }
    }
    for (object, row) in later {
      let seen: ObservedValues? = object.observedValues()
      restoreRemotelyDeleted(object)
      object.row = row
      if refresh, !object.flags.contains(.fault) { object.discardValues(except: object.persistentChanges()) }
      object.notifyObservers(since: seen)
    }
    return result
  }

  /// The objects for ids of one hierarchy, in order, as faults where they are not registered yet; firing one
  /// loads its page of `pageSize`. One lock.
  final func objects(
    for ids: [RowID], store: NSPersistentStore, layout: EntityLayout, pageSize: Int,
    relationship: RelationshipBatch? = nil, restoresDeleted: Bool = true
  ) -> [NSManagedObject] {
    guard let first = ids.first else { return [] }
    let runtimes: [EntityRuntime] = store.runtime.entities
    let pageSize: Int = max(1, store.readsOneByOne ? 1 : pageSize)
    var home: ObjectHome = identityMap.homes.home(of: runtimes[Int(first.entity)], store, in: identityMap)
    var result: [NSManagedObject] = []
    // Looked at after the lock is released: observers may need the identity map.
    var known: [(object: NSManagedObject, batch: FaultBatch)] = []
    var new: [NSManagedObject] = []
    result.reserveCapacity(ids.count)
    identityMap.withTableAddress(store: store.ordinal, root: home.facts.pointee.rootIndex) { address in
      if address.pointee.count == 0 { address.pointee.reserve(more: ids.count) }
      let marks: ObjectFlags = identityMap.marks.union(.fault)
      for start in stride(from: 0, to: ids.count, by: pageSize) {
        let page: ArraySlice<RowID> = ids[start..<min(ids.count, start + pageSize)]
        let batch = FaultBatch(
          layout: layout, store: store, keys: page.map(\.key), relationship: relationship)
        var batches = References(batch, count: page.count)
        var homes = References(home, count: page.count)
        defer {
          batches.end()
          homes.end()
        }
        for (place, id) in page.enumerated() {
          if let object = IdentityMap.find(id.key, in: address.pointee) {
            known.append((object, batch))
            result.append(object)
            continue
          }
          if home.facts.pointee.index != Int(id.entity) {
            homes.end()
            home = identityMap.homes.home(of: runtimes[Int(id.entity)], store, in: identityMap, address)
            homes = References(home, count: page.count - place)
          }
          let made: NSManagedObject = home.makeObject()
          made.settle(in: homes.take())
          made.key = id.key
          made.insertFlags(marks)
          retained.record(made)
          made.faultBatch = batches.take()
          address.pointee.insert(id.key, IdentityMap.payload(of: made))
          result.append(made)
          if store.observesRegistration { new.append(made) }
        }
      }
    }
    for object in new { identityMap.noteRegistration(of: object) }
    for (object, batch) in known {
      // The store has just returned its id.
      if restoresDeleted { restoreRemotelyDeleted(object) }
      if object.flags.contains(.fault), object.rowBase == nil { object.faultBatch = batch }
    }
    return result
  }

  // MARK: Firing faults

  /// Sets the row of a fault: from the row cache, if that row is not too old (``stalenessInterval``), else
  /// from the store, which also fills the other faults of its batch. Leaves the row nil if the store no
  /// longer has it.
  final func loadRow(of object: NSManagedObject) throws {
    faultCounts.faults += 1
    if let parent { return try load(object, from: parent) }
    if object.flags.contains(.remotelyDeleted) {
      _ = try restoreIfStored(object)
      return
    }
    guard let store = object.store else { return }
    let layout: EntityLayout = object.runtime.layout
    if let row = try store.cachedRow(of: layout, key: object.key, for: self)
      ?? rowReadAhead(for: object, in: store)
    {
      faultCounts.cacheHits += 1
      object.faultBatch = nil
      object.row = row
      return
    }
    let batch: FaultBatch? = object.faultBatch
    let page: [Int64] = batch.map { $0.keys.isEmpty ? [object.key] : $0.keys } ?? [object.key]
    let ahead: [Int64] = try batch?.relationship.map { try keysAhead(of: object, $0, page: page) } ?? []
    guard let batch, page.count + ahead.count > 1 else {
      object.faultBatch = nil
      object.row = try store.rows(of: layout, keys: [object.key], for: self).first
      return
    }
    let (changes, time) = (store.changes, ContinuousClock.now)
    let rows: RowBatch = try store.rows(of: batch.layout, keys: page + ahead, for: self)
    if !ahead.isEmpty || readAhead.asker != nil {
      let held = HeldRows(rows, of: store, changes: changes, time: time)
      if let relationship = batch.relationship { relationship.rows = held } else { readAhead.hold(held) }
    }
    // Those read ahead get their rows when they fire: the newest ones then.
    let own: Set<Int64> = ahead.isEmpty ? [] : Set(page)
    var leaving = ReturnedReferences(batch)
    defer { leaving.end() }
    // Members of another batch, whose last reference must not be released under the lock.
    var others: [NSManagedObject] = []
    identityMap.withTable(store: store.ordinal, root: layout.rootIndex) { table in
      for slab in rows.slabs {
        var slabs = References(slab, count: slab.count)
        defer { slabs.end() }
        for position in 0..<slab.count {
          let base: UnsafeMutableRawPointer = slab.rows + position * slab.stride
          let key: Int64 = RowLayout.key(base)
          if !own.isEmpty, !own.contains(key) { continue }
          let isOfAnother: Bool? = IdentityMap.withUnretained(key, in: table) { known in
            if known.flags.contains(.fault), known.rowBase == nil, !known.flags.contains(.remotelyDeleted) {
              known.rowSlab = slabs.take()
              known.rowBase = base
            }
            guard known.faultBatch === batch else { return known.faultBatch != nil }
            known.giveUpFaultBatch()
            leaving.count()
            return false
          }
          if isOfAnother == true, let alive = IdentityMap.find(key, in: table) { others.append(alive) }
        }
      }
    }
    for other in others { other.faultBatch = nil }
    object.faultBatch = nil
  }

  /// How many members' rows firing one fault fetches together with its own.
  static let memberPageSize: Int = 500

  /// The members of a stored to-many relationship as objects (faults where they are not loaded).
  final func loadMembers(of object: NSManagedObject, slot: Int) throws -> [NSManagedObject] {
    faultCounts.faults += 1
    if let parent { return try loadMembers(of: object, slot: slot, from: parent) }
    guard let store = object.store, let destination = object.runtime.layout.slots[slot].destination else {
      return []
    }
    let ids: [RowID] = try storedMemberIDs(of: object, slot: slot, in: store)
    return objects(
      for: ids, store: store, layout: store.runtime.entities[destination].layout,
      pageSize: NSManagedObjectContext.memberPageSize)
  }

  /// The members of a relationship in the store.
  final func storedMemberIDs(of object: NSManagedObject, slot: Int, in store: NSPersistentStore) throws
    -> [RowID]
  {
    if let known = membersOfDeleted?.members(of: object, slot: slot, in: store) { return known }
    return try tally.counting {
      try store.pinnedOperations(for: StoreCaller(self)).members(
        of: object.runtime.layout, slot: slot,
        owners: [RowID(entity: object.runtime.index, key: object.key)]
      ).first ?? []
    }
  }

  /// Those of the objects that are members in the store, or in the parent. Reads none of the other members.
  final func storedMembers(of object: NSManagedObject, slot: Int, among objects: [NSManagedObject]) throws
    -> [NSManagedObject]
  {
    if let parent { return try storedMembers(of: object, slot: slot, among: objects, from: parent) }
    guard let store = object.store else { return [] }
    let asked: [NSManagedObject] = objects.filter { $0.store === store }
    let found: [RowID] = try tally.counting {
      try store.pinnedOperations(for: StoreCaller(self)).members(
        of: object.runtime.layout, slot: slot, owner: RowID(entity: object.runtime.index, key: object.key),
        among: asked.map { RowID(entity: $0.runtime.index, key: $0.key) })
    }
    let keys: Set<Int64> = Set(found.map(\.key))
    return asked.filter { keys.contains($0.key) }
  }

  // MARK: Public look-ups

  final func lookUp(_ objectID: NSManagedObjectID) -> NSManagedObject {
    requireQueue("object(with:) was called")
    if let known = lookUpRegistered(objectID) { return known }
    let objectID: NSManagedObjectID = permanentIDs[objectID.key] ?? objectID
    guard
      let (store, key) = place(of: objectID),
      store.runtime.entities.indices.contains(objectID.runtime.index)
    else {
      // A temporary id of another context, or an id of a store that was removed: an object that can't be
      // loaded.
      let orphan: NSManagedObject = objectID.runtime.objectClass.init(
        NewManagedObject(objectID.entity, nil))
      orphan.key = objectID.key
      orphan.cachedID = objectID
      orphan.identityMap = identityMap
      orphan.insertFlags(identityMap.marks.union(.fault))
      identityMap.insert(orphan, store: 0, root: objectID.runtime.layout.rootIndex, key: objectID.key)
      return orphan
    }
    let runtime: EntityRuntime =
      store.runtime.runtime(named: objectID.runtime.layout.name) ?? objectID.runtime
    return object(RowID(entity: runtime.index, key: key), store: store)
  }

  /// The store of an id in this context's coordinator, and the key there: the id may come from another
  /// coordinator over the same file, or from before a migration.
  final func place(of objectID: NSManagedObjectID) -> (store: NSPersistentStore, key: Int64)? {
    applyStoreExchanges()
    if let store = objectID.persistentStore, store.persistentStoreCoordinator === persistentStoreCoordinator {
      return (store, objectID.key)
    }
    return persistentStoreCoordinator?.place(of: objectID)
  }

  final func lookUpRegistered(_ objectID: NSManagedObjectID) -> NSManagedObject? {
    requireQueue("registeredObject(for:) was called")
    applyPermanentIDs()
    let root: Int = objectID.runtime.layout.rootIndex
    if objectID.isTemporaryID {
      if let permanent = permanentIDs[objectID.key] { return lookUpRegistered(permanent) }
      return identityMap.object(store: 0, root: root, key: objectID.key)
    }
    guard let (store, key) = place(of: objectID) else { return nil }
    return identityMap.object(store: store.ordinal, root: root, key: key)
  }

  final func loadExisting(_ objectID: NSManagedObjectID) throws -> NSManagedObject {
    let object: NSManagedObject = self.lookUp(objectID)
    try withCocoaErrors(object.store?.url) {
      if try !restoreIfStored(object) || object.flags.contains(.deleted) {
        throw GraphError.referentialIntegrity(objectID)
      }
      if object.flags.contains(.fault) {
        if !object.hasSource, !object.isInserted {
          if object.store != nil || parent != nil { try loadRow(of: object) }
          guard object.hasSource else { throw GraphError.referentialIntegrity(objectID) }
        }
        try object.fulfillFault()
      }
      try object.checkTransformed()
    }
    return object
  }

  // MARK: Refreshing

  final func refreshObject(_ object: NSManagedObject, keepsChanges flag: Bool) {
    requireQueue("refresh(_:mergeChanges:) was called")
    // There is nothing to refresh it from.
    if object.flags.contains(.remotelyDeleted) { return }
    guard object.identityMap === identityMap else { return }
    readAhead.removeAll()
    if !flag {
      removeOlderCachedRow(of: object)
      work.discardUpdateAndDeletion(of: object)
      object.turnIntoFault()
      if object.isInserted { object.state = ObjectState(values: object.runtime.template) }
      noteEvent(.eventRefreshed, of: object)
      work.unloadFilteredToManys()
      return
    }
    guard !object.isInserted, object.store != nil || parent != nil else { return }
    if object.flags.contains(.fault) {
      removeOlderCachedRow(of: object)
      object.turnIntoFault()
      return
    }
    do {
      let old: Int32? = object.row?.version
      try reload(object)
      if object.row?.version != old { try repeatPropagation(refreshed: object) }
      // Its to-ones may refer to other objects now.
      work.unloadFilteredToManys()
    } catch {
      // The object keeps what was read before.
      if let store = object.store, store.readsOneByOne { return store.report(error, object.objectID) }
      fatalError("CoreData could not refresh '\(object.objectID)': \(error)")
    }
    noteEvent(.eventRefreshed, of: object)
  }

  /// Reads an object's row again and keeps its changes.
  final func reload(_ object: NSManagedObject) throws {
    let seen: ObservedValues? = object.observedValues()
    defer { object.notifyObservers(since: seen) }
    if let parent { return try reload(object, from: parent) }
    guard let store = object.store else { return }
    guard let row = try newestRow(of: object, in: store) else {
      object.insertFlags(.inaccessible)
      noteEvent(.eventInvalidated, of: object)
      return
    }
    // A value that was set back to the snapshot's value is no change: the new one from the store counts.
    let own: SlotSet = object.persistentChanges()
    object.row = row
    object.discardValues(except: own)
    object.awakeQuietly { object.awake(fromSnapshotEvents: .refresh) }
  }

  /// Called before a row is released. Another context may have an older one, which the cache would take for
  /// the newest once this one is released.
  private func removeOlderCachedRow(of object: NSManagedObject) {
    guard let row = object.row, let store = object.store else { return }
    let layout: EntityLayout = object.runtime.layout
    // The look-up removes the row that this one replaces from the cache.
    guard let known = store.keptRow(root: layout.rootIndex, key: object.key, age: nil),
      known.version &- row.version < 0
    else { return }
    store.removeCachedRows(of: layout, keys: [object.key])
  }

  /// A row in memory may be older than the row that a fetch has given the object.
  private func newestRow(of object: NSManagedObject, in store: NSPersistentStore) throws -> RowRef? {
    let layout: EntityLayout = object.runtime.layout
    let known: RowRef? = try store.cachedRow(of: layout, key: object.key, for: self)
    if let known, known.version &- (object.row?.version ?? known.version) >= 0 { return known }
    return try store.rows(of: layout, keys: [object.key], for: self).first
  }

  final func refreshEveryObject() {
    requireQueue("refreshAllObjects() was called")
    applyPermanentIDs()
    // In a child, objects that are new in the parent have no store.
    for object in identityMap.allObjects where object.store != nil || parent != nil {
      refreshObject(object, keepsChanges: object.hasChanges)
    }
  }

  final func performReset() {
    requireQueue("reset() was called")
    undoManager?.removeAllActions(withTarget: self)
    movePin()
    unreadDeletions = []
    let objects: [NSManagedObject] = identityMap.allObjects
    work.advanceEpoch()
    for object in objects {
      object.turnIntoFault()
      detach(object)
    }
    work.reset()
    retained.removeAll()
    for object in objects { object.releaseRelationships() }
    undoState.releaseSavedDeletions()
    _ = undoState.removeChangesOfEarlierSteps()
    postChange([NSInvalidatedAllObjectsKey: objects.map(\.objectID)])
  }

  /// Called when a store was removed: its objects here, and in children, can't be used any more. Observers of
  /// the context are notified.
  final func removeObjects(of store: NSPersistentStore) {
    for child in children.all { child.onQueue { $0.removeObjects(of: store) } }
    let objects: [NSManagedObject] = identityMap.allObjects.filter { $0.store === store }
    readAhead.removeAll()
    guard !objects.isEmpty else { return }
    undoManager?.removeAllActions(withTarget: self)
    for object in objects { detach(object) }
    work.removeObjects(outside: identityMap)
    retained.removeObjects(outside: identityMap)
    for object in objects { object.releaseRelationships() }
    postChange([NSInvalidatedObjectsKey: Set(objects)])
  }

  /// Runs now if on the context's queue, otherwise there later.
  final func onQueue(_ block: @escaping (NSManagedObjectContext) -> Void) {
    if isOnQueue { return block(self) }
    performIfAlive(block)
  }

  /// Removes an object from the context.
  final func detach(_ object: NSManagedObject) {
    identityMap.remove(
      object, store: object.store?.ordinal ?? 0, root: object.runtime.layout.rootIndex, key: object.key)
    object.identityMap = nil
    work.discard(object)
  }
}

extension NSManagedObject {
  /// Called when the row was replaced: what was read before is read again, what was changed here stays.
  final func discardValues(except own: SlotSet) {
    guard let state else { return }
    for (number, slot) in runtime.layout.slots.enumerated() where !own.contains(number) {
      if slot.role == .transient { continue }
      state.values[number] = .unset
      state.removeChange(number)
    }
    // Members that were added or removed stay so when the members are read again.
    for number in state.changed.members { unloadMembers(number) }
  }
}
