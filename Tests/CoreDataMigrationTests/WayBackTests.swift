import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("A migration down brings a store back to an earlier version, and the plan says before whether it can")
struct WayBackTests {
  static let kinds: [StoreKind] = [.sqlite, .xml, .binary]

  @Test("down after up gives the same values, although names have changed", arguments: kinds)
  func downAfterUp(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let second = try SourceModel.write([Versions.first(), Versions.second()], in: folder)
    let first = try #require(
      try NSManagedObjectModel.loadVersions(contentsOf: folder.file("Shop.xcdatamodeld"))["Shop 1"]?.model)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 9)
    let before: [String] = try Versions.using(first, kind, url) { try Versions.people($0) }
    let up = try MigrationPlan(forStoreAt: url, to: second)
    #expect(up.obstaclesToReturn == [])
    #expect(up.description.contains("Way back: a migration down, with all values."))
    try up.run()

    // What happens in the meantime stays, but for what the first version has no place for.
    try Versions.using(second, kind, url) { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "fullName == 'person 1'")
      let person = try #require(try context.fetch(request).first)
      person.setValue(77, forKey: "age")
      person.setValue("kept", forKey: "note")
      try context.save()
    }
    let down = try MigrationPlan(forStoreAt: url, to: first, isDown: true)
    #expect(down.losses == ["Person.note"])
    #expect(!down.description.contains("a migration down"))
    #expect((down.steps.first?.statements != nil) == (kind == .sqlite))
    try down.run(verifies: true)
    let after: [String] = try Versions.using(first, kind, url) { try Versions.people($0) }
    #expect(after == before.map { $0.replacingOccurrences(of: "person 1 1 ", with: "person 1 77 ") })
    // Names that have changed twice are found in both directions, as often as one likes.
    try MigrationPlan(forStoreAt: url, to: second).run()
    try MigrationPlan(forStoreAt: url, to: first, isDown: true).run()
    #expect(try Versions.using(first, kind, url) { try Versions.people($0) } == after)
  }

  struct Change: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let words: String
    let make: @Sendable (NSManagedObjectModel) -> Void
  }

  static let changes: [Change] = [
    Change(testDescription: "a dropped attribute", words: "Person.age: lost") { model in
      model.entitiesByName["Person"]!.properties.removeAll { $0.name == "age" }
    },
    Change(testDescription: "a dropped entity", words: "3 objects of Tag: lost") { model in
      model.entitiesByName["Person"]!.properties.removeAll { $0.name == "tags" }
      model.entities.removeAll { $0.name == "Tag" }
    },
    Change(testDescription: "several objects", words: "Pet.owner is a to-many relationship in the source") {
      model in model.entitiesByName["Pet"]!.relationshipsByName["owner"]!.maxCount = 0
    },
    Change(testDescription: "a default for nil", words: "Person.age: objects without a value get 3") {
      model in
      let age: NSAttributeDescription = model.entitiesByName["Person"]!.attributesByName["age"]!
      age.isOptional = false
      age.defaultValue = 3
    },
    Change(
      testDescription: "an order that is given up", words: "Person.pets: the order of the objects is lost"
    ) {
      $0.entitiesByName["Person"]!.relationshipsByName["pets"]!.isOrdered = false
    },
  ]

  @Test("a change that can't be undone is named before", arguments: changes)
  func obstacles(_ change: Change) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Versions.first(change.make)], in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.obstaclesToReturn.contains { $0.contains(change.words) }, "\(plan.obstaclesToReturn)")
    #expect(plan.description.contains("No way back with all values"))
  }

  @Test("a way back that can't be inferred is refused with the property, and the store stays as it is")
  func refused() throws {
    let folder = try TemporaryFolder()
    let wider: NSManagedObjectModel = Versions.first {
      $0.entitiesByName["Pet"]!.relationshipsByName["owner"]!.maxCount = 0
    }
    let program = try SourceModel.write([Versions.first(), wider], in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try MigrationPlan(forStoreAt: url, to: program).run()
    let bytes: Data = try Data(contentsOf: url)
    let error = errorThrown { _ = try MigrationPlan(forStoreAt: url, to: Versions.first(), isDown: true) }
    #expect(error?.code == NSInferredMappingModelError)
    #expect(error?.localizedDescription.contains("Pet.owner") == true)
    #expect(try Data(contentsOf: url) == bytes)
  }

  private static func items(_ attributes: [(name: String, former: String?)]) -> NSManagedObjectModel {
    let entity = World.entity(
      "Item",
      attributes.map { name, former in
        let attribute = World.attribute(name, .stringAttributeType)
        if let former { attribute.renamingIdentifier = former }
        return attribute
      })
    entity.managedObjectClassName = nil
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  /// Versions 1, 2 and 3 in one folder, each read as the program's model.
  private static func programs(_ versions: [NSManagedObjectModel], in folder: TemporaryFolder) throws
    -> [NSManagedObjectModel]
  {
    _ = try SourceModel.write(versions, in: folder)
    let all = try NSManagedObjectModel.loadVersions(contentsOf: folder.file("Shop.xcdatamodeld"))
    return try (1...versions.count).map { try #require(all["Shop \($0)"]?.model) }
  }

  @Test(
    "a later version is refused as a way down, whether it renames something or not",
    arguments: [
      [("label", "title" as String?)], [("title", nil), ("note", nil)], [("note", nil)],
    ])
  func notDown(_ attributes: [(name: String, former: String?)]) throws {
    let folder = try TemporaryFolder()
    let models = try Self.programs([Self.items([("title", nil)]), Self.items(attributes)], in: folder)
    let url: URL = folder.file("store.xml")
    try Versions.using(models[0], .xml, url) { context in
      _ = Versions.make("Item", ["title": "kept"], context)
      try context.save()
    }
    let before: Data = try Data(contentsOf: url)
    let error = errorThrown { try MigrationPlan(forStoreAt: url, to: models[1], isDown: true).run() }
    for word in [url.path, "Shop 2", "later version", "isDown: false"] {
      #expect(error?.localizedDescription.contains(word) == true, "\(error as Any)")
    }
    #expect(try Data(contentsOf: url) == before)
    try MigrationPlan(forStoreAt: url, to: models[1]).run()
    try MigrationPlan(forStoreAt: url, to: models[0], isDown: true).run()
  }

  @Test("what was renamed twice is the same on the way back over both versions", arguments: kinds)
  func renamedTwice(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let models = try Self.programs(
      [
        Self.items([("title", nil)]), Self.items([("label", "title")]), Self.items([("words", "label")]),
      ], in: folder)
    let url: URL = folder.file("store.\(kind.rawValue)")
    try Versions.using(models[2], kind, url) { context in
      _ = Versions.make("Item", ["words": "kept"], context)
      try context.save()
    }
    let plan = try MigrationPlan(forStoreAt: url, to: models[0], isDown: true)
    #expect(plan.losses == [])
    try plan.run(verifies: true)
    try Versions.using(models[0], kind, url) { context in
      let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
      #expect(items.map { $0.value(forKey: "title") as? String } == ["kept"])
    }
  }

  @Test(
    "several versions are compared step by step: twice renamed is the same, dropped and added again is not")
  func squashed() throws {
    let versions = [
      Self.items([("a", nil), ("x", nil)]), Self.items([("b", "a")]), Self.items([("c", "b"), ("x", nil)]),
    ]
    let squash = ModelDifference(through: versions)
    let pairs: [String] = squash.entities[0].properties.map {
      "\($0.source?.name ?? "-") \($0.destination?.name ?? "-")"
    }
    #expect(pairs.sorted() == ["- x", "a c", "x -"])
    let direct = ModelDifference(from: versions[0], to: versions[2])
    #expect(direct.entities[0].properties.contains { $0.source?.name == "x" && $0.destination?.name == "x" })

    let folder = try TemporaryFolder()
    let mapping: NSMappingModel = try MappingInference(squash).mappingModel()
    let url: URL = folder.file("old.sqlite")
    try Versions.using(versions[0], .sqlite, url) { context in
      _ = Versions.make("Item", ["a": "kept", "x": "dropped"], context)
      try context.save()
    }
    let manager = NSMigrationManager(sourceModel: versions[0], destinationModel: versions[2])
    try manager.migrateStore(
      from: url, type: .sqlite, mapping: mapping, to: folder.file("new.sqlite"), type: .sqlite)
    try Versions.using(versions[2], .sqlite, folder.file("new.sqlite")) { context in
      let item = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
      #expect(item.value(forKey: "c") as? String == "kept")
      #expect(item.value(forKey: "x") == nil)
    }
  }
}
