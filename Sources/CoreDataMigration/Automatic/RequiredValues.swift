import CoreDataModel
import CoreDataPredicates
import Foundation

/// What the destination requires and a mapping model of the program's gives no value: the objects that are
/// made would not be valid.
struct RequiredValues {
  struct Gap {
    let mapping: NSEntityMapping
    /// The entity and the property, of the destination.
    let entity: String
    let property: String
    let isRelationship: Bool

    /// `objects`: the number of those that are migrated, if it is known.
    func problem(objects: Int?) -> String {
      let source: String = mapping.sourceEntityName ?? entity
      let these: String =
        objects.map { "\($0) \($0 == 1 ? "object" : "objects") of \(source)" } ?? "objects of \(source)"
      return
        "\(sentence), so that \(these) can't be migrated. Give it a value expression in the mapping model, "
        + "\(isRelationship ? "make it optional" : "a default value in the new model"), or name a policy that sets it."
    }

    func warning(policy: String) -> String { "\(sentence): the policy \(policy) has to set it." }

    private var sentence: String {
      "\(entity).\(property) is required\(isRelationship ? "" : " and has no default value"), and the entity mapping "
        + "'\(mapping.name ?? "")' gives it no value"
    }
  }

  /// Of an inferred step there are none: inference refuses what has no value, or the plan has a condition.
  static func gaps(in step: MigrationStep) -> [Gap] {
    if step.isInferred { return [] }
    return (step.mapping.entityMappings ?? []).flatMap { mapping -> [Gap] in
      guard mapping.mappingType != .removeEntityMappingType, mapping.sourceEntityName != nil,
        let entity = mapping.destinationEntityName.flatMap({ step.destination.entitiesByName[$0] })
      else { return [] }
      return entity.propertiesByName.sorted { $0.key < $1.key }.compactMap { name, property in
        guard isRequired(property), !hasValue(property, mapping, in: step) else { return nil }
        return Gap(
          mapping: mapping, entity: entity.name ?? "", property: name,
          isRelationship: property is NSRelationshipDescription)
      }
    }
  }

  /// Whether an object must be given a value.
  static func isRequired(_ property: NSPropertyDescription) -> Bool {
    if property.isOptional || property.isTransient || property is NSDerivedAttributeDescription {
      return false
    }
    switch property {
    // Its elements may have default values.
    case is NSCompositeAttributeDescription: return false
    case let attribute as NSAttributeDescription: return attribute.defaultValue == nil
    case let relationship as NSRelationshipDescription: return !MemberCounts(of: relationship).mayBeEmpty
    default: return false
    }
  }

  private static func hasValue(
    _ property: NSPropertyDescription, _ mapping: NSEntityMapping, in step: MigrationStep
  ) -> Bool {
    guard let relationship = property as? NSRelationshipDescription else {
      return gives(mapping.attributeMappings, property.name)
    }
    if gives(mapping.relationshipMappings, relationship.name) { return true }
    // Setting one side sets the other one. Other entities may have relationships of the same name.
    guard let inverse = relationship.inverseRelationship?.name, let owner = relationship.destinationEntity
    else { return false }
    return (step.mapping.entityMappings ?? []).contains { mapping in
      let entity = mapping.destinationEntityName.flatMap { step.destination.entitiesByName[$0] }
      return entity?.isKindOf(entity: owner) == true && gives(mapping.relationshipMappings, inverse)
    }
  }

  private static func gives(_ mappings: [NSPropertyMapping]?, _ name: String) -> Bool {
    (mappings ?? []).contains { mapping in
      guard mapping.name == name, let expression = mapping.valueExpression else { return false }
      return expression.expressionType != .constantValue
        || !(expression.constantValue == nil || expression.constantValue is NSNull)
    }
  }
}
