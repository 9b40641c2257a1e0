import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// A fetch over unsaved changes finds what it finds when they are saved, and the lazy collection, the count,
/// the ids and the pages agree with the array: random changes, random requests. Seeds are printed.
@Suite
struct FetchLawTests {
  @Test(arguments: StoreKind.allCases, [0, 1, 2])
  func `fetching with unsaved changes is saving and fetching`(kind: StoreKind, levels: Int) throws {
    for _ in 0..<(Soak.isOn ? 20 : 2) {
      let seed: UInt64 = Seed.given ?? .random(in: 0..<1_000_000)
      print("FetchLawTests \(kind) \(levels) seed \(seed)")
      try FetchLaw(kind, levels: levels, seed: seed).run(rounds: Soak.isOn ? 12 : 4)
    }
  }
}

private final class FetchLaw {
  private var random: SeededRandom
  private let stack: Stack
  /// The contexts from the root down; the last one fetches.
  private let contexts: [NSManagedObjectContext]
  private let seed: UInt64
  private var made: Int = 0

  private var context: NSManagedObjectContext { contexts[contexts.count - 1] }

  init(_ kind: StoreKind, levels: Int, seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    self.seed = seed
    stack = try Stack(kind)
    var contexts: [NSManagedObjectContext] = [stack.other()]
    for level in 0..<levels {
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = contexts[level]
      contexts.append(child)
    }
    self.contexts = contexts
  }

  func run(rounds: Int) throws {
    try stack.elsewhere { context in
      let categories: [Category] = ["c0", "c1", "c2"].map { context.category($0) }
      for _ in 0..<60 { make(in: context, categories) }
      try context.save()
    }
    for round in 0..<rounds {
      // Each level has changes of its own, from the root down.
      for context in contexts { try context.performAndWait { try change(in: context) } }
      let requests: [NSFetchRequest<Item>] = (0..<12).map { _ in request() }
      let before: [[String]] = try requests.map { try results($0, "unsaved, round \(round)") }
      for context in contexts.reversed() { try context.performAndWait { try context.save() } }
      for (request, before) in zip(requests, before) {
        let after: [String] = try results(request, "saved, round \(round)")
        #expect(before == after, "seed \(seed), round \(round): \(describe(request))")
      }
      if next(2) == 0 { for context in contexts { context.performAndWait { context.reset() } } }
    }
  }

  private func next(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  // MARK: Changes

  private func make(in context: NSManagedObjectContext, _ categories: [Category]) {
    made += 1
    let item: Item = context.item(String(format: "i%04d", made * 37 % 9973))
    set(item, categories)
  }

  private func set(_ item: Item, _ categories: [Category]) {
    item.count = Int64(next(6))
    item.price = Double(next(4))
    item.done = next(2) == 0
    item.category = next(4) == 0 ? nil : categories[next(categories.count)]
  }

  private func change(in context: NSManagedObjectContext) throws {
    let categories: [Category] = try context.all(Category.self, "Category", sort: ["name"])
    let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
    for _ in 0..<next(8) { make(in: context, categories) }
    for _ in 0..<next(12) {
      let item: Item = items[next(items.count)]
      switch next(4) {
      case 0: if items.count > 20 { context.delete(item) }
      case 1: if !item.isDeleted { item.count = Int64(next(6)) }
      default: if !item.isDeleted { set(item, categories) }
      }
    }
    if next(2) == 0 { context.processPendingChanges() }
  }

  // MARK: Requests

  private func request() -> NSFetchRequest<Item> {
    let predicates: [String?] = [
      nil, "count >= 2", "count IN {1, 3, 5} AND price < 3", "category.name == 'c1'", "category == nil",
      "done == YES OR count == 0", "title ENDSWITH '1' OR title BEGINSWITH 'i0'",
      "NOT (category.name == 'c2')",
      "category.name MATCHES 'c[01]' AND count != 3", "category.name != nil AND price > 0",
    ]
    let orders: [[String]] = [
      ["title"], ["-title"], ["count", "title"], ["-price", "-title"], ["category.name", "title"],
      ["done", "-count", "title"],
    ]
    let request: NSFetchRequest<Item> = context.request(
      Item.self, "Item", predicates[next(predicates.count)].map { NSPredicate(format: $0) },
      sort: orders[next(orders.count)])
    if next(2) == 0 { request.fetchLimit = next(30) }
    if next(3) == 0 { request.fetchOffset = next(30) }
    if next(2) == 0 { request.fetchBatchSize = 1 + next(20) }
    if next(4) == 0 { request.returnsObjectsAsFaults = false }
    if next(4) == 0 { request.relationshipKeyPathsForPrefetching = ["category", "tags"] }
    return request
  }

  private func describe(_ request: NSFetchRequest<Item>) -> String {
    let order: String = (request.sortDescriptors ?? []).map { "\($0.key ?? "") \($0.ascending)" }
      .joined(separator: ", ")
    return
      "\(request.predicate.map { "\($0)" } ?? "all") by \(order), limit \(request.fetchLimit), "
      + "offset \(request.fetchOffset), batch \(request.fetchBatchSize)"
  }

  /// The titles that the request finds, by every way there is; all must agree.
  private func results(_ request: NSFetchRequest<Item>, _ when: String) throws -> [String] {
    try context.performAndWait {
      let lazy: FetchedObjects<Item> = try context.results(of: request)
      let count: Int = try context.count(for: request)
      let ids = NSFetchRequest<NSManagedObjectID>(request)
      ids.resultType = .managedObjectIDResultType
      let found: [NSManagedObjectID] = try context.fetch(ids)
      let array: [Item] = try context.fetch(request)
      let what: String = "seed \(seed), \(when): \(describe(request))"
      #expect(lazy.elementsEqual(array, by: ===), "\(what)")
      #expect(lazy.count == array.count && count == array.count, "\(what): \(count)")
      #expect(found == array.map(\.objectID), "\(what)")
      var paged: [Item] = []
      try lazy.forEachPage { paged += $0 }
      #expect(paged.elementsEqual(array, by: ===), "\(what)")
      return array.map { $0.title ?? "" }
    }
  }
}
