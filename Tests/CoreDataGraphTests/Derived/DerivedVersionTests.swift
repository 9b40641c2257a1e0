import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Finding B13: which stores fit a model with derived attributes. What these add to Apple's version hashes is
/// not known, so hashes that Apple's tools recorded are honoured, and structures compared where that
/// is not enough.
@Suite
struct DerivedVersionTests {
  /// The hashes that stand in for Apple's: any but ours, for the entities with derived attributes.
  private static func foreign(_ model: NSManagedObjectModel) -> [String: Data] {
    Dictionary(
      uniqueKeysWithValues: model.entities.map { entity in
        let isDerived: Bool = entity.properties.contains { $0 is NSDerivedAttributeDescription }
        let hash: Data = entity.versionHash
        return (entity.name ?? "", isDerived ? Data(hash.reversed()) : hash)
      })
  }

  /// A store with Apple's layout whose metadata holds hashes that Clarus can't compute, as in a store of
  /// Apple's framework.
  private static func makeForeignStore(_ url: URL) throws -> [String: Data] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Depot.model)
    try coordinator.remove(
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url))
    let hashes: [String: Data] = foreign(Depot.model)
    var plist: [String: Any] = try self.plist(url)
    plist[NSStoreModelVersionHashesKey] = hashes
    plist["NSStoreModelVersionHashesDigest"] = "written by another framework"
    let data: Data = try PropertyListSerialization.data(
      fromPropertyList: plist, format: .binary, options: 0)
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    try queue.write { try $0.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [data]) }
    return hashes
  }

  /// What the file itself holds.
  private static func plist(_ url: URL) throws -> [String: Any] {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    let data: Data? = try queue.read { try Data.fetchOne($0, sql: "SELECT Z_PLIST FROM Z_METADATA") }
    let plist: Any = try PropertyListSerialization.propertyList(
      from: #require(data), options: [], format: nil)
    return try #require(plist as? [String: Any])
  }

  private static func metadata(_ url: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
  }

  private static func open(_ url: URL, _ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func changed(_ change: (NSEntityDescription) -> Void) throws -> NSManagedObjectModel {
    let model = try #require(Depot.model.copy() as? NSManagedObjectModel)
    change(try #require(model.entitiesByName["Book"]))
    return model
  }

  @Test func `a store's own model fits it, and carries the hashes that the store has`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Depot.sqlite")
    let hashes: [String: Data] = try Self.makeForeignStore(url)
    let metadata: [String: Any] = try Self.metadata(url)
    let carried = try #require(try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url))
    #expect(carried.entityVersionHashesByName == hashes)
    let copy = try #require(carried.copy() as? NSManagedObjectModel)
    for model in [carried, copy] {
      #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
      // Metadata that went through a property list of the program has Apple's keys only.
      let bare: [String: Any] = [NSStoreModelVersionHashesKey: hashes]
      #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: bare))
    }
    // A fresh store of it has the hashes too.
    let fresh: URL = folder.file("Fresh.sqlite")
    _ = try Self.open(fresh, copy)
    #expect(try Self.plist(fresh)[NSStoreModelVersionHashesKey] as? [String: Data] == hashes)
  }

  @Test func `a model made elsewhere fits by its structure`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Depot.sqlite")
    _ = try Self.makeForeignStore(url)
    let metadata: [String: Any] = try Self.metadata(url)
    let model: NSManagedObjectModel = Depot.model
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(NSManagedObjectModel(byMerging: [model], forStoreMetadata: metadata) == model)
    let store: NSPersistentStore = try #require(
      try Self.open(url, model).persistentStoreCoordinator?.persistentStores.first)
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: store.metadata))
  }

  @Test func `a model that differs in what stores depend on does not fit, and does not open the store`()
    throws
  {
    let models: [String: NSManagedObjectModel] = [
      "another derivation": try Self.changed { book in
        let copy = book.propertiesByName["titleCopy"] as? NSDerivedAttributeDescription
        copy?.derivationExpression = NSExpression(format: "uppercase:(title)")
      },
      "another attribute": try Self.changed {
        $0.properties.append(World.attribute("x", .stringAttributeType))
      },
      "another type": try Self.changed { book in
        (book.propertiesByName["tagCount"] as? NSAttributeDescription)?.attributeType =
          .integer64AttributeType
      },
      "no longer derived": try Self.changed { book in
        book.properties.removeAll { $0.name == "titleCopy" }
        book.properties.append(World.attribute("titleCopy", .stringAttributeType))
      },
    ]
    let folder = try TemporaryFolder()
    let foreign: URL = folder.file("Foreign.sqlite")
    _ = try Self.makeForeignStore(foreign)
    let own: URL = folder.file("Own.sqlite")
    _ = try Self.open(own, Depot.model)
    for url in [foreign, own] {
      let metadata: [String: Any] = try Self.metadata(url)
      for (name, model) in models.sorted(by: { $0.key < $1.key }) {
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata), "\(name)")
        let code: Int = codeThrown { _ = try Self.open(url, model) }
        #expect(code == NSPersistentStoreIncompatibleVersionHashError, "\(name)")
      }
    }
  }

  @Test func `hashes that were recorded for a model end with a change to it`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Depot.sqlite")
    let hashes: [String: Data] = try Self.makeForeignStore(url)
    let carried = try #require(try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url))
    let model = try #require(carried.copy() as? NSManagedObjectModel)
    let book = try #require(model.entitiesByName["Book"])
    book.properties.append(World.attribute("x", .stringAttributeType))
    #expect(book.versionHash != hashes["Book"])
    #expect(model.entitiesByName["Novel"]?.versionHash != hashes["Novel"], "its parent has changed")
    #expect(model.entitiesByName["Author"]?.versionHash == hashes["Author"])
    book.properties.removeAll { $0.name == "x" }
    #expect(model.entityVersionHashesByName == hashes)
  }

  @Test func `hashes that were recorded go with the archive of a model`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Depot.sqlite")
    let hashes: [String: Data] = try Self.makeForeignStore(url)
    let carried = try #require(try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url))
    let data: Data = try NSKeyedArchiver.archivedData(withRootObject: carried, requiringSecureCoding: true)
    let again: NSManagedObjectModel = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data))
    #expect(again.entityVersionHashesByName == hashes)
  }

  @Test func `saving leaves what the file's framework recorded, so that it can open the file again`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Depot.sqlite")
    _ = try Self.makeForeignStore(url)
    let before: [String: Any] = try Self.plist(url)
    let context: NSManagedObjectContext = try Self.open(url, Depot.model)
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    let store: NSPersistentStore = coordinator.persistentStores[0]
    try context.performAndWait {
      _ = context.make("Book", ["title": "A"])
      // What the store gives, set again with a note of the program: nothing that is not the file's
      // gets into it.
      var metadata: [String: Any] = coordinator.metadata(for: store)
      metadata["note"] = "kept"
      metadata[NSStoreModelVersionHashesKey] = ["Book": Data()]
      coordinator.setMetadata(metadata, for: store)
      try context.save()
    }
    try coordinator.remove(store)
    var after: [String: Any] = try Self.plist(url)
    #expect(after.removeValue(forKey: "note") as? String == "kept")
    #expect(NSDictionary(dictionary: after).isEqual(NSDictionary(dictionary: before)))
    #expect(after.keys.filter { $0.hasPrefix("Clarus") } == [])
  }
}
