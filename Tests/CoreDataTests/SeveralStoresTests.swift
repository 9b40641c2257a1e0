import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Two stores in one coordinator, and two stacks in one process.
@Suite
struct SeveralStoresTests {
  private func inFreshContext(
    _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    let fresh = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    fresh.persistentStoreCoordinator = coordinator
    try fresh.performAndWait { try body(fresh) }
  }

  /// The world's model with its entities in two configurations, and a store for each.
  private func pair(_ kind: StoreKind, configured: Bool) throws -> (
    folder: TemporaryFolder, coordinator: NSPersistentStoreCoordinator, context: NSManagedObjectContext
  ) {
    let folder = try TemporaryFolder()
    let model: NSManagedObjectModel = World.model()
    if configured {
      let music: Set<String> = ["Album", "Playlist", "Song", "Basket"]
      model.setEntities(
        model.entities.filter { music.contains($0.name ?? "") }, forConfigurationName: "Music")
      model.setEntities(
        model.entities.filter { !music.contains($0.name ?? "") }, forConfigurationName: "Rest")
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    for name in ["Music", "Rest"] {
      try coordinator.addPersistentStore(
        ofType: kind.type, configurationName: configured ? name : nil,
        at: kind.url("\(name)", in: folder))
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return (folder, coordinator, context)
  }

  /// A book with a kind of book that no configuration names, and tags.
  private static func library() -> NSManagedObjectModel {
    let book = World.entity("Book", [World.attribute("title", .stringAttributeType)])
    let novel = World.entity("Novel", [World.attribute("plot", .stringAttributeType)])
    let tag = World.entity("Tag", [World.attribute("title", .stringAttributeType)])
    book.subentities = [novel]
    let model = NSManagedObjectModel()
    model.entities = [book, novel, tag]
    for entity in model.entities { entity.managedObjectClassName = nil }
    model.setEntities([book], forConfigurationName: "Books")
    model.setEntities([tag], forConfigurationName: "Tags")
    return model
  }

  @Test(arguments: [StoreKind.sqlite, .xml, .binary])
  func `a configuration holds sub-entities, and opens a store that holds more`(kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let all: URL = try #require(kind.url("all", in: folder))
    func using(
      _ stores: [(String?, URL)], _ body: (NSManagedObjectContext, [NSPersistentStore]) throws -> Void
    ) throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.library())
      let opened: [NSPersistentStore] = try stores.map { name, url in
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: name, at: url)
      }
      try inFreshContext(coordinator) { try body($0, opened) }
      for store in opened { try coordinator.remove(store) }
    }
    func insert(_ entity: String, _ title: String, _ context: NSManagedObjectContext) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      object.setValue(title, forKey: "title")
      return object
    }
    func titles(_ entity: String, _ context: NSManagedObjectContext) throws -> [String] {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).compactMap {
        $0.value(forKey: "title") as? String
      }.sorted()
    }
    try using([(nil, all)]) { context, _ in
      for (entity, title) in [("Book", "b"), ("Novel", "n")] { _ = insert(entity, title, context) }
      // A file that is written as a whole would lose what the configuration does not hold.
      if kind == .sqlite { _ = insert("Tag", "t", context) }
      try context.save()
    }
    let tags: URL = try #require(kind.url("tags", in: folder))
    try using([("Books", all), ("Tags", tags)]) { context, stores in
      let before: [String] = try titles("Book", context)
      #expect(before == ["b", "n"])
      let (novel, tag) = (insert("Novel", "m", context), insert("Tag", "u", context))
      try context.save()
      #expect(novel.objectID.persistentStore === stores[0] && tag.objectID.persistentStore === stores[1])
    }
    try using([("Books", all), ("Tags", tags)]) { context, _ in
      let found: [[String]] = try ["Book", "Novel", "Tag"].map { try titles($0, context) }
      #expect(found == [["b", "m", "n"], ["m", "n"], ["u"]])
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: kind.type, at: all, options: nil)
    let model: NSManagedObjectModel = Self.library()
    #expect(model.isConfiguration(withName: "Books", compatibleWithStoreMetadata: metadata))
    model.entitiesByName["Novel"]?.properties.append(World.attribute("end", .stringAttributeType))
    #expect(!model.isConfiguration(withName: "Books", compatibleWithStoreMetadata: metadata))
  }

  // Finding: stores in memory had no version hashes, so that a program took each for one of another model.
  @Test(arguments: StoreKind.every)
  func `an open store tells whether a model fits`(kind: StoreKind) throws {
    let (_, coordinator, _) = try pair(kind, configured: true)
    let model: NSManagedObjectModel = coordinator.managedObjectModel
    for (store, name) in zip(coordinator.persistentStores, ["Music", "Rest"]) {
      for metadata in [store.metadata ?? [:], coordinator.metadata(for: store)] {
        #expect(model.isConfiguration(withName: name, compatibleWithStoreMetadata: metadata))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
      }
      if ![.sqlite, .sqliteInMemory, .inMemory, .xml, .binary].contains(kind) { continue }
      store.metadata = ["Author": "me", NSStoreModelVersionHashesKey: [String: Data]()]
      #expect(store.metadata["Author"] as? String == "me")
      #expect(model.isConfiguration(withName: name, compatibleWithStoreMetadata: store.metadata))
    }
  }

  @Test(
    .rule("STORE-2", "NSManagedObjectContext.assign(_:to:)"),
    .rule("FETCH-16", "NSFetchRequest.affectedStores"), arguments: StoreKind.every)
  func `objects go where their configuration or assign says`(kind: StoreKind) throws {
    let (_, coordinator, context) = try pair(kind, configured: true)
    let stores: [NSPersistentStore] = coordinator.persistentStores
    try context.performAndWait {
      let song: NSManagedObject = context.make("Song", ["name": "s"])
      let item: Item = context.item("i")
      try context.save()
      #expect(song.objectID.persistentStore === stores[0] && item.objectID.persistentStore === stores[1])
      #expect(try context.all(Item.self, "Item") == [item])
    }
    let (_, free, second) = try pair(kind, configured: false)
    try second.performAndWait {
      let items: [Item] = ["a", "b", "c", "d"].map { second.item($0) }
      second.assign(items[1], to: free.persistentStores[1])
      second.assign(items[3], to: free.persistentStores[1])
      try second.save()
      let places: [Bool] = items.map { $0.objectID.persistentStore === free.persistentStores[1] }
      #expect(places == [false, true, false, true])
      #expect(Set(items.map(\.objectID)).count == 4)
      // Sorted, limited, counted over both.
      let request: NSFetchRequest<Item> = second.request(Item.self, "Item", sort: ["-title"])
      request.fetchLimit = 3
      #expect(try second.fetch(request) == [items[3], items[2], items[1]])
      #expect(try second.count(for: request) == 3)
      request.fetchOffset = 2
      #expect(try second.fetch(request) == [items[1], items[0]])
      request.fetchOffset = 0
      request.affectedStores = [free.persistentStores[1]]
      #expect(try second.fetch(request) == [items[3], items[1]])
      items[0].title = "changed"
      #expect(try second.fetch(request) == [items[3], items[1]])
      items[1].title = "x"
      #expect(try second.fetch(request) == [items[1], items[3]])
      try second.save()
      #expect(try second.fetch(request) == [items[1], items[3]])
    }
  }

  @Test(.rule("REL-10", "NSManagedObjectExternalRelationshipError"), arguments: StoreKind.every, [0, 1])
  func `a relationship across stores is refused before anything is written`(kind: StoreKind, first: Int)
    throws
  {
    let (_, coordinator, context) = try pair(kind, configured: false)
    let stores: [NSPersistentStore] = coordinator.persistentStores
    try context.performAndWait {
      let category: Category = context.category("c")
      let item: Item = context.item("a", category)
      // In both orders: the store that is written first must not be written either.
      context.assign(category, to: stores[first])
      context.assign(item, to: stores[1 - first])
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSManagedObjectExternalRelationshipError, "\(error)")
      // Named from one side or the other.
      let named: Bool = ["Item.category", "Category.items"].contains {
        error.localizedDescription.contains($0)
      }
      #expect(named, "\(error)")
      // A program's store has named its new objects before the relationships are checked.
      #expect(category.isInserted && item.isInserted)
      #expect(category.objectID.isTemporaryID == !kind.isOfProgram)
      try inFreshContext(coordinator) { fresh in
        let items: [Item] = try fresh.all(Item.self, "Item")
        let categories: [Category] = try fresh.all(Category.self, "Category")
        #expect(items.isEmpty && categories.isEmpty)
      }
      item.category = nil
      try context.save()
      // Saved objects too.
      item.category = category
      #expect(codeThrown { try context.save() } == NSManagedObjectExternalRelationshipError)
      #expect(item.category === category)
    }
  }

  @Test(arguments: StoreKind.every)
  func `so is one across configurations`(kind: StoreKind) throws {
    let (_, _, context) = try pair(kind, configured: true)
    try context.performAndWait {
      let basket: NSManagedObject = context.make("Basket")
      basket.setValue(NSSet(array: [context.item("a")]), forKey: "items")
      #expect(codeThrown { try context.save() } == NSManagedObjectExternalRelationshipError)
      let count: Int = try context.count(for: context.request(Item.self, "Item"))
      #expect(count == 1, "the unsaved one")
    }
  }

  @Test(
    .rule("STORE-3", "NSPersistentStoreIncompleteSaveError", "stores are saved one by one"),
    arguments: StoreKind.computing)
  func `when the second store refuses, the first's part is saved and not written twice`(kind: StoreKind)
    throws
  {
    let (_, coordinator, context) = try pair(kind, configured: false)
    let stores: [NSPersistentStore] = coordinator.persistentStores
    try context.performAndWait {
      let taken: NSManagedObject = context.make("Unique", ["code": "x"])
      let gone: Item = context.item("gone")
      context.assign(taken, to: stores[1])
      context.assign(gone, to: stores[0])
      try context.save()
      context.delete(gone)
      let item: Item = context.item("a")
      context.assign(item, to: stores[0])
      let twin: NSManagedObject = context.make("Unique", ["code": "x"])
      context.assign(twin, to: stores[1])
      let error: NSError = try #require(errorThrown { try context.save() })
      // Apple: a save over several stores is not atomic; 134040 tells of it.
      #expect(error.code == NSPersistentStoreIncompleteSaveError || item.isInserted, "\(error)")
      twin.setValue("y", forKey: "code")
      try context.save()
      #expect(!context.hasChanges && !item.objectID.isTemporaryID && gone.managedObjectContext == nil)
      try inFreshContext(coordinator) { fresh in
        let items: [Item] = try fresh.all(Item.self, "Item")
        #expect(items.map(\.title) == ["a"])
        let count: Int = try fresh.count(for: fresh.request(NSManagedObject.self, "Unique"))
        #expect(count == 2)
      }
    }
  }

  // The policy settles conflicts with every store, not with the first alone.
  @Test(
    arguments: StoreKind.computing, [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump])
  func `conflicts in a later store are settled, and the save is told of once`(
    kind: StoreKind, policy: NSMergePolicy
  ) throws {
    let (_, coordinator, context) = try pair(kind, configured: false)
    let stores: [NSPersistentStore] = coordinator.persistentStores
    let objectWins: Bool = policy == .mergeByPropertyObjectTrump
    try context.performAndWait {
      context.mergePolicy = policy
      var first: [Item] = []
      var second: [Item] = []
      for place in 0..<2 {
        let items: [Item] = ["edited", "deleted", "met"].map { context.item($0) }
        for item in items { context.assign(item, to: stores[place]) }
        if place == 0 { first = items } else { second = items }
      }
      let twin: NSManagedObject = context.make("Unique", ["code": "x"])
      context.assign(twin, to: stores[1])
      try context.save()
      try inFreshContext(coordinator) { other in
        for item in [first[2], second[2]] {
          try other.existingObject(with: item.objectID).setValue("theirs", forKey: "title")
        }
        other.delete(try other.existingObject(with: second[0].objectID))
        try other.save()
      }
      let new: Item = context.item("new")
      context.assign(new, to: stores[0])
      let newTwin: NSManagedObject = context.make("Unique", ["code": "x"])
      context.assign(newTwin, to: stores[1])
      for item in [first[0], second[0], first[2], second[2]] { item.title = "mine" }
      context.delete(first[1])
      context.delete(second[1])
      let told = Recorder([.NSManagedObjectContextDidSave], of: context)
      try context.save()
      #expect(!context.hasChanges && told.received.count == 1 && !new.objectID.isTemporaryID)
      #expect(told.objects(NSInsertedObjectsKey).contains(new))
      #expect(told.objects(NSUpdatedObjectsKey).isSuperset(of: [first[0]]))
      #expect(told.objects(NSDeletedObjectsKey).isSuperset(of: [first[1], second[1]]))
      #expect(first[1].managedObjectContext == nil && second[1].managedObjectContext == nil)
      #expect((twin.managedObjectContext == nil) == objectWins)
      try inFreshContext(coordinator) { fresh in
        func titles(_ store: NSPersistentStore) throws -> [String?] {
          let request: NSFetchRequest<Item> = fresh.request(Item.self, "Item", sort: ["title"])
          request.affectedStores = [store]
          return try fresh.fetch(request).map(\.title)
        }
        #expect(try titles(stores[0]) == (objectWins ? ["mine", "mine", "new"] : ["mine", "new", "theirs"]))
        #expect(try titles(stores[1]) == (objectWins ? ["mine", "mine"] : ["theirs"]))
        let twins: Int = try fresh.count(for: fresh.request(NSManagedObject.self, "Unique"))
        #expect(twins == 1)
      }
      // The next save has nothing of it.
      first[0].title = "later"
      try context.save()
      #expect(told.received.count == 2 && told.objects(NSUpdatedObjectsKey, at: 1) == [first[0]])
    }
  }

  @Test(arguments: StoreKind.every)
  func `what the policy refuses in a later store says that the first was saved`(kind: StoreKind) throws {
    let (_, coordinator, context) = try pair(kind, configured: false)
    let stores: [NSPersistentStore] = coordinator.persistentStores
    try context.performAndWait {
      let items: [Item] = [context.item("a"), context.item("b")]
      for (item, store) in zip(items, stores) { context.assign(item, to: store) }
      try context.save()
      try inFreshContext(coordinator) { other in
        try other.existingObject(with: items[1].objectID).setValue("theirs", forKey: "title")
        try other.save()
      }
      for item in items { item.title = "mine" }
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSPersistentStoreIncompleteSaveError)
      #expect(error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] == [stores[1]])
      let cause: NSError? = error.userInfo[NSUnderlyingErrorKey] as? NSError
      #expect(cause?.code == NSManagedObjectMergeError)
      let conflicts: [NSMergeConflict]? =
        error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      #expect(conflicts?.map(\.sourceObject) == [items[1]])
      #expect(error.localizedDescription.hasPrefix("Some of the stores were saved"))
      #expect(!items[0].hasChanges && items[1].hasChanges)
    }
  }

  @Test func `a save that fails in a later store pins to the state of the next read`() throws {
    let (_, coordinator, context) = try pair(.sqlite, configured: false)
    let stores: [NSPersistentStore] = coordinator.persistentStores
    try context.performAndWait {
      context.assign(context.make("Unique", ["code": "x"]), to: stores[1])
      context.assign(context.item("a"), to: stores[0])
      try context.save()
      try context.setQueryGenerationFrom(.current)
      #expect(try context.count(for: context.request(Item.self, "Item")) == 1)
      let before: NSQueryGenerationToken? = context.queryGenerationToken
      try inFreshContext(coordinator) { other in
        other.assign(other.item("b"), to: stores[0])
        try other.save()
      }
      context.assign(context.item("c"), to: stores[0])
      context.assign(context.make("Unique", ["code": "x"]), to: stores[1])
      #expect(codeThrown { try context.save() } == NSPersistentStoreIncompleteSaveError)
      #expect(before != .current && context.queryGenerationToken == .current)
      context.rollback()
      #expect(try context.all(Item.self, "Item", sort: ["title"]).map(\.title) == ["a", "b", "c"])
    }
  }

  @Test func `metadata of another store is not written by a save that is refused`() throws {
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let stores: [NSPersistentStore] = try ["a", "b"].map { name in
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("\(name).sqlite"), options: nil)
    }
    func stored() throws -> String? {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: folder.file("b.sqlite"), options: nil)["token"] as? String
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let item: Item = context.item("a")
      context.assign(item, to: stores[0])
      try context.save()
      try inFreshContext(coordinator) { other in
        try other.existingObject(with: item.objectID).setValue("theirs", forKey: "title")
        try other.save()
      }
      item.title = "mine"
      coordinator.setMetadata(["token": "5"], for: stores[1])
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSManagedObjectMergeError)
      #expect(try stored() == nil)
      context.mergePolicy = NSMergePolicy.overwrite
      try context.save()
      #expect(try stored() == "5")
    }
  }

  // Finding: the error of a new object did not name the store.
  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType])
  func `the error of saving to a store that was added read-only names its file`(type: String) throws {
    let folder = try TemporaryFolder()
    let file: URL = folder.file("Notes.store")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    func add(_ options: [String: Any]?) throws -> NSPersistentStore {
      try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: file, options: options)
    }
    let writable: NSPersistentStore = try add(nil)
    try inFreshContext(coordinator) { context in
      _ = context.item("a")
      try context.save()
    }
    try coordinator.remove(writable)
    _ = try add([NSReadOnlyPersistentStoreOption: true])
    let changes: [(NSManagedObjectContext) throws -> Void] = [
      { _ = $0.item("b") },
      { try $0.fetch(NSFetchRequest<Item>(entityName: "Item"))[0].setValue("c", forKey: "title") },
      { context in try context.fetch(NSFetchRequest<Item>(entityName: "Item")).forEach(context.delete) },
    ]
    for change in changes {
      try inFreshContext(coordinator) { context in
        try change(context)
        let error: NSError = try #require(errorThrown { try context.save() })
        let text: String =
          error.localizedDescription + " " + (error.localizedRecoverySuggestion ?? "")
        #expect(text.contains(file.path) && text.contains("NSReadOnlyPersistentStoreOption"), "\(text)")
      }
    }
  }

  @Test func `metadata that a store can't take is refused by saves until other is set`() throws {
    let folder = try TemporaryFolder()
    let file: URL = folder.file("a.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    func open(_ options: [String: Any]?) throws -> NSPersistentStore {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
    }
    try coordinator.remove(try open(nil))
    let store: NSPersistentStore = try open([NSReadOnlyPersistentStoreOption: true])
    let writable: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("b.sqlite"), options: nil)
    try inFreshContext(coordinator) { context in
      coordinator.setMetadata(["a": "b"], for: store)
      #expect(coordinator.metadata(for: store)["a"] == nil)
      let item: Item = context.item("a")
      var error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] == [store])
      #expect(item.isInserted)
      store.metadata = store.metadata
      writable.metadata = ["object": context]
      error = try #require(errorThrown { try context.save() })
      #expect(error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] == [writable])
      writable.metadata = ["mine": "c"]
      try context.save()
      #expect(!item.isInserted && writable.metadata["mine"] as? String == "c")
    }
  }

  @Test func `metadata that a store can't write stops the save before anything is saved or told`() throws {
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let stores: [NSPersistentStore] = try ["a", "b"].map { name in
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("\(name).sqlite"),
        options: [NSPersistentStoreTimeoutOption: 0.01])
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let item: Item = context.item("a")
      context.assign(item, to: stores[0])
      coordinator.setMetadata(["note": "b"], for: stores[1])
      let told = Recorder([.NSManagedObjectContextDidSave], of: context)
      let writer = try DatabaseQueue(path: folder.file("b.sqlite").path)
      try writer.inTransaction(.immediate) { _ in
        let error: NSError = try #require(errorThrown { try context.save() })
        #expect(error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] == [stores[1]])
        return .rollback
      }
      #expect(told.received.isEmpty && item.isInserted && item.objectID.isTemporaryID)
      try inFreshContext(coordinator) { fresh in
        let count: Int = try fresh.count(for: fresh.request(Item.self, "Item"))
        #expect(count == 0)
      }
      try context.save()
      #expect(told.received.count == 1 && !item.objectID.isTemporaryID)
      // Of a save without changes too.
      coordinator.setMetadata(["note": "c"], for: stores[1])
      try context.save()
      let stored: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: folder.file("b.sqlite"), options: nil)
      #expect(stored["note"] as? String == "c")
    }
  }

  @Test(arguments: StoreKind.every)
  func `no store for an entity is an error that names it`(kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let model: NSManagedObjectModel = World.model()
    model.setEntities(
      model.entities.filter { $0.name == "Song" || $0.name == "Album" || $0.name == "Playlist" },
      forConfigurationName: "Music")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let item: Item = context.item("a")
      #expect(codeThrown { try context.save() } == NSPersistentStoreOperationError)
      try coordinator.addPersistentStore(
        ofType: kind.type, configurationName: "Music", at: kind.url("m", in: folder))
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.localizedDescription.contains("Item"))
      #expect(item.isInserted)
      #expect(
        codeThrown {
          try coordinator.addPersistentStore(ofType: kind.type, configurationName: "Nowhere", at: nil)
        } != 0)
    }
  }

  @Test func `two containers with the same classes live side by side`() async throws {
    let folder = try TemporaryFolder()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<4 {
        group.addTask {
          let container = NSPersistentContainer(name: "World", managedObjectModel: World.model())
          let description = NSPersistentStoreDescription(url: folder.file("deep/\(number).sqlite"))
          container.persistentStoreDescriptions = [description]
          var failure: (any Error)?
          container.loadPersistentStores { _, error in failure = error }
          if let failure { throw failure }
          for round in 0..<10 {
            try await container.performBackgroundTask { context in
              let item: Item = context.item("\(number)")
              item.count = Int64(round)
              item.category = context.category("c\(round)")
              try context.save()
            }
          }
          return try await container.performBackgroundTask { context in
            let items: [Item] = try context.all(Item.self, "Item")
            return items.count { $0.title == "\(number)" && $0.category?.items == [$0] }
          }
        }
      }
      for try await count in group { #expect(count == 10) }
    }
  }

  @Test func `the same file in two coordinators is one set of rows`() throws {
    let stack = try Stack(.sqlite)
    let id: NSManagedObjectID = try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      return item.objectID
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.file("World.sqlite"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      #expect(item.objectID == id)
      #expect(context.object(with: id) === item, "an id of the other coordinator names the same row")
      #expect(try context.all(Item.self, "Item", NSPredicate(format: "SELF == %@", id)) == [item])
      item.title = "b"
      try context.save()
    }
    #expect(try stack.elsewhere { try $0.all(Item.self, "Item").map(\.title) } == ["b"])
    #expect(
      codeThrown {
        try coordinator.addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.file("World.sqlite"))
      } != 0, "twice in one coordinator is refused")
    #expect(coordinator.persistentStores.count == 1)
  }
}
