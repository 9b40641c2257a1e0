import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Finding A7: stores that keep persistent history, and stores that are asked to.
@Suite
struct HistoryTests {
  static let tables: String = """
    CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER,
      ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR,
      ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
    CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
    CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
      ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB );
    INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 1), (16002, 'TRANSACTION', 0, 1),
      (16003, 'TRANSACTIONSTRING', 0, 0);
    """

  /// A store with one item and the tables of history.
  static func makeTracked(_ url: URL) throws {
    let context: NSManagedObjectContext = try open(url)
    try context.performAndWait {
      _ = context.item("old")
      try context.save()
    }
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    try coordinator.remove(coordinator.persistentStores[0])
    let queue = try DatabaseQueue(path: url.path)
    try queue.write { try $0.execute(sql: tables) }
    try queue.close()
  }

  static func open(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test(arguments: [nil, false])
  func `without the option a store that keeps history is read-only, and a save says why`(option: Bool?) throws
  {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("World.sqlite")
    try Self.makeTracked(url)
    let before: Data = try Data(contentsOf: url)
    let context: NSManagedObjectContext = try Self.open(
      url, option.map { [NSPersistentHistoryTrackingKey: $0] })
    #expect(context.persistentStoreCoordinator?.persistentStores[0].isReadOnly == true)
    try context.performAndWait {
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      for isNew in [false, true] {
        if isNew { _ = context.item("new") } else { item.title = "changed" }
        let text: String = errorThrown { try context.save() }?.localizedDescription ?? "nothing thrown"
        for part in ["persistent history", "read-only", "copy them into a new store"] {
          #expect(text.contains(part), "\(text)")
        }
        context.rollback()
      }
    }
    #expect(try Data(contentsOf: url) == before)
  }

  @Test func `with the option it is refused for writing, and opens for reading`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("World.sqlite")
    try Self.makeTracked(url)
    let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true as NSNumber]
    let error: NSError? = errorThrown { _ = try Self.open(url, options) }
    let text: String = error?.localizedDescription ?? "nothing thrown"
    for part in [url.path, "persistent history", "NSReadOnlyPersistentStoreOption"] {
      #expect(text.contains(part), "\(text)")
    }
    let context: NSManagedObjectContext = try Self.open(
      url, options.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
    #expect(try context.storedTitles == ["old"])
  }

  @Test func `a store that keeps none opens with the option, and stays without history`() throws {
    let folder = try TemporaryFolder()
    for url in [folder.file("World.sqlite"), URL(fileURLWithPath: "/dev/null")] {
      let context: NSManagedObjectContext = try Self.open(url, [NSPersistentHistoryTrackingKey: true])
      try context.performAndWait {
        _ = context.item("new")
        try context.save()
      }
      #expect(try context.storedTitles == ["new"])
    }
  }

  private static func warnings(_ result: ExitTest.Result?) -> [String] {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    return text.split(separator: "\n").map(String.init).filter { $0.contains("persistent history") }
  }

  @Test func `it is said once for each store, on standard error`() async throws {
    let folder = try TemporaryFolder()
    let path: String = folder.url.path
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      let folder = URL(fileURLWithPath: path)
      let tracked: URL = folder.appendingPathComponent("tracked.sqlite")
      try HistoryTests.makeTracked(tracked)
      for _ in 0..<3 {
        _ = try HistoryTests.open(tracked)
        for name in ["a.sqlite", "b.sqlite"] {
          _ = try HistoryTests.open(
            folder.appendingPathComponent(name), [NSPersistentHistoryTrackingKey: true])
        }
        for name in ["a", "b"] {
          _ = try HistoryTests.open(
            URL(fileURLWithPath: "/dev/null/\(name)"), [NSPersistentHistoryTrackingKey: true])
        }
      }
    }
    let warnings: [String] = Self.warnings(result)
    #expect(warnings.count == 4, "\(warnings)")
    for name in ["tracked.sqlite", "a.sqlite", "b.sqlite", "/dev/null"] {
      #expect(warnings.count { $0.contains(name) } == 1, "\(warnings)")
    }
  }
}
