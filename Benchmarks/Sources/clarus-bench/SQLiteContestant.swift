import Foundation
import GRDBSQLite

/// The floor: SQLite's C interface, one prepared statement per task, each value read once.
///
/// Text is copied out of the statement, since its pointer is valid only until the next step; every other
/// contestant owns its strings too.
struct SQLiteContestant: Contestant {
  let database: OpaquePointer
  private var rows = CRows(samples: [])
  /// The rows to change.
  var loaded: [SQLiteChange] = []

  init(store: URL) throws {
    var handle: OpaquePointer?
    let code: Int32 = sqlite3_open_v2(
      store.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else {
      throw BenchmarkError("sqlite3_open: \(code) for \(store.path)")
    }
    database = handle
    try run(Schema.pragmas)
  }

  mutating func prepare(_ samples: [Sample]) { rows = CRows(samples: samples) }

  mutating func insert() throws {
    try run("BEGIN IMMEDIATE")
    let statement: OpaquePointer = try prepared(Schema.insert)
    defer { sqlite3_finalize(statement) }
    for index in 0..<rows.count {
      let sample: CRows.Row = rows[index]
      sqlite3_bind_int64(statement, 1, Int64(index + 1))
      sqlite3_bind_int(statement, 2, Schema.entity)
      sqlite3_bind_int(statement, 3, 1)
      sqlite3_bind_int64(statement, 4, sample.number)
      sqlite3_bind_int(statement, 5, sample.section)
      sqlite3_bind_int(statement, 6, sample.quantity)
      sqlite3_bind_int(statement, 7, Int32(sample.priority))
      sqlite3_bind_double(statement, 8, sample.price)
      sqlite3_bind_double(statement, 9, sample.weight)
      // No destructor: SQLite reads the caller's bytes in place until the step is done.
      sqlite3_bind_text(statement, 10, sample.code.start, sample.code.count, nil)
      sqlite3_bind_text(statement, 11, sample.title.start, sample.title.count, nil)
      sqlite3_bind_text(statement, 12, sample.note.start, sample.note.count, nil)
      sqlite3_bind_int(statement, 13, sample.done ? 1 : 0)
      guard sqlite3_step(statement) == SQLITE_DONE else { throw failure(Schema.insert) }
      sqlite3_reset(statement)
    }
    try run(Schema.keysTaken(rows.count))
    try run("COMMIT")
  }

  func readAll(into sum: inout Checksum) throws {
    let statement: OpaquePointer = try prepared(Schema.select)
    defer { sqlite3_finalize(statement) }
    try read(statement, into: &sum)
  }

  /// C has no objects whose values could be read later: the statement is stepped, the keys are read.
  func readNothing(into sum: inout Checksum) throws {
    let statement: OpaquePointer = try prepared(Schema.select)
    defer { sqlite3_finalize(statement) }
    var keys: Int64 = 0
    while sqlite3_step(statement) == SQLITE_ROW {
      keys &+= sqlite3_column_int64(statement, 0)
      sum.addRow()
    }
    guard keys >= 0 else { throw failure(Schema.select) }
  }

  /// C always does.
  func walk(into sum: inout Checksum) throws { try readAll(into: &sum) }

  func readSection(_ section: Int32, into sum: inout Checksum) throws {
    let statement: OpaquePointer = try prepared(Schema.select + " WHERE ZSECTION = ?")
    defer { sqlite3_finalize(statement) }
    sqlite3_bind_int(statement, 1, section)
    try read(statement, into: &sum)
  }

  func lookUp(_ numbers: [Int64], into sum: inout Checksum) throws {
    let statement: OpaquePointer = try prepared(Schema.select + " WHERE ZNUMBER = ?")
    defer { sqlite3_finalize(statement) }
    for number in numbers {
      sqlite3_bind_int64(statement, 1, number)
      try read(statement, into: &sum)
      sqlite3_reset(statement)
    }
  }

  func close() { sqlite3_close_v2(database) }

  func read(_ statement: OpaquePointer, into sum: inout Checksum) throws {
    // Text of a row is owned here; the row after overwrites it.
    let capacity: Int = 4096
    let owned = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    defer { owned.deallocate() }
    var code: Int32 = sqlite3_step(statement)
    while code == SQLITE_ROW {
      sum.addRow()
      sum.add(sqlite3_column_int64(statement, 3))
      sum.add(sqlite3_column_int(statement, 4))
      sum.add(sqlite3_column_int(statement, 5))
      sum.add(sqlite3_column_int(statement, 6))
      sum.add(sqlite3_column_double(statement, 7))
      sum.add(sqlite3_column_double(statement, 8))
      var used: Int = 0
      for column: Int32 in 9...11 {
        let text: UnsafePointer<UInt8>? = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        guard let text, used + count <= capacity else {
          throw BenchmarkError("a text is missing or too long")
        }
        memcpy(owned + used, text, count)
        sum.add(UnsafeBufferPointer(start: owned + used, count: count))
        used += count
      }
      sum.add(sqlite3_column_int(statement, 12) != 0)
      code = sqlite3_step(statement)
    }
    guard code == SQLITE_DONE else { throw failure("step") }
  }

  func prepared(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw failure(sql)
    }
    return statement
  }

  func run(_ sql: String) throws {
    guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  func failure(_ sql: String) -> BenchmarkError {
    BenchmarkError("C sqlite3: \(String(cString: sqlite3_errmsg(database))) in: \(sql)")
  }
}

/// The samples as a C program would hold them: numbers in structs, text in one block of bytes.
struct CRows {
  struct Text {
    var start: UnsafePointer<CChar>
    var count: Int32
  }

  struct Row {
    var number: Int64
    var section: Int32
    var quantity: Int32
    var priority: Int16
    var price: Double
    var weight: Double
    var code: Text
    var title: Text
    var note: Text
    var done: Bool
  }

  private var rows: [Row] = []

  /// The block is never freed: the process ends soon after.
  init(samples: [Sample]) {
    let size: Int = samples.reduce(1) { $0 + $1.code.utf8.count + $1.title.utf8.count + $1.note.utf8.count }
    var next = UnsafeMutablePointer<CChar>.allocate(capacity: size)
    func store(_ text: String) -> Text {
      let start: UnsafeMutablePointer<CChar> = next
      for byte in text.utf8 {
        next.initialize(to: CChar(bitPattern: byte))
        next += 1
      }
      return Text(start: UnsafePointer(start), count: Int32(next - start))
    }
    rows.reserveCapacity(samples.count)
    for sample in samples {
      rows.append(
        Row(
          number: sample.number, section: sample.section, quantity: sample.quantity,
          priority: sample.priority, price: sample.price, weight: sample.weight,
          code: store(sample.code), title: store(sample.title), note: store(sample.note),
          done: sample.done))
    }
  }

  var count: Int { rows.count }
  subscript(index: Int) -> Row { rows[index] }
}
