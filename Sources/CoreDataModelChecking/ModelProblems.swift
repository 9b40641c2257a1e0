import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Something in a model that Xcode's editor would warn about, or that will fail or surprise at run time.
public struct ModelProblem: CustomStringConvertible, Sendable, Hashable {
  public enum Severity: String, Sendable, Hashable {
    /// Using the part will fail, or data will not stay consistent.
    case error
    /// The model works, but probably not as meant.
    case warning
  }

  public let severity: Severity
  /// The entity concerned, nil for the model itself.
  public let entity: String?
  /// The property, index or template concerned.
  public let part: String?
  /// What is wrong and how to correct it.
  public let message: String

  public var description: String {
    let place = [entity, part].compactMap { $0 }.joined(separator: ".")
    return place.isEmpty ? "\(severity.rawValue): \(message)" : "\(severity.rawValue): \(place): \(message)"
  }
}

extension NSManagedObjectModel {
  /// The model's problems, in the order of entity and property names. Empty for a correct model.
  public final func problems() -> [ModelProblem] {
    var lint = ModelLint(self)
    return lint.run()
  }
}

/// Each check is a function that reports into `found`.
private struct ModelLint {
  let model: NSManagedObjectModel
  var found: [ModelProblem] = []

  init(_ model: NSManagedObjectModel) {
    self.model = model
  }

