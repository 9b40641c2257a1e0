import CoreDataModel
import Foundation

/// How the model that a store was written with differs from the one that it is opened with.
package struct ModelMismatch: Sendable {
  /// The entities of both whose hashes differ.
  package var differing: [String]
  /// Those that only the model has.
  package var missing: [String]
  /// Those that only the store has.
  package var unknown: [String]
  /// The differences property by property, as far as the store carries its model.
  package var details: [String]

  package init(differing: [String], missing: [String], unknown: [String], details: [String] = []) {
    (self.differing, self.missing, self.unknown, self.details) = (differing, missing, unknown, details)
  }
}

/// Whether a store was written with a given model: compared entity by entity, by version hash, or by
/// structure if Apple's hash can't be computed.
package enum ModelCheck {
  /// Throws `StoreError.incompatibleModel` with the entities that differ, those that the store lacks and
  /// those that the model lacks.
  ///
  /// `carried` returns the model that the store carries; it is called only if the hashes do not decide, and
  /// for the words of the error.
  /// `acceptsUnknown`: whether entities that can't be compared are accepted, because their columns are
  /// checked when the schema is matched.
  package static func check(
    _ metadata: StoreMetadata, layout: ModelLayout, entityNames: Set<String>?, url: URL,
    acceptsUnknown: Bool, carried: () -> NSManagedObjectModel?
  ) throws {
    var versions = EntityVersions(hashes: metadata.hashes, structures: [:])
    if layout.entities.contains(where: { versions.fits($0.entity) == nil }) {
      versions = EntityVersions(hashes: metadata.hashes, carried: carried())
    }
    var differing: [String] = []
    var missing: [String] = []
    var seen: Set<String> = []
    for entity in layout.entities where entityNames?.contains(entity.name) ?? true {
      seen.insert(entity.name)
      if versions.hashes[entity.name] == nil {
        missing.append(entity.name)
      } else if !(versions.fits(entity.entity) ?? acceptsUnknown) {
        differing.append(entity.name)
      }
    }
    // A store may hold more of the model than the configuration.
    let further: Set<String> = Set(
      layout.entities.filter { entityNames != nil && versions.fits($0.entity) != false }.map(\.name))
    let unknown: [String] = versions.hashes.keys.filter {
      !seen.contains($0) && !further.contains($0)
    }.sorted()
    if differing.isEmpty && missing.isEmpty && unknown.isEmpty { return }
    var mismatch = ModelMismatch(
      differing: differing.sorted(), missing: missing.sorted(), unknown: unknown)
    if !differing.isEmpty || !missing.isEmpty && !unknown.isEmpty, let model = carried() {
      let named: Set<String> = Set(differing + missing)
      mismatch.details = ModelDifference(from: model, to: layout.model).entities.flatMap { entity in
        guard entity.source != nil, named.contains(entity.name) else { return [String]() }
        return entity.allChanges.filter(\.changesVersionHash).map {
          $0.sentence(source: "the store", destination: "the model")
        }
      }
    }
    throw StoreError.incompatibleModel(url: url, mismatch)
  }

  /// The structure of the entities that the check accepted although hashes do not decide.
  package static func structures(_ metadata: StoreMetadata, layout: ModelLayout) -> [String: Data] {
    let versions = EntityVersions(hashes: metadata.hashes, structures: [:])
    var result: [String: Data] = [:]
    for entity in layout.entities where versions.fits(entity.entity) == nil {
      result[entity.name] = entity.entity.structureHash
    }
    return result
  }
}
