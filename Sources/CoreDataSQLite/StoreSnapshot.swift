import CoreDataStorage
import Foundation
import GRDB

/// The contents of a store file at one moment, to be copied, whoever writes meanwhile. The file stays
/// as it is.
struct StoreSnapshot {
  private let url: URL
  private let configuration: Configuration

  init(of url: URL, _ options: SQLiteOptions) throws {
    self.url = url
    configuration = try Connections.configuration(options, url: url)
  }

  /// Runs `body` on one state; once, unless it throws.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    if let queue = besideWriters() {
      defer { try? queue.close() }
      return try SQLiteErrors.translating(url: url) { try queue.read(body) }
    }
    // One who writes to a file without a log waits for its readers; of a file with one that nobody has open a
    // copy is taken.
    let access = ReadOnlyAccess(url: url, configuration: configuration, alwaysCopiesLogs: true)
    defer { try? access.close() }
    return try access.read(.request, body)
  }

  /// A connection to a file with a log that somebody has open: it reads one state while others write, and
  /// makes no files that are not there already.
  private func besideWriters() -> DatabaseQueue? {
    let state = StoreFileState(url: url)
    guard state.isWALMode, FileStamp(path: state.path + "-shm") != nil,
      FileStamp(path: state.path + "-wal") != nil
    else { return nil }
    var configuration: Configuration = configuration
    configuration.readonly = true
    guard let queue = try? DatabaseQueue(path: url.path, configuration: configuration) else { return nil }
    // What a dead process has left may need more than may be read.
    if (try? queue.read { try StoreCreation.isEmpty($0) }) != nil { return queue }
    try? queue.close()
    return nil
  }
}
