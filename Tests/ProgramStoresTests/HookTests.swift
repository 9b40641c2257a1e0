import CoreData
import CoreDataStoreTests
import Foundation
import ProgramStores
import Testing

/// Which methods of a program's store are called, and in which order.
@Suite struct HookTests {
  private let folder: URL

  init() throws {
    NSPersistentStoreCoordinator.registerStoreClass(RecordStore.self, forStoreType: RecordStore.storeType)
    NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.storeType)
    folder = FileManager.default.temporaryDirectory.appending(path: "hooks-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func store<Store>(_ type: Store.Type, _ name: String) throws -> (Store, NSManagedObjectContext) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let store = try coordinator.addPersistentStore(
      ofType: name, configurationName: nil, at: folder.appending(path: "store"))
    return (try #require(store as? Store), context(coordinator))
  }

  private func records() throws -> (RecordStore, NSManagedObjectContext) {
    try store(RecordStore.self, RecordStore.storeType)
  }

  private func context(_ coordinator: NSPersistentStoreCoordinator?) -> NSManagedObjectContext {
    let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    made.persistentStoreCoordinator = coordinator
    return made
  }

  private func book(_ title: String, in context: NSManagedObjectContext) -> NSManagedObject {
    let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
    book.setValue(title, forKey: "title")
    return book
  }

  private let books = NSFetchRequest<NSManagedObject>(entityName: "Book")

  // MARK: Incremental

