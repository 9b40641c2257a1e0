import CoreDataModel
import CoreDataStorage
import Foundation

// Saving, as named steps: announce, prepare (`SavePreparation`: everything that calls the program), make a
// plan for every store, execute each plan, set the saved rows, notify observers.

extension NSManagedObjectContext {
  final func saveChanges() throws {
    requireQueue("save() was called")
    guard work.beginSave() else {
      throw GraphError.unsupported(
        "Saving a context while it saves",
        advice:
          "What willSave() changes is saved anyway; save what observers change in a later perform block."
      ).asCocoaError
    }
    defer {
      finishPreparing()
      work.endSave()
    }
    endEvent()
    applyStoreExchanges()
    guard let coordinator = persistentStoreCoordinator else {
      if hasUnsavedChanges { throw GraphError.noCoordinator.asCocoaError }
      return
    }
    if coordinator.persistentStores.isEmpty {
      if hasUnsavedChanges { throw GraphError.noStores.asCocoaError }
      return
    }
    postWillSave()
    // Undo needs the state before the changes of observers, which the save replaces.
    if !work.event.isEmpty { endEvent() }
    let preparation = SavePreparation(of: self)
    defer {
      preparation.end()
      changesDuringSave = nil
    }
    try withCocoaErrors {
      var changes: PendingChanges = try preparation.run()
      if let parent {
        if !changes.isEmpty { try push(changes, preparation.values, to: parent) }
      } else if changes.isEmpty {
        try writeMetadata(of: coordinator)
      } else {
        try writingNewest {
          let parts: [StoreChanges] = try writeMerging(&changes, preparation, to: coordinator)
          changesDuringSave?.revert(in: self)
          commit(parts)
        }
      }
      work.finishSave()
      changesDuringSave?.repeatChanges(in: self)
      finishPreparing()
      finish(changes, coordinator)
    }
  }

  // MARK: Steps

  final func pendingChanges() -> PendingChanges { work.pendingChanges(isChild: parent != nil) }

  /// Writes; if a store refuses, the merge policy changes the objects and the save is tried again. What the
  /// policy has changed is announced and validated like any other change.
  private func writeMerging(
    _ changes: inout PendingChanges, _ preparation: SavePreparation,
    to coordinator: NSPersistentStoreCoordinator
  ) throws -> [StoreChanges] {
    // What stores have saved before a later one refused: it stays saved, and is part of the notification at
    // the end.
    var done = PendingChanges(inserted: [], updated: [], deleted: [])
    var refusing: NSPersistentStore?
    var tries: Int = 0
    do {
      while true {
        do {
          let parts: [StoreChanges] = try write(changes, preparation.values, to: coordinator)
          changes.add(earlier: done)
          return parts
        } catch let refusal as SaveRefusal {
          for part in refusal.saved { done.add(part) }
          refusing = refusal.store
          tries += 1
          if tries == NSManagedObjectContext.mostSaveTries { throw refusal.error(in: self) }
          // The store was migrated while the save waited for it: the save then goes to the new store.
          if case .closed? = refusal.error as? StoreError, applyStoreExchanges() {
            changes = try preparation.run()
            continue
          }
          try resolve(refusal)
          changes = try preparation.run()
        }
      }
    } catch {
      guard let refusing, !done.isEmpty else { throw error }
      // What the earlier stores have saved is newer than the state the context was pinned to.
      pin = .atNextRead
      throw SaveErrors.incomplete(error, store: refusing)
    }
  }

  /// One plan and one transaction for each store. All plans are made before the first store is written, so an
  /// object that can't be saved is refused before anything is written.
  final func write(
    _ changes: PendingChanges, _ values: TransformedValues, to coordinator: NSPersistentStoreCoordinator
  ) throws -> [StoreChanges] {
    let epoch: UInt64 = work.epoch
    var parts: [StoreChanges] = try StoreChanges.split(changes, context: self, coordinator: coordinator)
    // Stores that programs implement save objects whose ids are permanent.
    for part in parts where part.store.referenceMap != nil {
      try makePermanent(part.inserted.filter { $0.key < 0 }, in: part.store)
    }
    // Metadata is written with the rows of its store. If there are none it is written last, so that it is
    // true for the rows.
    let others: [NSPersistentStore] = coordinator.storesWithUnsavedMetadata(besides: parts)
    try coordinator.refuseMetadata(for: self)
    try coordinator.checkWritable(others, for: self)
    parts += others.map { StoreChanges(store: $0) }
    var plans: [SavePlan] = []
    try throwingReadFailures {
      for place in parts.indices { plans.append(try SavePlanner.plan(&parts[place], of: self, values)) }
    }
    changesDuringSave = ChangesDuringSave(parts, changes, since: epoch)
    do {
      try coordinator.save(plans, in: parts, for: self)
    } catch let refusal as StoreRefusal {
      let place: Int = refusal.place
      if place > 0 { keepSaved(parts[..<place]) }
      throw SaveRefusal(
        error: refusal.error, store: parts[place].store, part: parts[place], saved: Array(parts[..<place]))
    }
    return parts
  }

