import CoreData
import Foundation
import StackSupport
import Testing

/// Two stacks in one process whose models have an entity of the same name and class.
@Suite
struct TwoModelsTests {
  /// An entity `Guestbook` beside others, so that it has another place in each model.
  private static func model(_ version: String, before others: [String], _ attributes: [String])
    -> NSManagedObjectModel
  {
    let book = World.entity("Guestbook", attributes.map { World.attribute($0, .stringAttributeType) })
    let model = NSManagedObjectModel()
    model.entities = others.map { World.entity($0, [World.attribute("x", .stringAttributeType)]) } + [book]
    model.versionIdentifiers = [version]
    return model
  }

  private static func stacks(
    _ kind: StoreKind, _ left: [String] = ["title"], _ right: [String] = ["title", "colour"]
  ) throws -> (Stack, Stack) {
    (
      try Stack(kind, model: model("left", before: ["Aardvark", "Zebra"], left)),
      try Stack(kind, model: model("right", before: [], right))
    )
  }

  @Test(arguments: StoreKind.allCases)
  func `every context makes and fetches objects of its own model`(kind: StoreKind) throws {
    let (left, right) = try Self.stacks(kind)
    for stack in [left, right, left] {
      try stack.run { context in
        let book = Guestbook(context: context)
        #expect(book.entity === stack.coordinator.managedObjectModel.entitiesByName["Guestbook"])
        book.title = "made"
        if stack === right { book.setValue("red", forKey: "colour") }
        try context.save()
        #expect(Guestbook.entity() === book.entity, "in a block of the context")
        let request = Guestbook.fetchRequest()
        #expect(try context.fetch(request).count == stack.count("Guestbook"))
        let made = Guestbook(entity: Guestbook.entity(), insertInto: context)
        #expect(made.entity === book.entity)
        context.delete(made)
      }
    }
    #expect(try left.count("Guestbook") == 2)
    #expect(try right.count("Guestbook") == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `a description of a model that says the same is taken for the context's own`(kind: StoreKind) throws {
    let (left, right) = try Self.stacks(kind, ["title"], ["title"])
    let foreign = try #require(right.coordinator.managedObjectModel.entitiesByName["Guestbook"])
    try left.run { context in
      let book = Guestbook(entity: foreign, insertInto: context)
      book.title = "a"
      #expect(book.entity === left.coordinator.managedObjectModel.entitiesByName["Guestbook"])
      try context.save()
    }
    let titles: [String?] = try left.elsewhere { context in
      try context.all(Guestbook.self, "Guestbook").map(\.title)
    }
    #expect(titles == ["a"])
    #expect(try left.count("Zebra") == 0)
  }

  /// A context that knows no coordinator yet, or a parent that doesn't.
  @Test(arguments: StoreKind.allCases, [false, true])
  func `objects inserted before there is a coordinator become its model's`(kind: StoreKind, isChild: Bool)
    throws
  {
    let (left, right) = try Self.stacks(kind, ["title"], ["title"])
    let foreign = try #require(right.coordinator.managedObjectModel.entitiesByName["Guestbook"])
    let own = try #require(left.coordinator.managedObjectModel.entitiesByName["Guestbook"])
    let root = NSManagedObjectContext(.privateQueue)
    let context: NSManagedObjectContext = isChild ? NSManagedObjectContext(.privateQueue) : root
    if isChild { context.parent = root }
    let book: NSManagedObjectID = context.performAndWait {
      let book = Guestbook(entity: foreign, insertInto: context)
      book.title = "early"
      return book.objectID
    }
    root.persistentStoreCoordinator = left.coordinator
    try context.performAndWait {
      let found = try #require(context.insertedObjects.first as? Guestbook)
      #expect(found.entity === own)
      #expect(found.objectID == book)
      #expect(context.object(with: found.objectID) === found)
      try context.save()
    }
    if isChild { try root.performAndWait { try root.save() } }
    let titles: [String?] = try left.elsewhere { context in
      try context.all(Guestbook.self, "Guestbook").map(\.title)
    }
    #expect(titles == ["early"])
    #expect(try left.count("Aardvark") == 0)
    #expect(try left.count("Zebra") == 0)
  }

