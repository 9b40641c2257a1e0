import CoreDataStorage
import Foundation
import GRDB

/// The contents of a store file at one moment, for copying, while other connections may write. The file stays
/// unchanged.
struct StoreSnapshot {
  private let url: URL
  private let configuration: Configuration

  init(of url: URL, _ options: SQLiteOptions) throws {
    self.url = url
    configuration = try Connections.configuration(options, url: url)
  }

  /// Runs `body` on one state; only once, unless it throws.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    if let queue = besideWriters() {
      defer { try? queue.close() }
      return try SQLiteErrors.translating(url: url) { try queue.read(body) }
    }
    // If the file has no log, writers wait for its readers. If it has a log and no connection has it open, a
    // copy is read.
    let access = ReadOnlyAccess(url: url, configuration: configuration, alwaysCopiesLogs: true)
    defer { try? access.close() }
    return try access.read(.request, body)
  }

  /// A connection to a file with a log that is open elsewhere: it reads one state while others write, and
  /// creates no files.
  private func besideWriters() -> DatabaseQueue? {
    let state = StoreFileState(url: url)
    guard state.isWALMode, FileStamp(path: state.path + "-shm") != nil,
      FileStamp(path: state.path + "-wal") != nil
    else { return nil }
    var configuration: Configuration = configuration
    configuration.readonly = true
    guard let queue = try? DatabaseQueue(path: url.path, configuration: configuration) else { return nil }
    // Files left by a dead process may need a recovery that a read-only connection can't do.
    if (try? queue.read { try StoreCreation.isEmpty($0) }) != nil { return queue }
    try? queue.close()
    return nil
  }
}
