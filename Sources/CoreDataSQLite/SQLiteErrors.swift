import CoreDataEvaluation
import CoreDataPredicates
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

/// Translates SQLite's codes into errors of the store layer, in one place.
enum SQLiteErrors {
  /// The error a connection reports for its last call.
  static func last(of connection: OpaquePointer?, sql: String?, url: URL?) -> StoreError {
    let code: Int32 = connection.map { sqlite3_extended_errcode($0) } ?? SQLITE_NOMEM
    let text: String =
      connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "out of memory"
    let reason: Int32 = connection.map { sqlite3_system_errno($0) } ?? 0
    let isFull: Bool = reason == ENOSPC || reason == EDQUOT
    return make(code: isFull ? fullCode(code) : code, message: text, sql: sql, url: url)
  }

  /// SQLite tells a disk that is full as that only where it writes bytes itself: where it makes a file, syncs
  /// it, or maps it into memory, the code is that of any failure.
  private static func fullCode(_ code: Int32) -> Int32 {
    [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF) ? SQLITE_FULL : code
  }

  /// What the disk of a file says of failures to write there.
  enum Disk {
    case full, readOnly, other

    init(of url: URL) {
      var info = statvfs()
      self = statvfs(url.deletingLastPathComponent().path, &info) == 0 ? Disk(info) : .other
    }

    init(_ info: statvfs) {
      // `ST_RDONLY`, which not every C library has as a constant. Such a disk has no space to give either.
      if info.f_flag & 1 != 0 { self = .readOnly } else { self = info.f_bavail == 0 ? .full : .other }
    }
  }

  /// The errors of reading. A full or read-only disk is no reason for them.
  private static let ofReading: Set<Int32> = [
    SQLITE_IOERR | 1 << 8, SQLITE_IOERR | 2 << 8, SQLITE_IOERR | 32 << 8, SQLITE_IOERR | 33 << 8,
  ]

  static func make(code: Int32, message: String, sql: String?, url: URL?) -> StoreError {
    if let url, fullCode(code) != code, !ofReading.contains(code) {
      switch Disk(of: url) {
      case .full:
        return .database(code: SQLITE_FULL, message: "the disk is full (\(message))", sql: sql, url: url)
      case .readOnly: return .readOnly(url: url, .permission)
      case .other: break
      }
    }
    switch code & 0xFF {
    case SQLITE_NOTADB:
      if let url {
        return .invalidFile(url: url, reason: "It is not an SQLite database, or it is encrypted.")
      }
    case SQLITE_CORRUPT:
      if let url {
        let shortage: String = StoreFileState(url: url).shortage.map { " \($0)" } ?? ""
        return .invalidFile(
          url: url, reason: "The database is damaged (\(message)).\(shortage)", cure: .repairing)
      }
    case SQLITE_READONLY:
      return .readOnly(url: url, .permission)
    case SQLITE_IOERR:
      if let url, let count = hardLinks(to: url), count > 1 {
        return .unsupported(
          part: "the file \(url.path)",
          reason: "it has \(count) names (hard links), and it may be open by another of them",
          advice: "SQLite finds the log of a database by the database's name. Open it by one name only.")
      }
    case SQLITE_ERROR
    where message.contains("parser stack overflow") || message.contains("Expression tree is too large"):
      return .unsupported(
        part: "the predicate", reason: "it nests deeper than SQLite can parse",
        advice: "Join its parts in one AND or OR, use IN for alternatives, or filter the fetched objects.")
    case SQLITE_ERROR where RegularExpression.isExhaustion(message):
      return .invalid(part: "MATCHES", reason: message, advice: "")
    default: break
    }
    return .database(code: code & 0xFF, message: message, sql: sql, url: url)
  }

  private static func hardLinks(to url: URL) -> Int? {
    let attributes: [FileAttributeKey: Any]? = try? FileManager.default.attributesOfItem(atPath: url.path)
    return attributes?[.referenceCount] as? Int
  }

  /// Runs a body and translates errors of GRDB that it throws.
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
