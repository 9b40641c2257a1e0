import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Two processes that insert into one SQLite store at once, while others read it.
@Suite(.serialized)
struct TwoWriterTests {
  private static let rows: Int = Soak.isOn ? 10_000 : 400
  private static let rowsPerSave: Int = 100

  /// A writer: inserts rows in batches. A save that is told the store is locked is tried again.
  static func insert(_ name: String, _ rows: Int, _ path: String) throws {
    let context: NSManagedObjectContext = try CrashTests.open(path)
    try context.performAndWait {
      for start in stride(from: 0, to: rows, by: rowsPerSave) {
        let category: Category = context.category("\(name) \(start)")
        for number in start..<min(start + rowsPerSave, rows) {
          _ = context.item("\(name) \(number)", category)
        }
        var refusals: Int = 0
        while context.hasChanges {
          do {
            try context.save()
          } catch let error as NSError {
            refusals += 1
            guard error.localizedDescription.contains(path), error.localizedDescription.contains("lock"),
              refusals < 1000
            else { throw error }
          }
        }
        context.reset()
      }
    }
  }

  /// A reader: whatever it sees is whole batches, and never fewer than before.
  static func read(_ rows: Int, _ path: String) throws {
    let context: NSManagedObjectContext = try CrashTests.open(path)
    try context.performAndWait {
      var seen: Int = 0
      while seen < rows {
        let categories: [Category] = try context.all(Category.self, "Category")
        var found: Int = 0
        for category in categories {
          let count: Int = try context.count(for: request(category))
          guard count == min(rowsPerSave, rows) else { fatalError("a batch of \(count)") }
          found += count
        }
        guard found >= seen else { fatalError("\(found) rows after \(seen)") }
        seen = found
        context.reset()
      }
    }
  }

  private static func request(_ category: Category) -> NSFetchRequest<NSFetchRequestResult> {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Item")
    request.predicate = NSPredicate(format: "category == %@", category)
    return request
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `rows that two processes insert at once are all there, with numbers of their own`(mode: String)
    async throws
  {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("shared.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.model())
    try coordinator.remove(
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [NSSQLitePragmasOption: ["journal_mode": mode]]))
    let path: String = url.path
    await withTaskGroup(of: Void.self) { group in
      for name in ["one", "two"] {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, name = name as String, rows = Self.rows as Int] in
            try TwoWriterTests.insert(name, rows, path)
          }
        }
      }
      group.addTask {
        await #expect(processExitsWith: .success) { [path = path as String, rows = 2 * Self.rows as Int] in
          try TwoWriterTests.read(rows, path)
        }
      }
    }
    let context: NSManagedObjectContext = try CrashTests.open(path)
    try context.performAndWait {
      let titles: [String] = try context.all(Item.self, "Item").compactMap(\.title)
      #expect(titles.count == 2 * Self.rows)
      #expect(Set(titles) == Set(["one", "two"].flatMap { name in (0..<Self.rows).map { "\(name) \($0)" } }))
    }
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    try await queue.read { database in
      for table in ["ITEM", "CATEGORY"] {
        let keys: [Int] = try Int.fetchAll(database, sql: "SELECT Z_PK FROM Z\(table) ORDER BY Z_PK")
        let last: Int? = try Int.fetchOne(
          database, sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE upper(Z_NAME) = ?", arguments: [table])
        #expect(last.map { $0 >= keys.last ?? 0 } == true)
        #expect(Set(keys).count == keys.count)
      }
      #expect(try String.fetchAll(database, sql: "PRAGMA integrity_check") == ["ok"])
    }
  }
}
