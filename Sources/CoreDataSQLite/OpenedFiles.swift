import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// The files that a store's connections have open, to be compared with what their paths name now.
///
/// A connection goes on with the file it has opened when that file is removed or another one takes its name:
/// what it writes then is gone when it is closed. In WAL mode the same holds for the log and its index.
struct OpenedFiles: Sendable {
  let url: URL
  private let store: (path: String, identity: FileIdentity)
  /// The log and its index, beside the file that the store's path leads to.
  private let companions: [(path: String, identity: FileIdentity)]
  private let mark: StoreFileMark

  /// What a connection that has read from the database has open.
  init(_ database: Database, url: URL) throws {
    self.url = url
    guard let identity = FileIdentity(path: url.path) else {
      throw StoreError.fileChanged(url: url, path: url.path)
    }
    store = (url.path, identity)
    mark = StoreFileMark(identity)
    // SQLite puts the log beside the file itself, not beside a symbolic link to it.
    let path: String =
      sqlite3_db_filename(database.sqliteConnection, "main").map { String(cString: $0) } ?? ""
    companions = ["-wal", "-shm"].compactMap { ending in
      FileIdentity(path: path + ending).map { (path + ending, $0) }
    }
    if try hasMoved(database) { throw StoreError.fileChanged(url: url, path: url.path) }
  }

  /// Whether the file was exchanged before its identity could be taken.
  private func hasMoved(_ database: Database) throws -> Bool {
    var answer: CInt = 0
    let code: CInt = sqlite3_file_control(
      database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// Throws `StoreError.fileChanged` unless the store's path names the opened file still.
  func checkStore() throws {
    if FileIdentity(path: store.path) != store.identity {
      throw StoreError.fileChanged(url: url, path: store.path)
    }
  }

  /// The same for the store and what lies beside it: nothing may be written otherwise.
  func checkAll() throws {
    try checkStore()
    for (path, identity) in companions where FileIdentity(path: path) != identity {
      throw StoreError.fileChanged(url: url, path: path)
    }
  }
}
