import CoreDataStorage

/// Unsaved changes and the result of a fetch: what stores gave is not what a context holds.
///
///     stored   a  b  c  d        in their order
///     pending  b′ e′ c†          b and e match now, c is deleted
///     merged   a  b  d  e
enum PendingMerge {
  /// Those of a context's changed objects that can change the result of a fetch of these entities.
  static func concerned(
    inserted: [NSManagedObject], updated: [NSManagedObject], deleted: [NSManagedObject],
    entities: ClosedRange<Int>
  ) -> [NSManagedObject] {
    if inserted.isEmpty, updated.isEmpty, deleted.isEmpty { return [] }
    return (inserted + updated + deleted).filter { $0.hasChanges && entities.contains($0.runtime.index) }
  }

  /// Lays the pending objects for which `holds` over those that stores gave. Those that a store gave keep
  /// their places, which decide between objects that the order leaves equal.
  static func merged(
    _ stored: [NSManagedObject], with pending: [NSManagedObject],
    where holds: (NSManagedObject) throws -> Bool
  ) rethrows -> [NSManagedObject] {
    if pending.isEmpty { return stored }
    var changed: Set<ObjectIdentifier> = []
    var matches: [NSManagedObject] = []
    for object in pending where changed.insert(ObjectIdentifier(object)).inserted {
      if object.isDeleted { continue }
      if try holds(object) { matches.append(object) }
    }
    var found: Set<ObjectIdentifier> = Set(matches.map(ObjectIdentifier.init))
    let kept: [NSManagedObject] = stored.filter {
      let id = ObjectIdentifier($0)
      return !changed.contains(id) || found.remove(id) != nil
    }
    return kept + matches.filter { found.contains(ObjectIdentifier($0)) }
  }
}

extension FetchParameters {
  /// The last stages of a fetch, where stores could not do them: order, and which part of the
  /// result is wanted.
  func sorted(_ objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObject] {
    if sortDescriptors.isEmpty { return objects }
    let order = PersistedValueOrder(sortDescriptors, in: context)
    return try objects.sorted { try order.compare($0, $1) == .orderedAscending }
  }

  func page<Element>(of objects: [Element]) -> [Element] {
    let rest: ArraySlice<Element> = objects.dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }
}
