import CoreData

/// What a mapping model says of each property, as far as it can be foretold: what is copied, from where, and
/// what is new.
struct MappingOutline {
  /// Where a value comes from.
  enum Origin {
    /// From the source's attribute, or element, of the path.
    case copy(String)
    /// A new attribute's default value.
    case standard
    /// From the source's attribute, and a value in the place of nil.
    case replaced(String, nil: Any)
  }

  /// Where the members of a relationship come from.
  struct LinkOrigin {
    let source: String
    /// The mapping that makes them; nil for all mappings of the relationship's destination.
    let mapping: String?
    /// Whether both are ordered.
    let isOrdered: Bool
  }

  /// One entity mapping.
  struct Entity {
    let name: String
    let source: String
    let destination: String
    var values: [String: Origin] = [:]
    var links: [String: LinkOrigin] = [:]
  }

  private(set) var entities: [Entity] = []
  /// The destination's attributes with values, and the types of these: `Person`, `address.city`.
  private(set) var leaves: [String: [String: NSAttributeDescription]] = [:]
  /// The destination's entities whose objects can be foretold.
  private(set) var comparable: Set<String> = []
  private(set) var losses: [String] = []
  private(set) var notCompared: [String] = []

  init(_ mapping: NSMappingModel, from old: NSManagedObjectModel, to new: NSManagedObjectModel) {
    for entity in new.entities where !entity.isAbstract { leaves[entity.name ?? ""] = entity.leaves }
    let mappings: [NSEntityMapping] = mapping.entityMappings ?? []
    comparable = Set(leaves.keys)
    for mapping in mappings {
      guard let to = mapping.destinationEntityName, let target = new.entitiesByName[to] else { continue }
      if let policy = mapping.entityMigrationPolicyClassName, !policy.isEmpty,
        policy != "NSEntityMigrationPolicy"
      {
        leaveOut(to, "the objects of \(to), which \(policy) makes")
        continue
      }
      guard let from = mapping.sourceEntityName, let source = old.entitiesByName[from] else { continue }
      if !mapping.takesAll {
        leaveOut(to, "the objects of \(to), of which \(mapping.name ?? "") makes those that it selects")
        continue
      }
      entities.append(outline(mapping, source, target))
    }
    agree()
    losses = Self.losses(mappings, old)
  }

  private mutating func leaveOut(_ entity: String, _ what: String) {
    comparable.remove(entity)
    notCompared.append(what)
  }

  // MARK: Entities

  private mutating func outline(
    _ mapping: NSEntityMapping, _ source: NSEntityDescription, _ target: NSEntityDescription
  ) -> Entity {
    var entity = Entity(
      name: mapping.name ?? "", source: source.name ?? "", destination: target.name ?? "")
    var unknown: Set<String> = []
    let paths: [String: NSAttributeDescription] = leaves[entity.destination] ?? [:]
    for property in mapping.attributeMappings ?? [] {
      guard let name = property.name, let expression = property.valueExpression else { continue }
      let own: [String] = paths.keys.filter { $0 == name || $0.hasPrefix("\(name).") }
      guard let origin = Origin(expression) else {
        unknown.formUnion(own)
        notCompared.append("\(entity.destination).\(name), which is \(expression)")
        continue
      }
      for path in own { entity.values[path] = origin.adding(String(path.dropFirst(name.count))) }
    }
    let mapped: Set<String> = Set(
      (mapping.attributeMappings ?? []).filter { $0.valueExpression != nil }.compactMap {
        $0.name.map { String($0.prefix { $0 != "." }) }
      })
    for (path, leaf) in paths where entity.values[path] == nil && !unknown.contains(path) {
      if let derived = target.attributesByName[path] as? NSDerivedAttributeDescription {
        if derived.isKept(from: source) { entity.values[path] = .copy(path) }
      } else if !path.contains(".") {
        entity.values[path] = .standard
      } else if !mapped.contains(String(path.prefix { $0 != "." })), leaf.defaultValue == nil {
        entity.values[path] = .standard
      }
    }
    for property in mapping.relationshipMappings ?? [] {
      guard let name = property.name, let expression = property.valueExpression,
        let new = target.relationshipsByName[name], !new.isTransient
      else { continue }
      guard let (path, made) = expression.copiedRelationship, let old = source.relationshipsByName[path]
      else {
        notCompared.append("\(entity.destination).\(name), which is \(expression)")
        continue
      }
      entity.links[name] = LinkOrigin(source: path, mapping: made, isOrdered: old.isOrdered && new.isOrdered)
    }
    return entity
  }

  /// Objects of an entity that several mappings make can't be told apart: what is compared must be foretold
  /// by all of them.
  private mutating func agree() {
    for entity in Set(entities.map(\.destination)) {
      let all: [Int] = entities.indices.filter { entities[$0].destination == entity }
      if all.count < 2 { continue }
      for place in all {
        entities[place].values = entities[place].values.filter { path, _ in
          all.allSatisfy { entities[$0].values[path] != nil }
        }
        entities[place].links = entities[place].links.filter { name, _ in
          all.allSatisfy { entities[$0].links[name] != nil }
        }
      }
    }
  }

