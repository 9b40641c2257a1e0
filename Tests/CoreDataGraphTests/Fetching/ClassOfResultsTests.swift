import CoreData
import Foundation
import StackSupport
import Testing

/// A result is never given as a class that its objects are not of: they would be read as that class.
@Suite
struct ClassOfResultsTests {
  /// Animal ← Dog (a subclass of Animal's class), Animal ← Robot (a class of its own); Rock, without a class.
  private static let model: NSManagedObjectModel = {
    func entity(_ name: String, _ type: AnyClass) -> NSEntityDescription {
      let entity = World.entity(name, [])
      entity.managedObjectClassName = NSStringFromClass(type)
      return entity
    }
    let animal = entity("Animal", TestAnimal.self)
    animal.properties = [World.attribute("name", .stringAttributeType)]
    animal.subentities = [entity("Dog", TestDog.self), entity("Robot", TestRobot.self)]
    let rock = entity("Rock", NSManagedObject.self)
    rock.properties = [World.attribute("name", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [animal, rock] + animal.subentities
    return model
  }()

  /// How a program asks for objects.
  enum Way: CaseIterable {
    case fetch, batches, collection, block

    func objects<T: NSManagedObject>(_ type: T.Type, _ entity: String, _ context: NSManagedObjectContext)
      throws -> [T]
    {
      let request: NSFetchRequest<T> = context.request(type, entity, sort: ["name"])
      switch self {
      case .fetch: return try context.fetch(request)
      case .batches:
        request.fetchBatchSize = 2
        return try context.fetch(request)
      case .collection: return try context.results(of: request).page(0..<context.count(for: request))
      case .block: return try request.execute()
      }
    }
  }

  private func filled(_ kind: StoreKind, _ entity: String, _ count: Int) throws -> Stack {
    let stack = try Stack(kind, model: Self.model)
    try stack.elsewhere { context in
      for number in 0..<count { _ = context.make(entity, ["name": String(1000 + number)]) }
      try context.save()
    }
    return stack
  }

  // Finding: such a request had to be given a type here, and a public library did not compile for it.
  @Test func `a request is counted whose result type nothing tells`() throws {
    let context: NSManagedObjectContext = try filled(.inMemory, "Rock", 3).context
    func request<Result>() -> NSFetchRequest<Result> { NSFetchRequest(entityName: "Rock") }
    #expect(try context.count(for: request()) == 3)
    let untyped: NSFetchRequest<NSFetchRequestResult> = request()
    #expect(try context.count(for: untyped) == 3)
  }

  private func refused(_ names: [String], _ body: () throws -> Void) {
    let message: String = errorThrown(body)?.localizedDescription ?? "no error"
    for name in names { #expect(message.contains(name), "\(message)") }
  }

  @Test(arguments: [StoreKind.inMemory, .sqlite, .incremental], [0, 3, 40])
  func `objects of an unrelated class are refused, with both classes and the entity`(
    kind: StoreKind, count: Int
  ) throws {
    let stack: Stack = try filled(kind, "Dog", count)
    try stack.run { context in
      for way in Way.allCases {
        refused(["entity Dog", "TestDog", "TestRobot"]) {
          _ = try way.objects(TestRobot.self, "Dog", context)
        }
        let dogs: [TestDog] = try way.objects(TestDog.self, "Dog", context)
        #expect(dogs.count == count && dogs.allSatisfy { $0.tricks == ["sit"] })
        #expect(try way.objects(TestAnimal.self, "Dog", context).count == count)
        #expect(try way.objects(NSManagedObject.self, "Dog", context).count == count)
      }
    }
  }

  @Test(arguments: [3, 40])
  func `what a sub-entity has of another class than its parent is refused`(count: Int) throws {
    let stack: Stack = try filled(.sqlite, "Dog", count)
    try stack.elsewhere { context in
      for way in Way.allCases {
        let animals: [TestAnimal] = try way.objects(TestAnimal.self, "Animal", context)
        #expect(animals.count == count)
        #expect(try way.objects(TestDog.self, "Animal", context) == animals)
      }
    }
    try stack.run { context in
      _ = context.make("Robot", ["name": "9999"])
      try context.save()
    }
    try stack.elsewhere { context in
      for way in Way.allCases {
        refused(["entity Robot", "TestRobot", "as TestAnimal"]) {
          _ = try way.objects(TestAnimal.self, "Animal", context)
        }
        refused(["entity Robot", "TestRobot", "as TestDog"]) {
          _ = try way.objects(TestDog.self, "Animal", context)
        }
        let all: [NSManagedObject] = try way.objects(NSManagedObject.self, "Animal", context)
        #expect(all.count == count + 1)
      }
    }
  }

  @Test(arguments: [3, 40], [true, false])
  func `an object that was made as a plain one is refused where its context gives it`(
    count: Int, isSaved: Bool
  ) throws {
    let stack: Stack = try filled(.sqlite, "Dog", count)
    try stack.run { context in
      let before: FetchedObjects<TestDog> = try context.results(
        of: context.request(TestDog.self, "Dog", sort: ["name"]))
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Dog", in: context))
      let plain = NSManagedObject(entity: entity, insertInto: context)
      plain.setValue("1001b", forKey: "name")
      if isSaved { try context.save() }
      for way in Way.allCases {
        refused(["entity Dog", "(class NSManagedObject)", "as TestDog", "TestDog(context:)"]) {
          _ = try way.objects(TestDog.self, "Dog", context)
        }
        #expect(try way.objects(NSManagedObject.self, "Dog", context).contains { $0 === plain })
      }
      // It is none of these.
      #expect(try before.page(0..<count).allSatisfy { $0.tricks == ["sit"] })
    }
    try stack.elsewhere { context in
      let dogs: [TestDog] = try context.all(TestDog.self, "Dog")
      #expect(dogs.count == count + (isSaved ? 1 : 0) && dogs.allSatisfy { $0.tricks == ["sit"] })
    }
  }

  @Test(arguments: [3, 40])
  func `objects of a subclass that the entity does not name are given as its class`(count: Int) throws {
    let stack: Stack = try filled(.sqlite, "Dog", count)
    try stack.run { context in
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Dog", in: context))
      let puppy = TestPuppy(entity: entity, insertInto: context)
      puppy.setValue("0000", forKey: "name")
      #expect(try context.all(TestDog.self, "Dog", sort: ["name"]).first === puppy)
      // The first is of that class, the others of their entity's.
      refused(["entity Dog", "TestDog", "TestPuppy"]) {
        _ = try context.all(TestPuppy.self, "Dog", sort: ["name"])
      }
      let own = NSPredicate(format: "name == '0000'")
      #expect(try context.all(TestPuppy.self, "Dog", own) == [puppy])
      let rock = try #require(NSEntityDescription.entity(forEntityName: "Rock", in: context))
      _ = TestRobot(entity: rock, insertInto: context)
      #expect(try context.all(TestRobot.self, "Rock").count == 1)
    }
  }

  @Test func `an asynchronous fetch of another class ends with the error`() async throws {
    let stack: Stack = try filled(.sqlite, "Dog", 40)
    let request: NSFetchRequest<TestRobot> = stack.context.request(TestRobot.self, "Dog")
    let message: String = await withCheckedContinuation { continuation in
      stack.context.performAndWait {
        let asked = NSAsynchronousFetchRequest(fetchRequest: request) { result in
          continuation.resume(returning: result.operationError?.localizedDescription ?? "no error")
        }
        do { _ = try stack.context.execute(asked) } catch { continuation.resume(returning: "\(error)") }
      }
    }
    for part in ["TestDog", "TestRobot"] { #expect(message.contains(part), "\(message)") }
  }

  @Test(arguments: [
    NSFetchRequestResultType.managedObjectIDResultType, .countResultType, .dictionaryResultType,
  ])
  func `results that are no objects are not given as objects`(type: NSFetchRequestResultType) throws {
    let stack: Stack = try filled(.sqlite, "Dog", 3)
    try stack.run { context in
      let request: NSFetchRequest<TestDog> = context.request(TestDog.self, "Dog")
      request.resultType = type
      refused(["TestDog", "resultType"]) { _ = try context.fetch(request) }
      let objects: NSFetchRequest<NSDictionary> = context.request(NSDictionary.self, "Dog")
      refused(["TestDog", "NSDictionary"]) { _ = try context.fetch(objects) }
    }
  }
}

class TestAnimal: NSManagedObject {}

/// A class with storage and methods of its own: of another object they would be what lies behind it.
class TestDog: TestAnimal {
  var tricks: [String] = ["sit"]
}

class TestPuppy: TestDog {
  var toys: [String] = ["ball"]
}

class TestRobot: NSManagedObject {
  var parts: [Int] = [1, 2, 3]
}
