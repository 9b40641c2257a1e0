import CoreData

/// Fills a new store with objects of every entity of a version.
struct ObjectGenerator {
  /// What of an object is filled.
  private enum Form {
    /// Everything.
    case full
    /// What is required.
    case bare
    /// Everything but what has a default value.
    case standard
    /// Some of what is optional.
    case mixed
  }

  private let version: MigrationTester.Version
  private let demands: ModelDemands
  private let context: NSManagedObjectContext
  private let count: Int
  private var values: ValueGenerator
  private var objects: [NSManagedObject] = []
  private var forms: [ObjectIdentifier: Form] = [:]
  /// By entity, exactly.
  private var byEntity: [ObjectIdentifier: [NSManagedObject]] = [:]
  /// The combinations of values that uniqueness constraints have seen.
  private var seen: Set<[String]> = []
  /// Properties that have no value, with the reason.
  private var unfilled: Set<String> = []
  /// The objects at the ends of to-many relationships without inverse, by relationship.
  private var ends: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
  /// Objects whose required relationships are still to be filled.
  private var queue: [NSManagedObject] = []

  init(
    _ version: MigrationTester.Version, _ demands: ModelDemands, _ context: NSManagedObjectContext,
    count: Int, random: SeededNumbers
  ) {
    self.version = version
    self.demands = demands
    self.context = context
    self.count = max(1, count)
    values = ValueGenerator(random)
  }

  private var entities: [NSEntityDescription] {
    version.model.entities.filter { !$0.isAbstract && !demands.emptyEntities.contains($0.name ?? "") }.sorted
    { ($0.name ?? "") < ($1.name ?? "") }
  }

  /// Makes and saves the objects. Returns the properties that no object has a value of.
  mutating func run(customize: (NSManagedObject) throws -> Void) throws -> [String] {
    for entity in entities {
      for _ in 0..<count { _ = try add(entity) }
    }
    while let object = queue.popLast() { try relateRequired(object) }
    for object in objects { relateOptional(object) }
    for object in objects { try customize(object) }
    try validate()
    do {
      try context.save()
    } catch {
      throw MigrationTestError(
        "The generated objects of \(version.name) can't be saved: \((error as NSError).localizedDescription) "
          + "Set the values in `customize`.")
    }
    return unfilled.sorted()
  }

  private mutating func validate() throws {
    var problems: [String] = []
    for object in objects where !object.isDeleted {
      do { try object.validateForInsert() } catch { problems.append((error as NSError).localizedDescription) }
    }
    if problems.isEmpty { return }
    throw MigrationTestError(
      "\(problems.count) generated objects of \(version.name) are not valid, the first ones: "
        + "\(problems.prefix(5).joined(separator: " ")) "
        + unfilled.sorted().map { "\($0) " }.joined() + "Set the values in `customize`.")
  }

  // MARK: Objects

  /// nil if the entity's constraints do not allow another object.
  private mutating func add(_ entity: NSEntityDescription) throws -> NSManagedObject? {
    let number: Int = byEntity[ObjectIdentifier(entity)]?.count ?? 0
    let object = NSManagedObject(entity: entity, insertInto: context)
    let form: Form = number == 0 ? .full : number == 1 ? .bare : number == 2 ? .standard : .mixed
    forms[ObjectIdentifier(object)] = form
    for attempt in 0..<50 {
      fill(object, form, isFirst: number == 0 && attempt == 0)
      let keys: [[String]] = keys(of: object)
      if keys.allSatisfy({ !seen.contains($0) }) {
        seen.formUnion(keys)
        objects.append(object)
        byEntity[ObjectIdentifier(entity), default: []].append(object)
        queue.append(object)
        return object
      }
    }
    context.delete(object)
    context.processPendingChanges()
    return nil
  }

