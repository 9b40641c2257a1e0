import CoreDataArchives
import CoreDataPredicates
import Foundation

/// Writes a model as a keyed archive: same classes, keys and values as Apple's, so Apple's framework decodes
/// it.
///
/// Apple's archives have two forms, and so have these:
///
///     .mom file       entities in an NSMutableDictionary; a sub-entity lists the properties it declares
///     cache of store  entities in an NSKnownKeysDictionary1; a sub-entity repeats the inherited ones, as
///                     objects of its own that differ in NSEntity only; an entity of the class NSManagedObject
///                     has no class name
struct ModelArchiveWriter {
  enum Form {
    case file
    case cache
  }

  var archive = KeyedArchiveWriter()
  private let model: NSManagedObjectModel
  private let form: Form
  private let modelIndex: Int
  private var entityIndexes: [ObjectIdentifier: Int] = [:]
  /// Where the object of a property under an entity is.
  private var propertyIndexes: [Listing: Int] = [:]

  private struct Listing: Hashable {
    var entity: ObjectIdentifier
    var property: ObjectIdentifier

    init(_ property: NSPropertyDescription, in entity: NSEntityDescription) {
      self.entity = ObjectIdentifier(entity)
      self.property = ObjectIdentifier(property)
    }
  }

  static func write(_ model: NSManagedObjectModel, as form: Form) throws -> Data {
    do {
      var writer = ModelArchiveWriter(model, form)
      return try writer.write()
    } catch let error as PlistError {
      throw ModelFileError(file: "model archive", reason: "\(error.reason).")
    }
  }

