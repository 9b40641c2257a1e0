import CoreData
import Testing

/// Values and objects as arguments of C's kind, as code for Apple's SDK writes them (finding D, "Source that compiles").
@Suite
struct ArgumentTests {
  private static let id = UUID()
  private static let date = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
  private static let data = Data([1, 2, 3])
  private static let url: URL = URL(string: "https://example.org/a")!
  private static let decimal: Decimal = Decimal(string: "12.34")!

  /// An object of every kind of value, and one without.
  private func makeContext(_ store: String) throws -> NSManagedObjectContext {
    let context: NSManagedObjectContext = try EveryType.makeContext(store)
    try context.performAndWait {
      for isFilled in [true, false] {
        let object = EveryType(context: context)
        object.gradeOptional = .low
        object.owner = object
        object.string = isFilled ? "Ann" : "Bob"
        object.uuid = isFilled ? Self.id : UUID()
        object.date = isFilled ? Self.date : Date(timeIntervalSinceReferenceDate: 0)
        object.data = isFilled ? Self.data : Data()
        object.url = isFilled ? Self.url : URL(string: "b:")
        object.decimal = isFilled ? NSDecimalNumber(decimal: Self.decimal) : 0
      }
      try context.save()
    }
    return context
  }

  private func found(_ predicate: NSPredicate, in context: NSManagedObjectContext) throws -> [String] {
    let request = NSFetchRequest<EveryType>(entityName: "EveryType")
    request.predicate = predicate
    return try context.fetch(request).compactMap(\.string)
  }

  /// As many libraries pass arguments on.
  private func passedOn(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
    withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
  }

  private static var formats: [(format: String, arguments: [CVarArg])] {
    [
      ("uuid == %@", [id]), ("uuid == %@", [id as CVarArg]), ("uuid IN %@", [[id, UUID()] as CVarArg]),
      ("date == %@", [date]), ("date > %@", [(date - 1) as NSDate]),
      ("date > %@ AND date != nil", [date - 1]),
      ("data == %@", [data]), ("data == %@", [data as NSData]), ("url == %@", [url]),
      ("decimal == %@", [decimal]), ("decimal > %@", [NSNumber(value: 12)]),
      ("string IN %@", [["Ann", "Eve"] as CVarArg]), ("string IN %@", [Set(["Ann", "Eve"]) as CVarArg]),
      ("string IN %@", [NSArray(array: ["Ann"])]), ("string == %@", ["Ann" as NSString]),
      ("%K == %@ AND %K == %@", ["string", "Ann", "uuid", id]),
      ("string == %@ AND date == %@ AND uuid != nil AND %d == 3", ["Ann", date, 3]),
      ("decimal IN %@", [Set([decimal]) as CVarArg]),
    ]
  }

  @Test(arguments: AccessorFormTests.stores) func `values and objects are arguments`(store: String) throws {
    let context: NSManagedObjectContext = try makeContext(store)
    try context.performAndWait {
      for (format, arguments) in Self.formats {
        let comment: Comment = "\(format)"
        let byArray = NSPredicate(format: format, argumentArray: arguments)
        let byList: NSPredicate = withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
        let byHeldList = NSPredicate(format: format, arguments: getVaList(arguments))
        for predicate in [byArray, byList, byHeldList] {
          #expect(try found(predicate, in: context) == ["Ann"], comment)
        }
        #expect(byList == byArray && byHeldList == byArray, comment)
      }
      let uuid: UUID = Self.id
      let date: Date = Self.date
      let names: [String] = ["Ann", "Eve"]
      let spelled = NSPredicate(
        format: "uuid == %@ AND string IN %@ AND date >= %@", uuid as CVarArg, names as CVarArg,
        date as NSDate)
      #expect(try found(spelled, in: context) == ["Ann"])
      #expect(try found(passedOn("uuid == %@ AND string IN %@", uuid, names), in: context) == ["Ann"])
      let arguments: [CVarArg] = [uuid, date]
      let listed = NSPredicate(format: "uuid == %@ AND date == %@", argumentArray: arguments)
      #expect(try found(listed, in: context) == ["Ann"])
      let objects: [EveryType] = try context.fetch(NSFetchRequest<EveryType>(entityName: "EveryType"))
      let ann: EveryType = try #require(objects.first { $0.string == "Ann" })
      #expect(try found(passedOn("SELF == %@ AND owner == %@", ann, ann.objectID), in: context) == ["Ann"])
      #expect(try found(passedOn("SELF IN %@ AND owner IN %@", [ann], Set([ann])), in: context) == ["Ann"])
    }
  }

  @Test func `sequences that are arguments`() throws {
    func matching(_ ids: any Sequence & CVarArg) -> NSPredicate { NSPredicate(format: "id IN %@", ids) }
    #expect(matching([Self.id]).evaluate(with: ["id": Self.id]))
    #expect(matching(Set([Self.id])).evaluate(with: ["id": Self.id]))
    #expect(!matching([UUID()]).evaluate(with: ["id": Self.id]))
  }

  @Test func `expressions`() throws {
    let expression = NSExpression(format: "max(%@)", arguments: getVaList([[1, 5, 3]]))
    #expect(expression.expressionValue(with: nil, context: nil) as? Int == 5)
  }

  @Test func `values that arrive as Any`() throws {
    let values: [Any] = [
      Self.id, Self.date, Self.data, Self.url, Self.decimal, [1], Set([1]), ["a": 1], NSNull(), "a", 1,
      NSNumber(value: 1),
    ]
    for value in values { #expect(value is CVarArg, "\(type(of: value))") }
  }

  // Foundation on Linux can format strings only; anything else would crash.
  @Test func `formatted text has descriptions`() throws {
    let id: UUID = Self.id
    #expect(String(format: "%@", id as CVarArg) == id.uuidString)
    #expect(String(format: "%@|%d|%@", [1, 2] as CVarArg, 3, "é😀") == "[1, 2]|3|é😀")
    #expect(String(format: "%@ %@", "a" as NSString, NSMutableString(string: "b")) == "a b")
    #expect(String(format: "%@", NSNumber(value: 4)) == "4")
    #expect(String(format: "%@", Self.url) == "https://example.org/a")
    #expect(String(format: "%@", Self.decimal) == "12.34")
    #expect(String(format: "%@", Set([Self.decimal])) == "[12.34]")
    #expect(NSString(format: "%@", ["k": Self.date] as CVarArg) as String == "\(["k": Self.date])")
    let object = NSObject()
    #expect(String(format: "%@", arguments: [object]) == object.description)
  }
}
