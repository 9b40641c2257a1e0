import CoreDataModel
import CoreDataStorage
import Foundation

extension NSPersistentStoreCoordinator {
  /// Puts a new store, at another place or of another type, into the place of one of this coordinator's, with
  /// all that it holds: the way to export, and to "save as".
  ///
  /// The old store is removed from the coordinator; its files stay. The new one has a UUID of its own, so
  /// objects have other ids: their entity and number stay, and objects that contexts have take their new ids
  /// over, with unsaved changes and what can be undone. A context does so before it next fetches, looks up or
  /// saves; ids of the old store go on leading to the objects here. A context that is pinned to a query
  /// generation goes on to the state of the new store at its next read, and stays there, as after a save: its
  /// token is another one then. The program's metadata goes along. The notification that stores have changed
  /// tells of both stores as `NSUUIDChangedPersistentStoresKey`, too.
  ///
  /// Between SQLite files the database is copied as it is, by way of a temporary file in which it gets its
  /// UUID; a mere copy costs half with
  /// ``replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)``. Any other
  /// way loads all objects into memory; so does a store with persistent history, which the new one is made
  /// without. Saves to the store wait meanwhile.
  ///
  /// Throws a `CocoaError` and leaves everything as it was if the store is not one of this coordinator's, if
  /// there is a store at the URL already, and for what reading and writing may throw.
  ///
  /// See Apple's page
  /// [migratePersistentStore(_:to:options:type:)](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/migratepersistentstore(_:to:options:type:)).
  @discardableResult
  public final func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    withType storeType: String
  ) throws -> NSPersistentStore {
    let old: NSPersistentStore = store
    let new: NSPersistentStore = try withCocoaErrors(storeURL) {
      try old.withoutSaves {
        guard old.persistentStoreCoordinator === self else {
          throw GraphError.unsupported(
            "Migrating the store \(old.url?.path ?? old.uuid)", advice: "It is not in this coordinator."
          )
        }
        let new: NSPersistentStore = try StoreMigration(source: old, coordinator: self)
          .run(type: storeType, url: storeURL, options: options)
        exchange(old, for: new)
        old.persistentStoreCoordinator = nil
        return new
      }
    }
    // Contexts that are busy may still be filling faults from it.
    let closing = ClosingStore(old)
    for context in contexts.all {
      context.onQueue { context in withExtendedLifetime(closing) { _ = context.takeExchanges() } }
    }
    postChange([
      NSAddedPersistentStoresKey: [new], NSRemovedPersistentStoresKey: [old],
      NSUUIDChangedPersistentStoresKey: [old, new],
    ])
    return new
  }

  /// The same with a store type in the modern spelling.
  @discardableResult
  public final func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    type storeType: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
  }
}

/// Closes a store when nobody holds this any more.
private final class ClosingStore: Sendable {
  private let store: NSPersistentStore

  init(_ store: NSPersistentStore) { self.store = store }

  deinit { try? store.close() }
}

/// A store that was migrated, and the one that has its place.
struct ExchangedStore {
  let old: NSPersistentStore
  let new: NSPersistentStore
}

/// How many of its coordinator's migrations a context has followed.
struct StoreExchanges {
  private var count: Int = 0

  /// Those since the last time.
  mutating func next(of coordinator: NSPersistentStoreCoordinator?) -> [ExchangedStore] {
    let new: [ExchangedStore] = coordinator?.exchanges(since: count) ?? []
    count += new.count
    return new
  }
}

extension NSManagedObjectContext {
  /// Gives objects of migrated stores their new ids, here and in children. To be called before anything is
  /// looked for in stores. Returns whether there was a migration since the last time.
  @discardableResult
  final func takeExchanges() -> Bool {
    let exchanges: [ExchangedStore] = self.exchanges.next(of: persistentStoreCoordinator)
    if exchanges.isEmpty { return false }
    for child in children.all { child.onQueue { $0.takeExchanges() } }
    movePin()
    for exchange in exchanges { take(exchange) }
    return true
  }

  private func take(_ exchange: ExchangedStore) {
    let objects: [NSManagedObject] =
      identityMap.allObjects + undoState.objectsWithSavedDeletion + work.objectsDeletedRemotely
    identityMap.move(objects, from: exchange.old, to: exchange.new)
    func moved(_ id: NSManagedObjectID) -> NSManagedObjectID {
      guard id.store === exchange.old else { return id }
      return NSManagedObjectID(runtime: id.runtime, key: id.key, store: exchange.new)
    }
    permanentIDs.replace(moved)
    work.replaceAssignments(to: exchange.old, by: exchange.new)
  }
}
