import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Finding C12: opening a store for writing changes nothing about its file, its journal mode least of all.
@Suite
struct JournalModeTests {
  private static func mode(_ url: URL) throws -> String {
    // Bytes 18 and 19 of the header: 1 for a rollback journal, 2 for write-ahead logging.
    let header: Data = try Data(contentsOf: url).prefix(20)
    return header[18] == 2 && header[19] == 2 ? "wal" : "rollback"
  }

  private static func open(_ url: URL, _ mode: String? = nil) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: mode.map { [NSSQLitePragmasOption: ["journal_mode": $0]] })
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func close(_ context: NSManagedObjectContext) throws {
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  private static func save(_ context: NSManagedObjectContext) throws -> Int {
    try context.performAndWait {
      _ = context.item("x")
      try context.save()
      return try context.all(Item.self, "Item").count
    }
  }

  @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST"])
  func `a store with a rollback journal keeps it through saves`(mode: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.sqlite")
    let first: NSManagedObjectContext = try Self.open(url, mode)
    #expect(try Self.save(first) == 1)
    try Self.close(first)
    #expect(try Self.mode(url) == "rollback")
    let second: NSManagedObjectContext = try Self.open(url)
    #expect(try Self.save(second) == 2)
    #expect(try Self.mode(url) == "rollback")
    #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
    // Asked for, it changes.
    try Self.close(second)
    let third: NSManagedObjectContext = try Self.open(url, "wal")
    #expect(try Self.save(third) == 3)
    try Self.close(third)
    #expect(try Self.mode(url) == "wal")
    let fourth: NSManagedObjectContext = try Self.open(url)
    #expect(try Self.save(fourth) == 4)
    try Self.close(fourth)
    #expect(try Self.mode(url) == "wal")
  }

  @Test func `a fresh store has a write-ahead log, as Apple's`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.sqlite")
    try Self.close(try Self.open(url))
    #expect(try Self.mode(url) == "wal")
    #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `opening and closing leaves every byte as it was`(mode: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.sqlite")
    let context: NSManagedObjectContext = try Self.open(url, mode)
    _ = try Self.save(context)
    try Self.close(context)
    let before: Data = try Data(contentsOf: url)
    let again: NSManagedObjectContext = try Self.open(url)
    #expect(try again.storedTitles.count == 1)
    try again.performAndWait { try again.save() }
    try Self.close(again)
    #expect(try Data(contentsOf: url) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["a.sqlite"])
  }

  @Test(
    .enabled(if: RealStores.folder != nil, "\(SharedFiles.absence)"), arguments: RealStores.withModel)
  func `stores of Apple's stay as they were when they are opened, and keep their journal when saved to`(
    path: String
  ) throws {
    let folder = try TemporaryFolder()
    let url: URL = try RealStores.copy(path, to: folder, keepsHistory: true)
    let hasLog: Bool = FileManager.default.fileExists(atPath: url.path + "-wal")
    let before: Data = try Data(contentsOf: url)
    let mode: String = try Self.mode(url)
    try Self.close(try RealStores.open(url))
    // A log is folded in when the last connection closes.
    if !hasLog { #expect(try Data(contentsOf: url) == before) }
    #expect(try Self.mode(url) == mode)
  }
}
