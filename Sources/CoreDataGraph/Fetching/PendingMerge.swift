import CoreDataStorage
import Foundation

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

  /// Merges the pending objects for which `holds` is true into those that stores returned in their order.
  /// Objects from a store keep their positions, which decide between objects that the order does not
  /// distinguish; new ones follow.
  ///
  /// - Parameters:
  ///   - position: the position of a pending object among those that the stores returned; nil if it is not
  ///     one of them.
  ///   - compare: compares a pending object with the one at a position, which is not pending. Called a
  ///     logarithmic number of times.
  static func merged(
    count: Int, with pending: [NSManagedObject], in order: PersistedValueOrder,
    position: (NSManagedObject) -> Int?, where holds: (NSManagedObject) throws -> Bool,
    compare: (NSManagedObject, Int) throws -> ComparisonResult
  ) throws -> [Member] {
    var seen: Set<ObjectIdentifier> = []
    var changed: Set<Int> = []
    var moving: [(object: NSManagedObject, place: Int)] = []
    for object in pending where seen.insert(ObjectIdentifier(object)).inserted {
      let place: Int? = position(object)
      if let place { changed.insert(place) }
      if try !object.isDeleted && holds(object) {
        moving.append((object, place ?? count + moving.count))
      }
    }
    if seen.isEmpty { return (0..<count).map { .stored($0) } }
    try moving.sort {
      switch try order.compare($0.object, $1.object) {
      case .orderedAscending: true
      case .orderedDescending: false
      case .orderedSame: $0.place < $1.place
      }
    }
    let kept: [Int] = changed.isEmpty ? Array(0..<count) : (0..<count).filter { !changed.contains($0) }
    var result: [Member] = []
    result.reserveCapacity(kept.count + moving.count)
    var next: Int = 0
    for (object, place) in moving {
      var (low, high): (Int, Int) = (next, kept.count)
      while low < high {
        let middle: Int = (low + high) / 2
        let isAfter: Bool =
          switch try compare(object, kept[middle]) {
          case .orderedAscending: false
          case .orderedDescending: true
          case .orderedSame: kept[middle] < place
          }
        if isAfter { low = middle + 1 } else { high = middle }
      }
      result += kept[next..<low].map { .stored($0) }
      result.append(.pending(object))
      next = low
    }
    return result + kept[next...].map { .stored($0) }
  }

  /// One member of a merged result.
  enum Member {
    /// Its position in what the stores returned.
    case stored(Int)
    case pending(NSManagedObject)
  }

  /// The same for objects.
  static func merged(
    _ stored: [NSManagedObject], with pending: [NSManagedObject], in order: PersistedValueOrder,
    where holds: (NSManagedObject) throws -> Bool
  ) throws -> [NSManagedObject] {
    if pending.isEmpty { return stored }
    let wanted = Set(pending.map { ObjectIdentifier($0) })
    var places: [ObjectIdentifier: Int] = [:]
    for (place, object) in stored.enumerated() where wanted.contains(ObjectIdentifier(object)) {
      places[ObjectIdentifier(object)] = place
    }
    return try merged(
      count: stored.count, with: pending, in: order, position: { places[ObjectIdentifier($0)] }, where: holds,
      compare: { try order.compare($0, stored[$1]) }
    ).map { member in
      switch member {
      case .stored(let place): stored[place]
      case .pending(let object): object
      }
    }
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
