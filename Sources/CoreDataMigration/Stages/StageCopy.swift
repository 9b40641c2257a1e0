import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// A copy of a store, on which a stage with handlers works and which then takes the store's place: what a
/// handler saves belongs to the stage, and is gone if the stage fails (Decisions/0089).
struct StageCopy {
  private let store: OutdatedStore

  init(of store: OutdatedStore) { self.store = store }

  /// Calls `body` with the copy. If it throws, or the process ends, the store is as it was.
  func run(_ body: (OutdatedStore) throws -> Void) throws {
    let migration = AutomaticMigration(store)
    try migration.exclusively {
      let staging = StagingFolder(for: store.url)
      try staging.begin()
      defer { staging.discard() }
      try staging.prepare(step: 0)
      let replacement = try UnchangedReplacement(of: store)
      defer { replacement.end() }
      let copy: URL = staging.made(byStep: 0)
      try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
        at: copy, destinationOptions: store.options, withPersistentStoreFrom: store.url,
        sourceOptions: store.options, ofType: store.type)
      try body(
        OutdatedStore(
          coordinator: store.coordinator, type: store.type, configuration: store.configuration, url: copy,
          options: store.options))
      try replacement.complete(with: copy)
    }
  }
}
