import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// A coordinator with several stores. Source: Apple's documentation of `NSPersistentStoreCoordinator`.
@Suite
struct CoordinatorTests {
  /// Two stores of one kind that hold the same entities.
  private struct Pair {
    let folder: TemporaryFolder
    let coordinator: NSPersistentStoreCoordinator
    let stores: [NSPersistentStore]
    let context: NSManagedObjectContext

    init(_ kind: StoreKind) throws {
      let folder = try TemporaryFolder()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
      self.folder = folder
      self.coordinator = coordinator
      stores = try ["first", "second"].map { name in
        try coordinator.addPersistentStore(
          ofType: kind.type, configurationName: nil, at: kind.url(name, in: folder))
      }
      context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
    }

    /// An item in each store.
    func fill() throws -> [NSManagedObjectID] {
      try context.performAndWait {
        let items: [Item] = stores.indices.map { place in
          let item: Item = context.item("in \(place)")
          context.assign(item, to: stores[place])
          return item
        }
        try context.save()
        return items.map(\.objectID)
      }
    }
  }

  // MARK: Several stores

  @Test(arguments: StoreKind.every)
  func `a relationship across stores is refused with both objects and both stores`(kind: StoreKind) throws {
    let pair = try Pair(kind)
    try pair.context.performAndWait {
      let (item, category): (Item, StackSupport.Category) = (
        pair.context.item("a"), pair.context.category("c")
      )
      pair.context.assign(item, to: pair.stores[0])
      pair.context.assign(category, to: pair.stores[1])
      try pair.context.save()
      item.category = category
      let error: NSError = try #require(errorThrown { try pair.context.save() })
      #expect(error.code == NSManagedObjectExternalRelationshipError)
      let text: String = error.localizedDescription
      for part in [item, category].map({ $0.objectID.uriRepresentation().absoluteString })
        + pair.stores.map(Self.name)
      {
        #expect(text.contains(part), "\(part): \(text)")
      }
    }
  }

  private static func name(_ store: NSPersistentStore) -> String {
    store.url?.path ?? store.identifier ?? ""
  }

  // MARK: URIs

  @Test(arguments: StoreKind.every)
  func `a URI leads to the store that it names, and nowhere when that is gone`(kind: StoreKind) throws {
    let pair = try Pair(kind)
    let ids: [NSManagedObjectID] = try pair.fill()
    let uris: [URL] = ids.map { $0.uriRepresentation() }
    func id(_ uri: URL?) -> NSManagedObjectID? {
      uri.flatMap { pair.coordinator.managedObjectID(forURIRepresentation: $0) }
    }
    for (place, uri) in uris.enumerated() {
      #expect(id(uri) == ids[place] && id(uri)?.persistentStore === pair.stores[place])
    }
    let text: String = uris[1].absoluteString
    for broken in [
      "", "x", "x-coredata:", "x-coredata://", "x-coredata:///", "x-coredata:///Item/t1", text + "/",
      text + "/x",
      text + "?a=b", text + "#a", text.replacing("x-coredata", with: "http"),
      text.replacing("/Item/", with: "/Nothing/"), text.replacing("/Item/", with: "//"),
      text.replacing(pair.stores[1].identifier, with: UUID().uuidString),
    ] {
      #expect(id(URL(string: broken)) == nil, "\(broken)")
    }
    try pair.coordinator.remove(pair.stores[1])
    #expect(id(uris[1]) == nil && ids[1].persistentStore == nil)
    #expect(id(uris[0]) == ids[0])
    pair.context.performAndWait {
      #expect(
        codeThrown { _ = try pair.context.existingObject(with: ids[1]) }
          == NSManagedObjectReferentialIntegrityError)
    }
  }

  // MARK: Adding

  @Test func `a store that is added asynchronously calls back once, when it is there`() async throws {
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    for (name, isThere) in [("a.sqlite", true), ("none/a.sqlite", false)] {
      let description = NSPersistentStoreDescription(url: folder.file(name))
      description.shouldAddStoreAsynchronously = true
      let (count, code): (Int, Int) = await withCheckedContinuation { continuation in
        coordinator.addPersistentStore(with: description) { _, error in
          continuation.resume(
            returning: (coordinator.persistentStores.count, (error as NSError?)?.code ?? 0))
        }
      }
      #expect(count == 1 && (code == 0) == isThere)
    }
  }

  @Test(arguments: StoreKind.every)
  func `each store that comes or goes is one notification with it alone`(kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let recorder = Recorder([.NSPersistentStoreCoordinatorStoresDidChange], of: coordinator)
    let stores: [NSPersistentStore] = try ["a", "b"].map { name in
      try coordinator.addPersistentStore(
        ofType: kind.type, configurationName: nil, at: kind.url(name, in: folder))
    }
    try coordinator.remove(stores[0])
    let told: [[String: [NSPersistentStore]]] = recorder.received.map { notification in
      (notification.userInfo as? [String: [NSPersistentStore]]) ?? [:]
    }
    #expect(
      told == [
        [NSAddedPersistentStoresKey: [stores[0]]], [NSAddedPersistentStoresKey: [stores[1]]],
        [NSRemovedPersistentStoresKey: [stores[0]]],
      ])
    #expect(coordinator.persistentStores == [stores[1]])
  }

  // MARK: Files that can't be opened

  /// What an encrypted database looks like: random bytes from the first.
  @Test func `an encrypted file is refused with its name and a way out`() throws {
    let folder = try TemporaryFolder()
    let file: URL = folder.file("Secret.sqlite")
    var random = SeededRandom(seed: 7)
    let bytes = Data((0..<8192).map { _ in UInt8.random(in: 0...255, using: &random) })
    try bytes.write(to: file)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let error: NSError = try #require(
      errorThrown {
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      })
    #expect(error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreInvalidTypeError)
    #expect(error.userInfo[NSFilePathErrorKey] as? String == file.path)
    for part in [file.path, "encrypted"] { #expect(error.localizedDescription.contains(part), "\(error)") }
    #expect(try Data(contentsOf: file) == bytes)
    #expect(coordinator.persistentStores.isEmpty)
  }

  /// The tables are the same, so the version that wrote them is no obstacle.
  @Test func `a store of a newer framework version is read and written, and keeps what it says`() throws {
    let folder = try TemporaryFolder()
    let file: URL = folder.file("Newer.sqlite")
    func open() throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
      return (
        coordinator,
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      )
    }
    var (coordinator, store) = try open()
    try coordinator.remove(store)
    let queue = try DatabaseQueue(path: file.path)
    try queue.write { database in
      let data: Data = try #require(try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA"))
      var metadata: [String: Any] = try #require(
        try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
      metadata["NSPersistenceFrameworkVersion"] = 99_999
      try database.execute(
        sql: "UPDATE Z_METADATA SET Z_PLIST = ?",
        arguments: [
          try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        ])
    }
    try queue.close()
    (coordinator, store) = try open()
    #expect(store.metadata["NSPersistenceFrameworkVersion"] as? Int == 99_999)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      _ = context.item("a")
      try context.save()
    }
    try coordinator.remove(store)
    (coordinator, store) = try open()
    #expect(store.metadata["NSPersistenceFrameworkVersion"] as? Int == 99_999)
  }
}
