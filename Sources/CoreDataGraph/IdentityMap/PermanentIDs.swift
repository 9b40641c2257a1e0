import CoreDataStorage

/// The permanent ids that objects have got in place of the temporary keys by which other contexts may still
/// know them (Decisions/0019).
///
///     known       temporary key → id, of objects of this context. Filled where there are children that
///                 may ask by the key, or a parent that has answered with it just before; as long as the context
///     announced   the same, from a context above. Until this one has renamed its own objects
final class PermanentIDs: @unchecked Sendable {
  // Sendable: `known` is used on the context's queue; `announced` has a lock.

  private var known: [Int64: NSManagedObjectID] = [:]
  private let announced = Guarded<[Int64: NSManagedObjectID]>([:])

  subscript(key: Int64) -> NSManagedObjectID? { known[key] }

  func record(_ ids: [Int64: NSManagedObjectID]) { known.merge(ids) { _, new in new } }

  /// From any thread. Returns whether nothing was waiting to be applied: then the context's queue is to be
  /// told.
  func announce(_ ids: [Int64: NSManagedObjectID]) -> Bool {
    announced.withLock { waiting in
      defer { waiting.merge(ids) { _, new in new } }
      return waiting.isEmpty
    }
  }

  /// Hands over what was announced.
  func removeAnnounced() -> [Int64: NSManagedObjectID] {
    announced.withLock { waiting in
      if waiting.isEmpty { return [:] }
      defer { waiting = [:] }
      return waiting
    }
  }

  /// A store has been replaced: its ids are others now.
  func replace(_ replacement: (NSManagedObjectID) -> NSManagedObjectID) {
    known = known.mapValues(replacement)
    announced.withLock { $0 = $0.mapValues(replacement) }
  }
}
