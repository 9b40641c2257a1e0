import CoreDataModel
import CoreDataStorage
import Foundation

/// Creates a store with the contents of another one (Decisions/0049): in the way of the new store's class, or
/// row by row through memory.
final class StoreMigration {
  let source: NSPersistentStore
  let coordinator: NSPersistentStoreCoordinator
  /// A separate context, for stores that need the calling context.
  let caller: StoreCaller
  /// The objects' keys in the new store, if they have new ones; complete after `run`.
  var copiedKeys: CopiedKeys?
  /// One unit for each row and one for the file; a child of the thread's current progress.
  private let progress = Progress(totalUnitCount: 1)

  /// How many rows a store that is written in parts gets at a time, so that memory does not grow with the
  /// store.
  private static let rowsPerSave: Int = 2000

  init(source: NSPersistentStore, coordinator: NSPersistentStoreCoordinator) {
    self.source = source
    self.coordinator = coordinator
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    caller = StoreCaller(context)
  }

  /// The new store, opened and not in a coordinator's list yet. If it throws, nothing is left behind.
  func run(type: String, url: URL, options: [AnyHashable: Any]?) throws -> NSPersistentStore {
    try throwIfCancelled()
    let new: NSPersistentStore = try coordinator.makeStore(
      type: type, configuration: source.givenConfiguration, url: url, options: options)
    try new.load(copying: self)
    progress.completedUnitCount = progress.totalUnitCount
    return new
  }

  private func throwIfCancelled() throws {
    if progress.isCancelled { throw CocoaError(.userCancelled) }
  }

  /// The program's metadata of the source.
  var metadata: [String: Any] {
    var metadata: [String: Any] = source.metadata
    for key in [NSStoreUUIDKey, NSStoreTypeKey] { metadata[key] = nil }
    return metadata
  }

  /// Copies all objects to an empty store; in parts if whoever calls removes the store after an error. Throws
  /// `CocoaError.userCancelled` after its progress was cancelled.
  func transfer(to target: any StoreOperations, inParts: Bool) throws {
    if !source.needsRequests { return try copy(to: target, inParts: inParts) }
    // A program's store uses the calling context.
    try caller.context.performAndWait { try copy(to: target, inParts: false) }
  }

  private func copy(to target: any StoreOperations, inParts: Bool) throws {
    let entities: [EntityLayout] = source.runtime.entities.filter(source.holds).map(\.layout)
    try source.withOneState(for: caller) { state, allocatesKeys in
      let counts: [Int] = try entities.filter { !$0.isAbstract }.map { entity in
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        return try state.count(plan)
      }
      progress.totalUnitCount = Int64(counts.reduce(1, +))
      let outcome: StoreTransfer.Outcome = try StoreTransfer.copy(
        entities, from: state, isReadOnly: !allocatesKeys, to: target,
        rowsPerSave: inParts ? Self.rowsPerSave : nil
      ) { rows in
        progress.completedUnitCount += Int64(rows)
        try throwIfCancelled()
      }
      if target.hasOneKeySequence, !state.hasOneKeySequence {
        copiedKeys = CopiedKeys(keys: outcome.keys)
      }
      for problem in outcome.leftOut {
        StoreWarning.write(
          source.url?.path ?? source.type,
          "has references that lead nowhere. \(problem.message) "
            + "\(problem.count) time(s).")
      }
    }
  }
}
