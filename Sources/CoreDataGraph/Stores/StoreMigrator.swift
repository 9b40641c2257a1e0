import CoreDataModel
import CoreDataStorage
import Foundation

/// The type that connects coordinators with migration, which is in `CoreDataMigration`, a module above.
///
/// `CoreDataMigration` declares that this type conforms to ``StoreMigrationService``. The runtime finds the
/// conformance in every program that is linked with that module (Decisions/0065).
package struct StoreMigrator: Sendable {
  static let service: (any StoreMigrationService)? = linkedService(StoreMigrator())

  package init() {}

  /// The parameter hides the type from the optimizer, which sees no conformance in this module.
  @inline(never)
  private static func linkedService(_ value: Any) -> (any StoreMigrationService)? {
    value as? any StoreMigrationService
  }
}

/// What coordinators need of migration.
package protocol StoreMigrationService: Sendable {
  /// The class of migration managers.
  var managerClass: AnyClass { get }
  /// Migrates a store file that was written with another model, if the options of its addition ask for it.
  /// Returns whether the file now has the model of the coordinator.
  func migrate(_ store: OutdatedStore) throws -> Bool
  /// Removes what a process that was killed while it migrated the store has left beside it, unless the next
  /// migration can go on with it.
  func removeLeftovers(of store: NSPersistentStore, at url: URL)
}

/// A store file whose model is not its coordinator's, and how the program is adding it.
package struct OutdatedStore {
  package let coordinator: NSPersistentStoreCoordinator
  package let type: String
  package let configuration: String?
  package let url: URL
  package let options: [AnyHashable: Any]
  /// Why the store could not be opened as it is; nil if it was not tried.
  package let mismatch: StoreError?

  package init(
    coordinator: NSPersistentStoreCoordinator, type: String, configuration: String?, url: URL,
    options: [AnyHashable: Any], mismatch: StoreError? = nil
  ) {
    (self.coordinator, self.type, self.configuration) = (coordinator, type, configuration)
    (self.url, self.options, self.mismatch) = (url, options, mismatch)
  }
}

extension NSPersistentStoreCoordinator {
  /// Opens a store that is not in a coordinator's list yet; migrates its file before if it has another model
  /// and the options ask for it.
  final func opened(
    type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    func open() throws -> NSPersistentStore {
      let store: NSPersistentStore = try makeStore(
        type: type, configuration: configuration, url: url, options: options)
      try store.open()
      if let url { StoreMigrator.service?.removeLeftovers(of: store, at: url) }
      return store
    }
    do {
      return try open()
    } catch let mismatch as StoreError {
      guard case .incompatibleModel = mismatch, let url, let options, let service = StoreMigrator.service,
        try service.migrate(
          OutdatedStore(
            coordinator: self, type: type, configuration: configuration, url: url, options: options,
            mismatch: mismatch))
      else { throw mismatch }
      return try open()
    }
  }
}

extension NSManagedObjectID {
  /// The number of the entity's hierarchy and of the entity in the model's order, and the object's number in
  /// its store: what identifies an object within one store, without an object.
  package final var numbers: (root: Int, entity: Int, key: Int64) {
    (runtime.layout.rootIndex, runtime.index, key)
  }
}

extension NSPersistentStore {
  /// Files of values that are missing, or can't be read; none for a program's own store.
  package final func fileProblems() throws -> [StoreProblem] {
    try withCocoaErrors(url) { try (self as? EngineStore)?.unreadableFiles() ?? [] }
  }

  /// References to objects that are not there, one problem a property; none for a program's own store.
  package final func lostReferences() throws -> [StoreProblem] {
    try withCocoaErrors(url) { try (self as? EngineStore)?.danglingReferences() ?? [] }
  }

  /// Rows that stand for no object of the model; none for a program's own store.
  package final func unreachableRows() throws -> [UnreachableRows] {
    try withCocoaErrors(url) { try (self as? EngineStore)?.rowsOfNoObject() ?? [] }
  }

  /// Throws an error that names the first value which would be read as another one, and thus not be copied as
  /// it is: text where a number belongs, a number that is too large for its attribute.
  package final func refuseMisreadValues() throws {
    guard let store = self as? EngineStore else { return }
    try withCocoaErrors(url) { try store.refuseMisread() }
  }

  /// Lets the next save write a store that was opened with ``FillsBeforeWritingOption``.
  package final func writeFromNowOn() {
    (self as? EngineStore)?.writeEngineFromNowOn()
    (self as? NSAtomicStore)?.endFilling()
  }

  /// Whether such a store has not been written.
  package final var isUnwritten: Bool {
    (self as? EngineStore)?.isEngineUnwritten ?? (self as? NSAtomicStore)?.awaitsFirstSave ?? false
  }

  /// The id of an object by its numbers, see ``NSManagedObjectID/numbers``.
  package final func objectID(entity: Int, key: Int64) -> NSManagedObjectID {
    NSManagedObjectID(runtime: runtime.entities[entity], key: key, store: self)
  }
}
