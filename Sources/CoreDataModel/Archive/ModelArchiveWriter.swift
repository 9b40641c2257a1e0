import CoreDataPredicates
import Foundation

/// Writes a model as the keyed archive of a `.mom` file: same classes, keys and values as Apple's compiler, so Apple's
/// framework decodes it.
struct ModelArchiveWriter {
  private var archive = KeyedArchiveWriter()
  private let model: NSManagedObjectModel
  private let modelIndex: Int
  private var entityIndexes: [ObjectIdentifier: Int] = [:]
  private var propertyIndexes: [ObjectIdentifier: Int] = [:]

  static func write(_ model: NSManagedObjectModel) throws -> Data {
    do {
      var writer = ModelArchiveWriter(model)
      return try writer.write()
    } catch let error as PlistError {
      throw ModelFileError(file: "model archive", reason: "\(error.reason).")
    }
  }

  private init(_ model: NSManagedObjectModel) {
    self.model = model
    modelIndex = archive.reserve()
  }

  private mutating func write() throws -> Data {
    let entities = model.storedEntities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    for entity in entities {
      entityIndexes[ObjectIdentifier(entity)] = archive.reserve()
      for property in entity.ownProperties {
        propertyIndexes[ObjectIdentifier(property)] = archive.reserve()
      }
    }
    for entity in entities { try write(entity) }

    var fields: [String: PlistNode] = [
      "NSEntities": dictionary(of: entities), "NSVersionIdentifiers": try versionIdentifiers(),
      "NSFetchRequestTemplates": KeyedArchiveWriter.null,
    ]
    if !model.templates.isEmpty {
      var content: [String: PlistNode] = [:]
      for (name, template) in model.templates {
        content[name] = try write(template, label: "fetch request template '\(name)'")
      }
      fields["NSFetchRequestTemplates"] = archive.dictionary(content, mutable: true)
    }
    if !model.entityNamesByConfiguration.isEmpty {
      let byName = model.entitiesByName
      var content: [String: PlistNode] = [:]
      for (name, members) in model.entityNamesByConfiguration {
        content[name] = archive.set(members.sorted().compactMap { byName[$0] }.map { reference(to: $0) })
      }
      fields["NSConfigurations"] = archive.dictionary(content, mutable: true)
    }
    archive.fill(modelIndex, ["NSManagedObjectModel", "NSObject"], fields)
    return archive.data(root: .uid(modelIndex))
  }

  private mutating func versionIdentifiers() throws -> PlistNode {
    var nodes: [PlistNode] = []
    for identifier in model.versionIdentifiers.sorted(by: { "\($0)" < "\($1)" }) {
      nodes.append(try archive.value(identifier.base, of: "version identifiers"))
    }
    return archive.set(nodes)
  }

  private func reference(to entity: NSEntityDescription?) -> PlistNode {
    entity.flatMap { entityIndexes[ObjectIdentifier($0)] }.map { .uid($0) } ?? KeyedArchiveWriter.null
  }

  private mutating func dictionary(of entities: [NSEntityDescription]) -> PlistNode {
    var content: [String: PlistNode] = [:]
    for entity in entities { content[entity.name ?? ""] = reference(to: entity) }
    return archive.dictionary(content, mutable: true)
  }

  // MARK: Entities

  private mutating func write(_ entity: NSEntityDescription) throws {
    guard let index = entityIndexes[ObjectIdentifier(entity)] else { return }
    let label = "entity '\(entity.name ?? "")'"
    var properties: [String: PlistNode] = [:]
    for property in entity.ownProperties {
      guard let propertyIndex = propertyIndexes[ObjectIdentifier(property)] else { continue }
      try write(property, at: propertyIndex)
      properties[property.name] = .uid(propertyIndex)
    }
    var fields: [String: PlistNode] = [
      "NSEntityName": archive.string(entity.name),
      "NSClassNameForEntity": archive.string(entity.managedObjectClassName),
      "NSManagedObjectModel": .uid(modelIndex),
      "NSSuperentity": reference(to: entity.superentity),
      "NSSubentities": dictionary(of: entity.storedSubentities),
      "NSProperties": archive.dictionary(properties, mutable: true),
      "NSUserInfo": try archive.value(entity.userInfo ?? [:], of: label),
      "NSVersionHashModifier": archive.string(entity.versionHashModifier),
      "NSRenamingIdentifier": archive.string(entity.renamingIdentifier),
    ]
    if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
    if !entity.uniquenessConstraints.isEmpty {
      fields["NSUniqueTuples"] = groups(entity.uniquenessConstraintNames)
    }
    if !entity.indexes.isEmpty || !entity.compoundIndexes.isEmpty {
      let nodes = try entity.indexes.map { try write($0) }
      fields["NSFetchIndexDescriptions"] = archive.array(nodes, mutable: true)
      fields["NSCompoundIndexes"] = groups(entity.compoundIndexNames)
    }
    archive.fill(index, ["NSEntityDescription", "NSObject"], fields)
  }

