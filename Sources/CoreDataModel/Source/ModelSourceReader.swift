import CoreDataPredicates
import Foundation

/// Reads the `contents` file of an `.xcdatamodel` into a model.
///
/// Three passes, because every element may refer to later ones in the file: entities and their own
/// properties; parents, destinations and inverses; then the parts that need complete entities (fetched
/// properties, templates, configurations).
final class ModelSourceReader {
  let file: String
  let model = NSManagedObjectModel()
  private(set) var warnings: [ModelWarning] = []
  /// The number of computed columns of indexes; they are numbered throughout the model.
  var expressionCount: Int = 0
  private var elements: [(element: ModelXMLElement, entity: NSEntityDescription)] = []
  private var entitiesByName: [String: NSEntityDescription] = [:]
  private var tables = PropertyTables()
  var composites: [String: ModelXMLElement] = [:]
  /// The number of elements of all composite attributes, those within others too.
  var compositeElementCount: Int = 0

  static func read(_ data: Data, file: String) throws -> (
    model: NSManagedObjectModel, warnings: [ModelWarning]
  ) {
    let parsed = try ModelXMLParser.parse(data, file: file)
    let reader = ModelSourceReader(file: file)
    reader.warnings = parsed.warnings
    try reader.read(parsed.root)
    return (reader.model, reader.warnings)
  }

  private init(file: String) {
    self.file = file
  }

  private func read(_ root: ModelXMLElement) throws {
    guard root.name == "model" else {
      throw error(
        root,
        "The outermost element is <\(root.name)>, but a model file starts with <model>; is this another file?"
      )
    }
    note(root)
    if let type = root.attributes["type"], type != "com.apple.IDECoreDataModeler.DataModel" {
      warn(root, "the model's type is '\(type)', not 'com.apple.IDECoreDataModeler.DataModel'")
    }
    model.versionIdentifiers = [root.attributes["userDefinedModelVersionIdentifier"] ?? ""]

    for composite in root.children("composite") { try declareComposite(composite) }
    for element in root.children("entity") { try declareEntity(element) }
    for (element, entity) in elements { try setParent(of: entity, element) }
    for (element, entity) in elements {
      if let flaw = HierarchyCheck.flaw(of: entity) {
        throw error(element, "\(flaw); take out one parentEntity.")
      }
    }
    for (element, entity) in elements { try readProperties(of: entity, element) }
    for (element, entity) in elements { try connectRelationships(of: entity, element) }
    model.entities = elements.map(\.entity)
    for (element, entity) in elements {
      try readFetchedProperties(of: entity, element)
      try readIndexes(of: entity, element)
      noteUnknownNames(in: entity, element)
    }
    for element in root.children("fetchRequest") { try readTemplate(element) }
    for element in root.children("configuration") { try readConfiguration(element) }
  }

  // MARK: Entities

  private func declareComposite(_ composite: ModelXMLElement) throws {
    note(composite)
    let name = try required("name", of: composite)
    guard composites.updateValue(composite, forKey: name) == nil else {
      throw error(composite, "There are two composites named '\(name)'; rename one.")
    }
  }

  private func declareEntity(_ element: ModelXMLElement) throws {
    note(element)
    let entity = NSEntityDescription()
    let name = try required("name", of: element)
    guard entitiesByName.updateValue(entity, forKey: name) == nil else {
      throw error(element, "There are two entities named '\(name)'; rename one.")
    }
    entity.name = name
    entity.storedClassName = element.attributes["representedClassName"].flatMap { $0.isEmpty ? nil : $0 }
    entity.isAbstract = try bool("isAbstract", of: element) ?? false
    entity.codeGenerationType = element.attributes["codeGenerationType"]
    entity.storedRenamingIdentifier = nonEmpty("elementID", of: element)
    entity.versionHashModifier = nonEmpty("versionHashModifier", of: element)
    entity.userInfo = try userInfo(of: element)
    entity.uniquenessConstraints = try groups(
      of: element, list: "uniquenessConstraints", group: "uniquenessConstraint", value: "constraint")
    entity.compoundIndexes = try groups(
      of: element, list: "compoundIndexes", group: "compoundIndex", value: "index")
    elements.append((element, entity))
  }