  /// A request alone: the archive that Apple's framework makes of one, with the entity's name in place of the
  /// entity.
  static func write(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> Data {
    let label = "a fetch request for entity '\(request.entityName ?? "")'"
    do {
      var writer = ModelArchiveWriter(NSManagedObjectModel(), .file)
      let root: PlistNode = try writer.write(request, label: label)
      return writer.archive.data(root: root)
    } catch let error as PlistError {
      throw ModelFileError(file: "archive of \(label)", reason: "\(error.reason).")
    }
  }

  private init(_ model: NSManagedObjectModel, _ form: Form) {
    self.model = model
    self.form = form
    modelIndex = archive.reserve()
  }

  private mutating func write() throws -> Data {
    let entities = model.storedEntities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    for entity in entities {
      entityIndexes[ObjectIdentifier(entity)] = archive.reserve()
      for property in listed(in: entity) {
        propertyIndexes[Listing(property, in: entity)] = archive.reserve()
      }
    }
    for entity in entities { try write(entity) }

    var fields: [String: PlistNode] = [
      "NSEntities": form == .cache ? knownKeys(of: entities) : dictionary(of: entities),
      "NSVersionIdentifiers": try versionIdentifiers(),
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

  private func listed(in entity: NSEntityDescription) -> [NSPropertyDescription] {
    switch form {
    case .file: entity.ownProperties
    case .cache: entity.properties
    }
  }

  /// The inverse as the destination lists it: in a cache a sub-entity's own object for what it inherits.
  func inverse(of relationship: NSRelationshipDescription) -> PlistNode {
    guard let inverse = relationship.inverseRelationship else { return KeyedArchiveWriter.null }
    let owners: [NSEntityDescription] =
      [relationship.destinationEntity, inverse.declaringEntity].compactMap(\.self)
    let index: Int? = owners.lazy.compactMap { propertyIndexes[Listing(inverse, in: $0)] }.first
    return index.map { .uid($0) } ?? KeyedArchiveWriter.null
  }

  func reference(to entity: NSEntityDescription?) -> PlistNode {
    entity.flatMap { entityIndexes[ObjectIdentifier($0)] }.map { .uid($0) } ?? KeyedArchiveWriter.null
  }

  private mutating func dictionary(of entities: [NSEntityDescription]) -> PlistNode {
    var content: [String: PlistNode] = [:]
    for entity in entities { content[entity.name ?? ""] = reference(to: entity) }
    return archive.dictionary(content, mutable: true)
  }

  /// The dictionary of fixed keys that Apple's framework makes of a model's entities. Its token marks keys
  /// without value; there are none here.
  private mutating func knownKeys(of entities: [NSEntityDescription]) -> PlistNode {
    let names: [String] = entities.map { $0.name ?? "" }.sorted()
    let byName: [String: PlistNode] = Dictionary(
      entities.map { ($0.name ?? "", reference(to: $0)) }, uniquingKeysWith: { first, _ in first })
    let keys: [PlistNode] = names.map { archive.string($0) }
    let mapping: PlistNode = archive.instance(
      ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
      ["keys": archive.array(keys), "length": .integer(Int64(keys.count)), "version": .integer(1)])
    return archive.instance(
      [
        "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject",
      ],
      [
        "emptyToken": archive.string("__empty_slot_token_4c24_98dc_ac1e_b773__"), "searchMapping": mapping,
        "values": archive.array(names.compactMap { byName[$0] }), "version": .integer(1),
      ])
  }

  // MARK: Entities

  private mutating func write(_ entity: NSEntityDescription) throws {
    guard let index = entityIndexes[ObjectIdentifier(entity)] else { return }
    let label = "entity '\(entity.name ?? "")'"
    var properties: [String: PlistNode] = [:]
    for property in listed(in: entity) {
      guard let propertyIndex = propertyIndexes[Listing(property, in: entity)] else { continue }
      try write(property, of: entity, at: propertyIndex)
      properties[property.name] = .uid(propertyIndex)
    }
    let className: String? = entity.storedClassName == "NSManagedObject" ? nil : entity.storedClassName
    var fields: [String: PlistNode] = [
      "NSEntityName": archive.string(entity.name),
      "NSClassNameForEntity": archive.string(form == .cache ? className : entity.managedObjectClassName),
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
      nodes.append(archive.array(names, mutable: true))
    }
    return archive.array(nodes, mutable: true)
  }

  private mutating func write(_ index: NSFetchIndexDescription) throws -> PlistNode {
    let label = "index '\(index.name)'"
    let place = archive.reserve()
    let elements: [PlistNode] = try index.elements.map { element in
      var fields: [String: PlistNode] = [
        "NSPropertyName": archive.string(element.propertyName),
        "NSFetchIndexElementType": .integer(Int64(element.collationType.rawValue)),
        "NSAscending": .boolean(element.isAscending), "NSFetchIndexDescription": .uid(place),
      ]
      if let expression = element.expressionDescription {
        let index: Int = archive.reserve()
        try write(expression, of: nil, at: index)
        fields["NSIndexedProperty"] = .uid(index)
      }
      return archive.instance(["NSFetchIndexElementDescription", "NSObject"], fields)
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

  // MARK: Fetch requests

  mutating func write(_ request: NSFetchRequest<any NSFetchRequestResult>, label: String) throws
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
        "NSValuesToFetch": try columns(request.propertiesToFetch, of: label),
        "NSValuesToGroupBy": try columns(request.propertiesToGroupBy, of: label),
        "NSRelationshipKeyPathsForPrefetching": try archive.value(
          request.relationshipKeyPathsForPrefetching, of: label),
      ])
  }

  /// Properties by name, and computed columns.
  private mutating func columns(_ properties: [Any]?, of label: String) throws -> PlistNode {
    guard let properties else { return KeyedArchiveWriter.null }
    var nodes: [PlistNode] = []
    for property in properties {
      if let computed = property as? NSExpressionDescription {
        let index: Int = archive.reserve()
        try write(computed, of: nil, at: index)
        nodes.append(.uid(index))
      } else {
        nodes.append(try archive.value((property as? NSPropertyDescription)?.name ?? property, of: label))
      }
    }
    return archive.array(nodes)
  }
}
