import CoreData
import Foundation
import StackSupport
import Testing

/// What another context has deleted and a merge tells of (Decisions/0030).
@Suite
struct MergedDeletionTests {
  private typealias Scene = DeletionScene

  @Test(
    .rule("MERGE-3", "NSManagedObjectContext.mergeChanges(fromContextDidSave:)", "delete(_:) is applied"),
    arguments: StoreKind.allCases, DeletionScene.Way.allCases)
  func `what another context has deleted is deleted here until the next save`(
    kind: StoreKind, way: DeletionScene.Way
  )
    throws
  {
    let scene = try Scene(kind)
    let context: NSManagedObjectContext = scene.context
    let gone: Item = scene.items[0]
    let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
    try scene.deleteElsewhere([gone], way)
    try scene.stack.run { context in
      #expect(changes.received.indices.map { changes.objects(NSDeletedObjectsKey, at: $0) } == [[gone]])
      #expect(gone.isDeleted && gone.managedObjectContext === context && gone.title == "a")
      #expect(context.deletedObjects == [gone] && context.registeredObjects.contains(gone))
      #expect(!context.hasChanges && context.updatedObjects.isEmpty)
      #expect(scene.category.items == [scene.items[1]])
      #expect(try context.all(Item.self, "Item") == [scene.items[1]])
      #expect(errorThrown { _ = try context.existingObject(with: gone.objectID) } != nil)
      context.refreshAllObjects()
      context.rollback()
      #expect(gone.isDeleted && context.deletedObjects == [gone], "a rollback has nothing to take back")
      let journal: Int = scene.stack.journal.lines.count
      let saves = Recorder([.NSManagedObjectContextDidSave], of: context)
      try context.save()
      #expect(scene.stack.journal.lines.count == journal, "nothing is saved, so nobody is called")
      #expect(saves.received.count == 1 && saves.objects(NSDeletedObjectsKey) == [])
      #expect(gone.managedObjectContext == nil && !gone.isDeleted && context.deletedObjects.isEmpty)
      #expect(scene.category.items == [scene.items[1]])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `changes of others are saved beside a merged deletion, and lose what pointed at it`(kind: StoreKind)
    throws
  {
    let scene = try Scene(kind)
    let (gone, kept): (Item, Item) = (scene.items[0], scene.items[1])
    let tag: NSManagedObject = try scene.stack.run { context in
      let tag: NSManagedObject = context.make("Tag", ["name": "t", "items": NSSet(array: [gone, kept])])
      gone.title = "lost"
      return tag
    }
    try scene.deleteElsewhere([gone])
    try scene.stack.run { context in
      #expect(tag.value(forKey: "items") as? Set<NSManagedObject> == [kept])
      #expect(context.updatedObjects == [kept] && context.insertedObjects == [tag])
      try context.save()
      #expect(gone.managedObjectContext == nil)
    }
    #expect(try scene.stack.titles() == ["b"])
    #expect(
      try scene.stack.elsewhere { try $0.all(Item.self, "Item").first?.tags.map { $0.value(forKey: "name") } }
        as? [String] == ["t"])
  }

  @Test(arguments: StoreKind.allCases)
  func `deleting what another context has deleted already is no conflict once that is merged`(kind: StoreKind)
    throws
  {
    let scene = try Scene(kind)
    try scene.stack.run { $0.delete(scene.items[0]) }
    try scene.deleteElsewhere([scene.items[0]])
    try scene.stack.run { context in
      #expect(context.deletedObjects == [scene.items[0]])
      scene.items[1].price = 2
      try context.save()
      #expect(!context.hasChanges && context.deletedObjects.isEmpty)
    }
    #expect(try scene.stack.titles() == ["b"])
  }

  @Test(arguments: StoreKind.allCases)
  func `an undo neither brings back what another context has deleted nor what pointed at it`(kind: StoreKind)
    throws
  {
    let scene = try Scene(kind)
    let manager = UndoManager()
    let (gone, kept): (Item, Item) = (scene.items[0], scene.items[1])
    try scene.stack.run { context in
      context.undoManager = manager
      kept.price = 1
      context.processPendingChanges()
      gone.category = nil
      gone.price = 5
      context.processPendingChanges()
    }
    try scene.deleteElsewhere([gone])
    try scene.stack.run { context in
      #expect(manager.undoCount == 2, "the merge is no event that could be undone")
      context.undo()
      #expect(gone.isDeleted && context.deletedObjects == [gone] && scene.category.items == [kept])
      context.undo()
      #expect(kept.price == 0)
      context.redo()
      context.redo()
      #expect(kept.price == 1 && gone.isDeleted)
      try context.save()
      #expect(gone.managedObjectContext == nil && scene.category.items == [kept])
    }
    #expect(try scene.stack.titles() == ["b"])
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `undoing one's own deletion makes what another context has deleted too anew`(
    kind: StoreKind, savesFirst: Bool
  ) throws {
    let scene = try Scene(kind)
    let gone: Item = scene.items[0]
    try scene.stack.run { context in
      context.undoManager = UndoManager()
      context.delete(gone)
    }
    try scene.deleteElsewhere([gone])
    try scene.stack.run { context in
      if savesFirst { try context.save() }
      context.undo()
      #expect(gone.isInserted && gone.managedObjectContext === context && scene.category.items.contains(gone))
      try context.save()
    }
    #expect(try scene.stack.titles() == ["a", "b"])
  }

  @Test(arguments: StoreKind.allCases)
  func `members that were never loaded leave a loaded relationship too`(kind: StoreKind) throws {
    let scene = try Scene(kind, ["a", "b", "c"])
    try scene.stack.run { context in
      context.reset()
      let category: Category = try #require(try context.all(Category.self, "Category").first)
      let members: Set<Item> = category.items
      let ids: [NSManagedObjectID] = Array(members.map(\.objectID).prefix(2))
      try scene.stack.elsewhere { other in
        for id in ids { other.delete(try other.existingObject(with: id)) }
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
      #expect(category.items.count == 1 && !context.hasChanges)
      #expect(context.deletedObjects == members.subtracting(category.items))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a context keeps nothing alive for a merged deletion`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let context: NSManagedObjectContext = stack.context
    for number in 0..<200 {
      nonisolated(unsafe) weak var object: Item?
      let id: NSManagedObjectID = try stack.run { context in
        let item: Item = context.item("\(number)")
        object = item
        try context.save()
        return item.objectID
      }
      nonisolated(unsafe) var held: NSManagedObject? = context.performAndWait { context.object(with: id) }
      try stack.elsewhere { other in
        other.delete(try other.existingObject(with: id))
        try other.save()
      }
      context.performAndWait {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSDeletedObjectsKey: [id]], into: [context])
        #expect(context.deletedObjects == [held])
        held = nil
        #expect(context.deletedObjects.isEmpty && context.registeredObjects.isEmpty)
      }
      #expect(object == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `nothing that points at what another context has deleted is saved`(kind: StoreKind) throws {
    let scene = try Scene(kind)
    let (gone, kept): (Category, Item) = try scene.stack.run { context in
      let gone: Category = context.category("gone")
      try context.save()
      return (gone, scene.items[0])
    }
    try scene.deleteElsewhere([gone])
    try scene.stack.run { context in
      kept.category = gone
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.localizedDescription.contains("category") && context.hasChanges)
      kept.category = scene.category
      try context.save()
      kept.category = gone
      #expect(gone.managedObjectContext == nil, "it has left with that save")
      #expect(errorThrown { try context.save() } != nil)
      context.rollback()
      #expect(kept.category === scene.category)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is there again under its id comes back`(kind: StoreKind) throws {
    let scene = try Scene(kind)
    let gone: Item = scene.items[0]
    let third: NSManagedObjectContext = scene.stack.other()
    third.mergePolicy = NSMergePolicy.overwrite
    let id: NSManagedObjectID = gone.objectID
    try third.performAndWait { (try third.existingObject(with: id) as? Item)?.title = "again" }
    try scene.deleteElsewhere([gone])
    // Changed there and deleted meanwhile: the overwriting save inserts it again.
    try third.performAndWait { try third.save() }
    try scene.stack.run { context in
      #expect(gone.isDeleted)
      #expect(try context.all(Item.self, "Item", sort: ["title"]) == [gone, scene.items[1]])
      #expect(!gone.isDeleted && gone.title == "again" && context.deletedObjects.isEmpty)
      gone.price = 4
      try context.save()
    }
    #expect(try scene.stack.titles() == ["again", "b"])
  }

  // The child's deletions are not in the store yet. Merged, they were taken for deletions that are.
  @Test(arguments: StoreKind.allCases)
  func `a child's save that is merged before its parent saves takes nothing from anybody`(kind: StoreKind)
    throws
  {
    let stack = try Stack(kind)
    let other: NSManagedObjectContext = stack.other()
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      let theirs: NSManagedObject = try other.performAndWait { try other.existingObject(with: item.objectID) }
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      let recorder = Recorder([.NSManagedObjectContextDidSaveObjectIDs], of: child)
      try child.performAndWait {
        child.delete(try child.existingObject(with: item.objectID))
        try child.save()
      }
      let saved: [AnyHashable: Any] = try #require(recorder.received.first?.userInfo)
      for receiver in [context, other] {
        receiver.performAndWait {
          receiver.mergeChanges(
            fromContextDidSave: Notification(
              name: .NSManagedObjectContextDidSave, object: nil, userInfo: saved))
        }
      }
      other.performAndWait { #expect(!theirs.isDeleted && theirs.value(forKey: "title") as? String == "a") }
      #expect(item.isDeleted && context.hasChanges)
      try context.save()
      #expect(try stack.titles() == [])
    }
  }
}
