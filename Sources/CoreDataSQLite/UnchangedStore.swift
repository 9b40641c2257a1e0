import CoreDataStorage
import Foundation
import GRDB

/// An open connection to a store's file that tells, under the file's write lock, whether others have saved
/// since it was opened.
///
/// SQLite gives a connection another *data version* when it takes a lock and finds that others have committed
/// since it last had one, whatever program they are. The number is read without I/O, also while the
/// connection is the target of a backup and can run no statement.
final class UnchangedStore {
  let queue: DatabaseQueue
  private let url: URL
  private let files: OpenedFiles
  private var version: UInt32?

  /// Opens the file.
  init(_ url: URL, _ options: SQLiteOptions) throws {
    self.url = url
    let queue: DatabaseQueue = try StoreExchange.connection(url, options)
    self.queue = queue
    do {
      (files, version) = try SQLiteErrors.translating(url: url) {
        try queue.inDatabase { database in
          var version: UInt32?
          try database.inTransaction(.deferred) {
            _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
            version = ContentsWatch.dataVersion(database.sqliteConnection)
            return .commit
          }
          return (try OpenedFiles(database, url: url), version)
        }
      }
    } catch {
      try? queue.close()
      throw error
    }
  }

  /// Must be called while the connection holds the write lock. Throws if others have saved, or have put
  /// another file in the place.
  func require(_ database: Database) throws {
    try files.checkAll()
    guard let version, ContentsWatch.dataVersion(database.sqliteConnection) == version else {
      throw StoreError.savedByOthers(url: url)
    }
  }

  /// The same for this moment.
  func requireNow() throws {
    try SQLiteErrors.translating(url: url) {
      try queue.inDatabase { database in
        try database.inTransaction(.deferred) {
          _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
          try require(database)
          return .commit
        }
      }
    }
  }

  /// Must be called after a commit of the connection's own.
  func noteCommit(_ database: Database) {
    version = ContentsWatch.dataVersion(database.sqliteConnection)
  }

  func close() { try? queue.close() }
}

/// A replacement of the contents that a file had when it was begun.
final class SQLiteReplacement: StoreReplacement {
  private let unchanged: UnchangedStore
  private let exchange: StoreExchange

  init(_ url: URL, _ options: SQLiteOptions) throws {
    unchanged = try UnchangedStore(url, options)
    exchange = StoreExchange(url: url, options: options, unchanged: unchanged)
  }

  func complete(with source: URL) throws { try exchange.replace(with: source) }

  func requireUnchanged() throws { try unchanged.requireNow() }

  func end() { unchanged.close() }
}
