import Foundation
import GRDB

/// Runs statements on a database file of the test's own, and leaves it without a journal beside it.
func makeDatabase(_ url: URL, _ statements: [String]) throws {
  let queue = try DatabaseQueue(path: url.path)
  try queue.writeWithoutTransaction { database in
    for statement in statements { try database.execute(sql: statement) }
    _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
  }
  try queue.close()
}

/// Rows of each entity by plain SQL: number, name and count, in the order of entity numbers.
func plainCounts(_ url: URL) throws -> [(name: String, count: Int)] {
  let queue = try DatabaseQueue(path: url.path)
  defer { try? queue.close() }
  return try queue.read { database in
    let rows: [Row] = try Row.fetchAll(
      database, sql: "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT")
    var parents: [Int: Int] = [:]
    var names: [Int: String] = [:]
    for row in rows {
      parents[row[0]] = row[2]
      names[row[0]] = row[1]
    }
    return try rows.map { row in
      let number: Int = row[0]
      var root: Int = number
      while let parent = parents[root], parent != 0 { root = parent }
      let table: String = "Z" + (names[root] ?? "").uppercased()
      // A table of one entity holds rows of that entity, whatever number a failed migration left in them.
      let isAlone: Bool = number == root && !parents.values.contains(number)
      let count: Int? = try Int.fetchOne(
        database, sql: "SELECT count(*) FROM \"\(table)\" WHERE Z_ENT = ? OR ?", arguments: [number, isAlone])
      return (row[1], count ?? 0)
    }
  }
}
