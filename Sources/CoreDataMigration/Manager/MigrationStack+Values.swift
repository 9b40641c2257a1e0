import CoreDataArchives
import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// The work of the default policy.

extension MigrationStack {
  func createInstance(
    from object: NSManagedObject, _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
  ) throws {
    let prepared: PreparedMapping = try prepared(mapping)
    guard let entity = prepared.destination else {
      throw MigrationFailure.mapping(
        prepared.name, reason: "it has no destination entity",
        advice: "Set destinationEntityName, or override createDestinationInstances in its policy.")
    }
    let made = NSManagedObject(entity: entity, insertInto: destination.context)
    let values = AttributeValues(of: object, made: made, prepared, self)
    for value in prepared.attributes {
      let given: Any? = try values.value(of: value)
      try prepared.requireAccepted(given, of: value, object)
      try set(given, of: value, in: made)
    }
    manager.associate(sourceInstance: object, withDestinationInstance: made, for: mapping)
  }

  func createRelationships(
    of object: NSManagedObject, _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
  ) throws {
    let prepared: PreparedMapping = try prepared(mapping)
    if prepared.relationships.isEmpty { return }
    let name: String = mapping.name ?? ""
    guard
      let from = manager.sourceInstances(forEntityMappingName: name, destinationInstances: [object]).first
    else { return }
    guard let wanted = prepared.destination, object.entity.isKindOf(entity: wanted) else {
      throw MigrationFailure.mapping(
        name, reason: "an object of \(object.entity.name ?? "") is associated with it",
        advice: "Associate objects of \(mapping.destinationEntityName ?? "") alone in its policy.")
    }
    let variables: NSMutableDictionary = self.variables(mapping, policy, from, object)
    for value in prepared.relationships {
      variables[MigrationKey.propertyMapping] = value.mapping
      let found: Any? = try prepared.evaluate(value, variables, from)
      guard let relationship = value.property as? NSRelationshipDescription else { continue }
      try set(found, of: relationship, in: object, prepared, from)
    }
  }

  private func prepared(_ mapping: NSEntityMapping) throws -> PreparedMapping {
    if let found = try preparedMapping(mapping) { return found }
    throw MigrationFailure.mapping(
      mapping.name ?? "", reason: "it is not one of the mapping model that is being migrated",
      advice: "Pass the mapping that the policy was called with.")
  }

  func variables(
    _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy, _ source: NSManagedObject? = nil,
    _ destination: NSManagedObject? = nil
  ) -> NSMutableDictionary {
    let made: NSMutableDictionary = [:]
    made[MigrationKey.manager] = manager
    made[MigrationKey.entityMapping] = mapping
    made[MigrationKey.entityPolicy] = policy
    if let source { made[MigrationKey.source] = source }
    if let destination { made[MigrationKey.destination] = destination }
    return made
  }

  private func set(_ value: Any?, of property: PreparedMapping.Value, in object: NSManagedObject) throws {
    guard let attribute = property.property as? NSAttributeDescription, !keepsDefault(value, attribute) else {
      return
    }
    let value: Any? = rounded(PreparedMapping.widened(value, for: attribute), of: property, attribute)
    guard property.isElement else {
      return object.setValue(value, forKey: attribute.name)
    }
    // Without any value there is no composite value either.
    if value == nil, object.value(forKeyPath: property.path) == nil { return }
    object.setValue(value, forKeyPath: property.path)
  }

  /// A required attribute keeps its default value, as in a migration in place.
  private func keepsDefault(_ value: Any?, _ attribute: NSAttributeDescription) -> Bool {
    value == nil && !attribute.isOptional && attribute.defaultValue != nil
  }

  /// The digits that a save keeps of a decimal, if an expression computed it: the new store keeps all digits,
  /// since those that the source has must not be lost (Decisions/0037).
  private func rounded(_ value: Any?, of property: PreparedMapping.Value, _ attribute: NSAttributeDescription)
    -> Any?
  {
    guard !property.isCopied, attribute.attributeType == .decimalAttributeType,
      !destination.keepsAllDigits(of: attribute), let number = value as? NSDecimalNumber
    else { return value }
    return NSDecimalNumber(decimal: DecimalText.kept(number.decimalValue))
  }

  private func set(
    _ value: Any?, of relationship: NSRelationshipDescription, in object: NSManagedObject,
    _ mapping: PreparedMapping, _ source: NSManagedObject
  ) throws {
    let objects: [NSManagedObject] = try targets(value, relationship, mapping, source)
    if !relationship.isToMany {
      object.setValue(objects.first, forKey: relationship.name)
    } else if relationship.isOrdered {
      object.setValue(NSOrderedSet(array: objects), forKey: relationship.name)
    } else {
      object.setValue(NSSet(array: objects), forKey: relationship.name)
    }
  }