  private mutating func groups(_ groups: [[String]]) -> PlistNode {
    var nodes: [PlistNode] = []
    for group in groups {
      let names = group.map { archive.string($0) }
      nodes.append(archive.array(names))
    }
    return archive.array(nodes, mutable: true)
  }

  private mutating func write(_ index: NSFetchIndexDescription) throws -> PlistNode {
    let label = "index '\(index.name)'"
    let place = archive.reserve()
    let elements = index.elements.map { element in
      archive.instance(
        ["NSFetchIndexElementDescription", "NSObject"],
        [
          "NSPropertyName": archive.string(element.propertyName),
          "NSFetchIndexElementType": .integer(Int64(element.collationType.rawValue)),
          "NSAscending": .boolean(element.isAscending), "NSFetchIndexDescription": .uid(place),
        ])
    }
    archive.fill(
      place, ["NSFetchIndexDescription", "NSObject"],
      [
        "NSIndexName": archive.string(index.name), "NSIndexElements": archive.array(elements),
        "NSEntity": reference(to: index.entity),
        "NSPartialIndexPredicate": try PredicateArchiveWriter(label: label, isForModels: true)
          .write(index.partialIndexPredicate, to: &archive),
      ])
    return .uid(place)
  }

  // MARK: Properties

  private static let propertyClasses = ["NSPropertyDescription", "NSObject"]

  private mutating func write(_ property: NSPropertyDescription, at index: Int) throws {
    var fields = try commonFields(property)
    var flags: Int64 = 0xF1
    if property.isOptional { flags |= 0x02 }
    if property.isTransient { flags |= 0x08 }
    if property.isIndexedBySpotlight { flags |= 0x100 }
    let classes: [String]
    switch property {
    case let property as NSDerivedAttributeDescription:
      classes = ["NSDerivedAttributeDescription", "NSAttributeDescription"]
      flags |= 0x04
      try addAttributeFields(property, to: &fields)
      try addDerivationFields(property, to: &fields)
    case let property as NSCompositeAttributeDescription:
      classes = ["NSCompositeAttributeDescription", "NSAttributeDescription"]
      try addAttributeFields(property, to: &fields)
      var elements: [PlistNode] = []
      for element in property.elements {
        let place = archive.reserve()
        try write(element, at: place)
        elements.append(.uid(place))
      }
      fields["NSElements"] = archive.array(elements)
    case let property as NSAttributeDescription:
      classes = ["NSAttributeDescription"]
      try addAttributeFields(property, to: &fields)
      if property.allowsCloudEncryption { flags |= 0x800 }
    case let property as NSRelationshipDescription:
      classes = ["NSRelationshipDescription"]
      if property.isOrdered { flags |= 0x400 }
      addRelationshipFields(property, to: &fields)
    case let property as NSFetchedPropertyDescription:
      classes = ["NSFetchedPropertyDescription"]
      flags |= 0x04
      fields["NSIsTransient"] = .boolean(true)
      fields["NSIsReadOnly"] = .boolean(true)
      if let request = property.fetchRequest {
        fields["NSFetchRequest"] = try write(request, label: property.label)
        fields["_NSFetchRequestEntityName"] = archive.string(request.entityName)
      }
    default:
      throw ModelFileError(
        file: "model archive",
        reason: "\(property.label) is a \(type(of: property)), which a stored entity can't have.")
    }
    fields["_P"] = .integer(flags)
    archive.fill(index, classes + Self.propertyClasses, fields)
  }

  private mutating func commonFields(_ property: NSPropertyDescription) throws -> [String: PlistNode] {
    var fields: [String: PlistNode] = [
      "NSPropertyName": archive.string(property.name),
      "NSRenamingIdentifier": archive.string(property.renamingIdentifier),
    ]
    if let entity = property.declaringEntity { fields["NSEntity"] = reference(to: entity) }
    if property.isOptional { fields["NSIsOptional"] = .boolean(true) }
    if property.isTransient { fields["NSIsTransient"] = .boolean(true) }
    if property.isIndexed { fields["NSIsIndexed"] = .boolean(true) }
    if property.isIndexedBySpotlight { fields["NSIndexedBySpotlight"] = .boolean(true) }
    if let modifier = property.versionHashModifier {
      fields["NSVersionHashModifier"] = archive.string(modifier)
    }
    if let info = property.userInfo, !info.isEmpty {
      fields["NSUserInfo"] = try archive.value(info, of: property.label)
    }
    if !property.validationPredicates.isEmpty {
      let writer = PredicateArchiveWriter(label: property.label, isForModels: true)
      let rules = try property.validationPredicates.map { try writer.write($0, to: &archive) }
      fields["NSValidationPredicates"] = archive.array(rules)
      let warnings = try property.validationWarnings.map { try archive.value($0, of: property.label) }
      fields["NSValidationWarnings"] = archive.array(warnings)
    }
    return fields
  }

