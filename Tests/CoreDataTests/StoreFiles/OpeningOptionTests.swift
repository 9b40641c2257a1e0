import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Options that decide what happens when a store is added.
@Suite
struct OpeningOptionTests {
  private static func open(_ type: String, _ url: URL, _ options: [String: Any]) throws
    -> NSManagedObjectContext
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func size(_ url: URL) throws -> Int {
    try #require(try url.resourceValues(forKeys: [.fileSizeKey]).fileSize)
  }

  @Test(arguments: [-1, .nan, .infinity, -.infinity, 1e300, 0])
  func `a waiting time may be any number`(seconds: Double) throws {
    let folder = try TemporaryFolder()
    for (place, options) in [
      [NSPersistentStoreTimeoutOption: seconds],
      [NSSQLitePragmasOption: ["busy_timeout": "\(seconds)"]],
    ].enumerated() as EnumeratedSequence<[[String: Any]]> {
      let url: URL = folder.file("\(place).sqlite")
      let context = try Self.open(NSSQLiteStoreType, url, options)
      try context.performAndWait {
        _ = context.item("a")
        try context.save()
      }
    }
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `compacting gives back the space of deleted rows`(mode: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.sqlite")
    let pragmas: [String: Any] = [NSSQLitePragmasOption: ["journal_mode": mode, "auto_vacuum": "0"]]
    var context: NSManagedObjectContext = try Self.open(NSSQLiteStoreType, url, pragmas)
    try context.performAndWait {
      for number in 0..<2000 { _ = context.item(String(repeating: "x", count: 500) + "\(number)") }
      try context.save()
      for item in try context.all(Item.self, "Item").dropFirst(10) { context.delete(item) }
      try context.save()
    }
    for store in context.persistentStoreCoordinator!.persistentStores {
      try context.persistentStoreCoordinator!.remove(store)
    }
    let before: Int = try Self.size(url)
    // Others may have the store open; they are not disturbed.
    let other: NSManagedObjectContext = try Self.open(NSSQLiteStoreType, url, pragmas)
    #expect(try other.performAndWait { try other.all(Item.self, "Item").count == 10 })
    context = try Self.open(
      NSSQLiteStoreType, url,
      pragmas.merging([NSSQLiteManualVacuumOption: true, NSSQLiteAnalyzeOption: NSNumber(value: true)]) { $1 }
    )
    #expect(try Self.size(url) < before / 4)
    try context.performAndWait {
      #expect(try context.all(Item.self, "Item").count == 10)
      _ = context.item("new")
      try context.save()
    }
    try other.performAndWait {
      #expect(try other.all(Item.self, "Item").count == 11)
      _ = other.item("newer")
      try other.save()
    }
    let reader: NSManagedObjectContext = try Self.open(
      NSSQLiteStoreType, url, [NSReadOnlyPersistentStoreOption: true, NSSQLiteManualVacuumOption: true])
    #expect(try reader.performAndWait { try reader.all(Item.self, "Item").count == 12 })
  }

  @Test(arguments: [1, 2, 100])
  func `a store with few connections serves many threads`(limit: Int) throws {
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try Self.open(
      NSSQLiteStoreType, folder.file("a.sqlite"), [NSPersistentStoreConnectionPoolMaxSizeKey: limit])
    try context.performAndWait {
      for number in 0..<50 { _ = context.item("\(number)") }
      try context.save()
    }
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    DispatchQueue.concurrentPerform(iterations: 16) { number in
      let own = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      own.persistentStoreCoordinator = coordinator
      own.performAndWait {
        #expect(throws: Never.self) {
          #expect(try own.all(Item.self, "Item").count >= 50)
          if number % 4 == 0 {
            _ = own.item("of \(number)")
            try own.save()
          }
        }
      }
    }
    #expect(try context.performAndWait { try context.all(Item.self, "Item").count == 54 })
  }

  @Test(arguments: [0, -3])
  func `a number of connections below one is refused`(limit: Int) throws {
    let folder = try TemporaryFolder()
    let error: NSError? =
      errorThrown {
        _ = try Self.open(
          NSSQLiteStoreType, folder.file("a.sqlite"), [NSPersistentStoreConnectionPoolMaxSizeKey: limit])
      } as NSError?
    #expect(error?.localizedDescription.contains("NSPersistentStoreConnectionPoolMaxSizeKey") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("a.sqlite").path))
  }

  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType], [true, false])
  func `a store that must be there is not created`(type: String, isInFolder: Bool) throws {
    let folder = try TemporaryFolder()
    let url: URL = isInFolder ? folder.file("none").appendingPathComponent("a.store") : folder.file("a.store")
    let description = NSPersistentStoreDescription(url: url)
    description.type = type
    #expect(description.createsStoreIfMissing)
    description.createsStoreIfMissing = false
    let container = NSPersistentContainer(name: "World", managedObjectModel: World.shared)
    container.persistentStoreDescriptions = [description]
    var outcome: NSError?
    container.loadPersistentStores { _, error in outcome = error as NSError? }
    let error: NSError = try #require(outcome)
    #expect(error.domain == NSCocoaErrorDomain && error.localizedDescription.contains(url.path), "\(error)")
    #expect(!FileManager.default.fileExists(atPath: url.path))
    #expect(!FileManager.default.fileExists(atPath: folder.file("none").path))
    description.createsStoreIfMissing = true
    container.loadPersistentStores { _, error in outcome = error as NSError? }
    #expect(outcome == nil)
    description.createsStoreIfMissing = false
    let again = NSPersistentContainer(name: "World", managedObjectModel: World.shared)
    again.persistentStoreDescriptions = [description]
    again.loadPersistentStores { _, error in outcome = error as NSError? }
    #expect(outcome == nil)
  }
}
