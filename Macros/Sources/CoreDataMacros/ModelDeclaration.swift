import CoreData

/// Declarations that make no model together: which class, which property, what to write.
public struct ModelDeclarationError: Error, LocalizedError, CustomStringConvertible, Sendable, Hashable {
  public let description: String
  public var errorDescription: String? { description }
}

extension NSManagedObjectModel {
  /// The model of classes with `@ManagedObject`. Superclasses with the macro may be left out.
  ///
  /// Its version hashes are those of the same model drawn in Xcode: names, types, optionality, transience,
  /// relationships, constraints and modifiers count; the order of declarations, default values and indexes do
  /// not.
  ///
  /// - Throws: ``ModelDeclarationError`` for two entities or properties of a name, relationships to classes
  ///   that are not given, inverses that don't exist or don't lead back, names in `unique` and `indexes` that
  ///   are no properties; but on Apple's platforms also for default values of another type or outside of its
  ///   range, derivations that can't be computed and properties that hide inherited ones.
  public convenience init(declaredBy classes: any DeclaredEntity.Type...) throws {
    try self.init(declaredBy: classes)
  }

  /// See ``init(declaredBy:)-(DeclaredEntity.Type...)``.
  public convenience init(declaredBy classes: [any DeclaredEntity.Type]) throws {
    self.init()
    var builder = try ModelBuilder(classes)
    entities = try builder.build()
    #if !canImport(ObjectiveC)
      let known: Set<String> = ["default-type", "default-range", "derivation", "shadowed-property"]
      let problems: [ModelProblem] = problems(downTo: .error).filter { known.contains($0.code) }
      if !problems.isEmpty {
        throw ModelDeclarationError(description: problems.map(\.description).joined(separator: "\n"))
      }
    #endif
  }
}

private struct ModelBuilder {
  private let declarations: [EntityDeclaration]
  private var entities: [ObjectIdentifier: NSEntityDescription] = [:]

  init(_ classes: [any DeclaredEntity.Type]) throws {
    var found: [EntityDeclaration] = []
    var known: Set<ObjectIdentifier> = []
    var names: [String: NSManagedObject.Type] = [:]
    var waiting: [EntityDeclaration] = classes.map { $0.entityDeclaration }
    while let declaration = waiting.popLast() {
      guard known.insert(ObjectIdentifier(declaration.type)).inserted else { continue }
      if let other = names.updateValue(declaration.type, forKey: declaration.name) {
        throw Self.error(
          "The classes \(other) and \(declaration.type) both declare the entity '\(declaration.name)'.",
          "Give one of them another name: @ManagedObject(\"…\").")
      }
      found.append(declaration)
      if let parent = declaration.parent {
        guard let declared = parent as? any DeclaredEntity.Type else {
          throw Self.error(
            "The superclass \(parent) of \(declaration.type) declares no entity.",
            "Write @ManagedObject before it, or derive from NSManagedObject.")
        }
        waiting.append(declared.entityDeclaration)
      }
    }
    declarations = found.sorted { $0.name < $1.name }
  }

  private static func error(_ reason: String, _ advice: String) -> ModelDeclarationError {
    ModelDeclarationError(description: "\(reason) \(advice)")
  }

  mutating func build() throws -> [NSEntityDescription] {
    for declaration in declarations {
      let entity = NSEntityDescription()
      entity.name = declaration.name
      entity.managedObjectClassName = NSStringFromClass(declaration.type)
      entity.isAbstract = declaration.isAbstract
      entity.renamingIdentifier = declaration.was
      entity.versionHashModifier = declaration.versionHashModifier
      entity.userInfo = declaration.userInfo
      entities[ObjectIdentifier(declaration.type)] = entity
    }
    for declaration in declarations {
      let entity: NSEntityDescription = entity(of: declaration)
      var names: Set<String> = []
      for property in declaration.properties {
        guard names.insert(property.name).inserted else {
          throw Self.error(
            "\(declaration.type) declares the property '\(property.name)' twice.", "Rename one.")
        }
        entity.properties.append(try description(of: property, declaration))
      }
    }
    for declaration in declarations {
      guard let parent = declaration.parent else { continue }
      entities[ObjectIdentifier(parent)]!.subentities.append(entity(of: declaration))
    }
    for declaration in declarations { try connect(declaration) }
    for declaration in declarations { try constrain(declaration) }
    return declarations.map { entity(of: $0) }
  }

  private func entity(of declaration: EntityDeclaration) -> NSEntityDescription {
    entities[ObjectIdentifier(declaration.type)]!
  }

