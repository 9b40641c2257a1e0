import CoreData
import CoreDataPredicates
import Foundation
import StackSupport

/// What a store needs to know about the objects of a vector: which attributes and relationships they have.
///
///     {"n": 1, "dept": {"name": "x"}, "items": [{"p": 1}]}     n integer, dept to-one {name string}, items ordered to-many {p integer}
///
/// A key that is nil, or missing and named by the predicate, takes its type from other objects of the vector,
/// else from what it is compared with.
indirect enum VectorShape: Equatable {
  /// nil so far.
  case unknown
  case attribute(NSAttributeType)
  /// A to-one relationship.
  case object([String: VectorShape])
  /// A to-many relationship.
  case members([String: VectorShape], isOrdered: Bool)
  /// An empty collection: of what, the predicate or other objects tell.
  case empty(isOrdered: Bool)
  /// A collection of plain values, or a dictionary that is read by an index. Core Data has no such attribute
  /// but a transformable one.
  case value

  /// Why no model has room for an object.
  struct Misfit: Error {
    let reason: String
  }

  init(of value: Any?) throws {
    switch value {
    case nil, is NSNull: self = .unknown
    case let entries as [String: Any]: self = .object(try Self.entries(entries))
    case let members as NSSet: self = try Self.collection(members.allObjects, isOrdered: false)
    case let members as [Any]: self = try Self.collection(members, isOrdered: true)
    case is Date: self = .attribute(.dateAttributeType)
    case is NSDecimalNumber: self = .attribute(.decimalAttributeType)
    case let number as NSNumber: self = .attribute(Self.numberType(number))
    case is String: self = .attribute(.stringAttributeType)
    case .some(let value): throw Misfit(reason: "no attribute holds \(type(of: value))")
    }
  }

  static func entries(_ entries: [String: Any]) throws -> [String: VectorShape] {
    try entries.mapValues { try VectorShape(of: $0) }
  }

  private static func numberType(_ number: NSNumber) -> NSAttributeType {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): .booleanAttributeType
    case UInt8(ascii: "d"), UInt8(ascii: "f"): .doubleAttributeType
    // Beyond 64 bits with a sign.
    case UInt8(ascii: "Q") where Int64(exactly: number.uint64Value) == nil: .decimalAttributeType
    default: .integer64AttributeType
    }
  }

  private static func collection(_ members: [Any], isOrdered: Bool) throws -> VectorShape {
    if members.isEmpty { return .empty(isOrdered: isOrdered) }
    let objects: [[String: Any]] = members.compactMap { $0 as? [String: Any] }
    if objects.isEmpty { return .value }
    guard objects.count == members.count else {
      throw Misfit(reason: "objects and plain values in one collection")
    }
    var shape: [String: VectorShape] = [:]
    for object in objects { shape = try merge(shape, entries(object)) }
    return .members(shape, isOrdered: isOrdered)
  }

  // MARK: Merging

  static func merge(_ left: [String: VectorShape], _ right: [String: VectorShape]) throws -> [String:
    VectorShape]
  {
    try left.merging(right) { try merge($0, $1) }
  }

  private static func merge(_ left: VectorShape, _ right: VectorShape) throws -> VectorShape {
    switch (left, right) {
    case (.unknown, let known), (let known, .unknown): return known
    case (.object(let a), .object(let b)): return .object(try merge(a, b))
    case (.members(let a, let isOrdered), .members(let b, let other)) where isOrdered == other:
      return .members(try merge(a, b), isOrdered: isOrdered)
    case (.empty(let a), .members(let b, let isOrdered)) where a == isOrdered:
      return .members(b, isOrdered: isOrdered)
    case (.members(let a, let isOrdered), .empty(let b)) where b == isOrdered:
      return .members(a, isOrdered: isOrdered)
    case (.empty, .value), (.value, .empty): return .value
    // 17 and 17.5 are numbers of one attribute.
    case (.attribute(.integer64AttributeType), .attribute(.doubleAttributeType)),
      (.attribute(.doubleAttributeType), .attribute(.integer64AttributeType)):
      return .attribute(.doubleAttributeType)
    case _ where left == right: return left
    default: throw Misfit(reason: "one key has values of several kinds")
    }
  }

  // MARK: What the predicate knows

  /// The shape with every key that the predicate reads.
  static func completing(
    _ shape: [String: VectorShape], for predicate: PredicateNode
  ) throws -> [String: VectorShape] {
    var shape: [String: VectorShape] = shape
    for key in try KeyUse.indexedKeys(in: predicate) {
      if case .object = shape[key] { shape[key] = .value }
    }
    for use in KeyUse.all(in: predicate) { complete(&shape, use.path[...], use.type) }
    return shape
  }

  private static func complete(
    _ shape: inout [String: VectorShape], _ path: ArraySlice<String>, _ type: NSAttributeType
  ) {
    guard let key = path.first else { return }
    let rest: ArraySlice<String> = path.dropFirst()
    switch shape[key] ?? .unknown {
    case .unknown:
      if rest.isEmpty {
        shape[key] = .attribute(type)
      } else {
        var inner: [String: VectorShape] = [:]
        complete(&inner, rest, type)
        shape[key] = .object(inner)
      }
    case .empty(let isOrdered):
      var inner: [String: VectorShape] = [:]
      complete(&inner, rest, type)
      shape[key] = .members(inner, isOrdered: isOrdered)
    case .object(var inner):
      complete(&inner, rest, type)
      shape[key] = .object(inner)
    case .members(var inner, let isOrdered):
      complete(&inner, rest, type)
      shape[key] = .members(inner, isOrdered: isOrdered)
    // Keys of plain values, such as a text's length, are no matter of the model.
    case .attribute, .value: return
    }
  }
}

