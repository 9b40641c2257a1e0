import CoreData

/// The objects of a store as values: what they contain, and which of them are at the ends of their
/// relationships.
struct StoreSnapshot {
  struct Node {
    let entity: String
    /// For messages, such as `Person/p3`.
    let name: String
    /// By attribute; by path for the elements of composite attributes, such as `address.city`.
    var values: [String: Any] = [:]
    /// By relationship, the places of the objects at its end; in their order if it is ordered.
    var links: [String: [Int]] = [:]
  }

  /// What a save of the objects, were they new, would refuse.
  struct Problem {
    /// The property and the error's code: the same for an object before and after a migration.
    let kind: String
    let text: String
  }

  var nodes: [Node] = []
  var problems: [Problem] = []

  /// Reads a store with a stack of its own.
  static func read(
    _ url: URL, _ model: NSManagedObjectModel, _ type: NSPersistentStore.StoreType,
    _ options: [AnyHashable: Any]
  ) throws -> StoreSnapshot {
    let stack = try TestStack(
      model, url, type, options.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
    defer { stack.end() }
    return try stack.context.performAndWait {
      var snapshot = StoreSnapshot()
      try snapshot.read(stack.context, model)
      return snapshot
    }
  }

  /// The problems that another snapshot does not have.
  func problems(besides other: StoreSnapshot) -> [String] {
    var known: [String: Int] = other.problems.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
    return problems.filter { problem in
      known[problem.kind, default: 0] -= 1
      return known[problem.kind, default: 0] < 0
    }.map(\.text)
  }

  private mutating func read(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws {
    var objects: [NSManagedObject] = []
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>()
      request.entity = entity
      request.includesSubentities = false
      request.returnsObjectsAsFaults = false
      objects += try context.fetch(request).sorted { $0.number < $1.number }
    }
    var places: [NSManagedObjectID: Int] = [:]
    for (place, object) in objects.enumerated() { places[object.objectID] = place }
    for object in objects {
      nodes.append(node(of: object, places))
      problems += Self.problems(of: object)
    }
  }

  private mutating func node(of object: NSManagedObject, _ places: [NSManagedObjectID: Int]) -> Node {
    var node = Node(entity: object.entity.name ?? "", name: object.shortName)
    for (name, attribute) in object.entity.attributesByName where !attribute.isTransient {
      Self.add(object.value(forKey: name), of: attribute, name, to: &node.values)
    }
    for (name, relationship) in object.entity.relationshipsByName where !relationship.isTransient {
      let members: [NSManagedObject] = object.members(of: relationship)
      node.links[name] = members.compactMap { places[$0.objectID] }
      if members.contains(where: { places[$0.objectID] == nil }) {
        problems.append(
          Problem(kind: name, text: "\(node.name).\(name) leads to an object that is not in the store."))
      }
    }
    return node
  }

  /// A value; those of the elements for a composite one.
  private static func add(
    _ value: Any?, of attribute: NSAttributeDescription, _ path: String, to values: inout [String: Any]
  ) {
    guard let value, !(value is NSNull) else { return }
    guard let composite = attribute as? NSCompositeAttributeDescription else {
      values[path] = value
      return
    }
    let elements: [String: Any] = value as? [String: Any] ?? [:]
    for element in composite.elements {
      add(elements[element.name], of: element, "\(path).\(element.name)", to: &values)
    }
  }

  /// What a save would refuse in the object. A saved object that was not changed is not validated otherwise.
  private static func problems(of object: NSManagedObject) -> [Problem] {
    let name: String = object.shortName
    return object.entity.propertiesByName.sorted { $0.key < $1.key }.compactMap { key, property in
      if property.isTransient || property is NSDerivedAttributeDescription { return nil }
      if property is NSFetchedPropertyDescription { return nil }
      var value: Any? = object.value(forKey: key)
      do {
        try object.validateValue(&value, forKey: key)
        return nil
      } catch {
        let error = error as NSError
        return Problem(
          kind: "\(key) \(error.code)", text: "\(name).\(key) is not valid: \(error.localizedDescription)")
      }
    }
  }
}

extension NSManagedObject {
  /// The objects at the end of a relationship; in their order if it is ordered.
  func members(of relationship: NSRelationshipDescription) -> [NSManagedObject] {
    switch value(forKey: relationship.name) {
    case let object as NSManagedObject: [object]
    case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
    case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
    default: []
    }
  }

  /// Entity and number, such as `Person/p3`.
  fileprivate var shortName: String {
    "\(entity.name ?? "")/\(objectID.uriRepresentation().lastPathComponent)"
  }

  /// The number in the id; 0 for kinds of stores that have other ids.
  fileprivate var number: Int {
    Int(objectID.uriRepresentation().lastPathComponent.drop { !$0.isNumber }) ?? 0
  }
}
