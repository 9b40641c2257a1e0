import CoreDataStorage
import Foundation

// Objects that another context has deleted (Decisions/0030). A merge deletes them here: observers are
// notified, `isDeleted` is true and relationships no longer contain them. Nothing is saved for them, so they
// are in no list of changes; they leave the context at the next save.

extension NSManagedObjectContext {
  /// Deletes objects whose rows are already deleted. New objects have no row.
  final func applyRemoteDeletions(of objects: [NSManagedObject]) {
    let gone: [NSManagedObject] = objects.filter {
      $0.flags.isDisjoint(with: [.inserted, .remotelyDeleted])
    }
    if gone.isEmpty { return }
    // A deletion that was also made here is propagated first, to objects that only this context refers to.
    while let object = gone.first(where: { $0.flags.isPending }) { propagate(object) }
    beginEvent(if: work.recordRemoteDeletion(of: gone))
    undoState.recordRemoteDeletion()
    let others: [NSManagedObject] = self.objects(leadingTo: gone) { $0.leadsToRemotelyDeleted($1) }
    withObservedValues(of: others) {
      for object in others where object.dropRemotelyDeleted() && !object.isFault {
        noteEvent(.eventRefreshed, of: object)
      }
    }
    notifyChildren(ofDeleted: gone)
  }

  /// The objects with a relationship that refers, as it was read or changed here, to one of some others, as
  /// `leads` decides for a slot. All objects that could are examined, because the others may not have an
  /// inverse.
  final func objects(leadingTo others: [NSManagedObject], _ leads: (NSManagedObject, Int) -> Bool)
    -> [NSManagedObject]
  {
    let roots: Set<Int> = Set(others.map(\.runtime.layout.rootIndex))
    var slots: [ObjectIdentifier: [Int]] = [:]
    return identityMap.allObjects.filter { object in
      if object.flags.contains(.remotelyDeleted) || !object.hasSource && object.state == nil { return false }
      let runtime: EntityRuntime = object.runtime
      let asked: [Int]
      if let known = slots[ObjectIdentifier(runtime)] {
        asked = known
      } else {
        asked = runtime.relationshipSlots.filter { slot in
          runtime.layout.slots[slot].destination.map {
            roots.contains(runtime.model.layout.entities[$0].rootIndex)
          }
            ?? false
        }
        slots[ObjectIdentifier(runtime)] = asked
      }
      return asked.contains { leads(object, $0) }
    }
  }

  /// Children read through this context, so they have lost the objects too.
  private func notifyChildren(ofDeleted gone: [NSManagedObject]) {
    let merging: [NSManagedObjectContext] = children.all.filter(\.automaticallyMergesChangesFromParent)
    if merging.isEmpty { return }
    let ids = SavedIDs(inserted: [], updated: [], deleted: gone.map(\.objectID))
    for child in merging { child.performIfAlive { $0.merge(ids) } }
  }

  /// A merge policy has found that the row was deleted: the object leaves within the running save.
  final func discardRemotelyDeleted(_ object: NSManagedObject) {
    applyRemoteDeletions(of: [object])
    endEvent()
    removeDeleted(object)
  }

  /// Called after a save.
  final func releaseRemotelyDeleted() {
    let gone: [NSManagedObject] = work.removeRemotelyDeleted()
    if gone.isEmpty { return }
    for object in gone { removeDeleted(object) }
    retained.removeObjects(outside: identityMap)
  }

  /// Removes an object whose row was deleted from the context.
  final func removeDeleted(_ object: NSManagedObject) {
    guard object.identityMap === identityMap, object.flags.contains(.remotelyDeleted) else { return }
    detach(object)
    object.insertFlags(.inaccessible)
    if object.flags.contains(.undoable) {
      undoState.recordSavedDeletions([object])
    } else {
      object.releaseRelationships()
    }
  }

  /// A row exists again under the id of a deleted one: the object is restored as a fault.
  final func restoreRemotelyDeleted(_ object: NSManagedObject) {
    guard object.flags.contains(.remotelyDeleted) else { return }
    work.reverseRemoteDeletion(of: object)
    object.removeFlags(.inaccessible)
    object.turnIntoFault()
  }

  /// Reads whether the row of a deleted object exists again; if so the object is restored. True for all other
  /// objects.
  final func restoreIfStored(_ object: NSManagedObject) throws -> Bool {
    guard object.flags.contains(.remotelyDeleted) else { return true }
    if let parent {
      try load(object, from: parent)
      return !object.flags.contains(.remotelyDeleted)
    }
    guard let row = try object.store?.rows(of: object.runtime.layout, keys: [object.key], for: self).first
    else { return false }
    restoreRemotelyDeleted(object)
    object.row = row
    return true
  }

