import CoreDataStorage
import Foundation
import GRDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files of a write-ahead log that SQLite makes when it opens a database, and leaves when that fails, on
/// a full disk for instance.
///
/// A log may be removed only while nobody has the database open. SQLite's exclusive locking mode shows that:
/// a connection gets its lock only if there is no other one, needs no `-shm` file, and removes an empty log
/// when it is closed.
struct LogLeftovers {
  private let file: String
  private let wasThere: Bool

  /// `state`: from before the database is opened.
  init(beside state: StoreFileState) {
    file = state.path
    wasThere = state.wal != nil || FileStamp(path: file + "-shm") != nil
  }

  /// Removes what was made since, if nobody has the database open. To be called without an open connection.
  func remove() {
    guard !wasThere, isThere(""), isThere("-wal") || isThere("-shm") else { return }
    var configuration = Configuration()
    configuration.busyMode = .immediateError
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
    // If this fails too the files stay, which does no harm: the next connection to be closed removes them.
    guard let queue = try? DatabaseQueue(path: file, configuration: configuration) else { return }
    let isAlone: Bool = (try? queue.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE; COMMIT") }) != nil
    if isAlone { unlink(file + "-shm") }
    try? queue.close()
  }

  private func isThere(_ ending: String) -> Bool { FileStamp(path: file + ending) != nil }
}
