import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// The contents that a store was opened with, told from those that another store, or a backup of this one,
/// may have in their place (Decisions/0048, 0054).
///
/// A database's header counts the changes of its schema (`PRAGMA schema_version`). The upper half of that
/// number is taken for an epoch: nobody gets to the next one by adding indexes or compacting the file. An
/// exchange goes to the end of the next epoch, and writing the database over counts on by one, in its own
/// transaction: so the contents are of another epoch for who has opened them before the exchange, and for who
/// has opened them while it was under way.
final class OwnContents: Sendable {

  private let url: URL
  private let epoch: UInt32
  /// The UUID that was read, and those that this store has written since.
  private let identifiers: Guarded<Set<String>>

  /// What `database` has now.
  init(_ database: Database, uuid: String, url: URL) throws {
    self.url = url
    epoch = try Self.schemaVersion(database, url: url) >> 16
    identifiers = Guarded([uuid])
  }

  /// To be called before a UUID is written.
  func accept(_ uuid: String) { identifiers.withLock { _ = $0.insert(uuid) } }

  /// Throws where the contents were exchanged by Clarus or by who counts like it.
  func requireCount(_ database: Database) throws {
    if try Self.schemaVersion(database, url: url) >> 16 == epoch { return }
    throw StoreError.fileChanged(url: url, path: url.path)
  }

  /// The same, and where they are none, or another store's, whoever has exchanged them.
  func require(_ database: Database) throws {
    try requireCount(database)
    let stored: String?
    do {
      stored = try Self.uuid(database, url: url)
    } catch StoreError.database(SQLITE_ERROR, _, _, _) {
      stored = nil
    }
    if let stored, identifiers.withLock({ $0.contains(stored) }) { return }
    throw StoreError.fileChanged(url: url, path: url.path)
  }

  private static func schemaVersion(_ database: Database, url: URL) throws -> UInt32 {
    let pragma = try RawStatement(database, "PRAGMA schema_version", url: url)
    defer { pragma.reset() }
    return try pragma.step() ? UInt32(truncatingIfNeeded: pragma.integer(0)) : 0
  }

  private static func uuid(_ database: Database, url: URL) throws -> String? {
    let select = try RawStatement(database, AppleBookkeeping.readUUID, url: url)
    defer { select.reset() }
    return try select.step() ? select.text(0) : nil
  }

  /// Goes to the end of the next epoch, so that all who have the store open see that its contents are about
  /// to be exchanged. Gives what takes that back.
  static func announceExchange(_ database: Database, url: URL) throws -> () throws -> Void {
    func set(_ version: UInt32) throws {
      try database.execute(sql: "PRAGMA schema_version = \(Int32(bitPattern: version))")
    }
    var former: UInt32 = 0
    try database.inTransaction(.immediate) {
      former = try schemaVersion(database, url: url)
      try set((former >> 16 &+ 1) << 16 | 0xFFFF)
      return .commit
    }
    return {
      try database.inTransaction(.immediate) {
        try set(former)
        return .commit
      }
    }
  }
}

/// Looks whether a store's contents were exchanged, on one connection: only after somebody else has
/// committed, which costs no I/O to know.
final class ContentsWatch: @unchecked Sendable {
  // Sendable: `seenVersion` is touched by whoever has the connection's turn.

  private let contents: OwnContents
  /// Whether the UUID is looked at, too. Costs another statement.
  private let isThorough: Bool
  /// The version of the data at the last look.
  private var seenVersion: UInt32?

  init(_ contents: OwnContents, isThorough: Bool) {
    self.contents = contents
    self.isThorough = isThorough
  }

  /// To be called in a transaction, or after a statement: throws unless what was read there, and before, is
  /// the store's own. SQLite counts exchanges and never takes them back, so it does not matter that the look
  /// may meet a later state.
  func look(_ database: Database) throws {
    let version: UInt32? = Self.dataVersion(database)
    if let version, version == seenVersion { return }
    if isThorough { try contents.require(database) } else { try contents.requireCount(database) }
    // Not that of now: a commit since the first line has to be looked at, too.
    seenVersion = version
  }

  /// After a commit on this connection.
  func noteCommit(_ database: Database) { seenVersion = Self.dataVersion(database) }

  /// Changes with every commit, be it of this connection or another. Asked inside a transaction, or right
  /// after one, it costs no I/O.
  private static func dataVersion(_ database: Database) -> UInt32? {
    var version: UInt32 = 0
    let code: CInt = sqlite3_file_control(
      database.sqliteConnection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return code == SQLITE_OK ? version : nil
  }
}
