import Foundation

/// A version hash that Apple's tools computed. It is valid as long as the entity has the structure it had
/// when the hash was recorded.
struct RecordedHash {
  var hash: Data
  var structure: Data
}

extension NSManagedObjectModel {
  /// Stores the hashes that Apple's tools recorded for entities whose hash can't be computed here. If the
  /// hash of any other entity differs, the hashes belong to another model and are ignored.
  package final func record(versionHashes: [String: Data]) {
    guard areOfThisModel(versionHashes) else { return }
    for entity in storedEntities where !entity.hashIsComputable {
      guard let hash = versionHashes[entity.name ?? ""] else { continue }
      entity.mayChange()
      entity.recordedHash = RecordedHash(hash: hash, structure: entity.structureHash)
    }
  }

  /// The hashes of entities that Apple's tools recorded, and that are still valid.
  final var recordedVersionHashes: [String: Data] {
    var result: [String: Data] = [:]
    for entity in storedEntities where entity.recordedHash?.hash == entity.versionHash {
      result[entity.name ?? ""] = entity.versionHash
    }
    return result
  }

  /// Whether the hashes may be those of the model, or of a configuration of it: no computed hash differs.
  final func areOfThisModel(_ versionHashes: [String: Data]) -> Bool {
    let byName: [String: NSEntityDescription] = entitiesByName
    return versionHashes.allSatisfy { name, hash in
      byName[name].map { !$0.hashIsComputable || $0.structureHash == hash } ?? false
    }
  }
}

/// The versions of the entities that a store holds: the hashes in its metadata and, where hashes can't be
/// computed as Apple's framework does, the structure of the entities in the model that the store carries.
package struct EntityVersions {
  package var hashes: [String: Data]
  package var structures: [String: Data]

  /// The key of ``structures`` in a store's metadata. It is never written into a file.
  package static let structuresKey: String = "ClarusEntityStructures"

  package init(hashes: [String: Data], structures: [String: Data]) {
    self.hashes = hashes
    self.structures = structures
  }

  /// nil for metadata without version hashes.
  package init?(metadata: [String: Any]) {
    guard let hashes = metadata["NSStoreModelVersionHashes"] as? [String: Data] else { return nil }
    self.hashes = hashes
    structures = metadata[Self.structuresKey] as? [String: Data] ?? [:]
  }

  /// The versions in a store that has these hashes and carries that model.
  package init(hashes: [String: Data], carried model: NSManagedObjectModel?) {
    self.hashes = hashes
    structures = [:]
    guard let model, model.areOfThisModel(hashes) else { return }
    for entity in model.storedEntities where !entity.hashIsComputable {
      structures[entity.name ?? ""] = entity.structureHash
    }
  }

  /// Whether an entity is the version that the store holds; nil where there is neither hash nor structure.
  package func fits(_ entity: NSEntityDescription) -> Bool? {
    let name: String = entity.name ?? ""
    guard let hash = hashes[name] else { return false }
    if hash == entity.versionHash || hash == entity.structureHash { return true }
    if entity.hashIsComputable { return false }
    return structures[name].map { $0 == entity.structureHash }
  }
}
