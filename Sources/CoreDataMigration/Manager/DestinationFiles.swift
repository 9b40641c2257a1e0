import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Where a manager writes: at the destination if no store is there. A store of the destination model is
/// copied to a hidden folder beside it, objects are added to the copy, and it takes the store's place when
/// all are there (Decisions/0078).
struct DestinationFiles {
  /// In the metadata of a store that a migration has begun and not finished.
  static let unfinishedKey = "ClarusUnfinishedMigration"

  /// The place of the store that the migration writes.
  let place: StorePlace
  private let wanted: StorePlace
  private let copy: Copy?

  private struct Copy {
    let lock: MigrationLock
    let folder: StagingFolder
    /// nil for a store of the program's own type.
    let replacement: UnchangedReplacement?

    func end() {
      replacement?.end()
      folder.discard()
      lock.release()
    }
  }

  init(_ wanted: StorePlace, model: NSManagedObjectModel) throws {
    self.wanted = wanted
    guard Self.isTaken(wanted) else {
      (place, copy) = (wanted, nil)
      return
    }
    let metadata: [String: Any]? = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: wanted.type, at: wanted.url, options: wanted.options)
    guard let metadata, model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else {
      throw MigrationFailure.destinationStore(
        wanted.url,
        "There is something already, which is no store of the destination model. Give another URL, or remove it first."
      )
    }
    if metadata[Self.unfinishedKey] != nil {
      wanted.remove()
      (place, copy) = (wanted, nil)
      return
    }
    let lock = try MigrationLock(of: wanted.url)
    let folder = StagingFolder(for: wanted.url)
    var replacement: UnchangedReplacement?
    do {
      try folder.begin()
      try folder.prepare(step: 0)
      if StoreRegistry.fileKind(ofType: wanted.type) != nil {
        replacement = try UnchangedReplacement(of: wanted, failure: MigrationFailure.destinationStore)
      }
      place = StorePlace(folder.made(byStep: 0), wanted.type, wanted.options)
      try Self.replace(place, by: wanted)
    } catch {
      Copy(lock: lock, folder: folder, replacement: replacement).end()
      throw error
    }
    copy = Copy(lock: lock, folder: folder, replacement: replacement)
  }

  /// An empty file is no store: that is what destroying one leaves.
  private static func isTaken(_ place: StorePlace) -> Bool {
    if place.type == NSInMemoryStoreType || !place.url.isFileURL { return false }
    guard let facts = try? FileManager.default.attributesOfItem(atPath: place.url.path) else { return false }
    return (facts[.size] as? NSNumber)?.intValue != 0
  }

  /// Called when the store is complete and closed.
  func publish() throws {
    guard let copy else { return }
    defer { copy.end() }
    if let replacement = copy.replacement { return try replacement.complete(with: place.url) }
    try Self.replace(wanted, by: place)
  }

  /// Called after an error, when the store is closed. `isUnwritten`: whether nothing was written at the
  /// place.
  func discard(isUnwritten: Bool = false) {
    if let copy { copy.end() } else if !isUnwritten { place.remove() }
  }

  private static func replace(_ place: StorePlace, by other: StorePlace) throws {
    try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
      at: place.url, destinationOptions: place.options, withPersistentStoreFrom: other.url,
      sourceOptions: other.options, ofType: place.type)
  }
}
