import CoreData
import CoreDataStoreTests
import Foundation
import ProgramStores
import Testing

/// Programs' stores are called by one thread at a time, and may call the framework meanwhile.
@Suite struct TurnTests {
  /// Counts the threads that are in a method of a store.
  final class Turns: Sendable {
    private let state = Locked<(inside: [Thread: Int], most: Int)>(([:], 0))
    var most: Int { state.withLock { $0.most } }

    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
      let me: Thread = .current
      state.withLock { state in
        state.inside[me, default: 0] += 1
        state.most = max(state.most, state.inside.count)
      }
      defer {
        state.withLock { state in
          let depth: Int = (state.inside[me] ?? 1) - 1
          state.inside[me] = depth == 0 ? nil : depth
        }
      }
      // Others get the processor here, so that a second thread would be seen.
      sched_yield()
      return try body()
    }
  }

  /// Numbers its objects with a counter that nothing guards, and keeps nothing.
  final class Counting: NSAtomicStore, @unchecked Sendable {
    // Sendable: the framework calls its methods one at a time; the hook is set before.
    let turns = Turns()
    private var last = 0
    var hook: ((Counting, NSManagedObject) throws -> Any?)?
    var whileSaving: (() throws -> Void)?

    override func load() throws {}

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
      turns.run {
        if let given = try? hook?(self, managedObject) { return given }
        let next: Int = last + 1
        sched_yield()
        last = next
        return next
      }
    }

    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
      turns.run { super.newCacheNode(for: managedObject) }
    }

    override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
      turns.run { super.updateCacheNode(node, from: managedObject) }
    }

    override func save() throws { try turns.run { try whileSaving?() } }
  }

  final class Twins: NSAtomicStore, @unchecked Sendable {
    // Sendable: it holds nothing.
    override func load() throws {
      guard let book = persistentStoreCoordinator?.managedObjectModel.entitiesByName["Book"] else { return }
      for title in ["a", "b"] {
        let node = NSAtomicStoreCacheNode(objectID: objectID(for: book, withReferenceObject: 7))
        node.setValue(title, forKey: "title")
        addCacheNodes([node, node])
      }
    }
    override func save() throws {}
  }

  private func open<Store: NSPersistentStore>(_ type: Store.Type, at url: URL? = nil) throws
    -> (Store, NSPersistentStoreCoordinator)
  {
    let name = "\(type) \(UUID().uuidString)"
    NSPersistentStoreCoordinator.registerStoreClass(type, forStoreType: name)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let store = try coordinator.addPersistentStore(
      ofType: name, configurationName: nil, at: url ?? URL(fileURLWithPath: "/nowhere/\(name)"))
    return (try #require(store as? Store), coordinator)
  }

  private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    made.persistentStoreCoordinator = coordinator
    return made
  }

  private func book(_ title: String, in context: NSManagedObjectContext) -> NSManagedObject {
    let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
    book.setValue(title, forKey: "title")
    return book
  }

  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "nothing was thrown"
    } catch {
      return (error as NSError).localizedDescription
    }
  }

  private var books: NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: "Book") }

  /// Inserts and changes books on eight threads, a context each.
  private func work(_ coordinator: NSPersistentStoreCoordinator, rounds: Int) throws {
    let errors = Locked<[any Error]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { number in
      for round in 0..<rounds {
        do {
          let context: NSManagedObjectContext = context(coordinator)
          try context.performAndWait {
            let made: [NSManagedObject] = (0..<3).map { book("\(number)/\(round)/\($0)", in: context) }
            try context.obtainPermanentIDs(for: [made[0]])
            try context.save()
            made[1].setValue("changed \(number)/\(round)", forKey: "title")
            try context.save()
            context.reset()
            _ = try context.fetch(books).prefix(2).map { $0.value(forKey: "title") }
          }
        } catch {
          errors.withLock { $0.append(error) }
        }
      }
    }
    for error in errors.withLock({ $0 }).prefix(3) { Issue.record(error) }
    let reader: NSManagedObjectContext = context(coordinator)
    let titles: [String] = try reader.performAndWait {
      try reader.fetch(books).compactMap { $0.value(forKey: "title") as? String }
    }
    #expect(titles.count == 8 * rounds * 3)
    #expect(Set(titles).count == titles.count)
  }

  @Test func `many contexts get numbers of an atomic store's unguarded counter`() throws {
    let (store, coordinator) = try open(Counting.self)
    try work(coordinator, rounds: 30)
    #expect(store.turns.most == 1)
    #expect(store.cacheNodes().count == 720)
  }

  @Test func `an incremental store is called by one thread at a time`() throws {
    let folder: URL = FileManager.default.temporaryDirectory.appending(path: "turns-\(UUID().uuidString)")
    let (store, coordinator) = try open(RecordStore.self, at: folder)
    let inside = Locked<Int>(0)
    let turns = Turns()
    store.hook.withLock { $0 = { _ in turns.run { inside.withLock { $0 += 1 } } } }
    try work(coordinator, rounds: 4)
    #expect(inside.withLock { $0 } > 8 * 4 * 4)
    #expect(turns.most == 1)
  }

  @Test func `a store may ask for ids and read while it is asked for one`() throws {
    let (store, coordinator) = try open(Counting.self)
    let context: NSManagedObjectContext = context(coordinator)
    try context.performAndWait {
      let (first, second) = (book("a", in: context), book("b", in: context))
      nonisolated(unsafe) let objects = [first, second]
      store.hook = { _, asked in
        guard let other = objects.first(where: { $0 !== asked && $0.objectID.isTemporaryID }),
          asked.value(forKey: "pages") as? Int != 7
        else { return nil }
        asked.setPrimitiveValue(7, forKey: "pages")
        try asked.managedObjectContext?.obtainPermanentIDs(for: [other])
        _ = try asked.managedObjectContext?.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        return nil
      }
      try context.obtainPermanentIDs(for: objects)
      #expect(Set(objects.map(\.objectID)).count == 2)
      #expect(!objects.contains { $0.objectID.isTemporaryID })
      try context.save()
      let count: Int = try context.count(for: books)
      #expect(count == 2)
    }
  }

  @Test func `a store that saves to itself gets an error, not a standstill`() throws {
    let (store, coordinator) = try open(Counting.self)
    let context: NSManagedObjectContext = context(coordinator)
    let other: NSManagedObjectContext = self.context(coordinator)
    store.whileSaving = {
      try other.performAndWait {
        _ = book("late", in: other)
        try other.save()
      }
    }
    _ = context.performAndWait { book("a", in: context) }
    let text: String = message { try context.performAndWait { try context.save() } }
    #expect(text.contains("while it saves") && text.contains("/nowhere/Counting"), "\(text)")
    store.whileSaving = nil
    try context.performAndWait { try context.save() }
    try other.performAndWait { try other.save() }
    let count: Int = try other.performAndWait { try other.count(for: books) }
    #expect(count == 2)
  }

  /// Each of the two threads is in a method of one store, and asks for objects of the other.
  @Test(.timeLimit(.minutes(10)))
  func `two stores whose methods read each other's objects never wait for each other`()
    throws
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let stores: [Counting] = try ["first", "second"].map { name in
      let type = "Counting \(name) \(UUID().uuidString)"
      NSPersistentStoreCoordinator.registerStoreClass(Counting.self, forStoreType: type)
      let store = try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: URL(fileURLWithPath: "/nowhere/\(type)"))
      return try #require(store as? Counting)
    }
    let isInside: [DispatchSemaphore] = stores.map { _ in DispatchSemaphore(value: 0) }
    for (number, store) in stores.enumerated() {
      let other: Counting = stores[1 - number]
      let reader: NSManagedObjectContext = context(coordinator)
      store.whileSaving = {
        isInside[number].signal()
        // A second thread that could be in the other store's method by now would be.
        _ = isInside[1 - number].wait(timeout: .now() + 0.2)
        try reader.performAndWait {
          let object = NSEntityDescription.insertNewObject(forEntityName: "Book", into: reader)
          reader.assign(object, to: other)
          try reader.obtainPermanentIDs(for: [object])
        }
      }
    }
    let errors = Locked<[any Error]>([])
    DispatchQueue.concurrentPerform(iterations: 2) { number in
      let context: NSManagedObjectContext = context(coordinator)
      do {
        try context.performAndWait {
          context.assign(book("\(number)", in: context), to: stores[number])
          try context.save()
        }
      } catch {
        errors.withLock { $0.append(error) }
      }
    }
    for error in errors.withLock({ $0 }) { Issue.record(error) }
    #expect(stores.map { $0.cacheNodes().count } == [1, 1])
  }

  // MARK: One reference object twice

  @Test func `a reference object that an unsaved object of another context has is an error`() throws {
    let (store, coordinator) = try open(Counting.self)
    store.hook = { _, _ in "same" }
    let first: NSManagedObjectContext = context(coordinator)
    let second: NSManagedObjectContext = context(coordinator)
    nonisolated(unsafe) var kept: NSManagedObject?
    try first.performAndWait {
      let object: NSManagedObject = book("a", in: first)
      try first.obtainPermanentIDs(for: [object])
      kept = object
    }
    _ = second.performAndWait { book("b", in: second) }
    let unsaved: String = message { try second.performAndWait { try second.save() } }
    #expect(unsaved.contains("newReferenceObject(for:) for entity Book returned 'same'"), "\(unsaved)")
    try first.performAndWait { try first.save() }
    let saved: String = message { try second.performAndWait { try second.save() } }
    #expect(saved.contains("names another object"), "\(saved)")
    store.hook = { _, _ in "other" }
    try second.performAndWait { try second.save() }
    #expect(store.cacheNodes().count == 2)
    withExtendedLifetime(kept) {}
  }

  /// Such as the number of an invoice.
  @Test func `a reference object of an object that was given up can be used again`() throws {
    let (store, coordinator) = try open(Counting.self)
    store.hook = { _, _ in "natural" }
    let context: NSManagedObjectContext = context(coordinator)
    try context.performAndWait {
      try context.obtainPermanentIDs(for: [book("a", in: context)])
      context.reset()
      _ = book("b", in: context)
      try context.save()
      #expect(store.cacheNodes().compactMap { $0.value(forKey: "title") as? String } == ["b"])
    }
  }

  @Test func `ids of an incremental store that another context's new object has are an error`() throws {
    final class Same: NSIncrementalStore, @unchecked Sendable {
      // Sendable: it holds nothing.
      override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: "Same", NSStoreUUIDKey: UUID().uuidString]
      }
      override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: "same") }
      }
    }
    let (_, coordinator) = try open(Same.self)
    let (first, second) = (context(coordinator), context(coordinator))
    nonisolated(unsafe) var kept: NSManagedObject?
    try first.performAndWait {
      let object: NSManagedObject = book("a", in: first)
      try first.obtainPermanentIDs(for: [object])
      kept = object
    }
    let text: String = message {
      try second.performAndWait { try second.obtainPermanentIDs(for: [book("b", in: second)]) }
    }
    #expect(text.contains("which another object has"), "\(text)")
    withExtendedLifetime(kept) {}
  }

  @Test func `two nodes with one id are an error when the store is added`() throws {
    let text: String = message { _ = try open(Twins.self) }
    #expect(text.contains("Twins.load() for entity Book returned two nodes"), "\(text)")
    #expect(text.contains("'7'"), "\(text)")
  }
}
