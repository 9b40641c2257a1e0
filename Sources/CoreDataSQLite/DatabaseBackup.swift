import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// Writes one database over another, in one transaction of the target (https://www.sqlite.org/backup.html).
struct DatabaseBackup {
  private let source: Database
  private let target: Database
  private let url: URL

  /// Neither connection may have a write in progress. `url` is the target's.
  init(of source: Database, over target: Database, url: URL) {
    self.source = source
    self.target = target
    self.url = url
  }

  /// `prepare` runs while the target is locked and still unchanged; if it throws, the target stays so.
  func run(_ prepare: () throws -> Void) throws {
    guard
      let backup = sqlite3_backup_init(target.sqliteConnection, "main", source.sqliteConnection, "main")
    else { throw SQLiteErrors.last(of: target.sqliteConnection, sql: nil, url: url) }
    var code: Int32 = SQLITE_OK
    do {
      // Copies no page but takes the lock. With an empty source this call would already complete the backup.
      if try Int.fetchOne(source, sql: "PRAGMA page_count") ?? 0 > 0 { code = sqlite3_backup_step(backup, 0) }
      if code == SQLITE_OK {
        try prepare()
        code = sqlite3_backup_step(backup, -1)
      }
    } catch {
      sqlite3_backup_finish(backup)
      throw error
    }
    let end: Int32 = sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE, end == SQLITE_OK else {
      let failure: Int32 = code == SQLITE_DONE ? end : code
      throw SQLiteErrors.make(
        code: failure, message: String(cString: sqlite3_errstr(failure)), sql: nil, url: url)
    }
    target.clearSchemaCache()
  }
}
