import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// The files that a store's connections have open, to be compared with the files that their paths name now.
///
/// A connection keeps using the file that it has opened when that file is removed or replaced: what it writes
/// then is lost when it is closed. In WAL mode the same holds for the log and its index.
struct OpenedFiles: Sendable {
  let url: URL
  private let store: (path: String, bytes: ContiguousArray<CChar>, identity: FileIdentity)
  /// The log and its index, which lie beside the file that the store's path leads to.
  private let companions: [(path: String, identity: FileIdentity)]
  private let mark: StoreFileMark

  /// Records the open files of a connection that has read from the database.
  init(_ database: Database, url: URL) throws {
    self.url = url
    guard let identity = FileIdentity(path: url.path) else {
      throw StoreError.fileChanged(url: url, path: url.path)
    }
    store = (url.path, url.path.utf8CString, identity)
    mark = StoreFileMark(identity)
    // SQLite puts the log beside the file itself, not beside a symbolic link to it.
    let path: String =
      sqlite3_db_filename(database.sqliteConnection, "main").map { String(cString: $0) } ?? ""
    companions = ["-wal", "-shm"].compactMap { ending in
      FileIdentity(path: path + ending).map { (path + ending, $0) }
    }
    if try hasMoved(database) { throw StoreError.fileChanged(url: url, path: url.path) }
  }

  /// Whether the file was exchanged before its identity was read.
  private func hasMoved(_ database: Database) throws -> Bool {
    var answer: CInt = 0
    let code: CInt = sqlite3_file_control(
      database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// Throws `StoreError.fileChanged` unless the store's path still names the opened file.
  func checkStore() throws {
    if FileIdentity(path: store.bytes) != store.identity {
      throw StoreError.fileChanged(url: url, path: store.path)
    }
  }

  /// Checks the store's file and its companions, which is required before any write.
  func checkAll() throws {
    try checkStore()
    for (path, identity) in companions where FileIdentity(path: path) != identity {
      throw StoreError.fileChanged(url: url, path: path)
    }
  }
}
