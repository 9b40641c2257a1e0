import Foundation

/// The changes of one save.
struct PendingChanges {
  var inserted: [NSManagedObject]
  var updated: [NSManagedObject]
  var deleted: [NSManagedObject]

  var all: [NSManagedObject] { inserted + updated + deleted }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  mutating func add(_ part: StoreChanges) {
    inserted += part.inserted
    updated += part.updated
    deleted += part.deleted
  }

  /// Adds what was saved before these changes. An object that was changed again counts once.
  mutating func add(earlier: PendingChanges) {
    if earlier.isEmpty { return }
    let gone: Set<ObjectIdentifier> = Set(deleted.map { ObjectIdentifier($0) })
    let new: Set<ObjectIdentifier> = Set(earlier.inserted.map { ObjectIdentifier($0) })
    let changed: Set<ObjectIdentifier> = gone.union(updated.map { ObjectIdentifier($0) })
    inserted = earlier.inserted.filter { !gone.contains(ObjectIdentifier($0)) } + inserted
    updated =
      earlier.updated.filter { !changed.contains(ObjectIdentifier($0)) }
      + updated.filter { !new.contains(ObjectIdentifier($0)) }
    deleted = earlier.deleted + deleted
  }

  /// The notification's payload. `announced` has subsets of the inserted and deleted objects made before: one
  /// that has the same size is used, which saves making a large set again.
  func userInfo(announced: UnitOfWork.Announcement) -> [AnyHashable: Any] {
    func set(_ objects: [NSManagedObject], _ known: Set<NSManagedObject>) -> Set<NSManagedObject> {
      known.count == objects.count ? known : Set(spaced: objects)
    }
    return [
      NSInsertedObjectsKey: set(inserted, announced.inserted), NSUpdatedObjectsKey: Set(spaced: updated),
      NSDeletedObjectsKey: set(deleted, announced.deleted),
    ]
  }
}

/// The ids of one save; safe to pass to other queues.
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
      NSInsertedObjectIDsKey: Set(spaced: inserted), NSUpdatedObjectIDsKey: Set(spaced: updated),
      NSDeletedObjectIDsKey: Set(spaced: deleted),
    ]
  }
}

extension Set {
  /// A set of elements that differ, with much space between them: to compare two objects costs more than all
  /// the rest, and where few are neighbours few are compared.
  init(spaced elements: [Element]) {
    self.init(minimumCapacity: elements.count * 2)
    for element in elements { insert(element) }
  }
}
