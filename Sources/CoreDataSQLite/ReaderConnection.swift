import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// A connection that reads beside the writer. `ConnectionPool` gives it to one thread at a time.
///
/// The statements that the statement cache keeps are prepared here once, and run without GRDB's queue: the
/// queue and GRDB's search for the statement's text cost a third of a fetch of one object. Everything else
/// goes through `queue`.
final class ReaderConnection: @unchecked Sendable {
  // Sendable: used by one thread at a time.

  let queue: DatabaseQueue
  let watch: ContentsWatch?
  private let handle: OpaquePointer
  private let url: URL?
  @exclusivity(unchecked) private var prepared: [ObjectIdentifier: Prepared] = [:]
  /// The statement that was run last, which is usually the next one, too.
  @exclusivity(unchecked) private var last: Prepared?

  private final class Prepared {
    /// Retained, so that no other statement gets its identity.
    let kept: KeptStatement
    let statement: RawStatement

    init(_ kept: KeptStatement, _ statement: RawStatement) {
      self.kept = kept
      self.statement = statement
    }
  }

  /// How many statements a connection keeps prepared.
  static let mostPrepared: Int = 64

  init(_ queue: DatabaseQueue, _ watch: ContentsWatch?, url: URL?) throws {
    self.queue = queue
    self.watch = watch
    self.url = url
    guard let handle = queue.unsafeRead(\.sqliteConnection) else { throw StoreError.closed }
    self.handle = handle
  }

  deinit { finalizePrepared() }

  /// Runs `body` with a prepared statement, which `body` resets. Throws `StoreError.fileChanged` if what was
  /// read is not the store's own contents.
  func run<T>(_ kept: KeptStatement, _ body: (RawStatement) throws -> T) throws -> T {
    let known: Prepared? = last
    let prepared: Prepared = if let known, known.kept === kept { known } else { try prepare(kept) }
    let result: T = try body(prepared.statement)
    if let watch, !watch.isUpToDate(handle) { try queue.unsafeRead { try watch.check($0) } }
    return result
  }

  private func prepare(_ kept: KeptStatement) throws -> Prepared {
    if let known = prepared[ObjectIdentifier(kept)] {
      last = known
      return known
    }
    var made: OpaquePointer?
    let code: Int32 = sqlite3_prepare_v3(
      handle, kept.statement.sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
    guard code == SQLITE_OK, let made else {
      throw SQLiteErrors.last(of: handle, sql: kept.statement.sql, url: url)
    }
    // The statements in use are prepared again, each at the cost of one fetch.
    if prepared.count == Self.mostPrepared { finalizePrepared() }
    let new = Prepared(kept, RawStatement(made, handle, url: url))
    prepared[ObjectIdentifier(kept)] = new
    last = new
    return new
  }

  private func finalizePrepared() {
    for known in prepared.values { sqlite3_finalize(known.statement.handle) }
    (prepared, last) = ([:], nil)
  }

  /// Closes the connection, which must not be in use.
  func close() throws {
    finalizePrepared()
    try queue.close()
  }
}
