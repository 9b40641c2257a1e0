import CoreDataStorage

/// Merges unsaved changes into the result of a fetch, because the stores' results differ from the objects of
/// a context.
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

  /// Merges the pending objects for which `holds` is true into those that stores returned. Objects from a
  /// store keep their positions, which decide between objects that the order does not distinguish.
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
  /// The last stages of a fetch, if the stores could not do them: sorting, and selecting the wanted part of
  /// the result.
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
