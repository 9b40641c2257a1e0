import CoreDataStorage
import Foundation

/// Which versions of a model have the structure of a store's file.
struct StructureMatch {
  let path: String
  let kind: any StoreEngineKind
  let salvages: Bool

  /// The versions with the fewest differences between the tables that the store has and those that it is to
  /// have; all of them if no version's differences can be told.
  func best(_ versions: [ModelVersion]) -> [ModelVersion] {
    if versions.count < 2 { return versions }
    let found: [(version: ModelVersion, differences: Int)] = versions.compactMap { version in
      let differences: [StoreDrift]? = try? kind.drift(
        at: url, layout: ModelLayout(model: version.model), options: options)
      return differences.map { (version, $0.count) }
    }
    guard let fewest = found.map(\.differences).min() else { return named(versions) }
    let best: [ModelVersion] = found.filter { $0.differences == fewest }.map(\.version)
    return best.count > 1 ? named(best) : best
  }

  /// The versions with the names and types of a file that has no tables; all of them if it does not tell.
  private func named(_ versions: [ModelVersion]) -> [ModelVersion] {
    guard let structure = try? kind.structure(at: url, options: options) else {
      let found: [ModelVersion] =
        kind is AtomicKind ? versions.filter { readsAll($0, entities: nil) } : versions
      return found.isEmpty ? versions : found
    }
    let found: [ModelVersion] = versions.filter { version in
      let layout = ModelLayout(model: version.model)
      return structure.entities.keys.allSatisfy { structure.misfits(of: $0, layout).isEmpty }
    }
    return found.isEmpty ? versions : found
  }

  /// The versions whose tables, or names and types, the file has, in their order; none if the file can't
  /// tell. `entities`: those of the store.
  func fitting(_ versions: [ModelVersion], entities: Set<String>) -> [ModelVersion] {
    // Read once: that of an XML store is the whole file.
    let structure: StoreStructure? = try? kind.structure(at: url, options: options)
    return versions.filter { version in
      let layout = ModelLayout(model: version.model)
      let tables: [String]? = try? kind.misfits(of: layout, entities: entities, at: url, options: options)
      if let tables { return tables.isEmpty }
      guard let structure else {
        let own: Set<String> = Set(version.model.entitiesByName.keys)
        return kind is AtomicKind && readsAll(version, entities: entities == own ? nil : entities)
      }
      return entities.allSatisfy { structure.misfits(of: $0, layout).isEmpty }
    }
  }

  /// Whether every value and object of a file that names none of them can be read with a version.
  private func readsAll(_ version: ModelVersion, entities: Set<String>?) -> Bool {
    var options: StoreOpeningOptions = OpenStore.readingOptions(salvages: true)
    (options.createsIfMissing, options.checksModel, options.entityNames) = (false, false, entities)
    let layout = ModelLayout(model: version.model)
    guard let engine = try? kind.open(at: url, layout: layout, options: options) else { return false }
    defer { try? engine.close() }
    return engine.partsLeftOut().problems.isEmpty
  }

  /// What of the file a version fits, for messages.
  var what: String { kind is AtomicKind ? "its objects" : "its tables" }

  private var url: URL { URL(fileURLWithPath: path) }

  private var options: StoreOpeningOptions { OpenStore.readingOptions(salvages: salvages) }
}
