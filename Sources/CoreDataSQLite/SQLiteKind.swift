import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation

/// The kind of stores in SQLite files, in Apple's layout.
package struct SQLiteKind: StoreEngineKind {
  package let type: String = "SQLite"
  package let keepsFiles: Bool = true

  package init() {}

  package var fileEndings: [String] { ["sqlite", "sqlite3", "db"] }
  package func recognizes(_ head: Data) -> Bool { StoreFileState.isBeginning(head) }
  package func namesNoFile(_ url: URL) -> Bool { SQLiteStoreFile.namesNoFile(url) }

  package func open(at url: URL?, layout: ModelLayout, options: StoreOpeningOptions) throws -> any StoreEngine
  {
    // The engine throws an error for a URL that names no file.
    let place: URL = url ?? URL(fileURLWithPath: "/dev/null")
    return try SQLiteEngine.open(url: place, layout: layout, options: SQLiteOptions(options))
  }

  package func inspect(_ url: URL, options: StoreOpeningOptions) throws -> StoreInspection {
    try SQLiteStoreFile.inspect(
      url: try file(url), busyTimeoutInSeconds: SQLiteOptions(options).busyTimeoutInSeconds,
      salvages: options.salvages, countsRows: options.countsRows
    ).inspection
  }

  package func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOpeningOptions) throws {
    try StoreMetadata.set(metadata, at: try file(url), options: SQLiteOptions(options))
  }

  package func destroy(at url: URL, options: StoreOpeningOptions) throws {
    try exchange(at: url, options).destroy()
  }

  /// Where there is no file the copy appears when it is complete: one that a killed process had left empty
  /// would be a new store for the next one.
  package func replace(at url: URL, with source: URL, options: StoreOpeningOptions) throws {
    let source: URL = try file(source)
    let place: StoreExchange = try exchange(at: url, options)
    guard !SQLiteStoreFile.namesNoFile(url), !url.isTaken else { return try place.replace(with: source) }
    _ = try place.requireVacancy()
    try StoreCreation.requireFolder(of: url)
    let staged = try StagedStore(at: url)
    defer { staged.discard() }
    try staged.naming { try exchange(at: staged.temporary, options).replace(with: source) }
    do {
      try staged.publish()
    } catch {
      // Another process was faster.
      guard url.isTaken else { throw error }
      try place.replace(with: source)
    }
  }

  package func beginReplacement(at url: URL, options: StoreOpeningOptions) throws -> any StoreReplacement {
    try SQLiteReplacement(try file(url), SQLiteOptions(options))
  }

  package func drift(at url: URL, layout: ModelLayout, options: StoreOpeningOptions) throws -> [StoreDrift] {
    let url: URL = try file(url)
    let access = ReadOnlyAccess(
      url: url, configuration: try Connections.configuration(SQLiteOptions(options), url: url),
      salvages: options.salvages)
    defer { try? access.close() }
    return try access.read { database in
      let facts: MigrationFacts = try .read(database, url: url, readsRows: false)
      let names: [String: Data]
      do {
        names = try StoreMetadata.read(database, url: url).hashes
      } catch  where options.salvages {
        names = [:]
      }
      return SchemaDrift(
        try StoreSchema(
          layout: layout, database: facts.database, entities: names.isEmpty ? nil : Set(names.keys)),
        facts
      ).differences()
    }
  }

  package func misfits(
    of layout: ModelLayout, entities: Set<String>, at url: URL, options: StoreOpeningOptions
  ) throws -> [String]? {
    let url: URL = try file(url)
    let access = ReadOnlyAccess(
      url: url, configuration: try Connections.configuration(SQLiteOptions(options), url: url),
      salvages: options.salvages)
    defer { try? access.close() }
    return try access.read { try TableFit($0, url: url).misfits(of: layout, entities: entities) }
  }

  package func migrationPlan(at url: URL, plan: SchemaPlan, options: StoreOpeningOptions) throws
    -> PlannedMigration
  {
    try StoreMigration(plan, at: try file(url), options: SQLiteOptions(options))
      .planned(counting: options.countsRows)
  }

  package func valueFiles(of url: URL) -> [String: Int64] { ExternalData.files(of: url.followingLinks) }

  package func migrate(
    at url: URL, plan: SchemaPlan, options: StoreOpeningOptions, verification: MigrationVerification,
    progress: (MigrationProgress) throws -> Void
  ) throws -> MigrationReport {
    try StoreMigration(plan, at: try file(url), options: SQLiteOptions(options))
      .run(verification, progress: progress)
  }

  private func exchange(at url: URL, _ options: StoreOpeningOptions) throws -> StoreExchange {
    StoreExchange(url: try file(url), options: SQLiteOptions(options), isForced: options.isForced)
  }

  private func file(_ url: URL) throws -> URL {
    if url.isFileURL { return url }
    throw StoreError.invalidFile(url: url, reason: "A SQLite store needs a file URL.")
  }

  /// Copies a SQLite file to a new one page by page, with all that is in it (Decisions/0049), except for what
  /// R-trees lack.
  ///
  /// A new file appears at its place when it is complete, so that a process that is killed leaves no store
  /// that has none of the objects. An empty file that is there already is filled where it is.
  package func makeStore(
    at url: URL, layout: ModelLayout, options: StoreOpeningOptions, copying source: (any StoreEngine)?,
    transfer: (any StoreEngine) throws -> Void
  ) throws -> any StoreEngine {
    if SQLiteStoreFile.namesNoFile(url) {
      return try filled(try open(at: url, layout: layout, options: options), by: transfer)
    }
    let place: StoreExchange = try exchange(at: url, options)
    let wasThere: Bool = try place.requireVacancy()
    if url.isTaken {
      return try make(place, at: url, wasThere: wasThere, layout, options, source, transfer)
    }
    try StoreCreation.requireFolder(of: url)
    let staged = try StagedStore(at: url)
    defer { staged.discard() }
    try staged.naming {
      let hidden: StoreExchange = try exchange(at: staged.temporary, options)
      try make(hidden, at: staged.temporary, wasThere: false, layout, options, source, transfer).close()
    }
    let names: [String] = try staged.publish()
    do {
      return try open(at: url, layout: layout, options: options)
    } catch {
      staged.withdraw(names)
      throw error
    }
  }

  private func make(
    _ place: StoreExchange, at url: URL, wasThere: Bool, _ layout: ModelLayout,
    _ options: StoreOpeningOptions,
    _ source: (any StoreEngine)?, _ transfer: (any StoreEngine) throws -> Void
  ) throws -> any StoreEngine {
    var identifier: String?
    do {
      guard let source = source as? SQLiteEngine, let file = source.copyableFile else {
        let target: any StoreEngine = try open(at: url, layout: layout, options: options)
        identifier = target.identifier
        return try filled(target, by: transfer)
      }
      let made: String = UUID().uuidString
      var metadata: [String: Any] = source.metadata
      metadata[StoreMetadata.Key.uuid] = nil
      try place.replace(with: file, as: StoreExchange.Identity(uuid: made, metadata: metadata))
      identifier = made
      return try filled(try open(at: url, layout: layout, options: options)) {
        try ($0 as? SQLiteEngine)?.renewStaleTrees()
      }
    } catch {
      place.withdraw(identifier, leavingFile: wasThere)
      throw error
    }
  }
}

