import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// Names that a store's model exchanges by renaming identifiers, and that no version hash tells: the store
/// seems to have the model, and each value is under the other name if it was saved before.
struct ExchangedNames {
  private let model: NSManagedObjectModel
  private let file: StoreInspection
  private let known: KnownModels

  init(_ store: OutdatedStore, _ file: StoreInspection, _ known: KnownModels) {
    (model, self.file, self.known) = (store.coordinator.managedObjectModel, file, known)
  }

  /// For each exchange that the model of the store does not know, if it carries one; otherwise for each that
  /// a version of the same hashes does not know.
  func warnings() -> [String] {
    let exchanges: [RenamingExchange] = RenamingExchange.all(in: model)
    if exchanges.isEmpty { return [] }
    let former: [NSManagedObjectModel] = file.model.map { [$0] } ?? known.siblings
    return exchanges.filter { exchange in
      former.contains { hasHashes(exchange, $0) && !RenamingExchange.all(in: $0).contains(exchange) }
    }.map { exchange in
      "\(exchange.subject) exchange their names by renaming identifiers, and their version hashes are as before, "
        + "so that the store is not migrated and each value stays under its former name. Give "
        + "\(exchange.entity == nil ? "one of the entities" : "one of the properties") a hash modifier, or take the identifiers away."
    }
  }

  /// Whether the version has what exchanges its names, with the same hashes.
  private func hasHashes(_ exchange: RenamingExchange, _ version: NSManagedObjectModel) -> Bool {
    (exchange.entity.map { [$0] } ?? exchange.names).allSatisfy { name in
      guard let old = version.entitiesByName[name], let new = model.entitiesByName[name] else { return false }
      return old.versionHash == new.versionHash
    }
  }
}