  /// Lists of names: `<list><group><value value="name"/>…</group>…</list>`.
  private func groups(of element: ModelXMLElement, list: String, group: String, value: String) throws
    -> [[String]]
  {
    var result: [[String]] = []
    for list in element.children(list) {
      note(list)
      for group in list.children(group) {
        note(group)
        result.append(
          try group.children(value).map { part in
            note(part)
            return try required("value", of: part)
          })
      }
    }
    return result
  }

  private func setParent(of entity: NSEntityDescription, _ element: ModelXMLElement) throws {
    guard let name = nonEmpty("parentEntity", of: element) else { return }
    guard let parent = entityNamed(name) else {
      throw error(
        element,
        "Entity '\(entity.name ?? "")' has the parent '\(name)', which is not in the model\(suggestion(name))."
      )
    }
    entity.superentity = parent
    parent.storedSubentities.append(entity)
  }

  func entityNamed(_ name: String) -> NSEntityDescription? {
    entitiesByName[name]
  }

  /// A hint at an entity whose name differs in case only.
  private func suggestion(_ name: String) -> String {
    guard let near = elements.first(where: { $0.entity.name?.lowercased() == name.lowercased() }) else {
      return ""
    }
    return "; did you mean '\(near.entity.name ?? "")'?"
  }

  // MARK: Properties

  private func readProperties(of entity: NSEntityDescription, _ element: ModelXMLElement) throws {
    var own: [NSPropertyDescription] = []
    var lines: [String: Int] = [:]
    for child in element.children {
      let property: NSPropertyDescription
      switch child.name {
      case "attribute": property = try readAttribute(child, of: entity)
      case "relationship": property = try readRelationship(child, of: entity)
      case "fetchedProperty":
        property = NSFetchedPropertyDescription()
        note(child)
        try readCommon(child, into: property)
      default: continue
      }
      if let line = lines.updateValue(child.line, forKey: property.name) {
        throw error(
          child,
          "Entity '\(entity.name ?? "")' has two properties named '\(property.name)', the other in line \(line); rename one."
        )
      }
      own.append(property)
    }
    entity.properties = own
  }

  func readCommon(_ element: ModelXMLElement, into property: NSPropertyDescription) throws {
    property.name = try required("name", of: element)
    property.isOptional = try bool("optional", of: element) ?? false
    property.storedIsTransient = try bool("transient", of: element) ?? false
    property.isIndexed = try bool("indexed", of: element) ?? false
    property.isIndexedBySpotlight = try bool("spotlightIndexingEnabled", of: element) ?? false
    property.isStoredInExternalRecord = try bool("storedInTruthFile", of: element) ?? false
    property.storedRenamingIdentifier = nonEmpty("elementID", of: element)
    property.versionHashModifier = nonEmpty("versionHashModifier", of: element)
    property.userInfo = try userInfo(of: element)
  }

  private func readRelationship(_ element: ModelXMLElement, of entity: NSEntityDescription) throws
    -> NSRelationshipDescription
  {
    note(element)
    let relationship = NSRelationshipDescription()
    try readCommon(element, into: relationship)
    relationship.isOrdered = try bool("ordered", of: element) ?? false
    let isToMany = try bool("toMany", of: element) ?? false
    relationship.minCount = try integer("minCount", of: element) ?? 0
    relationship.maxCount = try integer("maxCount", of: element) ?? (isToMany ? 0 : 1)
    if let name = element.attributes["deletionRule"] {
      guard let rule = NSDeleteRule.allCases.first(where: { $0.editorName == name }) else {
        throw error(
          element,
          "Relationship '\(relationship.name)' has the delete rule '\(name)'; the rules are Nullify, Cascade, Deny and No Action."
        )
      }
      relationship.deleteRule = rule
    }
    return relationship
  }

