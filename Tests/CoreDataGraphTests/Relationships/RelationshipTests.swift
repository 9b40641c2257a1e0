import CoreData
import Foundation
import StackSupport
import Testing

/// Relationships: both sides at once, whatever is loaded.
@Suite
struct RelationshipTests {
  @Test(.rule("REL-1", "Managing the Relationships of Objects"), arguments: StoreKind.every)
  func `a to-one and its to-many are kept in step, from both sides`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (one, two) = (context.category("one"), context.category("two"))
      let item: Item = context.item("a", one)
      #expect(one.items == [item] && two.items.isEmpty)
      item.category = two
      #expect(one.items.isEmpty && two.items == [item])
      one.addToItems(item)
      #expect(item.category === one && two.items.isEmpty && one.items == [item])
      one.items = []
      #expect(item.category == nil)
      one.setValue(NSSet(array: [item]), forKey: "items")
      #expect(item.category === one)
      one.removeFromItems(item)
      #expect(item.category == nil && one.items.isEmpty)
      item.category = two
      try context.save()
    }
    try stack.elsewhere { context in
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      #expect(item.category?.name == "two")
      #expect(item.category?.items == [item])
    }
  }

  @Test(
    .rule("REL-1", "Managing the Relationships of Objects"),
    .rule("STATE-8", "NSManagedObject.hasFault(forRelationshipNamed:)"), arguments: StoreKind.every)
  func `sides that are not loaded are kept in step too`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (one, two) = (context.category("one"), context.category("two"))
      for title in ["a", "b", "c"] { _ = context.item(title, one) }
      _ = context.item("d", two)
      try context.save()
    }
    try stack.elsewhere { context in
      let item: Item = try #require(
        try context.all(Item.self, "Item", NSPredicate(format: "title == 'b'")).first)
      let two: Category = try #require(
        try context.all(Category.self, "Category", NSPredicate(format: "name == 'two'")).first)
      item.category = two
      #expect(two.hasFault(forRelationshipNamed: "items"))
      let one: Category = try #require(
        try context.all(Category.self, "Category", NSPredicate(format: "name == 'one'")).first)
      #expect(one.hasFault(forRelationshipNamed: "items"))
      #expect(one.isUpdated && two.isUpdated)
      #expect(Set(two.items.map(\.title)) == ["b", "d"])
      #expect(Set(one.items.map(\.title)) == ["a", "c"])
      let fresh: Item = context.item("e")
      one.addToItems(fresh)
      #expect(Set(one.items.map(\.title)) == ["a", "c", "e"])
      try context.save()
    }
    try stack.elsewhere { context in
      let categories: [Category] = try context.all(Category.self, "Category", sort: ["name"])
      #expect(categories.map { Set($0.items.map(\.title)) } == [["a", "c", "e"], ["b", "d"]])
    }
  }

  @Test(arguments: StoreKind.every)
  func `a member that is added again to an unloaded to-many stays one member`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a", context.category("one"))
      let tag = Tag(context: context)
      item.tags = [tag]
      try context.save()
    }
    try stack.elsewhere { context in
      let category: Category = try #require(try context.all(Category.self, "Category").first)
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      let tag: Tag = try #require(try context.all(Tag.self, "Tag").first)
      category.addToItems(item)
      item.addToTags(tag)
      try context.save()
      #expect(category.items == [item] && item.tags == [tag] && tag.items == [item])
    }
    try stack.elsewhere { context in
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      #expect(item.tags.count == 1 && item.category?.items.count == 1)
      let tag: Tag = try #require(item.tags.first)
      item.removeFromTags(tag)
      item.addToTags(tag)
      item.removeFromTags(tag)
      try context.save()
    }
    try stack.elsewhere { context in
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      let stranger = Tag(context: context)
      try context.save()
      item.removeFromTags(stranger)
      #expect(item.tags.isEmpty)
      try context.save()
      #expect(item.tags.isEmpty)
    }
  }

  @Test(arguments: StoreKind.every)
  func `many-to-many edits from both sides at once are one pair each`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let items: [Item] = ["a", "b"].map { context.item($0) }
      let tags: [Tag] = ["x", "y"].map {
        let tag = Tag(context: context)
        tag.name = $0
        return tag
      }
      items[0].tags = Set(tags)
      tags[1].items = Set(items)
      #expect(items[1].tags == [tags[1]])
      #expect(tags[0].items == [items[0]])
      try context.save()
      items[0].removeFromTags(tags[1])
      tags[0].items = [items[1]]
      #expect(items[0].tags.isEmpty && items[1].tags == Set(tags))
      try context.save()
    }
    try stack.elsewhere { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      #expect(items.map { Set($0.tags.map(\.name)) } == [[], ["x", "y"]])
    }
  }

  @Test(.rule("REL-2", "Managing the Relationships of Objects"), arguments: StoreKind.every)
  func `a one-to-one displaces the partners of both`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (a, b) = (context.item("a"), context.item("b"))
      let (x, y) = (context.make("Detail", ["text": "x"]), context.make("Detail", ["text": "y"]))
      a.detail = x
      b.detail = y
      #expect(x.value(forKey: "item") as? Item === a)
      a.detail = y
      #expect(b.detail == nil && x.value(forKey: "item") == nil && y.value(forKey: "item") as? Item === a)
      try context.save()
      #expect(b.detail == nil)
      x.setValue(a, forKey: "item")
      #expect(a.detail === x && y.value(forKey: "item") == nil)
      try context.save()
    }
    try stack.elsewhere { context in
      // Nothing loaded: the partner that loses is known to the store only.
      let y: NSManagedObject = try #require(
        try context.all(NSManagedObject.self, "Detail", NSPredicate(format: "text == 'y'")).first)
      let a: Item = try #require(
        try context.all(Item.self, "Item", NSPredicate(format: "title == 'a'")).first)
      y.setValue(a, forKey: "item")
      try context.save()
    }
    try stack.elsewhere { context in
      let details: [NSManagedObject] = try context.all(NSManagedObject.self, "Detail", sort: ["text"])
      #expect(details[0].value(forKey: "item") == nil)
      let a: Item = try #require(
        try context.all(Item.self, "Item", NSPredicate(format: "title == 'a'")).first)
      #expect(details[1].value(forKey: "item") as? Item === a && a.detail === details[1])
    }
  }

  @Test(arguments: StoreKind.every)
  func `a reflexive many-to-many is symmetric, self included`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    func names(_ person: NSManagedObject) -> Set<String> {
      Set((person.value(forKey: "friends") as? Set<Person> ?? []).compactMap(\.name))
    }
    try stack.run { context in
      let people: [NSManagedObject] = ["ann", "bob", "cat"].map { context.make("Employee", ["name": $0]) }
      people[0].setValue(NSSet(array: [people[1], people[2]]), forKey: "friends")
      people[2].setValue(NSSet(array: [people[0], people[2]]), forKey: "friends")
      #expect(people.map(names) == [["bob", "cat"], ["ann"], ["ann", "cat"]])
      try context.save()
    }
    try stack.elsewhere { context in
      let people: [Person] = try context.all(Person.self, "Person", sort: ["name"])
      #expect(people.map(names) == [["bob", "cat"], ["ann"], ["ann", "cat"]])
      people[1].setValue(NSSet(), forKey: "friends")
      people[2].setValue(NSSet(array: [people[0]]), forKey: "friends")
      try context.save()
    }
    try stack.elsewhere { context in
      let people: [Person] = try context.all(Person.self, "Person", sort: ["name"])
      #expect(people.map(names) == [["cat"], [], ["ann"]])
    }
  }

  @Test(arguments: StoreKind.every)
  func `a reflexive one-to-one is symmetric`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let people: [NSManagedObject] = ["ann", "bob", "cat"].map { context.make("Employee", ["name": $0]) }
      people[0].setValue(people[1], forKey: "spouse")
      #expect(people[1].value(forKey: "spouse") as? NSManagedObject === people[0])
      people[2].setValue(people[1], forKey: "spouse")
      #expect(people[0].value(forKey: "spouse") == nil)
      #expect(people[1].value(forKey: "spouse") as? NSManagedObject === people[2])
      try context.save()
      people[0].setValue(people[0], forKey: "spouse")
      #expect(people[0].value(forKey: "spouse") as? NSManagedObject === people[0])
      people[0].setValue(people[1], forKey: "spouse")
      #expect(people[1].value(forKey: "spouse") as? NSManagedObject === people[0])
      #expect(people[2].value(forKey: "spouse") == nil)
      try context.save()
    }
    try stack.elsewhere { context in
      let people: [Person] = try context.all(Person.self, "Person", sort: ["name"])
      #expect(people[0].value(forKey: "spouse") as? Person === people[1])
      #expect(people[1].value(forKey: "spouse") as? Person === people[0])
      #expect(people[2].value(forKey: "spouse") == nil)
    }
  }

  @Test(
    .rule("REL-9", "observed", "members that come by the other side go to the end"),
    arguments: StoreKind.every)
  func `an ordered relationship keeps its order through moves, inserts and removals`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    func check(_ expected: [String]) throws {
      try stack.elsewhere { context in
        let playlist: Playlist = try #require(try context.all(Playlist.self, "Playlist").first)
        #expect(playlist.names == expected)
        let album: Album = try #require(try context.all(Album.self, "Album").first)
        #expect(album.names == expected)
      }
    }
    try stack.run { context in
      let playlist = Playlist(context: context)
      let album = Album(context: context)
      var songs: [NSManagedObject] = ["a", "b", "c", "d"].map { context.make("Song", ["name": $0]) }
      func save(_ order: [NSManagedObject]) throws {
        playlist.songs = order
        album.songs = order
        #expect(playlist.songs == order && album.songs == order)
        try context.save()
        #expect(playlist.songs == order && album.songs == order)
        try check(order.map { $0.value(forKey: "name") as? String ?? "" })
      }
      try save(songs)
      try save(songs.reversed())
      songs.insert(context.make("Song", ["name": "e"]), at: 2)
      try save(songs)
      songs.remove(at: 0)
      try save(songs)
      songs.swapAt(0, 3)
      try save(songs)
      // From the other side: to the end.
      let late: NSManagedObject = context.make("Song", ["name": "z"])
      late.setValue(album, forKey: "album")
      late.setValue(NSSet(array: [playlist]), forKey: "playlists")
      try save(songs + [late])
      try save([late] + songs)
      try save([])
    }
  }

  @Test(arguments: StoreKind.every)
  func `each side of an ordered many-to-many has its own members and a song may be in many playlists`(
    kind: StoreKind
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let songs: [NSManagedObject] = ["a", "b", "c"].map { context.make("Song", ["name": $0]) }
      let (one, two) = (Playlist(context: context), Playlist(context: context))
      one.setValue("1", forKey: "name")
      two.setValue("2", forKey: "name")
      one.songs = songs
      two.songs = [songs[2], songs[0]]
      try context.save()
      one.songs = [songs[1], songs[0]]
      try context.save()
    }
    try stack.elsewhere { context in
      let lists: [Playlist] = try context.all(Playlist.self, "Playlist", sort: ["name"])
      #expect(lists.map(\.names) == [["b", "a"], ["c", "a"]])
    }
  }

  @Test(arguments: StoreKind.every)
  func `a to-many without inverse keeps its members`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let basket: NSManagedObject = context.make("Basket")
      let items: [Item] = ["a", "b", "c"].map { context.item($0) }
      basket.setValue(NSSet(array: items), forKey: "items")
      try context.save()
      basket.setValue(NSSet(array: [items[0], items[2]]), forKey: "items")
      try context.save()
    }
    try stack.elsewhere { context in
      let basket: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Basket").first)
      let items: Set<Item> = try #require(basket.value(forKey: "items") as? Set<Item>)
      #expect(Set(items.map(\.title)) == ["a", "c"])
    }
  }

  @Test(arguments: StoreKind.every)
  func `relationships work across a hierarchy`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let top = context.make("Manager", ["name": "top"])
      let middle = context.make("Manager", ["name": "middle", "boss": top])
      _ = context.make("Employee", ["name": "low", "boss": middle, "salary": 10])
      try context.save()
    }
    try stack.elsewhere { context in
      let low: Employee = try #require(
        try context.all(Employee.self, "Employee", NSPredicate(format: "boss.boss.name == 'top'")).first)
      #expect(low.name == "low")
      let middle: Manager = try #require(low.value(forKey: "boss") as? Manager)
      #expect(middle.value(forKey: "reports") as? Set<Employee> == [low])
      let top: Manager = try #require(middle.value(forKey: "boss") as? Manager)
      low.setValue(top, forKey: "boss")
      #expect((middle.value(forKey: "reports") as? NSSet)?.count == 0)
      #expect(top.value(forKey: "reports") as? Set<Employee> == [low, middle])
      try context.save()
    }
  }

  @Test(.rule("STATE-7", "NSManagedObject.objectIDs(forRelationshipNamed:)"), arguments: StoreKind.every)
  func `ids of a relationship are known without loading its objects`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      let items: [Item] = ["a", "b"].map { context.item($0, category) }
      try context.save()
      #expect(Set(category.objectIDs(forRelationshipNamed: "items")) == Set(items.map(\.objectID)))
      #expect(items[0].objectIDs(forRelationshipNamed: "category") == [category.objectID])
      #expect(items[0].objectIDs(forRelationshipNamed: "shelf") == [])
    }
    try stack.elsewhere { context in
      let category: Category = try #require(try context.all(Category.self, "Category").first)
      let ids: [NSManagedObjectID] = category.objectIDs(forRelationshipNamed: "items")
      #expect(ids.count == 2)
      #expect(ids.allSatisfy { context.registeredObject(for: $0)?.isFault ?? true })
    }
  }

  @Test(arguments: StoreKind.every, [false, true])
  func `a stored member that is added again without being loaded, and then removed, is gone`(
    kind: StoreKind, isUndoable: Bool
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let made: Item = context.item("a")
      let label: NSManagedObject = context.make("Tag")
      made.addToTags(label as! Tag)
      try context.save()
      let ids: [NSManagedObjectID] = [made.objectID, label.objectID]
      context.reset()
      if isUndoable { context.undoManager = UndoManager() }
      let (item, tag) = (context.object(with: ids[0]) as! Item, context.object(with: ids[1]) as! Tag)
      item.addToTags(tag)
      context.processPendingChanges()
      if isUndoable { #expect(context.undoManager?.canUndo == false) }
      item.removeFromTags(tag)
      #expect(item.tags.isEmpty && tag.items.isEmpty)
      try context.save()
    }
    let left: Int = try stack.elsewhere { try $0.all(Item.self, "Item").first?.tags.count ?? -1 }
    #expect(left == 0)
  }
}
