import CoreDataStorage
import Foundation
import GRDB

/// The purpose of a read. It decides what happens when the store's file is gone.
enum ReadPurpose {
  /// A request, which can throw: the file must be the one that was opened.
  case request
  /// An accessor that can't throw and needs a row or members: it goes on reading the open file, whatever that
  /// file's name is now.
  case fault
}

/// The connections of a store that is open for writing: one that writes and, in WAL mode, others that read
/// beside it.
///
/// GRDB's own pool creates and drops a table when it opens a database, so that the log is never empty: merely
/// opening a file would change its header. Nothing here needs that, so opening and closing leaves a file as
/// it was.
final class ConnectionPool: @unchecked Sendable {
  // Sendable: `idle`, `busyCount` and `isClosed` are guarded by `condition`; the rest is immutable.

  private let writer: DatabaseQueue
  /// nil if other connections can't read beside the writer; the writer then reads too.
  private let readers: Configuration?
  /// nil for a database in memory.
  private let files: OpenedFiles?
  /// nil for a database in memory, which no other connection can reach.
  private let contents: OwnContents?
  private let writerWatch: ContentsWatch?
  private let path: String

  private let condition = NSCondition()
  @exclusivity(unchecked) private var idle: [ReaderConnection] = []
  @exclusivity(unchecked) private var busyCount: Int = 0
  @exclusivity(unchecked) private var isClosed = false

  /// Uses an open connection to a file. `readers` is how further connections are opened, if others can read
  /// beside the writer.
  init(_ writer: DatabaseQueue, url: URL, contents: OwnContents, readers: Configuration?) throws {
    self.writer = writer
    self.contents = contents
    writerWatch = ContentsWatch(contents, isThorough: true)
    self.path = writer.path
    self.files = try writer.unsafeRead { try OpenedFiles($0, url: url) }
    self.readers = readers.map { configuration in
      var configuration: Configuration = configuration
      configuration.readonly = true
      return configuration
    }
  }

  /// Uses an open connection to a database in memory.
  init(inMemory writer: DatabaseQueue) {
    self.writer = writer
    path = writer.path
    files = nil
    contents = nil
    writerWatch = nil
    readers = nil
  }

  // MARK: Writing

  func writeWithoutTransaction<T>(_ body: (Database) throws -> T) throws -> T {
    do {
      return try writer.writeWithoutTransaction(body)
    } catch {
      // A missing file shows as various errors ("read-only", "disk I/O error"), none of which names the
      // cause.
      try files?.checkAll()
      throw error
    }
  }

  /// Runs `body` in a transaction that holds the write lock from its beginning; an error thrown by `body`
  /// rolls it back. Throws `StoreError.fileChanged` if the write would replace contents other than the
  /// store's own, or go to a file that no longer has a name.
  func writeInTransaction<T>(_ body: (Database) throws -> T) throws -> T {
    try writeWithoutTransaction { database in
      var result: T?
      try database.inTransaction(.immediate) {
        try writerWatch?.check(database)
        result = try body(database)
        try files?.checkAll()
        return .commit
      }
      writerWatch?.noteCommit(database)
      guard let result else { preconditionFailure("The transaction ended without its body.") }
      return result
    }
  }

  // MARK: Reading

  /// Reads one state of the store. With `isSingleStatement` there is no transaction around the body. Throws
  /// `StoreError.fileChanged` if the contents are not the store's own.
  func read<T>(
    _ purpose: ReadPurpose, isSingleStatement: Bool, _ body: (Database) throws -> T
  ) throws -> T {
    if purpose == .request { try files?.checkStore() }
    let reader: ReaderConnection? = try reader(purpose)
    defer { if let reader { checkIn(reader) } }
    let connection: DatabaseQueue = reader?.queue ?? writer
    let watch: ContentsWatch? = reader.map(\.watch) ?? writerWatch
    func whole(_ database: Database) throws -> T {
      let result: T = try body(database)
      try watch?.check(database)
      return result
    }
    return isSingleStatement ? try connection.unsafeRead(whole) : try connection.read(whole)
  }

