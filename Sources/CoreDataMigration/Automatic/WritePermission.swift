import CoreDataModel
import CoreDataStorage
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether this process may migrate a store, by the permissions of its file and of the folder.
struct WritePermission {
  private let file: URL

  init(_ store: URL) { file = store.followingLinks }

  /// Why the file may not be written; nil if it may.
  var objectionOfFile: String? {
    guard access(file.path, W_OK) != 0, errno == EACCES || errno == EROFS || errno == EPERM else {
      return nil
    }
    return "This process may not write its file: \(String(cString: strerror(errno)))."
  }

  /// The same for the files that a migration makes beside it.
  private var objectionOfFolder: String? {
    let folder: String = file.deletingLastPathComponent().path
    guard access(folder, W_OK | X_OK) != 0, errno == EACCES || errno == EROFS || errno == EPERM else {
      return nil
    }
    return "This process may make no files in the folder \(folder): \(String(cString: strerror(errno)))."
  }

  /// What would end a migration, a sentence each with its cure.
  var problems: [String] {
    let advice: String = ReadOnlyReason.permission.advice(for: MigrationWords.reader)
    return [objectionOfFile, objectionOfFolder].compactMap { $0.map { "\($0) \(advice)" } }
  }
}
