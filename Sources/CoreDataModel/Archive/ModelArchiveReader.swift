import CoreDataPredicates
import Foundation

/// Rebuilds a model from the object graph of a `.mom` file or of the model cached in a store.
///
/// The graph is cyclic, so entities are made first, empty, and found again by their index in the archive; then
/// properties are read, and last everything that refers to both.
final class ModelArchiveReader {
  let archive: KeyedArchive
  let file: String
  private(set) var warnings: [ModelWarning] = []

  private var values: KeyedArchive.ValueDecoder
  private var entities: [Int: NSEntityDescription] = [:]
  private var entityOrder: [Int] = []
  private var entityNames: [String: NSEntityDescription] = [:]
  private var properties: [Int: NSPropertyDescription] = [:]
  private var propertyIndexes: [ObjectIdentifier: Int] = [:]
  private var tables = PropertyTables()
  private let predicates: PredicateArchiveReader

  static func read(_ data: Data, file: String) throws -> (
    model: NSManagedObjectModel, warnings: [ModelWarning]
  ) {
    do {
      let reader = ModelArchiveReader(try KeyedArchive(data), file: file)
      let model = try reader.readModel()
      return (model, reader.warnings)
    } catch let error as PlistError {
      throw ModelFileError(
        file: file,
        reason:
          "This is not a readable compiled model: \(error.reason). Compile it again or restore it from a backup."
      )
    }
  }

  private init(_ archive: KeyedArchive, file: String) {
    self.archive = archive
    self.file = file
    values = KeyedArchive.ValueDecoder(archive)
    predicates = PredicateArchiveReader(archive)
  }

  // MARK: Model

  private func readModel() throws -> NSManagedObjectModel {
    guard let rootIndex = try archive.index(archive.top["root"]), let root = try archive.record(at: rootIndex)
    else {
      throw PlistError("the archive has no root object")
    }
    guard root.isKind(of: "NSManagedObjectModel") else {
      throw PlistError("the archive holds a \(root.className), not an NSManagedObjectModel")
    }
    note(root, known: ModelArchiveKeys.model, "the model")

    let model = NSManagedObjectModel()
    try makeEntities(root)
    for index in entityOrder { try readHierarchy(of: index) }
    try refuseInheritanceCycles()
    for index in entityOrder { try readEntity(at: index) }
    for index in entityOrder { try readReferences(of: index) }
    model.entities = entityOrder.compactMap { entities[$0] }.sorted { ($0.name ?? "") < ($1.name ?? "") }

    if let identifiers = try values.value(root.fields["NSVersionIdentifiers"]) {
      // Compilers write a set with the empty string when the model has no identifier; it stays, since stores repeat it.
      if let set = identifiers as? Set<AnyHashable> {
        model.versionIdentifiers = set
      } else if let list = identifiers as? [AnyHashable] {
        model.versionIdentifiers = Set(list)
      }
    }
    try readConfigurations(root, into: model)
    try readTemplates(root, into: model)
    for name in Set(values.unknownClasses + predicates.unknownClasses).sorted() {
      warn("a value of class \(name) is kept undecoded; nothing here knows that class")
    }
    return model
  }

  private func makeEntities(_ root: KeyedArchive.Record) throws {
    guard let index = try archive.index(root.fields["NSEntities"]), let table = try archive.record(at: index)
    else {
      return
    }
    for (_, node) in try archive.pairs(table) {
      guard let index = try archive.index(node), let record = try archive.record(at: index),
        record.isKind(of: "NSEntityDescription")
      else { throw PlistError("NSEntities holds something that is no entity") }
      guard entities[index] == nil else { continue }
      let entity = NSEntityDescription()
      guard let name = try string(record, "NSEntityName"), !name.isEmpty else {
        throw PlistError("object \(index) is an entity without a name")
      }
      entity.name = name
      guard entityNames.updateValue(entity, forKey: name) == nil else {
        throw PlistError("there are two entities named '\(name)'")
      }
      entities[index] = entity
      entityOrder.append(index)
    }
  }

