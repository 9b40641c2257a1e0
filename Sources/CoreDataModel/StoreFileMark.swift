import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file that a path names: two paths with the same identity name the same file.
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

  /// As `init(path:)`, for a path that ends with a zero byte: a path that is examined often is converted
  /// once.
  package init?(path: ContiguousArray<CChar>) {
    var info = stat()
    let code: Int32 = path.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { stat($0, &info) } ?? -1
    }
    guard code == 0 else { return nil }
    self.init(info)
  }
}

/// Registers, as long as it lives, that a store of this process has a file open.
///
/// Closing any descriptor of a file releases all locks that the process has on it
/// (https://www.sqlite.org/howtocorrupt.html, 2.2). So while a store relies on its locks a file is opened
/// only if it is known to be another one.
package final class StoreFileMark: Sendable {
  private static let lock = NSLock()
  // Guarded by `lock`.
  nonisolated(unsafe) private static var counts: [FileIdentity: Int] = [:]
  private let identity: FileIdentity

  package init(_ identity: FileIdentity) {
    self.identity = identity
    Self.lock.withLock { Self.counts[identity, default: 0] += 1 }
  }

  deinit {
    Self.lock.withLock {
      let count: Int = Self.counts[identity, default: 1] - 1
      Self.counts[identity] = count == 0 ? nil : count
    }
  }

  package static func isSet(path: String) -> Bool {
    FileIdentity(path: path).map { identity in lock.withLock { counts[identity] != nil } } ?? false
  }
}
