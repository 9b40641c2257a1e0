import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Replaces all contents of a store file by nothing, or by those of another store (Decisions/0048).
///
/// SQLite's backup writes the database over in place: one transaction, under SQLite's own locks, whatever
/// other connections have it open. If the process is killed, the file has either the old or the new contents.
/// Files of large values are added before that transaction and removed after it; meanwhile a note names them
/// (`ExternalNote`), so that the next opening of the store removes those of a process that died.
package struct StoreExchange {
  package let url: URL
  private let options: SQLiteOptions
  /// `NSPersistentStoreForceDestroyOption`.
  private let isForced: Bool
  private let external: ExternalData
  /// The connection that is open since a moment after which nobody may have saved; nil: any contents are
  /// replaced.
  private let unchanged: UnchangedStore?

  package init(url: URL, options: SQLiteOptions, isForced: Bool = false) {
    self.init(url: url, options: options, isForced: isForced, unchanged: nil)
  }

  init(url: URL, options: SQLiteOptions, isForced: Bool = false, unchanged: UnchangedStore?) {
    self.url = url
    self.options = options
    self.isForced = isForced
    self.unchanged = unchanged
    external = ExternalData(store: url, missing: .isNil)
  }

  // MARK: Destroying

  /// Empties the store; its file stays as a database without a table, which counts as no store. If there is
  /// no file in an existing folder, one is created. Throws for a file that is no store of this kind.
  package func destroy() throws {
    if SQLiteStoreFile.namesNoFile(url) { return }
    let state = StoreFileState(url: url)
    if let objection = state.placeObjection { throw StoreError.invalidFile(url: url, reason: objection) }
    if !state.exists, FileIdentity(path: external.file.deletingLastPathComponent().path) != nil {
      try makeFile(0o644)
    }
    guard state.sizeInBytes > 0 else { return }
    if let objection = state.objection { throw StoreError.invalidFile(url: url, reason: objection) }
    do {
      try withTarget { target in
        let names: Set<String> = try target.read { try Self.names($0, url: url) }
        let nothing = try DatabaseQueue()
        try nothing.writeWithoutTransaction { empty in
          try empty.execute(sql: "PRAGMA page_size = \(state.pageSizeInBytes)")
          try exchange(target, for: empty, losing: names, gaining: [])
        }
      }
    } catch StoreError.inUse where isForced {
      try unlinkEverything()
    } catch StoreError.invalidFile(_, let reason, .repairing) {
      // A file that can't be read can't be recognised as a store either.
      if isForced { return try unlinkEverything() }
      throw StoreError.invalidFile(url: url, reason: reason, cure: .destroying)
    }
  }

  /// The names of the files that a store's rows refer to; none for a database without tables.
  private static func names(_ database: Database, url: URL) throws -> Set<String> {
    if try StoreCreation.isEmpty(database) { return [] }
    _ = try StoreMetadata.readLeniently(database, url: url)
    return try ExternalLeftovers.referredNames(database, url: url)
  }

  /// Removes the file although other connections have it open; they keep using a file without a name. The
  /// file itself is removed first, because a log without a file does no harm.
  private func unlinkEverything() throws {
    guard unlink(external.file.path) == 0 || errno == ENOENT else {
      let reason: NSError = DurableFile.failure("unlink")
      throw StoreError.database(code: 14, message: reason.localizedDescription, sql: nil, url: url)
    }
    for ending in ["-journal", "-wal", "-shm"] { unlink(external.file.path + ending) }
    ExternalLeftovers.removeAll(of: external)
  }

  // MARK: Replacing

  /// What distinguishes a copy from its source.
  package struct Identity {
    let uuid: String
    /// The program's metadata.
    let metadata: [String: Any]

    package init(uuid: String, metadata: [String: Any]) {
      self.uuid = uuid
      self.metadata = metadata
    }

    fileprivate func write(_ database: Database, url: URL) throws {
      var stored: StoreMetadata = try StoreMetadata.read(database, url: url).replacing(with: metadata)
      stored.uuid = uuid
      try stored.write(database, url: url)
    }
  }

  /// Replaces the contents of this store by those of another one, as they are at one moment; the other store
  /// stays unchanged. If there is no store yet, one is created.
  package func replace(with source: URL, as identity: Identity? = nil) throws {
    for url in [url, source] where SQLiteStoreFile.namesNoFile(url) {
      throw StoreError.invalidFile(
        url: url, reason: "A store there is in memory, so it can be neither copied nor replaced.")
    }
    let state = StoreFileState(url: source)
    if let objection = state.objection { throw StoreError.invalidFile(url: source, reason: objection) }
    if FileIdentity(path: url.path) == state.file?.identity { return }
    let isNew: Bool = try createEmptyFile(like: state)
    do {
      try copy(source, as: identity)
    } catch {
      if isNew { removeIfBlank() }
      throw error
    }
  }

  /// Throws unless a store can be created here and there is none. Returns whether there is a file.
  package func requireVacancy() throws -> Bool {
    let state = StoreFileState(url: url)
    if let objection = state.placeObjection { throw StoreError.invalidFile(url: url, reason: objection) }
    guard try StoreCreation.isVacant(state, configuration: Configuration()) else {
      throw StoreError.invalidFile(
        url: url,
        reason: state.objection ?? "There is a store already; destroy it first, or give another URL.")
    }
    return state.exists
  }

  /// Cleans up after a store could not be created: empties the store if it has that UUID, and removes a file
  /// without contents unless it existed before. Anything else at the place stays.
  package func withdraw(_ identifier: String?, leavingFile wasThere: Bool) {
    if let identifier, (try? SQLiteStoreFile.inspect(url: url).uuid) == identifier { try? destroy() }
    let state = StoreFileState(url: url)
    guard !wasThere, state.file?.kind == .file,
      (try? StoreCreation.isVacant(state, configuration: Configuration())) == true
    else { return }
    unlink(state.path)
  }

  /// Creates an empty file, if there is none, with permissions for others no wider than the source's. Throws
  /// for a file that can't be replaced.
  private func createEmptyFile(like source: StoreFileState) throws -> Bool {
    let state = StoreFileState(url: url)
    if let objection = state.placeObjection { throw StoreError.invalidFile(url: url, reason: objection) }
    if state.exists {
      // Another program's file must not be lost.
      if state.sizeInBytes > 0, let objection = state.objection {
        throw StoreError.invalidFile(url: url, reason: objection)
      }
      return false
    }
    // The copy of a write-protected store is to be written.
    try makeFile((source.file?.mode ?? 0) | S_IRUSR | S_IWUSR)
    return true
  }

  private func makeFile(_ mode: mode_t) throws {
    try StoreCreation.requireFolder(of: url)
    let file: Int32 = open(external.file.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard file >= 0 else {
      let reason: NSError = DurableFile.failure("open")
      throw StoreError.database(code: 14, message: reason.localizedDescription, sql: nil, url: url)
    }
    close(file)
  }

  private func removeIfBlank() {
    if FileStamp(path: external.file.path)?.size == 0 { unlink(external.file.path) }
  }

  private struct Outdated: Error {}

  private func copy(_ source: URL, as identity: Identity?) throws {
    let other = ExternalData(store: source, missing: .isNil)
    var missing: Set<String> = []
    for attempt in 0... {
      do {
        return try StoreSnapshot(of: source, options).read { database in
          _ = try StoreMetadata.read(database, url: source)
          let names: Set<String> = try ExternalLeftovers.referredNames(database, url: source)
          if !names.isEmpty, other.folder == external.folder {
            throw StoreError.invalidFile(
              url: url,
              reason:
                "The files of large values would lie in the same folder (\(external.support.lastPathComponent)) as those "
                + "of \(source.lastPathComponent). Give the copy a name that differs before its ending, or put it elsewhere."
            )
          }
          let gone: Set<String> = names.filter { other.file($0).problem() != nil }
          // A save since the state was taken may have removed them; if not, the store lacks them.
          if gone != missing, attempt < 20 {
            missing = gone
            throw Outdated()
          }
          if !gone.isEmpty { throw try missingValue(gone, in: database, other) }
          try withTarget { target in
            let old: Set<String> = try target.read { try Self.names($0, url: url) }
            try renamed(database, as: identity) { contents in
              try fitted(contents, to: target) { contents in
                try exchange(target, for: contents, losing: old, gaining: names, from: other)
              }
            }
          }
        }
      } catch is Outdated {
        continue
      }
    }
  }

  /// The error for files of values that are not there, or are none. The store's own model tells the
  /// attribute of a column.
  private func missingValue(_ names: Set<String>, in database: Database, _ other: ExternalData) throws
    -> StoreError
  {
    guard let place = try ExternalLeftovers.place(of: names, database, url: other.store) else {
      throw Outdated()
    }
    var property: String = "\(place.table).\(place.column)"
    var row: RowID?
    if let model = try? ModelCache.read(database, url: other.store),
      let inventory = try? StoreInventory.read(database, url: other.store),
      let schema = try? StoreSchema(
        layout: ModelLayout(model: model), database: inventory.database, entities: nil),
      let owner = schema.attribute(ofColumn: place.column, in: place.table)
    {
      property = "\(schema.layout.entities[owner.entity].name).\(owner.name)"
      row = RowID(entity: owner.entity, key: place.key)
    }
    let file: ExternalFile = other.file(place.name)
    let others: String = names.count > 1 ? " So are \(names.count - 1) more." : ""
    let problem: ExternalFile.Problem? = file.problem()
    return other.error(
      for: ExternalFile.Problem(
        path: file.path,
        reason: "\(problem?.reason ?? "There was no such file.")\(others) Nothing was copied.",
        isForbidden: problem?.isForbidden ?? false),
      property: property, row: row)
  }

  /// Runs `body` with the same contents under another identity: a copy in a temporary file of SQLite's
  /// without a name. So the destination never has the source's UUID, not even for a moment.
  private func renamed(
    _ contents: Database, as identity: Identity?, _ body: (Database) throws -> Void
  ) throws {
    guard let identity else { return try body(contents) }
    let copy = try DatabaseQueue(path: "")
    defer { try? copy.close() }
    try copy.writeWithoutTransaction { database in
      try DatabaseBackup(of: contents, over: database, url: url).run {}
      try identity.write(database, url: url)
      try body(database)
    }
  }

  // MARK: Exchange

  private func withTarget(_ body: (DatabaseQueue) throws -> Void) throws {
    do {
      try SQLiteErrors.translating(url: url) {
        if let unchanged { return try body(unchanged.queue) }
        let queue: DatabaseQueue = try Self.connection(url, options)
        defer { try? queue.close() }
        try body(queue)
      }
    } catch StoreError.database(let code, _, _, _) where FileObstacle(databaseCode: code) == .isLocked {
      throw StoreError.inUse(url: url)
    }
  }

  static func connection(_ url: URL, _ options: SQLiteOptions) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .timeout(Connections.busyTimeout(options))
    return try SQLiteErrors.translating(url: url) {
      try DatabaseQueue(path: url.path, configuration: configuration)
    }
  }

  private func exchange(
    _ target: DatabaseQueue, for contents: Database, losing old: Set<String>, gaining new: Set<String>,
    from other: ExternalData? = nil
  ) throws {
    let note = ExternalNote(of: external)
    // Whether the outcome is known. The log may have all of a transaction whose commit has failed (the disk
    // is full, or can't sync), and recovering the file then commits it: the files of both contents stay, and
    // the next opening removes those that it does not need.
    var isDecided = true
    defer { if isDecided { removeUnreferenced(target) } }
    // Without a folder there are no files to lose.
    if FileIdentity(path: external.support.path) != nil {
      for name in old.subtracting(new).sorted() { try noting(name, in: note) }
    }
    try target.writeWithoutTransaction { database in
      let revert: (() throws -> Void)? =
        try StoreCreation.isEmpty(database) ? nil : announce(database)
      do {
        try DatabaseBackup(of: contents, over: database, url: url).run {
          try unchanged?.require(database)
          if let other { try copyValues(new, from: other, note) }
          isDecided = false
        }
        isDecided = true
      } catch {
        // The old contents stay, and the stores that have them open go on. If this fails, they have to be
        // opened anew. If it succeeds, it has taken the failed transaction's place in the log.
        if let revert, (try? revert()) != nil { isDecided = true }
        throw error
      }
    }
  }

  /// Programs that don't look for announcements may still save between this transaction and the exchange's.
  private func announce(_ database: Database) throws -> () throws -> Void {
    let revert = try OwnContents.announceExchange(database, url: url) { try unchanged?.require(database) }
    unchanged?.noteCommit(database)
    return revert
  }

  /// A name that can't be noted would be that of a file which stays for ever.
  private func noting(_ name: String, in note: ExternalNote) throws {
    do { try note.add(name) } catch {
      throw StoreError.file(
        url: url,
        operation:
          "noting the files of large values that go in its folder \(external.support.lastPathComponent)",
        code: DurableFile.code(of: error))
    }
  }

  /// Runs under the write lock, because a connection that holds the lock treats noted files without a
  /// reference as those of a dead process.
  private func copyValues(_ names: Set<String>, from other: ExternalData, _ note: ExternalNote) throws {
    if names.isEmpty { return }
    do {
      try FileManager.default.createDirectory(at: external.folder, withIntermediateDirectories: true)
      for name in names.sorted() {
        let made: String = UUID().uuidString
        for name in [name, made] { try note.add(name) }
        try other.file(name).copy(to: external.file(name), by: external.file(made))
      }
      try DurableFile.synchronize(folder: external.folder)
    } catch let problem as ExternalFile.Problem {
      if FileIdentity(path: problem.path) == nil { throw Outdated() }
      throw other.error(for: problem, property: nil, row: nil)
    } catch {
      throw StoreError.file(
        url: url,
        operation: "copying the files of large values into its folder \(external.support.lastPathComponent)",
        code: DurableFile.code(of: error))
    }
  }

  /// Runs `body` with the same contents in pages of a size that the target accepts: its log has pages of one
  /// size only. They are in a temporary file: SQLite does not change the size of a database without one.
  private func fitted(
    _ contents: Database, to target: DatabaseQueue, _ body: (Database) throws -> Void
  ) throws {
    func size(_ database: Database) throws -> Int? { try Int.fetchOne(database, sql: "PRAGMA page_size") }
    let (mode, own): (String?, Int?) = try target.writeWithoutTransaction {
      (try String.fetchOne($0, sql: "PRAGMA journal_mode"), try size($0))
    }
    guard mode == "wal", let own, own != (try size(contents)) else { return try body(contents) }
    let temporary: URL = FileManager.default.temporaryDirectory
    let folder: OwnedFolder
    do {
      folder = try OwnedFolder(in: temporary, prefix: "clarus-pages")
    } catch let error as POSIXError {
      throw StoreError.file(
        url: url, operation: "copying the new contents to \(temporary.path), (TMPDIR names another folder)",
        code: error.code.rawValue)
    }
    defer { folder.remove() }
    let copy = try DatabaseQueue(path: folder.url.appendingPathComponent("pages.sqlite").path)
    defer { try? copy.close() }
    try copy.writeWithoutTransaction { database in
      try DatabaseBackup(of: contents, over: database, url: url).run {}
      // The copy's own log, if the contents have one, would keep the size too.
      try database.execute(sql: "PRAGMA journal_mode = delete; PRAGMA page_size = \(own); VACUUM")
      try body(database)
    }
  }

  /// Removes the files that the contents, old or new, don't refer to, and empty folders.
  private func removeUnreferenced(_ target: DatabaseQueue) {
    ExternalLeftovers.collect(external, options) { try target.writeWithoutTransaction($0) }
    ExternalLeftovers.removeEmptyFolders(of: external)
  }
}
