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
  private let url: URL
  private let file: String
  private let wasThere: Bool

  /// To be made before the database is opened.
  init(of url: URL) {
    self.url = url
    file = url.followingLinks.path
    wasThere = Self.isThere(file + "-wal") || Self.isThere(file + "-shm")
  }

  /// Removes what was made since, if nobody has the database open. To be called without an open connection.
  func remove() {
    guard !wasThere, Self.isThere(file), Self.isThere(file + "-wal") || Self.isThere(file + "-shm") else {
      return
    }
    var configuration = Configuration()
    configuration.busyMode = .immediateError
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
    // If this fails too the files stay, which does no harm: the next connection to be closed removes them.
    guard let queue = try? DatabaseQueue(path: file, configuration: configuration) else { return }
    let isAlone: Bool = (try? queue.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE; COMMIT") }) != nil
    if isAlone { unlink(file + "-shm") }
    try? queue.close()
  }

  private static func isThere(_ path: String) -> Bool {
    var info = stat()
    return lstat(path, &info) == 0
  }
}
