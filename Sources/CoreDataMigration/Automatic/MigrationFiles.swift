import CoreDataStorage
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Held by the one process that migrates a store; others wait, and then find the store migrated. The system
/// releases it when its process ends, in whatever way.
struct MigrationLock {
  private let path: String
  private let file: Int32

  /// Waits for other migrations of the store. Throws if the folder can't be written.
  init(of store: URL) throws {
    path =
      store.deletingLastPathComponent()
      .appendingPathComponent(".\(store.lastPathComponent).migrating").path
    while true {
      let file: Int32 = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard file >= 0 else {
        throw StoreError.file(url: store, operation: "creating a file beside it to migrate it", code: errno)
      }
      while flock(file, LOCK_EX) != 0, errno == EINTR {}
      // Whoever held the lock before has removed the file.
      var (own, present) = (stat(), stat())
      if fstat(file, &own) == 0, stat(path, &present) == 0, own.st_ino == present.st_ino,
        own.st_dev == present.st_dev
      {
        self.file = file
        return
      }
      close(file)
    }
  }

  func release() {
    unlink(path)
    close(file)
  }
}

/// A hidden folder beside a store, in which a migration makes its files. The next migration removes one that
/// a killed process has left; called under the store's ``MigrationLock``.
struct StagingFolder {
  private let folder: URL
  private let name: String

  init(for store: URL) throws {
    name = store.lastPathComponent
    folder = store.deletingLastPathComponent().appendingPathComponent(".\(name).migration", isDirectory: true)
    try? FileManager.default.removeItem(at: folder)
    guard mkdir(folder.path, 0o700) == 0 else {
      throw StoreError.file(url: store, operation: "creating a folder beside it to migrate it", code: errno)
    }
  }

  /// The place of a step's store: under the store's own name, in a folder of its own, so that files beside it
  /// keep the names by which it finds them.
  func url(step: Int) throws -> URL {
    let place: URL = folder.appendingPathComponent("\(step)", isDirectory: true)
    guard mkdir(place.path, 0o700) == 0 else {
      throw StoreError.file(url: place, operation: "creating it", code: errno)
    }
    return place.appendingPathComponent(name)
  }

  func discard() { try? FileManager.default.removeItem(at: folder) }
}
