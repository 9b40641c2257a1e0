import CoreDataGraph
import CoreDataModel
import Foundation

extension MigrationStack {
  func associate(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: String) {
    associations.add(source, destination, mapping)
  }

  func destinations(_ mapping: String, _ sources: [NSManagedObject]?) -> [NSManagedObject] {
    Self.unique(associations.destinations(mapping, of: sources, in: destination))
  }

  func sources(_ mapping: String, _ destinations: [NSManagedObject]?) -> [NSManagedObject] {
    Self.unique(associations.sources(mapping, of: destinations, in: source))
  }

  /// What the mappings of a relationship's destination entity, and of its sub-entities, made from objects.
  func destinations(ofRelationship name: String, _ sources: [NSManagedObject]) throws -> [NSManagedObject] {
    guard
      let target = currentMapping?.sourceEntityName.flatMap({ source.model.entitiesByName[$0] })?
        .relationshipsByName[name]?.destinationEntity
    else {
      throw MigrationFailure.function(
        "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
        "the entity '\(currentMapping?.sourceEntityName ?? "")' has no relationship '\(name)'")
    }
    let names: [String] = mappings.filter { $0.source?.isKindOf(entity: target) ?? false }.map(\.name)
    // In the order of the source objects, because the relationship may be ordered.
    return Self.unique(sources.flatMap { object in names.flatMap { destinations($0, [object]) } })
  }

  private static func unique(_ objects: [NSManagedObject]) -> [NSManagedObject] {
    if objects.count < 2 { return objects }
    var seen = Set<ObjectIdentifier>()
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}
