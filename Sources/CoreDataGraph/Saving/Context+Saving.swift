import CoreDataModel
import CoreDataStorage
import Foundation

// Saving, as named steps: announce, willSave until nothing changes any more, validate, one plan and one transaction a
// store, take the rows over, tell everybody.

extension NSManagedObjectContext {
  final func saveChanges() throws {
    requireQueue("save() was called")
    guard !isSaving else {
      throw GraphError.unsupported(
        "Saving a context while it saves",
        advice:
          "What willSave() changes is saved anyway; save what observers change in a later perform block."
      ).asCocoaError
    }
    isSaving = true
    defer { isSaving = false }
    endEvent()
    guard let coordinator = persistentStoreCoordinator else {
      if hasUnsavedChanges { throw GraphError.noCoordinator.asCocoaError }
      return
    }
    if coordinator.persistentStores.isEmpty {
      if hasUnsavedChanges { throw GraphError.noStores.asCocoaError }
      return
    }
    postWillSave()
    try withCocoaErrors {
      var changes: PendingChanges = try runWillSave()
      try validate(&changes)
      if let parent {
        if !changes.isEmpty { try push(changes, to: parent) }
      } else if changes.isEmpty {
        try writeMetadata(of: coordinator)
      } else {
        try writingNewest { commit(try writeMerging(&changes, to: coordinator)) }
      }
      clearChanges()
      finish(changes, coordinator)
    }
  }

  // MARK: Steps

  private static let mostWillSaveRounds: Int = 1000

  /// Calls `willSave` on every object concerned until no call changes anything. Returns what is to be saved then.
  private func runWillSave() throws -> PendingChanges {
    var everTold: [NSManagedObject] = []
    defer { for object in everTold { object.flags.remove(.toldWillSave) } }
    var rounds: Int = 0
    while true {
      let changes: PendingChanges = pendingChanges()
      let waiting: [NSManagedObject] = changes.all.filter { !$0.flags.contains(.toldWillSave) }
      if waiting.isEmpty { return changes }
      rounds += 1
      if rounds > NSManagedObjectContext.mostWillSaveRounds {
        throw GraphError.runawayWillSave(rounds: rounds - 1, object: "\(waiting[0].objectID)")
      }
      // Whatever changes during the calls loses its flag: those objects are asked again.
      let before: UInt64 = eventCount
      for object in waiting {
        object.flags.insert(.toldWillSave)
        object.willSave()
      }
      everTold += waiting
      if eventCount == before { return changes }
      endEvent()
    }
  }

  private func pendingChanges() -> PendingChanges {
    PendingChanges(
      inserted: inserted.filter { $0.isInserted && !$0.isDeleted }, updated: updated.filter(\.isUpdated),
      deleted: deleted.filter { $0.isToBeDeleted && ($0.store != nil || parent != nil) })
  }

  private func validate(_ changes: inout PendingChanges) throws {
    let before: UInt64 = eventCount
    var failures: [any Error] = []
    func check(_ objects: [NSManagedObject], _ validate: (NSManagedObject) throws -> Void) {
      for object in objects {
        do { try validate(object) } catch { failures.append(error) }
      }
    }
    check(changes.deleted) { try $0.validateForDelete() }
    check(changes.inserted) { try $0.validateForInsert() }
    check(changes.updated) { try $0.validateForUpdate() }
    try NSManagedObject.throwFailures(failures)
    // A check may have replaced a value: the other side of a relationship is to be saved too.
    if eventCount != before {
      endEvent()
      changes = pendingChanges()
    }
  }

  /// Writes; where a store refuses, the merge policy changes the objects and the save is tried again.
  private func writeMerging(_ changes: inout PendingChanges, to coordinator: NSPersistentStoreCoordinator)
    throws -> [StoreChanges]
  {
    for _ in 1..<NSManagedObjectContext.mostSaveTries {
      do {
        return try write(changes, to: coordinator)
      } catch let refusal as SaveRefusal {
        try resolve(refusal)
        changes = pendingChanges()
      }
    }
    do {
      return try write(changes, to: coordinator)
    } catch let refusal as SaveRefusal {
      throw SaveErrors.error(for: refusal.error, store: refusal.store, context: self, partly: false)
    }
  }

