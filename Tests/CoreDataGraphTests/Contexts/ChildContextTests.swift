import CoreData
import Foundation
import StackSupport
import Testing

/// Contexts whose parent is a context.
@Suite
struct ChildContextTests {
  private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    return child
  }

  /// Runs in a child of the stack's context. The test stands on no context's queue.
  private func inChild<T>(_ stack: Stack, _ body: (NSManagedObjectContext) throws -> T) throws -> T {
    let made: NSManagedObjectContext = child(of: stack.context)
    return try made.performAndWait { try body(made) }
  }

  private func items(_ context: NSManagedObjectContext, _ predicate: String? = nil) throws -> [Item] {
    try context.all(Item.self, "Item", predicate.map { NSPredicate(format: $0) }, sort: ["title"])
  }

  @Test(.rule("MERGE-10", "NSManagedObjectContext.parent"), arguments: StoreKind.every)
  func `a child sees what its parent has not saved, in objects and in fetches`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for title in ["a", "b", "c"] { _ = context.item(title) }
      try context.save()
      let all: [Item] = try items(context)
      all[0].title = "changed"
      context.delete(all[1])
      let tag = context.make("Tag", ["name": "t"]) as! Tag
      _ = context.item("new")
      tag.items = [all[0], all[2]]
    }
    try inChild(stack) { child in
      #expect(child.parent === stack.context && child.persistentStoreCoordinator === stack.coordinator)
      #expect(try items(child).map(\.title) == ["c", "changed", "new"])
      #expect(try items(child, "title == 'a'").isEmpty)
      #expect(try child.count(for: child.request(Item.self, "Item")) == 3)
      let changed: Item = try #require(try items(child, "title == 'changed'").first)
      let tag: Tag = try #require(changed.tags.first)
      #expect(tag.name == "t" && tag.objectID.isTemporaryID)
      #expect(tag.items.compactMap(\.title).sorted() == ["c", "changed"])
      #expect(try items(child, "ANY tags.name == 't'").map(\.title) == ["c", "changed"])
      #expect(try child.all(Item.self, "Item", NSPredicate(format: "%@ IN tags", tag)).count == 2)
      #expect(!child.hasChanges && !changed.hasChanges && changed.changedValues().isEmpty)
      #expect(changed.committedValues(forKeys: ["title"])["title"] as? String == "changed")
    }
  }

  enum Refreshing: CaseIterable {
    case one, keepingChanges, all

    func apply(to object: NSManagedObject) {
      guard let context = object.managedObjectContext else { return }
      switch self {
      case .one: context.refresh(object, mergeChanges: false)
      case .keepingChanges: context.refresh(object, mergeChanges: true)
      case .all: context.refreshAllObjects()
      }
    }
  }

  @Test(arguments: Refreshing.allCases, [false, true])
  func `refreshing a child's object over unsaved changes of the parent loses no value`(
    _ refreshing: Refreshing, isFault: Bool
  ) throws {
    let stack = try Stack(.sqlite)
    let id: NSManagedObjectID = try stack.run { context in
      let item: Item = context.item("a")
      item.category = context.category("c")
      item.tags = [Tag(context: context)]
      try context.save()
      item.price = 5
      return item.objectID
    }
    try inChild(stack) { child in
      let item: Item = try #require(try items(child).first)
      if !isFault { _ = item.title }
      #expect(item.isFault == isFault && item.objectID == id)
      refreshing.apply(to: item)
      #expect(item.title == "a" && item.price == 5 && item.category?.name == "c" && item.tags.count == 1)
      item.price += 1
      try child.save()
    }
    try stack.run { context in
      try context.save()
    }
    try stack.elsewhere { context in
      let item: Item = try #require(try items(context).first)
      #expect(item.title == "a" && item.price == 6 && item.category?.name == "c" && item.tags.count == 1)
    }
  }

  @Test(arguments: StoreKind.every, [false, true])
  func `what primitive access sets in a child reaches the parent`(kind: StoreKind, isSaved: Bool) throws {
    let stack = try Stack(kind)
    let id: NSManagedObjectID = try stack.run { context in
      let item: Item = context.item("a")
      if isSaved { try context.save() }
      return item.objectID
    }
    try inChild(stack) { child in
      let item = try child.existingObject(with: id) as! Item
      item.setPrimitiveValue("b", forKey: "title")
      #expect(item.changedValues().isEmpty && !item.hasChanges)
      item.price = 2
      #expect(Set(item.changedValues().keys) == ["price", "title"])
      try child.save()
      #expect(item.title == "b" && !child.hasChanges)
    }
    try stack.run { context in
      #expect(try items(context).map(\.title) == ["b"])
      try context.save()
    }
    #expect(try stack.titles() == ["b"])
  }

  @Test(.rule("MERGE-8", "NSManagedObjectContext.parent"), arguments: StoreKind.every)
  func `a save hands transient values up, and a fetch hands none down`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let made: NSManagedObjectContext = child(of: stack.context)
    let (item, id): (Item, NSManagedObjectID) = try made.performAndWait {
      let item: Item = made.item("a")
      item.note = "first"
      try made.save()
      return (item, item.objectID)
    }
    let parents: Item = try stack.run { context in
      let parents: Item = try #require(context.object(with: id) as? Item)
      #expect(parents.note == "first" && parents.isInserted)
      try context.save()
      return parents
    }
    try made.performAndWait {
      item.note = "second"
      #expect(made.hasChanges && !item.hasPersistentChangedValues)
      try made.save()
      #expect(!made.hasChanges && item.note == "second")
      item.setValue(item, forKey: "note")
      try made.save()
    }
    try stack.run { context in
      #expect(parents.note == "second" && parents.isUpdated && !parents.hasPersistentChangedValues)
      try context.save()
      #expect(parents.note == "second")
    }
    try inChild(stack) { child in
      let fetched: Item = try #require(try items(child).first)
      #expect(fetched.title == "a" && fetched.note == nil)
    }
  }

  @Test(.rule("MERGE-8", "NSManagedObjectContext.parent"), arguments: StoreKind.every)
  func `a save moves changes one level up and writes nothing`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category = context.make("Category", ["name": "c"]) as! Category
      category.items = [context.item("a"), context.item("b")]
      try context.save()
    }
    try inChild(stack) { child in
      let all: [Item] = try items(child)
      all[0].title = "a2"
      child.delete(all[1])
      let new: Item = child.item("new", all[0].category)
      new.note = "transient"
      let tag = child.make("Tag", ["name": "t"]) as! Tag
      tag.items = [all[0], new]
      #expect(try stack.titles() == ["a", "b"])
      try child.save()
      #expect(!child.hasChanges && new.objectID.isTemporaryID && !new.isInserted)
      #expect(new.title == "new" && new.note == "transient" && tag.items.count == 2)
      #expect(try stack.titles() == ["a", "b"], "nothing is written")
      new.title = "newer"
      #expect(new.changedValues().keys.sorted() == ["title"] && new.hasPersistentChangedValues)
      new.title = "new"
      #expect(!new.hasPersistentChangedValues)
      child.rollback()
      #expect(new.title == "new" && tag.items.contains(new))
    }
    try stack.run { context in
      #expect(context.hasChanges && context.insertedObjects.count == 2 && context.deletedObjects.count == 1)
      let all: [Item] = try items(context)
      #expect(all.map(\.title) == ["a2", "new"])
      let tag: Tag = try #require(all[1].tags.first)
      #expect(tag.items == Set(all) && all[1].category === all[0].category)
      #expect(all[0].category?.items == Set(all))
      try context.save()
    }
    #expect(try stack.titles() == ["a2", "new"])
    try stack.elsewhere { context in
      let tag: Tag = try #require(try context.all(Tag.self, "Tag").first)
      #expect(tag.items.count == 2)
    }
  }

  @Test(
    .rule("MERGE-11", "observed", "ids stay temporary until the root saves"), arguments: StoreKind.every)
  func `three levels save one by one, and ids become permanent in all of them`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let middle: NSManagedObjectContext = child(of: stack.context)
    let leaf: NSManagedObjectContext = child(of: middle)
    let temporary: NSManagedObjectID = try leaf.performAndWait {
      let item: Item = leaf.item("deep")
      leaf.userInfo["item"] = item
      try leaf.save()
      return item.objectID
    }
    #expect(temporary.isTemporaryID)
    middle.performAndWait {
      #expect(middle.insertedObjects.map(\.objectID) == [temporary])
      #expect((middle.object(with: temporary) as? Item)?.title == "deep")
    }
    try stack.run { #expect(!$0.hasChanges) }
    try middle.performAndWait { try middle.save() }
    try stack.run { try $0.save() }
    // The contexts take ids over in blocks of their own, which these wait for.
    middle.performAndWait {}
    leaf.performAndWait {
      let item = leaf.userInfo["item"] as? Item
      #expect(item?.objectID.isTemporaryID == false && item?.title == "deep")
      item?.title = "deeper"
    }
    try leaf.performAndWait { try leaf.save() }
    try middle.performAndWait { try middle.save() }
    try stack.run { context in
      #expect(context.object(with: temporary).objectID.isTemporaryID == false, "the old id still finds it")
      try context.save()
    }
    #expect(try stack.titles() == ["deeper"])
  }

  @Test(arguments: StoreKind.every)
  func `ordered members keep the child's order`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let list = context.make("Playlist") as! Playlist
      list.songs = ["a", "b", "c"].map { context.make("Song", ["name": $0]) }
      try context.save()
    }
    try inChild(stack) { child in
      let list: Playlist = try #require(try child.all(Playlist.self, "Playlist").first)
      #expect(list.names == ["a", "b", "c"])
      list.songs = [list.songs[2], child.make("Song", ["name": "d"]), list.songs[0]]
      try child.save()
    }
    try stack.run { context in
      let list: Playlist = try #require(try context.all(Playlist.self, "Playlist").first)
      #expect(list.names == ["c", "d", "a"])
      try context.save()
    }
    try stack.elsewhere { context in
      let names: [String]? = try context.all(Playlist.self, "Playlist").first?.names
      #expect(names == ["c", "d", "a"])
    }
  }

  // Their sides of the relationship arrive before the list's, and in the order in which they were made.
  @Test(arguments: StoreKind.every)
  func `ordered members that a child adds keep the child's order, of lists with an inverse too`(
    kind: StoreKind
  )
    throws
  {
    let stack = try Stack(kind)
    let ids: [NSManagedObjectID] = try stack.run { context in
      let lists: [NSManagedObject] = ["Album", "Playlist"].map { context.make($0) }
      try context.save()
      return lists.map(\.objectID)
    }
    try inChild(stack) { child in
      let songs: [NSManagedObject] = ["a", "b"].map { child.make("Song", ["name": $0]) }
      (try child.existingObject(with: ids[0]) as! Album).songs = songs.reversed()
      (try child.existingObject(with: ids[1]) as! Playlist).songs = songs.reversed()
      child.make("Album", ["name": "new"]).mutableOrderedSetValue(forKey: "songs")
        .addObjects(from: ["c", "d"].map { child.make("Song", ["name": $0]) }.reversed())
      try child.save()
    }
    try stack.run { context in try context.save() }
    try stack.elsewhere { context in
      #expect((try context.existingObject(with: ids[0]) as? Album)?.names == ["b", "a"])
      #expect((try context.existingObject(with: ids[1]) as? Playlist)?.names == ["b", "a"])
      let made: Album? = try context.all(Album.self, "Album", NSPredicate(format: "name == 'new'")).first
      #expect(made?.names == ["d", "c"])
    }
  }

  @Test(
    .rule("MERGE-9", "NSManagedObjectContext.parent", "a parent takes nothing from an unsaved child"),
    arguments: StoreKind.every)
  func `a discarded child leaves the parent as it was`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    try inChild(stack) { child in
      let item: Item = try #require(try items(child).first)
      item.title = "b"
      _ = child.item("c")
      child.rollback()
      #expect(item.title == "a" && !child.hasChanges)
      item.title = "d"
    }
    try stack.run { context in
      let titles: [String?] = try items(context).map(\.title)
      #expect(!context.hasChanges && titles == ["a"])
    }
  }

  @Test(arguments: StoreKind.every)
  func `refreshing asks the parent again and can keep changes`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    let child: NSManagedObjectContext = child(of: stack.context)
    try child.performAndWait { child.userInfo["item"] = try items(child)[0] }
    func item() -> Item { child.userInfo["item"] as! Item }
    child.performAndWait { item().price = 3 }
    try stack.run { context in
      let item: Item = try #require(try items(context).first)
      item.title = "b"
    }
    child.performAndWait {
      #expect(item().title == "a", "what is loaded stays")
      child.refresh(item(), mergeChanges: true)
      #expect(item().title == "b" && item().price == 3 && item().isUpdated)
      child.refresh(item(), mergeChanges: false)
      #expect(item().isFault && item().title == "b" && item().price == 0 && !child.hasChanges)
    }
  }

  /// Where an object is new that has no row yet when the child reads it.
  enum NewIn: CaseIterable, Sendable { case parent, child }

  @Test(
    .rule("REF-6", "NSManagedObjectContext.refreshAllObjects()"), arguments: StoreKind.allCases,
    NewIn.allCases)
  func `refreshing all objects reaches those that are new in the parent or the child`(
    kind: StoreKind, place: NewIn
  ) throws {
    for isSaved in [false, true] {
      let stack = try Stack(kind)
      let child: NSManagedObjectContext = child(of: stack.context)
      if place == .parent { try stack.run { _ = $0.item("a") } }
      try child.performAndWait {
        let item: Item = place == .parent ? try items(child)[0] : child.item("a")
        #expect(item.title == "a")
        if place == .child { try child.save() }
        let unsaved: Item = child.item("unsaved")
        child.userInfo["items"] = [item, unsaved]
      }
      try stack.run { context in
        if isSaved { try context.save() }
        try items(context)[0].title = "b"
      }
      child.performAndWait {
        let known = child.userInfo["items"] as! [Item]
        child.refreshAllObjects()
        #expect(known[0].title == "b" && !known[0].hasChanges)
        #expect(known[1].title == "unsaved" && known[1].isInserted)
      }
      try stack.run { try $0.save() }
      try child.performAndWait {
        let known = child.userInfo["items"] as! [Item]
        known[0].price = 5
        child.refreshAllObjects()
        #expect(known[0].title == "b" && known[0].price == 5 && !known[0].objectID.isTemporaryID)
        #expect(Set(try items(child)) == Set(known))
        try child.save()
      }
      try stack.run { try $0.save() }
      #expect(Set(try stack.titles()) == ["b", "unsaved"])
    }
  }

  @Test(
    .rule("MERGE-6", "NSManagedObjectContext.automaticallyMergesChangesFromParent"),
    arguments: StoreKind.every)
  func `a child that merges by itself hears of its siblings and of its parent`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    let (one, two) = (child(of: stack.context), child(of: stack.context))
    two.automaticallyMergesChangesFromParent = true
    try two.performAndWait { two.userInfo["item"] = try items(two)[0] }
    func title() -> String? { two.performAndWait { (two.userInfo["item"] as? Item)?.title } }
    #expect(title() == "a")
    try one.performAndWait {
      try #require(try items(one).first).title = "sibling"
      try one.save()
    }
    #expect(title() == "sibling")
    try stack.run { context in
      try #require(try items(context).first).title = "parent"
      try context.save()
    }
    #expect(title() == "parent")
  }

  @Test(arguments: StoreKind.every)
  func `what the parent deleted meanwhile can't be saved, and nothing is lost`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    let child: NSManagedObjectContext = child(of: stack.context)
    try child.performAndWait {
      let item: Item = try #require(try items(child).first)
      item.title = "b"
      _ = child.item("new")
      child.userInfo["item"] = item
    }
    try stack.run { context in context.delete(try #require(try items(context).first)) }
    try child.performAndWait {
      let error: CocoaError = try #require(throws: CocoaError.self) { try child.save() }
      #expect(error.code.rawValue == NSManagedObjectMergeError)
      #expect(error.localizedDescription.contains("parent"))
      #expect(child.hasChanges && child.insertedObjects.count == 1)
      child.delete(child.userInfo["item"] as! Item)
      try child.save()
    }
    try stack.run { context in
      let titles: [String?] = try items(context).map(\.title)
      #expect(titles == ["new"])
    }
  }

  @Test(.rule("VALID-7", "NSManagedObjectContext.save()"), arguments: StoreKind.every)
  func `a child's save is validated, and the parent untouched when it fails`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try inChild(stack) { child in
      _ = child.make("Strict", ["name": "x"])
      #expect(throws: CocoaError.self) { try child.save() }
    }
    try stack.run { #expect(!$0.hasChanges) }
  }

  @Test(arguments: StoreKind.every)
  func `a child gets permanent ids ahead of every save`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let id: NSManagedObjectID = try inChild(stack) { child in
      let item: Item = child.item("a")
      try child.obtainPermanentIDs(for: [item])
      #expect(!item.objectID.isTemporaryID && item.isInserted)
      try child.save()
      return item.objectID
    }
    try stack.run { context in
      #expect((context.object(with: id) as? Item)?.title == "a")
      try context.save()
      #expect(context.object(with: id).objectID == id)
    }
    #expect(try stack.titles() == ["a"])
  }

  @Test(arguments: StoreKind.every)
  func `what a child saves can be undone in the parent`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
      context.undoManager = UndoManager()
    }
    try inChild(stack) { child in
      try #require(try items(child).first).title = "b"
      _ = child.item("c")
      try child.save()
    }
    try stack.run { context in
      var titles: [[String?]] = [try items(context).map(\.title)]
      context.undo()
      titles.append(try items(context).map(\.title))
      #expect(!context.hasChanges)
      context.redo()
      titles.append(try items(context).map(\.title))
      #expect(titles == [["b", "c"], ["a"], ["b", "c"]])
    }
  }

  @Test func `parent and child wait for each other without a deadlock`() async throws {
    let stack = try Stack(.sqlite)
    let child: NSManagedObjectContext = child(of: stack.context)
    let parent: NSManagedObjectContext = stack.context
    // A parent's block that waits for the child, whose fetch waits for the parent.
    try parent.performAndWait {
      _ = parent.item("a")
      try child.performAndWait {
        let found: [Item] = try items(child)
        #expect(found.map(\.title) == ["a"])
        found.first?.title = "b"
        try child.save()
      }
      #expect(try items(parent).map(\.title) == ["b"])
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          try await child.perform {
            _ = child.item("c\(number)")
            try child.save()
          }
        }
        group.addTask { try await parent.perform { try parent.save() } }
      }
      try await group.waitForAll()
    }
    try parent.performAndWait { try parent.save() }
    #expect(try stack.titles().count == 21)
  }
}
