import Foundation

/// A version hash that Apple's tools computed. It holds for as long as the entity keeps the structure it had when the hash was
/// recorded.
struct RecordedHash {
  var hash: Data
  var structure: Data
}

extension NSManagedObjectModel {
  /// Takes over what Apple's tools recorded for entities whose hash can't be computed here. Hashes of another model, which some entity
  /// whose hash can be computed tells, are left alone.
  package final func record(versionHashes: [String: Data]) {
    guard areOfThisModel(versionHashes) else { return }
    for entity in storedEntities where !entity.hashIsComputable {
      guard let hash = versionHashes[entity.name ?? ""] else { continue }
      entity.mayChange()
      entity.recordedHash = RecordedHash(hash: hash, structure: entity.structureHash)
    }
  }

  /// The hashes of entities that Apple's tools recorded, and that still hold.
  final var recordedVersionHashes: [String: Data] {
    var result: [String: Data] = [:]
    for entity in storedEntities where entity.recordedHash?.hash == entity.versionHash {
      result[entity.name ?? ""] = entity.versionHash
    }
    return result
  }

  /// Whether nothing speaks against hashes being those of the model, or of a configuration of it.
  final func areOfThisModel(_ versionHashes: [String: Data]) -> Bool {
    let byName: [String: NSEntityDescription] = entitiesByName
    return versionHashes.allSatisfy { name, hash in
      byName[name].map { !$0.hashIsComputable || $0.structureHash == hash } ?? false
    }
  }
}

/// The versions of the entities that a store holds: the hashes in its metadata and, where hashes can't be computed as Apple's
/// framework does, the structure of the entities in the model that the store carries.
package struct EntityVersions {
  package var hashes: [String: Data]
  package var structures: [String: Data]

  /// What stores add to the metadata that they give, and never write: ``structures``.
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

  /// Whether an entity is the version that the store holds; nil where neither hash nor structure can tell.
  package func fits(_ entity: NSEntityDescription) -> Bool? {
    let name: String = entity.name ?? ""
    guard let hash = hashes[name] else { return false }
    if hash == entity.versionHash || hash == entity.structureHash { return true }
    if entity.hashIsComputable { return false }
    return structures[name].map { $0 == entity.structureHash }
  }
}
