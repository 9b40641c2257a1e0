import CoreDataModel
import CoreDataStorage
import Foundation

/// Takes turns: the methods of the stores that a program implements are called by one thread at a time, as
/// Apple's coordinator calls them, so that such a store needs no locks of its own. The stores of a
/// coordinator share the lock: of two whose methods read each other's objects, neither waits for the other.
///
/// A method may call the framework, which calls the store again on the same thread: that is no other turn.
/// The lock is taken before all others, those of the row cache and of identity maps are taken under it.
final class StoreCalls: @unchecked Sendable {
  // Sendable: `isSaving` is used under the lock.

  // Recursive, because a store's method may read through its own context, or ask for ids.
  private let lock: NSRecursiveLock
  private var isSaving = false

  init(of coordinator: NSPersistentStoreCoordinator?) {
    lock = coordinator?.programCalls ?? NSRecursiveLock()
  }

  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  /// Waits until nobody saves or calls the store. Throws if this thread saves already: a method of the store
  /// saves to the store itself, which would wait for its own end.
  func beginSave(to store: NSPersistentStore) throws {
    lock.lock()
    if isSaving {
      lock.unlock()
      throw GraphError.unsupported(
        "Saving to the store \(store.placeInMessages) while it saves or is migrated",
        advice: "One of its methods has called save(): save there to another store, or later.")
    }
    isSaving = true
  }

  func endSave() {
    isSaving = false
    lock.unlock()
  }
}

/// Keys that a program's store has given to new objects which it has not saved yet, each with the identity
/// map that has the object: a store must not give another context the same one.
final class IssuedKeys: Sendable {
  private struct Holder { weak var map: IdentityMap? }
  private let holders = Guarded<[Int64: Holder]>([:])

  /// Whether a context still has a new object with this key.
  func contains(_ key: Int64, store: NSPersistentStore, root: Int) -> Bool {
    guard let map = holders.withLock({ $0[key]?.map }) else { return false }
    return map.hasObject(store: store.ordinal, root: root, key: key)
  }

  func add(_ keys: some Sequence<Int64>, of map: IdentityMap) {
    holders.withLock { holders in
      for key in keys { holders[key] = Holder(map: map) }
    }
  }

  /// Called with the new rows of a save.
  func remove(_ saved: [(layout: EntityLayout, rows: RowBatch)]) {
    holders.withLock { holders in
      for (_, batch) in saved { batch.forEach { holders[$0.key] = nil } }
    }
  }
}