  /// One transaction a store. Keys are given to new objects inside it and are theirs only once it is committed.
  final func write(_ changes: PendingChanges, to coordinator: NSPersistentStoreCoordinator) throws
    -> [StoreChanges]
  {
    var parts: [StoreChanges] = try StoreChanges.split(changes, context: self, coordinator: coordinator)
    try StoreChanges.refuseExternalRelationships(parts)
    // Metadata goes with the rows of its store. Where there are none it goes last: what it says of the rows is true then.
    let others: [NSPersistentStore] = storesWithMetadata(of: coordinator, besides: parts)
    try refuseMetadata(of: coordinator)
    for store in others { try checkWritable(store) }
    parts += others.map { StoreChanges(store: $0) }
    for object in changes.deleted where object.flags.contains(.recallable) { object.keepStoredMembers() }
    defer { for object in changes.inserted { object.pendingKey = 0 } }
    for place in parts.indices {
      let store: NSPersistentStore = parts[place].store
      do {
        try store.save(&parts[place], of: self) { part in
          try store.engine.save { transaction in
            var planner = SavePlanner(store: store, context: self)
            let plan: SavePlan = try planner.plan(part, transaction)
            part.insertedRows = planner.insertedRows
            part.updatedRows = planner.updatedRows
            return plan
          }
        }
      } catch let error as StoreError {
        if place == 0 { throw SaveRefusal(error: error, store: store, part: parts[place]) }
        keepSaved(parts[..<place])
        // What the earlier stores have now is newer than what the context was pinned to.
        pin = .atNextRead
        throw SaveErrors.error(for: error, store: store, context: self, partly: place > 0)
      }
      parts[place].keys = parts[place].inserted.map(\.pendingKey)
    }
    return parts
  }

  private func storesWithMetadata(
    of coordinator: NSPersistentStoreCoordinator, besides parts: [StoreChanges]
  ) -> [NSPersistentStore] {
    coordinator.persistentStores.filter { store in
      store.engine.hasUnsavedMetadata && !parts.contains { $0.store === store }
    }
  }

  /// What was set and could not be taken is told now.
  private func refuseMetadata(of coordinator: NSPersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores {
      guard let refusal = store.refusedMetadata.withLock({ $0 }) else { continue }
      throw SaveErrors.error(for: refusal, store: store, context: self, partly: false)
    }
  }

  private struct WritableStore: Error {}

  /// Begins a transaction, so that what is going to fail fails before anything is saved elsewhere.
  private func checkWritable(_ store: NSPersistentStore) throws {
    do {
      try store.engine.save { _ in throw WritableStore() }
    } catch is WritableStore {
    } catch let error as StoreError {
      throw SaveErrors.error(for: error, store: store, context: self, partly: false)
    }
  }

  /// Of a save that has no changes.
  private func writeMetadata(of coordinator: NSPersistentStoreCoordinator) throws {
    try refuseMetadata(of: coordinator)
    for store in storesWithMetadata(of: coordinator, besides: []) {
      do {
        try store.engine.save { _ in SavePlan() }
      } catch let error as StoreError {
        throw SaveErrors.error(for: error, store: store, context: self, partly: false)
      }
    }
  }

  /// Nothing is left to save.
  private func clearChanges() {
    assignedStores = [:]
    watched = []
    shortened = []
    // Those that were in a list and had nothing to save after all (undone, merged) leave it too.
    for object in updated { object.flags.remove(.inUpdatedList) }
    for object in deleted where !object.flags.contains(.deleted) { object.flags.remove(.inDeletedList) }
    inserted = []
    updated = []
    deleted = []
  }

  /// The saved rows become what the objects are.
  private func commit(_ saved: some Sequence<StoreChanges>) {
    for part in saved {
      let ids: [Int64: NSManagedObjectID] = newIDs(of: part.inserted, keys: part.keys, store: part.store)
      registry.makePermanent(part.inserted, keys: part.keys, store: part.store)
      handDown(ids)
      for (place, object) in part.inserted.enumerated() { object.commit(row: part.insertedRows[place]) }
      for (place, object) in part.updated.enumerated() { object.commit(row: part.updatedRows[place]) }
    }
  }