  private mutating func addAttributeFields(
    _ attribute: NSAttributeDescription, to fields: inout [String: PlistNode]
  ) throws {
    fields["NSAttributeType"] = .integer(Int64(attribute.attributeType.rawValue))
    fields["NSAttributeValueClassName"] = archive.string(attribute.attributeValueClassName)
    fields["NSDefaultValue"] = try archive.value(attribute.defaultValue, of: attribute.label)
    fields["NSValueTransformerName"] = archive.string(attribute.valueTransformerName)
    var flags = 0
    if attribute.allowsExternalBinaryDataStorage { flags |= ModelArchiveKeys.externalStorageFlag }
    if attribute.preservesValueInHistoryOnDeletion { flags |= ModelArchiveKeys.keptInHistoryFlag }
    fields["NSFlagsKey"] = .integer(Int64(flags))
    if attribute.allowsCloudEncryption { fields["NSAllowsCloudEncryption"] = .boolean(true) }
  }

  private mutating func addDerivationFields(
    _ attribute: NSDerivedAttributeDescription, to fields: inout [String: PlistNode]
  ) throws {
    fields["NSIsReadOnly"] = .boolean(true)
    let writer = PredicateArchiveWriter(label: attribute.label, isForModels: true)
    if let expression = attribute.derivationExpression {
      fields["NSDerivationExpression"] = try writer.write(expression.expressionNode(), to: &archive)
    }
    fields["NSFilteringPredicate"] = try writer.write(attribute.filteringPredicate, to: &archive)
  }

  private mutating func addRelationshipFields(
    _ relationship: NSRelationshipDescription, to fields: inout [String: PlistNode]
  ) {
    fields["NSDestinationEntity"] = reference(to: relationship.destinationEntity)
    fields["_NSDestinationEntityName"] = archive.string(relationship.destinationEntityName)
    let inverse = relationship.inverseRelationship.flatMap { propertyIndexes[ObjectIdentifier($0)] }
    fields["NSInverseRelationship"] = inverse.map { .uid($0) } ?? KeyedArchiveWriter.null
    fields["_NSInverseRelationshipName"] = archive.string(relationship.inverseRelationshipName)
    fields["NSMinCount"] = .integer(Int64(relationship.minCount))
    fields["NSMaxCount"] = .integer(Int64(relationship.maxCount))
    fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
    if relationship.isOrdered { fields["NSIsOrdered"] = .boolean(true) }
  }

  // MARK: Fetch requests

  private mutating func write(_ request: NSFetchRequest<any NSFetchRequestResult>, label: String) throws
    -> PlistNode
  {
    let predicates = PredicateArchiveWriter(label: label, isForModels: true)
    var sort = KeyedArchiveWriter.null
    if let descriptors = request.sortDescriptors {
      let nodes = try descriptors.map { try SortDescriptorArchiveForm.write($0, label: label, to: &archive) }
      sort = archive.array(nodes)
    }
    let entity = reference(to: request.entity)
    return archive.instance(
      ["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"],
      [
        // A request for an entity outside the model keeps its name, as Apple does for requests made by name.
        "NSEntity": entity == KeyedArchiveWriter.null ? archive.string(request.entityName) : entity,
        "NSPredicate": try predicates.write(request.predicate, to: &archive),
        "NSHavingPredicate": try predicates.write(request.havingPredicate, to: &archive),
        "NSSortDescriptors": sort,
        "NSFetchLimit": .integer(Int64(request.fetchLimit)),
        "NSFetchOffset": .integer(Int64(request.fetchOffset)),
        "NSBatchSize": .integer(Int64(request.fetchBatchSize)),
        "NSResultType": .integer(Int64(request.resultType.rawValue)),
        "NSFetchRequestFlags": .integer(Int64(FetchRequestFlags(request).rawValue)),
        "NSHasFetchRequestFlags": .boolean(true), "NSAllocationType": .integer(0),
        "NSValuesToFetch": try archive.value(names(request.propertiesToFetch), of: label),
        "NSValuesToGroupBy": try archive.value(names(request.propertiesToGroupBy), of: label),
        "NSRelationshipKeyPathsForPrefetching": try archive.value(
          request.relationshipKeyPathsForPrefetching, of: label),
      ])
  }

  private func names(_ properties: [Any]?) -> [Any]? {
    properties?.map { ($0 as? NSPropertyDescription)?.name ?? $0 }
  }
}
