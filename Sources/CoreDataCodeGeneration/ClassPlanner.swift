import CoreDataModel
import Foundation

/// Decides which classes a model needs, with which members. Writes nothing.
struct ClassPlanner {
  let model: NSManagedObjectModel
  let options: CodeGenerationOptions
  /// The file that messages name.
  let file: String
  let lines: ModelSourceLines?
  private(set) var messages: [CodeGenerationMessage] = []
  let types: PropertyTypes
  private let classes: [ObjectIdentifier: ClassName]
  /// The classes of the program's module, as they are referred to.
  private let classNames: Set<String>
  /// The templates of functions, by the name of the function and the root of the entity's tree.
  private var foundNames: [FunctionName: String] = [:]
  /// The lines of declared types with raw values, by class and name.
  private var enumerationLines: [[String]: Int] = [:]

  private struct FunctionName: Hashable {
    let name: String
    let root: ObjectIdentifier
  }

  init(
    _ model: NSManagedObjectModel, file: String, lines: ModelSourceLines?, _ options: CodeGenerationOptions
  ) {
    (self.model, self.file, self.lines, self.options) = (model, file, lines, options)
    var classes: [ObjectIdentifier: ClassName] = [:]
    for entity in model.storedEntities { classes[ObjectIdentifier(entity)] = ClassName(of: entity, options) }
    self.classes = classes
    classNames = Set(classes.values.filter { $0.module == nil }.map { $0.path.joined(separator: ".") })
    let names: Set<String> = Set(classes.values.filter { $0.module == nil }.compactMap(\.path.first))
    types = PropertyTypes(hidden: PropertyTypes.used.intersection(names))
  }

  /// The classes that others of the model inherit from.
  private var parents: Set<ClassName> {
    Set(model.storedEntities.compactMap { parent(of: $0).flatMap { classes[ObjectIdentifier($0)] } })
  }

  /// A class each for the entities that are to have one, by the class's name.
  mutating func plans() -> [ClassPlan] {
    let parents: Set<ClassName> = parents
    var plans: [ClassPlan] = []
    var places: [ClassName: Int] = [:]
    // Parents first, so that a class of several entities has the properties in the order of the hierarchy.
    for entity in model.storedEntities.sorted(by: { Self.rank($0) < Self.rank($1) }) {
      guard let mode = mode(of: entity), let name = wellFormedClass(of: entity) else { continue }
      let plan: ClassPlan = plan(entity, name, mode, hasSubclasses: parents.contains(name))
      if let place = places[name] {
        requireOneModule(entity, plans[place])
        merge(plan, of: entity, into: &plans[place])
      } else {
        places[name] = plans.count
        plans.append(plan)
      }
    }
    shareEnumerations(&plans)
    return plans.sorted { $0.name.flat < $1.name.flat }
  }

  /// The modules that the code refers to, beside Foundation and CoreData.
  func imports(of plans: [ClassPlan]) -> [String] {
    var modules: Set<String> = []
    for entity in model.storedEntities {
      guard let module = classes[ObjectIdentifier(entity)]?.module else { continue }
      modules.insert(module)
    }
    let text: Set<String> = Set(
      plans.flatMap { plan in
        [plan.superclass]
          + plan.properties.map { property in
            if case .toMany(let toMany) = property.kind { toMany.member } else { property.type }
          }
      })
    return modules.filter { module in text.contains { $0.hasPrefix("\(module).") } }.sorted()
  }

  private static func rank(_ entity: NSEntityDescription) -> (Int, String) {
    var depth = 0
    var current: NSEntityDescription? = entity
    while let parent = current?.superentity { (depth, current) = (depth + 1, parent) }
    return (depth, entity.name ?? "")
  }

  // MARK: Entities

  private func mode(of entity: NSEntityDescription) -> ClassPlan.Mode? {
    switch (options.entities, entity.codeGenerationType) {
    case (.asModelled, "class"), (.all, _): .wholeClass
    case (.asModelled, "category"): .category
    case (.asModelled, _): nil
    }
  }

