import Foundation

/// Finds what can't be inferred, and what depends on the objects.
struct InferenceCheck {
  private let difference: ModelDifference
  /// Whether the destination is an earlier version, which stores have, so that it can't be changed.
  private let isDown: Bool
  private(set) var refusals: [MappingInference.Refusal] = []
  private(set) var conditions: [MappingInference.Condition] = []
  private(set) var omissions: [MappingInference.Omission] = []
  /// Whether relationships get inverses with which objects may lose members.
  private(set) var changesInverses: Bool = false

  init(_ difference: ModelDifference, isDown: Bool) {
    (self.difference, self.isDown) = (difference, isDown)
  }

  mutating func run() {
    for conflict in difference.conflicts {
      refuse(
        conflict.destinations.first.map { String($0.prefix { $0 != "." }) } ?? "", nil,
        "\(conflict.description.prefix(1).uppercased() + conflict.description.dropFirst()).",
        "Correct the renaming identifiers: each part of the source may be named once.")
    }
    checkHierarchies()
    for entity in difference.entities {
      guard let old = entity.source, let new = entity.destination else { continue }
      checkConstraints(of: entity, old, new)
      if old.isAbstract { continue }
      if new.isAbstract {
        require(entity.name, .hasNoObjects)
        continue
      }
      for property in entity.properties { check(property, of: entity.name) }
    }
  }

  // Inherited properties are examined for each entity that has objects, and named once.

  private mutating func omit(_ relationship: NSPropertyDescription?, _ sentence: String) {
    if omissions.contains(where: { $0.sentence == sentence }) { return }
    omissions.append(
      MappingInference.Omission(
        entity: relationship?.declaringEntity?.name ?? "", relationship: relationship?.name ?? "",
        sentence: sentence))
  }

  private mutating func refuse(
    _ entity: String, _ property: String?, _ reason: String, _ advice: String, lacksValueOnly: Bool = false,
    needsExpression: Bool = false
  ) {
    let back: String =
      "The earlier version stays as it is, since stores have it: put back an original that was kept, or "
      + (lacksValueOnly ? "give the values with" : "use") + " a mapping model that leads back to it."
    let refusal = MappingInference.Refusal(
      entity: entity, property: property, reason: reason, advice: isDown ? back : advice,
      lacksValueOnly: lacksValueOnly, needsExpression: needsExpression || lacksValueOnly)
    if !refusals.contains(refusal) { refusals.append(refusal) }
  }

  private mutating func require(_ entity: String, _ kind: MappingInference.Condition.Kind) {
    let condition = MappingInference.Condition(entity: entity, kind: kind)
    if !conditions.contains(condition) { conditions.append(condition) }
  }

  // MARK: Entities

  /// Entities of different hierarchies can't be joined in one: their objects may have the same identifiers.
  private mutating func checkHierarchies() {
    var roots: [ObjectIdentifier: (root: NSEntityDescription, members: [NSEntityDescription])] = [:]
    for entity in difference.entities {
      guard let old = entity.source, let new = entity.destination else { continue }
      let root: NSEntityDescription = Self.root(of: new)
      let former: NSEntityDescription = Self.root(of: old)
      guard let known = roots[ObjectIdentifier(root)] else {
        roots[ObjectIdentifier(root)] = (former, [new])
        continue
      }
      if known.root !== former {
        let first: String = known.members[0].name ?? ""
        refuse(
          entity.name, nil,
          "\(first) and \(entity.name) have no common parent in the source and have \(root.name ?? "") in the "
            + "destination; hierarchies can't be merged.",
          "Keep them apart, or write a mapping model.")
      }
      roots[ObjectIdentifier(root)]?.members.append(new)
    }
  }

  private static func root(of entity: NSEntityDescription) -> NSEntityDescription {
    var root: NSEntityDescription = entity
    while let parent = root.superentity { root = parent }
    return root
  }

  private mutating func checkConstraints(
    of entity: EntityDifference, _ old: NSEntityDescription, _ new: NSEntityDescription
  ) {
    let known: [Set<String>] = old.uniquenessConstraintNames.map(Set.init)
    for constraint in new.uniquenessConstraintNames {
      let former: [String] = constraint.compactMap { name in
        entity.properties.first { $0.destination?.name == name }?.storedSource?.name
      }
      let isKept: Bool =
        former.count == constraint.count && known.contains { $0.isSubset(of: Set(former)) }
      // Values that are new for all are nil, which are never equal, or equal defaults.
      if !isKept { require(new.name ?? "", .isUnique(constraint)) }
    }
  }

  // MARK: Properties

