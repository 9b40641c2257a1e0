import CoreData
import Foundation
import ProgramStores
import StackSupport
import TestSupport
import Testing

@Suite("A migration that is refused names what leads to the new version")
struct CureTests {
  private static func version(_ attributes: [NSAttributeDescription]) -> NSManagedObjectModel {
    let item = World.entity("Item", attributes)
    let tag = World.entity("Tag", [World.attribute("title", .stringAttributeType)])
    let model = NSManagedObjectModel()
    model.entities = [item, tag]
    for entity in model.entities { entity.managedObjectClassName = nil }
    return model
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType, was former: String? = nil
  ) -> NSAttributeDescription {
    let attribute = World.attribute(name, type)
    if let former { attribute.renamingIdentifier = former }
    return attribute
  }

  @Test("what can be inferred over the versions between is named, with them")
  func between() throws {
    // Dropped, and added again with another type.
    let versions = [
      Self.version([Self.attribute("code", .stringAttributeType)]),
      Self.version([Self.attribute("name", .stringAttributeType)]),
      Self.version([
        Self.attribute("name", .stringAttributeType), Self.attribute("code", .integer32AttributeType),
      ]),
    ]
    let folder = try TemporaryFolder()
    let program = try SourceModel.write(versions, in: folder)
    let url: URL = folder.file("store.sqlite")
    try Versions.using(versions[0], .sqlite, url) { context in
      _ = Versions.make("Item", ["code": "seven"], context)
      try context.save()
    }
    let error = errorThrown { try Versions.using(program, .sqlite, url, Versions.automatic) { _ in } }
    #expect(error?.code == NSInferredMappingModelError)
    for word in ["Item.code is String", "clarus model squash", "NSLightweightMigrationStage", "Shop 2"] {
      #expect(error?.localizedDescription.contains(word) == true, "\(error as Any)")
    }
    #expect(error?.userInfo["entity"] as? String == "Item")
    // As the error says.
    let stages: [NSMigrationStage] = versions.map { NSLightweightMigrationStage([$0.versionChecksum]) }
    let codes: [Int?] = try Versions.using(program, .sqlite, url, StagedMigrationTests.options(stages)) {
      try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map {
        $0.value(forKey: "code") as? Int
      }
    }
    #expect(codes == [nil])
  }