  mutating func run() -> [ModelProblem] {
    checkEntityNames()
    for entity in model.storedEntities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      checkEntity(entity)
      for property in entity.ownProperties.sorted(by: { $0.name < $1.name }) { check(property, of: entity) }
      checkConstraints(entity)
      checkIndexes(entity)
    }
    checkTemplates()
    checkConfigurations()
    return found
  }

  private mutating func report(
    _ severity: ModelProblem.Severity, _ entity: NSEntityDescription?, _ part: String?, _ message: String
  ) {
    found.append(ModelProblem(severity: severity, entity: entity?.name, part: part, message: message))
  }

  // MARK: Entities

  private mutating func checkEntityNames() {
    var seen: [String: String] = [:]
    for entity in model.storedEntities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      guard let name = entity.name, !name.isEmpty else {
        report(.error, nil, nil, "an entity has no name; give it one")
        continue
      }
      if let other = seen.updateValue(name, forKey: name.uppercased()) {
        let same = other == name
        report(
          .error, entity, nil,
          same
            ? "there are two entities of this name; rename one"
            : "differs from entity '\(other)' in case only, and tables ignore case; rename one")
      }
      if !Self.isIdentifier(name) {
        report(
          .error, entity, nil,
          "an entity's name starts with a letter and has letters, digits and underscores only")
      }
    }
  }

  private mutating func checkEntity(_ entity: NSEntityDescription) {
    if let parent = entity.superentity, parent.model !== model {
      report(.error, entity, nil, "its parent '\(parent.name ?? "")' is not in the model; add it")
    }
    if entity.isAbstract, entity.storedSubentities.isEmpty {
      report(.warning, entity, nil, "it is abstract and has no sub-entities, so it can never have objects")
    }
    if entity.properties.isEmpty, entity.storedSubentities.isEmpty {
      report(.warning, entity, nil, "it has no properties")
    }
    var seen: [String: String] = [:]
    let inherited = Set((entity.superentity?.properties ?? []).map(\.name))
    for property in entity.ownProperties {
      if let other = seen.updateValue(property.name, forKey: property.name.uppercased()) {
        report(
          .error, entity, property.name,
          other == property.name
            ? "there are two properties of this name; rename one"
            : "differs from '\(other)' in case only, and columns ignore case; rename one")
      }
      if inherited.contains(property.name) {
        report(
          .warning, entity, property.name, "an ancestor has a property of this name; remove one of the two")
      }
    }
  }

  // MARK: Properties

  /// Names that methods and properties of every managed object have already.
  private static let reservedNames: Set<String> = [
    "description", "debugDescription", "class", "hash", "self", "superclass", "zone", "retain", "release",
    "autorelease", "retainCount", "dealloc", "copy", "mutableCopy", "init", "objectID", "entity",
    "managedObjectContext",
    "isInserted", "isUpdated", "isDeleted", "isFault", "hasChanges", "hasPersistentChangedValues",
    "faultingState",
    "inserted", "updated", "deleted", "fault", "isProxy", "observationInfo", "changedValues",
    "committedValues",
  ]

  /// A letter or underscore, then letters, digits and underscores; any script.
  private static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first == "_" || first.properties.isAlphabetic else {
      return false
    }
    return name.unicodeScalars.allSatisfy {
      $0 == "_" || $0.properties.isAlphabetic || $0.properties.numericType != nil
    }
  }

  private mutating func check(_ property: NSPropertyDescription, of entity: NSEntityDescription) {
    let name = property.name
    if name.isEmpty {
      report(.error, entity, nil, "a property has no name; give it one")
    } else if Self.reservedNames.contains(name) {
      report(
        .error, entity, name, "every managed object has something of this name already; rename the property")
    } else if !Self.isIdentifier(name) {
      report(
        .error, entity, name,
        "a property's name starts with a letter and has letters, digits and underscores only")
    } else if FormatWords.areReserved(name) {
      let meaning: String = name.lowercased() == "self" ? "the object itself" : "a word of the language"
      report(
        .warning, entity, name,
        "in predicates \(name) is \(meaning), so the property has to be written #\(name) there; rename the property"
      )
    }
    switch property {
    case let attribute as NSAttributeDescription: check(attribute, of: entity)
    case let relationship as NSRelationshipDescription: check(relationship, of: entity)
    case let fetched as NSFetchedPropertyDescription:
      guard let request = fetched.fetchRequest else {
        report(.error, entity, name, "the fetched property has no fetch request")
        break
      }
      check(request, entity: entity, part: name)
    default:
      report(
        .error, entity, name, "a \(type(of: property)) can't be stored; use an attribute or a relationship")
    }
  }

  private mutating func check(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) {
    let name = attribute.name
    let type = attribute.attributeType
    if type == .undefinedAttributeType, !attribute.isTransient {
      report(.error, entity, name, "an attribute without type must be transient; give it a type")
    }
    if type == .objectIDAttributeType {
      report(.error, entity, name, "object ids can't be stored as an attribute; use a relationship")
    }
    if attribute.allowsExternalBinaryDataStorage, type != .binaryDataAttributeType,
      type != .transformableAttributeType
    {
      report(
        .warning, entity, name, "only binary data can be stored in external files; the setting has no effect")
    }
    if type == .transformableAttributeType, attribute.valueTransformerName == nil, !attribute.isTransient {
      report(
        .warning, entity, name,
        "it has no value transformer; set NSSecureUnarchiveFromDataTransformer or one of your own")
    }
    if let derived = attribute as? NSDerivedAttributeDescription {
      do throws(DerivationProblem) {
        _ = try Derivation.of(derived, in: entity)
      } catch {
        report(.error, entity, name, error.message)
      }
    }
    if let composite = attribute as? NSCompositeAttributeDescription {
      checkElements(composite, path: name, of: entity)
    }
    if let value = attribute.defaultValue, let expected = Self.misfit(value, type) {
      report(.error, entity, name, "its default value is no \(expected)")
    }
  }

  private mutating func checkElements(
    _ composite: NSCompositeAttributeDescription, path: String, of entity: NSEntityDescription
  ) {
    if composite.elements.isEmpty { report(.error, entity, path, "the composite attribute has no elements") }
    var seen: Set<String> = []
    for element in composite.elements {
      let path = "\(path).\(element.name)"
      if !seen.insert(element.name.uppercased()).inserted {
        report(.error, entity, path, "there are two elements of this name, case ignored; rename one")
      }
      if !Self.isIdentifier(element.name) {
        report(
          .error, entity, path,
          "an element's name starts with a letter and has letters, digits and underscores only")
      }
      if element is NSDerivedAttributeDescription {
        report(.error, entity, path, "an element of a composite attribute can't be derived")
      } else if element.isTransient || element.attributeType == .undefinedAttributeType
        || element.attributeType == .objectIDAttributeType
      {
        report(.error, entity, path, "an element needs a type that is stored, and can't be transient")
      }
      if let inner = element as? NSCompositeAttributeDescription {
        checkElements(inner, path: path, of: entity)
      }
    }
  }

  /// The stored value that a constraint names: a property, or an element of a composite attribute by its
  /// path.
  private static func property(_ name: String, of entity: NSEntityDescription) -> NSPropertyDescription? {
    if let property = entity.propertiesByName[name] { return property }
    let path: [String] = name.split(separator: ".").map(String.init)
    guard path.count > 1, var found: NSPropertyDescription = entity.propertiesByName[path[0]] else {
      return nil
    }
    for name in path.dropFirst() {
      let elements: [NSAttributeDescription] = (found as? NSCompositeAttributeDescription)?.elements ?? []
      guard let element = elements.first(where: { $0.name == name }) else { return nil }
      found = element
    }
    return found
  }

  /// The type that a default value should have; nil if it has that type.
  private static func misfit(_ value: Any, _ type: NSAttributeType) -> String? {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .booleanAttributeType, .decimalAttributeType:
      value is NSNumber || value is Decimal ? nil : "number"
    case .stringAttributeType: value is String ? nil : "string"
    case .dateAttributeType: value is Date ? nil : "date"
    case .binaryDataAttributeType: value is Data ? nil : "data"
    case .UUIDAttributeType: value is UUID ? nil : "UUID"
    case .URIAttributeType: value is URL ? nil : "URL"
    default: nil
    }
  }

  private mutating func check(_ relationship: NSRelationshipDescription, of entity: NSEntityDescription) {
    let name = relationship.name
    guard let destination = relationship.destinationEntity else {
      report(.error, entity, name, "the relationship has no destination entity")
      return
    }
    if destination.model !== model {
      report(.error, entity, name, "its destination '\(destination.name ?? "")' is not in the model; add it")
    }
    if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      report(
        .error, entity, name,
        "its minimum count \(relationship.minCount) is above its maximum count \(relationship.maxCount)")
    }
    if relationship.minCount < 0 { report(.error, entity, name, "its minimum count is negative") }
    if relationship.isOrdered, !relationship.isToMany {
      report(.warning, entity, name, "a to-one relationship has no order; the setting has no effect")
    }
    if relationship.deleteRule == .noActionDeleteRule {
      report(
        .warning, entity, name,
        "with the delete rule No Action the other side keeps pointing at deleted objects; use Nullify")
    }
    guard let inverse = relationship.inverseRelationship else {
      report(.warning, entity, name, "it has no inverse; without one deletions leave dangling references")
      return
    }
    if inverse.inverseRelationship !== relationship {
      let back = inverse.inverseRelationship.map { "'\($0.name)'" } ?? "nothing"
      report(
        .error, entity, name,
        "its inverse '\(inverse.name)' has \(back) as inverse instead of it; make the two agree")
    }
    if let owner = inverse.entity, !destination.isKindOf(entity: owner) {
      report(
        .error, entity, name,
        "its inverse '\(inverse.name)' belongs to '\(owner.name ?? "")', not to the destination '\(destination.name ?? "")'"
      )
    }
    if let back = inverse.destinationEntity, !entity.isKindOf(entity: back), !back.isKindOf(entity: entity) {
      report(
        .error, entity, name, "its inverse '\(inverse.name)' leads to '\(back.name ?? "")', not back here")
    }
  }

  // MARK: Constraints, indexes, requests, configurations

  private mutating func checkConstraints(_ entity: NSEntityDescription) {
    for constraint in entity.uniquenessConstraintNames {
      let label = constraint.joined(separator: ", ")
      if constraint.isEmpty { report(.error, entity, nil, "a uniqueness constraint names no attribute") }
      for name in constraint {
        switch Self.property(name, of: entity) {
        case nil:
          report(
            .error, entity, name,
            "the uniqueness constraint (\(label)) names '\(name)', which the entity doesn't have")
        case let attribute as NSAttributeDescription
        where !attribute.isTransient && !(attribute is NSCompositeAttributeDescription):
          break
        case let relationship as NSRelationshipDescription where !relationship.isToMany: break
        default:
          report(
            .error, entity, name,
            "the uniqueness constraint (\(label)) needs stored attributes or to-one relationships")
        }
      }
    }
  }

  private mutating func checkIndexes(_ entity: NSEntityDescription) {
    let properties = entity.propertiesByName
    var names: Set<String> = []
    for index in entity.indexes {
      if !names.insert(index.name).inserted {
        report(.error, entity, index.name, "there are two indexes of this name")
      }
      if index.elements.isEmpty { report(.warning, entity, index.name, "the index has no elements") }
      for element in index.elements where element.storedProperty == nil {
        guard let name = element.propertyName, !["self", "entity"].contains(name) else { continue }
        if properties[name] == nil {
          report(.error, entity, index.name, "the index names '\(name)', which the entity doesn't have")
        } else if properties[name]?.isTransient == true {
          report(.error, entity, index.name, "the index names '\(name)', which is not stored")
        }
      }
    }
    for name in entity.compoundIndexNames.joined() where properties[name] == nil {
      report(.error, entity, name, "a compound index names '\(name)', which the entity doesn't have")
    }
  }

  private mutating func checkTemplates() {
    for (name, template) in model.templates.sorted(by: { $0.key < $1.key }) {
      check(template, entity: nil, part: name)
    }
  }

  private mutating func check(
    _ request: NSFetchRequest<any NSFetchRequestResult>, entity: NSEntityDescription?, part: String
  ) {
    guard let target = request.entity else {
      let name = request.entityName.map { "'\($0)'" } ?? "no entity"
      report(.error, entity, part, "its fetch request asks for \(name), which is not in the model")
      return
    }
    for problem in PredicateCheck.problems(of: request, for: target, owner: entity) {
      report(
        problem.severity == .error ? .error : .warning, entity, part,
        "its fetch request doesn't fit: \(problem)")
    }
  }

  private mutating func checkConfigurations() {
    let configurationsByEntity = Dictionary(
      model.entityNamesByConfiguration.flatMap { name, members in members.map { ($0, [name]) } },
      uniquingKeysWith: { $0 + $1 })
    for entity in model.storedEntities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      for case let relationship as NSRelationshipDescription in entity.ownProperties.sorted(by: {
        $0.name < $1.name
      }) {
        guard let own = configurationsByEntity[entity.name ?? ""],
          let destination = relationship.destinationEntity,
          let others = configurationsByEntity[destination.name ?? ""], Set(own).isDisjoint(with: others)
        else { continue }
        report(
          .warning, entity, relationship.name,
          "it leads into another configuration, and relationships can't cross stores; use a fetched property")
      }
    }
  }
}
