import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// The contents that a store was opened with, as distinct from those that another store, or a backup of this
/// one, may have put in their place (Decisions/0048, 0054).
///
/// A database's header counts the changes of its schema (`PRAGMA schema_version`). The upper half of that
/// number serves as an epoch: adding indexes or compacting the file never reaches the next one. An exchange
/// first sets the number to the end of the next epoch; writing the database over then adds one, in its own
/// transaction. So the epoch differs both for connections that opened the contents before the exchange and
/// for those that opened them during it.
final class OwnContents: Sendable {

  private let url: URL
  private let epoch: UInt32
  /// The UUID that was read, and those that this store has written since.
  private let identifiers: Guarded<Set<String>>

  /// Reads the epoch and takes the UUID of the current contents.
  init(_ database: Database, uuid: String, url: URL) throws {
    self.url = url
    epoch = try Self.schemaVersion(database, url: url) >> 16
    identifiers = Guarded([uuid])
  }

  /// Must be called before a UUID is written.
  func accept(_ uuid: String) { identifiers.withLock { _ = $0.insert(uuid) } }

  /// Throws if the contents were exchanged by Clarus or by a program that counts like it.
  func requireCount(_ database: Database) throws {
    if try Self.schemaVersion(database, url: url) >> 16 == epoch { return }
    throw StoreError.fileChanged(url: url, path: url.path)
  }

  /// Throws also if there are no contents, or another store's, whatever program exchanged them.
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

  /// Begins the next epoch in the transaction that has exchanged the contents.
  static func markExchanged(_ database: Database, url: URL) throws {
    let version: UInt32 = (try schemaVersion(database, url: url) >> 16 &+ 1) << 16
    try database.execute(sql: "PRAGMA schema_version = \(Int32(bitPattern: version))")
  }

  /// Sets the schema version to the end of the next epoch, so that every connection that has the store open
  /// detects the coming exchange. `condition` is called before, under the lock; if it throws, nothing is
  /// done. Returns a function that reverts this.
  static func announceExchange(
    _ database: Database, url: URL, if condition: () throws -> Void = {}
  ) throws -> () throws -> Void {
    func set(_ version: UInt32) throws {
      try database.execute(sql: "PRAGMA schema_version = \(Int32(bitPattern: version))")
    }
    var former: UInt32 = 0
    try database.inTransaction(.immediate) {
      try condition()
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

/// Checks on one connection whether a store's contents were exchanged. It checks only after another
/// connection has committed; finding that out costs no I/O.
final class ContentsWatch: @unchecked Sendable {
  // Sendable: `seenVersion` is accessed only by the code that holds the connection's turn.

  private let contents: OwnContents
  /// Whether to check the UUID too, which costs another statement.
  private let isThorough: Bool
  /// The version of the data at the last check.
  @exclusivity(unchecked) private var seenVersion: UInt32?

  init(_ contents: OwnContents, isThorough: Bool) {
    self.contents = contents
    self.isThorough = isThorough
  }

  /// Must be called in a transaction, or after a statement. Throws unless the data read there, and before, is
  /// the store's own. The check may see a later state than the statement; that does not matter, because the
  /// schema version only rises.
  func check(_ database: Database) throws {
    let version: UInt32? = Self.dataVersion(database.sqliteConnection)
    if let version, version == seenVersion { return }
    if isThorough { try contents.require(database) } else { try contents.requireCount(database) }
    // The version read above, not the current one: a commit in between must be checked, too.
    seenVersion = version
  }

  /// Whether nothing was committed since the last check. May be called where `check(_:)` may be.
  func isUpToDate(_ connection: OpaquePointer) -> Bool {
    let version: UInt32? = Self.dataVersion(connection)
    return version != nil && version == seenVersion
  }

  /// Must be called after a commit on this connection.
  func noteCommit(_ database: Database) { seenVersion = Self.dataVersion(database.sqliteConnection) }

  /// The version of the data, which changes with every commit of this or another connection. Reading it
  /// inside a transaction, or right after one, costs no I/O.
  static func dataVersion(_ connection: OpaquePointer?) -> UInt32? {
    var version: UInt32 = 0
    let code: CInt = sqlite3_file_control(connection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return code == SQLITE_OK ? version : nil
  }
}