  @Test(
    "versions have one name everywhere: that of their file, which --model-version takes",
    arguments: [(["v1", "v2", "v3"], "Shop 2", "Shop 3"), (["1.0", "1.0", "1.0"], "Shop 2", "Shop 3")])
  func names(_ identifiers: [String], _ second: String, _ third: String) throws {
    let versions = [
      Self.version([Self.attribute("code", .stringAttributeType)]),
      Self.version([Self.attribute("name", .stringAttributeType)]),
      Self.version([
        Self.attribute("name", .stringAttributeType), Self.attribute("code", .integer32AttributeType),
      ]),
    ]
    for (version, identifier) in zip(versions, identifiers) { version.versionIdentifiers = [identifier] }
    let folder = try TemporaryFolder()
    let program = try SourceModel.write(versions, in: folder)
    let url: URL = folder.file("store.sqlite")
    try Versions.using(versions[0], .sqlite, url) { _ in }
    let refused = errorThrown { _ = try MigrationPlan(forStoreAt: url, to: program) }
    #expect(refused?.localizedDescription.contains("Over \(second) a") == true, "\(refused as Any)")
    #expect(refused?.localizedDescription.contains("(\(second) between)") == true, "\(refused as Any)")
    let between: NSManagedObjectModel = try .load(
      contentsOf: folder.file("Shop.xcdatamodeld/Shop 2.xcdatamodel")
    ).model
    let plan = try MigrationPlan(forStoreAt: url, to: between)
    #expect(plan.steps.first?.destination == second)
    try plan.run()
    let down = errorThrown { _ = try MigrationPlan(forStoreAt: url, to: program, isDown: true) }
    #expect(
      down?.localizedDescription.contains("down to \(third), which is a later") == true, "\(down as Any)")
  }

  @Test("without versions between nothing is named that does not lead there")
  func direct() throws {
    let versions = [
      Self.version([Self.attribute("code", .stringAttributeType)]),
      Self.version([Self.attribute("code", .integer32AttributeType)]),
    ]
    let folder = try TemporaryFolder()
    let program = try SourceModel.write(versions, in: folder)
    let url: URL = folder.file("store.sqlite")
    try Versions.using(versions[0], .sqlite, url) { _ in }
    let error = errorThrown { try Versions.using(program, .sqlite, url, Versions.automatic) { _ in } }
    #expect(error?.code == NSInferredMappingModelError)
    #expect(error?.localizedDescription.contains("squash") == false, "\(error as Any)")
  }

  @Test(
    "a store whose version the program does not have is refused with the nearest one, and a model made by hand migrates it",
    arguments: [StoreKind.xml, .binary])
  func lostVersion(_ kind: StoreKind) throws {
    let lost: NSManagedObjectModel = Self.version([
      Self.attribute("name", .stringAttributeType), Self.attribute("amount", .integer16AttributeType),
    ])
    lost.entitiesByName["Item"]!.versionHashModifier = "lost"
    let second: NSManagedObjectModel = Self.version([
      Self.attribute("label", .stringAttributeType, was: "name"),
      Self.attribute("amount", .integer16AttributeType),
    ])
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([second], in: folder)
    let url: URL = folder.file("store.\(kind.rawValue)")
    try Versions.using(lost, kind, url) { context in
      _ = Versions.make("Item", ["name": "one", "amount": 7], context)
      try context.save()
    }
    let error = errorThrown { try Versions.using(program, kind, url, Versions.automatic) { _ in } }
    #expect(error?.code == NSMigrationMissingSourceModelError)
    let reason: String =
      kind == .xml ? "Shop 1, but it has no attribute Item.name" : "Shop 1, but its Item is another"
    for word in ["Item, Tag", reason, "NSIgnorePersistentStoreVersioningOption"] {
      #expect(error?.localizedDescription.contains(word) == true, "\(error as Any)")
    }
    // As the error says.
    let made: NSManagedObjectModel = Self.version([
      Self.attribute("name", .stringAttributeType), Self.attribute("amount", .integer16AttributeType),
    ])
    let manager = NSMigrationManager(sourceModel: made, destinationModel: second)
    try manager.migrateStore(
      from: url, sourceType: kind.type, options: [NSIgnorePersistentStoreVersioningOption: true],
      with: try .inferredMappingModel(forSourceModel: made, destinationModel: second),
      toDestinationURL: folder.file("new"), destinationType: kind.type)
    let items: [String] = try Versions.using(second, kind, folder.file("new")) {
      try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map {
        "\($0.value(forKey: "label") ?? "") \($0.value(forKey: "amount") ?? "")"
      }
    }
    #expect(items == ["one 7"])
  }

  @Test("a store of a program's own type is refused with the way, which leads to the new version")
  func ownStore() throws {
    let first: NSManagedObjectModel = Self.version([Self.attribute("name", .stringAttributeType)])
    let second: NSManagedObjectModel = Self.version([
      Self.attribute("label", .stringAttributeType, was: "name")
    ])
    let type: String = ListStore.storeType
    NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, type: .init(rawValue: type))
    let folder = try TemporaryFolder()
    let url: URL = folder.file("store.plist")
    func using(
      _ model: NSManagedObjectModel, _ url: URL, _ body: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: url, options: Versions.automatic)
      defer { try? coordinator.remove(store) }
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait { try body(context) }
    }
    try using(first, url) { context in
      _ = Versions.make("Item", ["name": "one"], context)
      try context.save()
    }
    let before: Data = try Data(contentsOf: url)
    let error = errorThrown { try using(second, url) }
    #expect(error?.code == NSMigrationManagerSourceStoreError)
    for word in [url.path, "own type 'List'", "NSMigrationManager"] {
      #expect(error?.localizedDescription.contains(word) == true, "\(error as Any)")
    }
    #expect(try Data(contentsOf: url) == before)
    // As the error says.
    try NSMigrationManager(sourceModel: first, destinationModel: second).migrateStore(
      from: url, sourceType: type,
      with: try .inferredMappingModel(forSourceModel: first, destinationModel: second),
      toDestinationURL: folder.file("new.plist"), destinationType: type)
    try using(second, folder.file("new.plist")) { context in
      let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
      #expect(items.map { $0.value(forKey: "label") as? String } == ["one"])
    }
  }
}
