import Foundation
import PredicateVectors
import TestSupport
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

/// Objects read in place and objects read by key-value coding give the same answers and the same errors.
struct ShapeTests {
  @Test(.enabled(if: SharedVectors.isPresent, "the shared predicate vectors are not beside the repository"))
  func `every shared vector holds for objects that are read in place`() throws {
    let url: URL = try #require(SharedVectors.url)
    try run(try Data(contentsOf: url))
  }

  @Test func `every vector of our own holds for objects that are read in place`() throws {
    try run(Data(ownVectors.utf8))
  }

  private func run(_ data: Data) throws {
    let vectors: [PredicateVector] = try PredicateVector.read(data)
    var count: Int = 0
    for vector in vectors {
      // Some vectors are about dictionaries themselves, which no object stands for.
      guard vector.problems(making: { Self.thing($0, PlainThing.self) }).isEmpty else { continue }
      let problems: [String] = vector.problems { Self.thing($0, ShapedThing.self) }
      #expect(problems.isEmpty, "\(vector.id) \(vector.format): \(problems.joined(separator: "; "))")
      count += 1
    }
    #expect(count > vectors.count * 9 / 10)
  }

  private static func thing(_ object: Any?, _ type: PlainThing.Type) -> Any? {
    (object as? [String: Any]).map { type.init($0) } ?? object
  }

