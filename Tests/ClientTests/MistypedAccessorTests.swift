import CoreData
import Testing

/// Accessors of a type that their property does not fit stop when the class is first used with the entity,
/// and name both types (finding B12).
@Suite
struct MistypedAccessorTests {
  /// What is wrong, as a class writes it; by name, since exit tests run in a process of their own.
  static let mistakes: [String: (wrong: [String], use: @Sendable (Mistyped) -> Void)] = [
    "Int16 over Integer 32": (
      ["Int16", "Mistyped.count", "Integer 32", "var count: Int32"], { _ = $0.narrow }
    ),
    "set": (["Int16", "Mistyped.count", "Integer 32"], { $0.narrow = 4 }),
    "Int32? over Integer 64": (
      ["Int32", "Mistyped.big", "Integer 64", "var big: Int64"], { _ = $0.narrowOptional }
    ),
    "String? over a number": (["String", "Mistyped.count", "Integer 32"], { _ = $0.textOfNumber }),
    "Int64 over text": (
      ["Int64", "Mistyped.title", "String", "var title: String?"], { _ = $0.numberOfText }
    ),
    "Float over Double": (["Float", "Mistyped.ratio", "Double"], { _ = $0.float }),
    "Int over Double": (["Int", "Mistyped.ratio", "Double"], { _ = $0.wholeNumber }),
    "Bool over a number": (["Bool", "Mistyped.count", "Integer 32"], { _ = $0.flag }),
    "Int over Boolean": (["Int", "Mistyped.done", "Boolean"], { _ = $0.numberOfFlag }),
    "Double over Decimal": (["Double", "Mistyped.price", "Decimal"], { _ = $0.inexact }),
    "Date over text": (["Date", "Mistyped.title", "String"], { _ = $0.dateOfText }),
    "UUID over text": (["UUID", "Mistyped.title", "String"], { _ = $0.idOfText }),
    "URL over text": (["URL", "Mistyped.title", "String"], { _ = $0.urlOfText }),
    "words over text": (["Array<String>", "Mistyped.title", "String"], { _ = $0.wordsOfText }),
    "enumeration": (["Int16", "Mistyped.count", "Integer 32"], { _ = $0.grade }),
    "set over to-one": (
      ["to-many", "Mistyped.boss", "a to-one relationship to Mistyped", "var boss: Mistyped?"],
      { _ = $0.setOfOne }
    ),
    "to-one over to-many": (
      ["to-one", "Mistyped.staff", "a to-many relationship", "var staff: Set<Mistyped>"],
      { _ = $0.oneOfMany }
    ),
    "array over unordered": (["ordered", "Mistyped.staff", "a to-many relationship"], { _ = $0.arrayOfSet }),
    "set over ordered": (
      ["Mistyped.tasks", "an ordered to-many", "var tasks: [Mistyped]"], { _ = $0.setOfOrdered }
    ),
    "another class": (["Stranger", "Mistyped.boss", "to-one relationship to Mistyped"], { _ = $0.stranger }),
    "object over an attribute": (["to-one", "Mistyped.title", "String"], { _ = $0.objectOfText }),
    "value over a relationship": (["String", "Mistyped.boss", "to-one"], { _ = $0.textOfObject }),
    "values over a relationship": (["NSOrderedSet", "Mistyped.staff", "to-many"], { _ = $0.orderedOfSet }),
    "add": (["to-many", "Mistyped.boss", "to-one"], { $0.addManagedMember($0, "boss") }),
    "nil": (["Mistyped.due has no value", "Date?", "awakeFromInsert"], { _ = $0.due }),
    "nil to-one": (["Mistyped.boss has no value", "Mistyped?", "awakeFromInsert"], { _ = $0.bossRequired }),
    "no case": (["Mistyped.rank is '0'", "Grade", "Grade?"], { _ = $0.rank }),
    "out of range": (
      ["Mistyped.count is 70000", "UInt16", "wider"],
      {
        $0.setValue(70000, forKey: "count")
        _ = $0.unsigned
      }
    ),
  ]

