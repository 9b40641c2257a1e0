import CoreData
import CoreDataPredicates
import CoreDataStorage
import Foundation
import StackSupport
import Testing

@testable import CoreDataGraph

/// Each stage of a fetch, called on values.
@Suite struct FetchStageTests {
  private func request(_ entity: String, _ predicate: NSPredicate? = nil) -> FetchParameters {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    return FetchParameters(request)
  }

  private func runtime(_ name: String, _ stack: Stack) throws -> EntityRuntime {
    try #require(stack.coordinator.runtime.runtime(named: name))
  }

  // MARK: Validate

  /// A predicate that is sound, and one of its shape, or near it, that may not be.
  static let judged: [(format: String, good: any Sendable, other: any Sendable, isSound: Bool)] = [
    ("title == %@", "a", "b", true), ("title MATCHES %@", "a.*", "(", false),
    ("title LIKE %@", "a*", "", true),
    ("count == %@", 1, 2, true), ("count == %@", 1, "x", false), ("count == %@", 1, Date(), true),
    ("count > %@", 1, Date(), false), ("due > %@", Date(), Date(), true),
    ("due == %@", Date(), "tomorrow", false),
    ("title > %@", "a", 1, false), ("title CONTAINS[cd] %@", "a", "", true),
  ]

  @Test(arguments: judged.indices)
  func `a shape that was found sound lets no mistake pass`(_ place: Int) throws {
    let stack = try Stack(.inMemory, model: World.model())
    let item: EntityRuntime = try runtime("Item", stack)
    let (format, good, other, isSound) = Self.judged[place]
    for _ in 1...2 {
      let parameters = request("Item", NSPredicate(format: format, good))
      _ = try #require(try parameters.validated(for: item, comparesExactly: true))
    }
    let parameters = request("Item", NSPredicate(format: format, other))
    #expect(((try? parameters.validated(for: item, comparesExactly: true)) != nil) == isSound)
  }

