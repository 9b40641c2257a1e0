import CoreDataModel

extension ModelLint {
  mutating func checkEntityNames() {
    var seen: [String: String] = [:]
    for entity in entities {
      guard let name = entity.name, !name.isEmpty else {
        report(.entityName, nil, nil, "an entity has no name; give it one")
        continue
      }
      if let other = seen.updateValue(name, forKey: name.uppercased()) {
        let same = other == name
        report(
          .entityClash, entity, nil,
          same
            ? "there are two entities of this name; rename one"
            : "differs from entity '\(other)' in case only, and tables ignore case; rename one")
      }
      if !Self.isIdentifier(name) {
        report(
          .entityName, entity, nil,
          "an entity's name starts with a letter and has letters, digits and underscores only")
      } else if name.first?.isLowercase == true {
        report(
          .entityCase, entity, nil,
          "its name begins with a lower-case letter, and Xcode's editor accepts upper-case ones only; rename it"
        )
      }
    }
    checkRenaming(model.storedEntities.map { ($0.name ?? "", $0.renamingIdentifier ?? "") }) {
      [model] name, message in (model.storedEntities.first { $0.name == name }, nil, message)
    }
  }

  /// Names that are exchanged by renaming identifiers alone are not in the version hashes.
  mutating func checkExchanges() {
    for exchange in RenamingExchange.all(in: model) {
      let entity: NSEntityDescription? = model.storedEntities.first {
        $0.name == (exchange.entity ?? exchange.names[0])
      }
      let things: String = exchange.entity == nil ? "entities" : "properties"
      report(
        .renamingExchange, entity,
        exchange.entity.map { _ in (exchange.path + [exchange.names[0]]).joined(separator: ".") },
        "\(exchange.list) exchange their names by renaming identifiers and are alike in all else, so that the version hash "
          + "stays: a store of the version before is not migrated, and each value stays under its former name. Give "
          + "one of the \(things) a hash modifier, or new names to both")
    }
  }

  /// A migration finds by its renaming identifier what something was called before, so each has its own.
  private mutating func checkRenaming(
    _ things: [(name: String, identifier: String)],
    _ place: (String, String) -> (NSEntityDescription?, String?, String)
  ) {
    let byIdentifier: [String: [String]] = Dictionary(
      things.map { ($0.identifier, [$0.name]) }, uniquingKeysWith: { $0 + $1 })
    for (identifier, names) in byIdentifier.sorted(by: { $0.key < $1.key }) where Set(names).count > 1 {
      for name in names.sorted() where name != identifier {
        let others: String = names.filter { $0 != name }.sorted().map { "'\($0)'" }.joined(separator: ", ")
        let (entity, part, message) = place(
          name,
          "it was '\(identifier)' by its renaming identifier, and so was \(others); remove one of the identifiers"
        )
        report(.renamingClash, entity, part, message)
      }
    }
  }

  mutating func checkEntity(_ entity: NSEntityDescription, isReached: Bool) {
    checkIgnoredCodes(entity.userInfo, entity, nil)
    checkSettings(entity.userInfo, entity, nil)
    if let mode = entity.codeGenerationType, !["", "class", "category"].contains(mode) {
      report(
        .unknownSetting, entity, nil,
        "its Codegen is '\(mode)', so that it has no generated class; it can be class or category, or nothing"
      )
    }
    if let parent = entity.superentity, parent.model !== model {
      report(
        .parentOutsideModel, entity, nil, "its parent '\(parent.name ?? "")' is not in the model; add it")
    }
    if entity.isAbstract, entity.storedSubentities.isEmpty {
      report(
        .abstractLeaf, entity, nil, "it is abstract and has no sub-entities, so it can never have objects")
    }
    if entity.properties.isEmpty, entity.storedSubentities.isEmpty {
      report(.emptyEntity, entity, nil, "it has no properties")
    }
    if !isReached {
      report(
        .isolatedEntity, entity, nil,
        "no relationship, sub-entity, fetched property or fetch request of the model leads to it; remove it if no "
          + "code uses it")
    }
    var seen: [String: String] = [:]
    let inherited = Set((entity.superentity?.properties ?? []).map(\.name))
    for property in entity.ownProperties {
      if let other = seen.updateValue(property.name, forKey: property.name.uppercased()) {
        report(
          .propertyClash, entity, property.name,
          other == property.name
            ? "there are two properties of this name; rename one"
            : "differs from '\(other)' in case only, and columns ignore case; rename one")
      }
      if let other = entity.otherKind(of: property) {
        report(
          .shadowedProperty, entity, property.name,
          "an ancestor has \(Self.label(other)) of this name, and this is \(Self.label(property)); rename one"
        )
      } else if inherited.contains(property.name) {
        report(
          .shadowedProperty, entity, property.name,
          "an ancestor has a property of this name; remove one of the two")
      }
    }
    checkRenaming(entity.ownProperties.map { ($0.name, $0.renamingIdentifier ?? "") }) { name, message in
      (entity, name, message)
    }
  }

