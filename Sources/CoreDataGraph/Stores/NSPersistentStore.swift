import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A store that a coordinator has opened: one file, or one set of rows in memory.
///
/// See Apple's page [NSPersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstore).
nonisolated open class NSPersistentStore: NSObject, @unchecked Sendable {
  // Sendable: immutable but for metadata, which the engine guards, its refusal, which is guarded here, and the weak coordinator.

  final let engine: any StoreEngine
  final let runtime: ModelRuntime
  /// Distinguishes the stores of a process in identity maps; 0 stands for objects without a store.
  final let ordinal: Int
  private let storeType: String
  /// Whether all digits of decimals are kept, whatever the attributes say.
  final let keepsExactDecimals: Bool
  /// The rows that objects of any context hold; nil where the engine has all rows at hand.
  final let rowCache: RowCache?
  /// One save at a time, so that the cache takes saves in the order in which they were committed. Under it run the engine's
  /// transaction, or the copying of a migration, and nothing of the program's; the locks taken there are those of the row cache, of
  /// identity maps, of the coordinator's stores and of the list of contexts, under which no other is taken.
  private let saving = NSLock()

  public final let configurationName: String
  /// The configuration that was asked for.
  final let givenConfiguration: String?
  public final let options: [AnyHashable: Any]?
  public final internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  /// The file; nil for a store in memory.
  public final let url: URL?

  init(
    coordinator: NSPersistentStoreCoordinator, engine: any StoreEngine, ordinal: Int, type: String,
    configuration: String?, url: URL?, options: [AnyHashable: Any]?
  ) {
    self.engine = engine
    self.ordinal = ordinal
    runtime = coordinator.runtime
    rowCache = engine.needsNoRowCache ? nil : RowCache(layout: runtime.layout)
    storeType = type
    givenConfiguration = configuration
    keepsExactDecimals = ExactDecimals.isAskedFor(options?[ClarusExactDecimalsKey])
    configurationName = configuration ?? "PF_DEFAULT_CONFIGURATION_NAME"
    self.options = options
    self.url = url
    super.init()
    persistentStoreCoordinator = coordinator
  }

  /// One of the `NS…StoreType` constants.
  public final var type: String { storeType }
  /// The store's UUID, upper case.
  public final var identifier: String { engine.identifier }
  public final var isReadOnly: Bool { engine.isReadOnly }

  /// The metadata: Apple's keys and the program's own. Setting it is written with the next save; the keys for type, UUID and
  /// version hashes are kept right by the store.
  ///
  /// What the store can't take (values that are no property lists, anything if it is read-only) leaves the metadata as it was, and saves
  /// throw the reason until something else is set, be it `metadata` itself.
  public final var metadata: [String: Any]! {
    get { engine.metadata }
    set {
      let given: [String: Any] = newValue ?? [:]
      var refusal: StoreError?
      do {
        try engine.setMetadata(given)
      } catch {
        let isSame: Bool = NSDictionary(dictionary: given).isEqual(NSDictionary(dictionary: engine.metadata))
        let reason: StoreError =
          error as? StoreError
          ?? .unsupported(
            part: "the metadata", reason: "\(error)", advice: "set property-list values with string keys")
        if !isSame { refusal = reason }
      }
      refusedMetadata.withLock { $0 = refusal }
    }
  }
  /// Why the metadata that was set last could not be taken: the setter has no way to throw.
  final let refusedMetadata = Guarded<StoreError?>(nil)

  /// False once the store was removed (or its coordinator is gone).
  final var isInCoordinator: Bool { persistentStoreCoordinator != nil }

  /// Whether the store's configuration holds an entity.
  final func holds(_ runtime: EntityRuntime) -> Bool {
    guard let entities = self.runtime.layout.model.entities(forConfigurationName: configurationName) else {
      return true
    }
    return entities.contains { $0.name == runtime.layout.name }
  }

  open override var description: String {
    "<NSPersistentStore \(storeType) \(url?.path ?? "in memory") \(identifier)>"
  }
}

// MARK: Rows, through the cache

extension NSPersistentStore {
  /// What a context reads: the store as it is now, or the state that the context is pinned to.
  final func reader(for context: NSManagedObjectContext) throws -> any StoreEngine {
    try context.snapshotReader(of: self) ?? engine
  }