  @Test func `random predicates give what they give by key-value coding`() throws {
    let seed: UInt64 = .random(in: 0 ... .max)
    print("seed \(seed)")
    var maker = PredicateMaker(random: SeededRandom(seed: seed))
    let population: [(plain: PlainThing, shaped: ShapedThing)] = (0..<40).map { _ in
      let values: [String: Any] = maker.values()
      return (PlainThing(values), ShapedThing(values))
    }
    for _ in 0..<(Soak.isOn ? 10_000 : 800) {
      let node: PredicateNode = maker.predicate(3)
      let program = PredicateProgram(node)
      for (plain, shaped) in population.shuffled(using: &maker.random).prefix(8) {
        let expected: Outcome = Outcome { try PredicateProgram(node).evaluate(plain) }
        let found: Outcome = Outcome { try program.evaluate(shaped) }
        #expect(
          found.agrees(with: expected, about: node),
          "\(Printer.print(node)) of \(plain.values): \(found), not \(expected)")
      }
      let expected: Outcome = Outcome {
        try PredicateProgram(node).filter(population.map(\.plain)).map { thing in
          population.firstIndex { $0.plain === thing }
        }
      }
      let found: Outcome = Outcome {
        try program.filter(population.map(\.shaped)).map { thing in
          population.firstIndex { $0.shaped === thing }
        }
      }
      #expect(found.agrees(with: expected, about: node), "\(Printer.print(node)): \(found), not \(expected)")
    }
    let reads: Int = population.reduce(0) { $0 + $1.shaped.reads.load(ordering: .relaxed) }
    #expect(reads > 5_000, "values were read in place \(reads) times only")
  }

  @Test func `a program meets more shapes and types than it remembers`() throws {
    let program = PredicateProgram(try Parser.predicate("n > 10 AND name BEGINSWITH 'a'"))
    let things: [ShapedThing] = (0..<60).map { ShapedThing(["n": $0, "name": $0 % 2 == 0 ? "ab" : "ba"]) }
    let expected: [Int] = (0..<60).filter { $0 > 10 && $0 % 2 == 0 }
    for _ in 0..<3 {
      #expect(try program.filter(things).map { $0.values["n"] as? Int } == expected)
      #expect(try things.filter { try program.evaluate($0) }.map { $0.values["n"] as? Int } == expected)
    }
    // Objects with a shape, without one, and values, in one list.
    let mixed: [Any] = things.flatMap { thing -> [Any] in [thing, PlainThing(thing.values), thing.values] }
    #expect(try program.filter(mixed).count == expected.count * 3)
  }

  @Test func `threads share a program`() async throws {
    let program = PredicateProgram(try Parser.predicate("n > 10 AND name BEGINSWITH 'a'"))
    await withTaskGroup(of: Bool.self) { group in
      for worker in 0..<8 {
        group.addTask {
          (0..<200).allSatisfy { number in
            let thing = ShapedThing(["n": number, "name": "a\(worker)"])
            return (try? program.evaluate(thing)) == (number > 10)
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test func `an assignment holds for the object it was made for`() throws {
    let program = PredicateProgram(try Parser.predicate("($v := n) > 1 AND $v > 2"))
    let things: [ShapedThing] = [1, 2, 3, 3, 4].map { ShapedThing(["n": $0]) }
    #expect(try program.filter(things).count == 3)
    #expect(try program.filter([things[2], things[2]]).count == 2)
    #expect(throws: (any Error).self) {
      try PredicateProgram(Parser.predicate("n == 3 OR $v == 5 OR ($v := n) == 9")).filter(things)
    }
  }
}

/// A result or the text of an error.
private enum Outcome: Equatable, CustomStringConvertible {
  case value(String)
  case failure(String)

  init<Value>(_ body: () throws -> Value) {
    do {
      self = .value("\(try body())")
    } catch {
      self = .failure("\(error)".replacingOccurrences(of: "ShapedThing", with: "PlainThing"))
    }
  }

  /// Which member of a set is met first is open, and so is whether one that can't be compared is met at all.
  func agrees(with other: Outcome, about node: PredicateNode) -> Bool {
    if self == other { return true }
    guard node.keyPaths.contains(where: { $0.contains("pets") }) else { return false }
    if case .value = self, case .value = other { return false }
    return true
  }

  var description: String {
    switch self {
    case .value(let text), .failure(let text): text
    }
  }
}

/// Objects of every kind of value, and predicates about them.
private struct PredicateMaker {
  var random: SeededRandom

  private static let texts: [String] = [
    "", "a", "A", "an", "Anna", "anna", "ANNA", "Änna", "é", "e\u{301}", "an\u{301}", "straße", "STRASSE",
    "日本",
    "a\u{0}b", "\u{FFFD}", "b\u{FFFD}", "İ", "ı", "zebra", "Zebra", "a much longer text than fits in a word",
    "a much longer text thän fits in a word", "*", "a?n", "10", "\u{301}",
  ]
  private static let broken: [[UInt8]] = [
    [0x61, 0xFF], [0xFF], [0x62, 0xE3, 0x81], [0xC0, 0x80, 0x61], [0x61, 0x6E, 0xCC],
  ]
  private static let numbers: [any Sendable] = [
    0, 1, -1, 2, 10, 30, 31, Int64.max, Int64.min, (1 << 53) + 1, 1 << 53, -(1 << 53) - 1, 0.5, 30.5, -0.0,
    1e300,
    -1e300, 0x1p63, 0x1p53, -0x1p63, Double.infinity, -Double.infinity, Double.nan, true, false, UInt64.max,
    Decimal(string: "30.5") ?? 0,
  ]
  private static let dates: [Date] = [0, 1, -1, 1e9].map { Date(timeIntervalSinceReferenceDate: $0) }
  private static let uuids: [UUID] = [
    UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
    UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17)),
  ]

  private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
  private mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

  private mutating func scalar() -> Any {
    switch below(8) {
    case 0, 1: return pick(Self.texts)
    case 2: return pick(Self.dates)
    case 3: return pick(Self.uuids)
    case 4: return NSNull()
    default: return pick(Self.numbers)
    }
  }

  /// The properties of an object; some are missing.
  mutating func values(depth: Int = 2) -> [String: Any] {
    var values: [String: Any] = [
      "n": pick(Self.numbers), "m": below(40), "name": pick(Self.texts), "flag": below(2) == 0,
      "score": Double(below(80)) / 2, "born": pick(Self.dates), "tag": pick(Self.uuids), "any": scalar(),
      "list": [scalar(), scalar()],
    ]
    if below(4) == 0 { values["name"] = BrokenText(pick(Self.broken)) }
    if below(4) == 0 { values["m"] = NSNull() }
    for key in ["name", "score", "flag", "born"] where below(6) == 0 { values[key] = nil }
    if depth > 0 {
      if below(5) > 0 { values["friend"] = self.values(depth: depth - 1) }
      let members: [[String: Any]] = (0..<below(4)).map { _ in self.values(depth: depth - 1) }
      if !members.isEmpty { values["items"] = members }
      values["pets"] = NSSet(array: members)
    }
    return values
  }

  mutating func predicate(_ depth: Int) -> PredicateNode {
    switch depth == 0 ? 9 : below(10) {
    case 0, 1:
      let kind: CompoundKind = below(2) == 0 ? .and : .or
      return .compound(kind, (0..<below(5)).map { _ in predicate(depth - 1) })
    case 2: return .compound(.not, [predicate(depth - 1)])
    case 3: return .constant(below(2) == 0)
    default: return .comparison(comparison())
    }
  }

  private mutating func comparison() -> ComparisonNode {
    let isQuantified: Bool = below(4) == 0
    let comparison: ComparisonOperator = pick([
      .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .like,
      .beginsWith, .endsWith, .in, .contains, .between, .matches,
    ])
    let options: ComparisonOptions = below(2) == 0 ? [] : ComparisonOptions(rawValue: UInt(below(8)))
    var left: ExpressionNode = isQuantified ? collection() : operand()
    var right: ExpressionNode = below(4) == 0 ? operand() : constant(for: comparison)
    if !isQuantified, below(8) == 0 { swap(&left, &right) }
    return ComparisonNode(
      left: left, right: right, modifier: isQuantified ? pick([.any, .all]) : .direct, comparison: comparison,
      options: options)
  }

  private mutating func operand() -> ExpressionNode {
    switch below(12) {
    case 0: return .function(target: nil, name: "length:", arguments: [path()])
    case 1: return .function(target: nil, name: "add:to:", arguments: [path(), .constant(.integer(1))])
    case 2: return .function(target: nil, name: "lowercase:", arguments: [path()])
    case 3: return .keyPath(pick(["pets", "items", "friend.pets", "list", "name"]) + ".@count")
    default: return path()
    }
  }

  private mutating func path() -> ExpressionNode {
    let start: String = pick(["", "", "", "friend.", "friend.friend."])
    return .keyPath(
      start + pick(["n", "m", "name", "flag", "score", "born", "tag", "any", "friend", "none"]))
  }

  private mutating func collection() -> ExpressionNode {
    if below(6) == 0 { return path() }
    let start: String =
      pick(["", "", "friend."])
      + pick(["pets", "items", "list", "pets.items", "items.pets", "items.friend.items"])
    if below(6) == 0 { return .keyPath(start) }
    return .keyPath(start + "." + pick(["m", "name", "flag", "score", "friend.m", "n", "any"]))
  }

  private mutating func constant(for comparison: ComparisonOperator) -> ExpressionNode {
    func value(_ value: Any) -> PredicateValue { PredicateValue(constant: value) }
    switch comparison {
    case .between:
      let bounds: [ExpressionNode] = [scalar(), scalar()].map { .constant(value($0)) }
      return below(2) == 0 ? .aggregate(bounds) : .constant(.array([value(pick(Self.numbers)), value(30)]))
    case .in:
      let members: [Any] = (0..<below(14)).map { _ in scalar() }
      switch below(4) {
      case 0: return .constant(.set(Set(members.map { PredicateValue(normalizing: $0) })))
      case 1: return .aggregate(members.map { .constant(value($0)) })
      case 2: return .constant(.array(members.map { value($0) }))
      default: return .constant(value(scalar()))
      }
    case .like, .beginsWith, .endsWith, .contains, .matches:
      return .constant(value(below(8) == 0 ? scalar() : pick(Self.texts)))
    default: return .constant(value(scalar()))
    }
  }
}
