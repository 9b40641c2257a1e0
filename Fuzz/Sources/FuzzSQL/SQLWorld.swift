import CSQLite
import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation

/// A store without rows whose entities have keys of every type, under the names that the seeds use.
enum SQLWorld {
  static let layout: ModelLayout = {
    let item: NSEntityDescription = entity(
      "Item",
      [
        "a": .integer64AttributeType, "b": .stringAttributeType, "d": .doubleAttributeType,
        "e": .decimalAttributeType,
        "f": .booleanAttributeType, "when": .dateAttributeType, "name": .stringAttributeType,
        "age": .integer16AttributeType,
        "price": .decimalAttributeType, "id": .UUIDAttributeType, "url": .URIAttributeType,
        "data": .binaryDataAttributeType,
        "text": .stringAttributeType, "n": .floatAttributeType,
      ])
    let person: NSEntityDescription = entity(
      "Person", ["name": .stringAttributeType, "age": .integer32AttributeType, "a": .stringAttributeType])
    let child: NSEntityDescription = entity("Child", ["year": .integer16AttributeType])
    person.subentities = [child]
    relate(item, "c", many: true, person, "x", many: false)
    relate(item, "tags", many: true, person, "items", many: true)
    relate(person, "parent", many: false, person, "children", many: true)
    relate(item, "y", many: false, item, "books", many: true, ordered: true)
    let model: NSManagedObjectModel = NSManagedObjectModel()
    model.entities = [item, person, child]
    return ModelLayout(model: model)
  }()

  static let schema: StoreSchema = {
    do {
      return try StoreSchema(layout: layout)
    } catch {
      fatalError("no schema: \(error)")
    }
  }()

  // One thread uses it.
  nonisolated(unsafe) static let database: OpaquePointer? = {
    var database: OpaquePointer?
    require(sqlite3_open(":memory:", &database), database)
    for function in SQLFunction.allCases {
      declare(function.sqliteName, function.argumentCount, in: database)
    }
    for aggregate in SQLAggregate.allCases { declare(aggregate: aggregate, in: database) }
    for collation in SQLCollation.allCases {
      require(
        sqlite3_create_collation(database, collation.sqliteName, SQLITE_UTF8, nil) { _, _, _, _, _ in 0 },
        database)
    }
    // Statements with values fill the store's own tables, which no predicate reads.
    for statement in AppleCreation(schema).statements() where statement.bindings.isEmpty {
      require(sqlite3_exec(database, statement.sql, nil, nil, nil), database)
    }
    return database
  }()

  private static func declare(_ name: String, _ count: Int, in database: OpaquePointer?) {
    require(
      sqlite3_create_function(database, name, Int32(count), SQLITE_UTF8, nil, { _, _, _ in }, nil, nil),
      database)
  }

  private static func declare(aggregate: SQLAggregate, in database: OpaquePointer?) {
    require(
      sqlite3_create_function(
        database, aggregate.sqliteName, Int32(aggregate.argumentCount), SQLITE_UTF8, nil, nil, { _, _, _ in },
        { _ in }),
      database)
  }

  private static func require(_ code: Int32, _ database: OpaquePointer?) {
    if code != SQLITE_OK { fatalError("SQLite: \(String(cString: sqlite3_errmsg(database)))") }
  }

  private static func entity(_ name: String, _ attributes: [String: NSAttributeType]) -> NSEntityDescription {
    let entity: NSEntityDescription = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.keys.sorted().map { key in
      let attribute: NSAttributeDescription = NSAttributeDescription()
      attribute.name = key
      attribute.attributeType = attributes[key] ?? .stringAttributeType
      return attribute
    }
    return entity
  }

  private static func relate(
    _ source: NSEntityDescription, _ name: String, many: Bool, _ target: NSEntityDescription,
    _ inverseName: String,
    many inverseMany: Bool, ordered: Bool = false
  ) {
    let there: NSRelationshipDescription = relationship(name, to: target, many: many, ordered: false)
    let back: NSRelationshipDescription = relationship(
      inverseName, to: source, many: inverseMany, ordered: ordered)
    source.properties.append(there)
    target.properties.append(back)
    there.inverseRelationship = back
    back.inverseRelationship = there
  }

  private static func relationship(
    _ name: String, to target: NSEntityDescription, many: Bool, ordered: Bool
  ) -> NSRelationshipDescription {
    let relationship: NSRelationshipDescription = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = target
    relationship.maxCount = many ? 0 : 1
    relationship.isOrdered = ordered
    return relationship
  }
}
