import CoreDataModel
import CoreDataPredicates
import Foundation

/// Writes a file in the place of another one, at once or not at all.
///
/// The file that a link leads to is replaced, not the link, and the new file has the permissions of the old
/// one. A file that nobody may write stays: whoever took the permission away meant the contents, also where
/// its folder would let another file take the place, and also for a superuser.
package enum FileReplacement {
  /// - Throws: as ``check(_:)``, and ``ModelFileError`` where the file can't be written.
  package static func write(_ data: Data, to file: URL) throws {
    let permissions: Int? = try check(file)
    let place: URL = file.resolvingSymlinksInPath()
    do {
      try data.write(to: place, options: .atomic)
      if let permissions {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: place.path)
      }
    } catch {
      throw ModelFileError(
        file: file.relativePath, reason: "The file can't be written: \(ErrorMessage.reason(of: error))")
    }
  }

  /// Whoever writes several files asks for all of them before the first is written. Returns the permissions
  /// of the file, nil if there is none.
  ///
  /// - Throws: ``ModelFileError`` where the file is write-protected, a link that leads to nothing, or no
  ///   regular file, such as a folder or a pipe.
  @discardableResult
  package static func check(_ file: URL) throws -> Int? {
    let files = FileManager.default
    let isLink: Bool = (try? files.destinationOfSymbolicLink(atPath: file.path)) != nil
    guard files.fileExists(atPath: file.path) else {
      guard isLink else { return nil }
      throw ModelFileError(
        file: file.relativePath, reason: "It is a link that leads to no file; remove it or correct it.")
    }
    let place: String = file.resolvingSymlinksInPath().path
    let attributes: [FileAttributeKey: Any]? = try? files.attributesOfItem(atPath: place)
    if let type = attributes?[.type] as? FileAttributeType, type != .typeRegular {
      throw ModelFileError(
        file: file.relativePath,
        reason: type == .typeDirectory
          ? "There is a folder in the place of the file; remove it first."
          : "It is no regular file, so it is not replaced; remove it first.")
    }
    let permissions: Int? = attributes?[.posixPermissions] as? Int
    if let permissions, permissions & 0o222 == 0 {
      throw ModelFileError(
        file: file.relativePath,
        reason: "The file is write-protected; permit it with `chmod u+w` if it is to be changed.")
    }
    return permissions
  }
}
