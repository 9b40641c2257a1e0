import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Adds its own store with the options for migration, while that is being migrated.
final class RecursivePolicy: NSEntityMigrationPolicy {
  nonisolated(unsafe) static var body: (() throws -> Void)?

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try Self.body?()
    try super.begin(mapping, with: manager)
  }
}

/// Associates a tag with a person.
final class ConfusedPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: manager.destinationContext)
    manager.associate(sourceInstance: source, withDestinationInstance: tag, for: mapping)
  }
}

@Suite("What would be lost or would never end is refused or told before", .serialized)
struct RefusalTests {
  private static let noted: @Sendable (NSManagedObjectModel) -> Void = {
    $0.entitiesByName["Person"]!.properties.append(World.attribute("note", .stringAttributeType))
  }

  private static func mapping(_ policy: NSEntityMigrationPolicy.Type, to model: NSManagedObjectModel) throws
    -> NSMappingModel
  {
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: model)
    let person = try #require(mapping.entityMappings?.first { $0.sourceEntityName == "Person" })
    person.mappingType = .customEntityMappingType
    person.entityMigrationPolicyClassName = NSStringFromClass(policy)
    return mapping
  }

  @Test("a store that is added from within its own migration is refused, and nobody waits for ever")
  func recursion() throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = Versions.first(Self.noted)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    var inner: NSError?
    RecursivePolicy.body = {
      inner = errorThrown { try Versions.using(second, .sqlite, url, Versions.automatic) { _ in } }
    }
    defer { RecursivePolicy.body = nil }
    try MigrationPlan(forStoreAt: url, to: second, mapping: Self.mapping(RecursivePolicy.self, to: second))
      .run()
    #expect(inner?.localizedDescription.contains("This thread is migrating it") == true, "\(inner as Any)")
    #expect(try Versions.using(second, .sqlite, url) { try Versions.people($0).count } == 3)
  }

  @Test("an object of another entity that a policy associates is an error")
  func confused() throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = Versions.first(Self.noted)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let plan = try MigrationPlan(
      forStoreAt: url, to: second, mapping: Self.mapping(ConfusedPolicy.self, to: second))
    let error = errorThrown { try plan.run() }
    #expect(error?.localizedDescription.contains("an object of Tag is associated") == true, "\(error as Any)")
    #expect(try Versions.using(Versions.first(), .sqlite, url) { try Versions.people($0).count } == 3)
  }

  @Test("a policy that does not exist is a problem of the plan, and what policies may drop a warning")
  func policies() throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = Versions.first { model in
      model.entitiesByName["Person"]!.properties.removeAll { $0.name == "age" }
    }
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let mapping: NSMappingModel = try Self.mapping(RecursivePolicy.self, to: second)
    let plan = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
    #expect(plan.steps[0].problems == [])
    #expect(plan.warnings.contains { $0.hasPrefix("Person.age is dropped, unless") }, "\(plan.warnings)")
    mapping.entityMappings?.first { $0.sourceEntityName == "Person" }?.entityMigrationPolicyClassName =
      "Nobody"
    let missing = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
    #expect(missing.steps[0].problems.first?.contains("Nobody") == true)
  }

  // Finding: plan and migration had exit status 0, and one of two owners lost the object that both had.
  @Test(
    "objects that several others have can't be in a to-many relationship without inverse",
    arguments: [StoreKind.sqlite, .xml], [true, false])
  func oneOwner(_ kind: StoreKind, hadInverse: Bool) throws {
    let folder = try TemporaryFolder()
    func version(_ cardinality: World.Cardinality, hasInverse: Bool) -> NSManagedObjectModel {
      Versions.first { model in
        let (person, tag) = (model.entitiesByName["Person"]!, model.entitiesByName["Tag"]!)
        if hasInverse {
          World.pair(person, "best", cardinality, .nullifyDeleteRule, tag, "fans", .many, .nullifyDeleteRule)
        } else {
          person.properties.append(World.relationship("best", tag, cardinality, .nullifyDeleteRule))
        }
      }
    }
    let (first, second) = (version(.one, hasInverse: hadInverse), version(.many, hasInverse: false))
    let url: URL = try #require(kind.url("store", in: folder))
    let program = try SourceModel.write([first, second], in: folder)
    for isShared in [false, true] {
      try Versions.using(first, kind, url) { context in
        let tag: NSManagedObject = Versions.make("Tag", ["title": "t"], context)
        _ = Versions.make("Person", ["name": "a", "best": tag], context)
        if isShared { _ = Versions.make("Person", ["name": "b", "best": tag], context) }
        try context.save()
      }
      let plan = try MigrationPlan(forStoreAt: url, to: program)
      #expect((plan.steps[0].problems != []) == isShared, "\(plan)")
    }
    let error = errorThrown { try MigrationPlan(forStoreAt: url, to: program).run() }
    #expect(error?.localizedDescription.contains("Person.best") == true, "\(error as Any)")
    #expect(try Versions.using(first, kind, url) { try Versions.people($0).count } == 3)
  }

  // Finding: a value of the attribute was set as objects of the relationship, which stopped the program.
  @Test(
    "a model with an attribute of the name of an inherited relationship is refused", arguments: [true, false])
  func mixedKinds(isAutomatic: Bool) throws {
    let folder = try TemporaryFolder()
    let first: NSManagedObjectModel = Versions.first()
    let second: NSManagedObjectModel = Versions.first { model in
      let child = World.entity("Child", [World.attribute("pets", .stringAttributeType)])
      child.managedObjectClassName = nil
      model.entities.append(child)
      model.entitiesByName["Person"]?.subentities = [child]
    }
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: first, destinationModel: second)
    let error = errorThrown {
      if isAutomatic {
        try MigrationPlan(forStoreAt: url, to: second, mapping: mapping).run()
      } else {
        try NSMigrationManager(sourceModel: first, destinationModel: second).migrateStore(
          from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
          toDestinationURL: folder.file("new.sqlite"), destinationType: NSSQLiteStoreType,
          destinationOptions: nil)
      }
    }
    #expect(
      error?.localizedDescription.contains("'pets' of the entity 'Child' is of another kind or type") == true,
      "\(error as Any)")
    #expect(try Versions.using(first, .sqlite, url) { try Versions.people($0).count } == 3)
  }

  @Test(
    "a model without any entity of the store is refused, and removes nothing",
    arguments: [StoreKind.sqlite, .xml])
  func stranger(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let entity = World.entity("Stranger", [World.attribute("name", .stringAttributeType)])
    entity.managedObjectClassName = nil
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let program = try SourceModel.write([Versions.first(), model], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder)
    let error = errorThrown { try Versions.using(program, kind, url, Versions.automatic) { _ in } }
    #expect(error?.code == NSInferredMappingModelError)
    #expect(error?.localizedDescription.contains("Person, Pet, Tag") == true, "\(error as Any)")
    #expect(try Versions.using(Versions.first(), kind, url) { try Versions.people($0).count } == 3)
  }

  @Test(
    "members that lose their place because an inverse goes are told before, and never dropped silently",
    arguments: [StoreKind.sqlite, .xml])
  func inverses(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let lone: NSManagedObjectModel = Versions.first { model in
      let tags: NSRelationshipDescription = model.entitiesByName["Person"]!.relationshipsByName["tags"]!
      tags.inverseRelationship = nil
      model.entitiesByName["Tag"]!.properties.removeAll { $0.name == "people" }
    }
    let program = try SourceModel.write([Versions.first(), lone], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 6)
    let before: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.losses.contains { $0.contains("Person.tags") }, "\(plan.losses)")
    #expect(!plan.obstaclesToReturn.isEmpty)
    let error = errorThrown { try plan.run() }
    if error == nil {
      #expect(try Versions.using(program, kind, url) { try Versions.people($0) } == before)
    } else {
      #expect(error?.localizedDescription.contains("tags") == true, "\(error as Any)")
      #expect(try Versions.using(Versions.first(), kind, url) { try Versions.people($0) } == before)
    }
  }

  @Test("a journal that nests without end is no journal")
  func nestedJournal() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.xml, in: folder)
    let program = try SourceModel.write([Versions.first(), Versions.first(Self.noted)], in: folder)
    let staging: URL = folder.file(".\(url.lastPathComponent).migration")
    try FileManager.default.createDirectory(at: staging, withIntermediateDirectories: true)
    let nested: String =
      "<plist version=\"1.0\">" + String(repeating: "<array>", count: 50_000)
      + String(repeating: "</array>", count: 50_000) + "</plist>"
    try Data(nested.utf8).write(to: staging.appendingPathComponent("journal.plist"))
    #expect(try Versions.using(program, .xml, url, Versions.automatic) { try Versions.people($0).count } == 3)
    #expect(!FileManager.default.fileExists(atPath: staging.path))
  }
}
