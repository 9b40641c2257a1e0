import CoreData
import Foundation
import StackSupport
import Testing

/// What is told of changes is what differs, not what was set.
@Suite
struct ChangedValuesTests {
  /// Something done to an item with one tag, and the keys that differ then.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let keys: Set<String>
    let change: @Sendable (Item, _ own: Tag, _ other: Tag) -> Void

    init(
      _ testDescription: String, _ keys: Set<String>, _ change: @escaping @Sendable (Item, Tag, Tag) -> Void
    ) {
      (self.testDescription, self.keys, self.change) = (testDescription, keys, change)
    }
  }

  // Finding B2, OBS-2.
  private static let savedCases: [Case] = [
    Case("another title", ["title"]) { item, _, _ in item.title = "b" },
    Case("the same title", []) { item, _, _ in item.title = "a" },
    Case("there and back", []) { item, _, _ in (item.title, item.title) = ("b", "a") },
    Case("nil over nil", []) { item, _, _ in item.due = nil },
    Case("nil over a default", ["count"]) { item, _, _ in item.setValue(nil, forKey: "count") },
    Case("composed otherwise", ["title"]) { item, _, _ in item.title = "a\u{301}" },
    Case("the same target", []) { item, _, _ in item.setValue(item.category, forKey: "category") },
    Case("no target over none", []) { item, _, _ in item.shelf = nil },
    Case("a target and none", []) { item, _, _ in
      item.shelf = item.managedObjectContext!.make("Shelf")
      item.shelf = nil
    },
    Case("another member", ["tags"]) { item, _, other in item.addToTags(other) },
    Case("a member gone and back", []) { item, own, _ in
      item.removeFromTags(own)
      item.addToTags(own)
    },
    Case("a member come and gone", []) { item, _, other in
      item.addToTags(other)
      item.removeFromTags(other)
    },
    Case("the same members", []) { item, own, _ in item.tags = [own] },
    Case("a transient value", []) { item, _, _ in item.note = "n" },
  ]

  @Test(
    .rule("STATE-3", "NSManagedObject.changedValues()", "what differs, not what was set"),
    arguments: StoreKind.allCases, savedCases)
  func `changes of a saved object are what differs from its row`(kind: StoreKind, example: Case) throws {
    try Stack(kind).run { context in
      let item: Item = context.item("a", context.category("c"))
      let (own, other) = (context.make("Tag") as! Tag, context.make("Tag") as! Tag)
      item.addToTags(own)
      try context.save()
      example.change(item, own, other)
      #expect(Set(item.changedValues().keys) == example.keys)
      #expect(item.hasPersistentChangedValues == !example.keys.isEmpty)
      #expect(Set(item.changedValuesForCurrentEvent().keys) == example.keys)
      try context.save()
      #expect(item.changedValues().isEmpty && !item.hasPersistentChangedValues)
    }
  }

  private static let newCases: [Case] = [
    Case("nothing", []) { _, _, _ in },
    Case("a title", ["title"]) { item, _, _ in item.title = "a" },
    Case("nil over nil", []) { item, _, _ in (item.title, item.shelf) = (nil, nil) },
    Case("a value and nil", []) { item, _, _ in (item.title, item.title) = ("a", nil) },
    Case("the default", []) { item, _, _ in item.count = 7 },
    Case("nil over a default", ["count"]) { item, _, _ in item.setValue(nil, forKey: "count") },
    Case("a target", ["category"]) { item, _, _ in
      item.category = item.managedObjectContext!.category("c")
    },
    Case("a member", ["tags"]) { item, own, _ in item.addToTags(own) },
    Case("a member come and gone", []) { item, own, _ in
      item.addToTags(own)
      item.removeFromTags(own)
    },
    // CoreDataPlus' tests: a date that awakeFromInsert sets by its primitive accessor is among the changes of
    // a new object.
    Case("primitive access alone", ["title"]) { item, _, _ in item.setPrimitiveValue("a", forKey: "title") },
  ]

  @Test(arguments: StoreKind.allCases, newCases)
  func `changes of a new object are what differs from the entity's values`(kind: StoreKind, example: Case)
    throws
  {
    try Stack(kind).run { context in
      let item = context.make("Item") as! Item
      let (own, other) = (context.make("Tag") as! Tag, context.make("Tag") as! Tag)
      example.change(item, own, other)
      #expect(item.isInserted)
      #expect(Set(item.changedValues().keys) == example.keys)
      #expect(item.hasPersistentChangedValues == !example.keys.isEmpty)
    }
  }

  // Finding B2, OBS-3.
  @Test(arguments: StoreKind.allCases)
  func `primitive access marks no object as changed, and is told of one that is`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a", nil)
      try context.save()
      item.setPrimitiveValue("b", forKey: "title")
      #expect(item.changedValues().isEmpty && !item.hasPersistentChangedValues && !item.hasChanges)
      item.price = 2
      #expect(Set(item.changedValues().keys) == ["price", "title"])
      #expect(Set(item.changedValuesForCurrentEvent().keys) == ["price"])
      try context.save()
      item.willChangeValue(forKey: "title")
      item.setPrimitiveValue("c", forKey: "title")
      item.didChangeValue(forKey: "title")
      #expect(Set(item.changedValues().keys) == ["title"])
      item.setPrimitiveValue("d", forKey: "title")
      #expect(item.changedValues()["title"] as? String == "d")
      try context.save()
    }
    #expect(try stack.titles() == ["d"])
  }

  @Test(arguments: StoreKind.allCases)
  func `an object outside of any context has no changes`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      let entity: NSEntityDescription = try #require(
        NSEntityDescription.entity(forEntityName: "Item", in: context))
      let item = Item(entity: entity, insertInto: nil)
      item.title = "a"
      #expect(!item.hasChanges && item.changedValues().isEmpty && !item.hasPersistentChangedValues)
      context.insert(item)
      #expect(Set(item.changedValues().keys) == ["title"])
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `an ordered relationship has changed when its order has`(kind: StoreKind, isLoaded: Bool) throws {
    try Stack(kind).run { context in
      let songs: [NSManagedObject] = ["a", "b", "c"].map { context.make("Song", ["name": $0]) }
      let list = context.make("Playlist") as! Playlist
      list.songs = songs
      try context.save()
      for (moved, keys) in [(2, []), (0, ["songs"])] as [(Int, [String])] {
        if !isLoaded { context.refresh(list, mergeChanges: false) }
        let members: NSMutableOrderedSet = list.mutableOrderedSetValue(forKey: "songs")
        members.remove(songs[moved])
        #expect(Array(list.changedValues().keys) == ["songs"])
        members.add(songs[moved])
        #expect(Array(list.changedValues().keys) == keys, "\(songs[moved].value(forKey: "name") ?? "")")
        #expect(Array(list.changedValuesForCurrentEvent().keys) == keys)
        try context.save()
      }
      #expect(list.names == ["b", "c", "a"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `willSave that stamps what its own keys do not tell of ends`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let journal = Journal()
      context.userInfo["journal"] = journal
      var calls: Int = 0
      journal.onWillSave = { object in
        calls += 1
        guard let item = object as? Item, item.changedValues()["due"] == nil else { return }
        item.due = Date(timeIntervalSinceReferenceDate: Double(calls))
      }
      let item: Item = context.item("a", nil)
      try context.save()
      #expect(calls == 2 && item.due != nil)
      item.due = item.due
      item.title = "b"
      try context.save()
      #expect(calls == 4, "the date that was set again is no change")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a child context's object differs from its parent's`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      let item: Item = context.item("a", nil)
      try context.save()
      item.title = "b"
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = context
      let id: NSManagedObjectID = item.objectID
      try child.performAndWait {
        let twin = try #require(try child.existingObject(with: id) as? Item)
        twin.title = "b"
        #expect(twin.changedValues().isEmpty && !twin.hasPersistentChangedValues)
        twin.title = "a"
        #expect(Set(twin.changedValues().keys) == ["title"])
        #expect(Set(twin.changedValuesForCurrentEvent().keys) == ["title"])
      }
    }
  }
}
