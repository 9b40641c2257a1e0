import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// A store file examined without its model, for tools and for finding the model that fits.
///
/// Nothing is written, whatever state the file is in (`ReadOnlyAccess`).
package struct SQLiteStoreFile: @unchecked Sendable {
  // Sendable: immutable; the model is frozen before the value is made.
  package let url: URL
  package let state: StoreFileState
  package let uuid: String
  /// A property list with Apple's keys, `NSStoreType` and `NSStoreUUID` included.
  package let metadata: [String: Any]
  /// The versions of the entities, nil if the metadata has no version hashes.
  package let versions: EntityVersions?
  /// Why the metadata is incomplete, nil if it is not.
  package let metadataProblem: String?
  /// The model that the store carries; nil if it carries none that can be read.
  package let model: NSManagedObjectModel?
  /// Why `model` is nil.
  package let modelProblem: String?
  /// The build of Apple's framework that last saved.
  package let frameworkVersion: Int?
  package let hasHistory: Bool
  /// `Z_PRIMARYKEY` with the number of rows of each entity itself, without its sub-entities.
  package let entities: [StoreInspection.EntityCount]

  /// Whether a URL names no file: a store at `/dev/null` or below it is a database in memory, gone when it is
  /// closed, and each opening makes another.
  package static func namesNoFile(_ url: URL) -> Bool {
    url.isFileURL && (url.path == "/dev/null" || url.path.hasPrefix("/dev/null/"))
  }

  /// Examines a file. Throws `StoreError.invalidFile` for a file that is no Core Data SQLite store, with the
  /// reason.
  ///
  /// `busyTimeoutInSeconds`: how long to wait for another process's lock. `salvages`: whether the counts and
  /// the model of a damaged file may be missing. `countsRows`: otherwise all counts are 0.
  package static func inspect(
    url: URL, busyTimeoutInSeconds: Double = SQLiteOptions().busyTimeoutInSeconds, salvages: Bool = false,
    countsRows: Bool = true
  ) throws -> SQLiteStoreFile {
    guard url.isFileURL else {
      throw StoreError.invalidFile(url: url, reason: "A SQLite store needs a file URL.")
    }
    if namesNoFile(url) {
      throw StoreError.invalidFile(
        url: url, reason: "A store there is in memory, so there is nothing to look into.")
    }
    var options = SQLiteOptions(isReadOnly: true)
    options.busyTimeoutInSeconds = busyTimeoutInSeconds
    options.salvages = salvages
    let access = ReadOnlyAccess(
      url: url, configuration: try Connections.configuration(options, url: url), salvages: salvages)
    defer { try? access.close() }
    return try access.read { try read($0, url: url, salvages, countsRows) }
  }

  private static func read(_ database: Database, url: URL, _ salvages: Bool, _ countsRows: Bool) throws
    -> SQLiteStoreFile
  {
    let (metadata, problem): (StoreMetadata, String?) = try metadata(database, url: url, salvages)
    var model: NSManagedObjectModel?
    var modelProblem: String?
    do {
      model = try ModelCache.read(database, url: url)
    } catch let error as ModelCache.Problem {
      modelProblem = error.reason
    } catch  where salvages {
      modelProblem = "The model that the store carries can't be read."
    }
    let versions: EntityVersions? = metadata.values[StoreMetadata.Key.hashes].map { _ in
      EntityVersions(hashes: metadata.hashes, carried: model)
    }
    model?.record(versionHashes: metadata.hashes)
    model?.freeze()
    let inventory: StoreInventory = try StoreInventory.read(
      database, url: url, numbering: salvages ? ModelLayout(model: model ?? NSManagedObjectModel()) : nil)
    return SQLiteStoreFile(
      url: url, state: StoreFileState(url: url), uuid: metadata.uuid, metadata: metadata.published,
      versions: versions, metadataProblem: problem, model: model, modelProblem: modelProblem,
      frameworkVersion: metadata.values[StoreMetadata.Key.framework] as? Int,
      hasHistory: inventory.hasHistory,
      entities: salvages
        ? (try? counts(inventory, database, url: url, countsRows)) ?? []
        : try counts(inventory, database, url: url, countsRows))
  }

  private static func metadata(_ database: Database, url: URL, _ salvages: Bool) throws -> (
    StoreMetadata, String?
  ) {
    do {
      return try StoreMetadata.readLeniently(database, url: url)
    } catch  where salvages {
      return (
        StoreMetadata(type: SQLiteKind().type, uuid: "", values: [:]), "The store's metadata can't be read."
      )
    }
  }

  /// The root of each entity's hierarchy, by number.
  private static func rootNumbers(_ entities: [ExistingDatabase.EntityRow]) -> [Int: Int] {
    let supers: [Int: Int] = Dictionary(
      entities.map { ($0.number, $0.superNumber) }, uniquingKeysWith: { first, _ in first })
    var roots: [Int: Int] = [:]
    for entity in entities {
      var number: Int = entity.number
      // Not more steps than entities: a damaged table may have cycles.
      for _ in 0..<entities.count {
        guard let parent = supers[number], parent != 0 else { break }
        number = parent
      }
      roots[entity.number] = number
    }
    return roots
  }

  /// Counts by entity number, one pass for each table. A hierarchy's table carries its root's name.
  private static func counts(
    _ inventory: StoreInventory, _ database: Database, url: URL, _ countsRows: Bool
  ) throws -> [StoreInspection.EntityCount] {
    var counts: [Int: Int] = [:]
    let roots: [Int: Int] = rootNumbers(inventory.database.entities)
    for row in inventory.database.entities where row.superNumber == 0 && countsRows {
      let wanted: String = (row.number >= 16000 ? "A" : "Z") + row.name.uppercased()
      guard
        let table = inventory.database.tables.first(where: {
          $0.name.uppercased() == wanted
            && $0.columns.contains { $0.uppercased() == AppleBookkeeping.entityNumber }
        })
      else { continue }
      let select = try RawStatement(
        database, AppleBookkeeping.countsByEntity(in: table.name), url: url)
      defer { select.reset() }
      while try select.step() {
        // A row with the number of another table's entity (left by a faulty migration) counts for the root,
        // whose table holds it.
        let number = Int(clamping: select.integer(0))
        counts[roots[number] == row.number ? number : row.number, default: 0] += Int(select.integer(1))
      }
    }
    return inventory.database.entities.map { row in
      StoreInspection.EntityCount(
        number: row.number, name: row.name, superNumber: row.superNumber, rows: counts[row.number] ?? 0)
    }
  }
}
