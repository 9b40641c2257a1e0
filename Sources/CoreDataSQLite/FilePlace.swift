import CoreDataModel
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension URL {
  var isLink: Bool {
    var info = stat()
    return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
  }

  /// The place that the path leads to, be there a file or none: SQLite makes a file where a symbolic link points at.
  var followingLinks: URL {
    var place: URL = self
    // As many as the system follows.
    for _ in 0..<40 {
      guard place.isLink,
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place.path)
      else { break }
      place = URL(fileURLWithPath: target, relativeTo: place.deletingLastPathComponent()).standardizedFileURL
    }
    return place.deletingLastPathComponent().resolvingSymlinksInPath()
      .appendingPathComponent(place.lastPathComponent)
  }

  /// Whether two URLs lead to the same file, by whatever names, or to the same place where there is none.
  package func isSamePlace(as other: URL) -> Bool {
    guard isFileURL, other.isFileURL else { return self == other }
    if !SQLiteStoreFile.isNowhere(self), !SQLiteStoreFile.isNowhere(other),
      let identity = FileIdentity(path: path), let others = FileIdentity(path: other.path)
    {
      return identity == others
    }
    return followingLinks.standardizedFileURL.path == other.followingLinks.standardizedFileURL.path
  }
}
