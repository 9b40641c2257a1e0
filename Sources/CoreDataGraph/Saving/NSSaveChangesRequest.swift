import CoreDataModel
import CoreDataStorage
import Foundation

/// The objects that a save writes, as a request to the stores. Contexts create their own; a program executes
/// one only by ``NSPersistentStoreCoordinator/execute(_:with:)``.
///
/// See Apple's page
/// [NSSaveChangesRequest](https://developer.apple.com/documentation/coredata/nssavechangesrequest).
nonisolated open class NSSaveChangesRequest: NSPersistentStoreRequest {
  public final let insertedObjects: Set<NSManagedObject>?
  public final let updatedObjects: Set<NSManagedObject>?
  public final let deletedObjects: Set<NSManagedObject>?
  /// Unchanged objects whose rows must not have been changed by others.
  public final let lockedObjects: Set<NSManagedObject>?

  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    self.insertedObjects = insertedObjects
    self.updatedObjects = updatedObjects
    self.deletedObjects = deletedObjects
    self.lockedObjects = lockedObjects
    super.init()
  }

  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let other = NSSaveChangesRequest(
      inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects, locked: lockedObjects)
    other.affectedStores = affectedStores
    return other
  }
}

extension NSManagedObjectContext {
  /// Writes the objects of a request and nothing else: no callbacks, no validation, no notifications. What
  /// was written no longer counts as a change of the context.
  final func write(_ request: NSSaveChangesRequest, to coordinator: NSPersistentStoreCoordinator) throws {
    let changes = PendingChanges(
      inserted: Array(request.insertedObjects ?? []), updated: Array(request.updatedObjects ?? []),
      deleted: (request.deletedObjects ?? []).filter { !$0.flags.contains(.remotelyDeleted) })
    let locked = Array(request.lockedObjects ?? [])
    try requireOwn(changes.all + locked)
    guard parent == nil else {
      throw GraphError.unsupported(
        "A save request with a child context", advice: "Its changes go to the parent: use save().")
    }
    let before: [NSManagedObject] = work.replaceLockChecked(by: locked)
    defer { _ = work.replaceLockChecked(by: before.filter { $0.identityMap === identityMap }) }
    do {
      var values = TransformedValues()
      for object in changes.inserted + changes.updated { try values.add(object) }
      try writingNewest { keepSaved(try write(changes, values, to: coordinator)[...]) }
    } catch let refusal as SaveRefusal {
      let error: any Error = refusal.error(in: self)
      if refusal.saved.isEmpty { throw error }
      movePin()
      throw SaveErrors.incomplete(error, store: refusal.store)
    }
  }

  private func requireOwn(_ objects: [NSManagedObject]) throws {
    guard let stranger = objects.first(where: { $0.identityMap !== identityMap }) else { return }
    throw GraphError.unsupported(
      "Saving '\(stranger.objectID)', which is not an object of the context,",
      advice: "Use object(with:) of the context that executes the request.")
  }
}
