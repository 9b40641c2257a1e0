import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("A store with another model is migrated when it is added with the options for it")
struct AutomaticMigrationTests {
  static let kinds: [StoreKind] = [.sqlite, .xml, .binary]

  /// The current version of a program that ships both.
  static func program(_ folder: TemporaryFolder) throws -> NSManagedObjectModel {
    try SourceModel.write([Versions.first(), Versions.second()], in: folder)
  }

  @Test("an inferred migration keeps values, orders, members and large values", arguments: kinds)
  func inferred(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = try Self.program(folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 9)
    let before: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    let uuid = try metadata(kind, url)[NSStoreUUIDKey] as? String
    try Versions.using(second, kind, url, Versions.automatic) { context in
      #expect(try Versions.people(context, name: "fullName") == before)
      let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map {
        $0.value(forKey: "note") as? String
      }
      #expect(notes.allSatisfy { $0 == "none" })
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Animal")) == 12)
    }
    #expect(try metadata(kind, url)[NSStoreUUIDKey] as? String == uuid)
    // Now it is a store of the second version like any other.
    let after: [String] = try Versions.using(Versions.second(), kind, url) {
      try Versions.people($0, name: "fullName")
    }
    #expect(after == before)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
      $0.contains("migrat")
    }
    #expect(left.isEmpty)
  }

  @Test("renamings are followed over the versions between, to entities too", arguments: kinds)
  func renamings(_ kind: StoreKind) throws {
    func version(_ entity: String, _ attribute: String, was former: (String, String)?) -> NSManagedObjectModel
    {
      Versions.first { model in
        let tag: NSEntityDescription = model.entitiesByName["Tag"]!
        let title: NSAttributeDescription = tag.attributesByName["title"]!
        (tag.name, title.name) = (entity, attribute)
        if let former { (tag.renamingIdentifier, title.renamingIdentifier) = former }
      }
    }
    let versions: [NSManagedObjectModel] = [
      Versions.first(), version("Mark", "label", was: ("Tag", "title")),
      version("Mark", "text", was: ("Mark", "label")), version("Sign", "words", was: ("Mark", "text")),
    ]
    let folder = try TemporaryFolder()
    let current = try SourceModel.write(versions, in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 5)
    let plan = try MigrationPlan(forStoreAt: url, to: current)
    #expect(plan.losses.isEmpty, "\(plan)")
    let found: [String] = try Versions.using(current, kind, url, Versions.automatic) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Sign")).map {
        "\($0.value(forKey: "words") ?? "nil") \($0.mutableSetValue(forKey: "people").count)"
      }
    }
    #expect(found.sorted() == ["tag 0 3", "tag 1 1", "tag 2 0"])
  }

  @Test("a store that must be there is migrated to a new file too, and copied", arguments: kinds)
  func mustExist(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = try Self.program(folder)
    let url: URL = try Versions.makeStore(kind, in: folder)
    let before: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    // A mapping model of the program: SQLite stores are copied too.
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: second)
    try mapping.archivedData().write(to: folder.file("Program.cdm"))
    #expect(try MigrationPlan(forStoreAt: url, to: second).steps[0].statements == nil)
    let options: [AnyHashable: Any] = Versions.automatic.merging([CreatesStoreIfMissingOption: false]) { $1 }
    try Versions.using(second, kind, url, options) { context in
      #expect(try Versions.people(context, name: "fullName") == before)
      let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
      try coordinator.migratePersistentStore(
        coordinator.persistentStores[0], to: folder.file("copy"), options: options, withType: kind.type)
      #expect(try Versions.people(context, name: "fullName") == before)
    }
  }

  @Test("a renaming counts after a later version has removed its identifier", arguments: kinds)
  func forgottenRenamings(_ kind: StoreKind) throws {
    func version(_ names: (String, String), was former: (String, String)?, more: Bool = false)
      -> NSManagedObjectModel
    {
      Versions.first { model in
        let tag: NSEntityDescription = model.entitiesByName["Tag"]!
        let title: NSAttributeDescription = tag.attributesByName["title"]!
        (tag.name, title.name) = names
        if let former { (tag.renamingIdentifier, title.renamingIdentifier) = former }
        if more { tag.properties.append(World.attribute("color", .stringAttributeType)) }
      }
    }
    let versions: [NSManagedObjectModel] = [
      Versions.first(), version(("Mark", "label"), was: ("Tag", "title")),
      version(("Mark", "label"), was: nil, more: true),
    ]
    let folder = try TemporaryFolder()
    let current = try SourceModel.write(versions, in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 5)
    #expect(try MigrationPlan(forStoreAt: url, to: current).losses == [])
    let found: [String] = try Versions.using(current, kind, url, Versions.automatic) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Mark")).map {
        "\($0.value(forKey: "label") ?? "nil") \($0.mutableSetValue(forKey: "people").count)"
      }
    }
    #expect(found.sorted() == ["tag 0 3", "tag 1 1", "tag 2 0"])
  }

  @Test("numbers at the ends of their type pass the comparison of a rebuilt table", arguments: kinds)
  func extremes(_ kind: StoreKind) throws {
    let numbers: [Int64] = [.min, .min + 1, -(1 << 53), -1, 0, 1 << 53, .max]
    let reals: [Double] = [
      -.infinity, -.greatestFiniteMagnitude, -1e200, -.leastNonzeroMagnitude, 0, 1e300, .infinity,
    ]
    /// Three columns less: SQLite makes the table anew.
    func version(_ names: [String]) -> NSManagedObjectModel {
      let counter = World.entity(
        "Counter",
        names.map { World.attribute($0, .integer64AttributeType) } + [
          World.attribute("real", .doubleAttributeType)
        ])
      counter.managedObjectClassName = nil
      let model = NSManagedObjectModel()
      model.entities = [counter]
      return model
    }
    let (old, new) = (version(["value", "a", "b", "c"]), version(["value"]))
    let folder = try TemporaryFolder()
    let current = try SourceModel.write([old, new], in: folder)
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(old, kind, url) { context in
      for (number, real) in zip(numbers, reals) {
        _ = Versions.make("Counter", ["value": number, "a": number, "real": real], context)
      }
      try context.save()
    }
    try MigrationPlan(forStoreAt: url, to: current).run(verifies: true)
    let found: [Int64: Double] = try Versions.using(new, kind, url) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Counter")).reduce(into: [:]) {
        guard let value = $1.value(forKey: "value") as? Int64 else { return }
        $0[value] = $1.value(forKey: "real") as? Double
      }
    }
    #expect(found == Dictionary(uniqueKeysWithValues: zip(numbers, reals)))
  }

  @Test("without the options the store is refused, and the error names them", arguments: kinds)
  func refused(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder)
    let error = errorThrown { try Versions.using(Versions.second(), kind, url) { _ in } }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(error?.localizedDescription.contains("NSMigratePersistentStoresAutomaticallyOption") == true)
  }

  @Test("a new required relationship needs a store without such objects", arguments: kinds)
  func requiredRelationship(_ kind: StoreKind) throws {
    let second: NSManagedObjectModel = Versions.first { model in
      World.pair(
        model.entitiesByName["Tag"]!, "creator", .one, .nullifyDeleteRule, model.entitiesByName["Person"]!,
        "made", .many, .nullifyDeleteRule)
      model.entitiesByName["Tag"]!.relationshipsByName["creator"]!.isOptional = false
    }
    for hasTags in [true, false] {
      let folder = try TemporaryFolder()
      let current = try SourceModel.write([Versions.first(), second], in: folder)
      let url: URL = try Versions.makeStore(kind, in: folder, people: 2)
      if !hasTags {
        try Versions.using(Versions.first(), kind, url) { context in
          for tag in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")) {
            context.delete(tag)
          }
          try context.save()
        }
      }
      let bytes: Data = try Data(contentsOf: url)
      let error = errorThrown {
        try Versions.using(current, kind, url, Versions.automatic) { context in
          let count: Int = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
          #expect(count == 2)
        }
      }
      if hasTags {
        #expect(error?.localizedDescription.contains("creator") == true, "\(String(describing: error))")
        #expect(error?.localizedDescription.contains("Tag") == true)
        #expect(try Data(contentsOf: url) == bytes)
      } else {
        #expect(error == nil, "\(String(describing: error))")
      }
    }
  }

  @Test("a change that can't be inferred leaves the file as it was, byte for byte", arguments: kinds)
  func notInferable(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let required: NSManagedObjectModel = Versions.first { model in
      // Without a default value.
      model.entitiesByName["Person"]!.properties.append(
        World.attribute("code", .stringAttributeType, optional: false))
    }
    let other = try SourceModel.write([Versions.first(), required], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder)
    let bytes: Data = try Data(contentsOf: url)
    let error = errorThrown { try Versions.using(other, kind, url, Versions.automatic) { _ in } }
    #expect(error?.code == NSInferredMappingModelError, "\(String(describing: error))")
    #expect(error?.localizedDescription.contains("Person.code") == true, "\(String(describing: error))")
    #expect(try Data(contentsOf: url) == bytes)
    let people: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    #expect(people.count == 3)
  }

  @Test(
    "a store that was written by a version which nobody has any more is migrated by its own copy of the model"
  )
  func carriedModel() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let error = errorThrown {
      try Versions.using(
        Versions.second(), .sqlite, url, [NSMigratePersistentStoresAutomaticallyOption: true]
      ) { _ in }
    }
    #expect(error?.code == NSMigrationMissingMappingModelError)
    #expect(error?.localizedDescription.contains(". .") == false, "\(error as Any)")
    #expect(try Versions.using(Versions.second(), .sqlite, url, Versions.automatic) { _ in true })
  }

  @Test("an XML store whose model the program does not have is refused with the names of its entities")
  func noSourceModel() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.xml, in: folder)
    let bytes: Data = try Data(contentsOf: url)
    let error = errorThrown { try Versions.using(Versions.second(), .xml, url, Versions.automatic) { _ in } }
    #expect(error?.code == NSMigrationMissingSourceModelError)
    #expect(error?.localizedDescription.contains("Person, Pet, Tag") == true)
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test("the store of a container is migrated without any option, as Apple's")
  func container() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let container = NSPersistentContainer(name: "store", managedObjectModel: Versions.second())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    #expect(failure == nil)
    #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Animal")) == 3)
  }

  @Test("many coordinators that add a store at once migrate it once", arguments: kinds)
  func atOnce(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = try Self.program(folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 40)
    let failures = Collected()
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      do {
        let count = try Versions.using(second, kind, url, Versions.automatic) {
          try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
        }
        if count != 40 { failures.add("\(count) people") }
      } catch { failures.add("\(error)") }
    }
    #expect(failures.all == [])
  }

  @Test("a relationship that becomes ordered has the order of its members' keys", arguments: kinds)
  func becomesOrdered(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let unordered: NSManagedObjectModel = Versions.first { model in
      model.entitiesByName["Person"]!.relationshipsByName["pets"]!.isOrdered = false
    }
    let program = try SourceModel.write([unordered, Versions.first()], in: folder)
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(unordered, kind, url) { context in
      let pets = (0..<40).map { Versions.make("Pet", ["name": "\($0)"], context) }
      _ = Versions.make("Person", ["name": "owner", "pets": NSSet(array: pets)], context)
      try context.save()
    }
    try Versions.using(program, kind, url, Versions.automatic) { context in
      let owner = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
      let keys: [Int] = owner.mutableOrderedSetValue(forKey: "pets").array.compactMap {
        ($0 as? NSManagedObject).flatMap {
          Int($0.objectID.uriRepresentation().lastPathComponent.dropFirst())
        }
      }
      #expect(keys.count == 40 && keys == keys.sorted())
    }
  }

  private func metadata(_ kind: StoreKind, _ url: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: url, options: nil)
  }
}

final class Collected: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []
  func add(_ line: String) { lock.withLock { lines.append(line) } }
  var all: [String] { lock.withLock { lines } }
}
