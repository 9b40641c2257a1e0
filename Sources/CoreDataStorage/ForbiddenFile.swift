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
  package let isFolder: Bool

  /// The first one; nil if there is none, also if the place is none of a file.
  package static func first(ofStoreAt url: URL, writing: Bool) -> ForbiddenFile? {
    all(ofStoreAt: url, writing: writing).first
  }

  /// The files, then the folder.
  package static func all(ofStoreAt url: URL, writing: Bool) -> [ForbiddenFile] {
    guard url.isFileURL else { return [] }
    let path: String = url.followingLinks.path
    let files: [ForbiddenFile] = ["", "-wal", "-shm", "-journal"].compactMap { ending in
      // Whoever reads makes an index of a log that may not be read.
      if !writing, ending == "-shm" { return nil }
      let file: String = path + ending
      guard access(file, F_OK) == 0, let code = refusal(file, writing ? R_OK | W_OK : R_OK) else {
        return nil
      }
      return ForbiddenFile(path: file, code: code, isFolder: false)
    }
    let folder: String = (path as NSString).deletingLastPathComponent
    guard writing, !folder.isEmpty, let code = refusal(folder, W_OK | X_OK) else { return files }
    return files + [ForbiddenFile(path: folder, code: code, isFolder: true)]
  }

  private static func refusal(_ path: String, _ mode: Int32) -> Int32? {
    guard access(path, mode) != 0 else { return nil }
    return [EACCES, EPERM, EROFS].contains(errno) ? errno : nil
  }

  /// That the file may not be written, with what to do.
  package var sentence: String {
    "\(clause.prefix(1).uppercased())\(clause.dropFirst()). \(ReadOnlyReason.permission.advice)"
  }

  /// Without a capital letter and an end.
  package var clause: String {
    let reason: String = String(cString: strerror(code))
    return isFolder
      ? "this process may make no files in the folder \(path): \(reason)"
      : "this process may not write \(path): \(reason)"
  }
}
