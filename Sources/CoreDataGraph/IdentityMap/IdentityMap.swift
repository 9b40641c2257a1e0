import CSwiftRuntime
import CoreDataPredicates
import CoreDataStorage
import Foundation
import Synchronization

/// The identity map of one context: from (store, hierarchy, key) to the one object for that row.
///
/// Entries do not keep objects alive. An object removes itself when it is deallocated, under the map's lock;
/// a look-up retains what it finds under the same lock with `swift_tryRetain`, which fails once the object's
/// deinitialiser has begun. So an entry is never a dangling pointer, and no object pays for a weak
/// reference's side table.
///
/// State and lifetime:
/// - `tables[store ordinal][root index]`: key → unretained object. An entry exists as long as its object.
/// - Temporary objects have negative keys and are in ordinal 0.
/// - `newerRows[place]`: the slab of a row that another context has saved while there was an object of its
///   key here. An entry exists as long as that object. So the row cache contains saves that this context has
///   not merged, even after the saving context is deallocated.
final class IdentityMap: @unchecked Sendable {
  // Sendable: `tables` and `newerRows` are accessed under `lock` only; `context` is set once before the map
  // is shared; `marks` is used on the context's queue.

  private let lock = Guarded(())
  // The lock excludes overlapping accesses.
  @exclusivity(unchecked) private var tables: [[Int64HashMap]] = []
  @exclusivity(unchecked) private var newerRows: [Place: RowSlab] = [:]

  private struct Place: Hashable {
    let ordinal: Int
    let root: Int
    let key: Int64
  }
  /// Set by the context's init, cleared by its deinit.
  weak var context: NSManagedObjectContext?
  /// The changes of which stores that observe registration have not been notified.
  let registrations = Registrations()
  /// Whether there was an object of such a store. Set under `lock`, on the context's queue.
  @exclusivity(unchecked) private(set) var observesRegistration = false
  /// The homes of the objects. The context's end clears them, since they refer to the map.
  @exclusivity(unchecked) var homes = Homes()
  /// The flags of every object of the context.
  var marks: ObjectFlags = ConcurrencyDebug.chosen == .off ? [] : .confined

  /// Temporary keys are unique in the process, so an object may move between contexts.
  private static let lastTemporaryKey = Atomic<Int64>(0)

  static func makeTemporaryKey() -> Int64 {
    lastTemporaryKey.subtract(1, ordering: .relaxed).newValue
  }

  private func prepare(_ ordinal: Int, _ root: Int) {
    while tables.count <= ordinal { tables.append([]) }
    while tables[ordinal].count <= root { tables[ordinal].append(Int64HashMap()) }
  }

  /// Runs `body` with the table of a hierarchy, under the lock.
  func withTable<Result>(
    store ordinal: Int, root: Int, _ body: (inout Int64HashMap) throws -> Result
  ) rethrows -> Result {
    try lock.withLock { _ in
      prepare(ordinal, root)
      return try body(&tables[ordinal][root])
    }
  }

  func insert(_ object: NSManagedObject, store ordinal: Int, root: Int, key: Int64) {
    withTable(store: ordinal, root: root) { table in
      _ = table.insert(key, IdentityMap.payload(of: object))
    }
  }

  func remove(_ object: NSManagedObject, store ordinal: Int, root: Int, key: Int64) {
    withTable(store: ordinal, root: root) { table in
      // A newer object may be registered under the key already: an object only removes its own entry.
      let removed: UInt64? = table.remove(key, ifPayload: IdentityMap.payload(of: object))
      if removed != nil, !newerRows.isEmpty {
        newerRows[Place(ordinal: ordinal, root: root, key: key)] = nil
      }
      if observesRegistration, removed != nil, let store = object.store, store.observesRegistration {
        registrations.add(object, in: store, isRegistered: false)
      }
    }
  }

  /// Notes that an object of a store that observes registration has come into the context.
  func noteRegistration(of object: NSManagedObject) {
    guard let store = object.store else { return }
    lock.withLock { _ in observesRegistration = true }
    registrations.add(object, in: store, isRegistered: true)
  }

  /// Moves new objects from their temporary keys to those that a save has assigned, under one lock.
  func makePermanent(_ objects: [NSManagedObject], keys: [Int64], store: NSPersistentStore) {
    lock.withLock { _ in
      for (place, object) in objects.enumerated() where object.store == nil {
        let root: Int = object.runtime.layout.rootIndex
        prepare(store.ordinal, root)
        tables[0][root].remove(object.key)
        object.store = store
        object.key = keys[place]
        object.cachedID = nil
        tables[store.ordinal][root].insert(object.key, IdentityMap.payload(of: object))
        if store.observesRegistration {
          observesRegistration = true
          registrations.add(object, in: store, isRegistered: true)
        }
      }
    }
  }

  /// Moves objects of one store to another one, with the same keys or with those given.
  func move(
    _ objects: [NSManagedObject], from old: NSPersistentStore, to new: NSPersistentStore, keys: [Int64]? = nil
  ) {
    lock.withLock { _ in
      for (place, object) in objects.enumerated() where object.store === old {
        let root: Int = object.runtime.layout.rootIndex
        prepare(old.ordinal, root)
        prepare(new.ordinal, root)
        let payload: UInt64 = IdentityMap.payload(of: object)
        let isKnown: Bool = tables[old.ordinal][root].remove(object.key, ifPayload: payload) != nil
        object.store = new
        if let keys { object.key = keys[place] }
        object.cachedID = nil
        object.faultBatch = nil
        if isKnown { _ = tables[new.ordinal][root].insert(object.key, payload) }
        if isKnown, new.observesRegistration {
          observesRegistration = true
          registrations.add(object, in: new, isRegistered: true)
        }
      }
      newerRows = newerRows.filter { $0.key.ordinal != old.ordinal }
    }
  }

  func object(store ordinal: Int, root: Int, key: Int64) -> NSManagedObject? {
    withTable(store: ordinal, root: root) { IdentityMap.find(key, in: $0) }
  }

  /// Whether there is an object of this key. May be called on any thread, and retains nothing.
  func hasObject(store ordinal: Int, root: Int, key: Int64) -> Bool {
    withTable(store: ordinal, root: root) { $0.find(key) != nil }
  }

  /// Keeps the slabs of rows that another context has saved, if there are objects for them here; called on
  /// the other context's queue.
  func keep(_ rows: [(key: Int64, slab: RowSlab)], store ordinal: Int, root: Int) {
    withTable(store: ordinal, root: root) { table in
      if table.count == 0 { return }
      for row in rows where table.find(row.key) != nil {
        newerRows[Place(ordinal: ordinal, root: root, key: row.key)] = row.slab
      }
    }
  }

  /// Every object that is alive, in no particular order.
  var allObjects: [NSManagedObject] {
    lock.withLock { _ in
      var result: [NSManagedObject] = []
      for store in tables {
        for table in store {
          table.forEach { _, payload in
            if let object = IdentityMap.retained(payload) { result.append(object) }
          }
        }
      }
      return result
    }
  }

  static func payload(of object: NSManagedObject) -> UInt64 {
    UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
  }

  /// Call it only inside `withTable`.
  static func find(_ key: Int64, in table: Int64HashMap) -> NSManagedObject? {
    table.find(key).flatMap(retained)
  }

  private static func retained(_ payload: UInt64) -> NSManagedObject? {
    guard let pointer = UnsafeMutableRawPointer(bitPattern: UInt(payload)),
      let alive = swift_tryRetain(pointer)
    else { return nil }
    return Unmanaged<NSManagedObject>.fromOpaque(alive).takeRetainedValue()
  }
}
