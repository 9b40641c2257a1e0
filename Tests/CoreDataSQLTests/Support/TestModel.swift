import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

@testable import CoreDataSQL

/// Builds small models in code.
final class ModelBuilder {
  private(set) var entities: [String: NSEntityDescription] = [:]
  private var order: [String] = []

  @discardableResult
  func entity(
    _ name: String, parent: String? = nil, isAbstract: Bool = false,
    attributes: [String: NSAttributeType] = [:]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.isAbstract = isAbstract
    entity.properties = attributes.keys.sorted().map { key in
      let attribute = NSAttributeDescription()
      attribute.name = key
      attribute.attributeType = attributes[key]!
      return attribute
    }
    if let parent { entities[parent]!.subentities.append(entity) }
    entities[name] = entity
    order.append(name)
    return entity
  }

  /// One relationship; pair two with `inverse`.
  @discardableResult
  func relationship(
    _ name: String, of source: String, to destination: String, toMany: Bool, ordered: Bool = false
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = entities[destination]
    relationship.maxCount = toMany ? 0 : 1
    relationship.isOrdered = ordered
    entities[source]!.properties.append(relationship)
    return relationship
  }

  func inverse(_ a: NSRelationshipDescription, _ b: NSRelationshipDescription) {
    a.inverseRelationship = b
    b.inverseRelationship = a
  }

  func layout() -> ModelLayout {
    let model = NSManagedObjectModel()
    model.entities = order.map { entities[$0]! }
    return ModelLayout(model: model)
  }
}

enum TestModel {
  /// People (with a boss, friends, tags) who write books; a novel is a book; chapters are ordered.
  static let library: ModelLayout = {
    let model = ModelBuilder()
    model.entity(
      "Person",
      attributes: [
        "name": .stringAttributeType, "age": .integer16AttributeType, "score": .doubleAttributeType,
        "born": .dateAttributeType, "uid": .UUIDAttributeType, "site": .URIAttributeType,
        "photo": .binaryDataAttributeType, "isActive": .booleanAttributeType, "fee": .decimalAttributeType,
        "nick": .stringAttributeType, "secret": .transformableAttributeType,
      ])
    model.entity("Book", attributes: ["title": .stringAttributeType, "pages": .integer32AttributeType])
    model.entity("Novel", parent: "Book", attributes: ["genre": .stringAttributeType])
    model.entity("Chapter", attributes: ["title": .stringAttributeType])
    model.entity("Tag", attributes: ["label": .stringAttributeType])
    let scratch = NSAttributeDescription()
    scratch.name = "scratch"
    scratch.attributeType = .stringAttributeType
    scratch.isTransient = true
    model.entities["Person"]!.properties.append(scratch)
    model.inverse(
      model.relationship("books", of: "Person", to: "Book", toMany: true),
      model.relationship("author", of: "Book", to: "Person", toMany: false))
    model.inverse(
      model.relationship("chapters", of: "Book", to: "Chapter", toMany: true, ordered: true),
      model.relationship("book", of: "Chapter", to: "Book", toMany: false))
    model.inverse(
      model.relationship("boss", of: "Person", to: "Person", toMany: false),
      model.relationship("reports", of: "Person", to: "Person", toMany: true))
    model.inverse(
      model.relationship("tags", of: "Person", to: "Tag", toMany: true, ordered: true),
      model.relationship("people", of: "Tag", to: "Person", toMany: true))
    let friends = model.relationship("friends", of: "Person", to: "Person", toMany: true)
    friends.inverseRelationship = friends
    model.relationship("favorites", of: "Person", to: "Tag", toMany: true)
    return model.layout()
  }()

  static let schema: StoreSchema = try! StoreSchema(layout: library)

  static func entity(_ name: String) -> EntityLayout { library.byName[name]! }

  static func plan(_ entity: String, _ predicate: PredicateNode? = nil) -> FetchPlan {
    var plan = FetchPlan(entity: Self.entity(entity))
    plan.predicate = predicate
    return plan
  }

  static func plan(_ entity: String, _ format: String, _ arguments: [Any] = []) throws -> FetchPlan {
    plan(entity, try NSPredicate(parsing: format, arguments: arguments).predicateNode())
  }

  /// The condition a predicate compiles to, with the joins before it, and its bindings printed.
  static func condition(
    _ format: String, _ arguments: [Any] = [], entity: String = "Person"
  ) throws -> String {
    let statement: CompiledStatement = try FetchCompiler(schema: schema)
      .rows(plan(entity, format, arguments)).statement
    let start: String = " FROM Z\(entity.uppercased()) t0"
    var text: String = statement.sql
    if let range = text.range(of: start) { text = String(text[range.upperBound...]) }
    text = text.trimmingCharacters(in: .whitespaces)
    if text.hasPrefix("WHERE ") { text.removeFirst(6) }
    return statement.bindings.isEmpty
      ? text : text + "  ← " + statement.bindings.map(\.description).joined(separator: ", ")
  }

  static func object(_ entity: String, _ key: Int64) -> ObjectReference {
    ObjectReference(id: RowID(entity: Self.entity(entity).index, key: key))
  }
}