  private mutating func wellFormedClass(of entity: NSEntityDescription) -> ClassName? {
    guard let name = classes[ObjectIdentifier(entity)] else { return nil }
    guard name.isWellFormed else {
      report(
        .error, entity, nil,
        "The class '\(entity.managedObjectClassName ?? "")' of entity '\(entity.name ?? "")' is no name of a class in Swift."
      )
      return nil
    }
    guard name.module == nil else {
      report(
        .warning, entity, nil,
        "The class \(name.reference) of entity '\(entity.name ?? "")' belongs to the module \(name.module ?? ""), so none is generated here; set the entity's Codegen to Manual/None."
      )
      return nil
    }
    guard name.name != ClassRenderer.namesOfProperties else {
      report(
        .error, entity, nil,
        "The class '\(name.name)' of entity '\(entity.name ?? "")' has the name of the type with the names of properties that each class has; name it otherwise."
      )
      return nil
    }
    return name
  }

  /// The text of a reference to the class of an entity.
  func reference(to entity: NSEntityDescription?) -> String {
    guard let entity, let name = classes[ObjectIdentifier(entity)], name.isWellFormed else {
      return types.standard("NSManagedObject")
    }
    return name.reference
  }

  /// The nearest ancestor that has another class.
  private func parent(of entity: NSEntityDescription) -> NSEntityDescription? {
    var current: NSEntityDescription? = entity.superentity
    while let candidate = current {
      if let name = classes[ObjectIdentifier(candidate)], name != classes[ObjectIdentifier(entity)] {
        return candidate
      }
      current = candidate.superentity
    }
    return nil
  }

  /// The properties that the class of an entity declares: its own, and those of ancestors that have no class
  /// or the same one.
  private func declared(in entity: NSEntityDescription) -> [NSPropertyDescription] {
    let parent: NSEntityDescription? = parent(of: entity)
    var groups: [[NSPropertyDescription]] = []
    var current: NSEntityDescription? = entity
    while let candidate = current, candidate !== parent {
      groups.append(candidate.ownProperties)
      current = candidate.superentity
    }
    var names: Set<String> = []
    return groups.joined().filter { names.insert($0.name).inserted }
  }

  private mutating func plan(
    _ entity: NSEntityDescription, _ name: ClassName, _ mode: ClassPlan.Mode, hasSubclasses: Bool
  )
    -> ClassPlan
  {
    let parent: NSEntityDescription? = parent(of: entity)
    let properties: [NSPropertyDescription] = declared(in: entity).sorted { $0.name < $1.name }
    var plan = ClassPlan(
      name: name, mode: mode, superclass: reference(to: parent), entities: [entity.name ?? ""],
      inheritsIdentity: parent != nil, hasSubclasses: hasSubclasses, attributes: [], relationships: [],
      propertyNames: entity.properties.map(\.name).filter(SwiftNames.isIdentifier).sorted())
    for property in properties where canBeDeclared(property, entity) {
      switch property {
      case let attribute as NSAttributeDescription:
        plan.attributes.append(self.attribute(attribute, entity, name, &plan.enumerations))
      case let relationship as NSRelationshipDescription:
        plan.relationships.append(self.relationship(relationship))
      case let fetched as NSFetchedPropertyDescription where options.fetchedProperties:
        let member: String = reference(to: fetched.fetchRequest?.entity)
        plan.relationships.append(
          PropertyPlan(name: fetched.name, type: "[\(member)]", kind: .fetched(member: member)))
      default: break
      }
    }
    checkMethods(of: plan.relationships, properties, entity)
    plan.finders = finders(of: entity)
    return plan
  }

  /// `tags` and `Tags` have both `addToTags`.
  private mutating func checkMethods(
    of relationships: [PropertyPlan], _ properties: [NSPropertyDescription], _ entity: NSEntityDescription
  ) {
    var known: [String: String] = [:]
    for relationship in relationships {
      guard case .toMany = relationship.kind else { continue }
      let name: String = SwiftNames.capitalized(relationship.name)
      guard let other = known.updateValue(relationship.name, forKey: name) else { continue }
      report(
        .error, entity, properties.first { $0.name == relationship.name },
        "The relationships '\(other)' and '\(relationship.name)' of entity '\(entity.name ?? "")' would have the same methods, addTo\(name) and so on; rename one of them."
      )
    }
  }

