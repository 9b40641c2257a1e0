import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataRuntime
import Foundation

/// An entity mapping with what its migration needs: the entities of both stacks, the policy, the expressions.
struct PreparedMapping {
  let mapping: NSEntityMapping
  let source: NSEntityDescription?
  let destination: NSEntityDescription?
  let policy: NSEntityMigrationPolicy
  let attributes: [Value]
  let relationships: [Value]

  /// How one property of the destination gets its value.
  struct Value {
    let mapping: NSPropertyMapping
    /// For the path of an element of a composite attribute, the element.
    let property: NSPropertyDescription
    let expression: CoreDataPredicates.NSExpression
    /// The property of the source object that the expression reads, if it does nothing else.
    let key: String?
    /// Whether the value is one of the source object, or of an object that it leads to; or one of a mapping
    /// in the place of nil.
    let isCopied: Bool
    /// Whether the expression yields the same value each time: not with the time or random numbers.
    let isRepeatable: Bool

    /// The property's name, or the path of an element.
    var path: String { mapping.name ?? property.name }
    var isElement: Bool { path.contains(".") }
  }

  var name: String { mapping.name ?? "" }

  /// Whether an expression gives the property of the destination its value.
  func hasValue(of property: String) -> Bool { value(of: property) != nil }

  private func value(of property: String) -> Value? {
    (attributes + relationships).first { $0.path == property }
  }

  /// The property of the source object that a property of the destination is made of: an attribute's value,
  /// or for a relationship the objects that were made of those at its other end. nil if something else is
  /// read too, or nothing.
  func sourceKey(of property: String) -> String? {
    guard let value = value(of: property) else { return nil }
    if let key = value.key { return key }
    guard value.property is NSRelationshipDescription else { return nil }
    if let path = value.expression.associated?.path { return path.contains(".") ? nil : path }
    let keys: Set<String> = value.expression.expressionNode().keysOfSource
    return keys.count == 1 ? keys.first : nil
  }

  /// The same, where nil may become the default value of the property.
  func copiedKey(of property: String) -> String? {
    guard let value = value(of: property) else { return nil }
    return sourceKey(of: property)
      ?? value.expression.pathWithStandard.flatMap { $0.contains(".") ? nil : $0 }
  }

  /// Whether the mapping is as it was when this was made: a policy of the program may change it for each
  /// object, and let the default policy do the rest.
  var isCurrent: Bool {
    type(of: policy) == NSEntityMigrationPolicy.self
      || Self.has(attributes, mapping.attributeMappings)
        && Self.has(relationships, mapping.relationshipMappings)
  }

  /// Whether the values are those of the properties that have expressions.
  private static func has(_ values: [Value], _ properties: [NSPropertyMapping]?) -> Bool {
    var place: Int = 0
    for property in properties ?? [] {
      guard let expression = property.valueExpression else { continue }
      guard place < values.count, values[place].mapping === property, values[place].expression === expression
      else { return false }
      place += 1
    }
    return place == values.count
  }

  /// `policy`: nil for a new one of the mapping's class.
  init(
    _ mapping: NSEntityMapping, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
    policy known: NSEntityMigrationPolicy? = nil
  ) throws {
    self.mapping = mapping
    let name: String = mapping.name ?? ""
    func entity(_ entityName: String?, _ model: NSManagedObjectModel, _ side: String) throws
      -> NSEntityDescription?
    {
      guard let entityName else { return nil }
      if let found = model.entitiesByName[entityName] { return found }
      throw MigrationFailure.mapping(
        name, reason: "its \(side) entity '\(entityName)' is not in the \(side) model",
        advice: NearestNames.advice(for: entityName, among: model.entities.compactMap(\.name)))
    }
    self.source = try entity(mapping.sourceEntityName, source, "source")
    let target: NSEntityDescription? = try entity(mapping.destinationEntityName, destination, "destination")
    self.destination = target
    if let target, target.isAbstract, mapping.entityMigrationPolicyClassName == nil {
      throw MigrationFailure.mapping(
        name, reason: "its destination entity '\(target.name ?? "")' is abstract",
        advice: "Map to one of its sub-entities, or name a policy that makes them.")
    }
    policy = try known ?? Self.policyClass(mapping).init()
    func values(_ list: [NSPropertyMapping]?) throws -> [Value] {
      try (list ?? []).compactMap { property in
        let key: String = property.name ?? ""
        guard let expression = property.valueExpression else { return nil }
        guard let found = target.flatMap({ Self.property(key, of: $0) }) else {
          throw MigrationFailure.mapping(
            name, reason: "the entity '\(target?.name ?? "")' has no property '\(key)'",
            advice: NearestNames.advice(for: key, among: target.map { Array($0.propertiesByName.keys) } ?? [])
          )
        }
        expression.allowEvaluation()
        let path: String? = expression.sourcePath
        return Value(
          mapping: property, property: found, expression: expression,
          key: path.flatMap { $0.contains(".") ? nil : $0 },
          isCopied: path != nil || expression.pathWithStandard != nil,
          isRepeatable: expression.expressionNode().isRepeatable)
      }
    }
    attributes = try values(mapping.attributeMappings)
    relationships = try values(mapping.relationshipMappings)
  }

