import CoreData
import Foundation
import StackSupport
import Testing

/// Requests, over the store and over unsaved changes.
@Suite
struct FetchingTests {
  /// Items a…f, with count 0…5, a and b in category "one", the rest in "two"; tags "even" and "odd".
  private func filled(_ kind: StoreKind) throws -> Stack {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      let (one, two) = (context.category("one"), context.category("two"))
      let (even, odd) = (Tag(context: context), Tag(context: context))
      even.name = "even"
      odd.name = "odd"
      for (number, title) in ["a", "b", "c", "d", "e", "f"].enumerated() {
        let item: Item = context.item(title, number < 2 ? one : two)
        item.count = Int64(number)
        item.tags = [number.isMultiple(of: 2) ? even : odd]
      }
      try context.save()
    }
    return stack
  }

  @Test(arguments: StoreKind.every)
  func `the items of given owners, and given items, are those that the condition is true of`(kind: StoreKind)
    throws
  {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      let categories: [NSManagedObject] = try context.all(
        NSManagedObject.self, "Category", sort: ["name"])
      let (one, two, unsaved) = (categories[0], categories[1], context.category("three"))
      let conditions: [NSPredicate] = [
        NSPredicate(format: "category == %@", one), NSPredicate(format: "%@ == category", two),
        NSPredicate(format: "category IN %@", [two, one]), NSPredicate(format: "category IN %@", [unsaved]),
        NSPredicate(format: "category IN %@ AND count > 0", [one, unsaved]),
        NSPredicate(format: "count > 3 AND (category == %@ AND title != 'e')", two),
        NSPredicate(format: "category == %@ OR count == 5", one),
        NSPredicate(format: "NOT category == %@", one), NSPredicate(format: "category != %@", two),
        NSPredicate(format: "category == nil"), NSPredicate(format: "SELF == %@", items[2]),
        NSPredicate(format: "SELF IN %@ AND category == %@", Array(items[1...3]), two),
        // An object of another entity with the key of an item.
        NSPredicate(format: "SELF == %@", one), NSPredicate(format: "category == %@", items[0]),
      ]
      for condition in conditions {
        let found: [Item] = try context.all(Item.self, "Item", condition, sort: ["-title"])
        let expected: [Item] = items.reversed().filter { condition.evaluate(with: $0) }
        #expect(found.map(\.title) == expected.map(\.title), "\(condition)")
        let request = context.request(Item.self, "Item", condition)
        #expect(try context.count(for: request) == expected.count, "\(condition)")
      }
      // Stores take an id for its object; an evaluation compares the two, which are not equal.
      let ofID = NSPredicate(format: "category == %@", one.objectID)
      #expect(try context.all(Item.self, "Item", ofID, sort: ["title"]).map(\.title) == ["a", "b"])
    }
  }

  @Test(
    .rule("FETCH-1", "NSFetchRequest.includesPendingChanges"),
    .rule("FETCH-8", "NSFetchRequest.fetchLimit, fetchOffset", "after sorting and merging"),
    arguments: StoreKind.every)
  func `unsaved changes count: inserted, changed in, changed out, deleted`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      items[0].count = 10
      items[5].count = 1
      context.delete(items[4])
      let new: Item = context.item("g")
      new.count = 12
      let deletedNew: Item = context.item("h")
      deletedNew.count = 13
      context.delete(deletedNew)
      // a 10, b 1, c 2, d 3, f 1, g 12
      let request: NSFetchRequest<Item> = context.request(
        Item.self, "Item", NSPredicate(format: "count >= 2"), sort: ["-count"])
      func titles() throws -> [String?] { try context.fetch(request).map(\.title) }
      #expect(try titles() == ["g", "a", "d", "c"])
      #expect(try context.count(for: request) == 4)
      request.fetchLimit = 2
      #expect(try titles() == ["g", "a"])
      #expect(try context.count(for: request) == 2)
      request.fetchOffset = 1
      #expect(try titles() == ["a", "d"])
      request.fetchOffset = 3
      #expect(try titles() == ["c"])
      #expect(try context.count(for: request) == 1)
      request.fetchOffset = 9
      #expect(try titles() == [])
      request.fetchOffset = 0
      request.fetchLimit = 0
      request.includesPendingChanges = false
      #expect(try context.fetch(request).map(\.objectID).count == 4, "c, d, e, f as stored")
      #expect(try context.count(for: request) == 4)
      let ids: NSFetchRequest<NSManagedObjectID> = context.request(
        NSManagedObjectID.self, "Item", NSPredicate(format: "count >= 2"), sort: ["-count"])
      ids.resultType = .managedObjectIDResultType
      #expect(try context.fetch(ids) == [new, items[0], items[3], items[2]].map(\.objectID))
    }
  }

  /// Keys that end in no attribute, and the order of the items by them; what they leave equal comes by title.
  private static let ordersWithoutColumn: [(key: String, titles: String)] = [
    ("self.count", "abcdef"), ("title.length", "abcdef"), ("tags.@count", "bcdefa"),
    ("tags.@min.name", "acebdf"), ("category.items.@count", "abcdef"), ("category.name.length", "abcdef"),
    ("entity.name", "abcdef"), ("category", "abcdef"), ("category.objectID", "abcdef"),
    ("category.self", "abcdef"),
  ]

  @Test(arguments: StoreKind.every, ordersWithoutColumn)
  func `orders by more than columns are the same over every store, with and without unsaved changes`(
    kind: StoreKind, order: (key: String, titles: String)
  ) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      items[0].tags = Set(try context.all(Tag.self, "Tag"))
      try context.save()
      let request: NSFetchRequest<Item> = context.request(Item.self, "Item")
      request.sortDescriptors = [order.key, "title"].map { NSSortDescriptor(key: $0, ascending: true) }
      func titles() throws -> String { try context.fetch(request).compactMap(\.title).joined() }
      #expect(try titles() == order.titles)
      for item in items { item.price = 3 }
      #expect(try titles() == order.titles)
      #expect(
        try items.sortedThrowing(using: request.sortDescriptors ?? []).compactMap(\.title).joined()
          == order.titles)
    }
  }

  @Test(arguments: StoreKind.every, ["self", "objectID"])
  func `objects sort by their ids, unsaved ones last in the order they were made`(
    kind: StoreKind, key: String
  ) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let request: NSFetchRequest<Item> = context.request(Item.self, "Item")
      request.sortDescriptors = [NSSortDescriptor(key: key, ascending: false)]
      let saved: [Item] = try context.fetch(request)
      #expect(saved.map(\.objectID) != saved.reversed().map(\.objectID))
      for item in saved { item.price = 3 }
      let new: [Item] = ["g", "h"].map { context.item($0) }
      #expect(try context.fetch(request) == new.reversed() + saved)
    }
  }

  @Test(arguments: StoreKind.every)
  func `URLs sort by their texts, with unsaved changes too`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Library.model)
    try stack.run { context in
      let sites: [String] = ["http://b", "http://a/2", "http://a/1"]
      let writers: [NSManagedObject] = sites.map {
        context.make("Writer", ["site": URL(string: $0) as Any])
      }
      try context.save()
      let request: NSFetchRequest<NSManagedObject> = context.request(NSManagedObject.self, "Writer")
      let bySite = NSSortDescriptor(key: "site", ascending: true)
      request.sortDescriptors = [bySite]
      #expect(bySite.problems(for: try #require(Library.model.entitiesByName["Writer"])).isEmpty)
      #expect(try context.fetch(request) == writers.reversed())
      for writer in writers { writer.setValue("x", forKey: "name") }
      #expect(try context.fetch(request) == writers.reversed())
    }
  }

  @Test(.rule("FETCH-8", "NSFetchRequest.fetchLimit, fetchOffset"), arguments: StoreKind.every)
  func `limits and offsets hold without unsaved changes too`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      for (limit, offset, expected) in [
        (0, 0, "abcdef"), (2, 0, "ab"), (2, 1, "bc"), (0, 4, "ef"), (9, 5, "f"), (1, 6, ""), (3, 100, ""),
      ] {
        let request: NSFetchRequest<Item> = context.request(Item.self, "Item", sort: ["title"])
        request.fetchLimit = limit
        request.fetchOffset = offset
        let found: [Item] = try context.fetch(request)
        #expect(found.compactMap(\.title).joined() == expected)
        let count: Int = try context.count(for: request)
        #expect(count == expected.count, "limit \(limit) offset \(offset)")
      }
    }
  }

  @Test(.rule("FETCH-12", "NSFetchRequest.returnsDistinctResults"), arguments: StoreKind.computing)
  func `each kind of result`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let two = NSPredicate(format: "count < 2")
      let items: [Item] = try context.all(Item.self, "Item", two, sort: ["title"])
      let ids: NSFetchRequest<NSManagedObjectID> = context.request(
        NSManagedObjectID.self, "Item", two, sort: ["title"])
      ids.resultType = .managedObjectIDResultType
      #expect(try context.fetch(ids) == items.map(\.objectID))
      let counts: NSFetchRequest<NSNumber> = context.request(NSNumber.self, "Item", two)
      counts.resultType = .countResultType
      #expect(try context.fetch(counts) == [2])
      let rows: NSFetchRequest<NSDictionary> = context.request(
        NSDictionary.self, "Item", two, sort: ["-title"])
      rows.resultType = .dictionaryResultType
      rows.propertiesToFetch = ["title", "category.name", "due", "category"]
      items[0].title = "unsaved"
      let dictionaries: [NSDictionary] = try context.fetch(rows)
      #expect(dictionaries.map { $0["title"] as? String } == ["b", "a"])
      #expect(dictionaries.map { $0["category.name"] as? String } == ["one", "one"])
      #expect(dictionaries[0]["category"] as? NSManagedObjectID == items[0].category?.objectID)
      #expect(dictionaries[0]["due"] == nil)
      rows.propertiesToFetch = ["category.name"]
      rows.predicate = nil
      rows.returnsDistinctResults = true
      rows.sortDescriptors = [NSSortDescriptor(key: "category.name", ascending: true)]
      #expect(try context.fetch(rows).map { $0["category.name"] as? String } == ["one", "two"])
    }
  }

  @Test(arguments: StoreKind.every)
  func `a request runs itself in the context whose block runs`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    let request: NSFetchRequest<Item> = stack.context.request(Item.self, "Item", sort: ["title"])
    #expect(codeThrown { _ = try request.execute() } == NSCoreDataError)
    try stack.run { context in
      #expect(try request.execute().first?.managedObjectContext === context)
      let other: NSManagedObjectContext = stack.other()
      let inOther: NSManagedObjectContext? = try other.performAndWait {
        try request.execute().first?.managedObjectContext
      }
      #expect(inOther === other)
      #expect(try request.execute().first?.managedObjectContext === context, "the outer block again")
    }
    #expect(codeThrown { _ = try request.execute() } == NSCoreDataError)
  }

  @Test(.rule("FETCH-4", "NSFetchRequest.includesSubentities"), arguments: StoreKind.every)
  func `sub-entities belong to the result unless they are left out`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      _ = context.make("Employee", ["name": "e", "salary": 1])
      _ = context.make("Manager", ["name": "m", "salary": 2])
      try context.save()
    }
    try stack.run { context in
      let unsaved: NSManagedObject = context.make("Manager", ["name": "n", "salary": 3])
      for (entity, all, own) in [("Person", "emn", ""), ("Employee", "emn", "e"), ("Manager", "mn", "mn")] {
        let request: NSFetchRequest<Person> = context.request(Person.self, entity, sort: ["name"])
        #expect(try context.fetch(request).compactMap(\.name).joined() == all)
        #expect(try context.count(for: request) == all.count)
        request.includesSubentities = false
        #expect(try context.fetch(request).compactMap(\.name).joined() == own)
        #expect(try context.count(for: request) == own.count)
      }
      let people: [Person] = try context.all(
        Person.self, "Person", NSPredicate(format: "name != 'n'"), sort: ["name"])
      #expect(people.map { "\(type(of: $0))" } == ["Employee", "Manager"])
      _ = unsaved
    }
  }

  @Test(.rule("FETCH-10", "NSFetchRequest.relationshipKeyPathsForPrefetching"), arguments: StoreKind.every)
  func `prefetched relationships are there without a further fault`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let request: NSFetchRequest<Category> = context.request(Category.self, "Category", sort: ["name"])
      request.relationshipKeyPathsForPrefetching = ["items", "items.tags"]
      let categories: [Category] = try context.fetch(request)
      for category in categories {
        #expect(!category.hasFault(forRelationshipNamed: "items"))
        for item in category.items { #expect(!item.hasFault(forRelationshipNamed: "tags")) }
      }
      #expect(categories.map { $0.items.count } == [2, 4])
      let items: NSFetchRequest<Item> = context.request(Item.self, "Item")
      items.relationshipKeyPathsForPrefetching = ["category"]
      #expect(try context.fetch(items).count == 6)
      items.relationshipKeyPathsForPrefetching = ["categry"]
      let error: NSError = try #require(errorThrown { _ = try context.fetch(items) })
      #expect(
        error.localizedDescription.contains("categry") && error.localizedDescription.contains("category"))
    }
  }

  @Test(
    .rule("FETCH-5", "NSFetchRequest.returnsObjectsAsFaults"),
    .rule("FETCH-6", "NSFetchRequest.includesPropertyValues"),
    .rule("FETCH-7", "NSFetchRequest.fetchBatchSize"), arguments: StoreKind.every)
  func `batches, ids only and loaded results give the same objects`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let expected: [Item] = try context.all(Item.self, "Item", sort: ["-title"])
      for (batch, values, faults) in [
        (0, true, false), (2, true, true), (100, true, true), (0, false, true), (4, true, false),
      ] {
        try stack.elsewhere { other in
          let request: NSFetchRequest<Item> = other.request(Item.self, "Item", sort: ["-title"])
          request.fetchBatchSize = batch
          request.includesPropertyValues = values
          request.returnsObjectsAsFaults = faults
          let items: [Item] = try other.fetch(request)
          #expect(items.map(\.objectID) == expected.map(\.objectID))
          #expect(items.allSatisfy { $0.isFault == faults })
          #expect(items.compactMap(\.title).joined() == "fedcba")
          #expect(items.map { $0.category?.name ?? "" } == ["two", "two", "two", "two", "one", "one"])
        }
      }
    }
  }

  @Test(
    .rule("FETCH-2", "NSFetchRequest.includesPendingChanges", "memory and store agree"),
    arguments: StoreKind.every)
  func `objects and ids in predicates`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      let one: Category = try #require(items[0].category)
      let even: Tag = try #require(items[0].tags.first)
      let unsaved: Category = context.category("unsaved")
      func titles(_ predicate: NSPredicate) throws -> String {
        try stack.elsewhere { fresh in
          // In a fresh context the store answers alone, here unsaved changes take part: both must agree.
          let mine: String = try context.all(Item.self, "Item", predicate, sort: ["title"]).compactMap(
            \.title
          ).joined()
          let theirs: String = try fresh.all(Item.self, "Item", predicate, sort: ["title"]).compactMap(
            \.title
          ).joined()
          #expect(mine == theirs, "\(predicate)")
          return mine
        }
      }
      let moved: Item = items[5]
      for round in 0..<2 {
        #expect(try titles(NSPredicate(format: "category == %@", one)) == "ab")
        #expect(try titles(NSPredicate(format: "category == %@", one.objectID)) == "ab")
        #expect(try titles(NSPredicate(format: "category != %@", one)) == "cdef")
        #expect(try titles(NSPredicate(format: "SELF IN %@", [items[1], items[3]])) == "bd")
        #expect(try titles(NSPredicate(format: "SELF IN %@", [items[1].objectID])) == "b")
        #expect(try titles(NSPredicate(format: "SELF == %@", items[2])) == "c")
        #expect(try titles(NSPredicate(format: "NOT (SELF IN %@)", items[0...3].map { $0 })) == "ef")
        #expect(try titles(NSPredicate(format: "category IN %@", [one, unsaved])) == "ab")
        #expect(try titles(NSPredicate(format: "category == %@", unsaved)) == "")
        #expect(try titles(NSPredicate(format: "category == nil")) == "")
        #expect(try titles(NSPredicate(format: "ANY tags.name == 'odd'")) == "bdf")
        #expect(try titles(NSPredicate(format: "ANY tags == %@", even)) == "ace")
        #expect(try titles(NSPredicate(format: "tags CONTAINS %@", even)) == "ace")
        #expect(try titles(NSPredicate(format: "category.name BEGINSWITH[cd] 'TW' AND count > 3")) == "ef")
        #expect(try titles(NSPredicate(format: "count BETWEEN {1, 2}")) == "bc")
        #expect(try titles(NSPredicate(format: "title IN {'a', 'z'} OR tags.@count > 1")) == "a")
        // Now with every object changed in memory, to the same values.
        if round == 0 { for item in items { item.title = item.title } }
      }
      _ = moved
    }
  }

  @Test(arguments: StoreKind.every)
  func `a request that can't be run says what is wrong`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      func text(_ entity: String, _ format: String?, sort: [String] = []) -> String {
        errorThrown {
          _ = try context.all(
            NSManagedObject.self, entity, format.map { NSPredicate(format: $0) }, sort: sort)
        }?.localizedDescription ?? "no error"
      }
      #expect(text("Itm", nil).contains("Item"))
      #expect(text("Item", "titel == 'a'").contains("title"))
      #expect(text("Item", "category.nmae == 'a'").contains("name"))
      #expect(text("Item", nil, sort: ["titel"]).contains("title"))
      let bare = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      let coordinator: NSError? = errorThrown { _ = try bare.fetch(NSFetchRequest<Item>(entityName: "Item")) }
      #expect(coordinator?.localizedDescription.contains("persistentStoreCoordinator") == true)
      let wrong: NSFetchRequest<Category> = context.request(Category.self, "Item")
      let mismatch: NSError? = errorThrown { _ = try context.fetch(wrong) }
      #expect(mismatch?.localizedDescription.contains("Category") == true)
      let all: [Item] = try context.all(Item.self, "Item")
      #expect(all.count == 6)
    }
  }

  @Test(arguments: StoreKind.every)
  func `fetch templates with variables`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let predicate = NSPredicate(format: "count == $number AND category.name == $name")
        .withSubstitutionVariables(["number": 1, "name": "one"])
      let found: [Item] = try context.all(Item.self, "Item", predicate)
      #expect(found.map(\.title) == ["b"])
    }
  }

  @Test(arguments: StoreKind.every)
  func `sorting by several keys, by relationship and with nil first`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.elsewhere { context in
      _ = context.item(nil)
      try context.save()
    }
    try stack.run { context in
      func titles(_ keys: [String]) throws -> String {
        try context.all(Item.self, "Item", sort: keys).map { $0.title ?? "-" }.joined()
      }
      #expect(try titles(["title"]) == "-abcdef")
      #expect(try titles(["-title"]) == "fedcba-")
      #expect(try titles(["-category.name", "-count"]) == "fedcba-")
      #expect(try titles(["category.name", "-count"]) == "-bafedc")
      let item: Item = context.item("c")
      item.count = 0
      #expect(try titles(["title", "count"]) == "-abccdef")
      let sorted: [Item] = try context.all(Item.self, "Item", sort: ["title", "count"])
      #expect(sorted[3] === item)
    }
  }

  @Test(arguments: StoreKind.every)
  func `a request can be made of one with results of another type`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for title in ["b", "a", "c"] { _ = context.item(title) }
      let items: NSFetchRequest<Item> = context.request(
        Item.self, "Item", NSPredicate(format: "title < 'c'"), sort: ["title"])
      items.affectedStores = [stack.store]
      items.fetchLimit = 5
      let objects = NSFetchRequest<NSManagedObject>(items)
      let any = NSFetchRequest<any NSFetchRequestResult>(objects)
      let titles: [String?] = try context.fetch(objects).map { $0.value(forKey: "title") as? String }
      #expect(titles == ["a", "b"])
      let found: [any NSFetchRequestResult] = try context.fetch(any)
      #expect(found.count == 2 && any.affectedStores == [stack.store] && any.fetchLimit == 5)
      any.fetchLimit = 1
      #expect(items.fetchLimit == 5, "a copy")
      #expect(throws: CocoaError.self) { _ = try context.fetch(NSFetchRequest<Category>(any)) }
    }
  }
}
