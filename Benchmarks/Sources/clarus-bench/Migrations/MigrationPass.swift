import CoreData
import Foundation
import GRDBSQLite

/// One migration of a copy of a store.
struct MigrationPass {
  let name: MigrationCase
  let way: MigrationWay
  let rows: Int
  let template: URL
  let folder: URL

  /// A store of the first version, as a program leaves it: a WAL of length 0, and each tenth `note` missing.
  static func makeStore(at url: URL, rows: Int) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: MigrationModels.make())
    let store: NSPersistentStore = try coordinator.addPersistentStore(type: .sqlite, at: url)
    try coordinator.remove(store)
    try Connection(url).run(
      "BEGIN",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZSECTION, ZQUANTITY, ZPRIORITY, ZPRICE, ZWEIGHT, ZCODE, ZTITLE,
        ZNOTE, ZDONE)
      SELECT i, 1, 1, i, i % 100, i % 1000, i % 5, i * 0.25, i * 0.5, 'code ' || i, 'the title of item ' || i,
        CASE i % 10 WHEN 0 THEN NULL ELSE 'a note on item ' || i END, i % 2 FROM n
      """,
      "UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows)", "COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func run() throws -> MigrationMeasurement {
    let first: Double = try migrate()
    _ = try Memory.startOver()
    let second: Double = try migrate()
    return MigrationMeasurement(first: first, seconds: second, peak: try Memory.peak())
  }

  /// Migrates a copy of the template, and returns the seconds that it took.
  private func migrate() throws -> Double {
    let url: URL = folder.appendingPathComponent("pass.sqlite")
    let result: URL = folder.appendingPathComponent("result.sqlite")
    defer { remove(url, result) }
    remove(url, result)
    try FileManager.default.copyItem(at: template, to: url)
    try synchronize(url)
    let start: ContinuousClock.Instant = .now
    switch way {
    case .hand: try byHand(url)
    case .inPlace: try inPlace(url)
    case .copying: try copy(url, result)
    }
    let seconds: Double = (ContinuousClock.now - start) / .seconds(1)
    let made: URL = way == .copying ? result : url
    guard try Connection(made).number("SELECT count(*) FROM ZITEM") == Int64(rows) else {
      throw BenchmarkError("Rows are missing.")
    }
    if name == .require, try Connection(made).number("SELECT count(*) FROM ZITEM WHERE ZNOTE IS NULL") != 0 {
      throw BenchmarkError("Values are missing.")
    }
    return seconds
  }

  /// Puts the copy on the disk, or the first checkpoint would wait until all of it is there.
  private func synchronize(_ url: URL) throws {
    let file: FileHandle = try FileHandle(forWritingTo: url)
    try file.synchronize()
    try file.close()
  }

  private func remove(_ urls: URL...) {
    for url in urls {
      for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + ending) }
    }
  }

  /// With the settings of a store's connections.
  private func byHand(_ url: URL) throws {
    try Connection(url).run(
      ["PRAGMA synchronous = NORMAL", "BEGIN IMMEDIATE"] + (name.statements ?? []) + ["COMMIT"])
  }

  private func inPlace(_ url: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: name.model)
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      type: .sqlite, at: url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      ])
    try coordinator.remove(store)
  }

  private func copy(_ url: URL, _ result: URL) throws {
    let (old, new): (NSManagedObjectModel, NSManagedObjectModel) = (MigrationModels.make(), name.model)
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: old, destinationModel: new)
    if name == .split {
      let item: NSEntityMapping? = mapping.entityMappings?.first { $0.sourceEntityName == "Item" }
      item?.mappingType = .customEntityMappingType
      item?.entityMigrationPolicyClassName = NSStringFromClass(SplitPolicy.self)
    }
    try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
      from: url, type: .sqlite, mapping: mapping, to: result, type: .sqlite)
  }
}

/// SQLite's C interface.
private final class Connection {
  private var handle: OpaquePointer?

  init(_ url: URL) throws {
    guard sqlite3_open(url.path, &handle) == SQLITE_OK else {
      throw BenchmarkError("\(url.path) can't be opened.")
    }
  }

  deinit { sqlite3_close(handle) }

  func run(_ statements: String...) throws { try run(statements) }

  func run(_ statements: [String]) throws {
    for sql in statements where sqlite3_exec(handle, sql, nil, nil, nil) != SQLITE_OK {
      throw BenchmarkError("\(String(cString: sqlite3_errmsg(handle))): \(sql)")
    }
  }

  func number(_ sql: String) throws -> Int64 {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { throw BenchmarkError("\(String(cString: sqlite3_errmsg(handle))): \(sql)") }
    return sqlite3_column_int64(statement, 0)
  }
}
