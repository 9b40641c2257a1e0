import CoreData
import Foundation
import Testing

/// Relationships changed through Foundation's mutable collections.
@Suite
struct MutableCollectionTests {
  @Test(arguments: StoreKind.allCases)
  func `a mutable array changes the attribute that holds it`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let kinds: NSManagedObject = context.make("Kinds", ["i16": 1])
      let array: NSMutableArray = kinds.mutableArrayValue(forKey: "thing")
      #expect(array.count == 0 && kinds.value(forKey: "thing") == nil)
      array.add("b")
      array.insert("a", at: 0)
      array.addObjects(from: ["c", "d", "e"])
      try context.save()
      #expect(!context.hasChanges)
      array.removeLastObject()
      array.replaceObject(at: 2, with: "C")
      array.exchangeObject(at: 0, withObjectAt: 1)
      #expect(context.updatedObjects == [kinds])
      #expect(kinds.value(forKey: "thing") as? [String] == ["b", "a", "C", "d"])
      array.remove("a")
      array.removeObjects(in: ["d"])
      #expect(array.compactMap { $0 as? String } == ["b", "C"])
      #expect(array.contains("C") && array.index(of: "C") == 1)
      kinds.setValue(["x"], forKey: "thing")
      #expect(array.count == 1 && array[0] as? String == "x", "what the attribute holds now")
      kinds.mutableArrayValue(forKeyPath: "thing").add("y")
      #expect((array.copy() as? NSArray)?.count == 2)
      try context.save()
    }
    try stack.elsewhere { context in
      let kinds = try #require(context.all(NSManagedObject.self, "Kinds").first)
      #expect(kinds.value(forKey: "thing") as? [String] == ["x", "y"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a mutable set changes the relationship and its inverse`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category = context.make("Category") as! Category
      let items: [Item] = ["a", "b", "c", "d"].map { context.item($0) }
      let set: NSMutableSet = category.mutableSetValue(forKey: "items")
      set.add(items[0])
      set.addObjects(from: [items[1], items[2], items[0]])
      #expect(category.items == Set(items[..<3]) && items[0].category === category)
      #expect(
        set.count == 3 && set.contains(items[1])
          && Set(set.allObjects.compactMap { $0 as? Item }) == category.items)
      set.remove(items[0])
      set.minus([items[1]])
      #expect(category.items == [items[2]] && items[0].category == nil && items[1].category == nil)
      set.union([items[3]])
      set.intersect([items[3]])
      #expect(category.items == [items[3]])
      set.setSet([items[0], items[3]])
      #expect(category.items == [items[0], items[3]] && set.allObjects.count == 2)
      set.removeAllObjects()
      #expect(category.items.isEmpty && set.count == 0)
      items[0].category = category
      items[0].mutableSetValue(forKeyPath: "category.items").add(items[1])
      #expect(category.items.count == 2)
      try context.save()
      category.mutableSetValue(forKey: "items").remove(items[1])
      try context.save()
    }
    try stack.elsewhere { context in
      let count: Int? = try context.all(Category.self, "Category").first?.items.count
      #expect(count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a mutable ordered set changes members and order`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let list = context.make("Playlist") as! Playlist
      let songs: [NSManagedObject] = ["a", "b", "c", "d", "e"].map { context.make("Song", ["name": $0]) }
      let set: NSMutableOrderedSet = list.mutableOrderedSetValue(forKey: "songs")
      func names() -> String { list.names.joined() }
      set.addObjects(from: [songs[0], songs[1]])
      set.add(songs[2])
      set.add(songs[0])
      #expect(names() == "abc")
      set.insert(songs[3], at: 1)
      #expect(names() == "adbc" && (songs[3].value(forKey: "playlists") as? NSSet)?.contains(list) == true)
      set.moveObjects(at: IndexSet([0]), to: 3)
      #expect(names() == "dbca")
      set.exchangeObject(at: 0, withObjectAt: 3)
      #expect(names() == "abcd")
      set.replaceObject(at: 1, with: songs[4])
      #expect(names() == "aecd" && (songs[1].value(forKey: "playlists") as? NSSet)?.count == 0)
      set.removeObject(at: 0)
      set.remove(songs[3])
      #expect(names() == "ec" && set.count == 2 && set.index(of: songs[2]) == 1)
      set.union(NSOrderedSet(array: [songs[1], songs[0]]))
      set.minus(NSOrderedSet(array: [songs[2]]))
      #expect(names() == "eba")
      set.sort(comparator: { left, right in
        let names: [String] = [left, right].map {
          ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? ""
        }
        return names[0] < names[1] ? .orderedAscending : .orderedDescending
      })
      #expect(names() == "abe")
      try context.save()
    }
    try stack.elsewhere { context in
      let names: [String]? = try context.all(Playlist.self, "Playlist").first?.names
      #expect(names == ["a", "b", "e"])
    }
  }

  @Test(
    .rule("MERGE-5", "NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)"),
    arguments: StoreKind.allCases)
  func `changes made elsewhere are merged by id or URI, parents first`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for title in ["a", "b"] { _ = context.item(title) }
      try context.save()
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = stack.context
    try stack.run { $0.userInfo["items"] = try $0.all(Item.self, "Item", sort: ["title"]) }
    try child.performAndWait {
      let items: [Item] = try child.all(Item.self, "Item", sort: ["title"])
      for item in items { _ = item.price }
      child.userInfo["items"] = items
    }
    let (changed, deleted): (URL, NSManagedObjectID) = try stack.elsewhere { other in
      let items: [Item] = try other.all(Item.self, "Item", sort: ["title"])
      items[0].title = "a2"
      other.delete(items[1])
      try other.save()
      return (items[0].objectID.uriRepresentation(), items[1].objectID)
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: [changed], NSDeletedObjectIDsKey: [deleted]],
      into: [child, stack.context])
    for context in [stack.context, child] {
      context.performAndWait {
        let items: [Item] = context.userInfo["items"] as? [Item] ?? []
        #expect(items[0].title == "a2" && !context.hasChanges)
        #expect(items[1].isDeleted && context.deletedObjects == [items[1]])
      }
    }
  }
}
