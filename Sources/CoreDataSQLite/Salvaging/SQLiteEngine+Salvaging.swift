import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// What can be read of a damaged file.
extension SQLiteEngine {
  package func readableKeys(of entity: EntityLayout) throws -> [Int64] {
    let table: TableSchema = try schema.table(of: entity.index)
    let number: Int = schema.entityNumber(of: entity.index)
    var keys: [Int64] = []
    try forEachReadableRow(of: table) { key, found in
      if Int(found) == number || table.entity == nil { keys.append(key) }
    }
    return keys
  }

  package func damagedTables() throws -> [DamagedTable] { damaged }
  package func missingProperties() throws -> [MissingProperty] { missing }

  package func unreachableRows() throws -> [UnreachableRows] {
    var result: [UnreachableRows] = []
    let isCutOff: Bool = StoreFileState(url: url).shortage != nil
    for table in schema.tables {
      let entity: String = layout.entities[table.root].name
      func add(_ kind: StoreProblem.Kind, _ keys: [Int64], _ reason: String) {
        if keys.isEmpty { return }
        result.append(UnreachableRows(kind, table: table.name, entity: entity, keys: keys, reason: reason))
      }
      // A damaged page is reported by the check of the whole file, and so is a page whose end the file lacks:
      // its zeros read as keys.
      let low: [Int64]? =
        isCutOff ? nil : try? read { try integers(ExaminationStatements(schema).lowKeys(in: table), $0) }
      add(.row, low ?? [], "have keys that are not above 0, which no object has")
      guard table.entity != nil else { continue }
      var (strange, abstract, outside): ([Int64], [Int64], [Int64]) = ([], [], [])
      try forEachReadableRow(of: table) { key, number in
        guard let found = schema.entityIndex(ofNumber: Int(clamping: number)),
          layout.entities[table.root].family.contains(found)
        else { return strange.append(key) }
        if layout.entities[found].isAbstract {
          abstract.append(key)
        } else if options.entityNames?.contains(layout.entities[found].name) == false {
          outside.append(key)
        }
      }
      add(.entity, strange, "have the number of no entity of the hierarchy, so no fetch shows them")
      add(.entity, abstract, "have the number of an abstract entity, which has no objects of its own")
      add(.entity, outside, "have the number of an entity that is not in the store's configuration")
    }
    return result
  }

  /// Calls `body` with the keys above 0 of a table and their entity numbers, in ascending order, page by page
  /// of the database; behind a damaged one it goes on at the next key that can be found.
  private func forEachReadableRow(of table: TableSchema, _ body: (_ key: Int64, _ number: Int64) -> Void)
    throws
  {
    let sql: String = ExaminationStatements(schema).keys(in: table)
    let counters: [ExistingDatabase.EntityRow]? = try? read { try StoreInventory.entityRows($0, url: url) }
    let highest: Int64 =
      counters?.first { $0.number == table.rootNumber }.map(\.maxKey) ?? Int64(Int32.max)
    let longestStep: Int64 = max(32, highest / (counters == nil ? 200 : 2000))
    var last: Int64 = 0
    var step: Int64 = 0
    while true {
      do {
        let rows: [(Int64, Int64)] = try page(sql, after: last, most: step == 0 ? 500 : 1)
        guard let end = rows.last else { break }
        for (key, number) in rows { body(key, number) }
        last = end.0
        step = 0
      } catch is StoreError {
        if step == 0 {
          // The page is read again row by row, up to the row that fails.
          step = 1
          continue
        }
        let (next, isOver) = last.addingReportingOverflow(step)
        if isOver || next > highest { break }
        last = next
        // Small enough to lose few rows behind the damage, large enough to come to the end.
        step = min(step * 2, longestStep)
      }
    }
  }

  private func page(_ sql: String, after last: Int64, most: Int64) throws -> [(Int64, Int64)] {
    try read { database in
      let statement = try RawStatement(database, sql, url: url)
      defer { statement.reset() }
      try statement.bind(1, last)
      try statement.bind(2, most)
      var rows: [(Int64, Int64)] = []
      while try statement.step() {
        let key: Int64 = statement.integer(0)
        // A damaged page returns keys that were not asked for, and without end.
        guard key > rows.last?.0 ?? last else {
          throw SQLiteErrors.make(code: SQLITE_CORRUPT, message: "keys out of order", sql: sql, url: url)
        }
        rows.append((key, statement.integer(1)))
      }
      return rows
    }
  }
}
