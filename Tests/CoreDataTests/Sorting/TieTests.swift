import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

// Finding B7, OBS-8.
/// Rows that an order leaves equal come as they were inserted, whichever way it goes.
struct TieTests {
  static var orders: [[NSSortDescriptor]] {
    [
      [NSSortDescriptor(key: "price", ascending: false)],
      [NSSortDescriptor(key: "price", ascending: true)],
      [NSSortDescriptor(key: "price", ascending: true), NSSortDescriptor(key: "done", ascending: false)],
      [NSSortDescriptor(key: "category.name", ascending: false)],
      [NSSortDescriptor(key: "tags.@count", ascending: false)],
      [NSSortDescriptor(keyPath: \Item.price, ascending: false)],
      [NSSortDescriptor(key: "category.name", ascending: false, comparison: .localizedStandard)],
    ]
  }
  static let titles: [String] = (0..<40).map { "t\($0)" }

  private static func stack(_ kind: StoreKind) throws -> Stack {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: NSManagedObject = context.make("Category", ["name": "all"])
      // One save each: keys rise in the order of insertion.
      for title in titles {
        _ = context.make("Item", ["title": title, "price": 1.5, "category": category])
        try context.save()
      }
    }
    return stack
  }

  @Test(arguments: StoreKind.allCases, orders.indices)
  func `equal rows come as they were inserted`(_ kind: StoreKind, _ number: Int) throws {
    let order: [NSSortDescriptor] = Self.orders[number]
    let stack: Stack = try Self.stack(kind)
    try stack.elsewhere { context in
      let request = NSFetchRequest<Item>(entityName: "Item")
      request.sortDescriptors = order
      expect(try context.fetch(request).map(\.title), Self.titles)
      request.predicate = NSPredicate(format: "category.name == 'all' AND price > 1")
      (request.fetchOffset, request.fetchLimit) = (3, 20)
      expect(try context.fetch(request).map(\.title), Array(Self.titles[3..<23]))
      let rows = NSFetchRequest<NSDictionary>(entityName: "Item")
      rows.resultType = .dictionaryResultType
      rows.propertiesToFetch = ["title"]
      rows.sortDescriptors = order
      expect(try context.fetch(rows).map { $0["title"] as? String }, Self.titles)
    }
  }

  @Test(arguments: StoreKind.allCases, orders.indices)
  func `unsaved changes leave equal rows in their places`(
    _ kind: StoreKind, _ number: Int
  ) throws {
    let order: [NSSortDescriptor] = Self.orders[number]
    let stack: Stack = try Self.stack(kind)
    try stack.elsewhere { context in
      let request = NSFetchRequest<Item>(entityName: "Item")
      request.sortDescriptors = order
      let items: [Item] = try context.fetch(request)
      items[5].count = 9
      items[20].count = 10
      let new: NSManagedObject = context.make(
        "Item", ["title": "new", "price": 1.5, "category": items[0].category as Any])
      expect(try context.fetch(request).map(\.title), Self.titles + ["new"])
      context.delete(new)
      try context.save()
      expect(try context.fetch(request).map(\.title), Self.titles)
    }
  }

  @Test(arguments: orders.indices) func `sorting arrays leaves equal objects in their order`(
    _ number: Int
  ) throws {
    let order: [NSSortDescriptor] = Self.orders[number]
    let stack: Stack = try Self.stack(.inMemory)
    try stack.elsewhere { context in
      let request = NSFetchRequest<Item>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Item.title, ascending: true)]
      let items: [Item] = try context.fetch(request)
      let titles: [String?] = items.map(\.title)
      #expect(
        (NSArray(array: items).sortedArray(using: order) as? [Item])?.map(\.title) == titles)
      let mutable = NSMutableArray(array: items)
      mutable.sort(using: order)
      #expect((mutable as? [Item])?.map(\.title) == titles)
      let set = NSOrderedSet(array: items)
      #expect((set.sortedArray(using: order) as? [Item])?.map(\.title) == titles)
      let sorted: [Item] = try items.sortedThrowing(using: order)
      #expect(sorted.map(\.title) == titles)
      let swift = [SortDescriptor(\Item.price, order: .reverse)]
      #expect(items.sorted(using: swift).map(\.title) == titles)
      let converted: [NSSortDescriptor] = swift.map(NSSortDescriptor.init)
      let again: [Item] = try items.sortedThrowing(using: converted)
      #expect(again.map(\.title) == titles)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `equal rows of several entities come as they were inserted`(_ kind: StoreKind) throws {
    let stack = try Stack(kind)
    let names: [String] = (0..<20).map { "n\($0)" }
    try stack.run { context in
      for (number, name) in names.enumerated() {
        _ = context.make(number % 3 == 0 ? "Manager" : "Employee", ["name": name, "salary": 7])
        try context.save()
      }
    }
    try stack.elsewhere { context in
      let request = NSFetchRequest<Person>(entityName: "Person")
      for ascending in [true, false] {
        request.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: ascending)]
        request.entity = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Employee"]
        expect(try context.fetch(request).map(\.name), names)
      }
    }
  }

  private func expect(
    _ found: [String?], _ expected: [String], at location: SourceLocation = #_sourceLocation
  ) {
    #expect(found == expected, sourceLocation: location)
  }

  // MARK: Indexes

  private static func indexedModel() -> NSManagedObjectModel {
    let note = World.entity(
      "Note",
      [
        World.attribute("title", .stringAttributeType), World.attribute("rank", .integer32AttributeType),
        World.attribute("folder", .integer32AttributeType), World.attribute("old", .integer32AttributeType),
        World.attribute("plain", .integer32AttributeType),
      ])
    func element(_ name: String, _ ascending: Bool = true) -> NSFetchIndexElementDescription {
      let element = NSFetchIndexElementDescription(
        property: note.attributesByName[name]!, collationType: .binary)
      element.isAscending = ascending
      return element
    }
    note.indexes = [
      NSFetchIndexDescription(name: "byRank", elements: [element("rank")]),
      NSFetchIndexDescription(name: "inFolder", elements: [element("folder"), element("title")]),
      NSFetchIndexDescription(name: "mixed", elements: [element("title"), element("rank", false)]),
    ]
    note.attributesByName["old"]?.isIndexed = true
    note.compoundIndexes = [["plain", "rank"]]
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }

  struct Served: Sendable, CustomTestStringConvertible {
    var format: String?
    let order: [(String, Bool)]
    /// Whether an index serves the order, read backwards.
    let isBackwards: Bool
    var testDescription: String { "\(format ?? "") \(order)" }
  }

  static let served: [Served] = [
    Served(order: [("rank", true)], isBackwards: false), Served(order: [("rank", false)], isBackwards: true),
    Served(order: [("old", true)], isBackwards: false), Served(order: [("old", false)], isBackwards: true),
    Served(format: "folder == 1", order: [("title", true)], isBackwards: false),
    Served(format: "folder == 1", order: [("title", false)], isBackwards: true),
    Served(order: [("folder", false), ("title", false)], isBackwards: true),
    Served(order: [("title", true), ("rank", false)], isBackwards: false),
    Served(order: [("plain", false), ("rank", false)], isBackwards: true),
  ]

  @Test(arguments: served) func `an order that an index serves is not sorted`(_ row: Served) throws {
    let stack = try Stack(.sqlite, model: Self.indexedModel())
    try stack.run { context in
      for _ in 0..<30 {
        _ = context.make(
          "Note",
          ["title": "t", "rank": 1, "folder": 1, "old": 1, "plain": 1])
        try context.save()
      }
    }
    try stack.elsewhere { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.predicate = row.format.map { NSPredicate(format: $0) }
      request.sortDescriptors = row.order.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
      let plan: [String] = try request.explain(in: context).flatMap(\.queryPlan)
      #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
      let keys: [String] = try context.fetch(request).map {
        $0.objectID.uriRepresentation().lastPathComponent
      }
      let ascending: [String] = (1...30).map { "p\($0)" }
      #expect(keys == (row.isBackwards ? ascending.reversed() : ascending))
    }
  }

  @Test func `an order that no index serves comes as inserted, beside indexes too`() throws {
    let stack = try Stack(.sqlite, model: Self.indexedModel())
    try stack.run { context in
      for number in 0..<30 {
        _ = context.make("Note", ["title": "t", "rank": 1, "folder": 30 - number, "old": 1, "plain": 1])
        try context.save()
      }
    }
    try stack.elsewhere { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      // The index on folder leads through the rows backwards.
      request.predicate = NSPredicate(format: "folder > 0 AND folder < 31")
      request.sortDescriptors = [NSSortDescriptor(key: "plain", ascending: false)]
      let keys: [String] = try context.fetch(request).map {
        $0.objectID.uriRepresentation().lastPathComponent
      }
      #expect(keys == (1...30).map { "p\($0)" })
    }
  }
}
