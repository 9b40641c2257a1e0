import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

extension MigrationFacts {
  /// Reads what a plan depends on. `counting`: whether the rows of all tables are counted too. `readsRows`:
  /// otherwise nothing is read but the definitions.
  static func read(_ database: Database, url: URL, counting: Bool = false, readsRows: Bool = true) throws
    -> MigrationFacts
  {
    let inventory: StoreInventory = try StoreInventory.read(database, url: url)
    var facts = MigrationFacts(
      database: inventory.database, objects: try StoreInventory.objects(database, url: url),
      hasHistory: inventory.hasHistory)
    for table in inventory.database.tables where readsRows {
      guard AppleBookkeeping.holdsRows(table) else { continue }
      let ends = try RawStatement(database, AppleBookkeeping.keyRange(of: table.name), url: url)
      defer { ends.reset() }
      if try ends.step(), !ends.isNull(0) {
        facts.keys[table.name] = ends.integer(0)...max(ends.integer(0), ends.integer(1))
      }
      if counting { facts.counts[table.name] = try counts(of: table.name, database, url: url) }
    }
    return facts
  }

  /// The rows of a table by the numbers of their entities.
  static func counts(of table: String, _ database: Database, url: URL) throws -> [Int: Int64] {
    let select = try RawStatement(database, AppleBookkeeping.countsByEntity(in: table), url: url)
    defer { select.reset() }
    var result: [Int: Int64] = [:]
    while try select.step() { result[Int(clamping: select.integer(0)), default: 0] += select.integer(1) }
    return result
  }
}
