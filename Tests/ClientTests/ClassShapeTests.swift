import CoreData
import LenientClient
import Testing

/// Classes as programs for Apple's SDK write them: initialisers overridden, hidden, and of their own, generic
/// making and fetching.
@Suite
struct ClassShapeTests {
  static let model: NSManagedObjectModel = {
    let model = NSManagedObjectModel()
    model.entities = [Overriding.self, Hiding.self, OwnContext.self, Plain.self, PlainBelow.self].map {
      type in
      let entity = NSEntityDescription()
      entity.name = "\(type)"
      entity.managedObjectClassName = NSStringFromClass(type)
      let title = NSAttributeDescription()
      (title.name, title.attributeType, title.isOptional) = ("title", .stringAttributeType, true)
      if type != PlainBelow.self { entity.properties = [title] }
      return entity
    }
    model.entities[3].subentities = [model.entities[4]]
    return model
  }()

  private func context(_ store: String) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
    try coordinator.addPersistentStore(
      ofType: store, configurationName: nil,
      at: FileManager.default.temporaryDirectory.appendingPathComponent("shapes-\(UUID().uuidString).sqlite"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func make<Model: NSManagedObject>(_ type: Model.Type, _ context: NSManagedObjectContext) -> Model {
    Model(context: context)
  }

  private func makeByEntity<Model: NSManagedObject>(
    _ type: Model.Type, _ context: NSManagedObjectContext
  ) -> Model {
    Model(entity: Model.entity(), insertInto: context)
  }

  @Test(arguments: AccessorFormTests.stores) func `initialisers`(store: String) throws {
    let context: NSManagedObjectContext = try context(store)
    try context.performAndWait {
      #expect(Overriding(context: context).made == "overridden")
      #expect(make(Overriding.self, context).made == "overridden")
      #expect(makeByEntity(Overriding.self, context).made == "overridden")
      #expect(Hiding.make(context).made == "hidden")
      #expect(make(Hiding.self, context).made == "hidden")
      #expect(OwnContext(context: context).title == "by its own")
      #expect(OwnContext(title: "x", in: context).title == "x")
      #expect(
        type(of: Plain.makeAny(context)) == Plain.self
          && type(of: PlainBelow.makeAny(context)) == PlainBelow.self)
      let metatype: NSManagedObject.Type = PlainBelow.self
      #expect(type(of: metatype.init(context: context)) == PlainBelow.self)
      #expect(NSEntityDescription.insertNewObject(forEntityName: "Hiding", into: context) is Hiding)
      try context.save()
      context.reset()
      let found: [NSManagedObject] = try ["Overriding", "Hiding", "OwnContext", "Plain"].flatMap {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: $0))
      }
      #expect(
        Set(found.map { "\(type(of: $0))" }) == ["Overriding", "Hiding", "OwnContext", "Plain", "PlainBelow"])
      #expect((found.first { $0 is Overriding } as? Overriding)?.made == "overridden")
    }
  }

  @Test func `requests of classes`() throws {
    let context: NSManagedObjectContext = try context(NSInMemoryStoreType)
    try context.performAndWait {
      let below = PlainBelow(context: context)
      let hiding = Hiding.make(context)
      #expect(try fetchAll(PlainBelow.self, in: context) == [below])
      #expect(try fetchAll(Hiding.self, in: context) == [hiding])
      let listed: [Plain] = try context.fetch(Plain.request())
      #expect(listed == [below])
      let fetched: [Plain] = try context.fetch(Plain.fetchRequest())
      #expect(fetched == [below])
      #expect(try PlainBelow.count(in: context) == 1)
      let typed: NSFetchRequest<Plain> = Plain.fetchRequest()
      let plain: NSFetchRequest<any NSFetchRequestResult> = Plain.fetchRequest()
      #expect(typed.entityName == "Plain" && plain.entityName == "Plain")
      #expect(try context.fetch(plain).first as? Plain == below)
      // Without a type beside it: of the class, where Apple's SDK has one of any results.
      try context.save()
      let untyped = Plain.fetchRequest()
      untyped.predicate = NSPredicate(value: true)
      let plains: [Plain] = try context.fetch(untyped)
      #expect(plains == [below])
      let rows: NSFetchRequest<any NSFetchRequestResult> = Plain.fetchRequest()
      rows.resultType = .dictionaryResultType
      rows.propertiesToFetch = ["title"]
      #expect((try context.fetch(rows) as? [[String: Any]])?.count == 1)
      let any: NSFetchRequest<any NSFetchRequestResult> = OwnContext.fetchRequest()
      #expect(any.entityName == "OwnContext")
      let converted = NSFetchRequest<any NSFetchRequestResult>(untyped)
      #expect(converted.entityName == "Plain" && converted.predicate == untyped.predicate)
      // A class's own, without a type beside it.
      let own = OwnContext.fetchRequest()
      own.fetchLimit = 1
      #expect(try context.fetch(own).map(\.title) == [])
    }
  }
}

final class Overriding: NSManagedObject {
  var made: String = ""
  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    made = "overridden"
  }
}

final class Hiding: NSManagedObject {
  var made: String = ""
  private override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    made = "hidden"
  }
  static func make(_ context: NSManagedObjectContext) -> Hiding {
    Hiding(entity: NSEntityDescription.entity(forEntityName: "Hiding", in: context)!, insertInto: context)
  }
}

final class OwnContext: NSManagedObject {
  var title: String? {
    get { managedValue("title") }
    set { setManagedValue(newValue, "title") }
  }

  convenience init(context: NSManagedObjectContext) {
    self.init(title: "by its own", in: context)
  }
  convenience init(title: String, in context: NSManagedObjectContext) {
    let entity = NSEntityDescription.entity(forEntityName: "OwnContext", in: context)!
    self.init(entity: entity, insertInto: context)
    self.title = title
  }
  class func fetchRequest() -> NSFetchRequest<OwnContext> { NSFetchRequest(entityName: "OwnContext") }
}

class Plain: NSManagedObject, Listed {}
final class PlainBelow: Plain {}

extension NSManagedObject {
  fileprivate class func makeAny(_ context: NSManagedObjectContext) -> Self { self.init(context: context) }
  fileprivate class func count(in context: NSManagedObjectContext) throws -> Int {
    let request = fetchRequest()
    return try context.count(for: request)
  }
}

// Finding D: a subclass needs no word about Sendable (it compiles without a warning).
private final class ReversingTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? String).map { Data($0.utf8.reversed()) }
  }
}

private final class OnlyTextTransformer: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [NSString.self] }
}

@Suite
struct TransformerShapeTests {
  @Test func `transformers are subclassed as on Apple's systems`() throws {
    let name = NSValueTransformerName("Reversing")
    ValueTransformer.setValueTransformer(ReversingTransformer(), forName: name)
    #expect(ValueTransformer(forName: name)?.transformedValue("ab") as? Data == Data("ba".utf8))
    let archive: Any? = OnlyTextTransformer().reverseTransformedValue("a")
    #expect(OnlyTextTransformer().transformedValue(archive) as? String == "a")
  }
}
