import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

@Suite("A plan tells the space, the time, and what to beware of")
struct SurveyTests {
  @Test(
    "a migration object by object tells of references that lead nowhere, and of values that read as others")
  func damagedContents() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let first: NSManagedObjectModel = World.shared
    let second = try #require(first.copy() as? NSManagedObjectModel)
    second.entitiesByName["Kinds"]?.versionHashModifier = "2"
    try Versions.using(first, .sqlite, url) { context in
      let item: NSManagedObject = Versions.make(
        "Item", ["title": "a", "category": Versions.make("Category", ["name": "c"], context)], context)
      item.setValue(NSSet(object: Versions.make("Tag", [:], context)), forKey: "tags")
      _ = Versions.make("Kinds", ["i16": 3], context)
      try context.save()
    }
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
    func plan() throws -> MigrationPlan { try MigrationPlan(forStoreAt: url, to: second, mapping: mapping) }
    try change(url, "DELETE FROM ZCATEGORY", "DELETE FROM ZTAG")
    let losses: String = try plan().losses.joined(separator: "\n")
    for property in ["Item.category", "tags"] {
      #expect(losses.contains("1 reference(s) of") && losses.contains(property), "\(losses)")
    }
    try change(url, "UPDATE ZKINDS SET ZI16 = 70000")
    let refused: MigrationPlan = try plan()
    #expect(refused.steps[0].problems.joined().contains("Kinds.i16"), "\(refused)")
    let before = try Data(contentsOf: url)
    let error = errorThrown { try refused.run() }
    #expect(error?.localizedDescription.contains("Kinds.i16") == true, "\(error as Any)")
    #expect(error?.localizedDescription.contains("Kinds/p1") == true, "\(error as Any)")
    #expect(try Data(contentsOf: url) == before)
  }

  private func change(_ url: URL, _ statements: String...) throws {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    try queue.write { database in
      for sql in statements { try database.execute(sql: sql) }
    }
  }

  private static func indexed() -> NSManagedObjectModel {
    Versions.first { model in
      let person: NSEntityDescription = model.entitiesByName["Person"]!
      person.indexes = [
        NSFetchIndexDescription(
          name: "byAge",
          elements: [
            NSFetchIndexElementDescription(property: person.attributesByName["age"]!, collationType: .binary)
          ])
      ]
    }
  }

  @Test("tables and columns of other programs stay in place, and are told of; a missing index is made")
  func drift() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let second: NSManagedObjectModel = Self.indexed()
    second.entitiesByName["Person"]!.properties.append(World.attribute("note", .stringAttributeType))
    try Versions.using(Self.indexed(), .sqlite, url) { context in
      _ = Versions.make("Person", ["name": "one", "age": 1], context)
      try context.save()
    }
    #expect(try MigrationPlan(forStoreAt: url, to: second).warnings == [])
    try change(
      url, "CREATE TABLE audit (line TEXT)", "INSERT INTO audit VALUES ('kept')",
      "ALTER TABLE ZPERSON ADD COLUMN own TEXT", "UPDATE ZPERSON SET own = 'kept'",
      "DROP INDEX Z_Person_byAge")
    let plan = try MigrationPlan(forStoreAt: url, to: second)
    #expect(
      plan.warnings == [
        "Index Z_Person_byAge of the model is missing.",
        "Table ZPERSON has a column own that is not of the model.", "Table audit is not of the model.",
      ])
    #expect(plan.losses == [])
    try plan.run(verifies: true)
    func text(_ sql: String) throws -> String? {
      try DatabaseQueue(path: url.path).read { try String.fetchOne($0, sql: sql) }
    }
    #expect(try text("SELECT line FROM audit") == "kept")
    #expect(try text("SELECT own FROM ZPERSON") == "kept")
    #expect(try text("SELECT type FROM sqlite_master WHERE name = 'Z_Person_byAge'") == "index")
  }

  @Test("what a copy leaves out of a file is counted among the losses")
  func foreignTablesAreLost() throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = Versions.first {
      $0.entitiesByName["Person"]!.properties.append(World.attribute("note", .stringAttributeType))
    }
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try change(url, "CREATE TABLE audit (line TEXT)", "CREATE VIEW names AS SELECT ZNAME FROM ZPERSON")
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: second)
    let plan = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
    #expect(plan.steps[0].statements == nil)
    #expect(plan.losses == ["Table audit is not of the model.", "View names is not of the model."])
  }

  @Test(
    "the space covers the result, the log or a second file while it is written, and copies of files of values",
    arguments: [StoreKind.sqlite, .xml])
  func space(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Versions.second()], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 12)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    // Six photos of 200,000 bytes.
    if kind == .xml {
      #expect(plan.neededSpace > 2 * 1_600_000)
      #expect(plan.neededSpace < 4_000_000)
    } else {
      // Statements leave their files alone.
      #expect(plan.neededSpace < 600_000)
      let mapping: NSMappingModel = try .inferredMappingModel(
        forSourceModel: Versions.first(), destinationModel: program)
      let copy = try MigrationPlan(forStoreAt: url, to: program, mapping: mapping)
      #expect(copy.neededSpace > 2 * 1_200_000)
      #expect(copy.neededSpace < 3_500_000)
    }
    #expect(plan.seconds > 0)
    #expect(plan.description.contains("Space: up to "))
    #expect(plan.description.contains("Time: under a second."))
  }

  @Test("conditions are in the plan: what a new constraint asks of the objects")
  func conditions() throws {
    let folder = try TemporaryFolder()
    let unique: NSManagedObjectModel = Versions.first {
      $0.entitiesByName["Person"]!.uniquenessConstraints = [["name"]]
    }
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: unique)
    #expect(plan.steps[0].conditions == ["No two objects of Person may have the same name."])
    #expect(plan.description.contains("Needed:"))
  }

  @Test("elements of a composite attribute that were renamed, added and dropped are copied")
  func composite() throws {
    let kind: StoreKind = .sqlite
    func version(_ elements: [(String, String?)], _ name: String) -> NSManagedObjectModel {
      let address = NSCompositeAttributeDescription()
      address.name = name
      if name != "address" { address.renamingIdentifier = "address" }
      address.isOptional = true
      address.elements = elements.map { name, former in
        let element = World.attribute(name, .stringAttributeType)
        if let former { element.renamingIdentifier = former }
        return element
      }
      let entity = World.entity("Person", [World.attribute("name", .stringAttributeType)])
      entity.properties.append(address)
      entity.managedObjectClassName = nil
      let model = NSManagedObjectModel()
      model.entities = [entity]
      return model
    }
    let first = version([("street", nil), ("town", nil)], "address")
    let second = version([("road", "street"), ("country", nil)], "home")
    let folder = try TemporaryFolder()
    let (url, target): (URL, URL) = (folder.file("old"), folder.file("new"))
    try Versions.using(first, kind, url) { context in
      _ = Versions.make(
        "Person", ["name": "one", "address": ["street": "Elm", "town": "Bree"] as [String: Any]], context)
      _ = Versions.make("Person", ["name": "two"], context)
      try context.save()
    }
    let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
    try manager.migrateStore(
      from: url, sourceType: kind.type, options: nil,
      with: try .inferredMappingModel(forSourceModel: first, destinationModel: second),
      toDestinationURL: target, destinationType: kind.type, destinationOptions: nil)
    try Versions.using(second, kind, target) { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let people = try context.fetch(request)
      #expect(people[0].value(forKeyPath: "home.road") as? String == "Elm")
      #expect(people[0].value(forKeyPath: "home.country") == nil)
      #expect(people[1].value(forKey: "home") == nil)
    }
  }
}