  private func description(of property: PropertyDeclaration, _ owner: EntityDeclaration) throws
    -> NSPropertyDescription
  {
    let settings: PropertyDeclaration.Settings = property.settings
    let made: NSPropertyDescription
    switch property.kind {
    case .attribute(let type):
      let attribute: NSAttributeDescription
      if let text = settings.derivation {
        let derived = NSDerivedAttributeDescription()
        derived.derivationExpression = NSExpression(format: text)
        attribute = derived
      } else {
        attribute = NSAttributeDescription()
      }
      attribute.type = type
      attribute.defaultValue = settings.standard
      attribute.allowsExternalBinaryDataStorage = settings.isExternal
      attribute.preservesValueInHistoryOnDeletion = settings.isKeptInHistory
      if let name = settings.transformer {
        attribute.type = .transformable
        attribute.valueTransformerName = name
      }
      made = attribute
    case .relationship(let destination, let isToMany, let isOrdered):
      guard let target = entities[ObjectIdentifier(destination)] else {
        throw Self.error(
          "\(owner.type).\(property.name) leads to \(destination), which is not in the model.",
          "Give \(destination).self to NSManagedObjectModel(declaredBy:) too, with @ManagedObject before the class."
        )
      }
      let relationship = NSRelationshipDescription()
      relationship.destinationEntity = target
      relationship.minCount = settings.min
      relationship.maxCount = isToMany ? settings.max : 1
      relationship.isOrdered = isOrdered
      relationship.deleteRule = settings.rule
      made = relationship
    }
    made.name = property.name
    made.isOptional = property.isOptional
    made.isTransient = settings.isTransient
    made.renamingIdentifier = settings.was
    made.versionHashModifier = settings.versionHashModifier
    made.userInfo = settings.userInfo
    return made
  }

  private func connect(_ declaration: EntityDeclaration) throws {
    let entity: NSEntityDescription = entity(of: declaration)
    for property in declaration.properties {
      guard let written = property.settings.inverse,
        let relationship = entity.relationshipsByName[property.name],
        let target = relationship.destinationEntity
      else { continue }
      let name: String = self.name(ofMember: written, in: target)
      let label = "\(declaration.type).\(property.name)"
      guard let inverse = target.relationshipsByName[name] else {
        throw Self.error(
          "The inverse '\(name)' of \(label) is no relationship of \(target.name ?? "").",
          "Its relationships are: \(target.relationshipsByName.keys.sorted().joined(separator: ", ")).")
      }
      guard let back = inverse.destinationEntity, entity.isKindOf(entity: back) else {
        throw Self.error(
          "The inverse \(target.name ?? "").\(name) of \(label) leads to \(inverse.destinationEntity?.name ?? "nothing").",
          "It has to lead to \(entity.name ?? "").")
      }
      for (one, other) in [(relationship, inverse), (inverse, relationship)] {
        if let known = one.inverseRelationship, known !== other {
          throw Self.error(
            "\(one.entity.name ?? "").\(one.name) would have two inverses, \(known.name) and \(other.name).",
            "Give each relationship one inverse.")
        }
        one.inverseRelationship = other
      }
    }
  }

  /// The name in the model of what a class declares under a name.
  private func name(ofMember member: String, in entity: NSEntityDescription) -> String {
    let family: [EntityDeclaration] = declarations.filter { entity.isKindOf(entity: self.entity(of: $0)) }
    return family.lazy.flatMap(\.properties).first { $0.member == member }?.name ?? member
  }

  private func constrain(_ declaration: EntityDeclaration) throws {
    let entity: NSEntityDescription = entity(of: declaration)
    func require(_ name: String, _ place: String) throws -> NSPropertyDescription {
      if let property = entity.propertiesByName[name] { return property }
      throw Self.error(
        "\(declaration.type) names '\(name)' in \(place), and has no such property.",
        "Its properties are: \(entity.propertiesByName.keys.sorted().joined(separator: ", ")).")
    }
    for group in declaration.unique { for name in group { _ = try require(name, "unique") } }
    entity.uniquenessConstraints = declaration.unique
    entity.indexes = try declaration.indexes.map { columns in
      let elements: [NSFetchIndexElementDescription] = try columns.map { column in
        let isDescending: Bool = column.hasPrefix("-")
        let property = try require(isDescending ? String(column.dropFirst()) : column, "indexes")
        let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
        element.isAscending = !isDescending
        return element
      }
      let names: [String] = elements.map { $0.propertyName ?? "" }
      return NSFetchIndexDescription(
        name: "by" + names.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And"),
        elements: elements)
    }
  }
}
