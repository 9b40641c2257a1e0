import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// Writing one database over another, in one transaction of that one (https://www.sqlite.org/backup.html).
struct DatabaseBackup {
  private let source: Database
  private let target: Database
  private let url: URL

  /// Neither may be in the middle of writing. `url` is the target's.
  init(of source: Database, over target: Database, url: URL) {
    self.source = source
    self.target = target
    self.url = url
  }

  /// `prepare` runs while the target is locked and still what it was; what it throws leaves it so.
  func run(_ prepare: () throws -> Void) throws {
    guard
      let backup = sqlite3_backup_init(target.sqliteConnection, "main", source.sqliteConnection, "main")
    else { throw SQLiteErrors.last(of: target.sqliteConnection, sql: nil, url: url) }
    var code: Int32 = SQLITE_OK
    do {
      // No page, but the lock. An empty source would be done with that.
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
