import CoreData
import CoreDataSQLite
import Foundation
import GRDB
import StackSupport
import Testing

/// The locks of this process's connections outlive every look at a store's file: closing any descriptor of a
/// file would give up all locks that the process has on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
@Suite(.serialized)
struct LockTests {
  /// What looks at a file, or opens and closes it.
  enum Look: String, CaseIterable, Sendable {
    case state, metadata, cachedModel, readOnly, another, twice, missingModel, model, modelByLink, nothing

    func take(_ url: URL, _ setting: StoreSetting) throws {
      switch self {
      case .nothing: break
      case .state: #expect(StoreFileState(url: url).exists)
      case .metadata:
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
      case .cachedModel: _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
      case .readOnly: try open(url, [NSReadOnlyPersistentStoreOption: true], World.shared)
      case .another: try open(url, nil, World.shared)
      case .twice: for look in [Look.readOnly, .metadata, .another] { try look.take(url, setting) }
      case .model: #expect(NSManagedObjectModel(contentsOf: url) == nil)
      case .modelByLink:
        // Only a file of such a name is read as a model.
        let link: URL = url.appendingPathExtension("mom")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        let error = errorThrown { _ = try NSManagedObjectModel.load(contentsOf: link) }
        #expect(
          error.map { "\($0)".contains("a store that this process has open") } == true, "\(error as Any)")
      case .missingModel:
        #expect(codeThrown { try open(url, nil, NSManagedObjectModel()) } != 0)
      }
    }

    private func open(_ url: URL, _ options: [AnyHashable: Any]?, _ model: NSManagedObjectModel) throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store: NSPersistentStore = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      #expect(try context.performAndWait { try context.all(Item.self, "Item").count } == 1)
      try coordinator.remove(store)
    }
  }

  private static func stack(_ setting: StoreSetting) throws -> Stack {
    let stack = try Stack(setting: setting)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    return stack
  }

  @Test(arguments: Look.allCases)
  func `while a store with a log is open here, another process can't take its log away`(look: Look)
    async throws
  {
    let stack: Stack = try Self.stack(.wal)
    let path: String = stack.folder.file("World.sqlite").path
    try look.take(URL(fileURLWithPath: path), .wal)
    await #expect(processExitsWith: .success) { [path = path as String] in
      #expect((try? LockTests.execute("PRAGMA journal_mode = DELETE", path)) != "delete")
    }
    #expect(try stack.titles() == ["a"])
  }

  /// In the other process: runs a statement that needs the file alone, or without another writer.
  private static func execute(_ sql: String, _ path: String) throws -> String? {
    try DatabaseQueue(path: path).writeWithoutTransaction { try String.fetchOne($0, sql: sql) }
  }

  @Test(arguments: Look.allCases)
  func `a transaction that writes a store with a rollback journal here keeps another process out`(look: Look)
    async throws
  {
    let stack: Stack = try Self.stack(.rollbackJournal)
    let path: String = stack.folder.file("World.sqlite").path
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let writer = try DatabaseQueue(path: path, configuration: configuration)
    try Self.holding(writer) { try look.take(URL(fileURLWithPath: path), .rollbackJournal) }
    await #expect(processExitsWith: .success) { [path = path as String] in
      #expect(throws: DatabaseError.self) { try LockTests.execute("BEGIN IMMEDIATE", path) }
    }
    try writer.close()
  }

  /// Begins a transaction that writes, and leaves it open.
  private static func holding(_ queue: DatabaseQueue, _ body: () throws -> Void) throws {
    try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    try body()
  }
}