  /// The rows a plan finds. Those of an earlier state are no news to the cache.
  final func fetch(_ plan: FetchPlan, for context: NSManagedObjectContext) throws -> RowBatch {
    if let pinned = try context.snapshotReader(of: self) { return try pinned.fetch(plan) }
    guard let rowCache else { return try engine.fetch(plan) }
    return try rowCache.listing(plan.entity.rootIndex) { try engine.fetch(plan) }
  }

  /// The rows with these keys, not from the cache.
  final func rows(of layout: EntityLayout, keys: [Int64], for context: NSManagedObjectContext) throws
    -> RowBatch
  {
    if let pinned = try context.snapshotReader(of: self) { return try pinned.rows(of: layout, keys: keys) }
    guard let rowCache else { return try engine.rows(of: layout, keys: keys) }
    return try rowCache.listing(layout.rootIndex) { try engine.rows(of: layout, keys: keys) }
  }

  /// The row that the cache has for a key, if it is not too old for the context; none for a context that is pinned to an earlier state.
  final func cachedRow(of layout: EntityLayout, key: Int64, for context: NSManagedObjectContext) throws
    -> RowRef?
  {
    guard let rowCache, try context.snapshotReader(of: self) == nil else { return nil }
    return rowCache.row(root: layout.rootIndex, key: key, age: context.stalenessInterval)
  }

  /// Forgets rows that others than this coordinator's contexts have changed.
  final func forgetRows(of layout: EntityLayout, keys: [Int64]) {
    rowCache?.replace(root: layout.rootIndex, changed: keys, by: [])
  }

  /// Executes a plan, and takes the new rows into the cache.
  final func execute(_ plan: consuming SavePlan, for context: NSManagedObjectContext) throws {
    // Released after the lock: the last reference to a context may be one of these, and objects of the program's classes
    // go with it.
    var others: [NSManagedObjectContext] = []
    defer { withExtendedLifetime(others) {} }
    saving.lock()
    defer { saving.unlock() }
    // Another store may have taken this one's place while the save waited.
    if persistentStoreCoordinator == nil { throw StoreError.closed }
    let outcome: SaveOutcome = try engine.save(plan)
    guard let rowCache else { return }
    others = persistentStoreCoordinator?.contexts.all.filter { $0 !== context } ?? []
    for (root, rows) in SavedRows(outcome, runtime.layout).byRoot {
      rowCache.replace(root: root, changed: rows.changed, by: rows.slabs)
      for other in others { other.identityMap.keep(rows.newerRows, store: ordinal, root: root) }
    }
  }

  /// Runs `body` while no context saves to the store.
  final func withoutSaves<Result>(_ body: () throws -> Result) rethrows -> Result {
    saving.lock()
    defer { saving.unlock() }
    return try body()
  }
}

/// The rows of a save, by hierarchy.
private struct SavedRows {
  struct Part {
    /// Keys of rows that were there before, or are gone.
    var changed: [Int64] = []
    /// The new rows of those that are there still.
    var newerRows: [(key: Int64, slab: RowSlab)] = []
    var slabs: [RowSlab] = []
  }

  private(set) var byRoot: [Int: Part] = [:]

  init(_ outcome: SaveOutcome, _ layout: ModelLayout) {
    for (entity, batch) in outcome.written.inserts {
      let root: Int = entity.rootIndex
      byRoot[root, default: Part()].slabs += batch.slabs
      // Keys that objects had before the save may have had rows: deletions that were undone.
      batch.forEach { row in
        if !outcome.keys.holds(row.key, root: root) { replace(row, root) }
      }
    }
    var last: RowSlab?
    for update in outcome.written.updates {
      let root: Int = layout.entities[update.row.entity].rootIndex
      replace(update.row, root)
      // Most rows lie in the slab of the row before.
      if last === update.row.slab { continue }
      last = update.row.slab
      byRoot[root, default: Part()].slabs.append(update.row.slab)
    }
    for delete in outcome.written.deletes {
      byRoot[layout.entities[Int(delete.id.entity)].rootIndex, default: Part()].changed.append(delete.id.key)
    }
  }

  private mutating func replace(_ row: RowRef, _ root: Int) {
    byRoot[root, default: Part()].changed.append(row.key)
    byRoot[root, default: Part()].newerRows.append((row.key, row.slab))
  }
}

extension NSPersistentStore {
  /// A store type, in the modern spelling.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    public static let xml = StoreType(rawValue: NSXMLStoreType)
  }
}
