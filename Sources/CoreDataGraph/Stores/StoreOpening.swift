import CoreDataModel
import CoreDataSQLite
import CoreDataStorage
import Foundation

/// From store types and Apple's options to engines.
enum StoreOpening {
  static func open(
    type: String, url: URL?, layout: ModelLayout, configuration: String?, options: [AnyHashable: Any]
  ) throws -> any StoreEngine {
    switch type {
    case NSInMemoryStoreType: return try InMemoryEngine(layout: layout)
    case NSSQLiteStoreType:
      guard let url, url.isFileURL else {
        throw GraphError.unsupported(
          "A SQLite store without a file URL",
          advice: "Pass URL(fileURLWithPath:) or use NSInMemoryStoreType.")
      }
      var sqlite = SQLiteOptions()
      sqlite.isReadOnly = (options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false
      sqlite.checksModel = (options[NSIgnorePersistentStoreVersioningOption] as? NSNumber)?.boolValue != true
      sqlite.entityNames = configuration.flatMap { layout.model.entities(forConfigurationName: $0) }
        .map { Set($0.compactMap(\.name)) }
      sqlite.tracksHistory = (options[NSPersistentHistoryTrackingKey] as? NSNumber)?.boolValue ?? false
      if let timeout = (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue {
        sqlite.busyTimeoutInSeconds = timeout
      }
      if let pragmas = options[NSSQLitePragmasOption] as? [String: Any] {
        sqlite.pragmas = pragmas.mapValues { "\($0)" }
      }
      return try SQLiteEngine.open(url: url, layout: layout, options: sqlite)
    case NSXMLStoreType, NSBinaryStoreType:
      throw GraphError.unsupported(
        "The store type \(type)",
        advice: "Use \(NSSQLiteStoreType) or \(NSInMemoryStoreType); XML and binary stores come later.")
    default:
      throw GraphError.unsupported(
        "The store type '\(type)'", advice: "Use NSSQLiteStoreType or NSInMemoryStoreType.")
    }
  }

  static func metadata(type: String, url: URL) throws -> [String: Any] {
    guard type == NSSQLiteStoreType else {
      throw GraphError.unsupported(
        "Reading the metadata of a store of type \(type)", advice: "Only SQLite stores have files so far.")
    }
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: url)
    var metadata: [String: Any] = file.metadata
    if let structures = file.versions?.structures, !structures.isEmpty {
      metadata[EntityVersions.structuresKey] = structures
    }
    return metadata
  }
}
