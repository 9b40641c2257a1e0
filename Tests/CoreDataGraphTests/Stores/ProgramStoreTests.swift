import CoreData
import CoreDataPredicates
import CoreDataStorage
import Foundation
import StackSupport
import StoreConformance
import TestSupport
import Testing

@testable import CoreDataGraph

/// Store classes of a program's own, and the seam by which the graph asks any store.
@Suite(.serialized) struct ProgramStoreTests {
  init() {
    NSPersistentStoreCoordinator.registerStoreClass(
      DictionaryStore.self, forStoreType: DictionaryStore.storeType)
  }

  // MARK: Conformance

  @Test(arguments: StoreScenario.all)
  func `a store written only against the seam behaves as every store does`(scenario: StoreScenario) throws {
    try scenario.run(
      on: StoreMaker { try TestedProgramStore($0.model, type: DictionaryStore.storeType) })
  }

  @Test(arguments: StoreScenario.all)
  func `a built-in store does so too when it is asked as a context asks it`(scenario: StoreScenario) throws {
    let folder = try TemporaryFolder()
    try scenario.run(
      on: StoreMaker {
        try TestedProgramStore(
          $0.model, type: NSSQLiteStoreType, url: folder.file("\(UUID().uuidString).sqlite"))
      })
  }

  // MARK: Under a coordinator

  private func dictionary() throws -> (NSPersistentStoreCoordinator, DictionaryStore) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let store = try coordinator.addPersistentStore(
      type: NSPersistentStore.StoreType(rawValue: DictionaryStore.storeType),
      at: URL(fileURLWithPath: "/nowhere/dictionary"))
    return (coordinator, try #require(store as? DictionaryStore))
  }

