import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// An unsorted fetch over entities that share a table has the same objects in the same order, however it is
/// read: random objects, saved and unsaved, and random requests. Seeds are printed.
@Suite
struct UnsortedFetchLawTests {
  @Test(arguments: StoreKind.every, [false, true])
  func `an unsorted fetch has the same order as an array, a batched array, a collection, ids and walks`(
    kind: StoreKind, isChild: Bool
  ) async throws {
    for _ in 0..<(Soak.isOn ? 20 : 2) {
      let seed: UInt64 = Seed.given ?? .random(in: 0..<1_000_000)
      print("UnsortedFetchLawTests \(kind) \(isChild) seed \(seed)")
      try await UnsortedFetchLaw(kind, isChild: isChild, seed: seed).run()
    }
  }

  @Test(arguments: StoreKind.every)
  func `unsaved objects of sub-entities have the places that they have after a save`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for name in ["Manager", "Employee", "Manager"] { _ = context.make(name, ["name": "a"]) }
      try context.save()
      let unsaved: [NSManagedObject] = ["Employee", "Manager", "Employee"].map {
        context.make($0, ["name": "b"])
      }
      for batch in [0, 2] {
        let request: NSFetchRequest<NSManagedObject> = context.request(NSManagedObject.self, "Person")
        request.fetchBatchSize = batch
        #expect(try context.fetch(request).suffix(3).elementsEqual(unsaved, by: ===), "batch \(batch)")
      }
    }
  }
}

private final class UnsortedFetchLaw: @unchecked Sendable {
  // Sendable: its tasks run one after another.
  private var random: SeededRandom
  private let stack: Stack
  private let context: NSManagedObjectContext
  private let seed: UInt64
  private let entities: [String] = ["Employee", "Manager"]

  init(_ kind: StoreKind, isChild: Bool, seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    self.seed = seed
    stack = try Stack(kind)
    context = isChild ? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) : stack.other()
    if isChild { context.parent = stack.context }
  }

  private func next(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private func name() -> String { "n\(next(6))" }

  func run() async throws {
    try stack.elsewhere { context in
      for _ in 0..<40 { make(in: context) }
      try context.save()
    }
    for round in 0..<2 {
      for _ in 0..<6 {
        let request: NSFetchRequest<NSManagedObject> = makeRequest()
        try await check(request, "seed \(seed), round \(round), \(describe(request))")
      }
      if let parent = context.parent { try parent.performAndWait { try change(in: parent) } }
      try context.performAndWait { try change(in: context) }
    }
  }

  private func make(in context: NSManagedObjectContext) {
    _ = context.make(entities[next(2)], ["name": name(), "salary": next(5)])
  }

  private func change(in context: NSManagedObjectContext) throws {
    let all: [NSManagedObject] = try context.all(NSManagedObject.self, "Person", sort: ["name"])
    for _ in 0..<6 {
      let object: NSManagedObject = all[next(all.count)]
      switch next(3) {
      case 0: make(in: context)
      case 1: context.delete(object)
      default: if !object.isDeleted { object.setValue(name(), forKey: "name") }
      }
    }
  }

  private func makeRequest() -> NSFetchRequest<NSManagedObject> {
    let predicates: [String?] = [
      nil, nil, "name >= 'n2'", "spouse == nil", "friends.@count == 0", "name MATCHES 'n[0-3]'",
    ]
    let request: NSFetchRequest<NSManagedObject> = context.request(
      NSManagedObject.self, ["Person", "Person", "Employee", "Manager"][next(4)],
      predicates[next(predicates.count)].map { NSPredicate(format: $0) })
    request.includesSubentities = next(5) > 0
    request.includesPendingChanges = next(5) > 0
    if next(2) == 0 { request.fetchLimit = 1 + next(20) }
    if next(3) == 0 { request.fetchOffset = next(10) }
    return request
  }

  private func describe(_ request: NSFetchRequest<NSManagedObject>) -> String {
    "\(request.entityName ?? "") \(request.predicate.map { "\($0)" } ?? "all"), limit \(request.fetchLimit), "
      + "offset \(request.fetchOffset), sub-entities \(request.includesSubentities), "
      + "pending \(request.includesPendingChanges)"
  }

  private func check(_ request: NSFetchRequest<NSManagedObject>, _ what: String) async throws {
    let size: Int = 1 + next(9)
    nonisolated(unsafe) let request = request
    let expected: [NSManagedObjectID] = try context.performAndWait {
      let array: [NSManagedObjectID] = try context.fetch(request).map(\.objectID)
      let ids = NSFetchRequest<NSManagedObjectID>(request)
      ids.resultType = .managedObjectIDResultType
      #expect(try context.fetch(ids) == array, "ids, \(what)")
      request.fetchBatchSize = size
      #expect(try context.fetch(request).map(\.objectID) == array, "batches of \(size), \(what)")
      let lazy: FetchedObjects<NSManagedObject> = try context.results(of: request)
      #expect(lazy.map(\.objectID) == array, "collection, \(what)")
      var paged: [NSManagedObjectID] = []
      try lazy.forEachPage { paged += $0.map(\.objectID) }
      #expect(paged == array, "pages, \(what)")
      request.returnsObjectsAsFaults = false
      #expect(try context.fetch(request).map(\.objectID) == array, "loaded, \(what)")
      request.includesPropertyValues = false
      #expect(try context.fetch(request).map(\.objectID) == array, "without values, \(what)")
      return array
    }
    var walked: [NSManagedObjectID] = []
    for try await id in context.walk(request, batchSize: size, transform: { $0.objectID }) {
      walked.append(id)
    }
    #expect(walked == expected, "walk, \(what)")
  }
}
