import CoreData
import Foundation
import StackSupport
import Testing

/// The typed messages of contexts and coordinators.
@Suite
struct MessageTests {
  @MainActor
  private func mainContext(_ stack: Stack) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = stack.coordinator
    return context
  }

  @MainActor
  @Test(arguments: StoreKind.allCases)
  func `a main-queue context tells the main actor of changes and saves, in order`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let context: NSManagedObjectContext = mainContext(stack)
    let other: NSManagedObjectContext = mainContext(stack)
    let center: NotificationCenter = .default
    var told: [String] = []
    let tokens: [NotificationCenter.ObservationToken] = [
      center.addObserver(of: context, for: .objectsDidChange) { message in
        #expect(message.context === context)
        let sets = [
          message.inserted, message.updated, message.deleted, message.refreshed, message.invalidated,
        ]
        told.append("changed \(sets.map(\.count)) \(message.invalidatedAll.map { "\($0)" } ?? "")")
      },
      center.addObserver(of: context, for: .willSave) { message in
        told.append("will save \(message.context === context)")
      },
      center.addObserver(of: context, for: .didSave) { message in
        told.append("saved \([message.inserted, message.updated, message.deleted].map(\.count))")
      },
      center.addObserver(of: context, for: .didSaveObjectIDs) { message in
        told.append("ids \([message.insertedIDs, message.updatedIDs, message.deletedIDs].map(\.count))")
      },
      center.addObserver(of: context, for: .didMergeChanges) { message in
        told.append("merged \(message.updatedIDs.count)")
      },
    ]
    let item: Item = context.item("a")
    try context.save()
    item.title = "b"
    context.processPendingChanges()
    let theirs: Item = try other.existingObject(with: item.objectID) as! Item
    theirs.price = 3
    let recorder = Recorder([.NSManagedObjectContextDidSave], of: other)
    try other.save()
    context.mergeChanges(fromContextDidSave: try #require(recorder.received.first))
    context.reset()
    #expect(
      told == [
        "changed [1, 0, 0, 0, 0] ", "will save true", "saved [1, 0, 0]", "ids [1, 0, 0]",
        "changed [0, 1, 0, 0, 0] ", "changed [0, 0, 0, 1, 0] ", "merged 1", "changed [0, 0, 0, 0, 0] true",
      ])
    for token in tokens { center.removeObserver(token) }
    _ = context.item("c")
    context.processPendingChanges()
    #expect(told.count == 8)
  }

  @MainActor
  @Test func `messages for the main actor are of main-queue contexts only`() throws {
    let stack = try Stack(.inMemory)
    var told: Int = 0
    let token = NotificationCenter.default.addObserver(of: stack.context, for: .didSave) { _ in told += 1 }
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    #expect(told == 0)
    withExtendedLifetime(token) {}
  }

  @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
  func `asynchronous messages carry ids to any thread`(kind: StoreKind) async throws {
    let stack = try Stack(kind)
    let context: NSManagedObjectContext = stack.context
    let (saves, save) = AsyncStream.makeStream(of: NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.self)
    let (merges, merge) = AsyncStream.makeStream(of: NSManagedObjectContext.DidMergeChangesAsyncMessage.self)
    let other: NSManagedObjectContext = stack.other()
    let center: NotificationCenter = .default
    let first = center.addObserver(of: context, for: .didSaveObjectIDsAsync) { save.yield($0) }
    let second = center.addObserver(of: other, for: .didMergeChangesAsync) { merge.yield($0) }
    let id: NSManagedObjectID = try await context.perform {
      let item: Item = context.item("a")
      try context.save()
      return item.objectID
    }
    let saved = try #require(await saves.first { _ in true })
    #expect(saved.insertedIDs == [id] && saved.updatedIDs.isEmpty && saved.context === context)
    let notification: Notification = type(of: saved).makeNotification(saved)
    #expect(notification.name == .NSManagedObjectContextDidSaveObjectIDs)
    await other.perform { other.mergeChanges(fromContextDidSave: type(of: saved).makeNotification(saved)) }
    let merged = try #require(await merges.first { _ in true })
    #expect(merged.insertedIDs == [id] && merged.context === other)
    withExtendedLifetime((first, second)) {}
  }

  @Test(.timeLimit(.minutes(10))) func `a coordinator tells of its stores`() async throws {
    let stack = try Stack(.inMemory)
    let (changes, change) = AsyncStream.makeStream(
      of: NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage.self)
    let token = NotificationCenter.default.addObserver(of: stack.coordinator, for: .storesDidChangeAsync) {
      change.yield($0)
    }
    let store: NSPersistentStore = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let added = try #require(await changes.first { _ in true })
    #expect(added.addedStores == [store] && added.removedStores.isEmpty && added.uuidChangedStores == nil)
    try stack.coordinator.remove(store)
    let removed = try #require(await changes.first { _ in true })
    #expect(removed.removedStores == [store] && removed.persistentStoreCoordinator === stack.coordinator)
    withExtendedLifetime(token) {}
  }

  /// A process of its own, so that they are its first ones.
  @Test func `the first messages of many threads all arrive`() async {
    await #expect(processExitsWith: .success) {
      alarm(60)
      let stack = try Stack(.inMemory)
      let (ids, id) = AsyncStream.makeStream(of: Set<NSManagedObjectID>.self)
      let token = NotificationCenter.default.addObserver(
        for: NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.self
      ) { message in id.yield(message.insertedIDs) }
      let contexts: [NSManagedObjectContext] = (0..<8).map { _ in stack.other() }
      for context in contexts { context.performAndWait { _ = context.item("a") } }
      let start = DispatchSemaphore(value: 0)
      for context in contexts {
        Thread.detachNewThread {
          start.wait()
          try? context.performAndWait { try context.save() }
        }
      }
      for _ in contexts { start.signal() }
      var inserted: Set<NSManagedObjectID> = []
      for await some in ids {
        inserted.formUnion(some)
        if inserted.count == contexts.count { break }
      }
      withExtendedLifetime(token) {}
    }
  }

  @MainActor
  @Test func `a coordinator tells the main actor of changes there`() throws {
    let stack = try Stack(.inMemory)
    var told: [Int] = []
    let token = NotificationCenter.default.addObserver(of: stack.coordinator, for: .storesDidChange) {
      message in
      told.append(message.addedStores.count - message.removedStores.count)
    }
    let store: NSPersistentStore = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    try stack.coordinator.remove(store)
    #expect(told == [1, -1])
    withExtendedLifetime(token) {}
  }

  @MainActor
  @Test func `every message is made of its notification, and a notification of it`() throws {
    let stack = try Stack(.inMemory)
    let context: NSManagedObjectContext = mainContext(stack)
    let item: Item = context.item("a")
    let note = Notification(
      name: .NSManagedObjectContextObjectsDidChange, object: context,
      userInfo: [NSInvalidatedObjectsKey: Set<NSManagedObject>([item]), NSInvalidatedAllObjectsKey: [Any]()])
    let message = try #require(NSManagedObjectContext.ObjectsDidChangeMessage.makeMessage(note))
    #expect(message.invalidated == [item] && message.invalidatedAll == true && message.inserted.isEmpty)
    let again: Notification = NSManagedObjectContext.ObjectsDidChangeMessage.makeNotification(message)
    #expect(again.name == note.name && again.object as? NSManagedObjectContext === context)
    #expect(again.userInfo?[NSInvalidatedObjectsKey] as? Set<NSManagedObject> == [item])
    #expect(NSManagedObjectContext.DidSaveMessage.makeMessage(Notification(name: note.name)) == nil)
  }
}