  private mutating func check(_ property: PropertyDifference, of entity: String) {
    guard let new = property.destination, PropertyDifference.isStored(new) else { return }
    let owner: String = new.declaringEntity?.name ?? entity
    let subject: String = "\(owner).\(new.name)"
    if let old = property.source, PropertyDifference.isStored(old),
      !PropertyDifference.areOfOneKind(old, new)
    {
      if let sentence = property.changes.first(where: { change in
        if case .kindOfProperty = change.kind { return true } else { return false }
      }) {
        refuse(
          owner, new.name, "\(sentence.sentence), and the values of one are none of the other.",
          "Give the new one another name, so that the old values are left out, or write a mapping model.")
      }
      return
    }
    if new is NSDerivedAttributeDescription { return }
    switch new {
    case let new as NSAttributeDescription:
      let old = property.storedSource as? NSAttributeDescription
      checkAttribute(
        old, new,
        old == nil ? ElementDifference.differences(nil, new, nil, paths: ("", "")) : property.elements,
        owner, subject, new.name)
    case let new as NSRelationshipDescription where property.isCutOff:
      let former: String = (property.source as? NSRelationshipDescription)?.destinationEntityName ?? ""
      let sentence: String =
        "\(subject) leads to \(former) in the source, to \(new.destinationEntityName ?? "") in the destination"
      if new.isOptional {
        omit(property.source, "\(sentence); its former objects are left out.")
      } else {
        refuse(
          owner, new.name,
          "\(sentence), and is required, so that existing objects have nothing at its other end.",
          "Make it optional, or relate the objects with a mapping model.")
      }
    case let new as NSRelationshipDescription:
      checkRelationship(property.storedSource as? NSRelationshipDescription, new, owner, subject)
    default: break
    }
  }

  /// `path` is the attribute's name, with those of the composite attributes around it.
  private mutating func checkAttribute(
    _ old: NSAttributeDescription?, _ new: NSAttributeDescription, _ elements: [ElementDifference],
    _ owner: String, _ subject: String, _ path: String
  ) {
    if let composite = new as? NSCompositeAttributeDescription {
      if old == nil && composite.isOptional { return }
      for element in elements {
        guard let new = element.destination else { continue }
        checkAttribute(
          element.source, new, element.elements, owner, "\(subject).\(new.name)", "\(path).\(new.name)")
      }
      checkOptional(old, composite, owner, path)
      return
    }
    guard let old else {
      if !new.isOptional && new.defaultValue == nil {
        refuse(
          owner, path,
          "\(subject) is new and required and has no default value, so that existing objects have none.",
          "Give it a default value, make it optional, or set its renaming identifier to the attribute that "
            + "held its values.",
          // An element of a composite attribute has no mapping to which a value could be given.
          lacksValueOnly: path == new.name)
      }
      return
    }
    if new.attributeType.holdsSomeValues(of: old.attributeType) {
      require(owner, .isExact(attribute: path, as: new.attributeType))
    } else if old is NSCompositeAttributeDescription
      || !new.attributeType.holdsEveryValue(of: old.attributeType)
    {
      let types: (String, String) = (old.attributeType.editorName, new.attributeType.editorName)
      refuse(
        owner, path,
        "\(subject) is \(types.0) in the source, \(types.1) in the destination, which does not hold every "
          + "value of \(types.0).",
        "Add an attribute of another name for the new type, or convert the values with a mapping model"
          + (path == new.name
            ? ": `clarus model mapping` makes one with --value '\(owner).\(path)=\(Self.conversion(old, new))'."
            : "."),
        needsExpression: path == new.name)
    }
    if old.isOptional && !new.isOptional && new.defaultValue == nil {
      refuse(
        owner, path,
        "\(subject) is optional in the source, required in the destination, and has no default value for "
          + "objects without one.", "Give it a default value, or keep it optional.",
        lacksValueOnly: path == new.name)
    }
  }

  /// An expression for a value of the new type.
  private static func conversion(_ old: NSAttributeDescription, _ new: NSAttributeDescription) -> String {
    // CAST makes none of these.
    let others: [NSAttributeType] = [
      .binaryDataAttributeType, .objectIDAttributeType, .compositeAttributeType,
    ]
    guard !others.contains(new.attributeType), let name = new.attributeType.valueClassName else {
      return "EXPRESSION"
    }
    return "CAST($source.\(old.name), \"\(name)\")"
  }

  private mutating func checkOptional(
    _ old: NSPropertyDescription?, _ new: NSPropertyDescription, _ owner: String, _ path: String
  ) {
    if let old, old.isOptional && !new.isOptional { require(owner, .hasValue(property: path)) }
  }

  // MARK: Relationships

