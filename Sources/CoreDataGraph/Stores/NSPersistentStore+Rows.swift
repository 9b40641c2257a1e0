import CoreDataModel
import CoreDataStorage
import Foundation

// What contexts ask of one store: of the state that the context is pinned to, or of the store as it is now.

extension NSPersistentStore {
  /// The operations for a context: of the state that it is pinned to, else of the store as it is now.
  final func pinnedOperations(for asker: StoreAsker) throws -> any StoreOperations {
    try asker.context.snapshot(of: self) ?? operations(for: asker)
  }

  /// The rows with these keys, not from what is kept.
  final func rows(of layout: EntityLayout, keys: [Int64], for context: NSManagedObjectContext) throws
    -> RowBatch
  {
    try pinnedOperations(for: StoreAsker(context)).rows(of: layout, keys: keys)
  }

  /// The row that is kept for a key, if it is not too old for the context; none for a context that is pinned
  /// to an earlier state.
  final func cachedRow(of layout: EntityLayout, key: Int64, for context: NSManagedObjectContext) throws
    -> RowRef?
  {
    guard try context.snapshot(of: self) == nil else { return nil }
    return keptRow(root: layout.rootIndex, key: key, age: context.stalenessInterval)
  }

  /// Forgets rows that others than this coordinator's contexts have changed.
  final func forgetRows(of layout: EntityLayout, keys: [Int64]) {
    replaceKeptRows(root: layout.rootIndex, changed: keys, by: [])
  }

  /// Executes a plan; what is kept of rows, and contexts whose objects need what they have read, take
  /// the new ones.
  final func execute(_ plan: consuming SavePlan, for asker: StoreAsker) throws {
    // Released after the lock: the last reference to a context may be one of these, and objects of the
    // program's classes go with it.
    var others: [NSManagedObjectContext] = []
    defer { withExtendedLifetime(others) {} }
    saving.lock()
    defer { saving.unlock() }
    // Another store may have taken this one's place while the save waited.
    if persistentStoreCoordinator == nil { throw StoreError.closed }
    let outcome: SaveOutcome = try operations(for: asker).save(plan)
    if rowFreshness == .alwaysAtHand { return }
    others = persistentStoreCoordinator?.contexts.all.filter { $0 !== asker.context } ?? []
    for (root, rows) in SavedRows(outcome, runtime.layout).byRoot {
      replaceKeptRows(root: root, changed: rows.changed, by: rows.slabs)
      for other in others { other.identityMap.keep(rows.newerRows, store: ordinal, root: root) }
    }
  }
}
