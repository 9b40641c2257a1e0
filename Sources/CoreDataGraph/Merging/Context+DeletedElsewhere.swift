import CoreDataStorage
import Foundation

// Objects that another context has deleted (Decisions/0030). A merge deletes them here: they are told of, `isDeleted` is true and
// relationships let go of them. Nothing is to be saved for them, so they are in no list of changes; at the next save they leave.

extension NSManagedObjectContext {
  /// Deletes objects whose rows are gone already. New ones have no row that anybody could have deleted.
  final func takeOverDeletions(of objects: [NSManagedObject]) {
    let gone: [NSManagedObject] = objects.filter {
      $0.flags.isDisjoint(with: [.inserted, .deletedElsewhere])
    }
    if gone.isEmpty { return }
    for object in gone {
      // Those who deleted the row have passed the deletion on.
      object.flags.formUnion([.deleted, .propagated, .deletedElsewhere])
      noteEvent(.eventDeleted, of: object)
    }
    deletedElsewhere.append(gone)
    hasMetDeletions = true
    var others: [NSManagedObject] = gone.flatMap { $0.knownNeighbours() }
    // Whose values or members were never loaded does not know who lists it.
    if gone.contains(where: { !$0.hasSource && $0.state == nil || $0.hasUnloadedPartners }) {
      others += registry.allObjects.filter { $0.listsDeletedElsewhere }
    }
    others = ObjectList(others).filter { !$0.flags.contains(.deletedElsewhere) && !$0.isFault }
    withObservedValues(of: others) {
      for object in others { object.dropDeletedElsewhere() }
    }
  }

  /// A merge policy has found that the row is gone: the object leaves within the running save.
  final func forgetDeletedElsewhere(_ object: NSManagedObject) {
    takeOverDeletions(of: [object])
    endEvent()
    leave(object)
  }

  /// After a save.
  final func letDeletedElsewhereGo() {
    let gone: [NSManagedObject] = deletedElsewhere.objects
    deletedElsewhere = WeakObjects()
    if gone.isEmpty { return }
    for object in gone { leave(object) }
    retained.removeAll { $0.registry !== registry }
  }

  /// Takes an object out of the context whose row is gone.
  final func leave(_ object: NSManagedObject) {
    guard object.registry === registry, object.flags.contains(.deletedElsewhere) else { return }
    detach(object)
    object.flags.insert(.inaccessible)
    if object.flags.contains(.recallable) {
      parted.append([object])
    } else {
      object.letRelationshipsGo()
    }
  }

  /// A row is there again under the id of one that was deleted.
  final func bringBackDeletedElsewhere(_ object: NSManagedObject) {
    guard object.flags.contains(.deletedElsewhere) else { return }
    object.flags.subtract([
      .deletedElsewhere, .deleted, .propagated, .updated, .inaccessible,
    ])
    object.turnIntoFault()
  }
}

extension NSManagedObject {
  /// The objects at the other ends of relationships, as far as they are known: those of now, and those of the last fetch or save.
  fileprivate final func knownNeighbours() -> [NSManagedObject] {
    runtime.relationshipSlots.flatMap { slot -> [NSManagedObject] in
      if let many = state?.toMany(slot) {
        return (many.members?.objects ?? []) + many.added.objects + many.removed.objects
      }
      return [state?.values[slot].target, state?.base?[slot].target, targetInRow(slot)].compactMap { $0 }
    }
  }

  /// Whether there is a many-to-many relationship whose members have not been read.
  fileprivate final var hasUnloadedPartners: Bool {
    runtime.relationshipSlots.contains { slot in
      runtime.layout.slots[slot].isToMany
        && runtime.layout.slots[slot].relationship?.inverseRelationship?.isToMany == true
        && state?.toMany(slot)?.members == nil
    }
  }

  /// The object that the row names for a to-one, if the context knows it.
  private final func targetInRow(_ slot: Int) -> NSManagedObject? {
    guard case .stored(.toOne, let word) = runtime.layout.slots[slot].role, let row, row.hasValue(word),
      let store, let registry
    else { return nil }
    let id: RowID = row.target(word)
    let root: Int = store.runtime.entities[Int(id.entity)].layout.rootIndex
    return registry.object(store: store.ordinal, root: root, key: id.key)
  }

  /// Whether a loaded to-many has a member that another context has deleted.
  fileprivate final var listsDeletedElsewhere: Bool {
    guard let state else { return false }
    return runtime.relationshipSlots.contains { slot in
      state.toMany(slot)?.members?.contains { $0.flags.contains(.deletedElsewhere) } == true
    }
  }

  /// Takes objects that another context has deleted out of the relationships. That is no change: it is what the store says.
  final func dropDeletedElsewhere() {
    var isLess = false
    for slot in runtime.relationshipSlots {
      if let many = state?.toMany(slot) {
        guard many.drop(where: { $0.flags.contains(.deletedElsewhere) }) else { continue }
        isLess = true
      } else if let target = known(slot), target.flags.contains(.deletedElsewhere) {
        ensureState().values[slot] = .null
        isLess = true
      }
    }
    if isLess, flags.contains(.updated) { registry?.context?.settle(self) }
  }

  private final func known(_ slot: Int) -> NSManagedObject? {
    guard runtime.layout.slots[slot].isToOne else { return nil }
    guard let value = state?.values[slot], !value.isUnset else { return targetInRow(slot) }
    return value.target
  }
}
