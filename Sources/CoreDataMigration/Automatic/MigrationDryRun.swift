import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// Copies the objects of a store into one in memory, as a step that copies object by object will do, and
/// validates them there. What ends the migration ends the dry run, with the same error: expressions, required
/// and unique values, limits, and relationships that do not fit their inverses.
///
/// Cost: that of the migration without its file.
struct MigrationDryRun {
  static let objectsAtMost: Int = 50_000
  static let bytesAtMost: Int64 = 64 << 20

  private let step: MigrationStep
  private let store: OutdatedStore
  private let known: KnownModels

  /// `step`: the first one.
  init(_ step: MigrationStep, of store: OutdatedStore, known: KnownModels) {
    (self.step, self.store, self.known) = (step, store, known)
  }

  /// Why there is none, as a part of a sentence: the store is too large to be held in memory, or a policy of
  /// the program would be called, which may do anything. nil if there can be one.
  func obstacle(_ file: StoreInspection) -> String? {
    let policies: [String] = (step.mapping.entityMappings ?? []).compactMap(\.programPolicyName)
    if let policy = policies.first { return "it would call the policy \(policy) of the program" }
    let objects: Int = file.entities.map(\.rows).reduce(0, +)
    if objects > Self.objectsAtMost {
      return "the store has \(objects) objects, more than \(Self.objectsAtMost)"
    }
    if file.byteCount > Self.bytesAtMost {
      let (size, limit) = (file.byteCount, Self.bytesAtMost)
      return
        "the store has \(MigrationSurvey.text(bytes: size)), more than \(MigrationSurvey.text(bytes: limit))"
    }
    return nil
  }

  /// The error that ends the migration, as text; nil if nothing does.
  func problem() -> String? {
    let manager: NSMigrationManager = step.manager(of: store, known)
    manager.isTrial = true
    do {
      try manager.migrateStore(
        from: store.url, sourceType: store.type, options: step.sourceOptions(store), with: step.mapping,
        toDestinationURL: URL(fileURLWithPath: "/dev/null"), destinationType: NSInMemoryStoreType,
        destinationOptions: store.options.filter { $0.key as? String == ClarusExactDecimalsKey })
      return nil
    } catch {
      return MigrationFailure.text(of: error)
    }
  }
}
