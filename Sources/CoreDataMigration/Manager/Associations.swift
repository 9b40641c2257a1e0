import CoreDataGraph
import Foundation

/// Which destination objects were made from which source objects.
struct Associations {
  /// By the name of the mapping.
  private var tables: [String: InstanceTable] = [:]
  /// The pairs of the present page: new objects have no number before they are saved.
  private var page = PageAssociations()

  mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: String) {
    page.add(source, destination, mapping)
  }

  /// An object of the page that has left its context unsaved.
  var droppedObject: NSManagedObject? {
    page.byMapping.values.lazy.flatMap(\.self).map(\.destination).first {
      $0.managedObjectContext == nil && $0.objectID.isTemporaryID
    }
  }

  /// The objects of the page have been saved: they are held by number from now on.
  mutating func endPage() {
    for (mapping, pairs) in page.byMapping {
      for pair in pairs {
        tables[mapping, default: InstanceTable()].add(pair.source.objectID, pair.destination.objectID)
      }
    }
    page = PageAssociations()
  }

  /// The saved pairs of a mapping.
  func pairs(of mapping: String) -> [InstanceTable.Pair] { tables[mapping]?.pairs ?? [] }

  /// From all source objects for nil.
  func destinations(_ mapping: String, of sources: [NSManagedObject]?, in side: MigrationSide)
    -> [NSManagedObject]
  {
    guard let sources else {
      return pairs(of: mapping).map { side.object($0.destination) }
        + (page.byMapping[mapping] ?? []).map(\.destination)
    }
    let table: InstanceTable? = tables[mapping]
    return sources.flatMap { object in
      (table?.destinations(of: object.objectID).map(side.object) ?? [])
        + page.destinations(mapping, of: object)
    }
  }

  /// Of all destination objects for nil.
  func sources(_ mapping: String, of destinations: [NSManagedObject]?, in side: MigrationSide)
    -> [NSManagedObject]
  {
    guard let destinations else {
      return pairs(of: mapping).map { side.object($0.source) }
        + (page.byMapping[mapping] ?? []).map(\.source)
    }
    let table: InstanceTable? = tables[mapping]
    return destinations.flatMap { object in
      (table?.sources(of: object.objectID).map(side.object) ?? []) + page.sources(mapping, of: object)
    }
  }
}

extension MigrationSide {
  func object(_ number: InstanceNumber) -> NSManagedObject {
    context.object(with: store.objectID(entity: Int(number.entity), key: number.key))
  }
}

/// The associations of objects that are not saved yet.
private struct PageAssociations {
  struct Pair {
    let source: NSManagedObject
    let destination: NSManagedObject
  }

  private(set) var byMapping: [String: [Pair]] = [:]
  private var bySource: [String: [ObjectIdentifier: [NSManagedObject]]] = [:]
  private var byDestination: [String: [ObjectIdentifier: [NSManagedObject]]] = [:]

  mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: String) {
    byMapping[mapping, default: []].append(Pair(source: source, destination: destination))
    bySource[mapping, default: [:]][ObjectIdentifier(source), default: []].append(destination)
    byDestination[mapping, default: [:]][ObjectIdentifier(destination), default: []].append(source)
  }

  func destinations(_ mapping: String, of source: NSManagedObject) -> [NSManagedObject] {
    bySource[mapping]?[ObjectIdentifier(source)] ?? []
  }

  func sources(_ mapping: String, of destination: NSManagedObject) -> [NSManagedObject] {
    byDestination[mapping]?[ObjectIdentifier(destination)] ?? []
  }
}
