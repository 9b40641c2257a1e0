import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

extension MigrationFacts {
  /// Reads what a plan depends on. `counting`: whether the rows of all tables are counted too.
  static func read(_ database: Database, url: URL, counting: Bool) throws -> MigrationFacts {
    let inventory: StoreInventory = try StoreInventory.read(database, url: url)
    var facts = MigrationFacts(
      database: inventory.database, objects: try objects(database, url: url),
      hasHistory: inventory.hasHistory)
    for table in inventory.database.tables {
      let columns: Set<String> = Set(table.columns.map { $0.uppercased() })
      guard columns.isSuperset(of: ["Z_PK", "Z_ENT", "Z_OPT"]) else { continue }
      let name: String = SQLiteIdentifier.quoted(table.name)
      let ends = try RawStatement(database, "SELECT min(Z_PK), max(Z_PK) FROM \(name)", url: url)
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

  static func objects(_ database: Database, url: URL) throws -> [Object] {
    let master = try RawStatement(
      database, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid", url: url)
    defer { master.reset() }
    var result: [Object] = []
    while try master.step() {
      guard let kind = master.text(0).flatMap(Object.Kind.init), let name = master.text(1) else { continue }
      result.append(Object(kind: kind, name: name, table: master.text(2) ?? "", sql: master.text(3)))
    }
    return result
  }
}