  /// The objects that the store, or the parent, no longer has, or can't read.
  final func missing(among objects: [NSManagedObject]) -> [NSManagedObject] {
    let asked: [NSManagedObject] = objects.filter {
      $0.flags.isDisjoint(with: [.inserted, .remotelyDeleted])
    }
    if let parent { return missing(among: asked, in: parent) }
    var missing: [NSManagedObject] = []
    for (_, group) in Dictionary(grouping: asked, by: { Home($0) }) {
      guard let store = group[0].store else { continue }
      let root: EntityLayout = store.runtime.entities[group[0].runtime.layout.rootIndex].layout
      var found: Set<Int64> = []
      try? store.rows(of: root, keys: group.map(\.key), for: self).forEach { found.insert($0.key) }
      missing += group.filter { !found.contains($0.key) }
    }
    return missing
  }

  /// For merges: a merge may be older than the deletion. An object that can't be read is not restored.
  final func existsInStore(_ object: NSManagedObject) -> Bool { (try? restoreIfStored(object)) ?? false }
}

extension ObjectFlags {
  /// Deleted here, and not propagated along relationships yet.
  fileprivate var isPending: Bool { contains(.deleted) && isDisjoint(with: [.propagated, .inaccessible]) }
}

extension NSManagedObject {
  /// Whether a relationship contains an object that another context has deleted, now or in the snapshot.
  fileprivate final func leadsToRemotelyDeleted(_ slot: Int) -> Bool {
    leads(slot) { $0.flags.contains(.remotelyDeleted) }
  }

  /// Whether a relationship contains such an object, now or in the snapshot.
  final func leads(_ slot: Int, to isSought: (NSManagedObject) -> Bool) -> Bool {
    if let many = state?.toMany(slot) { return many.has(where: isSought) }
    guard runtime.layout.slots[slot].isToOne else { return false }
    return [state?.values[slot].target, state?.base?[slot].target, targetInRow(slot)].contains {
      $0.map(isSought) == true
    }
  }

  /// The object that the row refers to for a to-one, if it is registered with the context.
  final func targetInRow(_ slot: Int) -> NSManagedObject? {
    guard case .stored(.toOne, let word) = runtime.layout.slots[slot].role, let row, row.hasValue(word),
      let store, let identityMap
    else { return nil }
    let id: RowID = row.target(word)
    let root: Int = store.runtime.entities[Int(id.entity)].layout.rootIndex
    return identityMap.object(store: store.ordinal, root: root, key: id.key)
  }

  /// Removes objects that another context has deleted from the relationships, and from the snapshot, which a
  /// rollback restores. That is no change of the object: it is the state of the store. False if there are
  /// none.
  @discardableResult
  final func dropRemotelyDeleted() -> Bool {
    let slots: [Int] = runtime.relationshipSlots.filter(leadsToRemotelyDeleted)
    if slots.isEmpty { return false }
    for slot in slots {
      if let many = state?.toMany(slot) {
        many.drop(where: { $0.flags.contains(.remotelyDeleted) })
        continue
      }
      // The row has the same information, if it is read later.
      if state?.values[slot].target?.flags.contains(.remotelyDeleted) == true { state?.values[slot] = .null }
      if state?.base?[slot].target?.flags.contains(.remotelyDeleted) == true { state?.base?[slot] = .null }
    }
    let targets: [Int] = slots.filter { targetInRow($0)?.flags.contains(.remotelyDeleted) == true }
    if !targets.isEmpty, let row { self.row = row.without(targets, of: runtime) }
    if flags.contains(.updated) { identityMap?.context?.clearUpdateIfUnchanged(self) }
    return true
  }
}

extension RowRef {
  /// The same row without the targets of some to-one relationships.
  fileprivate func without(_ targets: [Int], of runtime: EntityRuntime) -> RowRef {
    let slab = RowSlab(layout: runtime.layout, family: false, rowCapacity: 1)
    _ = slab.appendCopy(of: self, layout: runtime.layout, without: targets)
    return slab.row(0)
  }
}

/// The place of an object's row: rows of one place are read together.
struct Home: Hashable {
  let store: ObjectIdentifier?
  let root: Int

  init(_ object: NSManagedObject) {
    store = object.store.map { ObjectIdentifier($0) }
    root = object.runtime.layout.rootIndex
  }
}
