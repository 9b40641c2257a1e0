import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// A prepared statement and its connection, borrowed for the time of one access to the database.
///
/// GRDB prepares, caches and finalises statements, except those that a `ReaderConnection` keeps; this type
/// steps and binds through the C pointer, which saves GRDB's per-value types. A statement must be `reset`
/// before its access to the database ends: `run` helpers do so.
struct RawStatement {
  let handle: OpaquePointer
  /// Keeps the handle valid if the connection's cache evicts the statement; nil if the connection keeps it.
  private let owner: Statement?
  let connection: OpaquePointer
  let url: URL?

  /// The statement for a text, from the connection's cache. Binds nothing.
  init(_ database: Database, _ sql: String, url: URL?) throws {
    try self.init(
      SQLiteErrors.translating(url: url) { try database.cachedStatement(sql: sql) }, database, url: url)
  }

  init(_ statement: Statement, _ database: Database, url: URL?) throws {
    handle = statement.sqliteStatement
    owner = statement
    guard let connection = database.sqliteConnection else { throw StoreError.closed }
    self.connection = connection
    self.url = url
    sqlite3_reset(handle)
  }

  /// A statement that its connection keeps.
  init(_ handle: OpaquePointer, _ connection: OpaquePointer, url: URL?) {
    self.handle = handle
    self.connection = connection
    self.url = url
    owner = nil
  }

  var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

  func failure() -> StoreError { SQLiteErrors.last(of: connection, sql: sql, url: url) }

  /// Steps once: true for a row, false at the end. Throws an explained error, with the statement reset.
  func step() throws -> Bool {
    let code: Int32 = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    defer { reset() }
    throw failure()
  }

  func reset() { sqlite3_reset(handle) }

  /// Steps a statement without result to its end and resets it. Returns how many rows it changed.
  @discardableResult
  func run() throws -> Int {
    while try step() {}
    reset()
    return Int(sqlite3_changes(connection))
  }

  // MARK: Binding; parameters count from 1

  func check(_ code: Int32) throws {
    if code != SQLITE_OK {
      reset()
      throw failure()
    }
  }

  func bind(_ parameter: Int, _ value: Int64) throws {
    try check(sqlite3_bind_int64(handle, Int32(parameter), value))
  }

  func bindNull(_ parameter: Int) throws { try check(sqlite3_bind_null(handle, Int32(parameter))) }

  func bind(_ parameter: Int, _ value: Double) throws {
    try check(sqlite3_bind_double(handle, Int32(parameter), value))
  }

  func bind(_ parameter: Int, _ value: String) throws {
    var value = value
    let code: Int32 = value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        // An empty buffer may have no address, which would bind NULL.
        sqlite3_bind_text64(
          handle, Int32(parameter), $0.baseAddress ?? Self.nothing, UInt64($0.count), Self.copied, Self.utf8)
      }
    }
    try check(code)
  }

  /// Text as it is in a file, which may be no text in that encoding.
  func bind(_ parameter: Int, text: ArraySlice<UInt8>, encoding: UInt8) throws {
    let code: Int32 = text.withUnsafeBytes { bytes in
      sqlite3_bind_text64(
        handle, Int32(parameter),
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? Self.nothing, UInt64(bytes.count),
        Self.copied, encoding)
    }
    try check(code)
  }

  func bind(_ parameter: Int, _ value: Data) throws {
    let code: Int32 = value.withUnsafeBytes { bytes in
      sqlite3_bind_blob64(
        handle, Int32(parameter), bytes.baseAddress ?? UnsafeRawPointer(Self.nothing), UInt64(bytes.count),
        Self.copied)
    }
    try check(code)
  }

  /// Binds the values of all parameters.
  func bind(_ values: [SQLValue]) throws {
    for (place, value) in values.enumerated() { try bind(place + 1, value) }
  }

  func bind(_ parameter: Int, _ value: SQLValue) throws {
    switch value {
    case .null: try bindNull(parameter)
    case .integer(let value): try bind(parameter, value)
    case .real(let value): try bind(parameter, value)
    case .text(let value): try bind(parameter, value)
    case .blob(let value): try bind(parameter, value)
    case .boolean, .timestamp, .uuid, .decimal, .list:
      throw StoreError.unsupported(
        part: value.description, reason: "SQLite has no values of this type",
        advice: "report this: the store's layout should have encoded it")
    }
  }

  static let utf8 = UInt8(SQLITE_UTF8)
  /// SQLITE_TRANSIENT: SQLite copies the bytes at once. SQLITE_STATIC is nil.
  static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
  /// An address for values of zero bytes. Never read, never written, never freed.
  nonisolated(unsafe) static let nothing: UnsafePointer<CChar> = {
    let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    byte.initialize(to: 0)
    return UnsafePointer(byte)
  }()

  // MARK: Reading; columns count from 0

  var columnCount: Int { Int(sqlite3_column_count(handle)) }
  func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
  func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

  func text(_ column: Int) -> String? {
    guard let bytes = sqlite3_column_text(handle, Int32(column)) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  func data(_ column: Int) -> Data? {
    if isNull(column) { return nil }
    guard let bytes = sqlite3_column_blob(handle, Int32(column)) else { return Data() }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, Int32(column))))
  }

  /// The value of a column of the current row, by SQLite's own types.
  func value(_ column: Int) -> PredicateValue {
    switch sqlite3_column_type(handle, Int32(column)) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .double(sqlite3_column_double(handle, Int32(column)))
    case SQLITE_TEXT: .string(text(column) ?? "")
    case SQLITE_BLOB: .data(data(column) ?? Data())
    default: .null
    }
  }
}

/// The values of a statement's current row.
///
/// A row's values are objects that stay at their addresses while a statement runs, next to one another.
/// Looking one up by its column costs more than reading a number from it. So they are looked up once, and
/// again when the first one is at another address, which a union of several selections has.
struct RowValues {
  fileprivate let addresses: UnsafeMutableBufferPointer<OpaquePointer?>

  @inline(__always)
  subscript(column: Int) -> OpaquePointer? { addresses.baseAddress.unsafelyUnwrapped[column] }

  /// Called after each step.
  @inline(__always)
  func find(_ handle: OpaquePointer) {
    let first: OpaquePointer? = sqlite3_column_value(handle, 0)
    if first != self[0] { findAll(handle) }
  }

  @inline(never)
  private func findAll(_ handle: OpaquePointer) {
    for column in addresses.indices { addresses[column] = sqlite3_column_value(handle, Int32(column)) }
  }
}

extension RawStatement {
  /// Runs `body` with the place of the values, of which there are at least three.
  func withValues<Result>(_ body: (RowValues) throws -> Result) throws -> Result {
    try withUnsafeTemporaryAllocation(of: OpaquePointer?.self, capacity: max(3, columnCount)) {
      $0.initialize(repeating: nil)
      return try body(RowValues(addresses: $0))
    }
  }
}