  /// A later store has refused: what the stores before it have written is no change any more, so that the next try
  /// does not write it twice.
  final func keepSaved(_ saved: ArraySlice<StoreChanges>) {
    commit(saved)
    for object in saved.flatMap(\.deleted) { detach(object) }
    unlist(.inserted, \.inserted, .inInsertedList)
    unlist(.updated, \.updated, .inUpdatedList)
    unlist(.deleted, \.deleted, .inDeletedList)
  }

  /// Takes those out of a list that have nothing to save any more.
  private func unlist(
    _ flag: ObjectFlags, _ list: ReferenceWritableKeyPath<NSManagedObjectContext, [NSManagedObject]>,
    _ mark: ObjectFlags
  ) {
    for object in self[keyPath: list] where !object.flags.contains(flag) { object.flags.remove(mark) }
    self[keyPath: list].removeAll { !$0.flags.contains(flag) }
  }

  private func finish(_ changes: PendingChanges, _ coordinator: NSPersistentStoreCoordinator) {
    for object in changes.deleted {
      registry.remove(
        object, store: object.store?.ordinal ?? 0, root: object.runtime.layout.rootIndex, key: object.key)
      object.flags.subtract([.inDeletedList, .propagated, .updated, .inUpdatedList])
    }
    letDeletedElsewhereGo()
    for object in changes.inserted + changes.updated { object.didSave() }
    // What a deleted object changes of itself is lost with it.
    for object in changes.deleted { object.awakeQuietly { object.didSave() } }
    for object in changes.deleted {
      object.flags.remove(.deleted)
      object.registry = nil
    }
    if !changes.deleted.isEmpty { retained.removeAll { $0.registry !== registry } }
    let ids = SavedIDs(changes)
    postDidSave(changes.userInfo(lastInserted: lastInserted))
    lastInserted = []
    postDidSave(ids)
    if changes.isEmpty { return }
    let siblings: ContextList = parent?.children ?? coordinator.contexts
    for other in siblings.all + children.all
    where other !== self && other.automaticallyMergesChangesFromParent {
      other.performIfAlive { $0.merge(ids) }
    }
    // An undo brings a deleted object back with its relationships.
    parted.append(changes.deleted.filter { $0.flags.contains(.recallable) })
    for object in changes.deleted where !object.flags.contains(.recallable) { object.letRelationshipsGo() }
  }

  // MARK: Permanent ids ahead of a save

  final func obtainIDs(for objects: [NSManagedObject]) throws {
    requireQueue("obtainPermanentIDs(for:) was called")
    guard let coordinator = persistentStoreCoordinator else { throw GraphError.noCoordinator.asCocoaError }
    try withCocoaErrors {
      try obtainParentsIDs(for: objects.filter { $0.key < 0 && !$0.isInserted })
      for object in objects where object.key < 0 && object.registry === registry {
        let store: NSPersistentStore = try StoreChanges.store(
          for: object, context: self, coordinator: coordinator)
        let root: EntityLayout = store.runtime.layout.entities[object.runtime.layout.rootIndex]
        let key: Int64 = try store.engine.allocateKeys(for: root, count: 1)
        let ids: [Int64: NSManagedObjectID] = newIDs(of: [object], keys: [key], store: store)
        registry.remove(object, store: 0, root: root.index, key: object.key)
        object.store = store
        object.key = key
        object.cachedID = nil
        registry.insert(object, store: store.ordinal, root: root.index, key: key)
        handDown(ids)
      }
    }
  }
}

extension NSManagedObject {
  /// What was saved is what is: the row replaces the slots, which keep only what no row holds.
  final func commit(row saved: RowRef?) {
    let seen: ObservedValues? = observedValues()
    defer { tellObservers(since: seen) }
    if let saved { row = saved }
    let events: ObjectFlags = flags.intersection([.eventUpdated, .inEventList])
    flags.subtract([.inserted, .updated, .inInsertedList, .inUpdatedList])
    flags.formUnion(events)
    guard let state else { return }
    var keeps = false
    for number in 0..<runtime.slotCount where isKept(number, state) {
      keeps = true
      state.toMany(number)?.commit()
    }
    guard keeps else {
      self.state = nil
      return
    }
    for number in 0..<runtime.slotCount where !isKept(number, state) { state.values[number] = .unset }
    state.forgetChanges()
  }

