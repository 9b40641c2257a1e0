import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// What a save tells whom, and what is left when it fails.
@Suite
struct SavingTests {
  @Test(arguments: StoreKind.allCases)
  func `what willSave makes is saved, though its event has ended`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      stack.journal.onWillSave = { object in
        guard object === item, (try? context.count(for: context.request(Item.self, "Item"))) == 1 else {
          return
        }
        _ = context.item("made in willSave")
        context.processPendingChanges()
      }
      try context.save()
      #expect(!context.hasChanges && context.insertedObjects.isEmpty)
    }
    #expect(try stack.titles() == ["a", "made in willSave"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a save within a save is an error, and the changes stay`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      _ = context.item("a")
      var told: NSError?
      stack.journal.onDidSave = { _ in
        guard told == nil else { return }
        _ = context.item("b")
        told = errorThrown { try context.save() }
      }
      try context.save()
      #expect(told?.localizedDescription.contains("perform") == true)
      #expect(context.hasChanges)
      try context.save()
    }
    #expect(try stack.titles() == ["a", "b"])
  }

  private static let saveNames: [Notification.Name] = [
    .NSManagedObjectContextWillSave, .NSManagedObjectContextObjectsDidChange,
    .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
  ]

  @Test func `notifications have Apple's names`() {
    #expect(
      Self.saveNames.map(\.rawValue) == [
        "NSManagingContextWillSaveChangesNotification", "NSObjectsChangedInManagingContextNotification",
        "NSManagingContextDidSaveChangesNotification", "NSManagedObjectContextDidSaveObjectIDsNotification",
      ])
    #expect(NSManagedObjectContext.didSaveObjectsNotification == .NSManagedObjectContextDidSave)
    #expect(NSInsertedObjectsKey == "inserted" && NSInsertedObjectIDsKey == "inserted_objectIDs")
    #expect(NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue == NSDeletedObjectIDsKey)
  }

  @Test(
    .rule("EVENT-5", "NSManagedObjectContextDidSave, NSManagedObjectContextDidSaveObjectIDs"),
    arguments: StoreKind.allCases)
  func `a save tells in order, with objects and ids`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (a, b) = (context.item("a"), context.item("b"))
      try context.save()
      let recorder = Recorder(Self.saveNames, of: context)
      stack.journal.lines = []
      let c: Item = context.item("c")
      b.title = "b!"
      context.delete(a)
      try context.save()
      #expect(
        recorder.names == [
          .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave,
          .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
        ])
      for place in [0, 2] {
        #expect(recorder.objects(NSInsertedObjectsKey, at: place) == [c])
        #expect(recorder.objects(NSUpdatedObjectsKey, at: place) == [b])
        #expect(recorder.objects(NSDeletedObjectsKey, at: place) == [a])
      }
      #expect(recorder.received[1].userInfo?.isEmpty ?? true)
      let ids: [AnyHashable: Any]? = recorder.received[3].userInfo
      #expect(ids?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [c.objectID])
      #expect(!c.objectID.isTemporaryID)
      #expect(ids?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> == [b.objectID])
      #expect(ids?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [a.objectID])
      #expect(
        stack.journal.lines == [
          "awakeFromInsert Item", "prepareForDeletion Item", "willSave Item", "willSave Item",
          "willSave Item",
          "didSave Item", "didSave Item", "didSave Item",
        ])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a save without changes tells with empty sets, and calls and writes nothing`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      let merging: NSManagedObjectContext = stack.other()
      merging.automaticallyMergesChangesFromParent = true
      let merges = Recorder([.NSManagedObjectContextDidMergeChangesObjectIDs], of: merging)
      let recorder = Recorder(Self.saveNames, of: context)
      stack.journal.lines = []
      try context.save()
      #expect(
        recorder.names == [
          .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
          .NSManagedObjectContextDidSaveObjectIDs,
        ])
      for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
        #expect(recorder.received[1].userInfo?[key] as? Set<NSManagedObject> == [])
        #expect(recorder.received[2].userInfo?["\(key)_objectIDs"] as? Set<NSManagedObjectID> == [])
      }
      #expect(stack.journal.lines.isEmpty && !context.hasChanges)
      merging.performAndWait {}
      #expect(merges.received.isEmpty)
      let observer = Recorder([.NSManagedObjectContextWillSave], of: context) { _ in item.title = "b" }
      try context.save()
      _ = observer
      #expect(recorder.objects(NSUpdatedObjectsKey, at: recorder.received.count - 2) == [item])
    }
    #expect(try stack.titles() == ["b"])
    let lonely = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    try lonely.performAndWait { try lonely.save() }
  }

  @Test func `metadata is written by a save without changes, and by one to another store`() throws {
    let folder = try TemporaryFolder()
    let files: [URL] = ["One.sqlite", "Two.sqlite"].map { folder.file($0) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let stores: [NSPersistentStore] = try files.map {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: $0, options: nil)
    }
    func written(_ number: Int) throws -> String? {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: files[number])["mine"] as? String
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      stores[0].metadata["mine"] = "first"
      #expect(try written(0) == nil)
      try context.save()
      #expect(try written(0) == "first")
      stores[1].metadata["mine"] = "second"
      context.assign(context.item("a"), to: stores[0])
      try context.save()
      let both: [String?] = try [written(0), written(1)]
      #expect(both == ["first", "second"])
    }
  }

  @Test(
    .rule(
      "EVENT-1", "NSManagedObjectContext.processPendingChanges()", "changes of an event are told together"),
    .rule("EVENT-4", "NSManagedObjectContextObjectsDidChange", "not for objects that a fetch registers"),
    arguments: StoreKind.allCases)
  func `objects-did-change tells of one event each`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let a: Item = context.item("a")
      try context.save()
      let recorder = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
      context.processPendingChanges()
      #expect(recorder.received.isEmpty)
      _ = try context.all(Item.self, "Item")
      context.processPendingChanges()
      #expect(recorder.received.isEmpty, "a fetch is no change")
      let b: Item = context.item("b")
      context.processPendingChanges()
      b.title = "b!"
      context.processPendingChanges()
      a.title = "a!"
      a.title = "a!!"
      context.processPendingChanges()
      context.delete(b)
      context.delete(a)
      context.processPendingChanges()
      context.processPendingChanges()
      #expect(recorder.received.count == 4)
      #expect(recorder.objects(NSInsertedObjectsKey, at: 0) == [b])
      #expect(recorder.objects(NSUpdatedObjectsKey, at: 1) == [b])
      #expect(recorder.objects(NSUpdatedObjectsKey, at: 2) == [a])
      #expect(recorder.objects(NSDeletedObjectsKey, at: 3).contains(a))
    }
  }

  @Test(.rule("EVENT-2", "NSManagedObjectContext.perform(_:)")) func `a block is an event`() async throws {
    let stack = try Stack(.inMemory)
    let context: NSManagedObjectContext = stack.context
    let recorder = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
    context.performAndWait {
      _ = context.item("a")
      #expect(recorder.received.isEmpty)
    }
    #expect(recorder.received.count == 1)
    await context.perform { _ = context.item("b") }
    #expect(recorder.received.count == 2)
  }

  @Test(
    .rule("LIFE-10", "NSManagedObject.willSave()", "repeated until nothing changes"),
    .rule("EVENT-8", "observed", "what observers of will-save change is saved"), arguments: StoreKind.allCases
  )
  func `what willSave and observers of will-save change is saved too`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      let item: Item = context.item("a")
      try context.save()
      var calls: Int = 0
      stack.journal.onWillSave = { object in
        calls += 1
        guard let item = object as? Item else { return }
        if item.count < 10 { item.count += 1 }
        if item.count == 9 { category.rank = 5 }
      }
      let observer = Recorder([.NSManagedObjectContextWillSave], of: context) { _ in
        category.name = "observed"
      }
      item.title = "b"
      try context.save()
      #expect(item.count == 10 && calls >= 4)
      #expect(!context.hasChanges && observer.received.count == 1)
      try stack.elsewhere { other in
        let category: Category = try #require(try other.all(Category.self, "Category").first)
        #expect(category.rank == 5 && category.name == "observed")
        #expect(try other.all(Item.self, "Item").first?.count == 10)
      }
    }
  }

  @Test(
    .rule("LIFE-10", "NSManagedObject.willSave()"),
    .rule("LIFE-11", "NSManagedObject.willSave()", "primitive setters do not repeat it"),
    arguments: StoreKind.allCases)
  func `a willSave that never rests is an error`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      stack.journal.onWillSave = { ($0 as? Item)?.count += 1 }
      _ = context.item("a")
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.localizedDescription.contains("willSave"))
      #expect(context.hasChanges)
      stack.journal.onWillSave = { $0.setPrimitiveValue("primitive", forKey: "title") }
      try context.save()
      #expect(try stack.elsewhere { try $0.all(Item.self, "Item").map(\.title) } == ["primitive"])
    }
  }

  @Test(.rule("LIFE-12", "NSManagedObject.didSave()"), arguments: StoreKind.allCases)
  func `what didSave changes is dirty afterwards`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      stack.journal.onDidSave = { ($0 as? Item)?.title = "after" }
      let item: Item = context.item("a")
      try context.save()
      #expect(item.title == "after" && item.isUpdated && context.updatedObjects == [item])
      stack.journal.onDidSave = nil
      try context.save()
      #expect(try stack.elsewhere { try $0.all(Item.self, "Item").map(\.title) } == ["after"])
    }
  }

  @Test(.rule("EVENT-9", "observed"), arguments: StoreKind.allCases)
  func `a failed save leaves graph and store as they were, and can be repeated`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (a, b) = (context.item("a"), context.item("b"))
      _ = context.make("Unique", ["code": "x"])
      try context.save()
      let recorder = Recorder([.NSManagedObjectContextDidSave], of: context)
      let new: Item = context.item("new", context.category("c"))
      a.title = "a!"
      context.delete(b)
      let twin: NSManagedObject = context.make("Unique", ["code": "x"])
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSManagedObjectConstraintMergeError, "\(error)")
      #expect(error.localizedDescription.contains("code") && error.localizedDescription.contains("Unique"))
      #expect(recorder.received.isEmpty)
      #expect(new.objectID.isTemporaryID && new.isInserted && a.isUpdated && b.isDeleted && twin.isInserted)
      #expect(new.category?.name == "c" && a.title == "a!")
      #expect(try stack.titles() == ["a", "b"])
      #expect(try stack.count("Category") == 0)
      twin.setValue("y", forKey: "code")
      try context.save()
      #expect(!context.hasChanges)
      #expect(try stack.titles() == ["a!", "new"])
      #expect(try stack.titles(NSPredicate(format: "category.name == 'c'")) == ["new"])
      #expect(try stack.count("Unique") == 2)
    }
  }

  @Test(.rule("UNIQ-3", "NSEntityDescription.uniquenessConstraints"), arguments: StoreKind.allCases)
  func `uniqueness holds among new objects, and nil is no value`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for _ in 0..<2 { _ = context.make("Unique", ["code": "x"]) }
      #expect(codeThrown { try context.save() } == NSManagedObjectConstraintMergeError)
      context.rollback()
      for _ in 0..<3 { _ = context.make("Unique") }
      try context.save()
      let one: NSManagedObject = context.make("Unique", ["code": "1"])
      let two: NSManagedObject = context.make("Unique", ["code": "2"])
      try context.save()
      two.setValue("1", forKey: "code")
      #expect(codeThrown { try context.save() } == NSManagedObjectConstraintMergeError)
      // In the same save the other gives the value up.
      context.delete(one)
      try context.save()
      #expect(try context.count(for: context.request(NSManagedObject.self, "Unique")) == 4)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `two contexts that change one row: the second is told, and loses nothing`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      let other: Item = context.item("b")
      try context.save()
      try stack.elsewhere { second in
        for twin in try second.all(Item.self, "Item") { twin.price = 9 }
        try second.save()
      }
      item.title = "mine"
      context.delete(other)
      let new: Item = context.item("new")
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSManagedObjectMergeError)
      #expect(
        Set(error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] ?? []) == [item, other])
      #expect(item.title == "mine" && other.isDeleted && new.isInserted && new.objectID.isTemporaryID)
      #expect(
        try stack.elsewhere { try $0.all(Item.self, "Item", sort: ["title"]).map(\.title) } == ["a", "b"])
      context.refresh(item, mergeChanges: true)
      #expect(item.title == "mine" && item.price == 9)
      context.refresh(other, mergeChanges: false)
      #expect(!other.isDeleted)
      try context.save()
      #expect(
        try stack.elsewhere { try $0.all(Item.self, "Item", sort: ["title"]).map(\.title) } == [
          "b", "mine", "new",
        ])
      // A row that is gone.
      item.title = "again"
      try stack.elsewhere { second in
        second.delete(
          try #require(try second.all(Item.self, "Item", NSPredicate(format: "title == 'mine'")).first))
        try second.save()
      }
      #expect(codeThrown { try context.save() } == NSManagedObjectMergeError)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `members added to one to-many by two contexts are both kept`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let tag = Tag(context: context)
      try context.save()
      #expect(tag.items.isEmpty)
      let mine: Item = context.item("mine")
      mine.tags = [tag]
      try stack.elsewhere { second in
        let theirs: Item = second.item("theirs")
        theirs.tags = [try #require(try second.all(Tag.self, "Tag").first)]
        try second.save()
      }
      if codeThrown({ try context.save() }) == NSManagedObjectMergeError {
        context.refresh(tag, mergeChanges: true)
        try context.save()
      }
    }
    try stack.elsewhere { context in
      let tag: Tag = try #require(try context.all(Tag.self, "Tag").first)
      #expect(Set(tag.items.map(\.title)) == ["mine", "theirs"])
    }
  }

  @Test func `a read-only store refuses to be written and stays as it was`() throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    try stack.coordinator.remove(stack.store)
    let url: URL = stack.folder.file("World.sqlite")
    let before: Data = try Data(contentsOf: url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.model())
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSReadOnlyPersistentStoreOption: true])
    #expect(store.isReadOnly)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      item.title = "b"
      #expect(codeThrown { try context.save() } == CocoaError.fileWriteNoPermission.rawValue)
      #expect(item.title == "b" && item.isUpdated)
      context.rollback()
      _ = context.item("new")
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.localizedDescription.contains("read-only"))
    }
    try coordinator.remove(store)
    #expect(try Data(contentsOf: url) == before)
  }

  @Test(arguments: StoreKind.allCases)
  func `a uniqueness constraint without attributes is none`(kind: StoreKind) throws {
    let model: NSManagedObjectModel = World.model()
    model.entitiesByName["Tag"]?.uniquenessConstraints = [[]]
    let stack = try Stack(kind, model: model)
    try stack.run { context in
      for name in ["a", "a", "b"] { _ = context.make("Tag", ["name": name]) }
      try context.save()
    }
    #expect(try stack.count("Tag") == 3)
  }
}
