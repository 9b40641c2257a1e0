import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which of a store's files this process may not read or write: the store itself, the journals that SQLite
/// keeps beside it, or the folder, where journals are made.
package struct ForbiddenFile {
  package let path: String
  /// `EACCES` or another code of the system.
  package let code: Int32
  private let isFolder: Bool

  /// The first one; nil if there is none, also if the place is none of a file.
  package static func first(ofStoreAt url: URL, writing: Bool) -> ForbiddenFile? {
    guard url.isFileURL else { return nil }
    let path: String = url.followingLinks.path
    for file in ["", "-wal", "-shm", "-journal"].map({ path + $0 }) where access(file, F_OK) == 0 {
      // Whoever reads makes an index of a log that may not be read.
      if !writing, file.hasSuffix("-shm") { continue }
      if let code = refusal(file, writing ? R_OK | W_OK : R_OK) {
        return ForbiddenFile(path: file, code: code, isFolder: false)
      }
    }
    let folder: String = (path as NSString).deletingLastPathComponent
    guard writing, !folder.isEmpty, let code = refusal(folder, W_OK | X_OK) else { return nil }
    return ForbiddenFile(path: folder, code: code, isFolder: true)
  }

  private static func refusal(_ path: String, _ mode: Int32) -> Int32? {
    guard access(path, mode) != 0 else { return nil }
    return [EACCES, EPERM, EROFS].contains(errno) ? errno : nil
  }

  /// Without a capital letter and an end.
  package var clause: String {
    let reason: String = String(cString: strerror(code))
    return isFolder
      ? "this process may make no files in the folder \(path): \(reason)"
      : "this process may not write \(path): \(reason)"
  }
}
