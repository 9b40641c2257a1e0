import CoreData
import Foundation
import GRDB
import GRDBSQLite

// One property of many rows is changed. The rows are in memory before the clock starts, each contestant's in
// its own form; what is timed is the change and the save, in one transaction. The version of a row rises with
// each change.

/// What a C program keeps of a row that it is going to change.
struct SQLiteChange {
  var key: Int64
  var version: Int64
  var quantity: Int64
}

extension SQLiteContestant {
  mutating func load(_ count: Int) throws {
    let statement: OpaquePointer = try prepared("SELECT Z_PK, Z_OPT, ZQUANTITY FROM ZITEM LIMIT \(count)")
    defer { sqlite3_finalize(statement) }
    loaded.reserveCapacity(count)
    while sqlite3_step(statement) == SQLITE_ROW {
      loaded.append(
        SQLiteChange(
          key: sqlite3_column_int64(statement, 0), version: sqlite3_column_int64(statement, 1),
          quantity: sqlite3_column_int64(statement, 2)))
    }
  }

  mutating func update() throws {
    let sql: String = "UPDATE ZITEM SET Z_OPT = ?, ZQUANTITY = ? WHERE Z_PK = ? AND Z_OPT = ?"
    try run("BEGIN IMMEDIATE")
    let statement: OpaquePointer = try prepared(sql)
    defer { sqlite3_finalize(statement) }
    for place in loaded.indices {
      loaded[place].quantity += 1
      let row: SQLiteChange = loaded[place]
      sqlite3_bind_int64(statement, 1, row.version + 1)
      sqlite3_bind_int64(statement, 2, row.quantity)
      sqlite3_bind_int64(statement, 3, row.key)
      sqlite3_bind_int64(statement, 4, row.version)
      guard sqlite3_step(statement) == SQLITE_DONE, sqlite3_changes(database) == 1 else {
        throw failure(sql)
      }
      sqlite3_reset(statement)
      loaded[place].version += 1
    }
    try run("COMMIT")
  }
}

extension GRDBContestant {
  mutating func load(_ count: Int) throws {
    records = try queue.read { try Record.fetchAll($0, sql: Schema.select + " LIMIT \(count)") }
  }

  /// GRDB has no versions: it writes the new one and does not compare the old one.
  mutating func update() throws {
    for place in records.indices { records[place].addToQuantity() }
    try queue.write { database in
      for record in records { try record.update(database, columns: ["Z_OPT", "ZQUANTITY"]) }
    }
  }
}

extension HandRecord {
  mutating func addToQuantity() {
    version += 1
    sample.quantity += 1
  }
}

extension CodableRecord {
  mutating func addToQuantity() {
    version += 1
    quantity += 1
  }
}

extension ClarusContestant {
  mutating func load(_ count: Int) throws {
    loaded = try context.performAndWait { [context] in
      let request: NSFetchRequest<BenchItem> = BenchItem.fetchRequest()
      request.fetchLimit = count
      return try context.fetch(request)
    }
  }

  mutating func update() throws {
    try context.performAndWait { [context, loaded] in
      for item in loaded { item.quantity += 1 }
      try context.save()
    }
  }
}
