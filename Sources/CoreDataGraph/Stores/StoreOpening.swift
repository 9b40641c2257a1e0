import CoreDataModel
import CoreDataSQLite
import CoreDataStorage
import Foundation

/// From store types and Apple's options to engines.
enum StoreOpening {
  static func open(
    type: String, url: URL?, layout: ModelLayout, configuration: String?, options: [AnyHashable: Any]
  ) throws -> any StoreEngine {
    if (options[NSPersistentStoreRemoteChangeNotificationPostOptionKey] as? NSNumber)?.boolValue == true {
      HistoryWarning.remoteChanges(url ?? URL(fileURLWithPath: "/dev/null"))
    }
    switch type {
    case NSInMemoryStoreType: return try InMemoryEngine(layout: layout)
    case NSSQLiteStoreType:
      guard let url, url.isFileURL else {
        throw GraphError.unsupported(
          "A SQLite store without a file URL",
          advice: "Pass URL(fileURLWithPath:) or use NSInMemoryStoreType.")
      }
      var sqlite: SQLiteOptions = sqliteOptions(options)
      sqlite.entityNames = configuration.flatMap { layout.model.entities(forConfigurationName: $0) }
        .map { Set($0.compactMap(\.name)) }
      return try SQLiteEngine.open(url: url, layout: layout, options: sqlite)
    default: throw unsupported(type)
    }
  }

  private static func unsupported(_ type: String) -> GraphError {
    let isApples: Bool = type == NSXMLStoreType || type == NSBinaryStoreType
    return .unsupported(
      "The store type '\(type)'",
      advice: "Use NSSQLiteStoreType or NSInMemoryStoreType"
        + (isApples ? "; XML and binary stores come later." : "."))
  }

  private static func sqliteOptions(_ options: [AnyHashable: Any]) -> SQLiteOptions {
    func flag(_ key: String) -> Bool? { (options[key] as? NSNumber)?.boolValue }
    var sqlite = SQLiteOptions()
    sqlite.isReadOnly = flag(NSReadOnlyPersistentStoreOption) ?? false
    sqlite.checksModel = flag(NSIgnorePersistentStoreVersioningOption) != true
    sqlite.tracksHistory = flag(NSPersistentHistoryTrackingKey) ?? false
    if let timeout = (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue {
      sqlite.busyTimeoutInSeconds = timeout
    }
    if let pragmas = options[NSSQLitePragmasOption] as? [String: Any] {
      sqlite.pragmas = pragmas.mapValues { "\($0)" }
    }
    return sqlite
  }

  // MARK: Files

  static func destroy(type: String, url: URL, options: [AnyHashable: Any]) throws {
    switch type {
    case NSInMemoryStoreType: break
    case NSSQLiteStoreType:
      try exchange(at: try requireFile(url), options).destroy()
    default: throw unsupported(type)
    }
  }

  static func replace(type: String, url: URL, options: [AnyHashable: Any], source: URL) throws {
    guard type == NSSQLiteStoreType else {
      if type != NSInMemoryStoreType { throw unsupported(type) }
      throw GraphError.unsupported(
        "Replacing a store of type \(type)", advice: "It has no file; only SQLite stores can be copied so.")
    }
    try exchange(at: try requireFile(url), options).replace(with: try requireFile(source))
  }

  static func exchange(at url: URL, _ options: [AnyHashable: Any]) -> StoreExchange {
    StoreExchange(
      url: url, options: sqliteOptions(options),
      isForced: (options[NSPersistentStoreForceDestroyOption] as? NSNumber)?.boolValue ?? false)
  }

  static func requireFile(_ url: URL) throws -> URL {
    if url.isFileURL { return url }
    throw StoreError.invalidFile(url: url, reason: "A SQLite store needs a file URL.")
  }

  static func metadata(type: String, url: URL) throws -> [String: Any] {
    guard type == NSSQLiteStoreType else {
      throw GraphError.unsupported(
        "Reading the metadata of a store of type \(type)", advice: "Only SQLite stores have files so far.")
    }
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: try requireFile(url))
    var metadata: [String: Any] = file.metadata
    if let structures = file.versions?.structures, !structures.isEmpty {
      metadata[EntityVersions.structuresKey] = structures
    }
    return metadata
  }

  static func setMetadata(
    _ metadata: [String: Any], type: String, url: URL, options: [AnyHashable: Any]
  ) throws {
    guard type == NSSQLiteStoreType else {
      throw GraphError.unsupported(
        "Setting the metadata of a store of type \(type) by its URL",
        advice: "Only SQLite stores have files so far; set it on the store (setMetadata(_:for:)).")
    }
    try StoreMetadata.set(metadata, at: try requireFile(url), options: sqliteOptions(options))
  }
}
