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
  package var isLink: Bool {
    var info = stat()
    return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
  }

  /// The path without symbolic links, whether there is a file or not: SQLite creates a file where a symbolic
  /// link points to.
  package var followingLinks: URL {
    var place: URL = self
    // The limit of the system.
    for _ in 0..<40 {
      if let found = place.realPath { return found }
      guard place.isLink,
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place.path)
      else { break }
      let folder: URL = place.deletingLastPathComponent()
      place =
        target.hasPrefix("/")
        ? URL(fileURLWithPath: target) : (folder.realPath ?? folder).appendingPathComponent(target)
    }
    let folder: URL = place.deletingLastPathComponent()
    return (folder.realPath ?? folder.standardizedFileURL).appendingPathComponent(place.lastPathComponent)
  }

  /// The path as the system resolves it, `..` behind links included; nil if nothing is there.
  private var realPath: URL? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return URL(fileURLWithPath: String(cString: found))
  }

  /// Whether two URLs lead to the same file, by whatever names, or to the same place if there is no file.
  package func isSamePlace(as other: URL) -> Bool {
    guard isFileURL, other.isFileURL else { return self == other }
    if let identity = FileIdentity(path: path), let others = FileIdentity(path: other.path) {
      return identity == others
    }
    return followingLinks.standardizedFileURL.path == other.followingLinks.standardizedFileURL.path
  }
}
