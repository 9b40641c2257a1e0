import CoreDataModel
import CoreDataStorage
import Foundation

// The calls of contexts to one store: to the state that the context is pinned to, or to the latest state.

extension NSPersistentStore {
  /// The operations for a context: on the state that it is pinned to, otherwise on the latest state.
  final func pinnedOperations(for caller: StoreCaller) throws -> any StoreOperations {
    try caller.context.snapshot(of: self) ?? operations(for: caller)
  }

  /// The rows with these keys, not from the row cache.
  final func rows(of layout: EntityLayout, keys: [Int64], for context: NSManagedObjectContext) throws
    -> RowBatch
  {
    try context.tally.counting {
      try pinnedOperations(for: StoreCaller(context)).rows(of: layout, keys: keys)
    }
  }

  /// The cached row for a key, if it is not too old for the context; nil for a context that is pinned to an
  /// earlier state.
  final func cachedRow(of layout: EntityLayout, key: Int64, for context: NSManagedObjectContext) throws
    -> RowRef?
  {
    guard try context.snapshot(of: self) == nil else { return nil }
    return keptRow(root: layout.rootIndex, key: key, age: context.stalenessInterval)
  }

  /// Removes rows from the row cache that others than this coordinator's contexts have changed.
  final func removeCachedRows(of layout: EntityLayout, keys: [Int64]) {
    noteChanges()
    replaceKeptRows(root: layout.rootIndex, changed: keys, by: [])
  }

  /// Executes a plan; then the row cache gets the new rows, and contexts with objects of changed rows keep
  /// them too.
  final func execute(_ plan: consuming SavePlan, for caller: StoreCaller) throws {
    // Released after the lock: one of these references may be the last one to a context, which then
    // deallocates objects of the program's classes.
    var others: [NSManagedObjectContext] = []
    defer { withExtendedLifetime(others) {} }
    try beginSave()
    defer { endSave() }
    // Another store may have replaced this one while the save waited.
    if persistentStoreCoordinator == nil { throw StoreError.closed }
    let outcome: SaveOutcome = try operations(for: caller).save(plan)
    issuedKeys?.remove(outcome.written.inserts)
    noteChanges()
    if rowFreshness == .alwaysInMemory { return }
    others = persistentStoreCoordinator?.contexts.all.filter { $0 !== caller.context } ?? []
    for (root, rows) in SavedRows(outcome, runtime.layout).byRoot {
      replaceKeptRows(root: root, changed: rows.changed, by: rows.slabs)
      for other in others { other.identityMap.keep(rows.newerRows, store: ordinal, root: root) }
    }
  }
}