  private func readHierarchy(of index: Int) throws {
    guard let entity = entities[index], let record = try archive.record(at: index),
      let parentIndex = try archive.index(record.fields["NSSuperentity"])
    else { return }
    guard let parent = entities[parentIndex] else {
      throw PlistError("the parent of entity '\(entity.name ?? "")' is not among the model's entities")
    }
    entity.superentity = parent
    parent.storedSubentities.append(entity)
  }

  private func refuseInheritanceCycles() throws {
    for index in entityOrder {
      if let entity = entities[index], let flaw = Hierarchy.flaw(of: entity) { throw PlistError(flaw) }
    }
    for entity in entities.values {
      entity.storedSubentities.sort { ($0.name ?? "") < ($1.name ?? "") }
    }
  }

  private func readConfigurations(_ root: KeyedArchive.Record, into model: NSManagedObjectModel) throws {
    guard let index = try archive.index(root.fields["NSConfigurations"]),
      let table = try archive.record(at: index)
    else { return }
    for (key, node) in try archive.pairs(table) {
      guard let name = try values.value(key) as? String, let setIndex = try archive.index(node),
        let set = try archive.record(at: setIndex),
        case .array(let members) = try archive.resolve(set.fields["NS.objects"])
      else { throw PlistError("a configuration is neither named nor a set of entities") }
      model.entityNamesByConfiguration[name] = try members.map { member in
        guard let index = try archive.index(member), let entity = entities[index] else {
          throw PlistError("configuration '\(name)' holds something that is no entity of the model")
        }
        return entity.name ?? ""
      }.sorted()
    }
  }

  private func readTemplates(_ root: KeyedArchive.Record, into model: NSManagedObjectModel) throws {
    guard let index = try archive.index(root.fields["NSFetchRequestTemplates"]),
      let table = try archive.record(at: index)
    else { return }
    for (key, node) in try archive.pairs(table) {
      guard let name = try values.value(key) as? String, let index = try archive.index(node) else {
        throw PlistError("a fetch request template has no name")
      }
      model.templates[name] = try readFetchRequest(at: index, of: "template '\(name)'")
    }
  }

  // MARK: Entities

  private func readEntity(at index: Int) throws {
    guard let entity = entities[index], let record = try archive.record(at: index) else { return }
    let name = entity.name ?? ""
    note(record, known: ModelArchiveKeys.entity, "entity '\(name)'")
    entity.storedClassName = try string(record, "NSClassNameForEntity")
    entity.isAbstract = bool(record, "NSIsAbstract")
    entity.versionHashModifier = try string(record, "NSVersionHashModifier")
    entity.storedRenamingIdentifier = try renamingIdentifier(record, name: name)
    entity.userInfo = try userInfo(record)
    entity.uniquenessConstraints = try names(record, "NSUniqueTuples", of: name)
    entity.compoundIndexes = try names(record, "NSCompoundIndexes", of: name)

    guard let tableIndex = try archive.index(record.fields["NSProperties"]),
      let table = try archive.record(at: tableIndex)
    else { return }
    var own: [NSPropertyDescription] = []
    for (key, node) in try archive.pairs(table) {
      guard let propertyIndex = try archive.index(node), let property = try archive.record(at: propertyIndex)
      else {
        throw PlistError("entity '\(name)' has a property that is no object")
      }
      // Inherited properties are stand-ins in cached models; the parent has the real ones.
      if property.className == "_NSPropertyDescriptionProxy" { continue }
      if let owner = try archive.index(property.fields["NSEntity"]), owner != index,
        let ownerEntity = entities[owner],
        entity.superentity?.isKindOf(entity: ownerEntity) == true
      {
        continue
      }
      guard properties[propertyIndex] == nil else {
        throw PlistError("entity '\(name)' shares a property with another entity")
      }
      let made = try readProperty(property, of: name)
      if let key = try values.value(key) as? String, key != made.name {
        throw PlistError("entity '\(name)' lists property '\(made.name)' under the name '\(key)'")
      }
      properties[propertyIndex] = made
      propertyIndexes[ObjectIdentifier(made)] = propertyIndex
      own.append(made)
    }
    entity.properties = own.sorted { $0.name < $1.name }
  }

