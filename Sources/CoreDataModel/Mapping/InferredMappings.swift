import CoreDataPredicates
import Foundation

/// Writes the mappings of a difference that can be inferred, under the names that Apple's inference gives
/// them: `IEM_Add_X`, `IEM_Remove_X`, `IEM_Copy_X`, `IEM_Transform_X`.
///
/// Entities that are abstract in the source or the destination have no mapping: no object is made from or to
/// them. The user info of a mapping tells the names of its properties, under the keys of Apple's.
struct InferredMappings {
  private let difference: ModelDifference

  init(_ difference: ModelDifference) {
    self.difference = difference
  }

  func entityMappings() -> [NSEntityMapping] {
    difference.entities.compactMap(mapping)
  }

  private func mapping(of entity: EntityDifference) -> NSEntityMapping? {
    // An abstract entity has no objects; what was abstract and is concrete now has none yet.
    let old: NSEntityDescription? = entity.source.flatMap { $0.isAbstract ? nil : $0 }
    let new: NSEntityDescription? = entity.destination.flatMap { $0.isAbstract ? nil : $0 }
    if old == nil && new == nil { return nil }
    let mapping = NSEntityMapping()
    mapping.sourceEntityName = old?.name
    mapping.sourceEntityVersionHash = old?.versionHash
    mapping.destinationEntityName = new?.name
    mapping.destinationEntityVersionHash = new?.versionHash
    switch (old, new) {
    case (nil, let new?):
      mapping.name = "IEM_Add_\(new.name ?? "")"
      mapping.mappingType = .addEntityMappingType
      mapping.attributeMappings = new.properties.compactMap { unmapped($0 as? NSAttributeDescription) }
      mapping.relationshipMappings = new.properties.compactMap { unmapped($0 as? NSRelationshipDescription) }
    case (let old?, nil):
      mapping.name = NSEntityMapping.inferredRemoval + (old.name ?? "")
      mapping.mappingType = .removeEntityMappingType
    default:
      mapping.userInfo = names(of: entity)
      // Properties that exchange their names leave the hash as it was.
      let isChanged: Bool =
        entity.changesVersionHash
        || entity.properties.contains { $0.source?.name != $0.destination?.name && $0.storedSource != nil }
      mapping.name = "IEM_\(isChanged ? "Transform" : "Copy")_\(new?.name ?? "")"
      mapping.mappingType = isChanged ? .transformEntityMappingType : .copyEntityMappingType
      mapping.attributeMappings = entity.properties.flatMap(attributeMappings)
      mapping.relationshipMappings = entity.properties.compactMap(relationshipMapping)
      mapping.sourceExpression = MappingExpressions.objects(of: old?.name ?? "")
    }
    return mapping
  }

  /// The stored properties that are mapped, and added, by their names in the destination; and removed ones.
  private func names(of entity: EntityDifference) -> [AnyHashable: Any] {
    var names: [String: Set<String>] = [
      "mappedProperties": [], "addedProperties": [], "removedProperties": [],
    ]
    for property in entity.properties {
      let old: NSPropertyDescription? = property.source.flatMap { PropertyDifference.isStored($0) ? $0 : nil }
      let new: NSPropertyDescription? = property.destination.flatMap {
        PropertyDifference.isStored($0) ? $0 : nil
      }
      switch (old, new) {
      case (_?, let new?): names["mappedProperties"]?.insert(new.name)
      case (nil, let new?): names["addedProperties"]?.insert(new.name)
      case (let old?, nil): names["removedProperties"]?.insert(old.name)
      case (nil, nil): break
      }
    }
    return names
  }

  private func unmapped(_ property: NSPropertyDescription?) -> NSPropertyMapping? {
    guard let property, PropertyDifference.isStored(property), !(property is NSDerivedAttributeDescription)
    else { return nil }
    return make(property.name, nil)
  }

  private func make(
    _ name: String, _ expression: CoreDataPredicates.NSExpression?, isExact: Bool = false
  ) -> NSPropertyMapping {
    let mapping = NSPropertyMapping()
    if isExact { mapping.userInfo = [NSPropertyMapping.exactKey: "YES"] }
    mapping.name = name
    mapping.valueExpression = expression
    return mapping
  }

  private func attributeMappings(_ property: PropertyDifference) -> [NSPropertyMapping] {
    guard let new = property.destination as? NSAttributeDescription, unmapped(new) != nil else { return [] }
    guard let old = property.storedSource as? NSAttributeDescription else { return [make(new.name, nil)] }
    return mappings(of: new, new.name, from: old, old.name, property.elements)
  }

  /// One mapping; for a composite attribute whose elements have changed one for each element, by its path.
  private func mappings(
    of new: NSAttributeDescription, _ name: String, from old: NSAttributeDescription, _ path: String,
    _ elements: [ElementDifference]
  ) -> [NSPropertyMapping] {
    if new is NSCompositeAttributeDescription, old is NSCompositeAttributeDescription,
      VersionHash.property(new) != VersionHash.property(old) || !elements.allSatisfy(\.keepsNames)
    {
      return elements.flatMap { element -> [NSPropertyMapping] in
        guard let destination = element.destination, let source = element.source else { return [] }
        return mappings(
          of: destination, "\(name).\(destination.name)", from: source, "\(path).\(source.name)",
          element.elements)
      }
    }
    let isExact: Bool = new.attributeType.holdsSomeValues(of: old.attributeType)
    if old.isOptional, !new.isOptional, let value = new.defaultValue {
      return [make(name, MappingExpressions.value(path, orElse: value), isExact: isExact)]
    }
    return [make(name, MappingExpressions.value(path), isExact: isExact)]
  }

  private func relationshipMapping(_ property: PropertyDifference) -> NSPropertyMapping? {
    guard let new = property.destination as? NSRelationshipDescription, unmapped(new) != nil else {
      return nil
    }
    return make(new.name, (property.storedSource?.name).map { MappingExpressions.destinations(of: $0) })
  }
}

extension NSEntityMapping {
  fileprivate static let inferredRemoval: String = "IEM_Remove_"

  /// Whether the mapping was inferred, and makes nothing of the objects of its source. The name tells it in
  /// files too.
  package final var isInferredRemoval: Bool {
    mappingType == .removeEntityMappingType && (name ?? "").hasPrefix(Self.inferredRemoval)
  }
}
