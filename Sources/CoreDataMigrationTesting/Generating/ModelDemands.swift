import CoreData

/// What later versions of a model ask of the objects of a version, so that a migration by inference suffices.
struct ModelDemands {
  /// What is asked of one property.
  struct Property {
    /// Whether every object must have a value, or an object at the other end.
    var isRequired: Bool = false
    /// Whether no two objects may have the same value.
    var isUnique: Bool = false
    /// The numbers of objects at the other end of a relationship that all versions allow.
    var counts: ClosedRange<Int> = 0...Int.max
    /// The validation predicates of the later versions.
    var predicates: [NSPredicate] = []
  }

  /// By entity and property: `Person.name`.
  private var properties: [String: Property] = [:]
  /// The entities of which there may be no objects: they become abstract, or get a required relationship to
  /// objects that are not related to them yet.
  private(set) var emptyEntities: Set<String> = []

  init(of model: NSManagedObjectModel, in others: [NSManagedObjectModel]) {
    for other in others {
      let inference = MappingInference(from: model, to: other)
      for entity in inference.difference.entities {
        guard let old = entity.source, let new = entity.destination else { continue }
        addValidation(of: entity, old)
        for condition in inference.conditions {
          guard let owner = other.entitiesByName[condition.entity], new.isKindOf(entity: owner) else {
            continue
          }
          add(condition.kind, entity, old, isOwner: owner === new, inference.difference)
        }
      }
    }
  }

  func of(_ entity: NSEntityDescription, _ property: String) -> Property {
    properties["\(entity.name ?? "").\(property)"] ?? Property()
  }

  private mutating func addValidation(of entity: EntityDifference, _ old: NSEntityDescription) {
    for property in entity.properties {
      guard let source = property.storedSource, let new = property.destination,
        !new.validationPredicates.isEmpty
      else { continue }
      let known = Set(source.validationPredicates.map(\.description))
      let added: [NSPredicate] = new.validationPredicates.filter { !known.contains($0.description) }
      if !added.isEmpty { change(old, source.name) { $0.predicates += added } }
    }
  }

  private mutating func add(
    _ kind: MappingInference.Condition.Kind, _ entity: EntityDifference, _ old: NSEntityDescription,
    isOwner: Bool, _ difference: ModelDifference
  ) {
    func source(_ name: String) -> String? {
      entity.properties.first { $0.destination?.name == name }?.storedSource?.name
    }
    switch kind {
    case .hasValue(let property):
      if let name = source(property) {
        change(old, name) { $0.isRequired = true }
      } else if let (owner, inverse) = Self.formerInverse(of: property, entity, difference) {
        // A new side of a known relationship: each object must be at its other end.
        properties["\(owner).\(inverse)", default: Property()].isRequired = true
      } else {
        // Nothing that an object of this version has could become the value.
        emptyEntities.insert(old.name ?? "")
      }
    case .isUnique(let names):
      for name in names.compactMap(source) { change(old, name) { $0.isUnique = true } }
    case .hasCount(let relationship, let range, let orNone):
      guard let name = source(relationship) else {
        // How many a new side gets depends on all objects of the other one.
        if !orNone { emptyEntities.insert(old.name ?? "") }
        return
      }
      change(old, name) { property in
        if !orNone { property.isRequired = true }
        let (least, most) = (
          max(property.counts.lowerBound, range.lowerBound), min(property.counts.upperBound, range.upperBound)
        )
        if least <= most { property.counts = least...most }
      }
    case .isExact(let path, let type):
      let integers: [NSAttributeType] = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      ]
      guard let name = source(path), let former = old.attributesByName[name],
        integers.contains(former.attributeType),
        let highest = Self.highestWholeNumber(of: type)
      else {
        // Nothing makes fractions that fit, nor elements of composite attributes.
        emptyEntities.insert(old.name ?? "")
        return
      }
      change(old, name) { property in
        property.predicates.append(
          NSPredicate(format: "SELF >= %@ AND SELF <= %@", -highest as NSNumber, highest as NSNumber))
      }
    case .hasNoObjects: if isOwner { emptyEntities.insert(old.name ?? "") }
    }
  }

  /// The number up to which a type has all whole numbers.
  private static func highestWholeNumber(of type: NSAttributeType) -> Int64? {
    switch type {
    case .integer16AttributeType: Int64(Int16.max)
    case .integer32AttributeType: Int64(Int32.max)
    case .floatAttributeType: 1 << 24
    case .doubleAttributeType: 1 << 53
    default: nil
    }
  }

  /// The relationship of the old version that leads back from the end of a new one.
  private static func formerInverse(
    of name: String, _ entity: EntityDifference, _ difference: ModelDifference
  ) -> (owner: String, name: String)? {
    guard let inverse = entity.destination?.relationshipsByName[name]?.inverseRelationship,
      let owner = inverse.entity.flatMap({ difference.entity(forDestination: $0) }),
      let former = owner.properties.first(where: { $0.destination === inverse })?.storedSource
    else { return nil }
    return (owner.source?.name ?? "", former.name)
  }

  private mutating func change(
    _ entity: NSEntityDescription, _ property: String, _ body: (inout Property) -> Void
  ) {
    body(&properties["\(entity.name ?? "").\(property)", default: Property()])
  }
}
