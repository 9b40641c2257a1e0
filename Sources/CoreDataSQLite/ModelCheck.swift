import CoreDataModel
import CoreDataStorage
import Foundation

/// Whether a store was written with the model at hand: entity by entity, by version hash.
enum ModelCheck {
  /// Throws `StoreError.incompatibleModel` with the entities that differ, those the store lacks and those the model lacks.
  ///
  /// Entities whose hash Clarus can't know to be Apple's (those with derived attributes) are not held against the store;
  /// the columns are checked for them anyway when the schema is matched.
  static func check(
    _ metadata: StoreMetadata, layout: ModelLayout, entityNames: Set<String>?, url: URL
  ) throws {
    let stored: [String: Data] = metadata.hashes
    var differing: [String] = []
    var missing: [String] = []
    var seen: Set<String> = []
    for entity in layout.entities where entityNames?.contains(entity.name) ?? true {
      seen.insert(entity.name)
      guard let hash = stored[entity.name] else {
        missing.append(entity.name)
        continue
      }
      if hash != entity.entity.versionHash, entity.entity.hashIsExact { differing.append(entity.name) }
    }
    let unknown: [String] = stored.keys.filter { !seen.contains($0) }.sorted()
    if differing.isEmpty && missing.isEmpty && unknown.isEmpty { return }
    throw StoreError.incompatibleModel(
      url: url, differing: differing.sorted(), missing: missing.sorted(), unknown: unknown)
  }
}
