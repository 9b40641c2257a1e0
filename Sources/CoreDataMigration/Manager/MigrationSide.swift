import CoreDataGraph
import CoreDataModel
import Foundation

/// Where a store is, of which type, and the program's options for it.
struct StorePlace {
  let url: URL
  let type: String
  let options: [AnyHashable: Any]

  init(_ url: URL, _ type: String, _ options: [AnyHashable: Any]?) {
    (self.url, self.type, self.options) = (url, type, options ?? [:])
  }

  /// Whether the store is a file that one save writes as a whole.
  var isWrittenAtOnce: Bool { [NSXMLStoreType, NSBinaryStoreType].contains(type) }

  /// Whether what is there is a file, and not a device: a store at `/dev/null` is in memory, and a program
  /// with all rights would remove the device.
  static func mayRemove(_ url: URL) -> Bool {
    guard url.isFileURL, let facts = try? FileManager.default.attributesOfItem(atPath: url.path) else {
      return false
    }
    let type = facts[.type] as? FileAttributeType
    return type == .typeRegular || type == .typeSymbolicLink
  }

  /// Removes the store with everything that lies beside it.
  func remove() {
    guard type != NSInMemoryStoreType, Self.mayRemove(url) else { return }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    try? coordinator.destroyPersistentStore(at: url, ofType: type, options: nil)
    for ending in ["", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: url.path + ending)
    }
  }
}

/// One of the two stacks of a migration: a store and a context of its own.
final class MigrationSide {
  /// A copy of the given model whose objects are plain `NSManagedObject`s: classes of the program may not fit
  /// the version.
  let model: NSManagedObjectModel
  let context: NSManagedObjectContext
  let store: NSPersistentStore
  private let coordinator: NSPersistentStoreCoordinator
  private let keepsAllDigits: Bool

  convenience init(_ place: StorePlace, _ given: NSManagedObjectModel, options: [AnyHashable: Any]) throws {
    guard let copy = given.copy() as? NSManagedObjectModel else {
      preconditionFailure("A copy has its type.")
    }
    copy.makesPlainObjects = true
    try self.init(place, plain: copy, options: options)
  }

  /// The store again, with the same entities: prepared mappings name them.
  func reopened(_ place: StorePlace, options: [AnyHashable: Any]) throws -> MigrationSide {
    try MigrationSide(place, plain: model, options: options)
  }

  private init(_ place: StorePlace, plain model: NSManagedObjectModel, options: [AnyHashable: Any]) throws {
    self.model = model
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    var all: [AnyHashable: Any] = place.options.merging(options) { $1 }
    for key in [
      NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
      NSPersistentStoreStagedMigrationManagerOptionKey,
    ] { all[key] = nil }
    keepsAllDigits = ExactDecimals.isRequested(all[ClarusExactDecimalsKey])
    // A source may have more digits than a save keeps: those of an XML store, or of rows written with the
    // option.
    all[ClarusExactDecimalsKey] = true
    store = try coordinator.addPersistentStore(
      ofType: place.type, configurationName: nil, at: place.url, options: all)
    // Used on the thread that migrates, by policies too.
    context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.undoManager = nil
  }

  /// The objects with these numbers, read with as few statements as their entities are.
  func objects(_ numbers: [InstanceNumber], prefetching relationships: [String] = []) throws
    -> [NSManagedObject]
  {
    let ids: [NSManagedObjectID] = numbers.map { store.objectID(entity: Int($0.entity), key: $0.key) }
    var groups: [String: [NSManagedObjectID]] = [:]
    for id in ids where context.registeredObject(for: id).map({ $0.isFault }) ?? true {
      groups[id.entity.name ?? "", default: []].append(id)
    }
    // Kept until the end: a context refers to unchanged objects weakly.
    var read: [NSManagedObject] = []
    for (name, ids) in groups {
      let request = NSFetchRequest<NSManagedObject>(entityName: name)
      request.includesSubentities = false
      request.returnsObjectsAsFaults = false
      request.relationshipKeyPathsForPrefetching = relationships
      request.predicate = NSPredicate(format: "SELF IN %@", ids)
      read += try context.fetch(request)
    }
    return withExtendedLifetime(read) { ids.map { context.object(with: $0) } }
  }

  /// Whether the program requests that no decimal of the attribute is rounded.
  func keepsAllDigits(of attribute: NSAttributeDescription) -> Bool {
    keepsAllDigits || ExactDecimals.isRequested(attribute.userInfo?[ClarusExactDecimalsKey])
  }

  func close() { try? coordinator.remove(store) }
}
