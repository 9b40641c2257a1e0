import CoreData
import CoreDataPredicates
import CoreDataStorage
import Foundation
import StackSupport
import Testing

// Finding B9, Decisions/0040.
/// What functions make of nil, of zero, of numbers too large and of values of the wrong kind: the same in
/// memory and in every store, and nothing stops.
struct NilAndZeroTests {
  enum Result: Sendable {
    case null
    /// nil where there could be text or a date, which can't be compared with numbers.
    case nothing
    /// A number that the expression equals, as a format writes it.
    case equals(String)
    case above(String)
    case below(String)
    /// Of values of a kind that the function never takes: an error where there can be one, else nil.
    case wrongKind
  }

  struct Cell: Sendable, CustomTestStringConvertible {
    let expression: String
    let result: Result
    var testDescription: String { expression }
  }

  private static func cells(_ result: Result, _ expressions: [String]) -> [Cell] {
    expressions.map { Cell(expression: $0, result: result) }
  }

  static let cells: [Cell] =
    cells(
      .null,
      [
        // nil in, nil out
        "length(noText)", "noText.length",
        "missing + 1", "1 + missing", "missing - 1", "one - missing", "missing * 2", "noReal * 2",
        "missing / seven",
        "seven / missing", "real / noReal", "noDecimal + 1", "decimal / noDecimal", "modulus:by:(missing, 2)",
        "modulus:by:(seven, missing)", "missing ** 2", "2 ** noReal", "-missing", "-noDecimal",
        "abs(missing)",
        "abs(noReal)", "abs(noDecimal)", "sqrt(noReal)", "sqrt(missing)", "exp(noReal)", "ln(noReal)",
        "log(noReal)", "floor(noReal)", "ceiling(noReal)", "trunc(noReal)", "floor(noDecimal)",
        "ceiling(missing)", "bitwiseAnd:with:(missing, 1)", "bitwiseOr:with:(1, missing)",
        "bitwiseXor:with:(missing, 1)", "leftshift:by:(missing, 1)", "rightshift:by:(1, missing)",
        "onesComplement(missing)", "CAST(noText, 'NSNumber')", "CAST(noDate, 'NSNumber')",
        "CAST(noText, 'NSDecimalNumber')", "noindex(missing)", "TERNARY(missing == nil, missing, 1)",
        "randomn(missing)",
        "boss.one + 1", "boss.kids.@sum.one", "boss.kids.@min.one", "length(boss.text)", "nil + 1",
        "sqrt(nil)",  // no least or middle of nothing
        "min(kids.one)", "max(kids.one)", "median(kids.one)", "stddev(kids.one)", "kids.@min.one",
        "kids.@max.one", "sum(boss.kids.one)", "average(boss.kids.one)", "max(boss.kids.one)",
        // no result of zero
        "seven / zero", "zero / zero", "1 / 0", "modulus:by:(seven, zero)", "modulus:by:(real, noughtPoint)",
        "noughtPoint / noughtPoint", "decimal / zero", "modulus:by:(decimal, zero)", "randomn(zero)",
        // not a number
        "sqrt(negative)", "ln(negative)", "log(negative)", "sqrt(-1)", "negative ** 0.5",
        // text that spells nothing
        "CAST(text, 'NSNumber')", "CAST(text, 'NSDecimalNumber')",
        "sqrt(CAST(text, 'NSNumber'))",
      ])
    + cells(
      .nothing,
      [
        "lowercase(noText)", "uppercase(noText)", "canonical(noText)", "CAST(noText, 'NSDate')",
        "CAST(missing, 'NSDate')", "CAST(missing, 'NSString')", "CAST(text, 'NSDate')", "lowercase(nil)",
      ])
    + cells(
      .equals("0"),
      [
        "count(kids)", "sum(kids.one)", "average(kids.one)", "kids.@count", "kids.@sum.one",
        "count(boss.kids)",
        "modulus:by:(least, -1)", "sqrt(zero)", "abs(zero)", "length('')",
      ])
    + cells(.equals("12"), ["CAST(digits, 'NSNumber')", "CAST(digits, 'NSDecimalNumber')"])
    + cells(.equals("1.5"), ["real", "abs(-1.5)", "decimal - one"])
    + cells(
      .above("1e300"), ["real / zero", "real / noughtPoint", "10.0 ** 400", "exp(9999)", "1.5 / 0"])
    + cells(.below("-1e300"), ["ln(zero)", "log(noughtPoint)", "negative / noughtPoint"])
    + cells(
      .above("9000000000000000000"),
      [
        "most + 1", "most * 2", "most + most", "abs(least)", "-least", "least / -1", "most - least",
        "2 ** 64",
      ])
    + cells(.below("-9000000000000000000"), ["least - 1", "least * 2", "least + least"])
    + cells(
      .wrongKind,
      [
        "sqrt(text)", "length(seven)", "text + 1", "1 - text", "abs(date)", "lowercase(seven)", "date + 1",
        "seven & text", "ceiling(text)", "ln(date)", "-text", "uppercase(date)", "modulus:by:(text, 2)",
        "sqrt('a')", "length(5)",
      ])