  /// Constraints and old indexes: an array of arrays of names, or of properties in some archives.
  private func names(_ record: KeyedArchive.Record, _ key: String, of entity: String) throws -> [[Any]] {
    guard let index = try archive.index(record.fields[key]), let list = try archive.record(at: index) else {
      return []
    }
    guard case .array(let groups) = try archive.resolve(list.fields["NS.objects"]) else {
      throw PlistError("\(key) of entity '\(entity)' is no array")
    }
    return try groups.map { group in
      guard let index = try archive.index(group), let list = try archive.record(at: index),
        case .array(let members) = try archive.resolve(list.fields["NS.objects"])
      else { throw PlistError("\(key) of entity '\(entity)' holds something that is no array") }
      return try members.map { member in
        if let index = try archive.index(member), let property = try archive.record(at: index),
          let name = try string(property, "NSPropertyName")
        {
          return name
        }
        guard let name = try values.value(member) as? String else {
          throw PlistError("\(key) of entity '\(entity)' holds something that is no name")
        }
        return name
      }
    }
  }

  // MARK: Properties

  private func readProperty(_ record: KeyedArchive.Record, of entity: String, depth: Int = 0) throws
    -> NSPropertyDescription
  {
    guard depth < 16 else {
      throw PlistError("composite attributes of entity '\(entity)' nest deeper than 16")
    }
    guard let name = try string(record, "NSPropertyName"), !name.isEmpty else {
      throw PlistError("entity '\(entity)' has a property without a name")
    }
    let label = "'\(name)' of entity '\(entity)'"
    let property: NSPropertyDescription
    let known: Set<String>
    switch record.className {
    case "NSDerivedAttributeDescription":
      let derived = NSDerivedAttributeDescription()
      try readDerivation(record, into: derived, label: label)
      (property, known) = (derived, ModelArchiveKeys.derivedAttribute)
    case "NSCompositeAttributeDescription":
      let composite = NSCompositeAttributeDescription()
      try readElements(record, into: composite, of: entity, depth: depth)
      (property, known) = (composite, ModelArchiveKeys.compositeAttribute)
    case "NSRelationshipDescription":
      (property, known) = (NSRelationshipDescription(), ModelArchiveKeys.relationship)
    case "NSFetchedPropertyDescription":
      (property, known) = (NSFetchedPropertyDescription(), ModelArchiveKeys.fetchedProperty)
    case "NSAttributeDescription":
      (property, known) = (NSAttributeDescription(), ModelArchiveKeys.attribute)
    default:
      throw PlistError("\(label) is a \(record.className), which is no kind of property")
    }
    property.name = name
    note(record, known: known, label)
    property.isOptional = bool(record, "NSIsOptional")
    property.storedIsTransient = bool(record, "NSIsTransient")
    property.isIndexed = bool(record, "NSIsIndexed")
    property.isIndexedBySpotlight = bool(record, "NSIndexedBySpotlight")
    property.isStoredInExternalRecord = bool(record, "NSIsStoredInTruthFile")
    property.versionHashModifier = try string(record, "NSVersionHashModifier")
    property.storedRenamingIdentifier = try renamingIdentifier(record, name: name)
    property.userInfo = try userInfo(record)
    try readValidation(record, into: property, label: label)
    if let attribute = property as? NSAttributeDescription {
      try readAttribute(record, into: attribute, label: label)
    } else if let relationship = property as? NSRelationshipDescription {
      try readRelationship(record, into: relationship, label: label)
    }
    return property
  }

  private func readAttribute(
    _ record: KeyedArchive.Record, into attribute: NSAttributeDescription, label: String
  ) throws {
    let code = try integer(record, "NSAttributeType", label) ?? 0
    guard code >= 0, let type = NSAttributeType(rawValue: UInt(code)) else {
      throw PlistError("\(label) has the unknown attribute type \(code)")
    }
    attribute.attributeType = type
    if let name = try string(record, "NSAttributeValueClassName"), name != type.valueClassName {
      attribute.explicitValueClassName = name
    }
    attribute.defaultValue = try values.value(record.fields["NSDefaultValue"])
    attribute.valueTransformerName = try string(record, "NSValueTransformerName")
    let flags = try integer(record, "NSFlagsKey", label) ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & ModelArchiveKeys.externalStorageFlag != 0
    attribute.preservesValueInHistoryOnDeletion = flags & ModelArchiveKeys.keptInHistoryFlag != 0
    attribute.allowsCloudEncryption = bool(record, "NSAllowsCloudEncryption")
    let unknown = flags & ~(ModelArchiveKeys.externalStorageFlag | ModelArchiveKeys.keptInHistoryFlag)
    if unknown != 0 { warn("\(label) has unknown bits in its flags: \(unknown)") }
  }