  /// The objects that an expression yields for a relationship; checked, because setting others would stop the
  /// program.
  private func targets(
    _ value: Any?, _ relationship: NSRelationshipDescription, _ mapping: PreparedMapping,
    _ source: NSManagedObject
  ) throws -> [NSManagedObject] {
    let members: [Any]
    switch value {
    case nil, is NSNull: members = []
    case let one?: members = Members.list(one) ?? [one]
    }
    func failure(_ reason: String) -> MigrationFailure {
      refusal(of: relationship, mapping, source, reason)
    }
    let objects: [NSManagedObject] = try members.compactMap { member in
      if member is NSNull { return nil }
      guard let target = member as? NSManagedObject, target.managedObjectContext === destination.context,
        relationship.destinationEntity.map(target.entity.isKindOf(entity:)) ?? true
      else {
        let what: String = (member as? NSManagedObject).map { "\($0.objectID)" } ?? "\(type(of: member))"
        throw failure(
          "\(what) is no object of the destination's entity \(relationship.destinationEntityName ?? "")")
      }
      return target
    }
    // Of two objects for a to-one none is the right one.
    if !relationship.isToMany, objects.count > 1 {
      throw failure("It takes one object, and the expression yields \(objects.count).")
    }
    return objects
  }

  private func refusal(
    of property: NSPropertyDescription, _ mapping: PreparedMapping, _ source: NSManagedObject,
    _ reason: String
  ) -> MigrationFailure {
    let name: String =
      subject.isInferred ? "\(mapping.destination?.name ?? "").\(property.name)" : property.name
    return .value(
      mapping: subject.isInferred ? nil : mapping.name, property: name, object: "\(source.objectID)",
      reason: reason)
  }

  // MARK: Verifying

  /// Whether both are archives of equal values: one that a file gave back is written anew, with the entries
  /// of its dictionaries in another order.
  private static func areEqualArchives(
    _ found: Any?, _ wanted: Any?, _ attribute: NSAttributeDescription
  ) -> Bool {
    guard attribute.attributeType == .transformableAttributeType, let found = found as? Data,
      let wanted = wanted as? Data
    else { return false }
    return KeyedArchive.areEqual(found, wanted) == true
  }

  /// Throws unless an object has the values that the mapping's expressions yield; those that yield other ones
  /// each time are left out.
  func verify(_ made: NSManagedObject, madeFrom object: NSManagedObject, _ mapping: PreparedMapping) throws {
    let values = AttributeValues(of: object, made: made, mapping, self)
    func refuse(_ property: NSPropertyDescription, _ found: Any?, _ wanted: Any?) -> MigrationFailure {
      refusal(
        of: property, mapping, object,
        "the new store has \(found.map { "\($0)" } ?? "no value") in place of \(wanted.map { "\($0)" } ?? "none")."
      )
    }
    for value in mapping.attributes where value.isRepeatable {
      guard let attribute = value.property as? NSAttributeDescription else { continue }
      let given: Any? = try values.value(of: value)
      let wanted: Any? =
        keepsDefault(given, attribute)
        ? attribute.defaultValue : PreparedMapping.widened(given, for: attribute)
      let found: Any? =
        value.isElement ? made.value(forKeyPath: value.path) : try made.readValue(forKey: attribute.name)
      let isSame: Bool =
        PlistValue.areEqual(found, wanted)
        || PredicateValue(normalizing: found) == PredicateValue(normalizing: wanted)
        || Self.areEqualArchives(found, wanted, attribute)
      // A number of another type may be equal to what was rounded.
      if !isSame || PreparedMapping.cutOff(wanted, by: attribute) != nil {
        throw refuse(attribute, found, wanted)
      }
    }
    for value in mapping.relationships {
      guard let relationship = value.property as? NSRelationshipDescription else { continue }
      let wanted: [NSManagedObject] = try targets(
        try values.evaluated(value), relationship, mapping, object)
      let found: [NSManagedObject] = try targets(
        try made.readValue(forKey: relationship.name), relationship, mapping, object)
      let isEqual: Bool =
        relationship.isOrdered
        ? found.map(ObjectIdentifier.init) == wanted.map(ObjectIdentifier.init)
        : Set(found.map(ObjectIdentifier.init)) == Set(wanted.map(ObjectIdentifier.init))
      if !isEqual { throw refuse(relationship, found.map(\.objectID), wanted.map(\.objectID)) }
    }
  }
}

/// The values of the expressions of one object.
private final class AttributeValues {
  private let source: NSManagedObject
  private let made: NSManagedObject
  private let mapping: PreparedMapping
  private let stack: MigrationStack
  /// Made for the first expression that is more than a key.
  private lazy var variables: NSMutableDictionary = stack.variables(
    mapping.mapping, mapping.policy, source, made)

  init(of source: NSManagedObject, made: NSManagedObject, _ mapping: PreparedMapping, _ stack: MigrationStack)
  {
    (self.source, self.made, self.mapping, self.stack) = (source, made, mapping, stack)
  }

  func value(of property: PreparedMapping.Value) throws -> Any? {
    let found: Any?
    if let key = property.key, source.entity.propertiesByName[key] != nil {
      found = try source.readValue(forKey: key)
    } else {
      found = try evaluated(property)
    }
    return found is NSNull ? nil : found
  }

  func evaluated(_ property: PreparedMapping.Value) throws -> Any? {
    variables[MigrationKey.propertyMapping] = property.mapping
    return try mapping.evaluate(property, variables, source)
  }
}
