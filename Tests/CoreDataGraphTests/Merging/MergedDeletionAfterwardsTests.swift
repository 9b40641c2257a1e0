import CoreData
import Foundation
import StackSupport
import Testing

/// What becomes of objects that another context has deleted, and of those around them, after the merge
/// (Decisions/0030).
@Suite
struct MergedDeletionAfterwardsTests {
  private typealias Scene = DeletionScene

  enum Local: CaseIterable {
    case update, delete
  }

  // MARK: Coming back

  @Test(arguments: StoreKind.allCases, Local.allCases)
  func `changes to an object that came back are saved, whatever was rolled back before`(
    kind: StoreKind, local: Local
  ) throws {
    let scene = try Scene(kind, ["a"])
    let a: Item = scene.items[0]
    try scene.stack.run { context in
      if local == .update { a.title = "lost" }
    }
    try scene.deleteAndBringBack(a, "again") {
      try scene.stack.run { context in
        // Once more, to an object that is deleted already.
        if local == .update { a.title = "lost again" } else { context.delete(a) }
        context.rollback()
        #expect(a.isDeleted && !context.hasChanges)
      }
    }
    try scene.stack.run { context in
      #expect(try context.all(Item.self, "Item") == [a])
      #expect(!a.isDeleted && a.title == "again")
      a.title = "mine"
      #expect(a.isUpdated && context.hasChanges && context.updatedObjects == [a])
      try context.save()
    }
    #expect(try scene.stack.titles() == ["mine"])
    try scene.stack.run { context in
      context.delete(a)
      #expect(context.hasChanges)
      try context.save()
    }
    #expect(try scene.stack.titles() == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `a deletion made here before the merge is forgotten when the object comes back`(kind: StoreKind) throws
  {
    let scene = try Scene(kind, ["a"])
    let a: Item = scene.items[0]
    try scene.deleteAndBringBack(a, "again") { try scene.stack.run { $0.rollback() } }
    try scene.stack.run { context in
      context.delete(a)
      context.processPendingChanges()
      context.rollback()
      #expect(try context.all(Item.self, "Item") == [a])
      context.delete(a)
      try context.save()
    }
    #expect(try scene.stack.titles() == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `a merged deletion lets go of what was to be saved, and keeps nothing for it`(kind: StoreKind) throws {
    let scene = try Scene(kind, ["a"])
    let a: Item = scene.items[0]
    try scene.stack.run { context in
      a.title = "x"
      context.detectConflicts(for: a)
    }
    try scene.deleteElsewhere([a])
    try scene.stack.run { context in
      #expect(!a.isUpdated && context.updatedObjects.isEmpty && context.deletedObjects == [a])
      scene.category.name = "other"
      try context.save()
    }
  }

  enum Look: CaseIterable {
    case plain, withoutValues, batched, existing, fault
  }

  @Test(arguments: StoreKind.allCases, Look.allCases)
  func `an object comes back however its row is found`(kind: StoreKind, look: Look) throws {
    let scene = try Scene(kind, ["a"])
    let a: Item = scene.items[0]
    if look == .fault { try scene.stack.run { $0.refresh(a, mergeChanges: false) } }
    try scene.deleteAndBringBack(a, "again")
    try scene.stack.run { context in
      #expect(a.isDeleted)
      let request: NSFetchRequest<Item> = context.request(Item.self, "Item")
      switch look {
      case .plain: #expect(try context.fetch(request) == [a])
      case .withoutValues:
        request.includesPropertyValues = false
        #expect(try context.fetch(request) == [a])
      case .batched:
        request.fetchBatchSize = 10
        #expect(try context.fetch(request).map(\.objectID) == [a.objectID])
      case .existing: #expect(try context.existingObject(with: a.objectID) === a)
      case .fault: break
      }
      #expect(a.title == "again" && !a.isDeleted && context.deletedObjects.isEmpty)
      a.title = "mine"
      try context.save()
    }
    #expect(try scene.stack.titles() == ["mine"])
  }

  enum Stale: CaseIterable {
    case update, insert
  }

  @Test(arguments: StoreKind.allCases, Stale.allCases)
  func `news older than the deletion bring nothing back`(kind: StoreKind, stale: Stale) throws {
    let scene = try Scene(kind, ["a"])
    let a: Item = scene.items[0]
    let id: NSManagedObjectID = a.objectID
    let older: Notification = try scene.elsewhere {
      try $0.existingObject(with: id).setValue("a2", forKey: "title")
    }
    try scene.deleteElsewhere([a])
    try scene.stack.run { context in
      let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
      if stale == .update {
        context.mergeChanges(fromContextDidSave: older)
      } else {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSInsertedObjectsKey: [id]], into: [context])
      }
      #expect(changes.received.isEmpty)
      #expect(a.isDeleted && context.deletedObjects == [a] && a.title == "a")
      try context.save()
      #expect(a.managedObjectContext == nil)
    }
  }

  @Test(arguments: StoreKind.allCases, Stale.allCases)
  func `news of a row that is there again bring its object back`(kind: StoreKind, news: Stale) throws {
    let scene = try Scene(kind, ["a"])
    let a: Item = scene.items[0]
    try scene.deleteAndBringBack(a, "again")
    try scene.stack.run { context in
      let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [news == .update ? NSUpdatedObjectsKey : NSInsertedObjectsKey: [a.objectID]],
        into: [context])
      #expect(changes.objects(news == .update ? NSRefreshedObjectsKey : NSInsertedObjectsKey) == [a])
      #expect(!a.isDeleted && a.title == "again" && context.deletedObjects.isEmpty)
    }
  }

  // MARK: Relationships

  @Test(arguments: StoreKind.allCases)
  func `loaded members go though the gone one has never looked at its side`(kind: StoreKind) throws {
    let scene = try Scene(kind)
    try scene.stack.run { context in
      _ = context.make("Tag", ["name": "t", "items": NSSet(array: scene.items)])
      try context.save()
      context.reset()
      let tag: Tag = try #require(try context.all(Tag.self, "Tag").first)
      let items: [Item] = tag.items.sorted { $0.title! < $1.title! }
      let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
      try scene.deleteElsewhere([items[0]], .remote)
      #expect(tag.items == [items[1]] && !context.hasChanges)
      #expect(changes.objects(NSDeletedObjectsKey) == [items[0]])
      #expect(changes.objects(NSRefreshedObjectsKey) == [tag], "it has lost a member")
      try context.save()
      #expect(tag.items == [items[1]])
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `an ordered relationship that lost a member elsewhere can be changed and saved`(
    kind: StoreKind, trumps: Bool
  ) throws {
    let scene = try Scene(kind)
    try scene.stack.run { context in
      if trumps { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
      let songs: [NSManagedObject] = ["1", "2", "3"].map { context.make("Song", ["name": $0]) }
      _ = context.make("Playlist", ["name": "p", "songs": NSOrderedSet(array: songs)])
      try context.save()
      context.reset()
      let playlist: Playlist = try #require(try context.all(Playlist.self, "Playlist").first)
      #expect(playlist.names == ["1", "2", "3"])
      try scene.deleteElsewhere([playlist.songs[1]], .remote)
      #expect(playlist.names == ["1", "3"])
      playlist.songs = [context.make("Song", ["name": "0"])] + playlist.songs
      playlist.songs += [context.make("Song", ["name": "4"])]
      try context.save()
    }
    #expect(
      try scene.stack.elsewhere { try $0.all(Playlist.self, "Playlist").first?.names } == [
        "0", "1", "3", "4",
      ])
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `a relationship without inverse loses what was deleted elsewhere, saved or not`(
    kind: StoreKind, savesFirst: Bool
  ) throws {
    for way in DeletionScene.Way.allCases { try loseMember(kind, savesFirst, way) }
  }

  private func loseMember(_ kind: StoreKind, _ savesFirst: Bool, _ way: DeletionScene.Way) throws {
    let scene = try Scene(kind)
    let (a, b): (Item, Item) = (scene.items[0], scene.items[1])
    let basket: NSManagedObject = try scene.stack.run { context in
      let basket: NSManagedObject = context.make("Basket", ["name": "b"])
      try context.save()
      basket.setValue(NSSet(array: [a, b]), forKey: "items")
      if savesFirst { try context.save() }
      return basket
    }
    try scene.deleteElsewhere([a], way)
    try scene.stack.run { context in
      #expect(basket.value(forKey: "items") as? Set<NSManagedObject> == [b])
      basket.setValue("c", forKey: "name")
      try context.save()
      #expect(basket.value(forKey: "items") as? Set<NSManagedObject> == [b])
    }
    let stored: [String?] = try scene.stack.elsewhere { other in
      let basket: NSManagedObject = try other.all(NSManagedObject.self, "Basket")[0]
      return (basket.value(forKey: "items") as? Set<Item> ?? []).map(\.title)
    }
    #expect(stored == ["b"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a save refuses a member that another context has deleted, and says so`(kind: StoreKind) throws {
    let scene = try Scene(kind)
    let (a, b): (Item, Item) = (scene.items[0], scene.items[1])
    try scene.deleteElsewhere([a])
    try scene.stack.run { context in
      let basket: NSManagedObject = context.make("Basket", ["items": NSSet(array: [a, b])])
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.localizedDescription.contains("another context has deleted"))
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "items")
      basket.setValue(NSSet(array: [b]), forKey: "items")
      try context.save()
    }
  }

  enum TakingBack: CaseIterable {
    case rollback, refresh, rollbackAfterSave, inChild
  }

  @Test(arguments: StoreKind.allCases, TakingBack.allCases)
  func `nothing leads a to-one back to what another context has deleted`(kind: StoreKind, way: TakingBack)
    throws
  {
    let scene = try Scene(kind, ["a"])
    let item: Item = scene.items[0]
    let shelf: NSManagedObject = try scene.stack.run { context in
      let shelf: NSManagedObject = context.make("Shelf", ["name": "1"])
      item.shelf = shelf
      try context.save()
      return shelf
    }
    if way == .inChild {
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = scene.context
      try child.performAndWait {
        let mine: Item = try #require(try child.existingObject(with: item.objectID) as? Item)
        let theirs: NSManagedObject = try #require(mine.shelf)
        try scene.deleteElsewhere([shelf], .remote)
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSDeletedObjectsKey: [theirs.objectID]], into: [child])
        #expect(mine.shelf == nil && theirs.isDeleted)
        mine.title = "x"
        child.rollback()
        #expect(mine.shelf == nil && mine.title == "a")
      }
      return
    }
    try scene.deleteElsewhere([shelf], .remote)
    try scene.stack.run { context in
      #expect(item.shelf == nil && shelf.isDeleted && !context.hasChanges)
      if way == .rollbackAfterSave { try context.save() }
      item.title = "x"
      if way == .refresh {
        context.refresh(item, mergeChanges: false)
      } else {
        context.rollback()
      }
      #expect(item.shelf == nil && item.title == "a" && !context.hasChanges)
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `a cascade that was begun here goes on when the same is deleted elsewhere`(
    kind: StoreKind, passesOnLate: Bool
  ) throws {
    let scene = try Scene(kind, [])
    let context: NSManagedObjectContext = scene.context
    try scene.stack.run { context in
      context.propagatesDeletesAtEndOfEvent = !passesOnLate
      _ = context.item("mine", scene.category)
      context.processPendingChanges()
    }
    try context.performAndWait {
      context.delete(scene.category)
      // Within the same event.
      try scene.deleteElsewhere([scene.category])
      try context.save()
      #expect(!context.hasChanges)
    }
    #expect(try scene.stack.titles() == [])
  }

  // MARK: Others who are told

  @Test(arguments: StoreKind.allCases, DeletionScene.Way.allCases)
  func `a child that merges by itself hears of what its parent merged`(
    kind: StoreKind, way: DeletionScene.Way
  ) throws {
    let scene = try Scene(kind)
    let id: NSManagedObjectID = scene.items[0].objectID
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = scene.context
    child.automaticallyMergesChangesFromParent = true
    let item: NSManagedObject = try child.performAndWait { try child.existingObject(with: id) }
    try scene.deleteElsewhere([scene.items[0]], way)
    try scene.stack.run { try $0.save() }
    try child.performAndWait {
      #expect(item.isDeleted && child.deletedObjects == [item] && !child.hasChanges)
      let other: Item = try #require(try child.existingObject(with: scene.items[1].objectID) as? Item)
      other.title = "z"
      try child.save()
      #expect(item.managedObjectContext == nil)
    }
    try scene.stack.run { try $0.save() }
    #expect(try scene.stack.titles() == ["z"])
  }

  @Test(arguments: StoreKind.allCases)
  func `what the parent takes back comes back in the child, and its changes are saved`(kind: StoreKind) throws
  {
    let scene = try Scene(kind, ["a"])
    let id: NSManagedObjectID = scene.items[0].objectID
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = scene.context
    child.automaticallyMergesChangesFromParent = true
    let item: NSManagedObject = try child.performAndWait {
      let item: NSManagedObject = try child.existingObject(with: id)
      item.setValue("lost", forKey: "title")
      return item
    }
    let sibling = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    sibling.parent = scene.context
    try sibling.performAndWait {
      sibling.delete(try sibling.existingObject(with: id))
      try sibling.save()
    }
    child.performAndWait { #expect(item.isDeleted && !child.hasChanges) }
    child.performAndWait { child.rollback() }
    try scene.stack.run { $0.rollback() }
    try child.performAndWait {
      #expect(try child.existingObject(with: id) === item && !item.isDeleted)
      item.setValue("mine", forKey: "title")
      #expect(child.hasChanges)
      try child.save()
    }
    try scene.stack.run { try $0.save() }
    #expect(try scene.stack.titles() == ["mine"])
  }
}
