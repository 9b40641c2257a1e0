import CoreData
import Foundation
import GRDB

/// The collection of real files, which is not part of the repository.
enum RealStores {
  static let folder: URL? = {
    let root: URL
    if let path = ProcessInfo.processInfo.environment["CLARUS_FIXTURES"] {
      root = URL(fileURLWithPath: path)
    } else {
      var package = URL(fileURLWithPath: #filePath)
      for _ in 0..<4 { package.deleteLastPathComponent() }
      root = package.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    }
    let folder: URL = root.appendingPathComponent("stores-sqlite")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  static let absence = "needs the folder of real model files and stores; set CLARUS_FIXTURES to its path"

  /// The stores that carry their model, by path below the collection.
  static let withModel: [String] = {
    guard let folder, let walk = FileManager.default.enumerator(atPath: folder.path) else { return [] }
    let paths: [String] = walk.compactMap { $0 as? String }.filter { path in
      let url: URL = folder.appendingPathComponent(path)
      guard let file = FileHandle(forReadingAtPath: url.path) else { return false }
      defer { try? file.close() }
      guard (try? file.read(upToCount: 15)) == Data("SQLite format 3".utf8) else { return false }
      return ((try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)) ?? nil) != nil
    }
    return paths.sorted()
  }()

  /// A copy with its journal, for tests that write: without the history that would make it read-only, unless asked for.
  static func copy(_ path: String, to folder: TemporaryFolder, keepsHistory: Bool = false) throws -> URL {
    guard let source = self.folder?.appendingPathComponent(path) else { throw CocoaError(.fileNoSuchFile) }
    let target: URL = folder.file(source.lastPathComponent)
    for suffix in ["", "-wal", "-shm"] {
      guard let data = FileManager.default.contents(atPath: source.path + suffix) else { continue }
      try data.write(to: URL(fileURLWithPath: target.path + suffix))
    }
    if !keepsHistory { try dropHistory(target) }
    return target
  }

  private static func dropHistory(_ url: URL) throws {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    guard try queue.read({ try $0.tableExists("ACHANGE") }) else { return }
    try queue.write { database in
      for table in ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"] {
        try database.execute(sql: "DROP TABLE IF EXISTS \(table)")
      }
      try database.execute(sql: "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
    }
  }

  /// The model a store carries, ready for a coordinator: classes that this process does not have become plain ones, and
  /// where the store holds only some of its entities, these are the configuration "Held".
  static func model(at url: URL) throws -> (model: NSManagedObjectModel, configuration: String?) {
    guard
      let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)?.copy()
        as? NSManagedObjectModel
    else {
      throw CocoaError(.fileReadCorruptFile)
    }
    for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
    let metadata: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url)
    guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data],
      Set(hashes.keys) != Set(model.entitiesByName.keys)
    else { return (model, nil) }
    model.setEntities(model.entities.filter { hashes[$0.name ?? ""] != nil }, forConfigurationName: "Held")
    return (model, "Held")
  }

  static func open(
    _ url: URL, _ change: (NSManagedObjectModel) -> Void = { _ in }
  ) throws -> NSManagedObjectContext {
    let (model, configuration) = try model(at: url)
    change(model)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: configuration, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}

extension NSManagedObjectContext {
  /// The concrete entities that the store holds.
  var heldEntities: [NSEntityDescription] {
    let model: NSManagedObjectModel? = persistentStoreCoordinator?.managedObjectModel
    let held: [NSEntityDescription] =
      model?.entities(forConfigurationName: "Held") ?? model?.entities ?? []
    return held.filter { !$0.isAbstract }.sorted { $0.name ?? "" < $1.name ?? "" }
  }
}

/// What a store file holds, read by plain SQL.
struct FileContents {
  /// table → row id → column → value, as SQL literals.
  private(set) var tables: [String: [Int64: [String: String]]] = [:]
  private(set) var columns: [String: Set<String>] = [:]
  private(set) var indexes: [String: [String]] = [:]
  /// trigger → its text.
  private(set) var triggers: [String: String] = [:]
  private(set) var integrity: String = ""

  init(_ url: URL) throws {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    (tables, columns, indexes, triggers, integrity) = try queue.inDatabase { database in
      var tables: [String: [Int64: [String: String]]] = [:]
      var columns: [String: Set<String>] = [:]
      var indexes: [String: [String]] = [:]
      let names: [String] = try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      for name in names {
        let quoted: String = "\"\(name)\""
        let own: [String] = try Row.fetchAll(database, sql: "PRAGMA table_info(\(quoted))").map { $0["name"] }
        columns[name] = Set(own)
        let literals: String = own.map { "quote(\"\($0)\") AS \"\($0)\"" }.joined(separator: ", ")
        var rows: [Int64: [String: String]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT rowid AS __row, \(literals) FROM \(quoted)") {
          rows[row["__row"]] = Dictionary(uniqueKeysWithValues: own.map { ($0, row[$0] as String) })
        }
        tables[name] = rows
        for index in try Row.fetchAll(database, sql: "PRAGMA index_list(\(quoted))") {
          let indexName: String = index["name"]
          indexes[indexName] = try Row.fetchAll(database, sql: "PRAGMA index_info(\"\(indexName)\")").map {
            ($0["name"] as String?) ?? "expression"
          }
        }
      }
      let integrity: String = try String.fetchOne(database, sql: "PRAGMA integrity_check") ?? ""
      let triggers: [String: String] = try Dictionary(
        uniqueKeysWithValues: Row.fetchAll(
          database, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).map { ($0["name"], $0["sql"]) })
      return (tables, columns, indexes, triggers, integrity)
    }
  }

  /// Entity name → its number in this file.
  var numbers: [String: String] {
    var result: [String: String] = [:]
    for row in (tables["Z_PRIMARYKEY"] ?? [:]).values {
      result[String((row["Z_NAME"] ?? "").dropFirst().dropLast())] = row["Z_ENT"]
    }
    return result
  }

  /// The greatest key given out for each hierarchy's entity number.
  var greatestKeys: [String: Int64] {
    var result: [String: Int64] = [:]
    for row in (tables["Z_PRIMARYKEY"] ?? [:]).values {
      result[row["Z_ENT"] ?? ""] = Int64(row["Z_MAX"] ?? "")
    }
    return result
  }
}
