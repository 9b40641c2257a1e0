import CoreDataModel
import CoreDataStorage
import Foundation

/// The part of a save for one store.
struct StoreChanges {
  let store: NSPersistentStore
  var inserted: [NSManagedObject] = []
  var updated: [NSManagedObject] = []
  var deleted: [NSManagedObject] = []
  /// After planning: the new rows of `inserted` and `updated` (nil: nothing stored changed). They have their
  /// keys once the plan has been executed.
  var insertedRows: [RowRef] = []
  var updatedRows: [RowRef?] = []

  init(store: NSPersistentStore) { self.store = store }

  /// The saving context; with a request for stores that need one. Its sets are nil if they are empty: all of
  /// them, if only metadata is saved.
  func caller(_ context: NSManagedObjectContext) -> StoreCaller {
    guard store.needsRequests else { return StoreCaller(context) }
    func set(_ objects: [NSManagedObject]) -> Set<NSManagedObject>? { objects.isEmpty ? nil : Set(objects) }
    let request = NSSaveChangesRequest(
      inserted: set(inserted), updated: set(updated), deleted: set(deleted),
      locked: set(context.work.lockChecked.filter { $0.store === store }))
    return StoreCaller(context, request)
  }

  static func split(
    _ changes: PendingChanges, context: NSManagedObjectContext, coordinator: NSPersistentStoreCoordinator
  ) throws -> [StoreChanges] {
    var parts: [StoreChanges] = []
    func place(_ store: NSPersistentStore) -> Int {
      if let known = parts.firstIndex(where: { $0.store === store }) { return known }
      parts.append(StoreChanges(store: store))
      return parts.count - 1
    }
    // The store of the last new object of each entity: looking it up for every object would cost more than
    // encoding its row.
    var storeOfEntity: [Int: Int] = [:]
    for object in changes.inserted {
      if let known = storeOfEntity[object.runtime.index], object.store == nil, !context.work.hasAssignedStores
      {
        parts[known].inserted.append(object)
        continue
      }
      let number: Int = place(try store(for: object, context: context, coordinator: coordinator))
      if object.store == nil, !context.work.hasAssignedStores { storeOfEntity[object.runtime.index] = number }
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

  /// The store of an object: its present one, the one it was assigned to, or the first writable store that
  /// holds its entity.
  static func store(
    for object: NSManagedObject, context: NSManagedObjectContext, coordinator: NSPersistentStoreCoordinator
  ) throws -> NSPersistentStore {
    if let store = object.store { return store }
    if let store = context.work.assignedStore(of: object) {
      guard store.isInCoordinator else {
        throw GraphError.noStore(
          entity: object.runtime.layout.name,
          reason:
            "'\(object.objectID)' was assigned to the store \(store.placeInMessages), which was removed from its "
            + "coordinator. Assign it to another one, or delete it.")
      }
      return store
    }
    let holding: [NSPersistentStore] = coordinator.persistentStores.filter { $0.holds(object.runtime) }
    if let store = holding.first(where: { !$0.isReadOnly }) { return store }
    throw GraphError.noStore(
      entity: object.runtime.layout.name,
      reason: holding.isEmpty
        ? "no store's configuration contains it"
        : "every store that holds it is read-only. "
          + holding.map { store in
            let reason: ReadOnlyReason = store.readOnlyReason ?? .requested
            return "\(store.placeInMessages): \(reason.text(ofStoreAt: store.url)). \(reason.advice)"
          }.joined(separator: " "),
      isReadOnly: !holding.isEmpty)
  }
}