  private mutating func canBeDeclared(_ property: NSPropertyDescription, _ entity: NSEntityDescription)
    -> Bool
  {
    switch property.userInfo?["clarus.accessor"] as? String {
    case nil: break
    case "none": return false
    case let value?:
      report(
        .error, entity, property,
        "The user info of property '\(property.name)' of entity '\(entity.name ?? "")': clarus.accessor is '\(value)'; it can be none."
      )
      return false
    }
    let label = "'\(property.name)' of entity '\(entity.name ?? "")'"
    guard SwiftNames.isIdentifier(property.name) else {
      report(
        .warning, entity, property,
        "The property \(label) has no accessor: its name is no identifier in Swift.")
      return false
    }
    if let above = property.entity.superentity, above.propertiesByName[property.name] != nil {
      report(
        .error, entity, property,
        "The property \(label) has the name of one that the entity inherits; rename it.")
      return false
    }
    guard SwiftNames.isReserved(property.name) else { return true }
    report(
      .warning, entity, property,
      """
      The property \(label) has no accessor: NSManagedObject has a member of this name. Rename the property, with the old name as \
      its renaming identifier; or use value(forKey: "\(property.name)"), and say clarus.accessor = none in its user info.
      """)
    return false
  }

  /// `A.Item` and `B.Item` are one class only if neither `A` nor `B` is a module, or nothing says so.
  private mutating func requireOneModule(_ entity: NSEntityDescription, _ plan: ClassPlan) {
    guard options.module == nil, let module = ClassName.writtenModule(of: entity),
      let other = model.entitiesByName[plan.entities[0]], let known = ClassName.writtenModule(of: other),
      known != module
    else { return }
    report(
      .error, entity, nil,
      "The classes of the entities '\(entity.name ?? "")' and '\(plan.entities[0])' are in the modules \(module) and \(known): name the one that is generated with --module."
    )
  }

  /// Adds what a further entity of the same class has.
  private mutating func merge(_ plan: ClassPlan, of entity: NSEntityDescription, into other: inout ClassPlan)
  {
    if plan.superclass != other.superclass, plan.superclass != other.name.reference {
      report(
        .error, entity, nil,
        "The class \(other.name.reference) of entity '\(entity.name ?? "")' would need the superclass \(plan.superclass), and of '\(other.entities[0])' \(other.superclass)."
      )
      return
    }
    func merged(_ old: [PropertyPlan], _ new: [PropertyPlan]) -> [PropertyPlan] {
      (old + new.filter { candidate in !old.contains { $0.name == candidate.name } }).sorted {
        $0.name < $1.name
      }
    }
    for property in plan.properties {
      guard let twin = other.properties.first(where: { $0.name == property.name }), twin != property else {
        continue
      }
      report(
        .error, entity, entity.propertiesByName[property.name],
        "The property '\(property.name)' of the class \(other.name.reference) would be \(property.type) for entity '\(entity.name ?? "")' and \(twin.type) for '\(other.entities[0])'."
      )
    }
    other.attributes = merged(other.attributes, plan.attributes)
    other.relationships = merged(other.relationships, plan.relationships)
    other.entities += plan.entities
    other.propertyNames = Array(Set(other.propertyNames + plan.propertyNames)).sorted()
    other.finders += plan.finders
    other.enumerations += plan.enumerations.filter { !other.enumerations.contains($0) }
    if plan.mode == .wholeClass { other.mode = .wholeClass }
  }

  // MARK: Properties

  private func relationship(_ relationship: NSRelationshipDescription) -> PropertyPlan {
    let target: String = reference(to: relationship.destinationEntity)
    guard relationship.isToMany else {
      return PropertyPlan(name: relationship.name, type: "\(target)?", kind: .toOne)
    }
    let plan = ToManyPlan(member: target, isOrdered: relationship.isOrdered)
    return PropertyPlan(
      name: relationship.name, type: types.toMany(plan, options.collections), kind: .toMany(plan))
  }

