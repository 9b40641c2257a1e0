import CoreDataStorage
import Foundation
import GRDB

/// How every connection of a store is set up.
enum Connections {
  static func configuration(_ options: SQLiteOptions, url: URL) throws -> Configuration {
    let pragmas: [(name: String, value: String)] = try checkedPragmas(options, url: url)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(busyTimeout(options))
    configuration.label = "Clarus \(url.lastPathComponent)"
    guard options.connectionLimit > 0 else {
      throw StoreError.unsupported(
        part: "NSPersistentStoreConnectionPoolMaxSizeKey", reason: "it is \(options.connectionLimit)",
        advice: "set 1 or more connections, or leave it out")
    }
    configuration.maximumReaderCount = options.connectionLimit
    let salvages: Bool = options.salvages
    configuration.prepareDatabase { database in
      // With it SQLite opens a file whose last pages are missing.
      if salvages { try database.execute(sql: "PRAGMA writable_schema = 1") }
      SQLFunctions.register(on: database)
      SQLAggregates.register(on: database)
      for pragma in pragmas where !database.configuration.readonly || harmless.contains(pragma.name) {
        try database.execute(sql: pragmaText(pragma))
      }
    }
    return configuration
  }

  /// The journal mode that the options request, in lower case; nil if they request none.
  static func journalMode(_ options: SQLiteOptions) throws -> String? {
    guard
      let mode = options.pragmas.first(where: { $0.key.lowercased() == "journal_mode" })?.value.lowercased()
    else { return nil }
    guard ["wal", "delete", "truncate", "persist", "memory", "off"].contains(mode) else {
      throw StoreError.unsupported(
        part: "pragma 'journal_mode'", reason: "'\(mode)' is no journal mode",
        advice: "use WAL, DELETE, TRUNCATE or PERSIST")
    }
    return mode
  }

  /// Changes the journal mode of a database, which needs exclusive access to the file for a moment.
  static func setJournalMode(_ mode: String, _ options: SQLiteOptions, on queue: DatabaseQueue) throws {
    let deadline = Date(timeIntervalSinceNow: busyTimeout(options))
    while true {
      do {
        return try queue.writeWithoutTransaction {
          _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = \(mode)")
        }
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && Date() < deadline {
        // SQLite's busy handler does not apply here.
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
  }

  /// The work that options request for each opening. Others may have the file open; each statement waits
  /// until they hold no lock.
  static func maintain(_ options: SQLiteOptions, on queue: DatabaseQueue) throws {
    guard options.compacts || options.analyzes else { return }
    try queue.writeWithoutTransaction { database in
      if options.compacts {
        try database.execute(sql: "VACUUM")
        // With a log the new pages are in it, and the file has its old size until they are moved. Readers of
        // earlier states may prevent that; the next checkpoint does it then.
        _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      }
      if options.analyzes { try database.execute(sql: "ANALYZE") }
    }
  }

  /// Whether a database has a write-ahead log, so that others can read while one writes; if so, sets the
  /// pragmas of that mode.
  static func prepareLog(_ options: SQLiteOptions, on queue: DatabaseQueue) throws -> Bool {
    try queue.writeWithoutTransaction { database in
      guard try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal" else { return false }
      // With NORMAL the log survives a crash of the process although saves do not wait for the disk, and the
      // file stays intact in any case.
      if !options.pragmas.keys.contains(where: { $0.lowercased() == "synchronous" }) {
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
      }
      return true
    }
  }

  static func busyTimeout(_ options: SQLiteOptions) -> Double {
    let pragma: String? = options.pragmas.first { $0.key.lowercased() == "busy_timeout" }?.value
    let seconds: Double = pragma.flatMap(Double.init).map { $0 / 1000 } ?? options.busyTimeoutInSeconds
    // SQLite counts the milliseconds with 32 bits: some 24 days.
    return seconds.isNaN ? 0 : min(max(0, seconds), Double(CInt.max / 1000))
  }

  /// Pragmas that also make sense for connections that only read.
  private static let harmless: Set<String> = ["cache_size", "mmap_size", "temp_store", "threads"]
  /// Handled when the store is opened.
  private static let handled: Set<String> = ["journal_mode", "busy_timeout", "page_size", "auto_vacuum"]
  /// Pragmas that would let statements damage the file or change their meaning.
  private static let refused: Set<String> = [
    "writable_schema", "ignore_check_constraints", "encoding", "legacy_file_format", "schema_version",
    "user_version",
    "application_id", "query_only", "locking_mode",
  ]

  private static func pragmaText(_ pragma: (name: String, value: String)) -> String {
    "PRAGMA \(pragma.name) = '\(pragma.value.replacingOccurrences(of: "'", with: "''"))'"
  }

  private static func checkedPragmas(_ options: SQLiteOptions, url: URL) throws -> [(
    name: String, value: String
  )] {
    try options.pragmas.sorted { $0.key < $1.key }.compactMap { key, value in
      let name: String = key.lowercased()
      let isWord: Bool = !name.isEmpty && name.utf8.allSatisfy { ($0 >= 97 && $0 <= 122) || $0 == 95 }
      guard isWord, !value.utf8.contains(0) else {
        throw StoreError.unsupported(
          part: "pragma '\(key)'", reason: "a pragma's name is letters and underscores",
          advice: "see https://www.sqlite.org/pragma.html for the names")
      }
      if refused.contains(name) {
        throw StoreError.unsupported(
          part: "pragma '\(name)'", reason: "it would change what the store's statements mean",
          advice: "leave it out of NSSQLitePragmasOption")
      }
      return handled.contains(name) ? nil : (name, value)
    }
  }
}
