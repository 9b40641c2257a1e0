import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// Turns SQLite's codes into facts of the store layer, in one place.
enum SQLiteErrors {
  /// The error a connection reports for its last call.
  static func last(of connection: OpaquePointer?, sql: String?, url: URL?) -> StoreError {
    let code: Int32 = connection.map { sqlite3_extended_errcode($0) } ?? SQLITE_NOMEM
    let text: String =
      connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "out of memory"
    return make(code: code, message: text, sql: sql, url: url)
  }

  static func make(code: Int32, message: String, sql: String?, url: URL?) -> StoreError {
    switch code & 0xFF {
    case SQLITE_NOTADB:
      if let url {
        return .invalidFile(url: url, reason: "It is not an SQLite database, or it is encrypted.")
      }
    case SQLITE_CORRUPT:
      if let url {
        return .invalidFile(
          url: url,
          reason:
            "The database is damaged (\(message)). Restore a copy, or recover rows with `sqlite3 .recover`."
        )
      }
    case SQLITE_READONLY:
      return .readOnly(url: url)
    case SQLITE_ERROR
    where message.contains("parser stack overflow") || message.contains("Expression tree is too large"):
      return .unsupported(
        part: "the predicate", reason: "it nests deeper than SQLite can parse",
        advice: "Join its parts in one AND or OR, use IN for alternatives, or filter the fetched objects.")
    default: break
    }
    return .database(code: code & 0xFF, message: message + advice(code), sql: sql, url: url)
  }

  /// What to do about it, for codes where there is something to do.
  private static func advice(_ code: Int32) -> String {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      ". Another connection or process kept the store locked for the whole waiting time; let it finish its "
        + "transaction, or raise the busy timeout (pragma busy_timeout, in milliseconds)."
    case SQLITE_FULL:
      ". The disk is full; nothing of this save was kept. Free some space and save again."
    case SQLITE_CANTOPEN:
      ". The file or its folder can't be opened; check that the folder exists and permits writing (SQLite puts "
        + "its journal beside the file)."
    case SQLITE_IOERR:
      ". The disk reported an error; the store is in its last saved state once the disk works again."
    case SQLITE_TOOBIG: ". A value is larger than SQLite's limit of 1,000,000,000 bytes."
    default: ""
    }
  }

  /// Runs a body and translates errors of GRDB that leave it.
  static func translating<T>(url: URL?, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw make(
        code: error.extendedResultCode.rawValue, message: error.message ?? "no message", sql: error.sql,
        url: url)
    }
  }
}
