import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

// The metadata of a SQLite file: the one row of `Z_METADATA`, the store's UUID and a property list.

extension StoreMetadata {
  /// The metadata of a fresh SQLite store.
  static func freshSQLite(model: NSManagedObjectModel, entityNames: Set<String>?) -> StoreMetadata {
    fresh(type: "SQLite", model: model, entityNames: entityNames, values: [Key.autoVacuum: "2"])
  }

  /// Sets the program's part in a file, in a separate transaction.
  package static func set(_ metadata: [String: Any], at url: URL, options: SQLiteOptions) throws {
    if SQLiteStoreFile.namesNoFile(url) {
      throw StoreError.invalidFile(
        url: url, reason: "A store there is in memory, so its metadata is set on the store only.")
    }
    if options.isReadOnly { throw StoreError.readOnly(url: url, .requested) }
    if let objection = StoreFileState(url: url).objection {
      throw StoreError.invalidFile(url: url, reason: objection)
    }
    try SQLiteErrors.translating(url: url) {
      let queue = try DatabaseQueue(
        path: url.path, configuration: try Connections.configuration(options, url: url))
      defer { try? queue.close() }
      try queue.writeWithoutTransaction { database in
        try database.inTransaction(.immediate) {
          let current: StoreMetadata = try read(database, url: url)
          try checkIdentifier(in: metadata, of: current.uuid)
          try current.replacing(with: metadata).write(database, url: url)
          return .commit
        }
      }
    }
  }

  /// Reads the row. Throws `StoreError.invalidFile` that names what is missing.
  static func read(_ database: Database, url: URL) throws -> StoreMetadata {
    let (metadata, problem) = try readLeniently(database, url: url)
    if let problem { throw StoreError.invalidFile(url: url, reason: problem) }
    return metadata
  }

  /// Reads as much of the row as exists and reports what is missing. Throws if the file is no Core Data store
  /// at all.
  static func readLeniently(_ database: Database, url: URL) throws -> (StoreMetadata, problem: String?) {
    let tables: Set<String> = try database.tableNames(url: url)
    guard tables.contains(AppleBookkeeping.metadata) else {
      let known: String = tables.sorted().prefix(8).joined(separator: ", ")
      throw StoreError.invalidFile(
        url: url,
        reason: tables.isEmpty
          ? "It is an SQLite database without any table. If it was copied from elsewhere, copy its -wal file too."
          : "It is an SQLite database, but not a Core Data store: there is no table \(AppleBookkeeping.metadata) (it has \(known))."
      )
    }
    let statement = try RawStatement(database, AppleBookkeeping.readMetadata, url: url)
    defer { statement.reset() }
    guard try statement.step() else {
      throw StoreError.invalidFile(
        url: url, reason: "Its table \(AppleBookkeeping.metadata) is empty, so nothing tells its model.")
    }
    let uuid: String = statement.text(0) ?? ""
    guard let plist = statement.data(1) else {
      return (
        StoreMetadata(type: "SQLite", uuid: uuid, values: [:]),
        "\(AppleBookkeeping.metadata) holds no property list, so nothing tells its model."
      )
    }
    do {
      let metadata = StoreMetadata(type: "SQLite", uuid: uuid, values: try MetadataPlist.read(plist))
      return (metadata, uuid.isEmpty ? "\(AppleBookkeeping.metadata) holds no UUID." : nil)
    } catch {
      return (
        StoreMetadata(type: "SQLite", uuid: uuid, values: [:]),
        "The property list in \(AppleBookkeeping.metadata) can't be read: \(error)."
      )
    }
  }

  /// Replaces the row, or writes the first one.
  func write(_ database: Database, url: URL) throws {
    let data: Data = try MetadataPlist.write(values, url: url)
    let update = try RawStatement(database, AppleBookkeeping.updateMetadata, url: url)
    try update.bind(1, uuid)
    try update.bind(2, data)
    if try update.run() > 0 { return }
    let insert = try RawStatement(database, AppleBookkeeping.insertMetadata, url: url)
    try insert.bind(1, uuid)
    try insert.bind(2, data)
    try insert.run()
  }
}