  /// What has to hold of a cell, and what has not.
  private static func predicates(_ cell: Cell) -> [(format: String, holds: Bool)] {
    let value: String = cell.expression
    switch cell.result {
    case .null, .wrongKind:
      return [
        ("(\(value)) == nil", true), ("(\(value)) != nil", false), ("(\(value)) == 1", false),
        ("(\(value)) != 1", true), ("(\(value)) > 0", false), ("(\(value)) <= 0", false),
        ("NOT ((\(value)) == 1)", true), ("(\(value)) BETWEEN {0, 1}", false),
        ("(\(value)) IN {0, 1}", false),
      ]
    case .nothing:
      // A fetch refuses to compare a date with a text.
      let other: String = value.contains("'NSDate'") ? "CAST('2024-01-31T08:30:00Z', 'NSDate')" : "'a'"
      return [
        ("(\(value)) == nil", true), ("(\(value)) != nil", false), ("(\(value)) == \(other)", false),
        ("(\(value)) != \(other)", true), ("NOT ((\(value)) == \(other))", true),
        ("(\(value)) IN {\(other)}", false),
      ]
    case .equals(let number):
      return [
        ("(\(value)) == \(number)", true), ("(\(value)) != \(number)", false), ("(\(value)) == nil", false),
        ("(\(value)) IN {\(number)}", true),
      ]
    case .above(let number):
      return [
        ("(\(value)) > \(number)", true), ("(\(value)) <= \(number)", false), ("(\(value)) == nil", false),
      ]
    case .below(let number):
      return [
        ("(\(value)) < \(number)", true), ("(\(value)) >= \(number)", false), ("(\(value)) == nil", false),
      ]
    }
  }

  private static var values: [String: Any] {
    [
      "zero": 0, "one": 1, "seven": 7, "most": Int64.max, "least": Int64.min, "noughtPoint": 0.0, "real": 1.5,
      "negative": -4.0, "decimal": NSDecimalNumber(string: "2.5"), "text": "Text", "digits": "12",
      "date": Date(timeIntervalSinceReferenceDate: 5),
    ]
  }