  @Test(arguments: mistakes.keys.sorted()) func `a mistyped accessor`(mistake: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [mistake] in
      let context: NSManagedObjectContext = try Mistyped.makeContext()
      context.performAndWait { MistypedAccessorTests.mistakes[mistake]?.use(Mistyped(context: context)) }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in Self.mistakes[mistake]?.wrong ?? [] {
      #expect(text.contains(part), "\(mistake): \(text)")
    }
  }

  @Test func `a type that loses nothing will do`() throws {
    let context: NSManagedObjectContext = try Mistyped.makeContext()
    context.performAndWait {
      let object = Mistyped(context: context)
      object.wide = 1 << 20
      object.number = 3
      #expect(object.wide == 1 << 20 && object.anything as? Int == 1 << 20 && object.number == 3)
      // A value that the attribute has no room for is refused by the save, as ever.
      object.wide = 1 << 40
      #expect(throws: (any Error).self) { try context.save() }
    }
  }
}

final class Stranger: NSManagedObject {}

final class Mistyped: NSManagedObject {
  enum Grade: Int16 { case low = 1 }

  var narrow: Int16 {
    get { managedValue("count") }
    set { setManagedValue(newValue, "count") }
  }
  var narrowOptional: Int32? { managedValue("big") }
  var textOfNumber: String? { managedValue("count") }
  var numberOfText: Int64 { managedValue("title") }
  var float: Float { managedValue("ratio") }
  var wholeNumber: Int { managedValue("ratio") }
  var flag: Bool { managedValue("count") }
  var numberOfFlag: Int { managedValue("done") }
  var inexact: Double { managedValue("price") }
  var dateOfText: Date? { managedValue("title") }
  var idOfText: UUID? { managedValue("title") }
  var urlOfText: URL? { managedValue("title") }
  var wordsOfText: [String]? { managedValue("title") }
  var grade: Grade? { managedValue("count") }
  var setOfOne: Set<Mistyped> { managedSet("boss") }
  var oneOfMany: Mistyped? { managedObject("staff") }
  var arrayOfSet: [Mistyped] { managedArray("staff") }
  var setOfOrdered: Set<Mistyped> { managedSet("tasks") }
  var stranger: Stranger? { managedObject("boss") }
  var objectOfText: Mistyped? { managedObject("title") }
  var textOfObject: String? { managedValue("boss") }
  var orderedOfSet: NSOrderedSet? { managedValue("staff") }
  var due: Date { managedValue("due") }
  var bossRequired: Mistyped { managedObject("boss") }
  var rank: Grade { managedValue("rank") }
  var unsigned: UInt16 { managedValue("count") }

  var wide: Int {
    get { managedValue("count") }
    set { setManagedValue(newValue, "count") }
  }
  var anything: Any? { managedObjectValue("count") }
  var number: NSNumber? {
    get { managedValue("big") }
    set { setManagedValue(newValue, "big") }
  }

  static func makeContext() throws -> NSManagedObjectContext {
    let types: [(String, NSAttributeType)] = [
      ("count", .integer32AttributeType), ("big", .integer64AttributeType), ("title", .stringAttributeType),
      ("ratio", .doubleAttributeType), ("done", .booleanAttributeType), ("price", .decimalAttributeType),
      ("due", .dateAttributeType), ("rank", .integer16AttributeType),
    ]
    let entity = NSEntityDescription()
    entity.name = "Mistyped"
    entity.managedObjectClassName = NSStringFromClass(Mistyped.self)
    let attributes: [NSPropertyDescription] = types.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      // A number that is always there is a scalar in a class.
      if name == "count" || name == "big" { attribute.defaultValue = 0 }
      return attribute
    }
    func relationship(_ name: String, _ most: Int, isOrdered: Bool = false) -> NSRelationshipDescription {
      let made = NSRelationshipDescription()
      (made.name, made.destinationEntity, made.maxCount, made.isOptional) = (name, entity, most, true)
      made.isOrdered = isOrdered
      return made
    }
    let pairs = [
      (relationship("boss", 1), relationship("staff", 0)),
      (relationship("worker", 1), relationship("tasks", 0, isOrdered: true)),
    ]
    for (one, many) in pairs { (one.inverseRelationship, many.inverseRelationship) = (many, one) }
    entity.properties = attributes + pairs.flatMap { [$0, $1] }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}
