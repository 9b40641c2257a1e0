import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Migrations to stores that number or name objects in their own way: objects of contexts get the ids that
/// they have there, and are the same otherwise.
@Suite
struct MigratedIDTests {
  private static let sources: [StoreSetting] = [.wal, .nowhere, .inMemory, .incremental]
  private static let targets: [StoreSetting] = [.xml, .binary, .atomic, .incremental]

  private func migrate(_ stack: Stack, to setting: StoreSetting) throws -> NSPersistentStore {
    let store: NSPersistentStore = try #require(stack.coordinator.persistentStores.first)
    return try stack.coordinator.migratePersistentStore(
      store, to: stack.folder.file("New.\(setting)"), withType: setting.kind.type)
  }

  /// Five items of one category, with tags, in an album's order.
  private func fill(_ stack: Stack) throws -> [Item] {
    try stack.run { context in
      let category: Category = context.category("c")
      // Keys that differ from those of a store that numbers all entities in one sequence.
      for _ in 0..<3 { context.delete(context.item("gone")) }
      try context.save()
      let items: [Item] = ["a", "b", "c", "d", "e"].map { context.item($0, category) }
      let tags: [NSManagedObject] = ["x", "y"].map { context.make("Tag", ["name": $0]) }
      for item in items { item.setValue(NSSet(array: tags), forKey: "tags") }
      let album: NSManagedObject = context.make("Album", ["name": "album"])
      album.setValue(
        NSOrderedSet(array: ["1", "2", "3"].map { context.make("Song", ["name": $0]) }), forKey: "songs")
      try context.save()
      return items
    }
  }

  private func text(_ object: NSManagedObject?) -> String {
    guard let object else { return "nil" }
    return ["title", "name"].lazy.filter { object.entity.propertiesByName[$0] != nil }
      .compactMap { object.value(forKey: $0) as? String }.first ?? "?"
  }

  /// What is stored, and that it does not depend on ids.
  private func stored(_ stack: Stack) throws -> [String] {
    try stack.elsewhere { context in
      let items: [String] = try context.all(Item.self, "Item").map { item in
        let tags: [String] = (item.value(forKey: "tags") as? Set<NSManagedObject> ?? []).map(text).sorted()
        return "\(text(item)) in \(text(item.category)) \(tags)"
      }
      let albums: [String] = try context.all(NSManagedObject.self, "Album").map { album in
        "\(text(album)) \((album.value(forKey: "songs") as? NSOrderedSet)?.map { text($0 as? NSManagedObject) } ?? [])"
      }
      return (items + albums).sorted()
    }
  }

