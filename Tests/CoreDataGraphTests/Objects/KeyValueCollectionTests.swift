import CoreData
import Foundation
import StackSupport
import Testing

/// Key-value coding through to-many relationships, and of collections of objects.
@Suite
struct KeyValueCollectionTests {
  // MARK: Setting along paths

  // Finding B10.
  @Test(arguments: StoreKind.allCases)
  func `a value set through a to-many relationship is sent to every member`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      let category: Category = context.category("c")
      let items: [Item] = ["a", "b", "c"].map { context.item($0, category) }
      let tags: [Tag] = ["x", "y"].map { context.make("Tag", ["name": $0]) as! Tag }
      (items[0].tags, items[1].tags) = ([tags[0]], Set(tags))
      try context.save()
      category.setValue(true, forKeyPath: "items.done")
      #expect(items.allSatisfy { $0.done })
      category.setValue("t", forKeyPath: "items.tags.name")
      #expect(tags.map(\.name) == ["t", "t"])
      // To-one steps before and after; the item without detail gets nothing.
      let detail: NSManagedObject = context.make("Detail")
      items[0].detail = detail
      items[2].setValue("d", forKeyPath: "category.items.detail.text")
      #expect(detail.value(forKey: "text") as? String == "d")
      // What is set may take the members away.
      category.setValue(nil, forKeyPath: "items.category")
      #expect(category.items.isEmpty && items.allSatisfy { $0.category == nil })
      items[0].setValue("nowhere", forKeyPath: "category.items.title")
      #expect(items.map(\.title) == ["a", "b", "c"])
      try context.save()
    }
  }

  // Finding B10.
  @Test(arguments: StoreKind.allCases)
  func `ordered relationships and mutable sets take values for their members too`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      let album = context.make("Album") as! Album
      album.songs = ["a", "b"].map { context.make("Song", ["name": $0]) }
      try context.save()
      context.refreshAllObjects()
      album.setValue("n", forKeyPath: "songs.name")
      #expect(album.names == ["n", "n"])
      album.mutableOrderedSetValue(forKey: "songs").setValue("o", forKey: "name")
      #expect(album.names == ["o", "o"])
      album.mutableSetValue(forKey: "songs").setValue(nil, forKey: "album")
      #expect(album.songs.isEmpty)
    }
  }

  @Test func `what can't be set is explained`() async {
    func text(_ result: ExitTest.Result?) -> String {
      String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
    let unknown: String = text(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { context in
          let category: Category = context.category("c")
          _ = context.item("a", category)
          category.setValue("x", forKeyPath: "items.titel")
        }
      })
    #expect(unknown.contains("Item") && unknown.contains("'titel'") && unknown.contains("title"))
    let plain: String = text(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { $0.item("a").setValue("x", forKeyPath: "title.length") }
      })
    #expect(plain.contains("'title'") && plain.contains("'title.length'") && plain.contains("Item"))
    let stranger: String = text(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        (["a"] as NSArray).setValue("x", forKey: "title")
      })
    #expect(stranger.contains("String"))
  }

  // MARK: Collections

  private func scene(_ context: NSManagedObjectContext) -> [Item] {
    let category: Category = context.category("c")
    return [("a", 1), ("b", 2), ("a", 4)].map { title, price in
      let item: Item = context.item(title, category)
      item.price = price
      return item
    } + [context.make("Item") as! Item]
  }

  @Test(arguments: StoreKind.allCases)
  func `an array gives the values of its members in order, null for none`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      let items: [Item] = scene(context)
      try context.save()
      context.refreshAllObjects()
      let array = items as NSArray
      #expect(array.value(forKey: "title") as? NSArray == ["a", "b", "a", NSNull()])
      #expect(Array(items.prefix(3)).value(forKey: "title") as? [String] == ["a", "b", "a"])
      #expect(items.value(forKey: "title") as? NSArray == ["a", "b", "a", NSNull()])
      #expect(array.value(forKeyPath: "category.name") as? NSArray == ["c", "c", "c", NSNull()])
      for (path, sum) in [("@sum.price", 7), ("@max.price", 4), ("@count", 4)] as [(String, Double)] {
        #expect(
          (array.value(forKeyPath: path) as? Double
            ?? (array.value(forKeyPath: path) as? Int).map(Double.init)) == sum)
      }
      #expect(array.value(forKey: "@count") as? Int == 4)
      #expect(
        items.value(forKeyPath: "@distinctUnionOfObjects.title") as? [String] == ["a", "b"])
      #expect((NSArray().value(forKey: "title") as? NSArray)?.count == 0)
      #expect(NSArray(array: [items[0], NSNull()]).value(forKey: "title") as? NSArray == ["a", NSNull()])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `sets give the different values of their members`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      let items: [Item] = scene(context)
      try context.save()
      let set = Set(items) as NSSet
      #expect(set.value(forKey: "title") as? NSSet == NSSet(array: ["a", "b"]))
      #expect(set.value(forKey: "title") as? Set<String> == ["a", "b"])
      #expect(Set(items).value(forKey: "title") as? Set<String> == ["a", "b"])
      #expect(set.value(forKey: "category") as? Set<NSManagedObject> == [items[0].category!])
      #expect(set.value(forKeyPath: "category.items.title") as? Set<String> == ["a", "b"])
      #expect(Set(items).value(forKeyPath: "@sum.price") as? Double == 7)
      let ordered = NSOrderedSet(array: items)
      #expect(ordered.value(forKey: "title") as? NSOrderedSet == NSOrderedSet(array: ["a", "b"]))
      #expect(ordered.value(forKey: "@count") as? Int == 4)
      #expect(ordered.value(forKeyPath: "@avg.price") as? Double == 1.75)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `decimal values come out of every collection`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      let kinds: [NSManagedObject] = ["1.5", "2", "1.5"].map {
        context.make("Kinds", ["decimal": NSDecimalNumber(string: $0)])
      }
      let half = Decimal(string: "1.5")!
      #expect((kinds as NSArray).value(forKey: "decimal") as? [Decimal] == [half, 2, half])
      #expect((Set(kinds) as NSSet).value(forKey: "decimal") as? Set<Decimal> == [half, 2])
      #expect(NSOrderedSet(array: kinds).value(forKey: "decimal") as? [Decimal] == [half, 2])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a value set of a collection is sent to each member`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let items: [Item] = scene(context)
      let date = Date(timeIntervalSinceReferenceDate: 300)
      (items as NSArray).setValue(date, forKey: "due")
      #expect(items.allSatisfy { $0.due == date })
      let setters: [(NSManagedObjectContext) -> Void] = [
        { _ in (items as NSArray).setValue("1", forKey: "title") },
        { _ in (Set(items) as NSSet).setValue("2", forKey: "title") },
        { _ in NSOrderedSet(array: items).setValue("3", forKey: "title") },
        { _ in items.setValue("4", forKey: "title") },
        { _ in Set(items).setValue("5", forKey: "title") },
        { _ in NSArray(array: [Set(items) as NSSet, NSNull()]).setValue("6", forKey: "title") },
      ]
      for (number, set) in setters.enumerated() {
        set(context)
        #expect(items.map(\.title) == Array(repeating: "\(number + 1)", count: 4))
      }
      let paths: [() -> Void] = [
        { (items as NSArray).setValue("1", forKeyPath: "category.name") },
        { (Set(items) as NSSet).setValue("2", forKeyPath: "category.name") },
        { NSOrderedSet(array: items).setValue("3", forKeyPath: "category.name") },
        { items.setValue("4", forKeyPath: "category.name") },
        { Set(items).setValue("5", forKeyPath: "category.name") },
      ]
      for (number, set) in paths.enumerated() {
        set()
        #expect(items[0].category?.name == "\(number + 1)")
      }
      items.setValue(nil, forKey: "category")
      #expect(items.allSatisfy { $0.category == nil })
      try context.save()
    }
    #expect(try stack.titles() == ["6", "6", "6", "6"])
  }

  @Test func `an accessor of the class is called`() throws {
    try Stack(.inMemory, model: CustomAccessorTests.model).run { context in
      let members: [NSManagedObject] = [context.make("Member"), context.make("Member")]
      members.setValue(2, forKey: "level")
      #expect((members as NSArray).value(forKey: "level") as? [Int] == [2, 2])
    }
  }
}
