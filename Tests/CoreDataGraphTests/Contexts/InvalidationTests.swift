import CoreData
import Foundation
import StackSupport
import Testing

/// Objects that can't be used any more, unmodelled properties, and the obsolete locks.
@Suite
struct InvalidationTests {
  @Test(
    .rule("EVENT-3", "NSManagedObjectContextObjectsDidChange", "invalidated objects"),
    arguments: StoreKind.allCases)
  func `the objects of a removed store leave their contexts, children's too, and are told of`(kind: StoreKind)
    throws
  {
    let stack = try Stack(kind)
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = stack.context
    let second: NSPersistentStore = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    try stack.run { context in
      let (item, kept): (Item, Item) = (context.item("a"), context.item("kept"))
      context.assign(item, to: second)
      context.assign(kept, to: stack.store)
      try context.save()
      let new: Item = context.item("new")
      context.assign(new, to: second)
      item.title = "changed"
      context.processPendingChanges()
      let theirs: Item = try child.performAndWait {
        try child.existingObject(with: item.objectID) as! Item
      }
      let recorder = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
      let childs = Recorder([.NSManagedObjectContextObjectsDidChange], of: child)
      try stack.coordinator.remove(second)
      #expect(recorder.objects(NSInvalidatedObjectsKey).contains(item))
      #expect(!recorder.objects(NSInvalidatedObjectsKey).contains(kept))
      child.performAndWait { #expect(childs.objects(NSInvalidatedObjectsKey) == [theirs]) }
      #expect(item.managedObjectContext == nil && theirs.managedObjectContext == nil && !item.isUpdated)
      #expect(!context.updatedObjects.contains(item) && kept.title == "kept")
      kept.title = "kept still"
      // Nothing goes to another store than it was assigned to.
      let refusal: String = errorThrown { try context.save() }?.localizedDescription ?? ""
      #expect(refusal.contains("was assigned to the store") && refusal.contains("was removed"), "\(refusal)")
      #expect(new.objectID.isTemporaryID && kept.hasChanges)
      context.assign(new, to: stack.store)
      try context.save()
    }
    let titles: [String?] = try stack.titles()
    #expect(titles.contains("kept still") && titles.contains("new") && !titles.contains("a"))
  }

  @Test(arguments: StoreKind.allCases)
  func `objects whose rows are gone are told of as invalidated`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let items: [Item] = [context.item("fault"), context.item("refreshed")]
      try context.save()
      context.refresh(items[0], mergeChanges: false)
      context.processPendingChanges()
      try stack.elsewhere { other in
        for item in try other.all(Item.self, "Item") { other.delete(item) }
        try other.save()
      }
      let recorder = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
      #expect(items[0].title == nil)
      context.refresh(items[1], mergeChanges: true)
      context.processPendingChanges()
      #expect(recorder.objects(NSInvalidatedObjectsKey) == Set(items))
      #expect(recorder.objects(NSRefreshedObjectsKey).isEmpty)
      #expect(!context.hasChanges)
    }
  }

  @Test(
    .rule("ACC-4", "NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges"),
    arguments: StoreKind.allCases)
  func `a class says whether changes of properties that the model lacks make its objects dirty`(
    kind: StoreKind
  ) throws {
    let model = NSManagedObjectModel()
    model.entities = [MindedObject.self, CarelessObject.self].map { type in
      let entity = World.entity("\(type)", [World.attribute("name", .stringAttributeType)])
      entity.managedObjectClassName = NSStringFromClass(type)
      return entity
    }
    let stack = try Stack(kind, model: model)
    try stack.run { context in
      let minded = context.make("MindedObject", ["name": "a"]) as! MindedObject
      let careless = context.make("CarelessObject", ["name": "a"]) as! CarelessObject
      try context.save()
      careless.mood = 1
      #expect(!careless.hasChanges && !context.hasChanges)
      minded.mood = 1
      #expect(minded.isUpdated && context.hasChanges && !minded.hasPersistentChangedValues)
      #expect(context.updatedObjects == [minded])
      try context.save()
      #expect(!context.hasChanges && minded["name"] as? String == "a")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `mutations of a set are announced with their kind, and the other side follows`(kind: StoreKind) throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      let tag = context.make("Tag", ["name": "t"]) as! Tag
      try context.save()
      item.willChangeValue(forKey: "tags", withSetMutation: .unionSet, using: [tag])
      item.setPrimitiveValue(NSSet(object: tag), forKey: "tags")
      item.didChangeValue(forKey: "tags", withSetMutation: .unionSet, using: [tag])
      #expect(tag.items == [item] && item.isUpdated && tag.isUpdated)
      item["title"] = "b"
      #expect(item.title == "b" && item["title"] as? String == "b")
    }
  }

  /// Apple's deprecated methods without the warning.
  private struct Lock: @unchecked Sendable {
    // Sendable: what the three do is safe from any thread; that is what they are for.
    let lock: () -> Void
    let unlock: () -> Void
    let tryLock: () -> Bool

    @available(*, deprecated)
    static func of(_ context: NSManagedObjectContext) -> Lock {
      Lock(lock: context.lock, unlock: context.unlock, tryLock: context.tryLock)
    }

    @available(*, deprecated)
    static func of(_ coordinator: NSPersistentStoreCoordinator) -> Lock {
      Lock(lock: coordinator.lock, unlock: coordinator.unlock, tryLock: coordinator.tryLock)
    }
  }

  private protocol Locked {
    static var locks: [Lock] { get throws }
  }
  private enum Locks: Locked {
    @available(*, deprecated)
    static var locks: [Lock] {
      get throws {
        let stack = try Stack(.inMemory)
        return [.of(stack.context), .of(stack.coordinator)]
      }
    }
  }

  @Test(.rule("QUEUE-5", "NSManagedObjectContext.lock()"))
  func `lock, unlock and tryLock exclude other threads, and are re-entrant`() throws {
    for lock in try (Locks.self as any Locked.Type).locks {
      nonisolated(unsafe) var count: Int = 0
      let group = DispatchGroup()
      for _ in 0..<4 {
        group.enter()
        Thread.detachNewThread {
          for _ in 0..<1000 {
            lock.lock()
            lock.lock()
            count += 1
            lock.unlock()
            lock.unlock()
          }
          group.leave()
        }
      }
      group.wait()
      #expect(count == 4000)
      lock.lock()
      #expect(lock.tryLock())
      lock.unlock()
      nonisolated(unsafe) var wasFree: [Bool] = []
      func tryElsewhere() {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          wasFree.append(lock.tryLock())
          if wasFree.last == true { lock.unlock() }
          done.signal()
        }
        done.wait()
      }
      tryElsewhere()
      lock.unlock()
      tryElsewhere()
      #expect(wasFree == [false, true])
    }
  }
}

/// A class whose own property counts as a change.
final class MindedObject: NSManagedObject {
  override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
  var mood: Int = 0 {
    willSet { willChangeValue(forKey: "mood") }
    didSet { didChangeValue(forKey: "mood") }
  }
}

/// The same, where it does not.
final class CarelessObject: NSManagedObject {
  var mood: Int = 0 {
    willSet { willChangeValue(forKey: "mood") }
    didSet { didChangeValue(forKey: "mood") }
  }
}