  @Test func `a shape is checked once`() throws {
    let stack = try Stack(.inMemory, model: World.model())
    let item: EntityRuntime = try runtime("Item", stack)
    for number in 1...3 {
      let validated: ValidatedPredicate = try #require(
        try request("Item", NSPredicate(format: "count == %d AND title == %@", number, "t\(number)"))
          .validated(for: item, comparesExactly: false))
      #expect(validated.shape?.parameters == [.integer(Int64(number)), .string("t\(number)")])
    }
    #expect(item.validatedShapes.count == 1)
    for number in 1...ValidatedShapes.capacity + 5 {
      let format: String = "count + \(number) == 1"
      _ = try request("Item", NSPredicate(format: format)).validated(for: item, comparesExactly: false)
    }
    #expect(item.validatedShapes.count <= ValidatedShapes.capacity)
  }

  @Test(arguments: [
    "TERNARY(count > 1, title, 'a') == 'b'", "count == 12345678901234567890.5", "title MATCHES 'a'",
  ])
  func `what is judged or rewritten by value is not kept`(_ format: String) throws {
    let stack = try Stack(.inMemory, model: World.model())
    let item: EntityRuntime = try runtime("Item", stack)
    let argument = NSDecimalNumber(string: "12345678901234567890.123456789")
    for _ in 1...2 {
      let validated: ValidatedPredicate? = try request(
        "Item", NSPredicate(format: "\(format) AND price < %@", argument)
      ).validated(for: item, comparesExactly: false)
      #expect(validated != nil && validated?.shape == nil)
    }
  }

  // MARK: Resolve

  @Test func `an entity is resolved by name, an unknown one is an error`() throws {
    let stack = try Stack(.inMemory)
    #expect(try request("Item").runtime(in: stack.coordinator.runtime).layout.name == "Item")
    #expect(throws: GraphError.self) { try request("Itme").runtime(in: stack.coordinator.runtime) }
  }

  // MARK: Bind

  @Test func `objects become references to rows of their store`() throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      let saved: NSManagedObject = context.make("Category")
      try context.save()
      let unsaved: NSManagedObject = context.make("Category")
      func reference(_ object: NSManagedObject) -> RowID? {
        guard case .object(let box) = FetchParameters.close(.object(ObjectBox(object)), store: stack.store)
        else {
          return nil
        }
        return (box.value as? ObjectReference)?.id
      }
      #expect(reference(saved)?.key == saved.key)
      #expect(reference(unsaved) == nil)
    }
  }

  // MARK: Split

  @Test func `what is refused is left to the context, the rest to stores`() throws {
    let predicate: PredicateNode = try Parser.predicate("a == 1 AND (b == 2 AND NOT (c == 3 OR d == 4))")
    let split: ResidualPredicate? = ResidualPredicate.split(predicate) { conjunct in
      ["b", "d"].contains { conjunct.keyPaths == [$0] } ? .init(part: "x", reason: "y") : nil
    }
    #expect(try split?.stored == Parser.predicate("a == 1 AND NOT c == 3"))
    #expect(try split?.evaluated == Parser.predicate("b == 2 AND NOT d == 4"))
    #expect(split?.explanation.count == 2)
    #expect(ResidualPredicate.split(predicate) { _ in nil } == nil)
    #expect(ResidualPredicate.split(nil) { _ in .init(part: "x", reason: "y") } == nil)
  }

  // MARK: Plan

  @Test func `a store gets limit and offset only where it alone decides`() throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      let parameters: FetchParameters = request("Item", NSPredicate(format: "count == %d", 7))
      (parameters.limit, parameters.offset) = (3, 4)
      let alone: FetchPlan = try ResolvedFetch(parameters, context: context).plan(for: stack.store)
      #expect((alone.limit, alone.offset) == (3, 4))
      #expect(alone.predicate.map(Printer.print) == "count == 7")
      _ = context.make("Item")
      let pending: FetchPlan = try ResolvedFetch(parameters, context: context).plan(for: stack.store)
      #expect((pending.limit, pending.offset) == (7, 0))
    }
  }

  // MARK: Merge, order

  @Test func `pending objects that match keep the places that the store gave them, new ones follow`() throws {
    let stack = try Stack(.inMemory)
    try stack.run { context in
      let all: [NSManagedObject] = (0..<5).map { _ in context.make("Item") }
      try context.save()
      let new: NSManagedObject = context.make("Item")
      context.delete(all[3])
      let order = PersistedValueOrder([], in: context)
      let merged: [NSManagedObject] = try PendingMerge.merged(
        Array(all[0...3]), with: [all[1], all[2], all[3], all[4], new], in: order
      ) { $0 !== all[2] }
      #expect(merged.map(\.objectID) == [all[0], all[1], all[4], new].map(\.objectID))
      #expect(try PendingMerge.merged(all, with: [], in: order) { _ in false }.count == 5)
      let item: ClosedRange<Int> = try runtime("Item", stack).layout.family
      let tag: ClosedRange<Int> = try runtime("Tag", stack).layout.family
      #expect(
        PendingMerge.concerned(inserted: [new], updated: [], deleted: [all[3]], entities: item).count == 2)
      #expect(PendingMerge.concerned(inserted: [new], updated: [], deleted: [], entities: tag).isEmpty)
    }
  }

  @Test(arguments: [
    (0, 0, [1, 2, 3, 4]), (0, 1, [2, 3, 4]), (2, 0, [1, 2]), (2, 3, [4]), (1, 9, []), (9, 0, [1, 2, 3, 4]),
  ])
  func `a page is what limit and offset leave`(_ limit: Int, _ offset: Int, _ expected: [Int]) {
    let parameters: FetchParameters = request("Item")
    (parameters.limit, parameters.offset) = (limit, offset)
    #expect(parameters.page(of: [1, 2, 3, 4]) == expected)
  }

  @Test func `a child context's fetch goes through the same stages`() throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      for number in 1...4 { context.make("Item").setValue(number, forKey: "count") }
      try context.save()
      context.make("Item").setValue(5, forKey: "count")
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = stack.context
    try child.performAndWait {
      child.make("Item").setValue(6, forKey: "count")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "count > %d", 2)
      request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
      request.fetchLimit = 3
      let counts: [Int?] = try child.fetch(request).map { $0.value(forKey: "count") as? Int }
      #expect(counts == [6, 5, 4])
    }
  }
}
