import CoreData
import Foundation
import StackSupport
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

  // Finding: Foundation stopped the program there without a word.
  @Test(arguments: ["insert", "remove", "replace"])
  func `an index outside of an ordered relationship stops with the relationship and its count`(change: String)
    async throws
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [change] in
      let stack = try Stack(.inMemory)
      try stack.run { context in
        let item: NSManagedObject = context.make("Album", [:])
        let members: NSMutableOrderedSet = item.mutableOrderedSetValue(forKey: "songs")
        switch change {
        case "insert": members.insert(context.make("Song", [:]), at: 9)
        case "remove": members.removeObject(at: -1)
        default: members.replaceObject(at: 0, with: context.make("Song", [:]))
        }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains("is not in the ordered relationship 'songs' of Album, which has 0 members"), "\(text)")
  }

  /// Every mutator of Foundation's, and what it makes of b, a, d, c. (Foundation's own array stops in
  /// some of them.)
  private static let mutations: [(String, String, @Sendable (NSMutableArray) -> Void)] = [
    ("sort(using:)", "dcba", { $0.sort(using: [NSSortDescriptor(key: "self", ascending: false)]) }),
    ("sort(comparator:)", "abcd", { $0.sort { "\($0)".compare("\($1)") } }),
    ("sort(options:)", "dcba", { $0.sort(options: .stable) { "\($1)".compare("\($0)") } }),
    ("sort(context:)", "abcd", { $0.sort({ a, b, _ in "\(a)".compare("\(b)").rawValue }, context: nil) }),
    (
      "replace range", "bxc",
      { $0.replaceObjects(in: NSRange(location: 1, length: 2), withObjectsFrom: ["x"]) }
    ),
    (
      "replace range by range", "yzadc",
      {
        $0.replaceObjects(
          in: NSRange(location: 0, length: 1), withObjectsFrom: ["x", "y", "z"],
          range: NSRange(location: 1, length: 2))
      }
    ),
    ("replace at", "xayc", { $0.replaceObjects(at: [0, 2], with: ["x", "y"]) }),
    ("insert at indexes", "xbyadc", { $0.insert(["x", "y"], at: [0, 2]) }),
    ("remove at indexes", "ad", { $0.removeObjects(at: [0, 3]) }),
    ("remove range", "bc", { $0.removeObjects(in: NSRange(location: 1, length: 2)) }),
    ("remove", "bdc", { $0.remove("a") }),
    ("remove in range", "badc", { $0.remove("a", in: NSRange(location: 2, length: 2)) }),
    ("remove identical", "badc", { $0.removeObject(identicalTo: "q") }),
    ("remove members", "bc", { $0.removeObjects(in: ["a", "d"]) }),
    ("remove last", "bad", { $0.removeLastObject() }),
    ("remove at", "bdc", { $0.removeObject(at: 1) }),
    ("replace one", "bxdc", { $0.replaceObject(at: 1, with: "x") }),
    ("subscript", "baxc", { $0[2] = "x" }),
    ("exchange", "cadb", { $0.exchangeObject(at: 0, withObjectAt: 3) }),
    ("filter", "dc", { $0.filter(using: NSPredicate(format: "SELF > 'b'")) }),
    ("set", "xy", { $0.setArray(["x", "y"]) }),
    ("add", "badcx", { $0.add("x") }),
    ("add all", "badcxy", { $0.addObjects(from: ["x", "y"]) }),
    ("insert", "bxadc", { $0.insert("x", at: 1) }),
    ("remove all", "", { $0.removeAllObjects() }),
    (
      "remove last of none", "",
      {
        $0.removeAllObjects()
        $0.removeLastObject()
      }
    ),
  ]

  @Test func `every mutator of a mutable array works on the attribute`() throws {
    try Stack(.inMemory).run { context in
      let kinds: NSManagedObject = context.make("Kinds", ["i16": 1])
      for (name, expected, mutate) in Self.mutations {
        kinds.setValue(["b", "a", "d", "c"], forKey: "thing")
        mutate(kinds.mutableArrayValue(forKey: "thing"))
        let now: [String]? = kinds.value(forKey: "thing") as? [String]
        #expect(now?.joined() == expected, "\(name)")
      }
    }
  }

  @Test func `a mutable array is read, copied and archived as what it holds`() throws {
    try Stack(.inMemory).run { context in
      let kinds: NSManagedObject = context.make("Kinds", ["thing": ["b", "a", "c"]])
      let array: NSMutableArray = kinds.mutableArrayValue(forKey: "thing")
      let plain = NSArray(array: ["b", "a", "c"])
      #expect(array.isEqual(to: ["b", "a", "c"]) && array.isEqual(plain) && array.hash == plain.hash)
      #expect(array.objects(at: [0, 2]) as? [String] == ["b", "c"])
      #expect(array.objectEnumerator().allObjects as? [String] == ["b", "a", "c"])
      #expect(array.reverseObjectEnumerator().allObjects as? [String] == ["c", "a", "b"])
      let data = try NSKeyedArchiver.archivedData(withRootObject: array, requiringSecureCoding: false)
      let read = try NSKeyedUnarchiver.unarchivedObject(
        ofClasses: [NSArray.self, NSMutableArray.self, NSString.self], from: data)
      #expect(read as? NSArray == plain)
      let copy: NSMutableArray? = array.mutableCopy() as? NSMutableArray
      copy?.add("d")
      #expect(copy?.count == 4 && array.count == 3)
      // What the slot holds is read again when it was set, loaded or taken back.
      try context.save()
      kinds.setValue(["z"], forKey: "thing")
      #expect(array.compactMap { $0 as? String } == ["z"])
      context.rollback()
      #expect(array.compactMap { $0 as? String } == ["b", "a", "c"])
      context.refresh(kinds, mergeChanges: false)
      #expect(array[1] as? String == "a")
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
