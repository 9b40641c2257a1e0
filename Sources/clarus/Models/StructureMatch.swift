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

  /// What of the store is not as a version has it, a clause each; nil if the file can't tell. `entities`:
  /// those of the store.
  func misfits(of version: ModelVersion, entities: Set<String>) -> [String]? {
    let layout = ModelLayout(model: version.model)
    do {
      if let tables = try kind.misfits(of: layout, entities: entities, at: url, options: options) {
        return tables
      }
      guard let structure = try kind.structure(at: url, options: options) else { return nil }
      return entities.sorted().flatMap { structure.misfits(of: $0, layout) }
    } catch {
      return nil
    }
  }

  private var url: URL { URL(fileURLWithPath: path) }

  private var options: StoreOpeningOptions { OpenStore.readingOptions(salvages: salvages) }
}
