import CoreDataGraph
import Foundation

/// The number of an object within its store: 16 bytes in place of an id and its object.
struct InstanceNumber: Hashable {
  /// The entity's number in the model for objects to find again; that of its hierarchy where objects are
  /// compared.
  let entity: Int32
  let key: Int64
}

/// Which destination objects were made from which source objects by one mapping. Objects are held by number,
/// so that the table of a million pairs takes tens of megabytes and no object stays in memory because of it.
struct InstanceTable {
  struct Pair {
    let source: InstanceNumber
    let destination: InstanceNumber
  }

  /// In the order of the associations.
  private(set) var pairs: [Pair] = []
  /// The places in `pairs` of a source object's first pair; further ones are in `more`.
  private var bySource: [InstanceNumber: Int32] = [:]
  private var byDestination: [InstanceNumber: Int32] = [:]
  private var moreBySource: [InstanceNumber: [Int32]] = [:]
  private var moreByDestination: [InstanceNumber: [Int32]] = [:]

  /// The keys for look-ups are those of the hierarchies: an object is the same whatever entity an id names.
  mutating func add(_ source: NSManagedObjectID, _ destination: NSManagedObjectID) {
    let place = Int32(pairs.count)
    pairs.append(Pair(source: source.instance, destination: destination.instance))
    if bySource[source.root] == nil {
      bySource[source.root] = place
    } else {
      moreBySource[source.root, default: []].append(place)
    }
    if byDestination[destination.root] == nil {
      byDestination[destination.root] = place
    } else {
      moreByDestination[destination.root, default: []].append(place)
    }
  }

  func destinations(of source: NSManagedObjectID) -> [InstanceNumber] {
    places(source.root, bySource, moreBySource).map { pairs[Int($0)].destination }
  }

  func sources(of destination: NSManagedObjectID) -> [InstanceNumber] {
    places(destination.root, byDestination, moreByDestination).map { pairs[Int($0)].source }
  }

  private func places(
    _ number: InstanceNumber, _ first: [InstanceNumber: Int32], _ more: [InstanceNumber: [Int32]]
  ) -> [Int32] {
    guard let place = first[number] else { return [] }
    return [place] + (more[number] ?? [])
  }
}

extension NSManagedObjectID {
  var instance: InstanceNumber { InstanceNumber(entity: Int32(numbers.entity), key: numbers.key) }
  var root: InstanceNumber { InstanceNumber(entity: Int32(numbers.root), key: numbers.key) }
}
