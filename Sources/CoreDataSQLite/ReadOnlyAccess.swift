import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// Reads a store without side effects: file, `-wal`, `-shm`, `-journal` and folder keep every byte and time
/// stamp.
///
/// SQLite itself writes while it reads: it creates the `-shm` file of a WAL database and rolls back a crashed
/// writer's journal. So how the file is opened depends on its companions:
///
///     nothing, WAL mode           the file itself, opened "immutable": no locks, no companions
///     nothing, rollback mode      the file itself, read-only; SQLite's own shared lock guards each read
///     a WAL or a hot journal      a private copy of file and companion in a temporary folder
///
/// A reader sees the last committed state at the time of a read. The file is opened anew if it or its
/// companions changed since the last read (judged by size and time stamp), so the next read shows another
/// process's saves; but a different file at the path is another store and is refused. If something changed
/// during a read, its result is dropped and the read is repeated. With a private copy each change costs
/// another copy; a store that changes faster than it can be read gives an explained error after a few
/// attempts. A log that only grows while it is copied is no change: the copy has the last transaction that is
/// whole in it.
final class ReadOnlyAccess: @unchecked Sendable {
  // Sendable: `current`, `isClosed`, `watched`, `rescue` and `damaged` are guarded by `lock`.

  private struct Opening {
    var queue: DatabaseQueue
    var state: StoreFileState
    var copy: OwnedFolder?
    /// SQLite's own locks guard reads of the file.
    var isLocked: Bool
    var watch: ContentsWatch?
    /// Reads that meet damage go on, and a transaction could not be ended behind them.
    var isSalvage: Bool

    func read<T>(_ body: (Database) throws -> T) throws -> T {
      if isSalvage { return try queue.unsafeRead(body) }
      return try queue.read { database in
        let result: T = try body(database)
        try watch?.check(database)
        return result
      }
    }
  }

  let url: URL
  private let configuration: Configuration
  private let alwaysCopiesLogs: Bool
  private let salvages: Bool
  private let lock = NSLock()
  private var current: Opening?
  private var isClosed = false
  private var watched: OwnContents?
  /// The identity of the file that was read first.
  private var identity: FileIdentity?
  private var mark: StoreFileMark?
  /// What is to be done with each connection to a damaged file, and what was found by it.
  private var rescue: ((_ database: Database, _ path: String) throws -> [DamagedTable])?
  private var damaged: [DamagedTable] = []
  private static let attempts: Int = 5
  private static let copyName: String = "store.sqlite"

  /// `alwaysCopiesLogs`: a database with a log is read from a copy even if it has no companions, so that
  /// another process that opens it meanwhile can't change what is read.
  init(
    url: URL, configuration: Configuration, alwaysCopiesLogs: Bool = false, salvages: Bool = false
  ) {
    self.url = url
    self.salvages = salvages
    self.alwaysCopiesLogs = alwaysCopiesLogs
    self.configuration = configuration
  }

  deinit { try? close() }

  /// The contents found at opening: from then on a read of other contents throws `StoreError.fileChanged`.
  var contents: OwnContents? {
    get { lock.withLock { watched } }
    set {
      lock.withLock {
        watched = newValue
        current?.watch = newValue.map { ContentsWatch($0, isThorough: true) }
      }
    }
  }

  /// The tables of which pages can't be read. From the next read on the rows that were found of them are in
  /// temporary tables, where `schema` is what the file is to have.
  func rescueTables(_ schema: StoreSchema) throws -> [DamagedTable] {
    lock.lock()
    defer { lock.unlock() }
    rescue = { [url] in try TableRescue.run($0, path: $1, schema: schema, url: url) }
    if let current { try rescueTables(current) }
    return damaged
  }