  /// Writes metadata in a save that has no changes.
  private func writeMetadata(of coordinator: NSPersistentStoreCoordinator) throws {
    try coordinator.refuseMetadata(for: self)
    let parts: [StoreChanges] = coordinator.storesWithUnsavedMetadata().map { StoreChanges(store: $0) }
    do {
      try coordinator.save(parts.map { _ in SavePlan() }, in: parts, for: self)
    } catch let refusal as StoreRefusal {
      throw SaveErrors.error(for: refusal.error, store: parts[refusal.place].store, context: self)
    }
  }

  /// The saved rows become the objects' snapshots. Observers are notified after all of them are set.
  private func commit(_ saved: some Sequence<StoreChanges>) {
    for part in saved {
      let keys: [Int64] = part.insertedRows.map(\.key)
      let ids: [Int64: NSManagedObjectID] = newIDs(of: part.inserted, keys: keys, store: part.store)
      identityMap.makePermanent(part.inserted, keys: keys, store: part.store)
      propagatePermanentIDs(ids)
    }
    withObservedValues(of: saved.lazy.flatMap { [$0.inserted, $0.updated].joined() }) {
      for part in saved {
        for (place, object) in part.inserted.enumerated() { commit(object, part.insertedRows[place]) }
        for (place, object) in part.updated.enumerated() { commit(object, part.updatedRows[place]) }
      }
    }
  }

  private func commit(_ object: NSManagedObject, _ row: RowRef?) {
    work.recordSave(of: object)
    object.commit(row: row)
  }

  /// A later store has refused: what the stores before it have written is no longer a change, so that the
  /// next attempt does not write it twice.
  final func keepSaved(_ saved: ArraySlice<StoreChanges>) {
    commit(saved)
    for object in saved.flatMap(\.deleted) { detach(object) }
    work.removeSaved()
  }

  private func finish(_ changes: PendingChanges, _ coordinator: NSPersistentStoreCoordinator) {
    for object in changes.deleted {
      identityMap.remove(
        object, store: object.store?.ordinal ?? 0, root: object.runtime.layout.rootIndex, key: object.key)
      work.recordSavedDeletion(of: object)
    }
    releaseRemotelyDeleted()
    for object in changes.inserted + changes.updated { object.didSave() }
    // Changes that a deleted object makes to itself are lost with it.
    for object in changes.deleted { object.awakeQuietly { object.didSave() } }
    for object in changes.deleted {
      work.finishDeletion(of: object)
      object.identityMap = nil
    }
    if !changes.deleted.isEmpty { retained.removeObjects(outside: identityMap) }
    let ids = SavedIDs(changes)
    postDidSave(changes.userInfo(announced: work.announced))
    work.removeAnnouncement()
    postDidSave(ids)
    if changes.isEmpty { return }
    let siblings: ContextList = parent?.children ?? coordinator.contexts
    for other in siblings.all + children.all
    where other !== self && other.automaticallyMergesChangesFromParent {
      other.performIfAlive { $0.merge(ids) }
    }
    // An undo restores a deleted object with its relationships.
    undoState.recordSavedDeletions(changes.deleted.filter { $0.flags.contains(.undoable) })
    for object in changes.deleted where !object.flags.contains(.undoable) { object.releaseRelationships() }
  }

  // MARK: Permanent ids before a save

