import CoreDataModel
import Foundation

extension NSManagedObjectContext {
  /// Merges changes that were made elsewhere (by another process, a batch request, a history transaction)
  /// into contexts: parents before their children, each on its own queue, which this call waits for.
  ///
  /// `changeNotificationData` holds arrays or sets of `NSManagedObjectID`s, or of their URIs, under
  /// `NSInsertedObjectsKey`, `NSUpdatedObjectsKey` and `NSDeletedObjectsKey` (or the keys of the ids, such as
  /// `NSDeletedObjectIDsKey`). Ids that belong to no store of a context are ignored.
  ///
  /// See Apple's page
  /// [mergeChanges(fromRemoteContextSave:into:)](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/mergechanges(fromremotecontextsave:into:)).
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    // Each coordinator has its own row cache.
    var uncached: [ObjectIdentifier: Set<NSManagedObjectID>] = [:]
    for context in contexts.sorted(by: { $0.depth < $1.depth }) {
      context.runAndWait {
        let ids = SavedIDs(
          inserted: context.ids(in: changeNotificationData, [NSInsertedObjectsKey, NSInsertedObjectIDsKey]),
          updated: context.ids(
            in: changeNotificationData,
            [NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey]),
          deleted: context.ids(in: changeNotificationData, [NSDeletedObjectsKey, NSDeletedObjectIDsKey]))
        // The row cache has not been notified of these changes.
        if let coordinator = context.persistentStoreCoordinator.map(ObjectIdentifier.init) {
          let changed: [NSManagedObjectID] = ids.updated + ids.deleted
          context.removeCachedRows(
            of: changed.filter { uncached[coordinator, default: []].insert($0).inserted })
        }
        context.merge(ids)
      }
    }
  }

  /// Removes rows from the row cache that this coordinator has not changed itself.
  final func removeCachedRows(of ids: [NSManagedObjectID]) {
    for id in ids where !id.isTemporaryID {
      // The id may belong to another model with the same entity.
      guard let (store, key) = place(of: id),
        let runtime = store.runtime.runtime(named: id.runtime.layout.name)
      else { continue }
      store.removeCachedRows(of: runtime.layout, keys: [key])
    }
  }

  /// The number of contexts above this one.
  private var depth: Int { parent.map { $0.depth + 1 } ?? 0 }

  private func ids(in data: [AnyHashable: Any], _ keys: [String]) -> [NSManagedObjectID] {
    keys.flatMap { key -> [Any] in
      switch data[key] {
      case let set as NSSet: set.allObjects
      case let array as [Any]: array
      default: []
      }
    }.compactMap { value in
      switch value {
      case let id as NSManagedObjectID: id
      case let object as NSManagedObject: object.objectID
      case let uri as URL: persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)
      case let text as String:
        URL(string: text).flatMap { persistentStoreCoordinator?.managedObjectID(forURIRepresentation: $0) }
      default: nil
      }
    }
  }
}