  /// Whether a slot holds what can't be had from the row again at once: a relationship's object or members, a transformed
  /// object (its identity), a transient value, what a fetched property has found.
  @inline(__always)
  private final func isKept(_ slot: Int, _ state: ObjectState) -> Bool {
    switch runtime.brief[slot].role {
    case .attribute:
      guard runtime.brief[slot].kind == .transformable, case .object = state.values[slot] else {
        return false
      }
      return true
    case .composite: return false
    case .toOne, .transient, .toMany, .other:
      guard case .object = state.values[slot] else { return false }
      return true
    }
  }
}

/// The changes of one save.
struct PendingChanges {
  var inserted: [NSManagedObject]
  var updated: [NSManagedObject]
  var deleted: [NSManagedObject]

  var all: [NSManagedObject] { inserted + updated + deleted }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// The notification's payload. `lastInserted` is a subset of the inserted objects made before: of equal size it is the
  /// whole, and making a large set again is spared.
  func userInfo(lastInserted: Set<NSManagedObject>) -> [AnyHashable: Any] {
    [
      NSInsertedObjectsKey: lastInserted.count == inserted.count ? lastInserted : Set(inserted),
      NSUpdatedObjectsKey: Set(updated), NSDeletedObjectsKey: Set(deleted),
    ]
  }
}

/// The ids of one save; safe to hand to other queues.
struct SavedIDs: Sendable {
  var inserted: [NSManagedObjectID]
  var updated: [NSManagedObjectID]
  var deleted: [NSManagedObjectID]

  init(_ changes: PendingChanges) {
    inserted = changes.inserted.map(\.objectID)
    updated = changes.updated.map(\.objectID)
    deleted = changes.deleted.map(\.objectID)
  }

  init(inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID]) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }

  var userInfo: [AnyHashable: Any] {
    [
      NSInsertedObjectIDsKey: Set(inserted), NSUpdatedObjectIDsKey: Set(updated),
      NSDeletedObjectIDsKey: Set(deleted),
    ]
  }
}

extension NSManagedObjectContext {
  final func merge(saved notification: Notification) {
    requireQueue("mergeChanges(fromContextDidSave:) was called")
    func ids(_ objectsKey: String, _ idsKey: String) -> [NSManagedObjectID] {
      if let ids = notification.userInfo?[idsKey] as? Set<NSManagedObjectID> { return Array(ids) }
      // Only the ids of those objects are used: the objects belong to another queue.
      return (notification.userInfo?[objectsKey] as? Set<NSManagedObject>)?.map(\.objectID) ?? []
    }
    let saved = SavedIDs(
      inserted: ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey),
      updated: ids(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey),
      deleted: ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey))
    // A save through another coordinator over the same file has told its own row cache only.
    forgetRows(of: (saved.updated + saved.deleted).filter { $0.store !== store(of: $0) })
    merge(saved)
  }

  final func merge(_ ids: SavedIDs) {
    movePin()
    var info: [AnyHashable: Any] = ids.userInfo
    var refreshed: Set<NSManagedObjectID> = []
    for id in ids.updated {
      guard let object = lookUpRegistered(id), isThere(object) else { continue }
      refreshed.insert(id)
      refreshObject(object, keepsChanges: !object.isFault)
      // Somebody has seen its values and waits to hear of others.
      if object.isFault, object.observation?.awaitsValues == true { try? object.fulfillFault() }
    }
    takeOverDeletions(of: ids.deleted.compactMap { lookUpRegistered($0) })
    for id in ids.inserted {
      let object: NSManagedObject = lookUp(id)
      guard isThere(object) else { continue }
      noteEvent(.eventInserted, of: object)
    }
    endEvent()
    info[NSRefreshedObjectIDsKey] = refreshed
    postDidMerge(info)
  }
}