  /// Runs a statement that the cache keeps, as a request. nil if no connection can read beside the writer.
  /// Throws as `read` does.
  func readKept<T>(_ kept: KeptStatement, _ body: (RawStatement) throws -> T) throws -> T? {
    guard let readers else { return nil }
    try files?.checkStore()
    let reader: ReaderConnection = try checkOut(readers)
    defer { checkIn(reader) }
    return try reader.run(kept, body)
  }

  /// Throws `StoreError.fileChanged` if the contents are not the store's own.
  func requireOwnContents() throws {
    guard let contents else { return }
    try read(.fault, isSingleStatement: true) { try contents.require($0) }
  }

  /// A connection that reads beside the writer, to be returned to the pool; nil if there can be none.
  private func reader(_ purpose: ReadPurpose) throws -> ReaderConnection? {
    guard let readers else { return nil }
    do {
      return try checkOut(readers)
    } catch StoreError.fileChanged where purpose == .fault {
      // No further connection can be opened to a file without a name.
      return nil
    }
  }

  private func checkOut(_ configuration: Configuration) throws -> ReaderConnection {
    condition.lock()
    while busyCount >= configuration.maximumReaderCount, !isClosed { condition.wait() }
    if isClosed {
      condition.unlock()
      throw StoreError.closed
    }
    busyCount += 1
    let known: ReaderConnection? = idle.popLast()
    condition.unlock()
    if let known { return known }
    do {
      return try ReaderConnection(
        try open(configuration), contents.map { ContentsWatch($0, isThorough: false) }, url: files?.url)
    } catch {
      checkIn(nil)
      throw error
    }
  }

  private func checkIn(_ reader: ReaderConnection?) {
    condition.withLock {
      busyCount -= 1
      if let reader { idle.append(reader) }
      condition.broadcast()
    }
  }

  /// Opens a connection that reads. Its files must be those of the writer: with a log that was exchanged it
  /// would read other rows.
  private func open(_ configuration: Configuration) throws -> DatabaseQueue {
    try files?.checkAll()
    let reader = try DatabaseQueue(path: path, configuration: configuration)
    do {
      try files?.checkAll()
      return reader
    } catch {
      try? reader.close()
      throw error
    }
  }

  // MARK: Earlier states

  /// A connection that keeps reading the store as it is now, by a transaction that stays open
  /// (Decisions/0026).
  func snapshot() throws -> SnapshotConnection? {
    guard var configuration = readers else { return nil }
    try files?.checkStore()
    configuration.allowsUnsafeTransactions = true
    let reader: DatabaseQueue = try open(configuration)
    try reader.unsafeRead { database in
      try database.beginTransaction(.deferred)
      // The first read fixes the state.
      try database.execute(sql: "SELECT rootpage FROM sqlite_master LIMIT 1")
    }
    return SnapshotConnection(reader, files)
  }

  // MARK: Closing

  /// Closes everything when reads and writes in progress are done. The writer is closed last, because only
  /// the last connection can checkpoint the log into the file and remove it.
  func close() throws {
    let readers: [ReaderConnection] = condition.withLock {
      isClosed = true
      while busyCount > 0 { condition.wait() }
      defer { idle = [] }
      return idle
    }
    for reader in readers { try reader.close() }
    try writer.close()
  }
}

/// One state of a store.
final class SnapshotConnection: Sendable {
  private let reader: DatabaseQueue
  private let files: OpenedFiles?

  fileprivate init(_ reader: DatabaseQueue, _ files: OpenedFiles?) {
    self.reader = reader
    self.files = files
  }

  deinit { try? close() }

  func read<T>(_ purpose: ReadPurpose, _ body: (Database) throws -> T) throws -> T {
    if purpose == .request { try files?.checkStore() }
    return try reader.unsafeRead(body)
  }

  func close() throws { try reader.close() }
}
