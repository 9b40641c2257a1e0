import CoreData
import Foundation
import StackSupport
import Testing

/// Where a signature can't throw, a mistake stops with what is wrong and what to do.
@Suite(.serialized)
struct TrapTests {
  private static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  private func check(
    _ result: ExitTest.Result?, _ parts: [String], location: SourceLocation = #_sourceLocation
  ) {
    for part in parts {
      #expect(Self.text(result).contains(part), "\(Self.text(result))", sourceLocation: location)
    }
  }

  @Test func `an unknown key`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { _ = $0.item("a").value(forKey: "titel") }
      }, ["Item", "titel", "title"])
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { $0.item("a").setValue(1, forKey: "titel") }
      }, ["Item", "titel", "title"])
  }

  @Test func `nil for a property that takes none, and a value that it can't be made of`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory, model: CustomAccessorTests.model).run {
          $0.make("Member").setValue(nil, forKey: "level")
        }
      }, ["level", "Member", "setNilValueForKey"])
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory, model: CustomAccessorTests.model).run {
          $0.make("Member").setValue([1], forKey: "nickname")
        }
      }, ["nickname", "String", "Array"])
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory, model: CustomAccessorTests.model).run {
          $0.make("Member").setValue("x", forKey: "initials")
        }
      }, ["initials", "no setter"])
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory, model: CustomAccessorTests.model).run {
          _ = $0.make("Member").value(forUndefinedKey: "lst")
        }
      }, ["lst", "last"])
  }

  @Test func `a mutable array of what is none`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { _ = $0.make("Category").mutableArrayValue(forKey: "items") }
      }, ["Category", "items", "mutableSetValue"])
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { _ = $0.item("a").mutableArrayValue(forKey: "title") }
      }, ["Item.title", "String"])
  }

  @Test func `an object of an abstract entity`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { _ = $0.make("Person") }
      }, ["Person", "abstract", "Employee"])
  }

  @Test func `an unknown entity`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { _ = $0.make("Itm") }
      }, ["Itm", "Item"])
  }

  @Test func `a place outside fetched results`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { context in
          _ = context.item("a")
          let results = NSFetchedResultsController(
            fetchRequest: context.request(Item.self, "Item", sort: ["title"]), managedObjectContext: context,
            sectionNameKeyPath: nil, cacheName: nil)
          try results.performFetch()
          _ = results.object(at: IndexPath(item: 1, section: 0))
        }
      }, ["[0, 1]", "sections have 1 objects"])
  }

  @Test func `a relationship between objects of two contexts`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let stack = try Stack(.inMemory)
        let category: Category = try stack.elsewhere { $0.category("c") }
        _ = category
        let other: NSManagedObjectContext = stack.other()
        let theirs: Category = other.category("theirs")
        try stack.run { $0.item("a").category = theirs }
        withExtendedLifetime(other) {}
      }, ["different contexts", "category", "object(with:"])
  }

  @Test func `a relationship of the wrong kind of value`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { $0.item("a").setValue("text", forKey: "category") }
      }, ["category", "String"])
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { $0.item("a").setValue(["text"], forKey: "tags") }
      }, ["tags", "String"])
  }

  @Test func `a relationship to an object of the wrong entity`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try Stack(.inMemory).run { $0.item("a").setValue($0.item("b"), forKey: "category") }
      }, ["category", "Category", "Item"])
  }

  @Test func `deleting in another context`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let stack = try Stack(.inMemory)
        try stack.run { context in
          let item: Item = context.item("a")
          stack.other().delete(item)
        }
      }, ["cannot delete objects in other contexts"])
  }

  @Test(
    .rule(
      "FAULT-8", "NSManagedObjectContext.shouldDeleteInaccessibleFaults", "with false the access fails hard"))
  func `a fault whose row is gone, when the context is told not to accept that`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let stack = try Stack(.inMemory)
        try stack.run { context in
          let item: Item = context.item("a")
          try context.save()
          context.refresh(item, mergeChanges: false)
          try stack.elsewhere { other in
            other.delete(try other.existingObject(with: item.objectID))
            try other.save()
          }
          context.shouldDeleteInaccessibleFaults = false
          _ = item.title
        }
      }, ["could not fulfill a fault", "existingObject(with:)"])
  }

  @Test(.rule("STORE-1", "NSManagedObjectModel")) func `a model that is in use can't be changed`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let stack = try Stack(.inMemory)
        stack.coordinator.managedObjectModel.entitiesByName["Item"]?.name = "Thing"
      }, ["copy"])
  }

  @Test(.rule("LIFE-17", "NSManagedObject.init(context:)")) func `a class without entity in the model`() async
  {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = NSPersistentStoreCoordinator(
          managedObjectModel: NSManagedObjectModel())
        _ = Item(context: context)
      }, ["Item", "class"])
  }
}
