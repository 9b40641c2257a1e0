import CoreData
import CoreDataStoreTests
import Foundation
import Testing

/// Stores that answer with values that the graph can't use, or not at all: explained errors, no crashes.
@Suite struct AnswerTests {
  /// An incremental store whose answers a test gives.
  final class Scripted: NSIncrementalStore, @unchecked Sendable {
    // Sendable: the script is set before the store is used by one test, on one thread.
    struct Script {
      var fetch: (Scripted, NSManagedObjectContext?) throws -> Any = { _, _ in [] }
      var save: () throws -> Any = { [] }
      var node: (Scripted, NSManagedObjectID) throws -> NSIncrementalStoreNode = {
        NSIncrementalStoreNode(objectID: $1, withValues: [:], version: 1)
      }
      var related: (Scripted) throws -> Any = { _ in NSNull() }
      var ids: (Scripted, [NSManagedObject]) throws -> [NSManagedObjectID] = { store, objects in
        objects.enumerated().map { store.newObjectID(for: $1.entity, referenceObject: $0) }
      }
    }
    nonisolated(unsafe) var script = Script()

    override func loadMetadata() throws {
      metadata = [NSStoreTypeKey: "Scripted", NSStoreUUIDKey: "scripted"]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
      -> Any
    {
      request.requestType == .saveRequestType ? try script.save() : try script.fetch(self, context)
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext)
      throws
      -> NSIncrementalStoreNode
    { try script.node(self, objectID) }

    override func newValue(
      forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
      with context: NSManagedObjectContext?
    ) throws -> Any { try script.related(self) }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
      try script.ids(self, array)
    }

    func id(_ entity: String, _ reference: Any) throws -> NSManagedObjectID {
      let known = try #require(persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity])
      return newObjectID(for: known, referenceObject: reference)
    }
  }

  private func open<Store: NSPersistentStore>(_ type: Store.Type) throws -> (Store, NSManagedObjectContext) {
    let name = "\(type) \(UUID().uuidString)"
    NSPersistentStoreCoordinator.registerStoreClass(type, forStoreType: name)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let store = try coordinator.addPersistentStore(
      ofType: name, configurationName: nil, at: URL(fileURLWithPath: "/nowhere/\(name)"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return (try #require(store as? Store), context)
  }

  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "nothing was thrown"
    } catch {
      return (error as NSError).localizedDescription
    }
  }

  private let books = NSFetchRequest<NSManagedObject>(entityName: "Book")

  // MARK: Wrong answers

  @Test func `results of wrong types are errors that name the class, the method and the entity`() throws {
    let (store, context) = try open(Scripted.self)
    let (stranger, strangers) = try open(Scripted.self)
    defer { withExtendedLifetime(strangers) {} }
    let other: NSManagedObjectID = try stranger.id("Book", "x")
    let answers: [(Any, String)] = [
      ("text", "returned String"), (7, "returned Int"), (["text"], "String in its result"),
      ([NSNull()], "NSNull in its result"), ([try store.id("Author", 1)], "an id of Author"),
      ([other], "which is not of this store"),
      ([try store.id("Book", Unhashable())], "is not hashable"),
    ]
    for (answer, expected) in answers {
      store.script.fetch = { _, _ in answer }
      let text: String = message { _ = try context.performAndWait { try context.fetch(books) } }
      #expect(text.contains("Scripted.execute(_:with:) for entity Book"), "\(text)")
      #expect(text.contains(expected), "\(text)")
    }
    for answer: Any in ["many", ["text"], [1, 2], -1] {
      store.script.fetch = { _, _ in answer }
      let text: String = message { _ = try context.performAndWait { try context.count(for: books) } }
      #expect(text.contains("Scripted.execute(_:with:) for entity Book"), "\(text)")
    }
    let rows = NSFetchRequest<NSDictionary>(entityName: "Book")
    rows.resultType = .dictionaryResultType
    store.script.fetch = { _, _ in [1] }
    let text: String = message { _ = try context.performAndWait { try context.fetch(rows) } }
    #expect(text.contains("an array of dictionaries"), "\(text)")
  }

  struct Unhashable {}

  @Test func `nodes with values of wrong types are errors that name the property`() throws {
    let (store, context) = try open(Scripted.self)
    let id: NSManagedObjectID = try store.id("Book", 1)
    let cases: [([String: Any], String)] = [
      (["title": 7], "Int for 'title'"), (["pages": "many"], "String for 'pages'"),
      (["price": Double.nan], "for 'price'"), (["published": "today"], "for 'published'"),
      (["number": 3], "for 'number'"), (["author": "Woolf"], "String for the to-one relationship 'author'"),
      (["author": id], "an id of Book"),
      (["edition": 32_768], "32768 for 'edition'. It has to return an integer from -32768 to 32767"),
      (["pages": Int64(Int32.max) + 1], "2147483648 for 'pages'"),
      (["sold": UInt64.max], "for 'sold'"), (["rating": 1e300], "1e+300 for 'rating'"),
      (["keywords": Unhashable()], "Book.keywords (Unhashable) can't be archived"),
      (["keywords": [1, ["a": Unhashable()]]], "it is, or holds, a Unhashable"),
    ]
    for (values, expected) in cases {
      store.script.node = { NSIncrementalStoreNode(objectID: $1, withValues: values, version: 1) }
      let text: String = message { _ = try context.performAndWait { try context.existingObject(with: id) } }
      #expect(
        text.contains("Scripted.newValuesForObject(with:with:) for entity Book")
          || text.contains("Book.keywords"), "\(text)")
      #expect(text.contains(expected), "\(text)")
    }
    store.script.node = { store, _ in
      NSIncrementalStoreNode(objectID: try store.id("Book", 2), withValues: [:], version: 1)
    }
    let text: String = message { _ = try context.performAndWait { try context.existingObject(with: id) } }
    #expect(text.contains("a node of"), "\(text)")
  }