  private static func label(_ property: NSPropertyDescription) -> String {
    switch property {
    case let attribute as NSAttributeDescription:
      "an attribute of type \(attribute.attributeType.editorName)"
    case is NSRelationshipDescription: "a relationship"
    default: "a fetched property"
    }
  }

  /// The entities that something else of the model leads to, or that lead somewhere with an inverse.
  func reachedEntities() -> Set<ObjectIdentifier> {
    var reached: Set<ObjectIdentifier> = []
    for entity in model.storedEntities {
      if let parent = entity.superentity {
        reached.insert(ObjectIdentifier(entity))
        reached.insert(ObjectIdentifier(parent))
      }
      for property in entity.ownProperties {
        if let destination = (property as? NSRelationshipDescription)?.destinationEntity {
          if destination !== entity { reached.insert(ObjectIdentifier(destination)) }
        } else if let target = (property as? NSFetchedPropertyDescription)?.fetchRequest?.entity {
          reached.insert(ObjectIdentifier(target))
        }
      }
    }
    for template in model.templates.values {
      if let target = template.entity { reached.insert(ObjectIdentifier(target)) }
    }
    return reached
  }

  // MARK: Classes

  /// Types of the standard library and of Foundation that code names without a module.
  private static let commonTypes: Set<String> = [
    "Any", "Array", "Bool", "Bundle", "Calendar", "Character", "Data", "Date", "DateInterval", "Decimal",
    "Dictionary", "Dimension", "Double", "Error", "Expression", "FileHandle", "Float", "Formatter", "Host",
    "Int", "Locale", "Measurement", "Mirror", "Never", "Notification", "Operation", "Optional", "Pipe",
    "Port", "Predicate", "Process", "Progress", "Protocol", "Range", "Regex", "Result", "Scanner", "Self",
    "Set", "Stream", "String", "Substring", "Task", "Thread", "Timer", "Type", "URL", "UUID", "Unit",
    "Int16", "Int32", "Int64", "Sendable", "Identifiable", "CaseIterable", "TimeInterval",
    // Of these Core Data's own interface is made.
    "NSDecimalNumber", "NSError", "NSFetchRequest", "NSManagedObjectContext", "NSManagedObjectID",
    "NSManagedObjectModel", "NSNumber", "NSObject", "NSOrderedSet", "NSPredicate", "NSSet",
    "NSSortDescriptor",
  ]

  mutating func checkClasses() {
    var byClass: [String: [NSEntityDescription]] = [:]
    for entity in entities {
      guard let name = entity.managedObjectClassName, !name.isEmpty, name != "NSManagedObject" else {
        continue
      }
      // `.Item` and `Item` are one class, that of the program.
      byClass[name.hasPrefix(".") ? String(name.dropFirst()) : name, default: []].append(entity)
      // `.Item` is Item of the program's own module.
      let parts: [Substring] = name.split(separator: ".", omittingEmptySubsequences: false)
      let path: ArraySlice<Substring> = name.hasPrefix(".") ? parts.dropFirst() : parts[...]
      guard path.allSatisfy({ Self.isIdentifier(String($0)) }) else {
        report(
          .className, entity, nil,
          "no class can have the name '\(name)', so its objects would be plain managed objects; a name starts with a "
            + "letter and has letters, digits and underscores only, a module and a dot before it if need be")
        continue
      }
      let simple = String(path.last ?? "")
      if Self.commonTypes.contains(simple) {
        report(
          .hiddenType, entity, nil,
          "its class '\(simple)' hides the type \(simple) of Swift or Foundation in its module; name the class "
            + "otherwise, the entity's name may stay")
      }
    }
    for (name, entities) in byClass.sorted(by: { $0.key < $1.key }) where entities.count > 1 {
      for entity in entities {
        // A sub-entity without code of its own has the class of its parent.
        guard let other = entities.first(where: { $0 !== entity }),
          !entities.contains(where: { $0 !== entity && Self.areRelated($0, entity) })
        else { continue }
        report(
          .sharedClass, entity, nil,
          "entity '\(other.name ?? "")' has the class '\(name)' too, so \(name).entity(), fetchRequest() and "
            + "init(context:) can't tell which is meant; give each its own class")
      }
    }
  }

  private static func areRelated(_ left: NSEntityDescription, _ right: NSEntityDescription) -> Bool {
    left.isKindOf(entity: right) || right.isKindOf(entity: left)
  }
}
