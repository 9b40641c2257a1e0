import CoreDataModel
import Foundation

/// Whether a model is the one a store was written with, entity by entity.
package enum ModelMatch {
  package struct Difference: Equatable {
    package var differing: [String]
    package var onlyInModel: [String]
    package var onlyInStore: [String]

    package var count: Int { differing.count + onlyInModel.count + onlyInStore.count }

    /// The entities concerned, as text.
    package var sentence: String {
      var parts: [String] = []
      if !differing.isEmpty { parts.append("Entities that differ: \(Self.list(differing)).") }
      if !onlyInStore.isEmpty { parts.append("Only in the store: \(Self.list(onlyInStore)).") }
      if !onlyInModel.isEmpty { parts.append("Only in the model: \(Self.list(onlyInModel)).") }
      return parts.joined(separator: " ")
    }

    private static func list(_ names: [String]) -> String {
      names.count <= 12
        ? names.joined(separator: ", ")
        : names.prefix(12).joined(separator: ", ") + " and \(names.count - 12) more"
    }
  }

  /// The entities in which a model and a store disagree. Entities with neither hash nor structure are
  /// compared by name only.
  package static func difference(_ model: NSManagedObjectModel, _ versions: EntityVersions) -> Difference {
    var difference = Difference(differing: [], onlyInModel: [], onlyInStore: [])
    let entities: [String: NSEntityDescription] = model.entitiesByName
    for (name, entity) in entities {
      if versions.hashes[name] == nil {
        difference.onlyInModel.append(name)
      } else if versions.fits(entity) == false {
        difference.differing.append(name)
      }
    }
    difference.onlyInStore = versions.hashes.keys.filter { entities[$0] == nil }
    difference.differing.sort()
    difference.onlyInModel.sort()
    difference.onlyInStore.sort()
    return difference
  }

  /// The entities to open when the store holds one configuration of the model only; nil when it holds all of
  /// it.
  package static func configuration(_ model: NSManagedObjectModel, storeHashes: [String: Data]) -> Set<
    String
  >? {
    let names: Set<String> = Set(storeHashes.keys)
    return model.namedConfigurations.values.map(Set.init).contains(names) ? names : nil
  }
}
