import CoreDataStorage

/// The permanent ids that replaced temporary keys by which other contexts may still refer to objects
/// (Decisions/0019).
///
///     known       temporary key → id, of objects of this context. Filled if there are children that may use the
///                 key, or if a parent has just returned an object by it; kept as long as the context
///     announced   the same, from a context above; kept until this context has changed its own objects
final class PermanentIDs: @unchecked Sendable {
  // Sendable: `known` is used on the context's queue; `announced` has a lock.

  private var known: [Int64: NSManagedObjectID] = [:]
  private let announced = Guarded<[Int64: NSManagedObjectID]>([:])

  subscript(key: Int64) -> NSManagedObjectID? { known[key] }

  func record(_ ids: [Int64: NSManagedObjectID]) { known.merge(ids) { _, new in new } }

  /// Called on any thread. Returns whether nothing was waiting to be applied: then the context's queue must
  /// be notified.
  func announce(_ ids: [Int64: NSManagedObjectID]) -> Bool {
    announced.withLock { waiting in
      defer { waiting.merge(ids) { _, new in new } }
      return waiting.isEmpty
    }
  }

  /// Removes and returns what was announced.
  func removeAnnounced() -> [Int64: NSManagedObjectID] {
    announced.withLock { waiting in
      if waiting.isEmpty { return [:] }
      defer { waiting = [:] }
      return waiting
    }
  }

  /// Called after a store has been replaced: its ids have changed.
  func replace(_ replacement: (NSManagedObjectID) -> NSManagedObjectID) {
    known = known.mapValues(replacement)
    announced.withLock { $0 = $0.mapValues(replacement) }
  }
}
