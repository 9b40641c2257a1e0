import CoreDataGraph
import CoreDataStorage
import Foundation

extension StoreMigrator: StoreMigrationService {
  package var managerClass: AnyClass { NSMigrationManager.self }

  package func migrate(_ store: OutdatedStore) throws -> Bool {
    try withMigrationErrors(of: store.url) {
      if let stages = store.options[NSPersistentStoreStagedMigrationManagerOptionKey]
        as? NSStagedMigrationManager
      {
        try StagedMigration(store, stages).run()
        return true
      }
      guard store.isSet(NSMigratePersistentStoresAutomaticallyOption) else { return false }
      try AutomaticMigration(store).run()
      return true
    }
  }

  package func removeLeftovers(of store: NSPersistentStore, at url: URL) {
    let staging = StagingFolder(for: url)
    guard url.isFileURL, !store.isReadOnly, MigrationLock.exists(for: url) || staging.exists,
      let lock = MigrationLock(ifFree: url)
    else { return }
    defer { lock.release() }
    let isDone: Bool =
      staging.journal.map {
        $0.destination == MigrationJournal.digest(ofVersions: store.metadata ?? [:])
      } ?? true
    if isDone { staging.discard() }
  }
}

extension OutdatedStore {
  func isSet(_ option: String) -> Bool { (options[option] as? NSNumber)?.boolValue ?? false }
}

extension NSPersistentStoreCoordinator {
  /// Finishes what lightweight migrations have postponed with
  /// `NSPersistentStoreDeferredLightweightMigrationOptionKey`. Clarus accepts the option and postpones
  /// nothing (Decisions/0126), so this returns at once. Throws nothing.
  ///
  /// See Apple's page
  /// [finishDeferredLightweightMigration()](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/finishdeferredlightweightmigration()).
  public final func finishDeferredLightweightMigration() throws {}

  /// Finishes one task of what lightweight migrations have postponed. Clarus postpones nothing, so there is
  /// none, and this returns at once. Throws nothing.
  ///
  /// See Apple's page
  /// [finishDeferredLightweightMigrationTask()](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/finishdeferredlightweightmigrationtask()).
  public final func finishDeferredLightweightMigrationTask() throws {}
}