  private static func model() -> NSManagedObjectModel {
    let entity = World.entity(
      "Value",
      ["missing", "zero", "one", "seven", "most", "least"].map {
        World.attribute($0, .integer64AttributeType)
      }
        + ["noReal", "noughtPoint", "real", "negative"].map { World.attribute($0, .doubleAttributeType) }
        + ["noDecimal", "decimal"].map { World.attribute($0, .decimalAttributeType) }
        + ["noText", "text", "digits"].map { World.attribute($0, .stringAttributeType) }
        + ["noDate", "date"].map { World.attribute($0, .dateAttributeType) })
    World.pair(entity, "kids", .many, .nullifyDeleteRule, entity, "boss", .one, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private static let stacks = Guarded<[StoreKind: Stack]>([:])

  /// One store of a kind for all cells.
  private static func stack(_ kind: StoreKind) throws -> Stack {
    try stacks.withLock { known in
      if let stack = known[kind] { return stack }
      let stack = try Stack(kind, model: model())
      try stack.run { context in
        _ = context.make("Value", values)
        try context.save()
      }
      known[kind] = stack
      return stack
    }
  }

  /// Whether a body throws an explained error of predicates.
  private static func fails(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch {
      return error is CoreDataPredicates.PredicateError
    }
  }

  @Test(arguments: cells) func `objects in memory`(_ cell: Cell) throws {
    var object: [String: Any] = Self.values
    object["kids"] = NSSet()
    let array: NSArray = [object]
    for (format, holds) in Self.predicates(cell) {
      let predicate: NSPredicate = try NSPredicate(parsing: format)
      #expect(predicate.evaluate(with: object) == holds, "\(format)")
      #expect((array.filtered(using: predicate).count == 1) == holds, "\(format)")
      if case .wrongKind = cell.result {
        #expect(Self.fails { _ = try predicate.evaluateThrowing(with: object) }, "\(format)")
        #expect(Self.fails { _ = try [object].filterThrowing(using: predicate) }, "\(format)")
      } else {
        let result: Bool = try predicate.evaluateThrowing(with: object)
        #expect(result == holds, "\(format)")
        let filtered: Int = try [object].filterThrowing(using: predicate).count
        #expect((filtered == 1) == holds, "\(format)")
      }
    }
    let value: Any? = try NSExpression(parsing: cell.expression).expressionValue(with: object, context: nil)
    switch cell.result {
    case .null, .nothing, .wrongKind: #expect(value == nil, "\(value ?? "")")
    case .equals, .above, .below: #expect(value is NSNumber)
    }
  }

  @Test(arguments: StoreKind.allCases, cells)
  func `managed objects, in memory and fetched`(_ kind: StoreKind, _ cell: Cell) throws {
    try Self.stack(kind).elsewhere { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Value")
      let object: NSManagedObject = try #require(try context.fetch(request).first)
      for (format, holds) in Self.predicates(cell) {
        let predicate: NSPredicate = try NSPredicate(parsing: format)
        request.predicate = predicate
        #expect(predicate.evaluate(with: object) == holds, "\(format)")
        #expect((NSArray(object: object).filtered(using: predicate).count == 1) == holds, "\(format)")
        if case .wrongKind = cell.result {
          #expect(throws: (any Error).self, "\(format)") { try context.fetch(request) }
          #expect(Self.fails { _ = try predicate.evaluateThrowing(with: object) }, "\(format)")
        } else {
          let found: Int = try context.fetch(request).count
          #expect((found == 1) == holds, "fetch \(format)")
          let count: Int = try context.count(for: request)
          #expect((count == 1) == holds, "count \(format)")
          let result: Bool = try predicate.evaluateThrowing(with: object)
          #expect(result == holds, "\(format)")
        }
      }
    }
  }

  @Test func `text compared with nil goes by the laws of nil`() throws {
    for (format, holds) in [
      ("lowercase(a) == 'x'", false), ("lowercase(a) != 'x'", true), ("lowercase(a) BEGINSWITH 'x'", false),
      ("NOT (lowercase(a) CONTAINS 'x')", true), ("lowercase(a) == nil", true),
      ("uppercase(a) IN {'X'}", false),
      ("lowercase(a) == lowercase(b)", true), ("a + b == b + a", true), ("a + 1 <= b + 1", true),
    ] {
      #expect(NSPredicate(format: format).evaluate(with: [String: Any]()) == holds, "\(format)")
    }
  }
}
