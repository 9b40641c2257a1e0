import CoreData
import Foundation
import GRDB
import StackSupport
import Testing

/// Another process destroys, replaces or migrates a store in which this one is in the middle of a transaction
/// (Decisions/0048).
@Suite(.serialized)
struct HeldStoreTests {
  enum Deed: String, CaseIterable, Codable, Sendable { case destroy, replace, migrate }
  enum Holding: String, CaseIterable, Codable, Sendable { case reading, writing }
  struct Case: Codable, Sendable, CustomTestStringConvertible {
    let setting: StoreSetting
    let deed: Deed
    let holding: Holding
    var testDescription: String { "\(setting) \(deed) \(holding)" }

    /// Readers of a log don't wait for anybody, nor does anybody for them; a migration only reads.
    var succeeds: Bool { deed == .migrate || (setting == .wal && holding == .reading) }

    static let all: [Case] = StoreSetting.files.flatMap { setting in
      Deed.allCases.flatMap { deed in
        Holding.allCases.map { Case(setting: setting, deed: deed, holding: $0) }
      }
    }
  }

  /// The other process. Gives the code of the error, 0 for none.
  static func act(_ one: Case, _ folder: URL) throws -> Int {
    let url: URL = folder.appendingPathComponent("World.sqlite")
    let options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.2]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    switch one.deed {
    case .destroy:
      return codeThrown { try coordinator.destroyPersistentStore(at: url, type: .sqlite, options: options) }
    case .replace:
      return codeThrown {
        try coordinator.replacePersistentStore(
          at: url, destinationOptions: options,
          withPersistentStoreFrom: folder.appendingPathComponent("Other.sqlite"), type: .sqlite)
      }
    case .migrate:
      let store: NSPersistentStore = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
      return codeThrown {
        try coordinator.migratePersistentStore(
          store, to: folder.appendingPathComponent("New.sqlite"), options: options, type: .sqlite)
      }
    }
  }

  private static func count(_ url: URL) throws -> Int {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    return try queue.read { database in
      try database.tableExists("ZITEM") ? Int.fetchOne(database, sql: "SELECT count(*) FROM ZITEM") ?? 0 : -1
    }
  }

  @Test(arguments: Case.all)
  func `nothing is lost, and nobody waits for ever`(one: Case) async throws {
    let stack = try Stack(setting: one.setting)
    try stack.run { context in
      for title in ["a", "b"] { _ = context.item(title) }
      try context.save()
    }
    let url: URL = try #require(stack.store.url)
    try stack.coordinator.remove(stack.store)
    let other: NSPersistentStore = try one.setting.addStore(
      to: stack.coordinator, in: stack.folder, named: "Other")
    try stack.coordinator.remove(other)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let holder = try DatabaseQueue(path: url.path, configuration: configuration)
    let sql: String = one.holding == .reading ? "BEGIN" : "BEGIN IMMEDIATE; UPDATE ZITEM SET ZTITLE = 'c'"
    func held() throws -> Int {
      try holder.unsafeRead { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZITEM") ?? 0 }
    }
    try await holder.writeWithoutTransaction { try $0.execute(sql: sql) }
    #expect(try held() == 2)
    let folder: URL = stack.folder.url
    await #expect(processExitsWith: .success) {
      [one = one as Case, path = folder.path as String] in
      let code: Int = try HeldStoreTests.act(one, URL(fileURLWithPath: path))
      #expect(code == (one.succeeds ? 0 : NSPersistentStoreTimeoutError))
    }
    #expect(try held() == 2)
    try await holder.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    try holder.close()
    let wanted: Int = !one.succeeds || one.deed == .migrate ? 2 : one.deed == .destroy ? -1 : 0
    #expect(try Self.count(url) == wanted)
    if one.deed == .migrate { #expect(try Self.count(folder.appendingPathComponent("New.sqlite")) == 2) }
    #expect(try FileContents(url).integrity == "ok")
  }
}