  /// The property of that name, or the element of a composite attribute at that path.
  private static func property(_ path: String, of entity: NSEntityDescription) -> NSPropertyDescription? {
    if let property = entity.propertiesByName[path] { return property }
    let keys: [String] = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    return keys.dropFirst().reduce(entity.propertiesByName[keys[0]]) { property, key in
      (property as? NSCompositeAttributeDescription)?.elements.first { $0.name == key }
    }
  }

  /// The class that the mapping names: as `Module.Class`, or the only class of that name in the process.
  private static func policyClass(_ mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy.Type {
    guard let name = mapping.programPolicyName else { return NSEntityMigrationPolicy.self }
    let mappingName: String = mapping.name ?? ""
    if let found = NSClassFromString(name) {
      guard let policy = found as? NSEntityMigrationPolicy.Type else {
        throw MigrationFailure.policyClass(
          name, mapping: mappingName, reason: "which is no NSEntityMigrationPolicy")
      }
      return policy
    }
    // A mapping model may name the module of another platform's program.
    let bare: String = name.split(separator: ".").last.map(String.init) ?? name
    let found = TypeSearch.classes(named: bare, subclassOf: NSEntityMigrationPolicy.self)
    if found.count > 1 {
      throw MigrationFailure.policyClass(
        name, mapping: mappingName,
        reason: "and there are several: \(found.map(\.qualifiedName).joined(separator: ", "))")
    }
    guard let policy = found.first?.type as? NSEntityMigrationPolicy.Type else {
      throw MigrationFailure.policyClass(
        name, mapping: mappingName, reason: "which does not exist in this program")
    }
    return policy
  }
}

extension ExpressionNode {
  fileprivate var isRepeatable: Bool {
    var isRepeatable: Bool = true
    forEachExpression { node in
      guard case .function(nil, let name, _) = node, let function = BuiltinFunction(rawValue: name) else {
        return
      }
      if function.isRandom || function == .now { isRepeatable = false }
    }
    return isRepeatable
  }
}

extension CoreDataPredicates.NSExpression {
  /// The path whose value a value expression copies; for a relationship, what was made of the objects at its
  /// end. nil for an expression that computes anything.
  var copiedPath: String? { sourcePath ?? pathWithStandard ?? associated?.path }

  /// The path in `$source.path`.
  fileprivate var sourcePath: String? {
    guard case .path(.variable(MigrationKey.source), let path) = expressionNode() else { return nil }
    return path
  }

  /// The path in `TERNARY($source.path == nil, constant, $source.path)`, as it is inferred for a required
  /// attribute.
  fileprivate var pathWithStandard: String? {
    guard
      case .conditional(_, .constant, .path(.variable(MigrationKey.source), let path)) = expressionNode()
    else { return nil }
    return path
  }

  /// The path to objects of the source for whose successors the expression asks the manager, and the entity
  /// mapping that it names, if it does.
  var associated: (path: String, mapping: String?)? {
    guard case .function(.variable(MigrationKey.manager), let selector, let arguments) = expressionNode(),
      arguments.count == 2, case .path(.variable(MigrationKey.source), let path) = arguments[1]
    else { return nil }
    switch (selector, arguments[0]) {
    case ("destinationInstancesForSourceRelationshipNamed:sourceInstances:", _): return (path, nil)
    case ("destinationInstancesForEntityMappingNamed:sourceInstances:", .constant(.string(let name))):
      return (path, name)
    default: return nil
    }
  }
}
