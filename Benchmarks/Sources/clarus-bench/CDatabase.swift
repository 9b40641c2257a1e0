import Foundation
import GRDBSQLite

/// A database by SQLite's C interface, for the floors.
final class CDatabase {
  let handle: OpaquePointer

  init(_ store: URL) throws {
    var handle: OpaquePointer?
    let code: Int32 = sqlite3_open_v2(
      store.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else {
      throw BenchmarkError("sqlite3_open: \(code) for \(store.lastPathComponent)")
    }
    self.handle = handle
    try execute(Schema.pragmas)
  }

  /// Statements are finalized by then.
  func close() { sqlite3_close_v2(handle) }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  func prepare(_ sql: String) throws -> CStatement {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw failure(sql)
    }
    return CStatement(statement, in: self)
  }

  /// The first column of the first row.
  func integer(_ sql: String) throws -> Int {
    let statement: CStatement = try prepare(sql)
    guard try statement.step() else { throw BenchmarkError("no row: \(sql)") }
    return statement.integer(0)
  }

  func text(_ sql: String) throws -> String {
    let statement: CStatement = try prepare(sql)
    guard try statement.step(), let text = sqlite3_column_text(statement.pointer, 0) else {
      throw BenchmarkError("no row: \(sql)")
    }
    return String(cString: text)
  }

  func failure(_ sql: String) -> BenchmarkError {
    BenchmarkError("C sqlite3: \(String(cString: sqlite3_errmsg(handle))) in: \(sql)")
  }
}

final class CStatement {
  let pointer: OpaquePointer
  private let database: CDatabase

  init(_ pointer: OpaquePointer, in database: CDatabase) {
    (self.pointer, self.database) = (pointer, database)
  }

  deinit { sqlite3_finalize(pointer) }

  /// Starts again with other values, numbered from 1.
  @inline(__always)
  func bind(_ values: Int...) {
    sqlite3_reset(pointer)
    for (place, value) in values.enumerated() {
      sqlite3_bind_int64(pointer, Int32(place + 1), Int64(value))
    }
  }

  func bind(_ text: String) {
    sqlite3_reset(pointer)
    // -1: SQLITE_TRANSIENT, a copy.
    sqlite3_bind_text(pointer, 1, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
  }

  /// False after the last row.
  @inline(__always)
  func step() throws -> Bool {
    let code: Int32 = sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    guard code == SQLITE_DONE else { throw database.failure("step") }
    return false
  }

  @inline(__always)
  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(pointer, column)) }
}