  @Test(arguments: StoreKind.allCases)
  func `an object made by a like description without a context can be inserted`(kind: StoreKind) throws {
    let (left, right) = try Self.stacks(kind, ["title"], ["title"])
    let foreign = try #require(right.coordinator.managedObjectModel.entitiesByName["Guestbook"])
    try left.run { context in
      let book = Guestbook(entity: foreign, insertInto: nil)
      book.title = "late"
      context.insert(book)
      #expect(book.entity === left.coordinator.managedObjectModel.entitiesByName["Guestbook"])
      #expect(book.title == "late")
      try context.save()
    }
    let titles: [String?] = try left.elsewhere { context in
      try context.all(Guestbook.self, "Guestbook").map(\.title)
    }
    #expect(titles == ["late"])
  }

  @Test func `a coordinator of another model stops for objects that are there already`() async {
    for text in [
      Self.text(
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          let (left, right) = try TwoModelsTests.stacks(.inMemory)
          let context = NSManagedObjectContext(.privateQueue)
          let foreign = right.coordinator.managedObjectModel.entitiesByName["Guestbook"]
          context.performAndWait { if let foreign { _ = Guestbook(entity: foreign, insertInto: context) } }
          context.persistentStoreCoordinator = left.coordinator
        }),
      Self.text(
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          let (left, right) = try TwoModelsTests.stacks(.inMemory)
          let context = NSManagedObjectContext(.privateQueue)
          let foreign = right.coordinator.managedObjectModel.entitiesByName["Guestbook"]
          context.performAndWait { if let foreign { _ = Guestbook(entity: foreign, insertInto: context) } }
          context.parent = left.context
        }),
    ] {
      for part in ["Guestbook", "another model", "reset()"] { #expect(text.contains(part), "\(text)") }
    }
  }

  private static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func `the class alone is ambiguous: told once, with both models`() async {
    let differing: String = Self.text(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let (left, right) = try TwoModelsTests.stacks(.inMemory)
        for _ in 0..<3 {
          guard Guestbook.entity() === right.coordinator.managedObjectModel.entitiesByName["Guestbook"] else {
            exit(1)
          }
        }
        _ = left
      })
    #expect(differing.components(separatedBy: "Guestbook.entity()").count == 2, "\(differing)")
    for part in ["'left'", "'right'", "colour", "title"] { #expect(differing.contains(part), "\(differing)") }
    let harmless: String = Self.text(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let (left, right) = try TwoModelsTests.stacks(.inMemory)
        // By name, and in a block.
        _ = Guestbook.fetchRequest()
        try left.run { _ in _ = Guestbook.entity() }
        try right.run { _ in _ = Guestbook.entity() }
        let (one, two) = try TwoModelsTests.stacks(.inMemory, ["same"], ["same"])
        _ = (left, right, one, two)
      })
    #expect(!harmless.contains("Guestbook.entity()"), "\(harmless)")
  }

  @Test func `a description of a model that says otherwise stops`() async {
    let differing: String = Self.text(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let (left, right) = try TwoModelsTests.stacks(.inMemory)
        let foreign = right.coordinator.managedObjectModel.entitiesByName["Guestbook"]
        try left.run { context in
          if let foreign { _ = Guestbook(entity: foreign, insertInto: context) }
        }
      })
    for part in ["Guestbook", "describes it differently", "init(context:)"] {
      #expect(differing.contains(part), "\(differing)")
    }
    let late: String = Self.text(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let (left, right) = try TwoModelsTests.stacks(.inMemory)
        let foreign = right.coordinator.managedObjectModel.entitiesByName["Guestbook"]
        try left.run { context in
          if let foreign { context.insert(Guestbook(entity: foreign, insertInto: nil)) }
        }
      })
    for part in ["Guestbook", "another model"] { #expect(late.contains(part), "\(late)") }
  }
}

final class Guestbook: NSManagedObject {
  private static let titleKey = ManagedKey("title")
  var title: String? {
    get { managedValue(Self.titleKey) }
    set { setManagedValue(newValue, Self.titleKey) }
  }
}