  private static func losses(_ mappings: [NSEntityMapping], _ old: NSManagedObjectModel) -> [String] {
    var result: Set<String> = []
    for entity in old.entities where !entity.isAbstract {
      let name: String = entity.name ?? ""
      let own: [NSEntityMapping] = mappings.filter {
        $0.sourceEntityName == name && $0.destinationEntityName != nil
      }
      if own.isEmpty {
        result.insert(name)
        continue
      }
      // A policy may read anything.
      if own.contains(where: { !($0.entityMigrationPolicyClassName ?? "").isEmpty }) { continue }
      let texts: String = own.flatMap { ($0.attributeMappings ?? []) + ($0.relationshipMappings ?? []) }
        .compactMap { $0.valueExpression.map { "\($0)" } }.joined(separator: " ")
      let read = Set(texts.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
      for (key, property) in entity.propertiesByName where !read.contains(key) && !property.isTransient {
        if property is NSFetchedPropertyDescription || property is NSDerivedAttributeDescription { continue }
        result.insert("\(name).\(key)")
      }
    }
    return result.sorted()
  }

  // MARK: Objects

  /// The objects of the new store that follow from those of the old one, as far as they can be foretold.
  func expected(_ before: StoreSnapshot) -> StoreSnapshot {
    var result = StoreSnapshot()
    // By mapping and place in the old store.
    var made: [Int: [(mapping: String, place: Int)]] = [:]
    var origins: [(entity: Entity, node: StoreSnapshot.Node)] = []
    for entity in entities where comparable.contains(entity.destination) {
      for (place, node) in before.nodes.enumerated() where node.entity == entity.source {
        made[place, default: []].append((entity.name, result.nodes.count))
        origins.append((entity, node))
        var copy = StoreSnapshot.Node(entity: entity.destination, name: node.name)
        for (path, origin) in entity.values {
          copy.values[path] = origin.value(of: node, leaves[entity.destination]?[path])
        }
        result.nodes.append(copy)
      }
    }
    for (place, origin) in origins.enumerated() {
      for (name, link) in origin.entity.links {
        result.nodes[place].links[name] = (origin.node.links[link.source] ?? []).flatMap { member in
          (made[member] ?? []).filter { link.mapping == nil || $0.mapping == link.mapping }.map(\.place)
        }
      }
    }
    return result
  }

  /// The relationships of an entity of the destination that are compared, and whether their order is.
  func links(of entity: String) -> [String: Bool] {
    var result: [String: Bool] = [:]
    for outline in entities where outline.destination == entity {
      for (name, link) in outline.links { result[name] = (result[name] ?? true) && link.isOrdered }
    }
    return result
  }

  /// The attributes and elements of an entity of the destination that are compared.
  func paths(of entity: String) -> [String] {
    entities.first { $0.destination == entity }?.values.keys.sorted() ?? []
  }
}

extension MappingOutline.Origin {
  /// nil if the expression computes something.
  fileprivate init?(_ expression: NSExpression) {
    if let path = expression.copiedPath {
      self = .copy(path)
    } else if expression.expressionType == .conditional, let path = expression.false.copiedPath,
      expression.true.expressionType == .constantValue, let value = expression.true.constantValue,
      expression.predicate.description.hasSuffix("\(path) == nil")
    {
      self = .replaced(path, nil: value)
    } else {
      return nil
    }
  }

  fileprivate func adding(_ ending: String) -> Self {
    if case .copy(let path) = self { return .copy(path + ending) }
    return self
  }

  /// A required attribute keeps its default where the source has nothing.
  fileprivate func value(of node: StoreSnapshot.Node, _ leaf: NSAttributeDescription?) -> Any? {
    switch self {
    case .copy(let path):
      node.values[path] ?? (leaf?.isOptional == false ? leaf?.defaultValue : nil)
    case .replaced(let path, let value): node.values[path] ?? value
    case .standard: leaf?.defaultValue
    }
  }
}

extension NSExpression {
  /// The path of `$source.path`.
  fileprivate var copiedPath: String? {
    guard expressionType == .keyPath, operand.expressionType == .variable, operand.variable == "source" else {
      return nil
    }
    return keyPath
  }

  /// The relationship of the source, and the mapping that has made the objects at its end, if the expression
  /// asks the manager for them.
  fileprivate var copiedRelationship: (path: String, mapping: String?)? {
    guard expressionType == .function, let arguments, arguments.count == 2,
      operand.expressionType == .variable, operand.variable == "manager",
      arguments[0].expressionType == .constantValue, let name = arguments[0].constantValue as? String,
      let path = arguments[1].copiedPath
    else { return nil }
    switch function {
    case "destinationInstancesForSourceRelationshipNamed:sourceInstances:": return (path, nil)
    case "destinationInstancesForEntityMappingNamed:sourceInstances:": return (path, name)
    default: return nil
    }
  }
}

extension NSEntityMapping {
  /// Whether objects are made of all objects of the source entity.
  fileprivate var takesAll: Bool {
    guard let text = sourceExpression.map({ "\($0)" }) else { return true }
    return text.contains("fetchRequestForSourceEntityNamed:predicateString:")
      && text.contains("TRUEPREDICATE")
  }
}

extension NSEntityDescription {
  /// The stored attributes; the elements of composite ones in their place, by path.
  fileprivate var leaves: [String: NSAttributeDescription] {
    var result: [String: NSAttributeDescription] = [:]
    func add(_ attribute: NSAttributeDescription, _ path: String) {
      guard let composite = attribute as? NSCompositeAttributeDescription else {
        result[path] = attribute
        return
      }
      for element in composite.elements { add(element, "\(path).\(element.name)") }
    }
    for (name, attribute) in attributesByName where !attribute.isTransient { add(attribute, name) }
    return result
  }
}

extension NSDerivedAttributeDescription {
  /// Whether the source computes it in the same way, and not from the time of a save.
  fileprivate func isKept(from source: NSEntityDescription) -> Bool {
    guard let old = source.attributesByName[name] as? NSDerivedAttributeDescription,
      let expression = derivationExpression
    else { return false }
    let text = "\(expression)"
    return !text.contains("now") && old.derivationExpression.map { "\($0)" } == text
  }
}
