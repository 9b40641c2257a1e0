import CoreData
import CoreDataStorage
import Foundation
import StackSupport
import Testing

@testable import CoreDataGraph

/// What fetches cost: statements of prefetching and counts, hints of `explain`, progress of asynchronous
/// fetches.
@Suite
struct FetchCostTests {
  // MARK: Prefetching

  /// Key paths over 40 items with a category of their own and two tags each, and the statements after the
  /// fetch's.
  private static let prefetches: [(entity: String, paths: [String], statements: Int)] = [
    ("Item", ["category"], 1), ("Category", ["items"], 1), ("Item", ["tags"], 2),
    ("Category", ["items.tags"], 3), ("Category", ["items", "items.tags", "items.category"], 3),
    ("Item", ["category.items"], 2), ("Item", ["detail", "shelf"], 0),
  ]

  /// An attribute of what a key path leads to; none of what no object has.
  private static func attribute(of path: String) -> String {
    switch path.split(separator: ".").last {
    case "items": ".title"
    case "tags", "category": ".name"
    default: ""
    }
  }

  @Test(arguments: StoreKind.fetchingRows, prefetches)
  func `prefetching takes one statement a level, or two`(
    kind: StoreKind, scene: (entity: String, paths: [String], statements: Int)
  ) throws {
    let stack: Stack = try ReadAheadTests.filled(kind)
    func check(_ context: NSManagedObjectContext) throws {
      let request: NSFetchRequest<NSManagedObject> = context.request(NSManagedObject.self, scene.entity)
      request.relationshipKeyPathsForPrefetching = scene.paths
      let objects: [NSManagedObject] = try context.fetch(request)
      #expect(context.statistics.statements == 1 + scene.statements, "\(context.statistics)")
      context.resetStatistics()
      for object in objects {
        for path in scene.paths { _ = object.value(forKeyPath: path + Self.attribute(of: path)) }
      }
      #expect(context.statistics.statements == 0, "\(context.statistics)")
    }
    try stack.elsewhere(check)
    // A store in memory has no row cache: a parent looks up again what nobody held meanwhile.
    guard [.sqlite, .sqliteInMemory].contains(kind) else { return }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = stack.other()
    try child.performAndWait { try check(child) }
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `prefetched members are those of the store with the changes made here`(kind: StoreKind) throws {
    let stack: Stack = try ReadAheadTests.filled(kind, 4)
    try stack.run { context in
      let categories: [Category] = try context.all(Category.self, "Category", sort: ["name"])
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      items[0].category = categories[1]
      context.delete(items[2])
      let new: Item = context.item("new", categories[3])
      let request: NSFetchRequest<Category> = context.request(Category.self, "Category", sort: ["name"])
      request.relationshipKeyPathsForPrefetching = ["items"]
      #expect(try context.fetch(request) == categories)
      #expect(categories[0].items.isEmpty && categories[1].items == [items[0], items[1]])
      #expect(categories[2].items.isEmpty && categories[3].items == [items[3], new])
    }
  }

  // MARK: Counting

  @Test(arguments: StoreKind.fetchingRows)
  func `counting over unsaved changes loads nothing`(kind: StoreKind) throws {
    let stack: Stack = try ReadAheadTests.filled(kind)
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      items[0].count = 100
      items[39].count = 0
      context.delete(items[38])
      context.item("new").count = 50
      context.processPendingChanges()
      let request: NSFetchRequest<Item> = context.request(
        Item.self, "Item", NSPredicate(format: "count >= 20"))
      context.resetStatistics()
      // 20…37, 100 and 50.
      #expect(try context.count(for: request) == 20)
      #expect(context.statistics.statements == 2 && context.statistics.rows <= 2)
      request.fetchOffset = 15
      request.fetchLimit = 10
      #expect(try context.count(for: request) == 5)
    }
  }

  // MARK: Code of the program

