import CoreData
import Foundation
import StackSupport
import Testing

/// Finding B5, OBS-6: what lies at `/dev/null` or under it is in memory.
@Suite
struct NowhereTests {
  private func coordinator() -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: World.shared)
  }

  private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func add(_ coordinator: NSPersistentStoreCoordinator, _ path: String) throws -> NSPersistentStore {
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path))
  }

  @Test(arguments: ["/dev/null", "/dev/null/Shop.sqlite", "/dev/null/a/b.store"])
  func `a store without a file keeps what is saved until it is closed`(path: String) throws {
    let coordinator: NSPersistentStoreCoordinator = coordinator()
    let store: NSPersistentStore = try add(coordinator, path)
    #expect(store.url?.path == path)
    #expect(!store.isReadOnly)
    let first: NSManagedObjectContext = context(coordinator)
    try first.performAndWait {
      _ = first.make("Kinds", ["bytes": Data(repeating: 7, count: 300_000)])
      _ = first.item("a")
      try first.save()
    }
    let second: NSManagedObjectContext = context(coordinator)
    #expect(try second.storedTitles == ["a"])
    #expect(coordinator.persistentStore(for: URL(fileURLWithPath: path)) === store)
    try coordinator.remove(store)
    _ = try add(coordinator, path)
    let third: NSManagedObjectContext = context(coordinator)
    #expect(try third.storedTitles.isEmpty)
  }

  @Test func `several of them are separate, under one name too`() throws {
    let paths: [String] = ["/dev/null/a.sqlite", "/dev/null/b.sqlite", "/dev/null/a.sqlite"]
    let contexts: [NSManagedObjectContext] = try paths.map { path in
      let coordinator: NSPersistentStoreCoordinator = coordinator()
      _ = try add(coordinator, path)
      return context(coordinator)
    }
    for (number, context) in contexts.enumerated() {
      try context.performAndWait {
        for _ in 0...number { _ = context.item("x") }
        try context.save()
      }
    }
    for (number, context) in contexts.enumerated() {
      #expect(try context.storedTitles.count == number + 1)
    }
  }

  @Test(arguments: ["/dev/null", "/dev/null/World.sqlite", "/dev/null/a/b.store"])
  func `a container loads them, with no folder to make`(path: String) throws {
    let container = NSPersistentContainer(name: "World", managedObjectModel: World.shared)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
    ]
    var errors: [(any Error)?] = []
    container.loadPersistentStores { errors.append($1) }
    #expect(errors.count == 1 && errors[0] == nil, "\(errors)")
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test func `there is nothing to read without opening it`() throws {
    for path in ["/dev/null", "/dev/null/a.sqlite"] {
      let url = URL(fileURLWithPath: path)
      let error: NSError? = errorThrown {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
      }
      #expect(error?.localizedDescription.contains("in memory") == true, "\(String(describing: error))")
    }
  }
}
