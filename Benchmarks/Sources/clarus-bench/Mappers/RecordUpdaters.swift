import CoreData
import Foundation
import GRDB

/// Fetches all items, adds 1 to the quantity of each, and saves in one transaction.
protocol RecordUpdater {
  init(store: URL) throws
  func run() throws
  func close() throws
}

/// C reads keys and quantities, then writes row by row with one prepared statement.
struct CUpdater: RecordUpdater {
  private let database: CDatabase

  init(store: URL) throws { database = try CDatabase(store) }

  func run() throws {
    try database.execute("BEGIN IMMEDIATE")
    let reader: CStatement = try database.prepare("SELECT Z_PK, ZQUANTITY FROM ZITEM")
    var rows: [(key: Int, quantity: Int)] = []
    while try reader.step() { rows.append((reader.integer(0), reader.integer(1))) }
    let writer: CStatement = try database.prepare(
      "UPDATE ZITEM SET ZQUANTITY = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?")
    for row in rows {
      writer.bind(row.quantity + 1, row.key)
      guard try !writer.step() else { throw BenchmarkError("an update returned a row") }
    }
    try database.execute("COMMIT")
  }

  func close() { database.close() }
}

/// GRDB fetches whole records and updates two columns of each.
struct GRDBUpdater: RecordUpdater {
  private let queue: DatabaseQueue

  init(store: URL) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: Schema.pragmas) }
    queue = try DatabaseQueue(path: store.path, configuration: configuration)
  }

  func run() throws {
    try queue.write { database in
      for var record in try VersionedRecord.fetchAll(database) {
        record.item.sample.quantity += 1
        record.version += 1
        try record.update(database, columns: ["ZQUANTITY", "Z_OPT"])
      }
    }
  }

  func close() throws { try queue.close() }
}

/// A record with the row's version, which Clarus counts up too.
private struct VersionedRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "ZITEM"
  static var databaseSelection: [any SQLSelectable] { Schema.columns.map { Column($0) } }

  var item: HandRecord
  var version: Int

  init(row: Row) throws {
    item = HandRecord(row: row)
    version = row[2]
  }

  func encode(to container: inout PersistenceContainer) {
    item.encode(to: &container)
    container["Z_OPT"] = version
  }
}

struct ClarusUpdater: RecordUpdater {
  private let container: NSPersistentContainer

  init(store: URL) throws { container = try BenchStore.open(store, BenchStore.model("Items")) }

  func run() throws {
    let context: NSManagedObjectContext = container.newBackgroundContext()
    try context.performAndWait {
      for item in try context.fetch(BenchItem.fetchRequest()) { item.quantity += 1 }
      try context.save()
    }
  }

  func close() throws { try BenchStore.close(container) }
}