  final func obtainIDs(for objects: [NSManagedObject]) throws {
    requireQueue("obtainPermanentIDs(for:) was called")
    guard let coordinator = persistentStoreCoordinator else { throw GraphError.noCoordinator.asCocoaError }
    try withCocoaErrors {
      try obtainParentsIDs(for: objects.filter { $0.key < 0 && !$0.isInserted })
      var groups: [(store: NSPersistentStore, objects: [NSManagedObject])] = []
      var seen: Set<ObjectIdentifier> = []
      for object in objects
      where object.key < 0 && object.identityMap === identityMap
        && seen.insert(ObjectIdentifier(object)).inserted
      {
        let store: NSPersistentStore = try StoreChanges.store(
          for: object, context: self, coordinator: coordinator)
        if let known = groups.firstIndex(where: { $0.store === store }) {
          groups[known].objects.append(object)
        } else {
          groups.append((store, [object]))
        }
      }
      for group in groups { try makePermanent(group.objects, in: group.store) }
    }
  }

  /// Gives new objects of one store their permanent ids; they stay unsaved.
  final func makePermanent(_ objects: [NSManagedObject], in store: NSPersistentStore) throws {
    if objects.isEmpty { return }
    // One step for a program's store: until the map has the new keys, no other context may get one of them.
    let ids: [Int64: NSManagedObjectID] = try store.oneAtATime {
      let keys: [Int64] = try store.permanentKeys(for: objects, in: self)
      store.issuedKeys?.add(keys, of: identityMap)
      let ids: [Int64: NSManagedObjectID] = newIDs(of: objects, keys: keys, store: store)
      identityMap.makePermanent(objects, keys: keys, store: store)
      return ids
    }
    propagatePermanentIDs(ids)
  }
}

extension NSManagedObject {
  /// Sets the saved state: the row replaces the slots, which keep only values that are not in a row.
  final func commit(row saved: RowRef?) {
    if let saved { row = saved }
    guard let state else { return }
    if home.facts.pointee.isAllInRow {
      self.state = nil
      return
    }
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
    state.removeAllChanges()
  }

  /// Whether a slot holds a value that can't be read from the row again: a relationship's object or members,
  /// a transformed object (its identity), a transient value, the result of a fetched property.
  @inline(__always)
  private final func isKept(_ slot: Int, _ state: ObjectState) -> Bool {
    switch compactSlot(slot).role {
    case .attribute:
      guard compactSlot(slot).kind == .transformable, case .object = state.values[slot] else {
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

extension NSManagedObjectContext {
  final func merge(saved notification: Notification) {
    requireQueue("mergeChanges(fromContextDidSave:) was called")
    func ids(_ objectsKey: String, _ idsKey: String) -> [NSManagedObjectID] {
      if let ids = notification.userInfo?[idsKey] as? Set<NSManagedObjectID> { return Array(ids) }
      // Only the ids of these objects are used: the objects belong to another queue.
      return (notification.userInfo?[objectsKey] as? Set<NSManagedObject>)?.map(\.objectID) ?? []
    }
    let saved = SavedIDs(
      inserted: ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey),
      updated: ids(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey),
      deleted: ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey))
    // A save through another coordinator over the same file has updated only that one's row cache.
    removeCachedRows(of: (saved.updated + saved.deleted).filter { $0.store !== place(of: $0)?.store })
    merge(saved, isStored: false)
  }

  /// `isStored`: whether the save went to the store, or the parent, that this context reads from. A
  /// notification that the program passes may come from a context whose parent has not saved yet; the objects
  /// deleted there must then still be deleted here.
  final func merge(_ ids: SavedIDs, isStored: Bool = true) {
    movePin()
    var info: [AnyHashable: Any] = ids.userInfo
    var refreshed: Set<NSManagedObjectID> = []
    for id in ids.updated {
      guard let object = lookUpRegistered(id), existsInStore(object) else { continue }
      refreshed.insert(id)
      refreshObject(object, keepsChanges: !object.isFault)
      // Its values were observed before it became a fault, and must be compared.
      if object.isFault, object.observation?.awaitsValues == true { try? object.fulfillFault() }
    }
    let deleted: [NSManagedObject] = ids.deleted.compactMap { lookUpRegistered($0) }
    applyRemoteDeletions(of: isStored ? deleted : missing(among: deleted))
    for id in ids.inserted {
      let object: NSManagedObject = lookUp(id)
      guard existsInStore(object) else { continue }
      noteEvent(.eventInserted, of: object)
    }
    endEvent()
    info[NSRefreshedObjectIDsKey] = refreshed
    postDidMerge(info)
  }
}
