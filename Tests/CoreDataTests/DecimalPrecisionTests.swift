import CoreData
import CoreDataStorage
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Finding C2: decimals are kept as Apple's framework keeps them, or whole where that is asked for, and are
/// the same in every store (Decisions/0037).
@Suite
struct DecimalPrecisionTests {
  /// Who asks for all digits.
  enum Exactness: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case none, attribute, store
    var testDescription: String { rawValue }
  }

  private static func model(_ exactness: Exactness) -> NSManagedObjectModel {
    let number: NSAttributeDescription = World.attribute("number", .decimalAttributeType)
    if exactness == .attribute { number.userInfo = [ClarusExactDecimalsKey: "YES"] }
    let entity: NSEntityDescription = World.entity(
      "Amount", [number, World.attribute("label", .integer64AttributeType)])
    entity.indexes = [
      NSFetchIndexDescription(
        name: "byNumber",
        elements: [NSFetchIndexElementDescription(property: number, collationType: .binary)])
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private static func open(
    _ kind: StoreKind, _ exactness: Exactness, _ folder: TemporaryFolder
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(exactness))
    try coordinator.addPersistentStore(
      ofType: kind.type, configurationName: nil, at: kind.url("Amounts", in: folder),
      options: exactness == .store ? [ClarusExactDecimalsKey: true] : nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Numbers of 1 to 38 digits, whole ones, great and small ones, and what `Decimal` makes of doubles.
  private static func numbers(_ seed: UInt64, count: Int) -> [Decimal] {
    var random = SeededRandom(seed: seed)
    var result: [Decimal] = [
      0, -1, 10.11, Decimal(3.33), Decimal(Int64.max), Decimal(Int64.min), Decimal(UInt64.max),
    ]
    result.append(Decimal(string: "9007199254740993")!)
    result.append(Decimal(string: "12345678901234567890123456789012345678")!)
    while result.count < count {
      if Int.random(in: 0..<5, using: &random) == 0 {
        result.append(Decimal(Double.random(in: -1000...1000, using: &random)))
        continue
      }
      let digits: Int = Int.random(in: 1...38, using: &random)
      var text: String = Bool.random(using: &random) ? "-" : ""
      text += (0..<digits).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
      let exponent: Int = Bool.random(using: &random) ? -digits / 2 : Int.random(in: -90...90, using: &random)
      text += "e\(exponent)"
      if let number = Decimal(string: text), !number.isNaN { result.append(number) }
    }
    return result
  }

  private static let seed: UInt64 =
    Seed.given ?? .random(in: 0...9999)

  private static func value(_ object: NSManagedObject) -> Decimal? {
    (object.value(forKey: "number") as? NSDecimalNumber)?.decimalValue
  }

  /// SQLite's own word on what a column holds.
  private static func column<T: DatabaseValueConvertible>(
    _ expression: String, _ folder: TemporaryFolder
  ) throws -> [T] {
    let queue = try DatabaseQueue(path: folder.file("Amounts.sqlite").path)
    defer { try? queue.close() }
    return try queue.read {
      try T.fetchAll($0, sql: "SELECT \(expression) FROM ZAMOUNT ORDER BY ZLABEL")
    }
  }

  private static func fill(_ context: NSManagedObjectContext, _ numbers: [Decimal]) throws
    -> [NSManagedObject]
  {
    let objects: [NSManagedObject] = numbers.enumerated().map {
      context.make("Amount", ["number": NSDecimalNumber(decimal: $1), "label": $0])
    }
    try context.save()
    return objects
  }

  // MARK: What is kept

  @Test(arguments: StoreKind.every, Exactness.allCases)
  func `a saved object has what the store has, and a refetch gives the same`(
    kind: StoreKind, exactness: Exactness
  ) throws {
    print("seed \(Self.seed)")
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try Self.open(kind, exactness, folder)
    let numbers: [Decimal] = Self.numbers(Self.seed, count: 300)
    try context.performAndWait {
      let objects: [NSManagedObject] = try Self.fill(context, numbers)
      let saved: [Decimal?] = objects.map(Self.value)
      for (number, kept) in zip(numbers, saved) {
        let digits: Int = number.significand.description.count
        if exactness != .none || digits <= 15 || Int64(number.description) != nil {
          #expect(kept == number, "\(number)")
        } else {
          // What the nearest real says in its shortest text.
          let text: String = try #require(kept).description
          #expect(Double(text) == Double(number.description), "\(number) became \(text)")
          #expect(try #require(kept).significand.description.filter { $0 != "0" }.count <= 17)
        }
      }
      context.refreshAllObjects()
      #expect(objects.map(Self.value) == saved)
      context.reset()
      let again: [NSManagedObject] = try context.all(NSManagedObject.self, "Amount", sort: ["label"])
      #expect(again.map(Self.value) == saved)
      guard kind == .sqlite else { return }
      let second: NSManagedObjectContext = try Self.open(.sqlite, .none, folder)
      try second.performAndWait {
        let read: [NSManagedObject] = try second.all(NSManagedObject.self, "Amount", sort: ["label"])
        #expect(read.map(Self.value) == saved, "also without the option")
      }
      let types: [String] = try Self.column("typeof(ZNUMBER)", folder)
      #expect(
        Set(types).isSubset(of: exactness == .none ? ["integer", "real"] : ["integer", "real", "text"]))
      #expect(types.contains("text") == (exactness != .none))
      if exactness != .none { return }
      let reals: [Double] = try Self.column("CAST(ZNUMBER AS REAL)", folder)
      #expect(reals == saved.map { Double($0?.description ?? "") }, "as strtod reads it")
    }
  }

  @Test(arguments: StoreKind.every)
  func `rounding alone is no change`(kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try Self.open(kind, .none, folder)
    let exact = NSDecimalNumber(string: "0.12345678901234567890123456789")
    try context.performAndWait {
      let object: NSManagedObject = context.make("Amount", ["number": exact, "label": 1])
      #expect(object.value(forKey: "number") as? NSDecimalNumber == exact, "until it is saved")
      try context.save()
      let kept: Decimal = try #require(Self.value(object))
      #expect(kept != exact.decimalValue)
      // Two stacks that set the number again do not meet.
      object.setValue(exact, forKey: "number")
      #expect(!object.hasPersistentChangedValues)
      #expect(object.changedValues().isEmpty)
      try context.save()
      #expect(Self.value(object) == kept)
      if kind == .sqlite { #expect(try Self.column("Z_OPT", folder) == [1]) }
      object.setValue(NSDecimalNumber(string: "0.5"), forKey: "number")
      #expect(object.changedValues().keys.sorted() == ["number"])
      try context.save()
      #expect(Self.value(object) == 0.5)
    }
  }

  // MARK: Queries

  @Test(arguments: Exactness.allCases)
  func `predicates, order and sums give the same in memory and in SQL`(exactness: Exactness) throws {
    print("seed \(Self.seed)")
    let folder = try TemporaryFolder()
    let numbers: [Decimal] = Self.numbers(Self.seed, count: 60)
    var answers: [[String]] = []
    for kind in StoreKind.computing {
      let context: NSManagedObjectContext = try Self.open(kind, exactness, folder)
      var lines: [String] = []
      try context.performAndWait {
        _ = try Self.fill(context, numbers)
        context.reset()
        for (label, number) in numbers.enumerated() {
          let constant = NSDecimalNumber(decimal: number)
          for format in [
            "number == %@", "%@ == number", "number != %@", "number < %@", "number >= %@",
            "number IN %@", "number BETWEEN %@",
          ] {
            let isList: Bool = format.hasSuffix("IN %@")
            let isRange: Bool = format.hasSuffix("BETWEEN %@")
            let several: [NSDecimalNumber] = isList ? [constant, 7] : [constant, constant]
            let argument: Any = isList || isRange ? several as Any : constant
            let predicate = NSPredicate(format: format, argumentArray: [argument])
            let found: [NSManagedObject] = try context.all(
              NSManagedObject.self, "Amount", predicate, sort: ["label"])
            let labels: [Int] = found.compactMap { $0.value(forKey: "label") as? Int }
            lines.append("\(format) \(number): \(labels)")
            // What was set finds what was kept.
            if format.contains("==") || isList || isRange || format.contains(">=") {
              #expect(labels.contains(label), "\(format) \(number)")
            } else {
              #expect(!labels.contains(label), "\(format) \(number)")
            }
          }
        }
        for order in ["number", "-number"] {
          let sorted: [NSManagedObject] = try context.all(
            NSManagedObject.self, "Amount", sort: [order, "label"])
          lines.append("\(order): \(sorted.map { $0.value(forKey: "label") as? Int })")
        }
      }
      answers.append(lines)
    }
    for (left, right) in zip(answers[0], answers[1]) { #expect(left == right) }
    #expect(answers[0].count == answers[1].count)
  }

  @Test(arguments: Exactness.allCases)
  func `sums give the same in memory and in SQL`(exactness: Exactness) throws {
    print("seed \(Self.seed)")
    var random = SeededRandom(seed: Self.seed)
    // 38 digits hold their sums, so that the order of adding is of no matter.
    let numbers: [Decimal] = (0..<60).map { _ in
      let digits: [String] = (0..<24).map { _ in String(Int.random(in: 0...9, using: &random)) }
      return Decimal(string: "\(digits.joined())e-\(Int.random(in: 0...12, using: &random))")!
    }
    var answers: [[String]] = []
    for kind in StoreKind.every {
      let context: NSManagedObjectContext = try Self.open(kind, exactness, try TemporaryFolder())
      try context.performAndWait {
        _ = try Self.fill(context, numbers)
        var lines: [String] = []
        let request = NSFetchRequest<NSDictionary>(entityName: "Amount")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["sum:", "min:", "max:", "average:"].map { function in
          let column = NSExpressionDescription()
          column.name = function
          column.expression = NSExpression(
            forFunction: function, arguments: [NSExpression(forKeyPath: "number")])
          column.resultType = .decimal
          return column
        }
        for row in try context.fetch(request) {
          for function in ["sum:", "min:", "max:", "average:"] {
            lines.append("\(function) \(row[function].map { "\($0)" } ?? "nil")")
          }
        }
        answers.append(lines)
      }
    }
    #expect(answers[0] == answers[1])
    #expect(answers[0].count == 4)
  }

  @Test(arguments: StoreKind.computing)
  func `an unsaved number is found by what was set, and so it is when it was saved`(kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try Self.open(kind, .none, folder)
    try context.performAndWait {
      for (label, number) in Self.numbers(1, count: 40).enumerated() {
        let constant = NSDecimalNumber(decimal: number)
        let predicate = NSPredicate(format: "number == %@ AND label == %d", constant, label)
        _ = context.make("Amount", ["number": constant, "label": label])
        #expect(try context.all(NSManagedObject.self, "Amount", predicate).count == 1, "\(number)")
        try context.save()
        #expect(try context.all(NSManagedObject.self, "Amount", predicate).count == 1, "\(number)")
        let request: NSFetchRequest<NSManagedObject> = context.request(
          NSManagedObject.self, "Amount", predicate)
        #expect(try context.count(for: request) == 1, "\(number)")
      }
    }
  }

  @Test func `an index serves comparisons with decimals`() throws {
    let folder = try TemporaryFolder()
    for exactness in [Exactness.none, .attribute] {
      let context: NSManagedObjectContext = try Self.open(
        .sqlite, exactness, exactness == .none ? folder : try TemporaryFolder())
      try context.performAndWait {
        for format in ["number == %@", "number < %@"] {
          for number in ["12.5", "3.330000000000000512"] {
            let request: NSFetchRequest<NSManagedObject> = context.request(
              NSManagedObject.self, "Amount",
              NSPredicate(format: format, argumentArray: [NSDecimalNumber(string: number)]))
            let explained: FetchExplanation = try #require(try request.explain(in: context).first)
            // Texts have an order of their own, which no index has.
            if exactness == .attribute, format.contains("<"), number.count > 15 { continue }
            #expect(
              explained.queryPlan.contains { $0.contains("Z_Amount_byNumber") }, "\(format) \(explained)")
          }
        }
      }
    }
  }

  // MARK: Files

  @Test func `numbers that a store has as text are read, found and left as they are`() throws {
    let folder = try TemporaryFolder()
    let numbers: [Decimal] = ["0.12345678901234567890123456789", "0.1234567890123456", "7", "9e40"]
      .map { Decimal(string: $0)! }
    let writer: NSManagedObjectContext = try Self.open(.sqlite, .store, folder)
    try writer.performAndWait { _ = try Self.fill(writer, numbers) }
    let context: NSManagedObjectContext = try Self.open(.sqlite, .none, folder)
    try context.performAndWait {
      let objects: [NSManagedObject] = try context.all(NSManagedObject.self, "Amount", sort: ["number"])
      #expect(objects.map { $0.value(forKey: "label") as? Int } == [1, 0, 2, 3])
      #expect(objects.map(Self.value) == [numbers[1], numbers[0], numbers[2], numbers[3]])
      for (label, number) in numbers.enumerated() {
        let found: [NSManagedObject] = try context.all(
          NSManagedObject.self, "Amount",
          NSPredicate(format: "number == %@", argumentArray: [NSDecimalNumber(decimal: number)]))
        #expect(found.compactMap { $0.value(forKey: "label") as? Int } == [label], "\(number)")
      }
      let less: [NSManagedObject] = try context.all(
        NSManagedObject.self, "Amount", NSPredicate(format: "number < 1"), sort: ["label"])
      #expect(less.compactMap { $0.value(forKey: "label") as? Int } == [0, 1])
      // Another property changes; the number keeps its digits.
      objects[1].setValue(5, forKey: "label")
      try context.save()
      #expect(Self.value(objects[1]) == numbers[0])
    }
    let types: [String] = try Self.column("typeof(ZNUMBER)", folder)
    #expect(types.count == 4)
    #expect(types.last == "text")
  }

  @Test(
    arguments: [
      ("YES", true), ("true", true), ("1", true), ("NO", false), ("", false), (true, true),
      (1, true), (false, false),
    ] as [(any Sendable, Bool)])
  func `the words for yes in a user info are those of Xcode's editor and of code`(
    word: any Sendable, isExact: Bool
  ) throws {
    let model: NSManagedObjectModel = Self.model(.none)
    model.entities[0].propertiesByName["number"]?.userInfo = [ClarusExactDecimalsKey: word]
    let stack = try Stack(setting: .inMemory, model: model)
    let exact = NSDecimalNumber(string: "0.12345678901234567890123456789")
    try stack.run { context in
      let object: NSManagedObject = context.make("Amount", ["number": exact])
      try context.save()
      #expect((object.value(forKey: "number") as? NSDecimalNumber == exact) == isExact)
    }
  }
}
