import CoreData
import Foundation
import ProgramStores
import StackSupport
import TestSupport
import Testing

/// Notes how often the store that is being made has been written, each time that it makes an object.
final class WatchingPolicy: NSEntityMigrationPolicy {
  static let key: String = "states"

  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    guard let states = manager.userInfo?[Self.key] as? NSMutableArray,
      let store = manager.destinationContext.persistentStoreCoordinator?.persistentStores.first
    else { return }
    let state: String
    if let own = store as? ListStore {
      state = "\(own.journal.withLock { $0.count { $0 == "save" } })"
    } else {
      state = FileManager.default.fileExists(atPath: store.url?.path ?? "") ? "there" : "0"
    }
    if states.lastObject as? String != state { states.add(state) }
  }
}

/// Puts a file where the store is to be.
final class IntrudingPolicy: NSEntityMigrationPolicy {
  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    guard let store = manager.destinationContext.persistentStoreCoordinator?.persistentStores.first,
      let url = store.url
    else { return }
    try Data("mine".utf8).write(to: url, options: .withoutOverwriting)
  }
}

@Suite(
  "A migration writes a store that is one file when it has everything, not before and not with each page")
struct PostponedWritingTests {
  @Test("what somebody puts at the place meanwhile stays", arguments: [NSXMLStoreType, NSBinaryStoreType])
  func intruder(_ type: String) throws {
    let folder = try TemporaryFolder()
    let (first, second) = (Self.version("1"), Self.version("2"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: first)
    try coordinator.remove(
      try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("old")))
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: first, destinationModel: second)
    mapping.entityMappings?[0].entityMigrationPolicyClassName = NSStringFromClass(IntrudingPolicy.self)
    let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
    #expect(throws: (any Error).self) {
      try manager.migrateStore(
        from: folder.file("old"), sourceType: type, with: mapping, toDestinationURL: folder.file("new"),
        destinationType: type)
    }
    #expect(try Data(contentsOf: folder.file("new")) == Data("mine".utf8))
  }

  private static func version(_ modifier: String) -> NSManagedObjectModel {
    let item = World.entity("Item", [World.attribute("name", .stringAttributeType)])
    (item.managedObjectClassName, item.versionHashModifier) = (nil, modifier)
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }

  @Test(
    "five pages of objects, then all of them are in the file",
    arguments: [NSXMLStoreType, NSBinaryStoreType, ListStore.storeType])
  func writes(_ type: String) throws {
    NSPersistentStoreCoordinator.registerStoreClass(
      ListStore.self, type: NSPersistentStore.StoreType(rawValue: ListStore.storeType))
    let (first, second) = (Self.version("1"), Self.version("2"))
    let folder = try TemporaryFolder()
    func using<Result>(
      _ model: NSManagedObjectModel, _ url: URL, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
      defer { try? coordinator.remove(store) }
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return try context.performAndWait { try body(context) }
    }
    let names: [String] = (0..<2300).map { "item \($0)" }
    try using(first, folder.file("old")) { context in
      for name in names { _ = Versions.make("Item", ["name": name], context) }
      try context.save()
    }
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: first, destinationModel: second)
    mapping.entityMappings?[0].entityMigrationPolicyClassName = NSStringFromClass(WatchingPolicy.self)
    let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
    let states: NSMutableArray = []
    manager.userInfo = [WatchingPolicy.key: states]
    try manager.migrateStore(
      from: folder.file("old"), sourceType: type, with: mapping, toDestinationURL: folder.file("new"),
      destinationType: type)
    #expect(states as? [String] == ["0"])
    let made: [String] = try using(second, folder.file("new")) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        .compactMap { $0.value(forKey: "name") as? String }
    }
    #expect(made.sorted() == names.sorted())
  }
}