  @Test func `ids of new objects that do not fit are errors, and nothing is saved`() throws {
    let (store, context) = try open(Scripted.self)
    try context.performAndWait {
      for _ in 0..<2 { _ = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context) }
      let cases: [((Scripted, [NSManagedObject]) throws -> [NSManagedObjectID], String)] = [
        ({ _, _ in [] }, "0 ids for 2 objects"),
        (
          { store, objects in try objects.map { _ in try store.id("Book", "same") } },
          "which another object has"
        ),
        (
          { store, objects in try objects.enumerated().map { try store.id("Author", $0.offset) } },
          "an id of Author"
        ),
        ({ _, objects in objects.map(\.objectID) }, "which is not of this store"),
      ]
      for (ids, expected) in cases {
        store.script.ids = ids
        let text: String = message { try context.save() }
        #expect(text.contains("Scripted.obtainPermanentIDs(for:) for entity Book"), "\(text)")
        #expect(text.contains(expected), "\(text)")
        #expect(context.insertedObjects.allSatisfy { $0.objectID.isTemporaryID })
      }
      store.script.ids = Scripted.Script().ids
      try context.save()
      #expect(!context.hasChanges)
    }
  }

  @Test func `members of wrong types read as none, and are reported`() throws {
    let (store, context) = try open(Scripted.self)
    let id: NSManagedObjectID = try store.id("Author", 1)
    store.script.related = { _ in ["text"] }
    store.script.node = {
      NSIncrementalStoreNode(objectID: $1, withValues: ["mentor": NSNull()], version: 1)
    }
    try context.performAndWait {
      let author: NSManagedObject = try context.existingObject(with: id)
      #expect((author.value(forKey: "books") as? NSSet)?.count == 0)
    }
  }

  @Test func `a key to sort by that the entity lacks is an error, and the store is not asked`() throws {
    let (store, context) = try open(Scripted.self)
    store.script.fetch = { _, _ in
      Issue.record("the store was asked")
      return []
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "titel", ascending: true)]
    let text: String = message { _ = try context.performAndWait { try context.fetch(request) } }
    #expect(text.contains("titel"), "\(text)")
  }

  @Test func `an order by a comparator of the program is made by the context`() throws {
    let (store, context) = try open(Scripted.self)
    let ids: [NSManagedObjectID] = try [1, 3, 2].map { try store.id("Book", $0) }
    store.script.node = { store, id in
      let pages: Any = store.referenceObject(for: id)
      return NSIncrementalStoreNode(
        objectID: id, withValues: ["pages": pages, "author": NSNull()], version: 1)
    }
    store.script.fetch = { _, context in ids.compactMap { context?.object(with: $0) } }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.sortDescriptors = [
      NSSortDescriptor(key: "pages", ascending: false) { left, right in
        (left as? Int ?? 0) < (right as? Int ?? 0) ? .orderedAscending : .orderedDescending
      }
    ]
    try context.performAndWait {
      let pages: [Int?] = try context.fetch(request).map { $0.value(forKey: "pages") as? Int }
      #expect(pages == [3, 2, 1])
    }
  }

  // MARK: Errors

  struct Failure: Error, Equatable { let number: Int }

  @Test func `errors of a store reach the caller unchanged`() throws {
    let (store, context) = try open(Scripted.self)
    let id: NSManagedObjectID = try store.id("Book", 1)
    store.script.fetch = { _, _ in throw Failure(number: 1) }
    store.script.save = { throw Failure(number: 2) }
    store.script.node = { _, _ in throw Failure(number: 3) }
    store.script.ids = { _, _ in throw Failure(number: 4) }
    try context.performAndWait {
      #expect(throws: Failure(number: 1)) { try context.fetch(books) }
      #expect(throws: Failure(number: 1)) { try context.count(for: books) }
      #expect(throws: Failure(number: 3)) { try context.existingObject(with: id) }
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      #expect(throws: Failure(number: 4)) { try context.save() }
      store.script.ids = Scripted.Script().ids
      #expect(throws: Failure(number: 2)) { try context.save() }
      // The id was obtained; the object is still new.
      #expect(book.isInserted && !book.objectID.isTemporaryID)
      store.script.save = { [] }
      try context.save()
      #expect(!context.hasChanges)
    }
  }

  @Test func `a fault that the store can't find reads as deleted`() throws {
    let (store, context) = try open(Scripted.self)
    let id: NSManagedObjectID = try store.id("Book", 1)
    store.script.fetch = { _, context in [context?.object(with: id) as Any] }
    store.script.node = { _, _ in throw Failure(number: 3) }
    try context.performAndWait {
      let book: NSManagedObject = try #require(try context.fetch(books).first)
      #expect(book.isFault)
      #expect(book.value(forKey: "title") == nil)
      #expect(book.isDeleted)
    }
  }

  @Test func `a save of an object that the store no longer has is a conflict`() throws {
    let (store, context) = try open(Scripted.self)
    let id: NSManagedObjectID = try store.id("Book", 1)
    try context.performAndWait {
      let book: NSManagedObject = try context.existingObject(with: id)
      book.setValue("a", forKey: "title")
      store.script.node = { _, _ in
        throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
      }
      do {
        try context.save()
        Issue.record("nothing was thrown")
      } catch {
        #expect((error as NSError).code == NSManagedObjectMergeError)
      }
    }
  }

  // MARK: Classes that lack methods

  @Test func `a class that overrides nothing is refused with what to do`() throws {
    final class Bare: NSIncrementalStore, @unchecked Sendable {}
    final class BareAtomic: NSAtomicStore, @unchecked Sendable {}
    let incremental: String = message { _ = try open(Bare.self) }
    #expect(incremental.contains("Bare does not override loadMetadata()"), "\(incremental)")
    let atomic: String = message { _ = try open(BareAtomic.self) }
    #expect(atomic.contains("BareAtomic does not override load()"), "\(atomic)")
  }

  @Test func `a store without a UUID gets the identifier of its class`() throws {
    final class Named: NSIncrementalStore, @unchecked Sendable {
      override func loadMetadata() throws { metadata = [:] }
      override class func identifierForNewStore(at storeURL: URL) -> Any {
        "of \(storeURL.lastPathComponent.prefix(5))"
      }
    }
    let (store, _) = try open(Named.self)
    #expect(store.identifier == "of Named")
    #expect(store.metadata[NSStoreUUIDKey] as? String == "of Named")
    #expect(store.metadata["NSStoreModelVersionHashes"] is [String: Data])
  }

  @Test func `a store that keeps its metadata is not opened with another model`() throws {
    final class Old: NSIncrementalStore, @unchecked Sendable {
      override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: "old", "NSStoreModelVersionHashes": ["Book": Data([1])]]
      }
    }
    do {
      _ = try open(Old.self)
      Issue.record("nothing was thrown")
    } catch {
      #expect((error as NSError).code == NSPersistentStoreIncompatibleVersionHashError)
    }
  }

  // MARK: Requests of the program

  final class Question: NSPersistentStoreRequest {
    override var requestType: NSPersistentStoreRequestType { .fetchRequestType }
  }

  @Test func `a request of the program's own class goes to the store`() throws {
    let (store, context) = try open(Scripted.self)
    store.script.fetch = { _, _ in ["answer"] }
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    let answer: Any = try coordinator.execute(Question(), with: context)
    #expect(answer as? [[String]] == [["answer"]])
  }
}
