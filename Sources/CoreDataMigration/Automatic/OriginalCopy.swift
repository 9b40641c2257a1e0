import CoreDataGraph
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

/// The copy of a store as it was before its migration.
package struct OriginalCopy {
  private let store: OutdatedStore
  private let place: URL

  init(of store: OutdatedStore, at place: URL) { (self.store, self.place) = (store, place) }

  /// Throws unless there is nothing at the place, and a folder that files can be made in; or a copy of the
  /// store as it is, as a process has left it that was killed. Returns whether there is one.
  func requirePlace() throws -> Bool { try Self.requirePlace(place, forStoreAt: store.url) }

  /// The same before a plan is made. Throws a `CocoaError`, 134160.
  package static func requirePlace(_ place: URL, ofStoreAt store: URL) throws {
    _ = try withMigrationErrors { try requirePlace(place, forStoreAt: store) }
  }

  private static func requirePlace(_ place: URL, forStoreAt store: URL) throws -> Bool {
    func refusal(_ reason: String) -> MigrationFailure {
      .originalCopy(place, reason)
    }
    guard place.isFileURL else { throw refusal("It is no file.") }
    if MigrationLock.names(of: store).contains(place.lastPathComponent) {
      throw refusal("Migrations of the store use that name, and remove what has it.")
    }
    if let found = FileStamp(path: place.path) {
      if found.identity == FileStamp(path: store.path)?.identity { throw refusal("It is the store itself.") }
      if found.kind == .folder { throw refusal("It is a folder.") }
      if isCopy(place, of: store) { return true }
      throw refusal("There is a file already, and it is no copy of the store as it is now.")
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
    return false
  }

  /// Whether a file is a copy of a store as it is now. Cost: reads both, and unless they are equal makes
  /// another copy, because that of a SQLite store has in it what the store has in its log.
  private static func isCopy(_ place: URL, of store: URL) -> Bool {
    let kind: any StoreEngineKind = StoreRegistry.kind(ofFileAt: store)
    func isEqual(to other: URL) throws -> Bool {
      try StoreContents.digest(of: place) == StoreContents.digest(of: other)
        && kind.valueFiles(of: place) == kind.valueFiles(of: other)
    }
    do {
      if try isEqual(to: store) { return true }
      let folder = try OwnedFolder(
        in: place.deletingLastPathComponent(), prefix: ".\(place.lastPathComponent).new")
      defer { folder.remove() }
      let copy: URL = folder.url.appendingPathComponent(place.lastPathComponent)
      try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
        at: copy, withPersistentStoreFrom: store, ofType: kind.type)
      return try isEqual(to: copy)
    } catch {
      return false
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
