import CoreDataModel
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension SourcePackage {
  /// Opens the source of a model for `body`, which reads, changes and writes it. Another process that edits
  /// the same model waits until this one is done, so that neither loses what the other wrote.
  ///
  /// The lock is on the folder, since files are replaced by others, and leaves nothing behind. Where the file
  /// system has no locks, none is taken.
  package static func edit<Result>(
    at url: URL, _ body: (SourcePackage) throws -> Result
  ) throws -> Result {
    let folder: Int32 = open(lockedFolder(of: url).path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // What there is no folder of has its error from the initialiser.
    guard folder >= 0 else { return try body(SourcePackage(at: url)) }
    defer { close(folder) }
    while flock(folder, LOCK_EX) != 0, errno == EINTR {}
    // Read behind the lock: the current version may be another one than before.
    return try body(SourcePackage(at: url))
  }

  /// One folder for all ways to name a model: the `.xcdatamodeld` if the file is in one, else its version's.
  private static func lockedFolder(of url: URL) -> URL {
    var folder: URL = url.resolvingSymlinksInPath()
    if folder.lastPathComponent == "contents" { folder.deleteLastPathComponent() }
    let outer: URL = folder.deletingLastPathComponent()
    return outer.pathExtension == "xcdatamodeld" ? outer : folder
  }
}