  private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    made.persistentStoreCoordinator = coordinator
    return made
  }

  @Test func `objects are saved to a program's store, fetched, related and counted`() throws {
    let (coordinator, _) = try dictionary()
    let first: NSManagedObjectContext = context(coordinator)
    try first.performAndWait {
      for (title, price) in [("a", 1), ("b", 2), ("c", 3)] as [(String, Double)] {
        let item = Item(context: first)
        item.title = title
        item.price = price
        item.category = Category(context: first)
        item.category?.name = "kind of \(title)"
      }
      try first.save()
    }
    let second: NSManagedObjectContext = context(coordinator)
    try second.performAndWait {
      let request = NSFetchRequest<Item>(entityName: "Item")
      request.predicate = NSPredicate(format: "price > 1 AND category.name ENDSWITH 'c'")
      let found: Item = try #require(try second.fetch(request).first)
      #expect(found.title == "c" && found.category?.name == "kind of c")
      #expect(found.category?.mutableSetValue(forKey: "items").count == 1)
      request.predicate = NSPredicate(format: "price >= 2")
      let count: Int = try second.count(for: request)
      #expect(count == 2)
      let uri: URL = found.objectID.uriRepresentation()
      #expect(coordinator.managedObjectID(forURIRepresentation: uri) == found.objectID)
    }
  }

  @Test func `two contexts that save one object of a program's store meet in a conflict`() throws {
    let (coordinator, _) = try dictionary()
    let (first, second) = (context(coordinator), context(coordinator))
    try first.performAndWait {
      Item(context: first).title = "old"
      try first.save()
    }
    let request = NSFetchRequest<Item>(entityName: "Item")
    // Held, so that the context goes on with what it has read.
    var held: [Item] = []
    try second.performAndWait {
      held = try second.fetch(request)
      #expect(held.map(\.title) == ["old"])
    }
    try first.performAndWait {
      try first.fetch(request).first?.title = "mine"
      try first.save()
    }
    try second.performAndWait {
      held.first?.title = "theirs"
      var refused = false
      do { try second.save() } catch { refused = true }
      #expect(refused)
      second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try second.save()
    }
    try first.performAndWait {
      first.refreshAllObjects()
      let titles: [String?] = try first.fetch(request).map(\.title)
      #expect(titles == ["theirs"])
    }
  }

  @Test func `a program's store sees the requests by which it is asked`() throws {
    let (coordinator, store) = try dictionary()
    let context: NSManagedObjectContext = context(coordinator)
    try context.performAndWait {
      let item = Item(context: context)
      try context.save()
      let request = NSFetchRequest<Item>(entityName: "Item")
      _ = try context.fetch(request)
      let asked: [NSPersistentStoreRequest] = store.requests.withLock { $0 }
      #expect(asked.map(\.requestType) == [.saveRequestType, .fetchRequestType])
      #expect((asked[0] as? NSSaveChangesRequest)?.insertedObjects == Set<NSManagedObject>([item]))
      #expect(asked[1] === request)
    }
  }

  @Test func `objects of a program's store are copied into a SQLite store and back`() throws {
    let (coordinator, store) = try dictionary()
    let context: NSManagedObjectContext = context(coordinator)
    try context.performAndWait {
      Item(context: context).title = "kept"
      try context.save()
    }
    let folder = try TemporaryFolder()
    let file: NSPersistentStore = try coordinator.migratePersistentStore(
      store, to: folder.file("Copy.sqlite"), withType: NSSQLiteStoreType)
    #expect(store.journal.withLock { $0 } == ["load", "add", "remove"])
    file.metadata["owner"] = "shop"
    let back = try #require(
      try coordinator.migratePersistentStore(
        file, to: folder.file("dictionary"), withType: DictionaryStore.storeType) as? DictionaryStore)
    #expect(back.journal.withLock { $0 } == ["load", "add"])
    #expect(back.metadata["owner"] as? String == "shop")
    let other: NSManagedObjectContext = self.context(coordinator)
    try other.performAndWait {
      let titles: [String?] = try other.fetch(NSFetchRequest<Item>(entityName: "Item")).map(\.title)
      #expect(titles == ["kept"])
    }
  }

  @Test func `what was saved before a program's store threw is not saved again`() throws {
    let (coordinator, first) = try dictionary()
    let second = try #require(
      try coordinator.addPersistentStore(ofType: DictionaryStore.storeType, configurationName: nil, at: nil)
        as? DictionaryStore)
    let context: NSManagedObjectContext = context(coordinator)
    try context.performAndWait {
      for store in [first, second] {
        let item = Item(context: context)
        context.assign(item, to: store)
      }
      second.failure.withLock { $0 = CocoaError(.fileWriteOutOfSpace) }
      do {
        try context.save()
        Issue.record("nothing was thrown")
      } catch {
        #expect((error as NSError).code == NSPersistentStoreIncompleteSaveError)
        let cause: NSError? = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(cause?.code == CocoaError.fileWriteOutOfSpace.rawValue)
      }
      #expect(context.insertedObjects.count == 1)
      second.failure.withLock { $0 = nil }
      try context.save()
      #expect(!context.hasChanges)
    }
    for store in [first, second] {
      #expect(try #require(store.rows).saved.map { $0.inserts.map(\.rows.count) } == [[1]])
    }
  }

  // MARK: The class

  @Test func `a class may keep its metadata itself`() throws {
    final class OwnMetadata: NSPersistentStore, @unchecked Sendable {
      // Sendable: used by one test, on one thread.
      private var own: [String: Any]?
      override func loadMetadata() throws { own = [NSStoreUUIDKey: "own"] }
      override var metadata: [String: Any]! {
        get { own }
        set { own = newValue }
      }
    }
    NSPersistentStoreCoordinator.registerStoreClass(OwnMetadata.self, forStoreType: "OwnMetadata")
    defer { NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "OwnMetadata") }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: "OwnMetadata", configurationName: nil, at: nil)
    #expect(store.identifier == "own")
  }

  @Test func `no folder is made for a store at a URL that names no file`() throws {
    let description = NSPersistentStoreDescription(url: try #require(URL(string: "https://shop.invalid/a/b")))
    description.type = DictionaryStore.storeType
    let container = NSPersistentContainer(name: "Shop", managedObjectModel: World.shared)
    container.persistentStoreDescriptions = [description]
    nonisolated(unsafe) var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test func `a store is loaded, added and removed in that order`() throws {
    let (coordinator, store) = try dictionary()
    #expect(store.persistentStoreCoordinator === coordinator)
    #expect(
      store.type == DictionaryStore.storeType && store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
    try coordinator.remove(store)
    #expect(store.journal.withLock { $0 } == ["load", "add", "remove"])
    #expect(store.persistentStoreCoordinator == nil)
  }

  @Test func `a store that removes itself while it is removed is told so`() throws {
    final class Leaving: NSPersistentStore, @unchecked Sendable {
      // Sendable: used by one test, on one thread.
      var refusal: String?
      override func loadMetadata() throws { metadata = [NSStoreUUIDKey: "leaving"] }
      override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        do { try coordinator?.remove(self) } catch { refusal = "\(error)" }
      }
    }
    NSPersistentStoreCoordinator.registerStoreClass(Leaving.self, forStoreType: "Leaving")
    defer { NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Leaving") }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let store = try #require(
      try coordinator.addPersistentStore(ofType: "Leaving", configurationName: nil, at: nil) as? Leaving)
    try coordinator.remove(store)
    #expect(store.refusal?.contains("is being removed already") == true)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(errorThrown { try coordinator.remove(store) }?.localizedDescription.contains("Removing") == true)
  }

  @Test func `what loading throws, adding throws, and nothing is added`() {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    #expect(throws: CocoaError(.persistentStoreOpen)) {
      try coordinator.addPersistentStore(
        ofType: DictionaryStore.storeType, configurationName: nil,
        at: URL(fileURLWithPath: "/nowhere/damaged"))
    }
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func `a class without a way to load is refused with what to do`() throws {
    final class Bare: NSPersistentStore, @unchecked Sendable {}
    NSPersistentStoreCoordinator.registerStoreClass(Bare.self, forStoreType: "Bare")
    defer { NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Bare") }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    do {
      try coordinator.addPersistentStore(ofType: "Bare", configurationName: nil, at: nil)
      Issue.record("nothing was thrown")
    } catch {
      #expect("\((error as NSError).localizedRecoverySuggestion ?? "")".contains("Override loadMetadata()"))
    }
  }

  @Test func `types are registered, listed and taken out`() {
    let type = "Passing"
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes[type] == nil)
    NSPersistentStoreCoordinator.registerStoreClass(
      DictionaryStore.self, type: NSPersistentStore.StoreType(rawValue: type))
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes[type] != nil)
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType] != nil)
    NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: type)
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes[type] == nil)
  }

  @Test func `plans that a kind does not offer are refused in words`() throws {
    let (coordinator, store) = try dictionary()
    let operations: any StoreOperations = try store.operations(for: StoreCaller(context(coordinator)))
    let plan = BatchPlan(.delete, of: operations.layout.entities[0], author: SaveAuthor())
    #expect(throws: StoreError.self) { try operations.execute(plan) }
  }

  @Test func `a save says who saves, and what of deleted rows a history is to keep`() throws {
    let entity = NSEntityDescription()
    entity.name = "Note"
    let attributes: [NSAttributeDescription] = ["number", "text"].map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .stringAttributeType
      attribute.preservesValueInHistoryOnDeletion = name == "number"
      return attribute
    }
    entity.properties = attributes
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try #require(
      try coordinator.addPersistentStore(
        ofType: DictionaryStore.storeType, configurationName: nil, at: nil) as? DictionaryStore)
    let context: NSManagedObjectContext = context(coordinator)
    try context.performAndWait {
      context.name = "sync"
      context.transactionAuthor = "server"
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      note.setValue("7", forKey: "number")
      try context.save()
      context.delete(note)
      try context.save()
    }
    let saved: [SavePlan] = try #require(store.rows).saved
    #expect(
      saved.map(\.author) == Array(repeating: SaveAuthor(contextName: "sync", author: "server"), count: 2))
    #expect(saved[0].tombstones.isEmpty)
    let tombstone: RowTombstone = try #require(saved[1].tombstones.first)
    let number: Int = try #require(store.runtime.layout.byName["Note"]?.slotByName["number"])
    #expect(tombstone.slots == SlotSet([number]))
  }

  // MARK: Rows that others change

  @Test(arguments: [RowFreshness.aging, .notified])
  func `rows age in the cache unless the store says what others have changed`(freshness: RowFreshness) throws
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    SharedStore.freshness.withLock { $0 = freshness }
    NSPersistentStoreCoordinator.registerStoreClass(SharedStore.self, forStoreType: "Shared \(freshness)")
    let store = try #require(
      try coordinator.addPersistentStore(ofType: "Shared \(freshness)", configurationName: nil, at: nil)
        as? EngineStore)
    let engine: SharedEngine = try #require(SharedStore.made.withLock { $0 })
    let writer: NSManagedObjectContext = context(coordinator)
    let id: NSManagedObjectID = try writer.performAndWait {
      let item = Item(context: writer)
      item.title = "first"
      try writer.save()
      return item.objectID
    }
    let runtime: EntityRuntime = try #require(store.runtime.runtime(named: "Item"))
    try writer.performAndWait {
      let object: NSManagedObject = try writer.existingObject(with: id)
      defer { withExtendedLifetime(object) {} }
      // A context that takes no row older than a moment finds one that is not said to have changed.
      #expect(
        (store.keptRow(root: runtime.layout.rootIndex, key: id.key, age: 1e-9) == nil)
          == (freshness == .aging))
      engine.somebodyChanged(ChangedRows(root: runtime.layout.rootIndex, keys: [id.key]))
      #expect(
        (store.keptRow(root: runtime.layout.rootIndex, key: id.key, age: -1) == nil)
          == (freshness == .notified))
    }
  }
}
