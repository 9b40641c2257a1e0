import CoreDataModel
import CoreDataPredicates
import CoreDataSQLite
import CoreDataStorage
import Foundation

/// A store whose rows are in an engine: the only class of the graph that uses engines and the row cache. Its
/// subclasses define the kind.
class EngineStore: NSPersistentStore, StoreOperations, @unchecked Sendable {
  // Sendable: `rowCache` is set while the store is loaded, before any other code uses it.

  /// nil until the store is loaded; another one after the store was moved.
  private final let loaded = Guarded<(any StoreEngine)?>(nil)
  private final var engine: any StoreEngine {
    guard let engine = loaded.withLock({ $0 }) else { preconditionFailure("\(self) is not loaded") }
    return engine
  }
  /// The rows that objects of any context hold; nil if the engine has all rows in memory.
  final private(set) var rowCache: RowCache?

  class var kind: any StoreEngineKind { preconditionFailure("\(self) names no kind of engine") }

  // MARK: Opening

  override func loadMetadata() throws {
    warnOfMissingNotifications()
    adopt(try Self.kind.open(at: try place(), layout: layout, options: storeOptions))
  }

  override func load(copying migration: StoreMigration) throws {
    guard let url = try place() else { return try super.load(copying: migration) }
    warnOfMissingNotifications()
    // A program that wants no empty store in place of a missing one wants the copy.
    var options: StoreOpeningOptions = storeOptions
    options.createsIfMissing = true
    let engine: any StoreEngine = try Self.kind.makeStore(
      at: url, layout: layout, options: options, copying: (migration.source as? EngineStore)?.engine
    ) { target in
      try migration.transfer(to: target, inParts: true)
      try target.setMetadata(migration.metadata)
      _ = try target.save(SavePlan())
    }
    adopt(engine)
  }

  final func refuseMisread() throws {
    try StoreTransfer.refuseMisreadValues(of: engine.layout.entities, in: engine, for: type)
  }

  final func writeEngineFromNowOn() { engine.writeFromNowOn() }

  final var isEngineUnwritten: Bool { engine.isUnwritten }

  final func danglingReferences() throws -> [StoreProblem] { try engine.lostReferences() }

  final func rowsOfNoObject() throws -> [UnreachableRows] { try engine.unreachableRows() }

  final func unreadableFiles() throws -> [StoreProblem] { try engine.fileProblems() }

  private func adopt(_ engine: any StoreEngine) {
    loaded.withLock { $0 = engine }
    if engine.rowFreshness == .alwaysInMemory { return }
    let cache = RowCache(layout: layout)
    rowCache = cache
    guard engine.rowFreshness == .notified else { return }
    engine.notifyChanges { [weak cache, weak self] rows in
      cache?.replace(root: rows.root, changed: rows.keys, by: [])
      self?.noteChanges()
    }
  }

  private func warnOfMissingNotifications() {
    if (options?[NSPersistentStoreRemoteChangeNotificationPostOptionKey] as? NSNumber)?.boolValue == true {
      HistoryWarning.remoteChanges(url ?? URL(fileURLWithPath: "/dev/null"))
    }
  }

  private func place() throws -> URL? {
    if !Self.kind.keepsFiles { return url }
    guard let url, url.isFileURL else {
      throw GraphError.unsupported(
        "A \(type) store without a file URL",
        advice: "Pass URL(fileURLWithPath:) or use NSInMemoryStoreType.")
    }
    return url
  }

  private var storeOptions: StoreOpeningOptions {
    var made = StoreOpeningOptions(apple: options ?? [:])
    made.entityNames = layout.model.heldEntityNames(ofConfiguration: givenConfiguration)
    return made
  }

  override func close() throws { try loaded.withLock { $0 }?.close() }

