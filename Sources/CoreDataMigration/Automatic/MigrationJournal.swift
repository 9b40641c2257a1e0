import CoreDataGraph
import CoreDataModel
import Foundation

/// How far a migration object by object has come: a property list in its hidden folder, from which the next
/// migration goes on if the process is killed (Decisions/0074).
///
///     .Shop.sqlite.migration/
///       journal.plist      this value; replaced when a step's store is complete and on the disk
///       2/Shop.sqlite      the store that step 2 has made
struct MigrationJournal: Codable, Equatable {
  /// To be raised when steps make other stores than before.
  private(set) var format: Int = 1
  /// A digest of the store's contents when the migration began, see ``StoreContents``.
  let source: String
  /// A digest of the entities' versions with which the store ends.
  let destination: String
  /// A digest of each step: of models, mapping model, and what else its result depends on.
  let steps: [String]
  /// Whether the values are read again and compared.
  let verifies: Bool
  /// How many steps have a complete store.
  var completed: Int = 0

  init(_ steps: [MigrationStep], of store: OutdatedStore, verifies: Bool) throws {
    source = try Self.source(store)
    destination = VersionHash.digest(steps.last?.destination.entityVersionHashesByName ?? [:])
    let options: Data = Self.text(of: store.options)
    self.steps = steps.map { $0.digest(options) }
    self.verifies = verifies
  }

  /// A digest of a store's contents.
  static func source(_ store: OutdatedStore) throws -> String {
    let metadata: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: store.type, at: store.url, options: store.options)
    return Digest.of([
      Data(store.type.utf8), Data((metadata[NSStoreUUIDKey] as? String ?? "").utf8),
      Data(Self.digest(ofVersions: metadata).utf8), try StoreContents.digest(of: store.url),
    ])
  }

  /// Whether the steps that another process has completed have done what this migration would do.
  func continues(_ begun: MigrationJournal) -> Bool {
    begun.format == format && begun.source == source && begun.completed > 0
      && begun.completed <= steps.count
      && begun.steps.prefix(begun.completed) == steps.prefix(begun.completed)
      && (begun.verifies || !verifies)
  }

  /// A digest of the versions of the entities that a store has.
  static func digest(ofVersions metadata: [String: Any]) -> String {
    VersionHash.digest(metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:])
  }

  /// The options with which the new stores are made. Those that say how to migrate, and
  /// how long to wait, leave no trace in them.
  private static func text(of options: [AnyHashable: Any]) -> Data {
    let ignored: Set<AnyHashable> = [
      NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
      NSPersistentStoreStagedMigrationManagerOptionKey, NSPersistentStoreTimeoutOption,
    ]
    let lines: [String] = options.filter { !ignored.contains($0.key) }.map { key, value in
      guard let content = value as? [AnyHashable: Any] else { return "\(key) = \(value)" }
      return "\(key) = \(content.map { "\($0.key) = \($0.value)" }.sorted())"
    }
    return Data(lines.sorted().joined(separator: "\n").utf8)
  }
}

extension MigrationStep {
  /// Equal for steps that make the same of a store. A policy is code: if there is one, the program's file
  /// counts too.
  fileprivate func digest(_ options: Data) -> String {
    // What can't be archived can't be compared: such a step is done again.
    guard let model = try? destination.cachedModelBlob(), let mapping = try? mapping.archivedData() else {
      return UUID().uuidString
    }
    return Digest.of([
      Data(VersionHash.digest(source.entityVersionHashesByName).utf8), model, mapping, options,
      Data(hasPolicies ? ProgramFile.stamp.utf8 : "".utf8),
    ])
  }

  private var hasPolicies: Bool {
    (mapping.entityMappings ?? []).contains { $0.programPolicyName != nil }
  }
}
