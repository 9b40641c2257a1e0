import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Stores of Apple's framework through all kinds: SQLite, XML, binary, and SQLite again.
@Suite
struct ConversionChainTests {
  private static let types: [String] = [NSXMLStoreType, NSBinaryStoreType, NSSQLiteStoreType]

  /// Takes a context's one store from type to type; each has the digest that is returned.
  @discardableResult
  private func chain(
    _ context: NSManagedObjectContext, _ types: [String], _ folder: TemporaryFolder,
    options: [String: Any]? = nil
  ) throws -> GraphDigest {
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    var store: NSPersistentStore = try #require(coordinator.persistentStores.first)
    let configuration: String? = store.configurationName == "Held" ? "Held" : nil
    let entities: [NSEntityDescription] = context.heldEntities
    let first: GraphDigest = try context.performAndWait { try GraphDigest(context, entities) }
    for (place, type) in types.enumerated() {
      let url: URL = folder.file("\(place).\(type)")
      store = try coordinator.migratePersistentStore(store, to: url, options: options, withType: type)
      // Another stack has nothing of the old store in memory.
      let other = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
      let opened: NSPersistentStore = try other.addPersistentStore(
        ofType: type, configurationName: configuration, at: url, options: options)
      let fresh = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      fresh.persistentStoreCoordinator = other
      let digest: GraphDigest = try fresh.performAndWait { try GraphDigest(fresh, entities) }
      #expect(digest == first, "\(type), store \(place)")
      try other.remove(opened)
      if type == NSSQLiteStoreType {
        #expect(try FileContents(url).integrity == "ok")
      }
    }
    return first
  }

  @Test(
    .enabled(if: RealStores.folder != nil, "\(SharedFiles.absence)"), arguments: RealStores.withModel)
  func `an SQLite store of Apple's framework is the same graph after XML, binary and SQLite`(path: String)
    throws
  {
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try RealStores.open(try RealStores.copy(path, to: folder))
    let digest: GraphDigest = try chain(context, Self.types, folder)
    print("chain of \(path): \(digest.count) objects, \(digest.links) links")
  }

  @Test(
    .enabled(
      if: !AppleStore.documents.isEmpty, "There are no fixtures; set CLARUS_FIXTURES to their folder."),
    arguments: AppleStore.documents + AppleStore.binaries)
  func `an XML or binary store of Apple's framework is the same graph after all kinds`(url: URL) throws {
    let folder = try TemporaryFolder()
    let copy: URL = folder.file("a.store")
    try Data(contentsOf: url).write(to: copy)
    let context: NSManagedObjectContext = try AppleStore(url).open(copy)
    let isDocument: Bool = AppleStore.documents.contains(url)
    let types: [String] =
      isDocument
      ? [NSBinaryStoreType, NSSQLiteStoreType, NSXMLStoreType]
      : [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]
    let digest: GraphDigest = try chain(
      context, types, folder, options: [NSIgnorePersistentStoreVersioningOption: true])
    print("chain of \(url.lastPathComponent): \(digest.count) objects, \(digest.links) links")
  }

  @Test(arguments: [
    [NSXMLStoreType, NSBinaryStoreType, NSSQLiteStoreType],
    [NSBinaryStoreType, NSXMLStoreType, NSSQLiteStoreType, NSBinaryStoreType],
  ])
  func `the store that ships with the project is the same graph after all kinds`(types: [String]) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Library.sqlite")
    try Data(contentsOf: SharedFiles.package.appendingPathComponent("Examples/Stores/Library.sqlite"))
      .write(to: url)
    let digest: GraphDigest = try chain(try RealStores.open(url), types, folder)
    #expect(digest.count > 0 && digest.links > 0)
  }

  @Test func `a digest tells a changed value, link and order`() throws {
    let context: NSManagedObjectContext = try DamagedSource(
      type: NSInMemoryStoreType, whole: [], model: World.shared, newEntity: "Item"
    ).open(URL(fileURLWithPath: "/dev/null"))
    try context.performAndWait {
      let songs: [NSManagedObject] = (0..<3).map { context.make("Song", ["name": "song \($0)"]) }
      let album: NSManagedObject = context.make("Album", ["name": "a"])
      album.setValue(NSOrderedSet(array: songs), forKey: "songs")
      try context.save()
      func digest() throws -> GraphDigest { try GraphDigest(context, context.heldEntities) }
      let first: GraphDigest = try digest()
      #expect(try digest() == first)
      album.setValue(NSOrderedSet(array: songs.reversed()), forKey: "songs")
      #expect(try digest() != first)
      album.setValue(NSOrderedSet(array: songs), forKey: "songs")
      #expect(try digest() == first)
      songs[0].setValue("other", forKey: "name")
      #expect(try digest() != first)
      songs[0].setValue("song 0", forKey: "name")
      songs[2].setValue(nil, forKey: "album")
      #expect(try digest() != first)
    }
  }
}
