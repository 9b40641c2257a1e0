import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// How every connection of a store is set up.
enum Connections {
  static func configuration(_ options: SQLiteOptions, url: URL) throws -> Configuration {
    let pragmas: [(name: String, value: String)] = try checkedPragmas(options, url: url)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(busyTimeout(options))
    configuration.label = "Clarus \(url.lastPathComponent)"
    configuration.maximumReaderCount = max(4, ProcessInfo.processInfo.activeProcessorCount)
    configuration.prepareDatabase { database in
      SQLFunctions.register(on: database)
      SQLAggregates.register(on: database)
      for pragma in pragmas where !database.configuration.readonly || harmless.contains(pragma.name) {
        try database.execute(sql: pragmaText(pragma))
      }
    }
    return configuration
  }

  /// Runs the pragmas again that opening a pool has overwritten with its own choice.
  static func restorePragmas(_ options: SQLiteOptions, url: URL, on database: Database) throws {
    for pragma in try checkedPragmas(options, url: url) where pragma.name == "synchronous" {
      try database.execute(sql: pragmaText(pragma))
    }
  }

  static func journalMode(_ options: SQLiteOptions) -> String {
    options.pragmas.first { $0.key.lowercased() == "journal_mode" }?.value.lowercased() ?? "wal"
  }

  private static func busyTimeout(_ options: SQLiteOptions) -> Double {
    let pragma: String? = options.pragmas.first { $0.key.lowercased() == "busy_timeout" }?.value
    return pragma.flatMap(Double.init).map { $0 / 1000 } ?? options.busyTimeoutInSeconds
  }

  /// Pragmas with a meaning for connections that only read.
  private static let harmless: Set<String> = ["cache_size", "mmap_size", "temp_store", "threads"]
  /// Handled by opening itself.
  private static let handled: Set<String> = ["journal_mode", "busy_timeout", "page_size", "auto_vacuum"]
  /// Would let statements damage the file or make them mean something else.
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
