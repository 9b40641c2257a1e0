import CoreData
import Testing

/// Values and objects as arguments of C's kind, as code for Apple's SDK writes them (finding D,
/// "Source that compiles").
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

  // Findings of 2026-11-22: both read past the list, or took a number for an address, and
  // ended with signal 11.

  /// A list of C's, as a function that takes one gets it.
  private func predicate(_ format: String, _ list: CVaListPointer) -> NSPredicate {
    NSPredicate(format: format, arguments: list)
  }

  @Test func `a list around the call knows number and types`() throws {
    #expect(
      withVaList([5]) { NSPredicate(format: "a == %@", arguments: $0) } == NSPredicate(format: "a == 5"))
    let numbers: [CVarArg] = (1...9).map { Int32($0) }
    let format: String = "a IN {\(Array(repeating: "%d", count: 9).joined(separator: ", "))}"
    #expect(withVaList(numbers) { NSPredicate(format: format, arguments: $0) }.evaluate(with: ["a": 9]))
    let expression: NSExpression = withVaList([7, 2.5]) { list in
      NSExpression(format: "%d * %f", arguments: list)
    }
    #expect(expression.expressionValue(with: nil, context: nil) as? Double == 17.5)
    // A body that takes C's list gets it.
    #expect(withVaList(["x", 3]) { NSString(format: "%@%d", arguments: $0) as String } == "x3")
    #expect(withVaList(["x"]) { predicate("a == %@", $0) } == NSPredicate(format: "a == 'x'"))
    #expect(withVaList([1]) { _ in 2 } == 2)
    #expect(
      withVaList([1]) {
        let number: Int = 2
        return predicate("a == %d", $0).evaluate(with: ["a": number])
      } == false)
    "text".withCString { text in
      #expect(
        withVaList([text]) { NSPredicate(format: "a == %s", arguments: $0) }.evaluate(with: ["a": "text"]))
    }
  }

  struct Mistake: CustomTestStringConvertible, Codable, Sendable {
    let format: String
    let count: Int
    let parts: [String]
    var testDescription: String { "\(format) with \(count)" }
  }

  static let mistakes: [Mistake] = [
    Mistake(
      format: "a == %@ AND b == %@", count: 1,
      parts: ["a == %@ AND b == %@", "character 18", "argument 2", "the 1 passed"]),
    Mistake(format: "a == %d AND b == %d", count: 1, parts: ["character 18", "argument 2", "the 1 passed"]),
    Mistake(format: "a == %@", count: 0, parts: ["character 6", "argument 1"]),
    Mistake(format: "%K == 1", count: 0, parts: ["character 1", "argument 1"]),
  ]

  @Test(arguments: mistakes, ["getVaList", "withVaList", "expression"])
  func `too few arguments stop with the place`(mistake: Mistake, form: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [mistake, form] in
      let arguments: [CVarArg] = Array(repeating: 1, count: mistake.count)
      switch form {
      case "getVaList": _ = NSPredicate(format: mistake.format, arguments: getVaList(arguments))
      case "withVaList":
        _ = withVaList(arguments) { NSPredicate(format: mistake.format, arguments: $0) }
      default:
        let format: String = mistake.format.replacingOccurrences(of: " == ", with: " + ")
          .replacingOccurrences(of: " AND ", with: " + ")
        _ = withVaList(arguments) { NSExpression(format: format, arguments: $0) }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    if form == "expression" { return #expect(text.contains("argument"), "\(text)") }
    for part in mistake.parts { #expect(text.contains(part), "\(part) in \(text)") }
  }

  @Test(arguments: ["a == %@", "a == 1 AND b == %@", "a == %s"])
  func `a number where C's list must have an object`(format: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [format] in
      func predicate(_ list: CVaListPointer) -> NSPredicate { NSPredicate(format: format, arguments: list) }
      _ = withVaList([5]) { predicate($0) }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in [format, "argument 1", "number 5", "argumentArray:"] {
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test func `C's list has nothing where an object must be`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      func predicate(_ list: CVaListPointer) -> NSPredicate {
        NSPredicate(format: "a == %@ AND b == %@", arguments: list)
      }
      _ = withVaList(["x"]) { predicate($0) }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in ["a == %@ AND b == %@", "argument 2", "none"] { #expect(text.contains(part), "\(text)") }
  }
}
