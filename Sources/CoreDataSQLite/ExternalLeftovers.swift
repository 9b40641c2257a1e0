import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Removes the files of large values that killed processes have left: those that a note names and that no row
/// of the store, or of a store that shares its folder, refers to.
enum ExternalLeftovers {
  private static let longestWaitInMilliseconds: CInt = 1000

  /// Looks for notes, which exist only after a crash or during a save. Waits briefly for the write lock; if
  /// another connection holds it longer, the next opening does the work.
  static func collect(
    _ external: ExternalData, _ options: SQLiteOptions,
    writing: ((Database) throws -> Void) throws -> Void
  ) {
    guard !ExternalNote.paths(of: external).isEmpty else { return }
    // A superfluous file does no harm, so no error here keeps the store from being opened.
    try? writing { database in
      sqlite3_busy_timeout(database.sqliteConnection, longestWaitInMilliseconds)
      defer {
        sqlite3_busy_timeout(
          database.sqliteConnection, CInt(Connections.busyTimeout(options) * 1000))
      }
      try database.inTransaction(.immediate) {
        // Lists the notes again: while this connection holds the lock no save is in progress.
        let notes: [String] = ExternalNote.paths(of: external)
        let left: Set<String> = Set(notes.flatMap(ExternalNote.names))
        let referred: Set<String> = left.isEmpty ? [] : try referredNames(database, url: external.store)
        let dropped: Set<String> = left.subtracting(referred)
        if !dropped.isEmpty {
          // A file that may belong to another store stays, and so does its note.
          guard let theirs = SharedFolder(of: external).referredNames() else { return .rollback }
          for name in dropped.subtracting(theirs) { external.file(name).remove() }
        }
        for path in notes { ExternalFile(path: path).remove() }
        return .rollback
      }
    }
  }

  /// Removes all files of values and the notes of a store that is gone, except those of stores that share its
  /// folder. Logs a warning if it can't tell which these are.
  static func removeAll(of external: ExternalData) {
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: external.folder.path)) ?? []
    let own: [String] = names.filter(ExternalData.isFileName)
    if !own.isEmpty {
      guard let theirs = SharedFolder(of: external).referredNames() else {
        return StoreWarning.write(
          external.file.path,
          "was destroyed by force, and its files of large values are still in \(external.support.path): a store beside it "
            + "that has the same name but for the ending can't be read, and some may belong to that.")
      }
      for name in own where !theirs.contains(name) { external.file(name).remove() }
    }
    for path in ExternalNote.paths(of: external) { ExternalFile(path: path).remove() }
    removeEmptyFolders(of: external)
  }

  static func removeEmptyFolders(of external: ExternalData) {
    rmdir(external.folder.path)
    rmdir(external.support.path)
  }

  /// The names of all files that any row of any table refers to, whether the model has the column or not.
  static func referredNames(_ database: Database, url: URL) throws -> Set<String> {
    var result: Set<String> = []
    try forEachColumn(database, url: url) { table, column in
      let reading: String = AppleBookkeeping.fileReferences(in: column, of: table, tag: ExternalData.fileTag)
      let values = try RawStatement(database, reading, url: url)
      defer { values.reset() }
      while try values.step() {
        guard let value = values.data(0) else { continue }
        if let name = value.withUnsafeBytes({ ExternalData.fileName($0) }) { result.insert(name) }
      }
    }
    return result
  }

  /// The table and column of the first value that is kept in one of these files, and the file's name.
  static func place(of names: Set<String>, _ database: Database, url: URL) throws -> (
    table: String, column: String, key: Int64, name: String
  )? {
    var found: (table: String, column: String, key: Int64, name: String)?
    try forEachColumn(database, url: url) { table, column in
      if found != nil { return }
      let reading: String = AppleBookkeeping.rowsWithFiles(in: column, of: table, tag: ExternalData.fileTag)
      let values = try RawStatement(database, reading, url: url)
      defer { values.reset() }
      while found == nil, try values.step() {
        guard let name = values.data(1)?.withUnsafeBytes({ ExternalData.fileName($0) }), names.contains(name)
        else { continue }
        found = (table, column, values.integer(0), name)
      }
    }
    return found
  }

  /// Calls `body` with the columns that may hold names of files.
  private static func forEachColumn(
    _ database: Database, url: URL, _ body: (_ table: String, _ column: String) throws -> Void
  ) throws {
    let columns = try RawStatement(
      database,
      "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' "
        + "AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND upper(c.type) LIKE '%BLOB%'", url: url)
    defer { columns.reset() }
    while try columns.step() { try body(columns.text(0) ?? "", columns.text(1) ?? "") }
  }
}