  override func move(to place: URL) throws {
    guard Self.kind.keepsFiles else { return try super.move(to: place) }
    let former: any StoreEngine = engine
    let new: any StoreEngine = try Self.kind.move(former, to: place, layout: layout, options: storeOptions)
    if new.hasUnsavedMetadata == false, former.hasUnsavedMetadata { try new.setMetadata(former.metadata) }
    loaded.withLock { $0 = new }
    url = place
    // Calls that have the former one end before it is closed.
    if former !== new { try former.close() }
  }

  override var holdsEveryEntity: Bool { givenConfiguration == nil }

  // MARK: Properties

  override var type: String { Self.kind.type }
  override var uuid: String { loaded.withLock { $0 }?.identifier ?? "" }
  override var isReadOnly: Bool { engine.isReadOnly }
  package override var readOnlyReason: ReadOnlyReason? { engine.readOnlyReason }
  override var hasUnsavedMetadata: Bool { engine.hasUnsavedMetadata }
  override var rowFreshness: RowFreshness { engine.rowFreshness }

  override var identifier: String! {
    get { uuid }
    set {
      var changed: [String: Any] = metadata
      changed[NSStoreUUIDKey] = newValue
      metadata = changed
    }
  }

  /// New metadata is written with the next save; the store maintains the keys for type, UUID and version
  /// hashes.
  ///
  /// Metadata that the store can't accept (values that are no property lists, anything if it is read-only)
  /// leaves the present one unchanged, and saves throw the reason until it is set again, even to its present
  /// value.
  override var metadata: [String: Any]! {
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

  // MARK: Cached rows

  override func keptRow(root: Int, key: Int64, age: TimeInterval?) -> RowRef? {
    guard let rowCache else { return nil }
    guard let age else { return rowCache.row(root: root, key: key) }
    // Rows of a store that reports changes don't get old; but an age of 0 excludes rows that were read before
    // in any case.
    let limit: TimeInterval = age > 0 && engine.rowFreshness == .notified ? -1 : age
    return rowCache.row(root: root, key: key, age: limit)
  }

  override func mayKeepRows(root: Int, among keys: [Int64]) -> Bool {
    rowCache?.mayHave(root: root, keys) ?? false
  }

  override func replaceKeptRows(root: Int, changed: [Int64], by slabs: [RowSlab]) {
    rowCache?.replace(root: root, changed: changed, by: slabs)
  }

  // MARK: Operations

  override var needsRequests: Bool { false }

  override func operations(for caller: StoreCaller) throws -> any StoreOperations { self }
  override func snapshot() throws -> (any StoreOperations)? { try engine.snapshot() }

  override func withOneState(
    for caller: StoreCaller, _ body: (any StoreOperations, _ allocatesKeys: Bool) throws -> Void
  ) throws {
    try engine.withOneState { state in try body(state, !state.isReadOnly) }
  }

  final var layout: ModelLayout { runtime.layout }

  final func fetch(_ plan: FetchPlan) throws -> RowBatch {
    guard let rowCache else { return try engine.fetch(plan) }
    return try rowCache.listing(plan.entity.rootIndex) { try engine.fetch(plan) }
  }

  final func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch {
    guard let rowCache else { return try engine.rows(of: layout, keys: keys) }
    return try rowCache.listing(layout.rootIndex) { try engine.rows(of: layout, keys: keys) }
  }

  final func fetchIDs(_ plan: FetchPlan) throws -> [RowID] { try engine.fetchIDs(plan) }
  final func count(_ plan: FetchPlan) throws -> Int { try engine.count(plan) }
  final func check(_ plan: FetchPlan) throws { try engine.check(plan) }
  final func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows { try engine.fetch(plan) }
  final func explain(_ plan: FetchPlan) throws -> ExplainedStatement? { try engine.explain(plan) }
  final func explain(_ plan: ProjectionPlan) throws -> ExplainedStatement? { try engine.explain(plan) }
  final func queryPlan(of plan: FetchPlan, indexing slots: [IndexedSlot]) throws -> [String]? {
    try engine.queryPlan(of: plan, indexing: slots)
  }
  final var supportsSQL: Bool { engine.supportsSQL }

  final func rawRows(_ sql: String, _ values: [PredicateValue]) throws -> [[String: PredicateValue]] {
    try engine.rawRows(sql, values)
  }

  final func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]] {
    try engine.members(of: layout, slot: slot, owners: owners)
  }

  final func members(of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [RowID]) throws
    -> [RowID]
  {
    try engine.members(of: layout, slot: slot, owner: owner, among: candidates)
  }

  final func member(
    of layout: EntityLayout, slot: Int, owner: RowID, after member: RowID, leftOut: Set<RowID>
  ) throws -> RowID? {
    try engine.member(of: layout, slot: slot, owner: owner, after: member, leftOut: leftOut)
  }

  final func allocateKeys(for root: EntityLayout, count: Int) throws -> Int64 {
    try engine.allocateKeys(for: root, count: count)
  }

  final var hasOneKeySequence: Bool { engine.hasOneKeySequence }

  final func save(_ plan: consuming SavePlan) throws -> SaveOutcome { try engine.save(plan) }
  final func checkWritable() throws { try engine.checkWritable() }

  final func execute(_ plan: BatchPlan) throws -> BatchOutcome {
    defer { noteChanges() }
    return try engine.execute(plan)
  }

  // MARK: Files

  override class var keepsFiles: Bool { kind.keepsFiles }
  override class func isSamePlace(_ one: URL, _ other: URL) -> Bool { kind.isSamePlace(one, other) }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try metadata(at: url, options: StoreOpeningOptions())
  }

  override class func metadata(at url: URL, options: StoreOpeningOptions) throws -> [String: Any] {
    // The base class's implementation, not the one with options, which would call this method again.
    guard kind.keepsFiles else { return try super.metadataForPersistentStore(with: url) }
    return try withCocoaErrors(url) {
      var options: StoreOpeningOptions = options
      options.countsRows = false
      let file: StoreInspection = try kind.inspect(url, options: options)
      var metadata: [String: Any] = file.metadata
      if let structures = file.versions?.structures, !structures.isEmpty {
        metadata[EntityVersions.structuresKey] = structures
      }
      return metadata
    }
  }

  override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    try setMetadata(metadata, at: url, options: StoreOpeningOptions())
  }

  override class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: StoreOpeningOptions)
    throws
  {
    // The base class's implementation, not the one with options, which would call this method again.
    guard kind.keepsFiles else { return try super.setMetadata(metadata, forPersistentStoreAt: url) }
    try withCocoaErrors(url) { try kind.setMetadata(metadata ?? [:], at: url, options: options) }
  }

  override class func destroy(at url: URL, type: String, options: StoreOpeningOptions) throws {
    try kind.destroy(at: url, options: options)
  }

  override class func replace(at url: URL, with source: URL, type: String, options: StoreOpeningOptions)
    throws
  {
    guard kind.keepsFiles else {
      throw GraphError.unsupported(
        "Replacing a store of type \(type)", advice: "It has no file; only SQLite stores can be copied so.")
    }
    try kind.replace(at: url, with: source, options: options)
  }
}

/// Stores in SQLite files.
final class SQLiteStore: EngineStore, @unchecked Sendable {
  override class var kind: any StoreEngineKind { SQLiteKind() }
}

/// Stores in Apple's XML documents.
final class XMLStore: EngineStore, @unchecked Sendable {
  override class var kind: any StoreEngineKind { AtomicKind.xml }
}

/// Stores in Apple's binary files.
final class BinaryStore: EngineStore, @unchecked Sendable {
  override class var kind: any StoreEngineKind { AtomicKind.binary }
}

/// Stores in memory.
final class InMemoryStore: EngineStore, @unchecked Sendable {
  override class var kind: any StoreEngineKind { InMemoryKind() }
}
