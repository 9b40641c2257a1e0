import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Two versions of a small model, and stores of the first one.
enum Versions {
  /// People with pets in an order, and tags.
  static func first(_ change: (NSManagedObjectModel) -> Void = { _ in }) -> NSManagedObjectModel {
    let person = World.entity(
      "Person",
      [
        World.attribute("name", .stringAttributeType, optional: false),
        World.attribute("age", .integer16AttributeType), World.attribute("photo", .binaryDataAttributeType),
      ])
    let pet = World.entity("Pet", [World.attribute("name", .stringAttributeType)])
    let tag = World.entity("Tag", [World.attribute("title", .stringAttributeType)])
    World.pair(person, "pets", .ordered, .cascadeDeleteRule, pet, "owner", .one, .nullifyDeleteRule)
    World.pair(person, "tags", .many, .nullifyDeleteRule, tag, "people", .many, .nullifyDeleteRule)
    person.attributesByName["photo"]?.allowsExternalBinaryDataStorage = true
    let model = NSManagedObjectModel()
    model.entities = [person, pet, tag]
    for entity in model.entities { entity.managedObjectClassName = nil }
    change(model)
    return model
  }

  /// The same with a further attribute, a renamed one, and the entity `Pet` renamed to `Animal`.
  static func second() -> NSManagedObjectModel {
    first { model in
      let person: NSEntityDescription = model.entitiesByName["Person"]!
      let note = World.attribute("note", .stringAttributeType, optional: false)
      note.defaultValue = "none"
      person.properties.append(note)
      let name: NSAttributeDescription = person.attributesByName["name"]!
      name.name = "fullName"
      name.renamingIdentifier = "name"
      let pet: NSEntityDescription = model.entitiesByName["Pet"]!
      pet.name = "Animal"
      pet.renamingIdentifier = "Pet"
    }
  }

  /// Writes a compiled mapping model beside the models: it gives each person its name as the `code` that
  /// `destination` requires. `uncoded` is the same version without it, to which everything can be inferred.
  static func writeCoding(
    _ name: String = "Coding", from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
    uncoded: NSManagedObjectModel = Versions.first(), in folder: TemporaryFolder
  ) throws {
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: source, destinationModel: uncoded)
    let person = try #require(mapping.entityMappings?.first { $0.sourceEntityName == "Person" })
    person.destinationEntityVersionHash = destination.entityVersionHashesByName["Person"]
    person.mappingType = .transformEntityMappingType
    let code = NSPropertyMapping()
    code.name = "code"
    code.valueExpression = NSExpression(format: "$source.name")
    person.attributeMappings?.append(code)
    try mapping.archivedData().write(to: folder.file("\(name).cdm"))
  }

  /// A closed store of the first version with `count` people, every second with a photo.
  static func makeStore(
    _ kind: StoreKind, in folder: TemporaryFolder, people count: Int = 3, photoSize: Int = 200_000
  ) throws -> URL {
    guard let url = kind.url("store", in: folder) else { throw CocoaError(.fileNoSuchFile) }
    try using(first(), kind, url) { context in
      let tags: [NSManagedObject] = (0..<3).map { make("Tag", ["title": "tag \($0)"], context) }
      for number in 0..<count {
        let person = make("Person", ["name": "person \(number)", "age": number], context)
        if number % 2 == 0 {
          person.setValue(Data(repeating: UInt8(number % 256), count: photoSize), forKey: "photo")
        }
        let pets = (0..<(number % 4)).map { make("Pet", ["name": "pet \(number).\(3 - $0)"], context) }
        person.setValue(NSOrderedSet(array: pets), forKey: "pets")
        person.setValue(NSSet(array: Array(tags.prefix(number % 3))), forKey: "tags")
      }
      try context.save()
    }
    return url
  }

  static func make(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext)
    -> NSManagedObject
  {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  /// Opens a store, and closes it after `body`.
  static func using<Result>(
    _ model: NSManagedObjectModel, _ kind: StoreKind, _ url: URL, _ options: [AnyHashable: Any]? = nil,
    _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: kind.type, configurationName: nil, at: url, options: options)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  /// What a store holds, as lines in an order: the people by name with all that belongs to them.
  static func people(_ context: NSManagedObjectContext, name: String = "name") throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    return try context.fetch(request).map { person in
      let pets = person.mutableOrderedSetValue(forKey: "pets").array.compactMap {
        ($0 as? NSManagedObject)?.value(forKey: "name") as? String
      }
      let tags = person.mutableSetValue(forKey: "tags").compactMap {
        ($0 as? NSManagedObject)?.value(forKey: "title") as? String
      }.sorted()
      let photo = (person.value(forKey: "photo") as? Data).map { "\($0.count) of \($0[0])" } ?? "none"
      return
        "\(person.value(forKey: name) ?? "nil") \(person.value(forKey: "age") ?? "nil") \(photo) \(pets) \(tags)"
    }.sorted()
  }

  /// Runs statements on a store's file, as another program would.
  static func execute(_ url: URL, _ statements: String...) throws {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    try queue.write { database in
      for sql in statements { try database.execute(sql: sql) }
    }
  }

  static func texts(_ url: URL, _ query: String) throws -> [String] {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    return try queue.read { try String.fetchAll($0, sql: query) }
  }

  static var automatic: [AnyHashable: Any] {
    [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
  }
}
