import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// Creates a fresh store.
///
/// All of it is one transaction, after the journal mode is set. So a crash leaves an empty file, a database
/// that is blank by itself or after its log or journal is applied (all count as no store, see `isVacant`), or
/// a whole store. If two processes create the same store at once, the second one finds the first one's.
enum StoreCreation {
  /// Whether there is no store yet at a path: no file, an empty one, or the beginning of a store that a
  /// process is writing or left when it died. Reads the database if the file alone does not decide.
  static func isVacant(_ state: StoreFileState, configuration: Configuration) throws -> Bool {
    guard let file = state.file, file.size > 0 else { return true }
    if state.isBlank { return true }
    let isChanging: Bool = state.hasHotJournal || state.hasWAL
    guard isChanging || state.isFirstPageBlank else { return false }
    // Only SQLite can apply its log or journal to the file, and reading rolls a journal back. It truncates a
    // file that was emptied only after the journal is gone, so a process that is killed in between leaves
    // more than the one page that counts.
    return try SQLiteErrors.translating(url: state.url) {
      let queue = try DatabaseQueue(path: state.url.path, configuration: configuration)
      defer { try? queue.close() }
      return try queue.read { database in
        guard try isEmpty(database) else { return false }
        return try isChanging || Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0 <= 1
      }
    }
  }

  /// Whether a database holds nothing, so that a store can be made in it.
  static func isEmpty(_ database: Database) throws -> Bool {
    try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
  }

  static func create(_ url: URL, layout: ModelLayout, options: SQLiteOptions, configuration: Configuration)
    throws
  {
    let contents = try Contents(layout: layout, options: options)
    try requireFolder(of: url)
    var configuration: Configuration = configuration
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2")
    }
    try SQLiteErrors.translating(url: url) {
      let queue = try DatabaseQueue(path: url.path, configuration: configuration)
      defer { try? queue.close() }
      try Connections.setJournalMode(try Connections.journalMode(options) ?? "wal", options, on: queue)
      try fill(queue, contents, url: url)
    }
  }

  /// Throws an error that names the folder if the folder of the store's file does not exist.
  static func requireFolder(of url: URL) throws {
    let folder: URL = url.followingLinks.deletingLastPathComponent()
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw StoreError.database(
        code: SQLITE_CANTOPEN,
        message: "The folder \(folder.path) does not exist; create it before the store.", sql: nil, url: url)
    }
  }

  /// The contents of a fresh store. They are made before the file, so that a model that can't be stored
  /// leaves none.
  struct Contents {
    let model: NSManagedObjectModel
    let statements: [CompiledStatement]
    let metadata: StoreMetadata

    init(layout: ModelLayout, options: SQLiteOptions) throws {
      try layout.checkComposites(entityNames: options.entityNames)
      model = layout.model
      let creation = AppleCreation(try StoreSchema(layout: layout, entities: options.entityNames))
      let derived: [DerivedSlot] = try layout.derivedSlots(entityNames: options.entityNames)
      statements = creation.statements() + (try creation.triggers(derived)).map { CompiledStatement(sql: $0) }
      metadata = StoreMetadata.freshSQLite(model: layout.model, entityNames: options.entityNames)
    }
  }

  /// Turns a blank database into a store; a database that is a store already stays unchanged.
  static func fill(_ queue: DatabaseQueue, _ contents: Contents, url: URL) throws {
    try queue.writeWithoutTransaction { database in
      try database.inTransaction(.immediate) {
        if try database.hasTable(AppleBookkeeping.metadata, url: url) { return .rollback }
        for statement in contents.statements { try run(statement, database, url: url) }
        try contents.metadata.write(database, url: url)
        try writeModelCache(contents.model, database, url: url)
        return .commit
      }
    }
  }

  private static func writeModelCache(_ model: NSManagedObjectModel, _ database: Database, url: URL) throws {
    guard let blob = ModelCache.blob(for: model) else { return }
    let insert = try RawStatement(database, AppleBookkeeping.insertModel, url: url)
    try insert.bind(1, blob)
    try insert.run()
  }

  private static func run(_ statement: CompiledStatement, _ database: Database, url: URL) throws {
    let raw = try RawStatement(database, statement.sql, url: url)
    for (place, value) in statement.bindings.enumerated() { try raw.bind(place + 1, value) }
    try raw.run()
  }
}
