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
  @exclusivity(unchecked) private var tables: [[Table]] = []
  @exclusivity(unchecked) private var newerRows: [Place: RowSlab] = [:]

  /// The table of a hierarchy, at an address that stays as long as the map: homes keep it, so that an object
  /// that is deallocated finds its entry at once.
  typealias Table = UnsafeMutablePointer<Int64HashMap>

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
    while tables[ordinal].count <= root {
      let table: Table = .allocate(capacity: 1)
      table.initialize(to: Int64HashMap())
      tables[ordinal].append(table)
    }
  }

  deinit {
    for table in tables.joined() {
      table.deinitialize(count: 1)
      table.deallocate()
    }
  }

  /// The table of a hierarchy, to be used under the lock.
  func table(store ordinal: Int, root: Int) -> Table {
    lock.withLock { _ in
      prepare(ordinal, root)
      return tables[ordinal][root]
    }
  }

  /// Runs `body` with the table of a hierarchy, under the lock.
  func withTable<Result>(
    store ordinal: Int, root: Int, _ body: (inout Int64HashMap) throws -> Result
  ) rethrows -> Result {
    try lock.withLock { _ in
      prepare(ordinal, root)
      return try body(&tables[ordinal][root].pointee)
    }
  }

  /// The same with the table's address, which homes that are made meanwhile get.
  func withTableAddress<Result>(
    store ordinal: Int, root: Int, _ body: (Table) throws -> Result
  ) rethrows -> Result {
    try lock.withLock { _ in
      prepare(ordinal, root)
      return try body(tables[ordinal][root])
    }
  }

  func insert(_ object: NSManagedObject, store ordinal: Int, root: Int, key: Int64) {
    withTable(store: ordinal, root: root) { table in
      _ = table.insert(key, IdentityMap.payload(of: object))
    }
  }

  /// Inserts an object whose home is one of the map's.
  func insertNew(_ object: NSManagedObject) {
    guard let table = object.home.table else { preconditionFailure("An object outside was to be inserted.") }
    lock.withLock { _ in _ = table.pointee.insert(object.key, IdentityMap.payload(of: object)) }
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

  /// Removes an object that is being deallocated: what `remove` does, without looking its table up and
  /// without retaining anything.
  @inline(__always)
  func removeDeallocated(_ object: NSManagedObject, _ home: ObjectHome) {
    guard let table = home.table else { return }
    let isNoted: Bool = lock.withLock { _ in
      let removed: UInt64? = table.pointee.remove(object.key, ifPayload: IdentityMap.payload(of: object))
      if removed == nil { return false }
      if !newerRows.isEmpty { removeNewerRow(of: object) }
      return observesRegistration
    }
    if isNoted, let store = object.store, store.observesRegistration {
      registrations.add(object, in: store, isRegistered: false)
    }
  }

  @inline(never)
  private func removeNewerRow(of object: NSManagedObject) {
    let root: Int = object.runtime.layout.rootIndex
    newerRows[Place(ordinal: object.store?.ordinal ?? 0, root: root, key: object.key)] = nil
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
      let ordinal: Int = store.ordinal
      let observes: Bool = store.observesRegistration
      for (place, object) in objects.enumerated() where object.home.store == nil {
        let root: Int = object.home.facts.pointee.rootIndex
        prepare(0, root)
        prepare(ordinal, root)
        tables[0][root].pointee.remove(object.key)
        if object.home.identityMap === self {
          object.move(to: store, in: self, tables[ordinal][root])
        } else {
          object.store = store
        }
        object.key = keys[place]
        if object.cachedID != nil { object.cachedID = nil }
        tables[ordinal][root].pointee.insert(object.key, IdentityMap.payload(of: object))
        if observes {
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
        let isHere: Bool = object.home.identityMap === self
        let isKnown: Bool = tables[old.ordinal][root].pointee.remove(object.key, ifPayload: payload) != nil
        if isHere { object.move(to: new, in: self, tables[new.ordinal][root]) } else { object.store = new }
        if let keys { object.key = keys[place] }
        object.cachedID = nil
        object.faultBatch = nil
        if isKnown { _ = tables[new.ordinal][root].pointee.insert(object.key, payload) }
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

  /// Whether there are objects of a hierarchy.
  func hasObjects(store ordinal: Int, root: Int) -> Bool {
    withTable(store: ordinal, root: root) { $0.count > 0 }
  }

  /// Whether there is an object of one of these keys.
  func hasObjects(store ordinal: Int, root: Int, among keys: [Int64]) -> Bool {
    withTable(store: ordinal, root: root) { table in
      table.count > 0 && keys.contains { table.find($0) != nil }
    }
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
          table.pointee.forEach { _, payload in
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

  /// Runs `body` with the object of a key, if there is one, without retaining it. Its deinitialiser may have
  /// begun on another thread: it is waiting for the lock then, and releases what `body` gives the object.
  ///
  /// Call it only inside `withTable`.
  @inline(__always)
  static func withUnretained<Result>(
    _ key: Int64, in table: Int64HashMap, _ body: (NSManagedObject) -> Result
  ) -> Result? {
    guard let payload = table.find(key), let pointer = UnsafeMutableRawPointer(bitPattern: UInt(payload))
    else { return nil }
    return Unmanaged<NSManagedObject>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
  }

  private static func retained(_ payload: UInt64) -> NSManagedObject? {
    guard let pointer = UnsafeMutableRawPointer(bitPattern: UInt(payload)),
      let alive = swift_tryRetain(pointer)
    else { return nil }
    return Unmanaged<NSManagedObject>.fromOpaque(alive).takeRetainedValue()
  }
}
