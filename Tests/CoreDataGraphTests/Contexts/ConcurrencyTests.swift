import CoreData
import Foundation
import StackSupport
import Testing

/// Queues, blocks, merging between contexts.
@Suite
struct ConcurrencyTests {
  enum Trouble: Error, Equatable { case one(Int) }

  @Test(
    .rule("QUEUE-1", "NSManagedObjectContext.performAndWait(_:)"),
    .rule("QUEUE-4", "NSManagedObjectContext.performAndWait(_:)", "errors are rethrown"))
  func `performAndWait is re-entrant, returns and rethrows`() throws {
    let context: NSManagedObjectContext = try Stack(.inMemory).context
    let number: Int = context.performAndWait { context.performAndWait { context.performAndWait { 42 } } }
    #expect(number == 42)
    #expect(throws: Trouble.one(3)) {
      try context.performAndWait { () throws(Trouble) -> Int in
        try context.performAndWait { () throws(Trouble) in throw Trouble.one(3) }
        return 1
      }
    }
    let other: NSManagedObjectContext = NSManagedObjectContext(.privateQueue)
    let both: Int = context.performAndWait { other.performAndWait { context.performAndWait { 7 } } }
    #expect(both == 7)
  }

  @Test(.rule("QUEUE-2", "NSManagedObjectContext.perform(_:)", "not inline, a block at a time"))
  func `perform runs later, in order, one block at a time`() async throws {
    let context: NSManagedObjectContext = try Stack(.inMemory).context
    nonisolated(unsafe) var order: [Int] = []
    context.performAndWait {
      for number in 0..<100 { context.perform { order.append(number) } }
      #expect(order.isEmpty, "not inline")
    }
    await context.perform(schedule: .enqueued) { order.append(100) }
    #expect(order == Array(0...100))
  }

  @Test(.rule("QUEUE-4", "NSManagedObjectContext.perform(schedule:_:)"))
  func `async perform returns values and throws the block's error`() async throws {
    let stack = try Stack(.inMemory)
    let context: NSManagedObjectContext = stack.context
    let id: NSManagedObjectID = try await context.perform {
      let item: Item = context.item("a")
      try context.save()
      return item.objectID
    }
    #expect(!id.isTemporaryID)
    await #expect(throws: Trouble.one(1)) {
      try await context.perform { () throws(Trouble) -> Int in throw Trouble.one(1) }
    }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask { await context.perform { _ = context.item("\(number)") } }
      }
    }
    #expect(await context.perform { context.insertedObjects.count } == 50)
  }

  @MainActor
  @Test func `a main-queue context works on the main thread at once, and from elsewhere`() async throws {
    let stack = try Stack(.inMemory)
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = stack.coordinator
    let item: Item = context.performAndWait { context.item("a") }
    #expect(item.isInserted)
    try await context.perform { try context.save() }
    let id: NSManagedObjectID = item.objectID
    let title: String? = try await Task.detached {
      try await context.perform { try (context.existingObject(with: id) as? Item)?.title }
    }.value
    #expect(title == "a")
  }

  @MainActor
  @Test(.rule("EVENT-2", "NSManagedObjectContext.processPendingChanges()", "the main queue"))
  func `what main-queue code changes outside of blocks is an event that ends when the queue goes on`()
    async throws
  {
    let stack = try Stack(.inMemory)
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = stack.coordinator
    context.undoManager = UndoManager()
    let request: NSFetchRequest<Item> = context.request(Item.self, "Item", sort: ["title"])
    let results = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    try results.performFetch()
    final class Delegate: NSFetchedResultsControllerDelegate {}
    let delegate = Delegate()
    results.delegate = delegate
    let recorder = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
    let item: Item = context.item("a")
    item.price = 1
    #expect(recorder.received.isEmpty)
    await nextTurn()
    #expect(recorder.received.count == 1 && recorder.objects(NSInsertedObjectsKey) == [item])
    #expect(results.fetchedObjects == [item])
    item.price = 2
    await nextTurn()
    context.undo()
    #expect(item.price == 1 && item.isInserted, "each turn is an undo group of its own")
    await nextTurn()
    #expect(recorder.received.count == 3)
    item.price = 3
    context.processPendingChanges()
    await nextTurn()
    #expect(recorder.received.count == 4, "told once")
    try context.save()
    context.refreshAllObjects()
    await nextTurn()
    #expect(recorder.objects(NSRefreshedObjectsKey, at: 4) == [item])
    context.delete(item)
    await nextTurn()
    #expect(results.fetchedObjects == [])
  }

  /// Waits until the main queue has run what it was given before.
  private func nextTurn() async {
    await withCheckedContinuation { waiting in DispatchQueue.main.async { waiting.resume() } }
  }

  @Test(
    .rule(
      "MERGE-1", "NSManagedObjectContext.mergeChanges(fromContextDidSave:)",
      "registered objects are refreshed and keep local changes"),
    .rule("MERGE-4", "NSManagedObjectContext.mergeChanges(fromContextDidSave:)", "ids are all it needs"),
    .rule("MERGE-6", "NSManagedObjectContext.automaticallyMergesChangesFromParent"),
    .rule("EVENT-6", "NSManagedObjectContextDidMergeChangesObjectIDs"), arguments: StoreKind.allCases)
  func `saves of one context are merged into another, by hand and by itself`(kind: StoreKind) async throws {
    let stack = try Stack(kind)
    let automatic: NSManagedObjectContext = stack.other()
    automatic.automaticallyMergesChangesFromParent = true
    let manual: NSManagedObjectContext = stack.other()
    let still: NSManagedObjectContext = stack.other()
    let id: NSManagedObjectID = try stack.run { context in
      let category: Category = context.category("c")
      for title in ["a", "b"] { _ = context.item(title, category) }
      try context.save()
      return category.objectID
    }
    struct View {
      let category: Category
      let items: [Item]
      var titles: [String?] { items.map(\.title) }
    }
    func view(_ context: NSManagedObjectContext) throws -> View {
      let found: NSManagedObject = try context.existingObject(with: id)
      guard let category = found as? Category else { throw CocoaError(.coreData) }
      return View(category: category, items: category.items.sorted { $0.title ?? "" < $1.title ?? "" })
    }
    nonisolated(unsafe) let views: [View] = try [automatic, manual, still].map { context in
      try context.performAndWait {
        let made: View = try view(context)
        made.items[0].price = 3
        return made
      }
    }
    nonisolated(unsafe) var notification: Notification?
    let merges = Recorder([.NSManagedObjectContextDidMergeChangesObjectIDs], of: automatic)
    let recorder = Recorder([.NSManagedObjectContextDidSaveObjectIDs], of: stack.context) {
      notification = $0
    }
    try stack.run { context in
      let mine: View = try view(context)
      mine.items[0].title = "a!"
      context.delete(mine.items[1])
      _ = context.item("new", mine.category)
      try context.save()
    }
    _ = recorder
    // The automatic merge was enqueued before this.
    await automatic.perform(schedule: .enqueued) {
      #expect(merges.received.count == 1)
      let told: [AnyHashable: Any]? = merges.received.first?.userInfo
      #expect(told?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> == [views[0].items[0].objectID, id])
      #expect(told?[NSRefreshedObjectIDsKey] as? Set<NSManagedObjectID> == [views[0].items[0].objectID, id])
      #expect(views[0].items[0].title == "a!" && views[0].items[0].price == 3)
      #expect(views[0].items[1].isDeleted && automatic.deletedObjects == [views[0].items[1]])
      #expect(Set(views[0].category.items.map(\.title)) == ["a!", "new"])
      #expect(automatic.updatedObjects == [views[0].items[0]])
    }
    let sent: Notification = try #require(notification)
    manual.performAndWait {
      manual.mergeChanges(fromContextDidSave: sent)
      #expect(views[1].items[0].title == "a!" && views[1].items[0].price == 3)
      #expect(Set(views[1].category.items.map(\.title)) == ["a!", "new"])
    }
    still.performAndWait {
      #expect(views[2].titles == ["a", "b"])
      #expect(codeThrown { try still.save() } == NSManagedObjectMergeError)
    }
    try automatic.performAndWait { try automatic.save() }
    #expect(
      try stack.elsewhere { try $0.all(Item.self, "Item", sort: ["title"]).map(\.price) } == [3, 0])
  }

  @MainActor
  @Test func `a merge that waits for its turn does not keep the context`() throws {
    let stack = try Stack(.inMemory)
    weak var gone: NSManagedObjectContext?
    do {
      let context = NSManagedObjectContext(.mainQueue)
      context.persistentStoreCoordinator = stack.coordinator
      context.automaticallyMergesChangesFromParent = true
      let child = NSManagedObjectContext(.mainQueue)
      child.parent = context
      gone = context
      try stack.run { other in
        _ = other.item("a")
        try other.save()
      }
      #expect(gone != nil)
    }
    #expect(gone == nil, "the main queue is here and has not come to the merge")
  }

  @Test(arguments: StoreKind.allCases)
  func `many contexts read and write one store at once`(kind: StoreKind) async throws {
    let stack = try Stack(kind)
    nonisolated(unsafe) let shared: Stack = stack
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for round in 0..<15 {
            let context: NSManagedObjectContext = shared.other()
            try await context.perform {
              let category: Category = context.category("\(writer)")
              for _ in 0..<3 { _ = context.item("\(round)", category) }
              try context.save()
            }
          }
        }
        group.addTask {
          for _ in 0..<15 {
            let context: NSManagedObjectContext = shared.other()
            try await context.perform {
              for category in try context.all(Category.self, "Category") {
                #expect(category.items.count == 3)
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try stack.elsewhere { try $0.count(for: $0.request(Item.self, "Item")) } == 180)
  }
}