  @Test(arguments: StoreKind.fetchingRows)
  func `a condition of the program gets objects on the queue of their context`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let items: [Item] = (0..<3).map { context.item("\($0)") }
      try context.save()
      items[0].title = "unsaved"
      nonisolated(unsafe) var areOnQueue: [Bool] = []
      func ask<Result: NSFetchRequestResult>(_ type: Result.Type) -> NSFetchRequest<Result> {
        let request: NSFetchRequest<Result> = context.request(type, "Item")
        request.includesPendingChanges = false
        request.predicate = NSPredicate { object, _ in
          areOnQueue.append((object as? NSManagedObject)?.managedObjectContext?.isOnQueue == true)
          return true
        }
        return request
      }
      #expect(try context.fetch(ask(Item.self)).count == 3)
      let dictionaries: NSFetchRequest<NSDictionary> = ask(NSDictionary.self)
      dictionaries.resultType = .dictionaryResultType
      dictionaries.propertiesToFetch = ["title"]
      #expect(try context.fetch(dictionaries).count == 3)
      #expect(areOnQueue.count >= 6 && !areOnQueue.contains(false), "\(areOnQueue)")
    }
  }

  // MARK: Hints

  private static let hints: [(predicate: String?, order: [String], limit: Int, hint: String?)] = [
    ("title == 'a'", [], 0, "title"), ("title == 'a' AND count > 3", [], 0, "title, count"),
    ("count > 3", [], 0, "count"), ("count > 3 AND title == 'a'", ["-price"], 0, "title, price (descending)"),
    (nil, ["-price", "title"], 10, "price (descending), title"), (nil, ["price"], 0, "price"),
    ("title CONTAINS 'a'", [], 0, nil), ("title ==[c] 'a'", [], 0, nil), ("category.name == 'c'", [], 0, nil),
    ("SELF == nil OR title == 'x'", [], 0, nil),
  ]

  @Test(arguments: hints)
  func `explain names the fetch index that would serve`(
    _ predicate: String?, _ order: [String], _ limit: Int, _ hint: String?
  ) throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      let request: NSFetchRequest<Item> = context.request(
        Item.self, "Item", predicate.map { NSPredicate(format: $0) }, sort: order)
      request.fetchLimit = limit
      let explanation: FetchExplanation = try #require(try request.explain(in: context).first)
      if let hint {
        let text: String = try #require(explanation.hints.first, "\(explanation)")
        #expect(text.contains("entity Item") && text.contains(hint + "."), "\(text)")
        #expect(explanation.description.contains("-- hint: "))
      } else {
        #expect(explanation.hints == [], "\(explanation)")
      }
    }
  }

  @Test func `no hint where an index serves`() throws {
    let stack = try Stack(.sqlite, model: Library.model)
    try stack.run { context in
      let request: NSFetchRequest<NSManagedObject> = context.request(
        NSManagedObject.self, "Writer", NSPredicate(format: "age == 3"))
      let served: [FetchExplanation] = try request.explain(in: context)
      #expect(served.first?.hints == [])
      request.predicate = NSPredicate(format: "nick == 'x'")
      let scanning: [FetchExplanation] = try request.explain(in: context)
      #expect(scanning.first?.hints.first?.contains("nick") == true)
    }
  }

  // MARK: Asynchronous fetches

  @Test(arguments: StoreKind.fetchingRows)
  func `an asynchronous fetch loads in steps, and ends when it is cancelled`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      for number in 0..<2500 { _ = context.item("\(number)") }
      try context.save()
    }
    try stack.elsewhere { context in
      let request = NSAsynchronousFetchRequest<Item>(fetchRequest: context.request(Item.self, "Item"))
      let whole = NSAsynchronousFetchResult(request, context: context)
      try whole.fillInSteps(request.fetchRequest)
      #expect(whole.finalResult?.count == 2500 && whole.progress?.isFinished == true)
      #expect(whole.progress?.totalUnitCount == 2500 && context.statistics.statements == 4)
    }
    try stack.elsewhere { context in
      // A block is evaluated over the objects: it cancels while the ids are filtered.
      let request = NSAsynchronousFetchRequest<Item>(fetchRequest: context.request(Item.self, "Item"))
      let result = NSAsynchronousFetchResult(request, context: context)
      request.fetchRequest.predicate = NSPredicate { _, _ in
        result.cancel()
        return true
      }
      let error: NSError? = errorThrown { try result.fillInSteps(request.fetchRequest) }
      #expect(error?.code == NSUserCancelledError && result.finalResult == nil)
      #expect(context.tally.isCancelled == nil)
    }
  }

  @Test func `a cancellation stops a statement that is running`() throws {
    let stack: Stack = try ReadAheadTests.filled(.sqlite, 400)
    try stack.run { context in
      var asked: Int = 0
      context.tally.isCancelled = {
        asked += 1
        return asked > 2
      }
      defer { context.tally.isCancelled = nil }
      let request: NSFetchRequest<Item> = context.request(
        Item.self, "Item",
        NSPredicate(format: "tags.@count > 5 OR ANY tags.items.category.items.tags.name MATCHES 'no.*'"))
      _ = try? context.fetch(request)
      #expect(asked > 0)
      context.tally.isCancelled = nil
      let found: [Item] = try context.fetch(request)
      #expect(found.isEmpty)
    }
  }
}