  private mutating func checkRelationship(
    _ old: NSRelationshipDescription?, _ new: NSRelationshipDescription, _ owner: String, _ subject: String
  ) {
    guard let old else {
      checkNewRelationship(new, owner, subject)
      return
    }
    if old.isToMany && !new.isToMany {
      refuse(
        owner, new.name,
        "\(subject) is a to-many relationship in the source, a to-one relationship in the destination, and "
          + "only one of several objects could stay.",
        "Keep it to-many, or choose the object with a mapping model.")
    }
    checkTarget(old, new, owner, subject)
    checkInverse(old, new, subject)
    if new.isToMany {
      requireCounts(of: new, where: MemberCounts(of: old), owner)
    } else {
      checkOptional(old, new, owner, new.name)
    }
  }

  /// `former`: what the objects have.
  private mutating func requireCounts(
    of new: NSRelationshipDescription, where former: MemberCounts, _ owner: String
  ) {
    let wanted = MemberCounts(of: new)
    guard let range = wanted.range, !wanted.includes(former) else { return }
    require(owner, .hasCount(relationship: new.name, range, orNone: wanted.mayBeEmpty))
  }

  /// With another inverse an object may belong to fewer others than before.
  private mutating func checkInverse(
    _ old: NSRelationshipDescription, _ new: NSRelationshipDescription, _ subject: String
  ) {
    let (before, after): (NSRelationshipDescription?, NSRelationshipDescription?) = (
      old.inverseRelationship, new.inverseRelationship
    )
    let sentence: String
    switch (before, after) {
    case (nil, nil):
      if old.isToMany || !new.isToMany { return }
      sentence =
        "leads to many objects now and has no inverse, so that an object can be in it for one owner only"
    case (let before?, nil):
      if !new.isToMany || !before.isToMany { return }
      sentence = "has no inverse any more, so that an object can be in it for one owner only"
    case (nil, let after?):
      if sources(of: after).isEmpty, old.isToMany || after.isToMany { return }
      sentence = "has the inverse \(after.name), so that an object may lose it to another one"
    case (let before?, let after?):
      if sources(of: after).contains(where: { $0 === before }) { return }
      sentence =
        "has the inverse \(after.name) in place of \(before.name), so that the two sides may disagree"
    }
    changesInverses = true
    omit(old, "\(subject) \(sentence): what has no place is left out, or refused.")
  }

  /// The former versions of a relationship that hold values: those of sub-entities too, for one that has
  /// moved up to the parent.
  private func sources(of relationship: NSRelationshipDescription) -> [NSPropertyDescription] {
    (relationship.declaringEntity?.familyInStoreOrder ?? []).compactMap { entity in
      difference.entity(forDestination: entity)?.properties
        .first { $0.destination?.name == relationship.name }?.storedSource
    }
  }

  private mutating func checkNewRelationship(
    _ new: NSRelationshipDescription, _ owner: String, _ subject: String
  ) {
    // A new side of a known relationship gets its objects through the other side.
    if let inverse = new.inverseRelationship, let other = inverse.declaringEntity,
      let known = difference.entity(forDestination: other)?.properties.first(where: {
        $0.destination === inverse
      }), known.storedSource != nil
    {
      if new.isToMany {
        requireCounts(of: new, where: .any, owner)
      } else if !new.isOptional {
        require(owner, .hasValue(property: new.name))
      }
      return
    }
    if MemberCounts(of: new).mayBeEmpty { return }
    if !new.isToMany {
      // Nothing has a value: a store without such objects can be migrated, as by Apple's framework.
      require(owner, .hasValue(property: new.name))
      return
    }
    refuse(
      owner, new.name,
      "\(subject) is new and must have at least \(new.minCount), so that existing objects have nothing at its other end.",
      "Make it optional, or relate the objects with a mapping model.")
  }

  /// Each object at the other end must become one of the new destination.
  private mutating func checkTarget(
    _ old: NSRelationshipDescription, _ new: NSRelationshipDescription, _ owner: String, _ subject: String
  ) {
    guard let target = new.destinationEntity, let former = old.destinationEntity else { return }
    let family: [NSEntityDescription] = former.familyInStoreOrder.filter { !$0.isAbstract }
    let successors: [(NSEntityDescription, NSEntityDescription)] = family.compactMap { entity in
      difference.entity(forSource: entity)?.destination.map { (entity, $0) }
    }
    if let (stranger, _) = successors.first(where: { !$0.1.isKindOf(entity: target) }) {
      refuse(
        owner, new.name,
        "\(subject) leads to \(former.name ?? "") in the source, to \(target.name ?? "") in the destination, "
          + "and objects of \(stranger.name ?? "") do not become such.",
        "Give the relationship another name, so that the old objects are left out, or write a mapping model.")
    }
  }
}
