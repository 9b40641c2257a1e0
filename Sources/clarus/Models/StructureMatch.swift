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
    guard let fewest = found.map(\.differences).min() else { return versions }
    return found.filter { $0.differences == fewest }.map(\.version)
  }

  /// The first version whose tables, or names and types, the file has; nil if there is none, or if the file
  /// can't tell. `entities`: those of the store.
  func fitting(_ versions: [ModelVersion], entities: Set<String>) -> ModelVersion? {
    // Read once: that of an XML store is the whole file.
    let structure: StoreStructure? = try? kind.structure(at: url, options: options)
    return versions.first { version in
      let layout = ModelLayout(model: version.model)
      let tables: [String]? = try? kind.misfits(of: layout, entities: entities, at: url, options: options)
      if let tables { return tables.isEmpty }
      guard let structure else { return false }
      return entities.allSatisfy { structure.misfits(of: $0, layout).isEmpty }
    }
  }

  private var url: URL { URL(fileURLWithPath: path) }

  private var options: StoreOpeningOptions { OpenStore.readingOptions(salvages: salvages) }
}