  private func readElements(
    _ record: KeyedArchive.Record, into composite: NSCompositeAttributeDescription, of entity: String,
    depth: Int
  ) throws {
    guard let node = record.fields["NSElements"] ?? record.fields["NSCompositeElements"],
      let index = try archive.index(node), let list = try archive.record(at: index)
    else { return }
    let members: [PlistNode]
    if list.isKind(of: "NSDictionary") {
      members = try archive.pairs(list).map(\.value)
    } else if case .array(let elements) = try archive.resolve(list.fields["NS.objects"]) {
      members = elements
    } else {
      throw PlistError("a composite attribute of entity '\(entity)' has no list of elements")
    }
    composite.elements = try members.map { member in
      guard let index = try archive.index(member), let element = try archive.record(at: index),
        let attribute = try readProperty(element, of: entity, depth: depth + 1) as? NSAttributeDescription
      else {
        throw PlistError("a composite attribute of entity '\(entity)' has an element that is no attribute")
      }
      return attribute
    }
  }

  private func readRelationship(
    _ record: KeyedArchive.Record, into relationship: NSRelationshipDescription, label: String
  ) throws {
    relationship.minCount = try integer(record, "NSMinCount", label) ?? 0
    relationship.maxCount = try integer(record, "NSMaxCount", label) ?? 0
    relationship.isOrdered = bool(record, "NSIsOrdered")
    let code = try integer(record, "NSDeleteRule", label) ?? 1
    guard code >= 0, let rule = NSDeleteRule(rawValue: UInt(code)) else {
      throw PlistError("\(label) has the unknown delete rule \(code)")
    }
    relationship.deleteRule = rule
  }

  private func readValidation(
    _ record: KeyedArchive.Record, into property: NSPropertyDescription, label: String
  ) throws {
    guard let index = try archive.index(record.fields["NSValidationPredicates"]),
      let list = try archive.record(at: index),
      case .array(let members) = try archive.resolve(list.fields["NS.objects"])
    else { return }
    let rules = try members.map { try predicates.predicate($0, of: label) }
    let warnings = try values.value(record.fields["NSValidationWarnings"]) as? [Any] ?? []
    property.setValidation(rules, warnings: warnings)
  }

  // MARK: References between the parts

  private func readDerivation(
    _ record: KeyedArchive.Record, into attribute: NSDerivedAttributeDescription, label: String
  ) throws {
    if let node = record.fields["NSDerivationExpression"], try archive.index(node) != nil {
      attribute.derivationExpression = try predicates.expression(node, of: label)
    }
    if let node = record.fields["NSFilteringPredicate"], try archive.index(node) != nil {
      attribute.filteringPredicate = try predicates.predicate(node, of: label)
    }
  }

  private func readReferences(of index: Int) throws {
    guard let entity = entities[index], let record = try archive.record(at: index) else { return }
    for property in entity.ownProperties {
      guard let propertyIndex = propertyIndexes[ObjectIdentifier(property)],
        let record = try archive.record(at: propertyIndex)
      else { continue }
      if let relationship = property as? NSRelationshipDescription {
        try connect(relationship, record)
      } else if let fetched = property as? NSFetchedPropertyDescription,
        let index = try archive.index(record.fields["NSFetchRequest"])
      {
        fetched.fetchRequest = try readFetchRequest(at: index, of: fetched.label)
      }
    }
    try readIndexes(record, into: entity)
  }