/// A path of keys that a predicate reads from the object, and the type it is used as.
private struct KeyUse {
  var path: [String]
  var type: NSAttributeType

  static func all(in predicate: PredicateNode) -> [KeyUse] {
    var collector = Collector()
    collector.visit(predicate, [:])
    return collector.uses
  }

  /// Keys whose value is read by an index, as a dictionary's entry or a collection's member.
  static func indexedKeys(in predicate: PredicateNode) throws -> [String] {
    var keys: [String] = []
    try predicate.forEachExpression { expression in
      guard case .index(let target, _) = expression else { return }
      switch target {
      case .keyPath(let path): keys.append(path)
      case .evaluatedObject:
        throw VectorShape.Misfit(
          reason: "the object itself is read by an index, and no managed object is a collection")
      default: return
      }
    }
    return keys
  }

  private struct Collector {
    var uses: [KeyUse] = []

    mutating func visit(_ predicate: PredicateNode, _ variables: [String: [String]]) {
      switch predicate {
      case .constant, .block: return
      case .compound(_, let members): for member in members { visit(member, variables) }
      case .comparison(let node):
        let isText: Bool = [.like, .matches, .beginsWith, .endsWith, .contains].contains(node.comparison)
        visit(node.left, variables, isText ? .stringAttributeType : type(of: node.right))
        visit(node.right, variables, isText ? .stringAttributeType : type(of: node.left))
      }
    }

    /// What a side is compared with; a string when nothing tells.
    private func type(of expression: ExpressionNode) -> NSAttributeType? {
      switch expression {
      case .constant(let value) where value.isNumber: .integer64AttributeType
      case .constant(.date): .dateAttributeType
      default: nil
      }
    }