  @Test(arguments: sources, targets)
  func `objects and their unsaved changes go along, under new ids`(from: StoreSetting, to: StoreSetting)
    throws
  {
    let stack = try Stack(setting: from)
    let items: [Item] = try fill(stack)
    let (same, changed, deleted, fault, moved) = (items[0], items[1], items[2], items[3], items[4])
    var new: [Item] = []
    var album: NSManagedObject?
    var former: [NSManagedObjectID] = []
    try stack.run { context in
      former = items.map(\.objectID)
      context.refresh(fault, mergeChanges: false)
      changed.title = "B"
      context.delete(deleted)
      moved.category = context.category("other")
      new = ["new", "named"].map { context.item($0, same.category) }
      try context.obtainPermanentIDs(for: [new[1]])
      former.append(new[1].objectID)
      album = try context.all(NSManagedObject.self, "Album").first
      album?.mutableOrderedSetValue(forKey: "songs").moveObjects(at: IndexSet(integer: 2), to: 0)
      same.mutableSetValue(forKey: "tags").removeAllObjects()
      context.processPendingChanges()
    }
    let store: NSPersistentStore = try migrate(stack, to: to)
    try stack.run { context in
      for (object, id) in zip(items + [new[1]], former) {
        #expect(object.managedObjectContext === context)
        #expect(object.objectID.persistentStore === store)
        #expect(object.objectID != id && id.persistentStore == nil)
        // The former id leads to the same object.
        #expect(context.object(with: id) === object)
        #expect(context.registeredObject(for: id) === object)
        #expect(context.registeredObject(for: object.objectID) === object)
      }
      #expect(try context.existingObject(with: former[3]) === fault)
      #expect(new[0].objectID.isTemporaryID)
      #expect(new.allSatisfy { $0.isInserted } && deleted.isDeleted && changed.isUpdated && !fault.hasChanges)
      #expect([same.title, changed.title, fault.title, moved.title] == ["a", "B", "d", "e"])
      #expect(changed.committedValues(forKeys: ["title"])["title"] as? String == "b")
      #expect(fault.category === same.category && moved.category?.name == "other")
      let found: [Item] = try context.all(Item.self, "Item", NSPredicate(format: "SELF == %@", former[1]))
      #expect(found == [changed])
      let all: [Item] = try context.all(Item.self, "Item")
      #expect(Set(all) == Set([same, changed, fault, moved] + new))
      try context.save()
      #expect(!context.hasChanges)
    }
    #expect(
      try stored(stack) == [
        #"B in c ["x", "y"]"#, "a in c []", #"album ["3", "1", "2"]"#, #"d in c ["x", "y"]"#,
        #"e in other ["x", "y"]"#, "named in c []", "new in c []",
      ])
    // The save has written what the objects have: nobody else's change is taken for a conflict.
    try stack.run { context in
      same.title = "A"
      try context.save()
    }
    #expect(try stack.titles() == ["A", "B", "d", "e", "named", "new"])
  }

  @Test(arguments: sources, targets)
  func `each context has its own changes, a child too, and ids agree between them`(
    from: StoreSetting, to: StoreSetting
  ) throws {
    let stack = try Stack(setting: from)
    let ids: [NSManagedObjectID] = try fill(stack).map(\.objectID)
    let other: NSManagedObjectContext = stack.other()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = other
    var (theirs, inner, named): (Item?, Item?, Item?)
    try other.performAndWait {
      theirs = try other.existingObject(with: ids[0]) as? Item
      theirs?.title = "theirs"
    }
    try child.performAndWait {
      inner = try child.existingObject(with: ids[1]) as? Item
      inner?.title = "the child's"
      inner?.category?.name = "renamed"
      named = child.item("named")
      try child.obtainPermanentIDs(for: [try #require(named)])
    }
    let store: NSPersistentStore = try migrate(stack, to: to)
    let id: NSManagedObjectID = try child.performAndWait {
      let inner = try #require(inner)
      #expect(inner.objectID.persistentStore === store && inner.title == "the child's")
      #expect(try child.existingObject(with: ids[0]).value(forKey: "title") as? String == "theirs")
      try child.save()
      return try #require(named).objectID
    }
    try other.performAndWait {
      let named: NSManagedObject = try other.existingObject(with: id)
      #expect(named.isInserted && named.objectID == id)
      #expect(theirs?.objectID.persistentStore === store)
      try other.save()
      #expect(named.objectID == id)
    }
    #expect(try stack.titles() == ["c", "d", "e", "named", "the child's", "theirs"])
    let names: [String?] = try stack.elsewhere { try $0.all(Category.self, "Category").map(\.name) }
    #expect(names == ["renamed"])
  }

  @Test(arguments: sources, targets)
  func `an object that was older than the store's before is so after`(from: StoreSetting, to: StoreSetting)
    throws
  {
    let stack = try Stack(setting: from)
    let items: [Item] = try fill(stack)
    let id: NSManagedObjectID = stack.context.performAndWait { items[0].objectID }
    let other: NSManagedObjectContext = stack.other()
    let held: Item = try other.performAndWait {
      let held = try other.existingObject(with: id) as! Item
      #expect(held.title == "a")
      return held
    }
    try stack.run { context in
      items[0].title = "mine"
      try context.save()
    }
    _ = try migrate(stack, to: to)
    try other.performAndWait {
      held.title = "theirs"
      #expect(codeThrown { try other.save() } == NSManagedObjectMergeError)
      other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try other.save()
    }
    #expect(try stack.titles().contains("theirs"))
  }

  @Test(arguments: sources, targets)
  func `undo leads back to the objects of the new store`(from: StoreSetting, to: StoreSetting) throws {
    let stack = try Stack(setting: from)
    let items: [Item] = try fill(stack)
    try stack.run { context in
      context.undoManager = UndoManager()
      items[0].category = context.category("other")
      items[0].title = "changed"
      context.delete(items[1])
      context.processPendingChanges()
      try context.save()
    }
    _ = try migrate(stack, to: to)
    #expect(try stack.titles() == ["c", "changed", "d", "e"])
    try stack.run { context in
      context.undoManager?.undo()
      #expect(items[0].category === items[2].category && items[0].title == "a")
      try context.save()
    }
    let lines: [String] = ["a", "b", "c", "d", "e"].map { #"\#($0) in c ["x", "y"]"# }
    #expect(try stored(stack) == (lines + [#"album ["1", "2", "3"]"#]).sorted())
    try stack.run { context in
      context.undoManager?.redo()
      try context.save()
    }
    #expect(try stack.titles() == ["c", "changed", "d", "e"])
  }

  @Test func `ids lead through several migrations, and those of objects that were gone lead nowhere`() throws
  {
    let stack = try Stack(setting: .wal)
    let items: [Item] = try fill(stack)
    let ids: [NSManagedObjectID] = stack.context.performAndWait { items.map(\.objectID) }
    try stack.elsewhere { context in
      context.delete(try context.existingObject(with: ids[4]))
      try context.save()
    }
    for setting in [StoreSetting.xml, .wal, .binary, .atomic] { _ = try migrate(stack, to: setting) }
    try stack.elsewhere { context in
      for (id, title) in zip(ids, ["a", "b", "c", "d"]) {
        let object: NSManagedObject = try context.existingObject(with: id)
        #expect(text(object) == title)
      }
      let code: Int = codeThrown { _ = try context.existingObject(with: ids[4]) }
      #expect(code == NSManagedObjectReferentialIntegrityError)
    }
    try stack.run { context in
      for (item, title) in zip(items, ["a", "b", "c", "d"]) { #expect(item.title == title) }
      // As in the old store.
      context.refresh(items[4], mergeChanges: false)
      #expect(items[4].title == nil && items[4].isDeleted)
    }
  }

  @Test func `the notification names both stores, when objects can be asked for their new ids`() throws {
    let stack = try Stack(setting: .wal)
    let items: [Item] = try fill(stack)
    nonisolated(unsafe) var seen: [NSPersistentStore?] = []
    let recorder = Recorder([.NSPersistentStoreCoordinatorStoresDidChange], of: stack.coordinator) { _ in
      seen = stack.context.performAndWait { items.map(\.objectID.persistentStore) }
    }
    let store: NSPersistentStore = try migrate(stack, to: .xml)
    let info: [AnyHashable: Any]? = recorder.received.first?.userInfo
    #expect(recorder.received.count == 1)
    #expect(info?[NSUUIDChangedPersistentStoresKey] as? [NSPersistentStore] == [stack.store, store])
    #expect(seen.count == 5 && seen.allSatisfy { $0 === store })
  }
}