  @Test func `a save obtains ids, reads what has changed and executes one request`() throws {
    let (store, context) = try records()
    try context.performAndWait {
      let first: NSManagedObject = book("a", in: context)
      let inserting: [String] = try store.calls { try context.save() }
      #expect(inserting == ["obtainPermanentIDs 1", "register record 1", "execute save inserted 1"])
      first.setValue("b", forKey: "title")
      let second: NSManagedObject = book("c", in: context)
      let updating: [String] = try store.calls { try context.save() }
      #expect(
        updating == [
          "obtainPermanentIDs 1", "register record 2", "newValues record 1", "newValue author of record 1",
          "newValue shelf of record 1", "execute save inserted 1, updated 1",
        ])
      context.delete(second)
      let deleting: [String] = try store.calls { try context.save() }
      #expect(deleting.filter { !$0.hasPrefix("newValue ") } == ["execute save deleted 1"])
    }
  }

  @Test func `what a store changes in the saving context stays unsaved`() throws {
    let (store, context) = try records()
    try context.performAndWait {
      let (first, other): (NSManagedObject, NSManagedObject) = (
        book("a", in: context), book("b", in: context)
      )
      let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
      other.setValue(shelf, forKey: "shelf")
      try context.save()
      first.setValue("a2", forKey: "title")
      nonisolated(unsafe) var made: NSManagedObject?
      nonisolated(unsafe) let (one, two, place) = (first, other, shelf)
      store.hook.withLock { hook in
        hook = { call in
          guard call.hasPrefix("execute save"), made == nil else { return }
          one.setValue("late", forKey: "title")
          one.setValue(7, forKey: "pages")
          one.setValue(place, forKey: "shelf")
          two.setValue("also late", forKey: "title")
          let new = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
          new.setValue("new", forKey: "title")
          made = new
        }
      }
      try context.save()
      #expect(first.value(forKey: "title") as? String == "late")
      #expect(first.hasChanges && other.hasChanges && made?.isInserted == true)
      #expect(context.updatedObjects.isSuperset(of: [first, other]))
      #expect(first.changedValues().keys.sorted() == ["pages", "shelf", "title"])
      #expect(first.committedValues(forKeys: ["title"])["title"] as? String == "a2")
      #expect((shelf.value(forKey: "books") as? NSOrderedSet)?.count == 2)
      let before: NSManagedObjectContext = self.context(store.persistentStoreCoordinator)
      let count: Int = try before.performAndWait { try before.count(for: books) }
      #expect(count == 2)
      try context.save()
      #expect(!context.hasChanges)
      let reader: NSManagedObjectContext = self.context(store.persistentStoreCoordinator)
      try reader.performAndWait {
        let found: [NSManagedObject] = try reader.fetch(books)
        #expect(
          Set(found.compactMap { $0.value(forKey: "title") as? String }) == ["late", "also late", "new"])
        #expect(found.filter { $0.value(forKey: "shelf") != nil }.count == 2)
      }
    }
  }

  @Test func `a fetch executes one request, a fault reads one object, a relationship is read once`() throws {
    let (store, writer) = try records()
    try writer.performAndWait {
      let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: writer)
      for title in ["a", "b"] { book(title, in: writer).setValue(shelf, forKey: "shelf") }
      try writer.save()
    }
    let context: NSManagedObjectContext = context(store.persistentStoreCoordinator)
    try context.performAndWait {
      var shelves: [NSManagedObject] = []
      let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
      let fetched: [String] = try store.calls { shelves = try context.fetch(request) }
      #expect(fetched == ["execute fetch objects of Shelf"])
      let shelf: NSManagedObject = try #require(shelves.first)
      #expect(shelf.isFault)
      let members: [String] = store.calls {
        #expect((shelf.value(forKey: "books") as? NSOrderedSet)?.count == 2)
      }
      #expect(members.count { $0.hasPrefix("newValue books of") } == 1)
      let again: [String] = store.calls {
        #expect((shelf.value(forKey: "books") as? NSOrderedSet)?.count == 2)
      }
      #expect(again.isEmpty)
    }
  }

  @Test func `counts, ids and dictionaries are requests of their own`() throws {
    let (store, context) = try records()
    try context.performAndWait {
      _ = book("a", in: context)
      try context.save()
      var number = 0
      let count: [String] = try store.calls { number = try context.count(for: books) }
      #expect(number == 1)
      #expect(count.filter { $0.hasPrefix("execute") } == ["execute fetch count of Book"])
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
      ids.resultType = .managedObjectIDResultType
      var found: [NSManagedObjectID] = []
      let fetched: [String] = try store.calls { found = try context.fetch(ids) }
      #expect(found.count == 1)
      #expect(fetched.filter { $0.hasPrefix("execute") } == ["execute fetch ids of Book"])
      let rows = NSFetchRequest<NSDictionary>(entityName: "Book")
      rows.resultType = .dictionaryResultType
      rows.propertiesToFetch = ["title"]
      let dictionaries: [String] = try store.calls {
        let found: [NSDictionary] = try context.fetch(rows)
        #expect(found == [NSDictionary(dictionary: ["title": "a"])])
      }
      #expect(dictionaries.filter { $0.hasPrefix("execute") } == ["execute fetch dictionaries of Book"])
    }
  }

  @Test func `metadata is saved by a request without objects`() throws {
    let (store, context) = try records()
    store.metadata["owner"] = "me"
    try context.performAndWait {
      let saving: [String] = try store.calls { try context.save() }
      #expect(saving == ["execute save metadata"])
      #expect(store.server.metadata["owner"] as? String == "me")
      let again: [String] = try store.calls { try context.save() }
      #expect(again.isEmpty)
    }
  }

  @Test func `objects that are only checked are in the request, and read before`() throws {
    let (store, context) = try records()
    try context.performAndWait {
      let first: NSManagedObject = book("a", in: context)
      try context.save()
      context.detectConflicts(for: first)
      _ = book("b", in: context)
      let calls: [String] = try store.calls { try context.save() }
      #expect(calls.contains("newValues record 1"))
      #expect(calls.last == "execute save inserted 1, locked 1")
    }
  }

  @Test func `the store is notified of the objects that contexts use`() throws {
    let (store, writer) = try records()
    try writer.performAndWait {
      _ = book("a", in: writer)
      try writer.save()
    }
    store.journal.withLock { $0 = [] }
    func registrations() -> [String] {
      store.journal.withLock { calls in
        defer { calls = [] }
        return calls.filter { $0.contains("register") }
      }
    }
    let context: NSManagedObjectContext = context(store.persistentStoreCoordinator)
    var kept: [NSManagedObject] = try context.performAndWait { try context.fetch(books) }
    #expect(registrations() == ["register record 1"])
    kept = []
    context.performAndWait {}
    #expect(registrations() == ["unregister record 1"])
    kept = try context.performAndWait { try context.fetch(books) }
    #expect(registrations() == ["register record 1"])
    context.performAndWait { context.reset() }
    #expect(registrations() == ["unregister record 1"])
    // What is released before a notification was not in use.
    let count: Int = try context.performAndWait { try context.fetch(books).count }
    #expect(count == kept.count)
    #expect(registrations() == [])
  }

  // MARK: Atomic

  @Test func `an atomic store gets each object, then saves`() throws {
    let (store, context) = try store(ListStore.self, ListStore.storeType)
    #expect(store.journal.withLock { $0 } == ["load"])
    try context.performAndWait {
      let first: NSManagedObject = book("a", in: context)
      let inserting: [String] = try store.calls { try context.save() }
      #expect(inserting == ["newReferenceObject Book", "newCacheNode Book", "save"])
      #expect(store.cacheNodes().count == 1)
      #expect(store.cacheNode(for: first.objectID)?.value(forKey: "title") as? String == "a")
      first.setValue("b", forKey: "title")
      let updating: [String] = try store.calls { try context.save() }
      #expect(updating == ["updateCacheNode Book", "save"])
      #expect(store.cacheNode(for: first.objectID)?.propertyCache?["title"] as? String == "b")
      context.delete(first)
      let deleting: [String] = try store.calls { try context.save() }
      #expect(deleting == ["willRemoveCacheNodes 1", "save"])
      #expect(store.cacheNodes().isEmpty)
      let nothing: [String] = try store.calls { try context.save() }
      #expect(nothing.isEmpty)
    }
  }

  @Test func `an atomic store whose save throws has the nodes from before, and the context its changes`()
    throws
  {
    let (store, context) = try store(ListStore.self, ListStore.storeType)
    try context.performAndWait {
      let (first, second) = (book("a", in: context), book("b", in: context))
      try context.save()
      first.setValue("A", forKey: "title")
      context.delete(second)
      let third: NSManagedObject = book("c", in: context)
      store.hook.withLock { $0 = { if $0 == "save" { throw CocoaError(.fileWriteOutOfSpace) } } }
      #expect(throws: CocoaError(.fileWriteOutOfSpace)) { try context.save() }
      #expect(
        Set(store.cacheNodes().compactMap { $0.value(forKey: "title") as? String }) == ["a", "b"])
      #expect(first.hasChanges && second.isDeleted && third.isInserted)
      store.hook.withLock { $0 = nil }
      try context.save()
      #expect(
        Set(store.cacheNodes().compactMap { $0.value(forKey: "title") as? String }) == ["A", "c"])
    }
  }

  @Test func `fetches of an atomic store call none of its methods`() throws {
    let (store, writer) = try store(ListStore.self, ListStore.storeType)
    try writer.performAndWait {
      _ = book("a", in: writer)
      try writer.save()
    }
    let context: NSManagedObjectContext = context(store.persistentStoreCoordinator)
    let calls: [String] = try store.calls {
      let titles: [String?] = try context.performAndWait {
        try context.fetch(books).map { $0.value(forKey: "title") as? String }
      }
      #expect(titles == ["a"])
    }
    #expect(calls.isEmpty)
  }
}
