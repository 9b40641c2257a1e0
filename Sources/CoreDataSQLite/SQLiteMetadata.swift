import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// The one row of `Z_METADATA`: the store's UUID and a property list.
package struct SQLiteMetadata: @unchecked Sendable {
  // Sendable: a property list of immutable values, never mutated in place once it is shared.
  var uuid: String
  var values: [String: Any]

  /// What the store publishes: the property list, with the UUID, which is stored beside it.
  var published: [String: Any] {
    var result: [String: Any] = values
    result[Key.uuid] = uuid
    result[Key.type] = "SQLite"
    return result
  }

  /// Replaces the application's part. Keys that describe the file stay unchanged; a UUID among the values
  /// becomes the store's with the next opening.
  func replacing(with application: [String: Any]) -> SQLiteMetadata {
    var result: SQLiteMetadata = self
    result.values = application
    for key in Key.ofTheFile {
      result.values[key] = values[key]
    }
    result.values[Key.uuid] = nil
    result.values[EntityVersions.structuresKey] = nil
    if let given = application[Key.uuid] as? String { result.uuid = given }
    return result
  }

  enum Key {
    static let type: String = "NSStoreType"
    static let uuid: String = "NSStoreUUID"
    static let hashes: String = "NSStoreModelVersionHashes"
    static let hashesVersion: String = "NSStoreModelVersionHashesVersion"
    static let identifiers: String = "NSStoreModelVersionIdentifiers"
    static let framework: String = "NSPersistenceFrameworkVersion"
    static let autoVacuum: String = "_NSAutoVacuumLevel"
    static let digest: String = "NSStoreModelVersionHashesDigest"
    static let checksum: String = "NSStoreModelVersionChecksumKey"
    static let maximumFramework: String = "NSPersistenceMaximumFrameworkVersion"
    static let ancillaryHashes: String = "_NSStoreAncillaryModelVersionHashesMetadataKey"

    static let ofTheFile: [String] = [
      type, hashes, hashesVersion, identifiers, framework, autoVacuum, digest, checksum, maximumFramework,
      ancillaryHashes,
    ]
  }

  /// The framework version in fresh stores: the newest one seen in files whose every key Clarus writes.
  static let frameworkVersion: Int = 1344

  /// The metadata of a fresh store.
  static func fresh(model: NSManagedObjectModel, entityNames: Set<String>?) -> SQLiteMetadata {
    var hashes: [String: Data] = model.entityVersionHashesByName
    if let entityNames { hashes = hashes.filter { entityNames.contains($0.key) } }
    let identifiers: [String] = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    return SQLiteMetadata(
      uuid: UUID().uuidString,
      values: [
        Key.type: "SQLite",
        Key.hashes: hashes,
        Key.hashesVersion: VersionHash.version,
        Key.identifiers: identifiers,
        Key.framework: frameworkVersion,
        Key.autoVacuum: "2",
        Key.digest: VersionHash.digest(hashes),
        Key.checksum: VersionHash.checksum(hashes),
      ])
  }

  var hashes: [String: Data] {
    (values[Key.hashes] as? [String: Any])?.compactMapValues { $0 as? Data } ?? [:]
  }

  /// Ids are URIs with the UUID as their host, so the text must be a UUID.
  static func checkIdentifier(in metadata: [String: Any], of current: String) throws {
    guard let given = metadata[Key.uuid] as? String, given != current, UUID(uuidString: given) == nil else {
      return
    }
    throw StoreError.unsupported(
      part: "metadata key '\(Key.uuid)'", reason: "its value, '\(given)', is no UUID",
      advice: "use UUID().uuidString, or leave the key out to keep the store's UUID")
  }

  // MARK: Reading and writing

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
          let current: SQLiteMetadata = try read(database, url: url)
          try checkIdentifier(in: metadata, of: current.uuid)
          try current.replacing(with: metadata).write(database, url: url)
          return .commit
        }
      }
    }
  }

  /// Reads the row. Throws `StoreError.invalidFile` that names what is missing.
  static func read(_ database: Database, url: URL) throws -> SQLiteMetadata {
    let (metadata, problem) = try readLeniently(database, url: url)
    if let problem { throw StoreError.invalidFile(url: url, reason: problem) }
    return metadata
  }

  /// Reads as much of the row as exists and reports what is missing. Throws if the file is no Core Data store
  /// at all.
  static func readLeniently(_ database: Database, url: URL) throws -> (SQLiteMetadata, problem: String?) {
    let tables: Set<String> = try Set(
      String.fetchAll(database, sql: "SELECT upper(name) FROM sqlite_master WHERE type = 'table'"))
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
        SQLiteMetadata(uuid: uuid, values: [:]),
        "\(AppleBookkeeping.metadata) holds no property list, so nothing tells its model."
      )
    }
    do {
      let metadata = SQLiteMetadata(uuid: uuid, values: try MetadataPlist.read(plist))
      return (metadata, uuid.isEmpty ? "\(AppleBookkeeping.metadata) holds no UUID." : nil)
    } catch {
      return (
        SQLiteMetadata(uuid: uuid, values: [:]),
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