  private func connect(_ relationship: NSRelationshipDescription, _ record: KeyedArchive.Record) throws {
    if let index = try archive.index(record.fields["NSDestinationEntity"]) {
      guard let destination = entities[index] else {
        throw PlistError("the destination of \(relationship.label) is not among the model's entities")
      }
      relationship.destinationEntity = destination
    } else if let name = try string(record, "_NSDestinationEntityName") {
      guard let destination = entityNames[name] else {
        throw PlistError(
          "the destination '\(name)' of \(relationship.label) is not among the model's entities")
      }
      relationship.destinationEntity = destination
    }
    let inverseName = try string(record, "_NSInverseRelationshipName")
    if let index = try archive.index(record.fields["NSInverseRelationship"]) {
      var target = index
      if let proxy = try archive.record(at: index), proxy.className == "_NSPropertyDescriptionProxy" {
        target = try archive.index(proxy.fields["NSUnderlyingProperty"]) ?? index
      }
      guard let inverse = properties[target] as? NSRelationshipDescription else {
        throw PlistError("the inverse of \(relationship.label) is not among the model's relationships")
      }
      relationship.inverseRelationship = inverse
    } else if let inverseName, let destination = relationship.destinationEntity {
      relationship.inverseRelationship =
        tables.find(inverseName, in: destination) as? NSRelationshipDescription
      if relationship.inverseRelationship == nil {
        warn("\(relationship.label) names an inverse '\(inverseName)' that \(destination) doesn't have")
      }
    }
  }

  private func readIndexes(_ record: KeyedArchive.Record, into entity: NSEntityDescription) throws {
    guard let index = try archive.index(record.fields["NSFetchIndexDescriptions"]),
      let list = try archive.record(at: index),
      case .array(let members) = try archive.resolve(list.fields["NS.objects"])
    else { return }
    let name = entity.name ?? ""
    entity.indexes = try members.compactMap { member in
      guard let index = try archive.index(member), let record = try archive.record(at: index) else {
        throw PlistError("entity '\(name)' has an index that is no object")
      }
      note(record, known: ModelArchiveKeys.index, "an index of entity '\(name)'")
      guard let indexName = try string(record, "NSIndexName") else {
        throw PlistError("entity '\(name)' has an index without a name")
      }
      var elements: [NSFetchIndexElementDescription] = []
      if let listIndex = try archive.index(record.fields["NSIndexElements"]),
        let list = try archive.record(at: listIndex),
        case .array(let members) = try archive.resolve(list.fields["NS.objects"])
      {
        elements = try members.map {
          try readIndexElement($0, of: "index '\(indexName)' of entity '\(name)'")
        }
      }
      let made = NSFetchIndexDescription(name: indexName, elements: elements)
      if let predicate = record.fields["NSPartialIndexPredicate"], try archive.index(predicate) != nil {
        made.partialIndexPredicate = try predicates.predicate(predicate, of: "index '\(indexName)'")
      }
      return made
    }
  }

  private func readIndexElement(_ node: PlistNode, of label: String) throws -> NSFetchIndexElementDescription
  {
    guard let index = try archive.index(node), let record = try archive.record(at: index) else {
      throw PlistError("\(label) has an element that is no object")
    }
    note(record, known: ModelArchiveKeys.indexElement, "an element of \(label)")
    let code = try integer(record, "NSFetchIndexElementType", label) ?? 0
    guard code >= 0, let type = NSFetchIndexElementType(rawValue: UInt(code)) else {
      throw PlistError("\(label) has an element of the unknown type \(code)")
    }
    guard let name = try string(record, "NSPropertyName") else {
      throw PlistError("\(label) has an element without a property")
    }
    let element = NSFetchIndexElementDescription(propertyName: name, collationType: type)
    element.isAscending = record.fields["NSAscending"] != .boolean(false)
    return element
  }

