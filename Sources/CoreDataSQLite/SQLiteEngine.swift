import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// A SQLite store in Apple's layout.
///
/// Writable stores in WAL mode are read by several threads at once while one writes (`ConnectionPool`);
/// writable stores in another journal mode are used by one thread at a time; read-only stores are read
/// through `ReadOnlyAccess`, which has no side effects on disk.
///
///     fetch   FetchPlan ─ compile ─▸ SQL ─ step ─▸ RowReader ─▸ slabs ─ resolve open targets ─▸ RowBatch
///     save    SavePlan ─ BEGIN IMMEDIATE ─▸ keys ─▸ SaveExecution (deletes, updates, inserts, to-many) ─▸ COMMIT
package final class SQLiteEngine: StoreEngine, @unchecked Sendable {
  // Sendable: `access`, `pins` and `metadataState` are guarded by `lock`; everything else is immutable.

  package let url: URL
  package let layout: ModelLayout
  package let schema: StoreSchema
  package let identifier: String
  package let readOnlyReason: ReadOnlyReason?
  /// Whether the file keeps persistent history of Apple's framework, which Clarus can't extend
  /// (Decisions/0036).
  package let hasHistory: Bool

  let options: SQLiteOptions
  let external: ExternalData
  let texts: EngineStatements
  let fetchCompiler: FetchCompiler
  let statements: StatementCache
  let memberStatements: MemberStatements
  let saveCompiler: SaveCompiler
  private let lock = NSLock()
  private var access: Access?
  private var metadataState: MetadataState
  private let contents: OwnContents
  /// Tables that can't be read, or some of whose pages can't, in a store that was opened to salvage.
  let damaged: [DamagedTable]
  /// Properties that have no place in such a store.
  let missing: [MissingProperty]
  /// The entities that were matched by structure, not by hash: ``metadata`` adds them to the file's.
  private let structures: [String: Data]
  /// The readers of earlier states, which are closed with the store.
  private var pins: [Pin] = []

  enum Access {
    case writable(ConnectionPool)
    case readOnly(ReadOnlyAccess)
    /// One state of the store, by a read transaction that stays open (Decisions/0026).
    case snapshot(SnapshotConnection)
  }

  private struct Pin {
    weak var engine: SQLiteEngine?
  }

  private struct MetadataState {
    var current: StoreMetadata
    /// How often the metadata was set, and how many of these changes a save has written.
    var changes: Int = 0
    var written: Int = 0

    init(_ metadata: StoreMetadata) {
      current = metadata
    }

    var isChanged: Bool { changes != written }

    mutating func set(_ values: [String: Any]) {
      current = current.replacing(with: values)
      changes += 1
    }

    /// A save has written the metadata that was set before it; it may have been set again meanwhile.
    mutating func noteWritten(_ count: Int) { written = max(written, count) }
  }

  // MARK: Opening

  /// Opens a store, or creates it if there is none (see `SQLiteOptions.createsIfMissing`).
  ///
  /// Throws `StoreError`: `.invalidFile` for anything that is no Core Data SQLite store, `.incompatibleModel`
  /// if the store was written with another model, `.unsupportedModel` for a model that a fresh store can't
  /// hold. A file the process may not write is opened read-only. The URL of `/dev/null`, or one below it,
  /// makes a store in memory.
  ///
  /// Opening changes nothing about a file, unless a pragma requests another journal mode or a crashed
  /// writer's journal has to be rolled back. Fresh stores have a write-ahead log.
  package static func open(
    url: URL, layout: ModelLayout, options: SQLiteOptions = SQLiteOptions()
  ) throws -> SQLiteEngine {
    guard url.isFileURL else {
      throw StoreError.invalidFile(url: url, reason: "A SQLite store needs a file URL.")
    }
    try layout.checkNames()
    let configuration: Configuration = try Connections.configuration(options, url: url)
    if SQLiteStoreFile.namesNoFile(url) { return try openInMemory(url, layout, options, configuration) }
    var state = StoreFileState(url: url)
    if let objection = state.placeObjection { throw StoreError.invalidFile(url: url, reason: objection) }
    if options.createsIfMissing, !options.isReadOnly, state.file == nil || isWritable(url) {
      if try StoreCreation.isVacant(state, configuration: configuration) {
        try StoreCreation.create(url, layout: layout, options: options, configuration: configuration)
      }
      state = StoreFileState(url: url)
    }
    if let objection = state.objection { throw StoreError.invalidFile(url: url, reason: objection) }
    if state.isBlank {
      throw StoreError.invalidFile(url: url, reason: "The file is empty; nothing was ever saved to it.")
    }
    if !options.salvages, !options.examines { try state.requireWhole() }
    if options.isReadOnly { return try openToRead(url, layout, options, configuration, .requested) }
    if !isWritable(url) { return try openToRead(url, layout, options, configuration, .permission) }
    if let engine = try openToWrite(state, layout, options, configuration) { return engine }
    HistoryWarning.readOnly(url)
    return try openToRead(url, layout, options, configuration, .history)
  }

  private static func openToRead(
    _ url: URL, _ layout: ModelLayout, _ options: SQLiteOptions, _ configuration: Configuration,
    _ reason: ReadOnlyReason
  ) throws -> SQLiteEngine {
    let reader = ReadOnlyAccess(url: url, configuration: configuration, salvages: options.salvages)
    do {
      var facts: Facts = try reader.read { try Facts.read($0, url: url, layout: layout, options: options) }
      // The rest of a damaged file can't show whose contents they are.
      if !options.salvages { reader.contents = facts.contents }
      if options.salvages { facts.damaged += try reader.rescueTables(facts.schema) }
      return try SQLiteEngine(
        url: url, layout: layout, options: options, facts: facts, access: .readOnly(reader), reason)
    } catch {
      try? reader.close()
      throw error
    }
  }

  /// nil for a store that keeps persistent history although the program does not request it.
  private static func openToWrite(
    _ state: StoreFileState, _ layout: ModelLayout, _ options: SQLiteOptions, _ configuration: Configuration
  ) throws -> SQLiteEngine? {
    let url: URL = state.url
    let leftovers = LogLeftovers(beside: state)
    return try SQLiteErrors.translating(url: url) {
      let queue: DatabaseQueue
      do {
        queue = try DatabaseQueue(path: url.path, configuration: configuration)
      } catch {
        leftovers.remove()
        throw error
      }
      do {
        // Checks whether the file fits before changing anything about it.
        let facts: Facts = try queue.read { try Facts.read($0, url: url, layout: layout, options: options) }
        if facts.hasHistory {
          if options.tracksHistory { throw StoreError.historyKept(url: url) }
          try queue.close()
          return nil
        }
        if options.tracksHistory { HistoryWarning.untracked(url) }
        if let mode = try Connections.journalMode(options) {
          try Connections.setJournalMode(mode, options, on: queue)
        }
        let hasLog: Bool = try Connections.prepareLog(options, on: queue)
        try Connections.maintain(options, on: queue)
        let pool = try ConnectionPool(
          queue, url: url, contents: facts.contents, readers: hasLog ? configuration : nil)
        try guardTrees(facts.guardedTrees, queue)
        let engine = try SQLiteEngine(
          url: url, layout: layout, options: options, facts: facts, access: .writable(pool))
        ExternalLeftovers.collect(engine.external, options) { try pool.writeWithoutTransaction($0) }
        return engine
      } catch {
        try? queue.close()
        throw error
      }
    }
  }

  /// R-trees whose triggers are missing in the file get temporary triggers of the connection, for as long as
  /// the store is open.
  private static func guardTrees(_ trees: [RTree], _ writer: DatabaseQueue) throws {
    if trees.isEmpty { return }
    try writer.writeWithoutTransaction { database in
      for sql in trees.flatMap({ $0.triggers(isTemporary: true) }) { try database.execute(sql: sql) }
    }
  }

  /// Whether this process may write the file and create its companions.
  private static func isWritable(_ url: URL) -> Bool {
    FileManager.default.isWritableFile(atPath: url.path)
      && FileManager.default.isWritableFile(atPath: url.deletingLastPathComponent().path)
  }

  private static func openInMemory(
    _ url: URL, _ layout: ModelLayout, _ options: SQLiteOptions, _ configuration: Configuration
  ) throws -> SQLiteEngine {
    if options.isReadOnly {
      throw StoreError.invalidFile(
        url: url, reason: "A store without a file begins empty, so there is nothing to read.")
    }
    let contents = try StoreCreation.Contents(layout: layout, options: options)
    return try SQLiteErrors.translating(url: url) {
      if options.tracksHistory { HistoryWarning.untracked(url) }
      let queue = try DatabaseQueue(configuration: configuration)
      try StoreCreation.fill(queue, contents, url: url)
      let facts: Facts = try queue.read { try Facts.read($0, url: url, layout: layout, options: options) }
      return try SQLiteEngine(
        url: url, layout: layout, options: options, facts: facts,
        access: .writable(ConnectionPool(inMemory: queue)))
    }
  }

  /// What opening reads from the file.
  private struct Facts {
    var contents: OwnContents
    var metadata: StoreMetadata
    var schema: StoreSchema
    var hasHistory: Bool
    /// R-trees that no trigger of the file updates: those that triggers of the connection can update, and the
    /// others.
    var guardedTrees: [RTree]
    var unguardedTrees: [String]
    var triggers: Set<String>
    /// Of a store that is opened to salvage.
    var damaged: [DamagedTable]
    var missing: [MissingProperty]

    static func read(
      _ database: Database, url: URL, layout: ModelLayout, options: SQLiteOptions
    ) throws -> Facts {
      let known: StoreMetadata? =
        options.salvages
        ? try? StoreMetadata.read(database, url: url) : try StoreMetadata.read(database, url: url)
      let metadata: StoreMetadata =
        known ?? .fresh(type: SQLiteKind().type, model: layout.model, entityNames: options.entityNames)
      if options.checksModel {
        try ModelCheck.check(
          metadata, layout: layout, entityNames: options.entityNames, url: url, acceptsUnknown: true
        ) {
          try? ModelCache.read(database, url: url)
        }
      }
      let inventory: StoreInventory = try StoreInventory.read(
        database, url: url, numbering: options.salvages ? layout : nil)
      var readable: ReadableSchema =
        options.salvages
        ? try inventory.readableSchema(
          of: layout, entities: options.entityNames, hashes: known?.hashes ?? [:])
        : ReadableSchema(
          schema: try StoreSchema(
            layout: layout, database: inventory.database, entities: options.entityNames))
      let schema: StoreSchema = readable.schema
      // A damaged file's table of rows tells more than its indexes.
      if !options.salvages {
        readable.schema.trees = inventory.guardedTrees.compactMap {
          RTree($0.tree, schema: schema, database: inventory.database, watch: $0.watch)
        }
      }
      var facts = Facts(
        contents: try OwnContents(database, uuid: metadata.uuid, url: url), metadata: metadata,
        schema: readable.schema, hasHistory: inventory.hasHistory, guardedTrees: [],
        unguardedTrees: [], triggers: inventory.triggers, damaged: readable.lost, missing: readable.missing)
      for tree in inventory.unguardedTrees {
        if let known = RTree(tree, schema: schema, database: inventory.database) {
          facts.guardedTrees.append(known)
        } else {
          facts.unguardedTrees.append(tree.name)
        }
      }
      return facts
    }
  }

  private init(
    url: URL, layout: ModelLayout, options: SQLiteOptions, facts: Facts, access: Access,
    _ readOnlyReason: ReadOnlyReason? = nil
  ) throws {
    self.readOnlyReason = readOnlyReason
    self.url = url
    self.layout = layout
    self.options = options
    self.access = access
    contents = facts.contents
    damaged = facts.damaged
    missing = facts.missing
    schema = facts.schema
    identifier = facts.metadata.uuid
    hasHistory = facts.hasHistory
    metadataState = MetadataState(facts.metadata)
    structures = options.checksModel ? ModelCheck.structures(facts.metadata, layout: layout) : [:]
    external = ExternalData(
      store: url, missing: options.missingExternalData, keepsFiles: !SQLiteStoreFile.namesNoFile(url))
    let compiler = FetchCompiler(schema: facts.schema)
    fetchCompiler = compiler
    memberStatements = MemberStatements(compiler)
    statements = StatementCache(compiler, limit: options.statementLimit) { [external] plan in
      RowReader(
        schema: compiler.schema, columns: compiler.rowColumns(plan), layout: plan.entity, external: external,
        looksTargetsUp: options.looksTargetsUp)
    }
    saveCompiler = SaveCompiler(schema: facts.schema)
    texts = EngineStatements(
      schema: facts.schema, unguardedTrees: facts.unguardedTrees, triggers: facts.triggers)
  }

  /// The same store, at the state that a connection reads.
  private init(_ engine: SQLiteEngine, at state: SnapshotConnection) {
    url = engine.url
    layout = engine.layout
    options = engine.options
    contents = engine.contents
    schema = engine.schema
    identifier = engine.identifier
    hasHistory = engine.hasHistory
    metadataState = MetadataState(engine.lock.withLock { engine.metadataState.current })
    structures = engine.structures
    external = engine.external
    fetchCompiler = engine.fetchCompiler
    statements = engine.statements
    memberStatements = engine.memberStatements
    saveCompiler = engine.saveCompiler
    texts = engine.texts
    access = .snapshot(state)
    readOnlyReason = .requested
    damaged = []
    missing = []
  }

  deinit { try? close() }

  // MARK: Metadata

  package var metadata: [String: Any] {
    var result: [String: Any] = lock.withLock { metadataState.current.published }
    if !structures.isEmpty { result[EntityVersions.structuresKey] = structures }
    return result
  }

  package func setMetadata(_ metadata: [String: Any]) throws {
    if let readOnlyReason { throw StoreError.readOnly(url: url, readOnlyReason) }
    _ = try MetadataPlist.write(metadata.filter { $0.key != StoreMetadata.Key.uuid }, url: url)
    try StoreMetadata.checkIdentifier(in: metadata, of: identifier)
    lock.withLock { metadataState.set(metadata) }
  }

  package var hasUnsavedMetadata: Bool { lock.withLock { metadataState.isChanged } }

  // MARK: Reading

  func currentAccess() throws -> Access {
    guard let access = lock.withLock({ access }) else { throw StoreError.closed }
    return access
  }

  /// Reads one state of the store. With `isSingleStatement` there is no transaction around the body, because
  /// one statement always reads one state.
  func read<T>(
    _ purpose: ReadPurpose = .request, isSingleStatement: Bool = false, _ body: (Database) throws -> T
  ) throws -> T {
    if StoreTally.canBeCancelled {
      return try readUncancelled(purpose, isSingleStatement: isSingleStatement) { database in
        try Self.stoppingWhenCancelled(database, body)
      }
    }
    return try readUncancelled(purpose, isSingleStatement: isSingleStatement, body)
  }

  /// Runs a body whose statements end with SQLITE_INTERRUPT when the context no longer wants them.
  private static func stoppingWhenCancelled<T>(_ database: Database, _ body: (Database) throws -> T) throws
    -> T
  {
    let connection: OpaquePointer? = database.sqliteConnection
    sqlite3_progress_handler(connection, 10_000, { _ in StoreTally.wasCancelled ? 1 : 0 }, nil)
    defer { sqlite3_progress_handler(connection, 0, nil, nil) }
    return try body(database)
  }

  private func readUncancelled<T>(
    _ purpose: ReadPurpose, isSingleStatement: Bool, _ body: (Database) throws -> T
  ) throws -> T {
    switch try currentAccess() {
    case .readOnly(let reader): return try reader.read(purpose, body)
    case .snapshot(let state): return try SQLiteErrors.translating(url: url) { try state.read(purpose, body) }
    case .writable(let pool):
      return try explainingChangedContents(of: pool) {
        try pool.read(purpose, isSingleStatement: isSingleStatement, body)
      }
    }
  }

  /// Runs a read and translates its errors. For a destroyed store the error would only report that a table is
  /// missing: then throws `StoreError.fileChanged`.
  func explainingChangedContents<T>(of pool: ConnectionPool, _ body: () throws -> T) throws -> T {
    do {
      return try SQLiteErrors.translating(url: url, body)
    } catch {
      do {
        try pool.requireOwnContents()
      } catch StoreError.fileChanged(let url, let path) {
        throw StoreError.fileChanged(url: url, path: path)
      } catch {}
      throw error
    }
  }

  /// A read for accessors, which can't throw: if the contents were exchanged, all rows are gone.
  func readForFault<T>(
    isSingleStatement: Bool, orGone nothing: @autoclosure () -> T, _ body: (Database) throws -> T
  ) throws -> T {
    do {
      return try read(.fault, isSingleStatement: isSingleStatement, body)
    } catch StoreError.fileChanged {
      return nothing()
    }
  }

  /// Only write-ahead logging keeps earlier states while others write.
  package func snapshot() throws -> (any StoreEngine)? {
    guard case .writable(let pool) = try currentAccess(),
      let state = try SQLiteErrors.translating(url: url, { try pool.snapshot() })
    else { return nil }
    let engine = SQLiteEngine(self, at: state)
    let isOpen: Bool = lock.withLock {
      pins.removeAll { $0.engine == nil }
      if access != nil { pins.append(Pin(engine: engine)) }
      return access != nil
    }
    if !isOpen {
      // The store was closed while the snapshot was taken: close the snapshot as well.
      try engine.close()
      _ = try currentAccess()
    }
    return engine
  }

  package func close() throws {
    let (old, pins): (Access?, [Pin]) = lock.withLock {
      defer { (access, self.pins) = (nil, []) }
      return (access, self.pins)
    }
    for pin in pins { try pin.engine?.close() }
    switch old {
    // Its connection is closed when the last read is done.
    case .snapshot: break
    case .readOnly(let reader): try reader.close()
    case .writable(let writer): try SQLiteErrors.translating(url: url) { try writer.close() }
    case nil: break
    }
  }

  // MARK: Saving

  package func save(_ plan: consuming SavePlan) throws -> SaveOutcome {
    var plan: SavePlan = plan
    let keys: NewKeys
    do {
      keys = try execute(&plan, deletesTogether: true)
    } catch is SaveExecution.RowsMissing {
      keys = try execute(&plan, deletesTogether: false)
    }
    return SaveOutcome(written: plan, keys: keys)
  }

  /// Executes a plan in one transaction. A plan that has thrown `SaveExecution.RowsMissing` is as it was.
  private func execute(_ plan: inout SavePlan, deletesTogether: Bool) throws -> NewKeys {
    let files = ExternalDataChanges(external: external)
    var isComplete = false
    do {
      var metadata: (value: StoreMetadata, count: Int)?
      let keys: NewKeys = try writing { database in
        metadata = lock.withLock {
          metadataState.isChanged ? (metadataState.current, metadataState.changes) : nil
        }
        var execution = SaveExecution(
          engine: self, database: database, files: files, deletesTogether: deletesTogether)
        // Before rows are deleted, so that the key of none of them is given again where the counter lags
        // behind the keys in use, and a refusal comes before any work.
        let keys: NewKeys = try KeyAllocation(engine: self, database: database).keys(for: plan)
        if !plan.isEmpty {
          try execution.runDeletes(plan)
          plan.assignKeys(keys, of: layout)
          try execution.runWrites(plan)
        }
        if let metadata {
          contents.accept(metadata.value.uuid)
          try metadata.value.write(database, url: url)
        }
        if options.rehearsesSaves { throw SaveRehearsed() }
        isComplete = true
        return keys
      }
      if let metadata { lock.withLock { metadataState.noteWritten(metadata.count) } }
      files.finish()
      return keys
    } catch {
      // The log may have all of a transaction whose commit has failed, and recovering the file then commits
      // it: the next opening knows which files are needed.
      if !isComplete { files.undo() }
      throw error
    }
  }

  package var fileURL: URL? { url }

  package func checkWritable() throws { try writing { _ in } }

  package func allocateKeys(for entity: EntityLayout, count: Int) throws -> Int64 {
    try writing { database in
      try KeyAllocation(engine: self, database: database).allocate(root: entity.rootIndex, count: count)
    }
  }

  /// Runs `body` in a transaction that holds the write lock from its beginning; an error thrown by `body`
  /// rolls it back.
  func writing<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let writer: ConnectionPool = try writableAccess()
    return try SQLiteErrors.translating(url: url) { try writer.writeInTransaction(body) }
  }

  private func writableAccess() throws -> ConnectionPool {
    switch try currentAccess() {
    case .writable(let writer): return writer
    case .readOnly, .snapshot: throw StoreError.readOnly(url: url, readOnlyReason ?? .requested)
    }
  }
}