  private func rescueTables(_ opening: Opening) throws {
    guard let rescue else { return }
    damaged = try SQLiteErrors.translating(url: url) {
      try opening.queue.unsafeRead { database in
        // A log is written into the private copy, so that the copy has all pages.
        if opening.copy != nil { try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try database.execute(sql: "PRAGMA query_only = 0")
        defer { try? database.execute(sql: "PRAGMA query_only = 1") }
        let path: String = opening.copy.map { $0.url.appendingPathComponent(Self.copyName).path } ?? url.path
        return try rescue(database, path)
      }
    }
  }

  /// Runs a read on a consistent state. `body` may run more than once.
  func read<T>(_ purpose: ReadPurpose = .request, _ body: (Database) throws -> T) throws -> T {
    do {
      return try readState(purpose, body)
    } catch StoreError.invalidFile(let url, let reason, .repairing) where salvages {
      // Whoever reads is repairing.
      throw StoreError.invalidFile(url: url, reason: reason)
    }
  }

  private func readState<T>(_ purpose: ReadPurpose, _ body: (Database) throws -> T) throws -> T {
    lock.lock()
    defer { lock.unlock() }
    if isClosed { throw StoreError.closed }
    if purpose == .fault, let current, (try? checkIdentity()) == nil {
      return try SQLiteErrors.translating(url: url) { try current.read(body) }
    }
    var lastError: (any Error)?
    for attempt in 0..<Self.attempts {
      if attempt > 0 { Thread.sleep(forTimeInterval: 0.02 * Double(attempt)) }
      do {
        let opening: Opening = try open()
        let result: T = try SQLiteErrors.translating(url: url) { try opening.read(body) }
        // Locks or a private copy give a read one state, and so does a file that did not change.
        if opening.isLocked || opening.copy != nil || StoreFileState(url: url) == opening.state {
          return result
        }
      } catch {
        // If the file did not change the error is real; otherwise it may come from mixed pages.
        if let current, StoreFileState(url: url) == current.state || current.isLocked { throw error }
        if current == nil, !(error is ChangedWhileCopying) { throw error }
        lastError = error
      }
      try checkIdentity()
      discard()
    }
    if let lastError, !(lastError is ChangedWhileCopying) { throw lastError }
    throw StoreError.database(
      code: SQLITE_BUSY,
      message:
        "Another process keeps changing the store while it is read. Wait until it is done, or read a backup "
        + "(`sqlite3 STORE \".backup copy.sqlite\"`).",
      sql: nil, url: url)
  }

  /// A different file at the path is another store, whatever it contains.
  private func checkIdentity() throws {
    guard let identity, FileIdentity(path: url.path) != identity else { return }
    throw StoreError.fileChanged(url: url, path: url.path)
  }

  /// The folder of the private copy, while there is one.
  var copyFolder: URL? { lock.withLock { current?.copy?.url } }

  /// Closes the file and removes the temporary copy.
  func close() throws {
    lock.lock()
    defer { lock.unlock() }
    isClosed = true
    discard()
  }

  private func discard() {
    guard let old = current else { return }
    current = nil
    try? old.queue.close()
    old.copy?.remove()
  }

  private func open() throws -> Opening {
    try checkIdentity()
    let state = StoreFileState(url: url)
    if let current {
      if current.state == state { return current }
      // With locks SQLite itself notices a writer's changes; only a change of how the file is opened matters.
      if current.isLocked, !state.isWALMode, !state.hasHotJournal,
        state.file?.identity == current.state.file?.identity
      {
        return current
      }
      discard()
    }
    if let objection = state.objection { throw StoreError.invalidFile(url: url, reason: objection) }
    var configuration: Configuration = configuration
    configuration.readonly = true
    var opening: Opening
    // SQLite opens a log that it finds, also beside a file in another mode, and makes an index for it.
    let needsCopy: Bool = state.hasWAL || (state.isWALMode && (alwaysCopiesLogs || !Self.understandsURIs))
    if state.hasHotJournal || needsCopy {
      let (copy, file) = try makeCopy(of: state)
      // The copy is private: SQLite may roll journals back in it.
      configuration.readonly = false
      configuration.prepareDatabase { try $0.execute(sql: "PRAGMA query_only = 1") }
      opening = Opening(
        queue: try openQueue(file.path, configuration, removing: copy), state: state, copy: copy,
        isLocked: false, isSalvage: salvages)
    } else if state.isWALMode {
      opening = Opening(
        queue: try openQueue(Self.immutableURI(url.path), configuration, removing: nil), state: state,
        copy: nil,
        isLocked: false, isSalvage: salvages)
    } else {
      opening = Opening(
        queue: try openQueue(url.path, configuration, removing: nil), state: state, copy: nil, isLocked: true,
        isSalvage: salvages)
    }
    try rescueTables(opening)
    opening.watch = watched.map { ContentsWatch($0, isThorough: true) }
    current = opening
    identity = state.file?.identity
    if mark == nil { mark = identity.map(StoreFileMark.init) }
    return opening
  }

  private func openQueue(_ path: String, _ configuration: Configuration, removing copy: OwnedFolder?) throws
    -> DatabaseQueue
  {
    do {
      return try SQLiteErrors.translating(url: url) {
        try DatabaseQueue(path: path, configuration: configuration)
      }
    } catch {
      copy?.remove()
      throw error
    }
  }

  /// Whether this build of SQLite accepts `file:` URIs without a flag on opening (GRDB can't pass the flag).
  private static let understandsURIs: Bool = sqlite3_compileoption_used("USE_URI") == 1

  /// `file:/tmp/a%3Fb.sqlite?immutable=1`: everything but unreserved characters and slashes is escaped.
  static func immutableURI(_ path: String) -> String {
    var result: String = "file:"
    for byte in path.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E:
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return result + "?immutable=1"
  }

  private struct ChangedWhileCopying: Error {}

  /// Copies the file and its companions; throws if anything but the end of the WAL changed meanwhile, so that
  /// a copy is always consistent: of a transaction of which the WAL has a part SQLite reads nothing.
  ///
  /// The file is copied first: a checkpoint that runs during the copy writes only pages that the WAL still
  /// holds, and restarting the WAL changes its header.
  private func makeCopy(of state: StoreFileState) throws -> (folder: OwnedFolder, file: URL) {
    let header: [UInt8] = state.walHeader
    if [state.file, state.journal].contains(where: { $0?.isFresh ?? false }) {
      Thread.sleep(forTimeInterval: 0.05)
      guard StoreFileState(url: url).isSame(as: state, walHeader: header) else { throw ChangedWhileCopying() }
    }
    var made: OwnedFolder?
    do {
      let folder = try OwnedFolder(in: FileManager.default.temporaryDirectory, prefix: "clarus-read")
      made = folder
      let file: URL = folder.url.appendingPathComponent(Self.copyName)
      try Self.copyContents(of: url.path, to: file.path)
      if state.hasWAL { try Self.copyContents(of: state.path + "-wal", to: file.path + "-wal") }
      if state.hasHotJournal {
        try Self.copyContents(of: state.path + "-journal", to: file.path + "-journal")
      }
      guard StoreFileState(url: url).isSame(as: state, walHeader: header) else { throw ChangedWhileCopying() }
      return (folder, file)
    } catch let error as ChangedWhileCopying {
      made?.remove()
      throw error
    } catch {
      made?.remove()
      if let file = ForbiddenFile.first(ofStoreAt: url, writing: false) {
        throw StoreError.file(url: URL(fileURLWithPath: file.path), operation: "reading it", code: file.code)
      }
      throw StoreError.file(
        url: url,
        operation:
          "copying it to \(FileManager.default.temporaryDirectory.path), from where it is read because of the journal "
          + "beside it (TMPDIR names another folder; it needs \(state.sizeInBytes + (state.wal?.size ?? 0)) bytes),",
        code: DurableFile.code(of: error))
    }
  }

  /// A new file with the same bytes and the owner's permissions only: the original may be read-only, the copy
  /// must be writable.
  private static func copyContents(of source: String, to target: String) throws {
    let input = try DatabaseBytes(path: source)
    guard
      FileManager.default.createFile(atPath: target, contents: nil, attributes: [.posixPermissions: 0o600]),
      let output = FileHandle(forWritingAtPath: target)
    else { throw DurableFile.failure("create") }
    defer { try? output.close() }
    var offset: Int64 = 0
    while offset < input.count {
      let part: [UInt8] = try input.read(at: offset, upTo: 1 << 20)
      try output.write(contentsOf: part)
      offset += Int64(part.count)
    }
  }
}