extension SQLiteEngine {
  /// The file, if another store may hold all that is in it. That excludes persistent history: a store that
  /// keeps it can't be written (Decisions/0036). It excludes damaged R-trees too, which SQLite can't remove.
  fileprivate var copyableFile: URL? {
    hasHistory || SQLiteStoreFile.namesNoFile(url) || hasDamagedTree ? nil : url
  }

  private var hasDamagedTree: Bool { schema.trees.contains { (try? rowsMissing(in: $0)) == nil } }

  /// A copy of pages has what the trees of its source have.
  fileprivate func renewStaleTrees() throws {
    for tree in schema.trees where try !rowsMissing(in: tree).isEmpty {
      try writing { database in
        for sql in tree.renewal { try RawStatement(database, sql, url: url).run() }
      }
    }
  }

  /// Other processes may be writing to the file: a store that can't keep an earlier state is read from a
  /// copy.
  package func withOneState(_ body: (any StoreEngine) throws -> Void) throws {
    if let state = try snapshot() {
      defer { try? state.close() }
      return try body(state)
    }
    guard !SQLiteStoreFile.namesNoFile(url) else { return try body(self) }
    let folder: OwnedFolder
    do {
      folder = try OwnedFolder(in: FileManager.default.temporaryDirectory, prefix: "clarus-migrate")
    } catch let error as POSIXError {
      throw StoreError.file(
        url: url,
        operation:
          "copying it to \(FileManager.default.temporaryDirectory.path), from where it is to be read, (TMPDIR names another folder)",
        code: error.code.rawValue)
    }
    defer { folder.remove() }
    let copy: URL = folder.url.appendingPathComponent("store.sqlite")
    do {
      try StoreExchange(url: copy, options: options).replace(with: url)
    } catch StoreError.database(let code, let message, let sql, _) {
      throw StoreError.database(
        code: code,
        message: "\(message), while a copy of the store was made in "
          + "\(FileManager.default.temporaryDirectory.path) to read it from. Set TMPDIR to a folder with room for it.",
        sql: sql, url: url)
    } catch let error as StoreError {
      throw error.renaming { $0.replacingOccurrences(of: copy.path, with: url.path) }
    }
    var reading = SQLiteOptions(isReadOnly: true)
    reading.entityNames = options.entityNames
    let engine: SQLiteEngine = try SQLiteEngine.open(url: copy, layout: layout, options: reading)
    defer { try? engine.close() }
    do {
      try body(engine)
    } catch let error as StoreError {
      throw error.renaming { $0.replacingOccurrences(of: copy.path, with: url.path) }
    }
  }
}

extension SQLiteStoreFile {
  var inspection: StoreInspection {
    var made = StoreInspection(type: "SQLite", uuid: uuid, metadata: metadata)
    made.versions = versions
    made.metadataProblem = metadataProblem
    made.model = model
    made.modelProblem = modelProblem
    made.shortage = state.shortage
    made.frameworkVersion = frameworkVersion
    made.hasHistory = hasHistory
    made.entities = entities
    let log: [FileAttributeKey: Any]? =
      state.isWALMode ? try? FileManager.default.attributesOfItem(atPath: url.path + "-wal") : nil
    made.journal = StoreJournal(
      isWriteAheadLog: state.isWALMode, hasInterruptedSave: state.hasHotJournal,
      pendingBytes: (log?[.size] as? NSNumber)?.int64Value ?? 0)
    made.externalByteCount = ExternalData.files(of: URL(fileURLWithPath: state.path)).values.reduce(0, +)
    made.byteCount = state.sizeInBytes + (state.wal?.size ?? 0) + made.externalByteCount
    made.otherProcess = OtherUsers.process(of: state.path)
    return made
  }
}
