import CoreDataPredicates
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which file a path names: two paths with the same identity name the same file.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64

  package init(_ info: stat) {
    device = UInt64(truncatingIfNeeded: info.st_dev)
    inode = UInt64(truncatingIfNeeded: info.st_ino)
  }

  /// nil if the path names no file. Follows symbolic links.
  package init?(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    self.init(info)
  }
}

/// Says, as long as it lives, that a store of this process has a file open.
///
/// Closing any descriptor of a file gives up all locks that the process has on it (https://www.sqlite.org/howtocorrupt.html, 2.2). So a
/// file that is not known to be something else is not opened while a store relies on its locks.
package final class StoreFileMark: Sendable {
  private static let counts = Guarded<[FileIdentity: Int]>([:])
  private let identity: FileIdentity

  package init(_ identity: FileIdentity) {
    self.identity = identity
    Self.counts.withLock { $0[identity, default: 0] += 1 }
  }

  deinit {
    Self.counts.withLock { counts in
      let count: Int = counts[identity, default: 1] - 1
      counts[identity] = count == 0 ? nil : count
    }
  }

  package static func isSet(path: String) -> Bool {
    FileIdentity(path: path).map { identity in counts.withLock { $0[identity] != nil } } ?? false
  }
}