  private func connectRelationships(of entity: NSEntityDescription, _ element: ModelXMLElement) throws {
    let own = Dictionary(
      entity.ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for child in element.children("relationship") {
      guard let name = child.attributes["name"], let relationship = own[name] as? NSRelationshipDescription
      else {
        continue
      }
      let label = "Relationship '\(name)' of entity '\(entity.name ?? "")'"
      if let destinationName = nonEmpty("destinationEntity", of: child) {
        guard let destination = entityNamed(destinationName) else {
          throw error(
            child,
            "\(label) leads to '\(destinationName)', which is not in the model\(suggestion(destinationName))."
          )
        }
        relationship.destinationEntity = destination
      } else {
        throw error(child, "\(label) has no destinationEntity; say to which entity it leads.")
      }
      guard let inverseName = nonEmpty("inverseName", of: child) else { continue }
      let ownerName = nonEmpty("inverseEntity", of: child)
      let owner = ownerName.flatMap { entityNamed($0) } ?? relationship.destinationEntity
      if let ownerName, entityNamed(ownerName) == nil {
        throw error(
          child,
          "\(label) has its inverse '\(inverseName)' in '\(ownerName)', which is not in the model\(suggestion(ownerName))."
        )
      }
      guard let inverse = owner.flatMap({ tables.find(inverseName, in: $0) }) as? NSRelationshipDescription
      else {
        throw error(
          child,
          "\(label) has the inverse '\(inverseName)', but entity '\(owner?.name ?? "")' has no relationship of that name."
        )
      }
      relationship.inverseRelationship = inverse
    }
  }

  // MARK: Configurations

  private func readConfiguration(_ element: ModelXMLElement) throws {
    note(element)
    let name = try required("name", of: element)
    var members: [String] = []
    for member in element.children("memberEntity") {
      note(member)
      let entityName = try required("name", of: member)
      guard entityNamed(entityName) != nil else {
        throw error(
          member,
          "Configuration '\(name)' has the member '\(entityName)', which is not in the model\(suggestion(entityName))."
        )
      }
      members.append(entityName)
    }
    guard model.entityNamesByConfiguration.updateValue(members, forKey: name) == nil else {
      throw error(element, "There are two configurations named '\(name)'; rename one.")
    }
  }

  // MARK: Attributes of elements

  /// Reports attributes and children that the format does not have.
  func note(_ element: ModelXMLElement) {
    guard let schema = ModelSourceSchema.elements[element.name] else { return }
    for name in element.attributes.keys.sorted() where !schema.attributes.contains(name) {
      warn(element, "<\(element.name)> has the unknown attribute '\(name)'; what it says is ignored")
    }
    for child in element.children where !schema.children.contains(child.name) {
      warn(child, "<\(element.name)> contains the unknown element <\(child.name)>; what it says is ignored")
    }
  }

  func warn(_ element: ModelXMLElement, _ message: String) {
    warnings.append(ModelWarning(file: file, line: element.line, message: message))
  }

  func error(_ element: ModelXMLElement, _ reason: String) -> ModelFileError {
    ModelFileError(file: file, line: element.line, reason: reason)
  }

  func required(_ name: String, of element: ModelXMLElement) throws -> String {
    guard let value = nonEmpty(name, of: element) else {
      throw error(element, "<\(element.name)> has no \(name); give it one.")
    }
    return value
  }

  func nonEmpty(_ name: String, of element: ModelXMLElement) -> String? {
    element.attributes[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  func bool(_ name: String, of element: ModelXMLElement) throws -> Bool? {
    switch element.attributes[name] {
    case nil, "": return nil
    case "YES", "true", "1": return true
    case "NO", "false", "0": return false
    case let text?: throw error(element, "\(name)=\"\(text)\" of <\(element.name)> is neither YES nor NO.")
    }
  }

  func integer(_ name: String, of element: ModelXMLElement) throws -> Int? {
    guard let text = nonEmpty(name, of: element) else { return nil }
    guard let value = Int(text), Int(Int32.min)...Int(UInt32.max) ~= value else {
      throw error(element, "\(name)=\"\(text)\" of <\(element.name)> is no whole number of 32 bits.")
    }
    return value
  }

  func userInfo(of element: ModelXMLElement) throws -> [AnyHashable: Any] {
    var info: [AnyHashable: Any] = [:]
    for list in element.children("userInfo") {
      note(list)
      for entry in list.children("entry") {
        note(entry)
        info[try required("key", of: entry)] = entry.attributes["value"] ?? ""
      }
    }
    return info
  }

  func predicate(_ text: String, of element: ModelXMLElement, label: String) throws -> NSPredicate {
    do {
      return try NSPredicate(parsing: text, arguments: [])
    } catch let failure {
      throw error(element, "The predicate of \(label) can't be read: \(failure)")
    }
  }
}