  private mutating func fill(_ object: NSManagedObject, _ form: Form, isFirst: Bool) {
    let entity: NSEntityDescription = object.entity
    let unique = Set(entity.constraintNames.flatMap(\.self))
    for (name, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key }) {
      if attribute is NSDerivedAttributeDescription || attribute.isTransient { continue }
      let demand: ModelDemands.Property = demands.of(entity, name)
      let isRequired: Bool = !attribute.isOptional || demand.isRequired
      let isUnique: Bool = unique.contains(name) || demand.isUnique
      if !isUnique {
        if form == .bare, !isRequired {
          object.setValue(nil, forKey: name)
          continue
        }
        if form == .standard, attribute.defaultValue != nil { continue }
        if form == .mixed, !isRequired, values.random.next() % 3 == 0 { continue }
      }
      let value: Any? = values.value(
        of: attribute,
        .init(
          isUnique: isUnique, isLarge: isFirst && attribute.allowsExternalBinaryDataStorage,
          predicates: demand.predicates))
      if let value {
        object.setValue(value, forKey: name)
      } else if attribute.attributeType != .undefinedAttributeType {
        unfilled.insert("\(attribute.entity?.name ?? "").\(name): \(Self.reason(attribute)).")
      }
    }
  }

  private static func reason(_ attribute: NSAttributeDescription) -> String {
    switch attribute.attributeType {
    case .transformableAttributeType:
      "its values are of a class (\(attribute.attributeValueClassName ?? "")) or of a transformer "
        + "(\(attribute.valueTransformerName ?? "")) of the program"
    case .objectIDAttributeType: "its values are ids of objects"
    default:
      "no value was found that satisfies "
        + attribute.validationPredicates.map(\.description).joined(separator: " and ")
    }
  }

  /// The values of the uniqueness constraints that have no nil, for the entity that states each.
  private func keys(of object: NSManagedObject) -> [[String]] {
    var result: [[String]] = []
    var next: NSEntityDescription? = object.entity
    while let entity = next {
      for names in entity.ownConstraintNames {
        let parts: [String] = names.compactMap { name in
          guard object.entity.attributesByName[name] != nil else { return nil }
          return object.value(forKey: name).map { "\($0)" }
        }
        if parts.count == names.count { result.append([entity.name ?? ""] + names + parts) }
      }
      next = entity.superentity
    }
    return result
  }

  // MARK: Relationships

  private func relationships(of object: NSManagedObject) -> [NSRelationshipDescription] {
    object.entity.relationshipsByName.sorted { $0.key < $1.key }.map(\.value).filter { !$0.isTransient }
  }

  private func count(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> Int {
    object.members(of: relationship).count
  }

  private func allowed(_ entity: NSEntityDescription, _ relationship: NSRelationshipDescription)
    -> ClosedRange<Int>
  {
    let demand: ModelDemands.Property = demands.of(entity, relationship.name)
    let isRequired: Bool = !relationship.isOptional || demand.isRequired
    if !relationship.isToMany { return (isRequired ? 1 : 0)...1 }
    let least: Int = max(relationship.minCount, demand.counts.lowerBound, demand.isRequired ? 1 : 0)
    let most: Int = min(relationship.maxCount > 0 ? relationship.maxCount : .max, demand.counts.upperBound)
    return min(least, most)...most
  }

  private mutating func relateRequired(_ object: NSManagedObject) throws {
    for relationship in relationships(of: object) {
      let isRequired: Bool =
        !relationship.isOptional || demands.of(object.entity, relationship.name).isRequired
      if !isRequired { continue }
      let needed: Int = allowed(object.entity, relationship).lowerBound
      while count(object, relationship) < needed {
        if let target = pick(relationship, for: object) {
          connect(object, relationship, target)
        } else {
          try addTarget(of: relationship, object)
        }
      }
    }
  }

  /// Makes another object for a required relationship whose possible targets are all taken.
  private mutating func addTarget(of relationship: NSRelationshipDescription, _ object: NSManagedObject)
    throws
  {
    let name: String = "\(object.entity.name ?? "").\(relationship.name)"
    let target: NSEntityDescription? = entities.first {
      relationship.destinationEntity.map($0.isKindOf(entity:)) ?? false
    }
    guard let target, objects.count < (entities.count * count + 100) * 20, let made = try add(target) else {
      throw MigrationTestError(
        "\(name) of \(version.name) is required, and no object for its other end can be made: "
          + "\(relationship.destinationEntity?.name ?? "it") has no concrete entity, or the relationships "
          + "or uniqueness constraints of the model allow no further object.")
    }
    connect(object, relationship, made)
  }

  private mutating func relateOptional(_ object: NSManagedObject) {
    let form: Form = forms[ObjectIdentifier(object)] ?? .mixed
    if form == .bare { return }
    for relationship in relationships(of: object) {
      let range: ClosedRange<Int> = allowed(object.entity, relationship)
      let present: Int = count(object, relationship)
      if !relationship.isToMany {
        if present == 0, form != .mixed || values.random.next() % 3 != 0,
          let target = pick(relationship, for: object)
        {
          connect(object, relationship, target)
        }
        continue
      }
      let wanted: Int = min(
        range.upperBound, max(range.lowerBound, Int(values.random.next() % 4) + (form == .full ? 1 : 0)))
      if wanted <= present { continue }
      // All or none: fewer than the minimum are not allowed.
      let targets: [NSManagedObject] = picks(relationship, for: object, wanted - present)
      if present + targets.count < range.lowerBound { continue }
      for target in targets { connect(object, relationship, target) }
    }
  }

  private mutating func pick(_ relationship: NSRelationshipDescription, for object: NSManagedObject)
    -> NSManagedObject?
  {
    picks(relationship, for: object, 1).first
  }

  /// Objects that may be added at the end of a relationship, the object itself last.
  private mutating func picks(
    _ relationship: NSRelationshipDescription, for object: NSManagedObject, _ number: Int
  ) -> [NSManagedObject] {
    guard let destination = relationship.destinationEntity else { return [] }
    let all: [NSManagedObject] = entities.filter { $0.isKindOf(entity: destination) }.flatMap {
      byEntity[ObjectIdentifier($0)] ?? []
    }
    if all.isEmpty { return [] }
    let present = Set(object.members(of: relationship).map(ObjectIdentifier.init))
    let start: Int = Int(values.random.next() % UInt64(all.count))
    var found: [NSManagedObject] = []
    for candidate in all[start...] + all[..<start] where found.count < number {
      if candidate !== object, !present.contains(ObjectIdentifier(candidate)),
        isFree(candidate, relationship)
      {
        found.append(candidate)
      }
    }
    if found.count < number, object.entity.isKindOf(entity: destination),
      !present.contains(ObjectIdentifier(object)), isFree(object, relationship)
    {
      found.append(object)
    }
    return found
  }

  /// Whether an object may be at the other end of one more relationship. A symmetric relationship counts at
  /// both ends.
  private func isFree(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
    guard let inverse = relationship.inverseRelationship else {
      // A store keeps such members by a reference in the member: it has one owner.
      return !relationship.isToMany
        || ends[ObjectIdentifier(relationship)]?.contains(ObjectIdentifier(object)) != true
    }
    return count(object, inverse) < allowed(object.entity, inverse).upperBound
  }

  private mutating func connect(
    _ object: NSManagedObject, _ relationship: NSRelationshipDescription, _ target: NSManagedObject
  ) {
    if relationship.inverseRelationship == nil {
      ends[ObjectIdentifier(relationship), default: []].insert(ObjectIdentifier(target))
    }
    if !relationship.isToMany {
      object.setValue(target, forKey: relationship.name)
    } else if relationship.isOrdered {
      object.mutableOrderedSetValue(forKey: relationship.name).add(target)
    } else {
      object.mutableSetValue(forKey: relationship.name).add(target)
    }
  }
}

extension NSEntityDescription {
  /// The names of the attributes and relationships of each uniqueness constraint that the entity states.
  fileprivate var ownConstraintNames: [[String]] {
    uniquenessConstraints.map { constraint in
      constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
    }
  }

  /// Those of its parents too.
  fileprivate var constraintNames: [[String]] { ownConstraintNames + (superentity?.constraintNames ?? []) }
}
