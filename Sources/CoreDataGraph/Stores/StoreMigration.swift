import CoreDataModel
import CoreDataStorage
import Foundation

/// Creates a store with the contents of another one (Decisions/0049): in the way of the new store's class, or
/// row by row through memory.
struct StoreMigration {
  let source: NSPersistentStore
  let coordinator: NSPersistentStoreCoordinator
  /// A separate context, for stores that need the calling context.
  let caller: StoreCaller

  init(source: NSPersistentStore, coordinator: NSPersistentStoreCoordinator) {
    self.source = source
    self.coordinator = coordinator
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    caller = StoreCaller(context)
  }

  /// The new store, opened and not in a coordinator's list yet. If it throws, nothing is left behind.
  func run(type: String, url: URL, options: [AnyHashable: Any]?) throws -> NSPersistentStore {
    let new: NSPersistentStore = try coordinator.makeStore(
      type: type, configuration: source.givenConfiguration, url: url, options: options)
    try new.load(copying: self)
    return new
  }

  /// The program's metadata of the source.
  var metadata: [String: Any] {
    var metadata: [String: Any] = source.metadata
    for key in [NSStoreUUIDKey, NSStoreTypeKey] { metadata[key] = nil }
    return metadata
  }

  /// Copies all objects to an empty store.
  func transfer(to target: any StoreOperations) throws {
    let entities: [EntityLayout] = source.runtime.entities.filter(source.holds).map(\.layout)
    try source.withOneState(for: caller) { state, allocatesKeys in
      try StoreTransfer.copy(entities, from: state, isReadOnly: !allocatesKeys, to: target)
    }
  }
}
