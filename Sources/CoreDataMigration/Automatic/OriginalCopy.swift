import CoreDataGraph
import CoreDataStorage
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The copy of a store as it was before its migration.
package struct OriginalCopy {
  private let store: OutdatedStore
  private let place: URL

  init(of store: OutdatedStore, at place: URL) { (self.store, self.place) = (store, place) }

  /// Throws unless there is nothing at the place, and a folder that files can be made in.
  func requirePlace() throws { try Self.requirePlace(place, forStoreAt: store.url) }

  /// The same before a plan is made. Throws a `CocoaError`, 134160.
  package static func requirePlace(_ place: URL, ofStoreAt store: URL) throws {
    try withMigrationErrors { try requirePlace(place, forStoreAt: store) }
  }

  private static func requirePlace(_ place: URL, forStoreAt store: URL) throws {
    func refusal(_ reason: String) -> MigrationFailure {
      .originalCopy(place, reason)
    }
    guard place.isFileURL else { throw refusal("It is no file.") }
    if let found = FileStamp(path: place.path) {
      if found.identity == FileStamp(path: store.path)?.identity { throw refusal("It is the store itself.") }
      throw refusal(found.kind == .folder ? "It is a folder." : "There is a file already.")
    }
    if (try? FileManager.default.destinationOfSymbolicLink(atPath: place.path)) != nil {
      throw refusal("It is a link that leads to no file.")
    }
    let folder: String = place.deletingLastPathComponent().path
    guard let found = FileStamp(path: folder) else { throw refusal("There is no folder \(folder).") }
    guard found.kind == .folder else { throw refusal("\(folder) is no folder.") }
    guard access(folder, W_OK | X_OK) == 0 else {
      throw refusal("No file can be made in the folder \(folder): \(String(cString: strerror(errno))).")
    }
    // SQLite would take them for the copy's, and a failure would remove them.
    for ending in ["-wal", "-shm", "-journal"] where FileStamp(path: place.path + ending) != nil {
      throw refusal("There is a file of another store beside it, \(place.lastPathComponent)\(ending).")
    }
  }

  func make() throws {
    do {
      try store.coordinator.replacePersistentStore(
        at: place,
        destinationOptions: store.options.filter { $0.key == AnyHashable(NSPersistentStoreTimeoutOption) },
        withPersistentStoreFrom: store.url, ofType: store.type)
    } catch {
      remove()
      throw error
    }
  }

  func remove() { StorePlace(place, store.type, nil).remove() }
}
