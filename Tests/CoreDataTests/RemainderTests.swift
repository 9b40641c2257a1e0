import CoreData
import Foundation
import StackSupport
import Testing

/// Predicates that a store can do in part only: the rest is evaluated in memory, and nobody
/// sees a difference.
@Suite
struct RemainderTests {
  /// Sixty items: title "t00" … "t59" (none for every seventh), count 0 … 59, category "c0" … "c3" (none for
  /// every fifth).
  private func filled(_ kind: StoreKind) throws -> Stack {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      let categories: [Category] = (0..<4).map { context.category("c\($0)") }
      for number in 0..<60 {
        let title: String = (number < 10 ? "t0" : "t") + "\(number)"
        let item: Item = context.item(number % 7 == 6 ? nil : title)
        item.count = Int64(number)
        if number % 5 != 4 { item.category = categories[number % 4] }
      }
      try context.save()
    }
    return stack
  }

  /// Beside each format the counts of the items for which it holds.
  private static let samples: [(String, @Sendable (Int) -> Bool)] = [
    ("FUNCTION(title, 'hasSuffix:', '3') == YES", { $0 % 10 == 3 && $0 % 7 != 6 }),
    (
      "count >= 20 AND FUNCTION(title, 'hasSuffix:', '3') == YES", { $0 >= 20 && $0 % 10 == 3 && $0 % 7 != 6 }
    ),
    ("title hasPrefix: 't1' AND count != 12", { (10..<20).contains($0) && $0 % 7 != 6 && $0 != 12 }),
    ("note == nil AND count < 3", { $0 < 3 }),
    ("note != nil OR count == 59", { $0 == 59 }),
    (
      "category.name == 'c1' AND FUNCTION(category.name, 'hasPrefix:', 'c') == YES",
      { $0 % 5 != 4 && $0 % 4 == 1 }
    ),
    ("NOT (count < 50 OR FUNCTION(title, 'hasSuffix:', '9') == YES)", { $0 >= 50 && $0 != 59 }),
    (
      "count IN {1, 2, 3} AND (count == 2 OR FUNCTION(title, 'hasSuffix:', '3') == YES)",
      { $0 == 2 || $0 == 3 }
    ),
  ]

  @Test(arguments: StoreKind.allCases)
  func `the rest of a predicate is evaluated over the objects that the store gives`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    for (format, holds) in Self.samples {
      let expected: [Int64] = (0..<60).filter(holds).map(Int64.init)
      try stack.elsewhere { context in
        let predicate = NSPredicate(format: format)
        let request: NSFetchRequest<Item> = context.request(Item.self, "Item", predicate, sort: ["count"])
        #expect(try context.fetch(request).map(\.count) == expected, "\(format)")
        #expect(try context.count(for: request) == expected.count, "\(format)")
        request.sortDescriptors = nil
        let unsorted: [Int64] = try context.fetch(request).map(\.count).sorted()
        #expect(unsorted == expected, "\(format)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `order, limit, offset, ids, counts and dictionaries come after the rest`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    let holds: (Int) -> Bool = { $0 >= 5 && $0 % 7 != 6 }
    let predicate = NSPredicate(format: "count >= 5 AND FUNCTION(title, 'hasPrefix:', 't') == YES")
    for (limit, offset) in [(0, 0), (3, 0), (3, 2), (0, 40), (100, 44), (5, 100)] {
      let all: [Int64] = (0..<60).reversed().filter(holds).map(Int64.init)
      let expected: [Int64] = Array(all.dropFirst(offset).prefix(limit > 0 ? limit : .max))
      try stack.elsewhere { context in
        func request<T>(_ type: T.Type, _ result: NSFetchRequestResultType) -> NSFetchRequest<T> {
          let request: NSFetchRequest<T> = context.request(type, "Item", predicate, sort: ["-count"])
          request.resultType = result
          request.fetchLimit = limit
          request.fetchOffset = offset
          return request
        }
        let objects: NSFetchRequest<Item> = request(Item.self, .managedObjectResultType)
        let items: [Item] = try context.fetch(objects)
        #expect(items.map(\.count) == expected, "limit \(limit) offset \(offset)")
        #expect(try context.count(for: objects) == expected.count)
        objects.fetchBatchSize = 2
        let again: [Item] = try context.fetch(objects)
        #expect(again == items)
        #expect(
          try context.fetch(request(NSManagedObjectID.self, .managedObjectIDResultType))
            == items.map(\.objectID))
        #expect(
          try context.fetch(request(NSNumber.self, .countResultType)) == [NSNumber(value: expected.count)])
        let rows: NSFetchRequest<NSDictionary> = request(NSDictionary.self, .dictionaryResultType)
        rows.propertiesToFetch = ["count"]
        #expect(try context.fetch(rows).map { ($0["count"] as? NSNumber)?.int64Value } == expected)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `unsaved changes count in the rest too, unless they are left out`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["count"])
      items[3].title = "x"
      items[4].title = "y3"
      context.delete(items[33])
      let new: Item = context.item("new3")
      new.count = 70
      let request: NSFetchRequest<Item> = context.request(
        Item.self, "Item", NSPredicate(format: "FUNCTION(title, 'hasSuffix:', '3') == YES"), sort: ["count"])
      #expect(try context.fetch(request).map(\.count) == [4, 23, 43, 53, 70])
      request.fetchLimit = 2
      #expect(try context.fetch(request).map(\.count) == [4, 23])
      request.includesPendingChanges = false
      #expect(try context.fetch(request).map(\.count) == [3, 23], "as stored")
      request.fetchLimit = 0
      #expect(try context.count(for: request) == 5)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `blocks see the context's own objects`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let first: [Item] = try context.all(Item.self, "Item", NSPredicate(format: "count < 3"))
      let chosen: Set<Item> = Set(first)
      // Foundation wants a Sendable block; it runs on this thread.
      nonisolated(unsafe) let unsafelyChosen: Set<Item> = chosen
      let block = NSPredicate { object, _ in (object as? Item).map(unsafelyChosen.contains) ?? false }
      #expect(try Set(context.all(Item.self, "Item", block)) == chosen)
      let both = CoreData.NSCompoundPredicate(andPredicateWithSubpredicates: [
        NSPredicate(format: "count > 0"), block,
      ])
      #expect(try context.all(Item.self, "Item", both, sort: ["count"]).map(\.count) == [1, 2])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `blocks in a child context see the child's objects`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = stack.context
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", NSPredicate(format: "count == 40"))
      items[0].count = 100
    }
    try child.performAndWait {
      nonisolated(unsafe) let chosen: Set<Item> = Set(
        try child.all(Item.self, "Item", NSPredicate(format: "count > 55")))
      let block = NSPredicate { object, _ in (object as? Item).map(chosen.contains) ?? false }
      let request: NSFetchRequest<Item> = child.request(
        Item.self, "Item",
        CoreData.NSCompoundPredicate(andPredicateWithSubpredicates: [
          NSPredicate(format: "count != 57"), block,
        ]),
        sort: ["-count"])
      #expect(try child.fetch(request).map(\.count) == [100, 59, 58, 56])
      #expect(try child.count(for: request) == 4)
      request.fetchLimit = 2
      request.fetchOffset = 1
      #expect(try child.fetch(request).map(\.count) == [59, 58])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `values that a transformer made are compared as objects`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      for number in 0..<6 {
        _ = context.make(
          "Kinds", ["i16": number, "thing": number == 5 ? NSNull() : ["a", "\(number % 2)"] as NSArray])
      }
      try context.save()
    }
    for (format, expected) in [
      ("thing == %@", [1, 3]), ("thing != %@", [0, 2, 4, 5]), ("i16 > 1 AND thing == %@", [3]),
      ("%@ == thing AND thing != nil", [1, 3]), ("'1' IN thing AND thing == %@", [1, 3]),
    ] {
      try stack.elsewhere { context in
        let predicate = NSPredicate(format: format, ["a", "1"] as NSArray)
        let found: [NSManagedObject] = try context.all(
          NSManagedObject.self, "Kinds", predicate, sort: ["i16"])
        #expect(found.map { $0.value(forKey: "i16") as? Int } == expected, "\(format)")
      }
    }
    try stack.elsewhere { context in
      let none: [NSManagedObject] = try context.all(
        NSManagedObject.self, "Kinds", NSPredicate(format: "thing == nil"))
      #expect(none.map { $0.value(forKey: "i16") as? Int } == [5])
    }
  }

  @Test func `explain says what is evaluated in memory, and the statement has the rest`() throws {
    let stack: Stack = try filled(.sqlite)
    try stack.run { context in
      let request: NSFetchRequest<Item> = context.request(
        Item.self, "Item",
        NSPredicate(format: "count > 41 AND FUNCTION(title, 'hasSuffix:', 'geheim') == YES"))
      let explained: FetchExplanation = try #require(try request.explain(in: context).first)
      #expect(explained.sql.contains("ZCOUNT > ?"))
      #expect(!explained.description.contains("ZTITLE ="))
      #expect(explained.bindings == ["41"])
      #expect(explained.evaluatedInMemory.count == 1)
      #expect(explained.evaluatedInMemory.first?.contains("FUNCTION(title, \"hasSuffix:\"") == true)
      #expect(explained.description.contains("-- in memory: FUNCTION"))
      request.predicate = NSPredicate(format: "count > 41")
      #expect(try request.explain(in: context).first?.evaluatedInMemory == [])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what makes no sense for any row is refused and named`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    for (format, part) in [
      ("title == $name", "$name"), ("count > 1 AND title == $name", "$name"),
      ("nmae == 'x'", "\"name\""), ("FUNCTION(title, 'noSuchThing') == 1", "noSuchThing"),
    ] {
      try stack.elsewhere { context in
        let entity: String = format.hasPrefix("nmae") ? "Category" : "Item"
        let request: NSFetchRequest<NSManagedObject> = context.request(
          NSManagedObject.self, entity, NSPredicate(format: format))
        do {
          _ = try context.fetch(request)
          Issue.record("'\(format)' was fetched")
        } catch {
          let text: String = "\(error.localizedDescription)"
          #expect(text.contains(part), "\(text)")
        }
      }
    }
  }
}
