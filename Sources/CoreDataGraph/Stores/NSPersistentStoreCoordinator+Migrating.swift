import CoreDataModel
import CoreDataStorage
import Foundation

extension NSPersistentStoreCoordinator {
  /// Replaces one of this coordinator's stores by a new one, at another place or of another type, with the
  /// same contents: the way to export, and to "save as".
  ///
  /// The old store is removed from the coordinator; its files stay. The new one has a UUID of its own, so
  /// objects get other ids: their entity stays, and so does their number, unless the new store is one that
  /// numbers or names objects in its own way (XML and binary stores, which have one sequence of numbers for
  /// all entities, and stores that a program implements). Objects of contexts get their new ids, with unsaved
  /// changes and what can be undone. A context does this before it next fetches, looks up or saves;
  /// ids of the old store still lead to the objects here. A context that is pinned to a query generation
  /// moves to the state of the new store at its next read, and stays there, as after a save: its token is
  /// then another one. The program's metadata is copied. The notification that stores have changed also
  /// contains both stores as `NSUUIDChangedPersistentStoresKey`.
  ///
  /// Between SQLite files the database is copied as a whole, through a temporary file in which it gets its
  /// UUID; a mere copy costs half with
  /// ``replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)``. Any other
  /// migration copies object by object, and so does that of a store with persistent history, which the new
  /// one does not have; if the new store is written as a whole, all objects are in memory. Saves to the store
  /// wait meanwhile.
  ///
  /// A migration reports to the thread's current `Progress`. Cancelling that ends it with
  /// `CocoaError.userCancelled`, and everything is as before; the copying of a file is not interrupted.
  ///
  /// Throws a `CocoaError` and leaves everything unchanged if the store is not one of this coordinator's, if
  /// there is a store at the URL already, and for errors of reading and writing.
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
        let migration = StoreMigration(source: old, coordinator: self)
        let new: NSPersistentStore = try migration.run(type: storeType, url: storeURL, options: options)
        // Not earlier: a migration that fails leaves the store in its coordinator.
        old.willRemove(from: self)
        let keys: MigratedKeys? = migration.copiedKeys.map { MigratedKeys($0, in: new) }
        exchange(ExchangedStore(old: old, new: new, keys: keys))
        old.persistentStoreCoordinator = nil
        return new
      }
    }
    new.didAdd(to: self)
    // Contexts that are running may still be firing faults from it.
    let closing = ClosingStore(old)
    for context in contexts.all { context.applyStoreExchanges(thenClosing: closing) }
    postChange([
      NSAddedPersistentStoresKey: [new], NSRemovedPersistentStoresKey: [old],
      NSUUIDChangedPersistentStoresKey: [old, new],
    ])
    return new
  }

  /// The same with a store type in the newer spelling.
  @discardableResult
  public final func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    type storeType: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
  }
}

/// Closes a store when this object is deallocated.
private final class ClosingStore: Sendable {
  private let store: NSPersistentStore

  init(_ store: NSPersistentStore) { self.store = store }

  deinit { try? store.close() }
}

/// A store that was migrated, and its replacement.
struct ExchangedStore {
  let old: NSPersistentStore
  let new: NSPersistentStore
  /// The objects' keys in the new store; nil if they are the same.
  let keys: MigratedKeys?
}

/// The number of its coordinator's migrations that a context has followed.
struct StoreExchanges {
  private var count: Int = 0

  /// The migrations since the last call.
  mutating func next(of coordinator: NSPersistentStoreCoordinator?) -> [ExchangedStore] {
    let new: [ExchangedStore] = coordinator?.exchanges(since: count) ?? []
    count += new.count
    return new
  }
}

extension NSManagedObjectContext {
  /// Gives objects of migrated stores their new ids, here and in children. Must be called before any look-up
  /// in stores. Returns whether there was a migration since the last call.
  @discardableResult
  final func applyStoreExchanges() -> Bool {
    let exchanges: [ExchangedStore] = self.exchanges.next(of: persistentStoreCoordinator)
    if exchanges.isEmpty { return false }
    for child in children.all { child.onQueue { $0.applyStoreExchanges() } }
    movePin()
    for exchange in exchanges { applyExchange(exchange) }
    return true
  }

  /// Runs on the queues of this context and its children: at once where that is the current queue, elsewhere
  /// before any block that is enqueued later.
  fileprivate func applyStoreExchanges(thenClosing store: ClosingStore) {
    onQueue { context in withExtendedLifetime(store) { _ = context.applyStoreExchanges() } }
    for child in children.all { child.applyStoreExchanges(thenClosing: store) }
  }

  private func applyExchange(_ exchange: ExchangedStore) {
    let objects: [NSManagedObject] =
      identityMap.allObjects + undoState.objectsWithSavedDeletion + work.objectsDeletedRemotely
    if let keys = exchange.keys {
      move(objects, exchange, keys)
    } else {
      identityMap.move(objects, from: exchange.old, to: exchange.new)
    }
    func moved(_ id: NSManagedObjectID) -> NSManagedObjectID {
      guard id.store === exchange.old else { return id }
      let key: Int64 =
        exchange.keys.map { $0.key(id.key, root: id.runtime.layout.rootIndex) ?? id.key } ?? id.key
      return NSManagedObjectID(runtime: id.runtime, key: key, store: exchange.new)
    }
    permanentIDs.replace(moved)
    work.replaceAssignments(to: exchange.old, by: exchange.new)
  }

  /// Gives objects the keys of a store that numbers or names them in its own way, and their rows: what they
  /// have read stays read, and changes stay changes.
  private func move(_ objects: [NSManagedObject], _ exchange: ExchangedStore, _ keys: MigratedKeys) {
    var moving: [NSManagedObject] = []
    var newKeys: [Int64] = []
    for object in objects where object.store === exchange.old {
      do {
        newKeys.append(try keys.key(of: object, in: self))
        moving.append(object)
      } catch {
        // A program's store has refused a key for an object that it has no row of.
        exchange.new.report(error, object.objectID)
        detach(object)
      }
    }
    identityMap.move(moving, from: exchange.old, to: exchange.new, keys: newKeys)
    var slabs: [Int: RowSlab] = [:]
    for object in moving {
      guard let row = object.row else { continue }
      let layout: EntityLayout = exchange.new.runtime.layout.entities[row.entity]
      if slabs[row.entity]?.isFull ?? true {
        slabs[row.entity] = RowSlab(layout: layout, family: false, rowCapacity: 64)
      }
      guard let slab = slabs[row.entity] else { continue }
      object.row = keys.copy(of: row, key: object.key, layout: layout, into: slab)
    }
  }
}