  private mutating func attribute(
    _ attribute: NSAttributeDescription, _ entity: NSEntityDescription, _ name: ClassName,
    _ enumerations: inout [EnumerationPlan]
  ) -> PropertyPlan {
    let (type, kind) = types.attribute(attribute)
    let plain = PropertyPlan(name: attribute.name, type: type, kind: kind)
    do {
      guard let type = try RawValueType(of: attribute, in: name, types, classes: classNames) else {
        if attribute.attributeType == .transformableAttributeType { checkValueClass(attribute, entity) }
        return plain
      }
      if let declared = type.enumeration {
        enumerations.append(declared)
        enumerationLines[[name.flat, declared.name]] = line(of: attribute, entity)
      }
      return PropertyPlan(
        name: attribute.name, type: type.fallback == nil ? "\(type.name)?" : type.name,
        kind: .enumeration(raw: type.raw, fallback: type.fallback))
    } catch {
      report(
        .error, entity, attribute,
        "The user info of attribute '\(attribute.name)' of entity '\(entity.name ?? "")': \(error.reason)")
      return plain
    }
  }

  /// The type with raw values that an attribute's property has; nil where it has another one, or a flaw.
  func enumeration(of attribute: NSAttributeDescription) -> String? {
    guard let owner = classes[ObjectIdentifier(attribute.entity)], owner.isWellFormed, owner.module == nil
    else { return nil }
    return try? RawValueType(of: attribute, in: owner, types, classes: classNames)?.name
  }

  private mutating func checkValueClass(_ attribute: NSAttributeDescription, _ entity: NSEntityDescription) {
    guard let name = attribute.attributeValueClassName, !SwiftNames.isTypeText(name) else { return }
    report(
      .error, entity, attribute,
      "The class '\(name)' of the values of attribute '\(attribute.name)' of entity '\(entity.name ?? "")' is no type in Swift."
    )
  }

  /// A type that several attributes name is declared once.
  private mutating func shareEnumerations(_ plans: inout [ClassPlan]) {
    var known: [String: EnumerationPlan] = [:]
    for index in plans.indices {
      let owner: String = plans[index].name.flat
      plans[index].enumerations.removeAll { type in
        guard let twin = known.updateValue(type, forKey: type.name) else { return false }
        if twin != type {
          messages.append(
            CodeGenerationMessage(
              severity: .error, file: file, line: enumerationLines[[owner, type.name]],
              text:
                "The type \(type.name) is declared twice by user infos of attributes, with different cases."))
        }
        return true
      }
    }
  }

  // MARK: Templates

  private mutating func finders(of entity: NSEntityDescription) -> [FinderPlan] {
    model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }.compactMap { name, request in
      guard request.entityName == entity.name else { return nil }
      guard SwiftNames.isIdentifier(name) else {
        messages.append(
          CodeGenerationMessage(
            severity: .warning, file: file, line: lines?.template(name),
            text: "The fetch request '\(name)' has no function: its name is no identifier in Swift."))
        return nil
      }
      let finder = FinderPlan(name, request, entity, self)
      var root: NSEntityDescription = entity
      while let parent = root.superentity { root = parent }
      let place = FunctionName(name: finder.name, root: ObjectIdentifier(root))
      if let other = foundNames[place] {
        messages.append(
          CodeGenerationMessage(
            severity: .warning, file: file, line: lines?.template(name),
            text:
              "The fetch request '\(name)' has no function: the one of '\(other)' is \(finder.name) already. Rename one of them."
          ))
        return nil
      }
      foundNames[place] = name
      return finder
    }
  }

  // MARK: Messages

  private func line(of property: NSPropertyDescription?, _ entity: NSEntityDescription) -> Int? {
    let owner: String = property?.entity.name ?? entity.name ?? ""
    return property.flatMap { lines?.property($0.name, of: owner) } ?? lines?.entity(owner)
  }

  private mutating func report(
    _ severity: CodeGenerationMessage.Severity, _ entity: NSEntityDescription,
    _ property: NSPropertyDescription?, _ text: String
  ) {
    let message = CodeGenerationMessage(
      severity: severity, file: file, line: line(of: property, entity), text: text)
    if !messages.contains(message) { messages.append(message) }
  }
}
