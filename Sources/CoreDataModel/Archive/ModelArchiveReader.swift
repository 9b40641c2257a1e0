import CoreDataArchives
import CoreDataPredicates
import Foundation

/// Reads a model from the object graph of a `.mom` file or of the model cached in a store.
///
/// The graph is cyclic, so entities are created first, empty, and found by their index in the archive; then
/// properties are read, and last everything that refers to both.
final class ModelArchiveReader {
  let archive: KeyedArchive
  let file: String
  private(set) var warnings: [ModelWarning] = []

  var values: KeyedArchive.ValueDecoder
  var entities: [Int: NSEntityDescription] = [:]
  private var entityOrder: [Int] = []
  var entityNames: [String: NSEntityDescription] = [:]
  private var properties: [Int: NSPropertyDescription] = [:]
  /// Repetitions of inherited properties in sub-entities → the property of an ancestor, by their places in
  /// the archive.
  private var repetitions: [Int: Int] = [:]
  private var listedProperties: [Int: [String: Int]] = [:]
  private var propertyIndexes: [ObjectIdentifier: Int] = [:]
  private var tables = PropertyTables()
  let predicates: PredicateArchiveReader

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

  /// The request in an archive of `ModelArchiveWriter.write(_: NSFetchRequest)`.
  static func readRequest(_ data: Data) throws -> NSFetchRequest<any NSFetchRequestResult> {
    let file = "archive of a fetch request"
    do {
      let reader = ModelArchiveReader(try KeyedArchive(data), file: file, isTrusted: false)
      guard let root = try reader.archive.index(reader.archive.top["root"]) else {
        throw PlistError("the archive has no root object")
      }
      return try reader.readFetchRequest(at: root, of: "the root of the archive")
    } catch let error as PlistError {
      throw ModelFileError(file: file, reason: "\(error.reason).")
    }
  }

  private init(_ archive: KeyedArchive, file: String, isTrusted: Bool = true) {
    self.archive = archive
    self.file = file
    values = KeyedArchive.ValueDecoder(archive, allowsUndefinedDates: false)
    predicates = isTrusted ? PredicateArchiveReader(archive) : PredicateArchiveReader(untrusted: archive)
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
      // Compilers write a set with the empty string when the model has no identifier; it stays, since stores
      // repeat it.
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
      if let entity = entities[index], let flaw = HierarchyCheck.flaw(of: entity) { throw PlistError(flaw) }
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
    var known: Set<String> = []
    for (key, node) in try archive.pairs(table) {
      guard let propertyIndex = try archive.index(node), let property = try archive.record(at: propertyIndex)
      else {
        throw PlistError("entity '\(name)' has a property that is no object")
      }
      // Inherited properties are proxies in cached models; the parent has the real ones.
      if property.className == "_NSPropertyDescriptionProxy" { continue }
      if let owner = try archive.index(property.fields["NSEntity"]), owner != index,
        let ownerEntity = entities[owner],
        entity.superentity?.isKindOf(entity: ownerEntity) == true
      {
        continue
      }
      // One object under two entities could also make a cycle of repetitions.
      guard properties[propertyIndex] == nil, repetitions[propertyIndex] == nil else {
        throw PlistError("entity '\(name)' shares a property with another entity")
      }
      if let declared = try inheritedTwin(of: property, in: record) {
        repetitions[propertyIndex] = declared
        continue
      }
      let made = try readProperty(property, of: name)
      if let key = try values.value(key) as? String, key != made.name {
        throw PlistError("entity '\(name)' lists property '\(made.name)' under the name '\(key)'")
      }
      guard known.insert(made.name).inserted else {
        throw PlistError("entity '\(name)' has two properties named '\(made.name)'")
      }
      properties[propertyIndex] = made
      propertyIndexes[ObjectIdentifier(made)] = propertyIndex
      own.append(made)
    }
    entity.properties = own.sorted { $0.name < $1.name }
  }

  /// Caches of stores repeat inherited properties in sub-entities, as objects that differ in `NSEntity` only.
  /// The property that the nearest ancestor lists under the same name, if it is the same in all else; one
  /// that differs hides the inherited one.
  private func inheritedTwin(of property: KeyedArchive.Record, in entity: KeyedArchive.Record) throws -> Int?
  {
    let name: String = try string(property, "NSPropertyName") ?? ""
    var ancestor: KeyedArchive.Record = entity
    while let parent = try archive.index(ancestor.fields["NSSuperentity"]),
      let record = try archive.record(at: parent)
    {
      ancestor = record
      guard let twin = try propertyIndexesByName(of: record)[name] else { continue }
      let areEqual: Bool = try archive.areEqual(
        property.index, twin, ignoring: ["NSEntity"],
        limits: ["NSEntityDescription", "NSRelationshipDescription"])
      return areEqual ? twin : nil
    }
    return nil
  }

  /// The entries of an entity's table, by name.
  private func propertyIndexesByName(of entity: KeyedArchive.Record) throws -> [String: Int] {
    if let known = listedProperties[entity.index] { return known }
    var result: [String: Int] = [:]
    if let index = try archive.index(entity.fields["NSProperties"]), let table = try archive.record(at: index)
    {
      for (key, node) in try archive.pairs(table) {
        if let name = try values.value(key) as? String { result[name] = try archive.index(node) }
      }
    }
    listedProperties[entity.index] = result
    return result
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

  // MARK: References between the parts

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
      while let declared = repetitions[target] { target = declared }
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

  func integer(_ record: KeyedArchive.Record, _ key: String, _ label: String) throws -> Int? {
    switch try archive.resolve(record.fields[key]) {
    case nil: nil
    case .integer(let value): Int(value)
    case .boolean(let value): value ? 1 : 0
    case let other?: throw PlistError("\(key) of \(label) is \(other.kind), not an integer")
    }
  }

  func userInfo(_ record: KeyedArchive.Record) throws -> [AnyHashable: Any] {
    try values.value(record.fields["NSUserInfo"]) as? [AnyHashable: Any] ?? [:]
  }

  /// Compilers write the name itself where no renaming identifier was set.
  func renamingIdentifier(_ record: KeyedArchive.Record, name: String) throws -> String? {
    let identifier = try string(record, "NSRenamingIdentifier")
    return identifier == name ? nil : identifier
  }

  func note(_ record: KeyedArchive.Record, known: Set<String>, _ label: String) {
    for key in record.fields.keys.sorted() where key != "$class" && !known.contains(key) {
      warn("\(label) has the unknown key \(key); what it says is ignored")
    }
  }

  func warn(_ message: String) {
    warnings.append(ModelWarning(file: file, message: message))
  }
}
