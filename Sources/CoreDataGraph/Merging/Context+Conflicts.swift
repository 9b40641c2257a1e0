import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A store has refused a save, perhaps for a reason that a merge policy can resolve.
struct SaveRefusal: Error, @unchecked Sendable {
  // Sendable: thrown and caught within one save, on the context's queue.
  let error: any Error
  let store: NSPersistentStore
  let part: StoreChanges
  /// What the stores before it have already saved.
  let saved: [StoreChanges]

  func error(in context: NSManagedObjectContext) -> any Error {
    SaveErrors.error(for: error, store: store, context: context)
  }
}

extension NSManagedObjectContext {
  /// How often a save is tried again: each attempt finds what others have saved since the one before.
  static let mostSaveTries: Int = 100

  /// Creates conflicts from a store's refusal and lets the policy resolve them.
  ///
  /// - Throws: what the policy throws, or the refusal as an error if a policy can't resolve it.
  final func resolve(_ refusal: SaveRefusal) throws {
    let conflicts: [Any]
    switch refusal.error as? StoreError {
    case .conflicts(let rows): conflicts = lockingConflicts(rows, refusal.store)
    case .uniqueness:
      conflicts = try PersistedValueReading.run {
        try UniquenessSearch(refusal.part, context: self).conflicts()
      }
    default: conflicts = []
    }
    guard !conflicts.isEmpty, let policy = mergePolicy as? NSMergePolicy else {
      throw refusal.error(in: self)
    }
    let locking: [NSMergeConflict] = conflicts.compactMap { $0 as? NSMergeConflict }
    let objects: [NSManagedObject] = locking.map(\.sourceObject)
    let related: [NSManagedObject] = relatives(of: objects)
    try policy.resolve(mergeConflicts: conflicts)
    try finishMerging(objects, related: related)
    endEvent()
  }

  private func lockingConflicts(_ rows: [RowConflict], _ store: NSPersistentStore) -> [NSMergeConflict] {
    rows.compactMap { conflict in
      let root: Int = store.runtime.entities[Int(conflict.id.entity)].layout.rootIndex
      guard let object = identityMap.object(store: store.ordinal, root: root, key: conflict.id.key) else {
        return nil
      }
      guard let read = object.row else {
        // Only its id was known, and no row exists.
        return NSMergeConflict(
          source: object, expectedVersion: 0, cached: nil, persisted: nil, new: conflict.stored)
      }
      if store.rowFreshness == .alwaysInMemory {
        // The store is its own cache, and nothing else writes to it.
        return NSMergeConflict(
          source: object, expectedVersion: conflict.expectedVersion, cached: conflict.stored ?? read,
          persisted: nil, new: conflict.stored)
      }
      let cached: RowRef? = store.keptRow(root: root, key: conflict.id.key, age: nil)
      if let cached, let stored = conflict.stored, cached.version &- read.version > 0 {
        // Another context of this coordinator has changed it. If another process has changed it as well, the
        // next attempt finds that. If not, the stored row is preferable: it contains what the store computes.
        return NSMergeConflict(
          source: object, expectedVersion: conflict.expectedVersion, cached: cached, persisted: nil,
          new: stored.version == cached.version ? stored : cached)
      }
      // The cache gets the newer row, so that other contexts find it.
      store.replaceKeptRows(
        root: root, changed: [conflict.id.key], by: conflict.stored.map { [$0.slab] } ?? [])
      return NSMergeConflict(
        source: object, expectedVersion: conflict.expectedVersion, cached: read, persisted: conflict.stored,
        new: conflict.stored)
    }
  }

  final func checkLock(of object: NSManagedObject) {
    requireQueue("detectConflicts(for:) was called")
    guard object.identityMap === identityMap, object.store != nil else { return }
    object.fireFault()
    work.checkLock(of: object)
  }
}

/// Finds all objects of a save that violate uniqueness constraints, each with its constraint.
struct UniquenessSearch {
  private let part: StoreChanges
  private let context: NSManagedObjectContext

  init(_ part: StoreChanges, context: NSManagedObjectContext) {
    self.part = part
    self.context = context
  }

  /// The constraint's values of one object.
  private struct Key: Hashable {
    let values: [PredicateValue]
  }

  func conflicts() throws -> [NSConstraintConflict] {
    var result: [NSConstraintConflict] = []
    for runtime in part.store.runtime.entities {
      for names in runtime.layout.entity.uniquenessConstraintNames {
        result += try conflicts(of: runtime, names)
      }
    }
    return result
  }

  private func conflicts(of runtime: EntityRuntime, _ names: [String]) throws -> [NSConstraintConflict] {
    let slots: [Int] = names.compactMap { runtime.layout.slotByName[$0] }
    guard slots.count == names.count else { return [] }
    var groups: [Key: [NSManagedObject]] = [:]
    var order: [Key] = []
    for object in part.inserted + part.updated where runtime.layout.family.contains(object.runtime.index) {
      guard let key = key(of: object, slots) else { continue }
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(object)
    }
    let stored: [Key: NSManagedObject] = try storedObjects(runtime, names, slots, keys: order)
    return order.compactMap { key in
      let objects: [NSManagedObject] = groups[key] ?? []
      let database: NSManagedObject? = stored[key].flatMap { found in
        objects.contains { $0 === found } ? nil : found
      }
      guard objects.count > 1 || database != nil else { return nil }
      return NSConstraintConflict(
        constraint: names, database: database, databaseSnapshot: database?.currentSnapshot(),
        conflicting: objects, conflictingSnapshots: objects.map { $0.currentSnapshot() })
    }
  }

  /// nil if a value is nil: that conflicts with nothing.
  private func key(of object: NSManagedObject, _ slots: [Int]) -> Key? {
    var values: [PredicateValue] = []
    for slot in slots {
      let value = PredicateValue(normalizing: object.objectValue(slot))
      if value.isNull { return nil }
      values.append(value)
    }
    return Key(values: values)
  }

  /// The objects of rows that have the keys' values and keep them: rows that the save changes or deletes do
  /// not count.
  private func storedObjects(
    _ runtime: EntityRuntime, _ names: [String], _ slots: [Int], keys: [Key]
  ) throws -> [Key: NSManagedObject] {
    var result: [Key: NSManagedObject] = [:]
    var start: Int = 0
    while start < keys.count {
      let some: ArraySlice<Key> = keys[start..<min(keys.count, start + 200)]
      start += 200
      let tests: [PredicateNode] = some.map { key in
        .compound(
          .and,
          zip(names, key.values).map { name, value in
            .comparison(
              ComparisonNode(left: .keyPath(name), right: .constant(reference(value)), comparison: .equalTo))
          })
      }
      var plan = FetchPlan(entity: runtime.layout)
      plan.predicate = .compound(.or, tests)
      for object in context.objects(
        for: try part.store.pinnedOperations(for: StoreCaller(context)).fetch(plan), store: part.store)
      where !object.isDeleted {
        if let key = key(of: object, slots), keys.contains(key) { result[key] = object }
      }
    }
    return result
  }

  /// An object in the form that a store uses.
  private func reference(_ value: PredicateValue) -> PredicateValue {
    guard case .object(let box) = value, let object = box.value as? NSManagedObject else { return value }
    let id: RowID? =
      object.store === part.store ? RowID(entity: object.runtime.index, key: object.key) : nil
    return .object(ObjectBox(ObjectReference(id: id)))
  }
}