/// Primary keys of a hierarchy, from the single counter in its root's row of Apple's table of entities.
private struct KeyAllocation {
  let engine: SQLiteEngine
  let database: Database

  func keys(for plan: borrowing SavePlan) throws -> NewKeys {
    try NewKeys(for: plan) { root, count in try allocate(root: root, count: count) }
  }

  /// The first of `count` consecutive keys.
  func allocate(root: Int, count: Int) throws -> Int64 {
    let table: TableSchema = try engine.schema.table(of: root)
    guard count > 0, let position = engine.schema.tablePosition[root] else { return 1 }
    // The highest key in use counts too: a counter that lags behind, in a repaired file, must not lead to
    // overwritten rows.
    let select = try RawStatement(
      database, engine.texts.locks[position].highestKey, url: engine.url)
    defer { select.reset() }
    try select.bind(1, Int64(engine.schema.entityNumber(of: root)))
    guard try select.step() else {
      throw StoreError.invalidFile(
        url: engine.url,
        reason:
          "\(AppleBookkeeping.entities) lost its row for entity '\(engine.layout.entities[root].name)', so no key can be given out."
      )
    }
    let highest: Int64 = max(0, select.integer(0))
    let (last, overflow) = highest.addingReportingOverflow(Int64(count))
    guard !overflow else {
      throw StoreError.invalidFile(
        url: engine.url, reason: "Table \(table.name) has used up all 64-bit keys.")
    }
    let update = try RawStatement(database, AppleBookkeeping.writeHighestKey, url: engine.url)
    try update.bind(1, last)
    try update.bind(2, Int64(engine.schema.entityNumber(of: root)))
    try update.run()
    return highest + 1
  }
}
