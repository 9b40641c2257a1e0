import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder for work that is not complete, of which nothing is to stay: it is removed by its owner or, if
/// that process was killed, by the next one that makes such a folder at the same place.
///
/// The owner holds a lock on the file `.owner` in it, which the system releases when the process ends,
/// however it ends. So a folder is removed only if its file can be locked: never one of a living process,
/// whatever its age (Decisions/0081). It has its name from when the file is locked; before, it has another
/// one, by which its age counts.
package final class OwnedFolder: Sendable {
  package let url: URL
  private let descriptor: Int32

  package static let lockName: String = ".owner"
  /// What ends the name of a folder that is not locked yet.
  private static let ending: String = ".making"
  /// A younger folder may be one whose process is just locking it.
  private static let youngInSeconds: Double = 10
  /// A folder without a file to lock is one of a process that was killed while it made or removed it, or is
  /// slow.
  private static let youngWithoutLockInSeconds: Double = 600

  /// Makes a folder `prefix-UUID` in another one and removes those that dead processes have left there.
  /// Throws `POSIXError`.
  package init(in parent: URL, prefix: String) throws {
    Self.collect(in: parent, prefix: prefix)
    let name: String = "\(prefix)-\(UUID().uuidString)"
    url = parent.appendingPathComponent(name, isDirectory: true)
    let new: URL = parent.appendingPathComponent(name + Self.ending, isDirectory: true)
    guard mkdir(new.path, 0o700) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    let lock: String = new.appendingPathComponent(Self.lockName).path
    descriptor = systemOpen(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0, rename(new.path, url.path) == 0 else {
      let code: Int32 = errno
      if descriptor >= 0 { close(descriptor) }
      try? FileManager.default.removeItem(at: new)
      throw POSIXError(.init(rawValue: code) ?? .EIO)
    }
  }

  deinit { close(descriptor) }

  /// Removes the folder with all that is in it.
  package func remove() { try? FileManager.default.removeItem(at: url) }

  /// Removes the folders of dead processes. What can't be removed stays, which does no harm.
  package static func collect(in parent: URL, prefix: String) {
    forEachAbandoned(in: parent, prefix: prefix) { try? FileManager.default.removeItem(at: $0) }
  }

  /// Calls `body` with each folder of a dead process.
  static func forEachAbandoned(in parent: URL, prefix: String, _ body: (URL) -> Void) {
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    for name in names {
      let isNamed: Bool = isOwned(name, prefix)
      guard isNamed || (name.hasSuffix(ending) && isOwned(String(name.dropLast(ending.count)), prefix)) else {
        continue
      }
      let folder: URL = parent.appendingPathComponent(name)
      // Not through a link, and not somebody else's.
      var info = stat()
      guard lstat(folder.path, &info) == 0, FileKind(info) == .folder, info.st_uid == geteuid() else {
        continue
      }
      if isAbandoned(folder, FileStamp(info), isNamed: isNamed) { body(folder) }
    }
  }

  private static func isOwned(_ name: String, _ prefix: String) -> Bool {
    name.hasPrefix(prefix + "-") && UUID(uuidString: String(name.dropFirst(prefix.count + 1))) != nil
  }

  private static func isAbandoned(_ folder: URL, _ stamp: FileStamp, isNamed: Bool) -> Bool {
    let lock: Int32 = systemOpen(
      folder.appendingPathComponent(lockName).path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
    guard lock >= 0 else { return errno == ENOENT && isOlder(stamp, youngWithoutLockInSeconds) }
    defer { close(lock) }
    return (isNamed || isOlder(stamp, youngInSeconds)) && flock(lock, LOCK_EX | LOCK_NB) == 0
  }

  static func isOlder(_ stamp: FileStamp, _ seconds: Double) -> Bool {
    Date().timeIntervalSince1970 - Double(stamp.modifiedSeconds) > seconds
  }

  // MARK: Files

  /// Removes files `prefix-UUID` that no process has locked and that are not young: those of processes that
  /// were killed while they wrote them.
  static func collectFiles(in parent: URL, prefix: String) {
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    for name in names where isOwned(name, prefix) {
      let path: String = parent.appendingPathComponent(name).path
      let file: Int32 = systemOpen(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
      if file < 0 { continue }
      defer { close(file) }
      var info = stat()
      guard fstat(file, &info) == 0, FileKind(info) == .file, info.st_uid == geteuid(),
        isOlder(FileStamp(info), youngWithoutLockInSeconds), flock(file, LOCK_EX | LOCK_NB) == 0
      else { continue }
      unlink(path)
    }
  }
}

/// The system's function: its C declaration has a variable number of arguments.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
