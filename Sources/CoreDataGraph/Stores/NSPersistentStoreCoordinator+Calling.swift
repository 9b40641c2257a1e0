import CoreDataModel
import CoreDataStorage
import Foundation

// The calls of contexts to stores: the coordinator has the list of stores, and calls one after the other. For
// a single object (its row, the members of a relationship) the object's store is called, through the same
// operations.

extension NSPersistentStoreCoordinator {
  /// The stores to call: those that a request names, or all. Throws if the coordinator has none.
  final func stores(among affected: [NSPersistentStore]?) throws -> [NSPersistentStore] {
    let all: [NSPersistentStore] = persistentStores
    if all.isEmpty { throw GraphError.noStores }
    return affected ?? all
  }

  /// Calls some stores one after the other; the results are in their order.
  final func call<Result>(
    _ stores: [NSPersistentStore], for caller: StoreCaller,
    _ body: (any StoreOperations, NSPersistentStore) throws -> Result
  ) throws -> [Result] {
    try caller.context.tally.counting {
      try stores.map { try body(try $0.pinnedOperations(for: caller), $0) }
    }
  }

  /// The present states of stores, by ordinals; stores that keep none are left out.
  final func snapshots() throws -> [Int: any StoreOperations] {
    var states: [Int: any StoreOperations] = [:]
    for store in persistentStores { states[store.ordinal] = try store.snapshot() }
    return states
  }

  // MARK: Saving

  /// Executes the plans of all stores, one after the other. Throws a `StoreRefusal` for the first store that
  /// refuses; those before it are saved.
  final func save(_ plans: [SavePlan], in parts: [StoreChanges], for context: NSManagedObjectContext) throws {
    for (place, part) in parts.enumerated() {
      do {
        try part.store.execute(plans[place], for: part.caller(context))
      } catch {
        throw StoreRefusal(error: error, place: place)
      }
    }
  }

  /// Throws an error that would stop a save to one of the stores, so that it occurs before anything is saved
  /// elsewhere.
  final func checkWritable(_ stores: [NSPersistentStore], for context: NSManagedObjectContext) throws {
    for store in stores {
      do {
        try store.operations(for: StoreCaller(context)).checkWritable()
      } catch let error as StoreError {
        throw SaveErrors.error(for: error, store: store, context: context)
      }
    }
  }

  final func storesWithUnsavedMetadata(besides parts: [StoreChanges] = []) -> [NSPersistentStore] {
    persistentStores.filter { store in
      store.hasUnsavedMetadata && !parts.contains { $0.store === store }
    }
  }

  /// Throws the error of metadata that could not be set.
  final func refuseMetadata(for context: NSManagedObjectContext) throws {
    for store in persistentStores {
      guard let refusal = store.refusedMetadata.withLock({ $0 }) else { continue }
      throw SaveErrors.error(for: refusal, store: store, context: context)
    }
  }
}

/// A store has refused its part of a save; those before it are saved.
struct StoreRefusal: Error {
  /// A `StoreError`, or any error of a store that is implemented by the program.
  let error: any Error
  /// The index of the part.
  let place: Int
}