  private func readFetchRequest(at index: Int, of label: String) throws -> NSFetchRequest<
    any NSFetchRequestResult
  > {
    guard let record = try archive.record(at: index), record.isKind(of: "NSFetchRequest") else {
      throw PlistError("\(label) is no fetch request")
    }
    note(record, known: ModelArchiveKeys.fetchRequest, label)
    let request = NSFetchRequest<any NSFetchRequestResult>()
    if let entityIndex = try archive.index(record.fields["NSEntity"]) {
      if let entity = entities[entityIndex] {
        request.entity = entity
      } else if let name = try values.value(record.fields["NSEntity"]) as? String {
        request.storedEntityName = name
        request.entity = entityNames[name]
      }
    }
    if let node = record.fields["NSPredicate"], try archive.index(node) != nil {
      request.predicate = try predicates.predicate(node, of: label)
    }
    if let node = record.fields["NSHavingPredicate"], try archive.index(node) != nil {
      request.havingPredicate = try predicates.predicate(node, of: label)
    }
    request.sortDescriptors = try sortDescriptors(record, of: label)
    request.fetchLimit = try integer(record, "NSFetchLimit", label) ?? 0
    request.fetchOffset = try integer(record, "NSFetchOffset", label) ?? 0
    request.fetchBatchSize = try integer(record, "NSBatchSize", label) ?? 0
    let type = try integer(record, "NSResultType", label) ?? 0
    request.resultType = NSFetchRequestResultType(rawValue: UInt(truncatingIfNeeded: max(0, type)))
    if let flags = try integer(record, "NSFetchRequestFlags", label) {
      FetchRequestFlags(rawValue: flags).apply(to: request)
    }
    request.propertiesToFetch = try values.value(record.fields["NSValuesToFetch"]) as? [Any]
    request.propertiesToGroupBy = try values.value(record.fields["NSValuesToGroupBy"]) as? [Any]
    request.relationshipKeyPathsForPrefetching =
      try values.value(record.fields["NSRelationshipKeyPathsForPrefetching"]) as? [String]
    return request
  }

  private func sortDescriptors(_ record: KeyedArchive.Record, of label: String) throws -> [NSSortDescriptor]?
  {
    guard let index = try archive.index(record.fields["NSSortDescriptors"]),
      let list = try archive.record(at: index),
      case .array(let members) = try archive.resolve(list.fields["NS.objects"])
    else { return nil }
    return try members.map { member in
      guard let index = try archive.index(member), let record = try archive.record(at: index),
        record.isKind(of: "NSSortDescriptor")
      else { throw PlistError("\(label) has a sort descriptor that is none") }
      return try predicates.sortDescriptor(record, of: label) { selector in
        warn("\(label) sorts by the unknown selector \(selector); it is read as compare:")
      }
    }
  }

  // MARK: Fields

  func string(_ record: KeyedArchive.Record, _ key: String) throws -> String? {
    guard let value = try values.value(record.fields[key]) else { return nil }
    guard let text = value as? String else {
      throw PlistError("\(key) of object \(record.index) (\(record.className)) is no string")
    }
    return text
  }

  func bool(_ record: KeyedArchive.Record, _ key: String) -> Bool {
    switch record.fields[key] {
    case .boolean(let value): value
    case .integer(let value): value != 0
    default: false
    }
  }

  private func integer(_ record: KeyedArchive.Record, _ key: String, _ label: String) throws -> Int? {
    switch try archive.resolve(record.fields[key]) {
    case nil: nil
    case .integer(let value): Int(value)
    case .boolean(let value): value ? 1 : 0
    case let other?: throw PlistError("\(key) of \(label) is \(other.kind), not an integer")
    }
  }

  private func userInfo(_ record: KeyedArchive.Record) throws -> [AnyHashable: Any] {
    try values.value(record.fields["NSUserInfo"]) as? [AnyHashable: Any] ?? [:]
  }

  /// Compilers write the name itself where no renaming identifier was set.
  private func renamingIdentifier(_ record: KeyedArchive.Record, name: String) throws -> String? {
    let identifier = try string(record, "NSRenamingIdentifier")
    return identifier == name ? nil : identifier
  }

  private func note(_ record: KeyedArchive.Record, known: Set<String>, _ label: String) {
    for key in record.fields.keys.sorted() where key != "$class" && !known.contains(key) {
      warn("\(label) has the unknown key \(key); what it says is ignored")
    }
  }

  func warn(_ message: String) {
    warnings.append(ModelWarning(file: file, message: message))
  }
}