    private mutating func visit(
      _ expression: ExpressionNode, _ variables: [String: [String]], _ type: NSAttributeType?
    ) {
      if let path = path(expression, variables) {
        uses.append(KeyUse(path: path, type: type ?? .stringAttributeType))
        return
      }
      switch expression {
      case .subquery(let collection, let variable, let predicate):
        visit(collection, variables, nil)
        var inner: [String: [String]] = variables
        inner[variable] = path(collection, variables) ?? []
        visit(predicate, inner)
      case .conditional(let test, let then, let otherwise):
        visit(test, variables)
        visit(then, variables, type)
        visit(otherwise, variables, type)
      case .path(let target, _): visit(target, variables, nil)
      case .function(nil, let name, let arguments):
        let isText: Bool = ["lowercase:", "uppercase:", "length:", "canonical:", "castObject:toType:"]
          .contains(name)
        for argument in arguments {
          visit(argument, variables, isText ? .stringAttributeType : .doubleAttributeType)
        }
      case .function(let target?, _, let arguments):
        for part in [target] + arguments { visit(part, variables, nil) }
      case .aggregate(let members): for member in members { visit(member, variables, type) }
      case .set(_, let left, let right):
        visit(left, variables, nil)
        visit(right, variables, nil)
      case .index(let target, let index):
        visit(target, variables, nil)
        if case .at(let index) = index { visit(index, variables, .integer64AttributeType) }
      default: return
      }
    }

    /// The keys of a plain path; collection operators leave the path of the values they collect.
    private func path(_ expression: ExpressionNode, _ variables: [String: [String]]) -> [String]? {
      switch expression {
      case .keyPath(let path): keys(path)
      case .variable(let name): variables[name]
      case .path(.variable(let name), let path): variables[name].map { $0 + keys(path) }
      default: nil
      }
    }

    private func keys(_ path: String) -> [String] {
      path.split(separator: ".").map(String.init).filter { !$0.hasPrefix("@") && $0.lowercased() != "self" }
    }
  }
}

/// Makes entities of shapes, and objects of those entities of what a vector file holds.
struct VectorModel {
  private(set) var entities: [NSEntityDescription] = []

  /// An entity of this shape, and entities below it for what it is related to.
  mutating func add(_ name: String, _ shape: [String: VectorShape]) {
    _ = entity(name, shape)
  }

  private mutating func entity(_ name: String, _ shape: [String: VectorShape]) -> NSEntityDescription {
    let entity: NSEntityDescription = World.entity(name, [])
    entities.append(entity)
    for (key, value) in shape.sorted(by: { $0.key < $1.key }) {
      switch value {
      case .unknown: entity.properties.append(World.attribute(key, .stringAttributeType))
      case .attribute(let type): entity.properties.append(World.attribute(key, type))
      case .value: entity.properties.append(World.attribute(key, .transformableAttributeType))
      case .object(let inner): relate(entity, key, .one, inner)
      case .members(let inner, let isOrdered): relate(entity, key, isOrdered ? .ordered : .many, inner)
      case .empty(let isOrdered): relate(entity, key, isOrdered ? .ordered : .many, [:])
      }
    }
    return entity
  }

  private mutating func relate(
    _ owner: NSEntityDescription, _ key: String, _ cardinality: World.Cardinality,
    _ shape: [String: VectorShape]
  ) {
    let target: NSEntityDescription = entity("\(owner.name ?? "")_\(key)", shape)
    World.pair(
      owner, key, cardinality, .nullifyDeleteRule, target, "ownerOf_\(key)", .one, .nullifyDeleteRule)
  }

  /// An object of an entity with these values, related objects made with it.
  static func insert(
    _ entity: NSEntityDescription, _ values: [String: Any], into context: NSManagedObjectContext
  ) -> NSManagedObject {
    let object: NSManagedObject = context.make(entity.name ?? "")
    for (key, value) in values where !(value is NSNull) {
      guard let relationship = entity.relationshipsByName[key], let target = relationship.destinationEntity
      else {
        object.setValue(archivable(value), forKey: key)
        continue
      }
      let members: [Any] = (value as? NSSet)?.allObjects ?? value as? [Any] ?? [value]
      let objects: [NSManagedObject] = members.compactMap { $0 as? [String: Any] }
        .map { insert(target, $0, into: context) }
      object.setValue(
        relationship.isToMany
          ? relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects) : objects.first,
        forKey: key)
    }
    return object
  }

  /// An archive holds Foundation's classes.
  private static func archivable(_ value: Any) -> Any {
    switch value {
    case let array as [Any]: array as NSArray
    case let dictionary as [String: Any]: dictionary as NSDictionary
    default: value
    }
  }
}
