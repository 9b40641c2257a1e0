import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// References to objects that are gone: relationships without an inverse, and those with the no-action rule,
/// leave them behind. Every kind of store opens with them.
@Suite
struct DanglingReferenceTests {
  private static let model: NSManagedObjectModel = {
    let (owner, target) = (NSEntityDescription(), NSEntityDescription())
    (owner.name, target.name) = ("Owner", "Target")
    func relationship(
      _ name: String, to entity: NSEntityDescription, max: Int, _ rule: NSDeleteRule = .nullifyDeleteRule
    ) -> NSRelationshipDescription {
      let made = NSRelationshipDescription()
      made.name = name
      made.destinationEntity = entity
      made.maxCount = max
      made.isOptional = true
      made.deleteRule = rule
      return made
    }
    func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
      one.inverseRelationship = other
      other.inverseRelationship = one
    }
    let idle: NSRelationshipDescription = relationship("idle", to: target, max: 1)
    let idleOwners: NSRelationshipDescription = relationship(
      "idleOwners", to: owner, max: 0, .noActionDeleteRule)
    pair(idle, idleOwners)
    let many: NSRelationshipDescription = relationship("many", to: target, max: 0)
    let manyOwners: NSRelationshipDescription = relationship(
      "manyOwners", to: owner, max: 0, .noActionDeleteRule)
    pair(many, manyOwners)
    owner.properties = [
      World.attribute("name", .stringAttributeType), relationship("one", to: target, max: 1),
      relationship("several", to: target, max: 0), idle, many,
    ]
    target.properties = [World.attribute("name", .stringAttributeType), idleOwners, manyOwners]
    let model = NSManagedObjectModel()
    model.entities = [owner, target]
    return model
  }()

  private static let types: [String] = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]

  private static func open(_ type: String, _ url: URL) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func all(_ context: NSManagedObjectContext, _ entity: String) throws -> [NSManagedObject] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
  }

  /// An owner of two targets in each relationship, where it has room, of which one is deleted.
  private static func fill(_ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      let owner: NSManagedObject = context.make("Owner", ["name": "o"])
      let targets: [NSManagedObject] = ["kept", "gone"].map { context.make("Target", ["name": $0]) }
      for key in ["one", "idle"] { owner.setValue(targets[1], forKey: key) }
      for key in ["several", "many"] { owner.setValue(NSSet(array: targets), forKey: key) }
      try context.save()
      context.delete(targets[1])
      try context.save()
    }
  }

  private static func names(_ owner: NSManagedObject, _ key: String) -> [String?] {
    let members = owner.value(forKey: key) as? NSSet
    return (members?.allObjects as? [NSManagedObject] ?? [])
      .filter { (try? $0.managedObjectContext?.existingObject(with: $0.objectID)) != nil }
      .map { $0.value(forKey: "name") as? String }
  }

  @Test(arguments: types)
  func `a store with references to deleted objects opens and is saved again`(type: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.store")
    try Self.fill(try Self.open(type, url))
    for round in 0..<2 {
      let context: NSManagedObjectContext = try Self.open(type, url)
      try context.performAndWait {
        let owner: NSManagedObject = try #require(try Self.all(context, "Owner").first)
        #expect(try Self.all(context, "Target").count == 1 + round)
        for key in ["several", "many"] { #expect(Self.names(owner, key) == ["kept"], "\(key)") }
        for key in ["one", "idle"] {
          // What is referred to is not there; no other object has taken its id.
          let target = owner.value(forKey: key) as? NSManagedObject
          if let target {
            #expect(throws: (any Error).self) { try context.existingObject(with: target.objectID) }
          }
        }
        _ = context.make("Target", ["name": "new \(round)"])
        owner.setValue("o \(round)", forKey: "name")
        try context.save()
      }
    }
  }

  @Test(arguments: types, types)
  func `a migration leaves such references out, or as they are`(source: String, target: String) throws {
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try Self.open(source, folder.file("a.store"))
    try Self.fill(context)
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    try coordinator.migratePersistentStore(
      coordinator.persistentStores[0], to: folder.file("b.store"), withType: target)
    let again: NSManagedObjectContext = try Self.open(target, folder.file("b.store"))
    try again.performAndWait {
      let owner: NSManagedObject = try #require(try Self.all(again, "Owner").first)
      for key in ["several", "many"] { #expect(Self.names(owner, key) == ["kept"], "\(key)") }
      for key in ["one", "idle"] {
        let target = owner.value(forKey: key) as? NSManagedObject
        if let target {
          #expect(throws: (any Error).self) { try again.existingObject(with: target.objectID) }
        }
      }
    }
  }
}
