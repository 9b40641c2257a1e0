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

  private struct Prepared {
    /// Retained, so that no other statement gets its identity.
    let kept: KeptStatement
    let handle: OpaquePointer
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
    let result: T = try body(RawStatement(try prepare(kept), handle, url: url))
    if let watch, !watch.isUpToDate(handle) { try queue.unsafeRead { try watch.check($0) } }
    return result
  }

  private func prepare(_ kept: KeptStatement) throws -> OpaquePointer {
    if let known = prepared[ObjectIdentifier(kept)] { return known.handle }
    var made: OpaquePointer?
    let code: Int32 = sqlite3_prepare_v3(
      handle, kept.statement.sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
    guard code == SQLITE_OK, let made else {
      throw SQLiteErrors.last(of: handle, sql: kept.statement.sql, url: url)
    }
    // The statements in use are prepared again, each at the cost of one fetch.
    if prepared.count == Self.mostPrepared { finalizePrepared() }
    prepared[ObjectIdentifier(kept)] = Prepared(kept: kept, handle: made)
    return made
  }

  private func finalizePrepared() {
    for statement in prepared.values { sqlite3_finalize(statement.handle) }
    prepared = [:]
  }

  /// Closes the connection, which must not be in use.
  func close() throws {
    finalizePrepared()
    try queue.close()
  }
}
