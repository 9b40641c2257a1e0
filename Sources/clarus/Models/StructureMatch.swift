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
    var options = StoreOpeningOptions(isReadOnly: true)
    options.salvages = salvages
    options.timeoutInSeconds = OpenStore.busyTimeoutInSeconds
    let found: [(version: ModelVersion, differences: Int)] = versions.compactMap { version in
      let differences: [StoreDrift]? = try? kind.drift(
        at: URL(fileURLWithPath: path), layout: ModelLayout(model: version.model), options: options)
      return differences.map { (version, $0.count) }
    }
    guard let fewest = found.map(\.differences).min() else { return versions }
    return found.filter { $0.differences == fewest }.map(\.version)
  }
}
