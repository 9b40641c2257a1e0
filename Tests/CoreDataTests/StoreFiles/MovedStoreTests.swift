import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Stores that get another URL while they are open. Source: Apple's page of `setURL(_:for:)`.
@Suite
struct MovedStoreTests {
  private static func open(_ type: String, _ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> (
    NSManagedObjectContext, NSPersistentStoreCoordinator, NSPersistentStore
  ) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return (context, coordinator, store)
  }

  private static func titles(_ type: String, _ url: URL) throws -> [String?] {
    let (context, _, _) = try open(type, url, [NSReadOnlyPersistentStoreOption: true])
    return try context.performAndWait { try context.all(Item.self, "Item").map(\.title).sorted { $0! < $1! } }
  }

  @Test(arguments: [true, false])
  func `the next save of a document goes to its new place`(hasChanges: Bool) throws {
    let folder = try TemporaryFolder()
    let (first, second): (URL, URL) = (folder.file("a.xml"), folder.file("b.xml"))
    let (context, coordinator, store) = try Self.open(NSXMLStoreType, first)
    try context.performAndWait {
      let item: Item = context.item("a")
      try context.save()
      #expect(coordinator.setURL(second, for: store))
      #expect(store.url == second && coordinator.url(for: store) == second)
      #expect(!FileManager.default.fileExists(atPath: second.path))
      if hasChanges { _ = context.item("b") }
      try context.save()
      let uri: URL = item.objectID.uriRepresentation()
      #expect(coordinator.managedObjectID(forURIRepresentation: uri) == item.objectID)
      item.title = "c"
      try context.save()
    }
    #expect(try Self.titles(NSXMLStoreType, first) == ["a"])
    #expect(try Self.titles(NSXMLStoreType, second) == (hasChanges ? ["b", "c"] : ["c"]))
  }

  @Test func `a document is not moved over a file`() throws {
    let folder = try TemporaryFolder()
    let (first, second): (URL, URL) = (folder.file("a.xml"), folder.file("b.xml"))
    let (context, coordinator, store) = try Self.open(NSXMLStoreType, first)
    try Data("mine".utf8).write(to: second)
    #expect(!coordinator.setURL(second, for: store))
    let error: NSError? = errorThrown { try coordinator.move(store, to: second) } as NSError?
    #expect(error?.localizedDescription.contains("There is a file already") == true)
    #expect(store.url == first)
    // A file that appears afterwards is not replaced either.
    let third: URL = folder.file("c.xml")
    #expect(coordinator.setURL(third, for: store))
    try Data("mine".utf8).write(to: third)
    context.performAndWait {
      _ = context.item("a")
      #expect(throws: (any Error).self) { try context.save() }
    }
    for url in [second, third] { #expect(try Data(contentsOf: url) == Data("mine".utf8)) }
    #expect(coordinator.setURL(folder.file("d.xml"), for: store))
    try context.performAndWait { try context.save() }
    #expect(try Self.titles(NSXMLStoreType, folder.file("d.xml")) == ["a"])
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `a SQLite store goes on with its copy`(mode: String) throws {
    let folder = try TemporaryFolder()
    let (first, second): (URL, URL) = (folder.file("a.sqlite"), folder.file("b.sqlite"))
    let (context, coordinator, store) = try Self.open(
      NSSQLiteStoreType, first, [NSSQLitePragmasOption: ["journal_mode": mode]])
    try context.performAndWait {
      let item: Item = context.item("a")
      try context.save()
      #expect(!coordinator.setURL(second, for: store), "there is no file yet")
      #expect(!FileManager.default.fileExists(atPath: second.path))
      try coordinator.replacePersistentStore(
        at: second, withPersistentStoreFrom: first, ofType: NSSQLiteStoreType)
      #expect(coordinator.setURL(second, for: store))
      item.title = "b"
      _ = context.item("c")
      try context.save()
      #expect(coordinator.persistentStore(for: second) === store)
    }
    #expect(try Self.titles(NSSQLiteStoreType, first) == ["a"])
    #expect(try Self.titles(NSSQLiteStoreType, second) == ["b", "c"])
  }

  @Test func `a SQLite store does not go to another store's file`() throws {
    let folder = try TemporaryFolder()
    let (first, second): (URL, URL) = (folder.file("a.sqlite"), folder.file("b.sqlite"))
    let (context, coordinator, store) = try Self.open(NSSQLiteStoreType, first)
    _ = try Self.open(NSSQLiteStoreType, second)
    let error: NSError? = errorThrown { try coordinator.move(store, to: second) } as NSError?
    #expect(error?.localizedDescription.contains("another store") == true, "\(String(describing: error))")
    try context.performAndWait {
      _ = context.item("a")
      try context.save()
    }
    #expect(try Self.titles(NSSQLiteStoreType, first) == ["a"])
    let other = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    #expect(!other.setURL(second, for: store), "it is not its store")
  }
}
