import Foundation
import PredicateVectors
import Testing

@testable import CoreDataPredicates

/// What prints parses back to an equal tree, and prints the same again.
///
/// Out of the law are constants that no format can express: objects, blocks, UUIDs, URLs, data, dictionaries, infinity and
/// not-a-number. A constant array or set prints as braces, which parse as an aggregate of its members.
struct PrinterLawTests {
  private static let seeds: ClosedRange<UInt64> = {
    if let given = ProcessInfo.processInfo.environment["CLARUS_SEED"].flatMap(UInt64.init) {
      return given...given
    }
    return 1...(ProcessInfo.processInfo.environment["CLARUS_SOAK"] == "1" ? 20_000 : 2_000)
  }()

  @Test func `random predicates survive printing and parsing`() {
    var kinds: Set<String> = []
    for seed in Self.seeds {
      var maker: TreeMaker = TreeMaker(random: SeededGenerator(seed: seed))
      let node: PredicateNode = maker.predicate(4)
      if let problem = Self.problem(node) { Issue.record("seed \(seed): \(problem)") }
      kinds.formUnion(NodeKinds.of(node))
    }
    // A maker that forgets a kind of node proves nothing about it.
    if Self.seeds.count > 1 { #expect(NodeKinds.all.subtracting(kinds).isEmpty) }
  }

  @Test func `random expressions survive printing and parsing`() {
    for seed in Self.seeds {
      var maker: TreeMaker = TreeMaker(random: SeededGenerator(seed: ~seed))
      let node: ExpressionNode = maker.expression(4)
      let text: String = Printer.print(node)
      do {
        let parsed: ExpressionNode = try Parser.expression(text)
        if parsed != node || Printer.print(parsed) != text {
          Issue.record("seed \(seed): \(text) came back as \(Printer.print(parsed))")
        }
      } catch {
        Issue.record("seed \(seed): \(text) does not parse: \(error)")
      }
    }
  }

  @Test(arguments: Literals.all)
  func `every literal survives printing and parsing`(literal: PredicateValue) throws {
    let node: ComparisonNode = ComparisonNode(
      left: .keyPath("a"), right: .constant(literal), comparison: .equalTo)
    #expect(Self.problem(.comparison(node)) == nil)
    // Equal values may be of different kinds (1 and 1.0); those whose text tells the kind come back in it.
    let expression: ExpressionNode = try Parser.expression(Printer.print(.constant(literal)))
    if case .constant(let parsed) = expression, Literals.keepsKind(literal) {
      #expect(parsed.kindName == literal.kindName)
    }
  }

  /// A decimal comes back as the equal double, which prints its own way.
  @Test(arguments: ["1e20", "0.000001", "-0.00000001", "123456789012345678901234567890.5"])
  func `decimals survive as equal doubles`(text: String) throws {
    let decimal: Decimal = try #require(Decimal(string: text))
    let parsed: ExpressionNode = try Parser.expression(Printer.print(.constant(.decimal(decimal))))
    #expect(parsed == .constant(.decimal(decimal)))
    #expect(try Parser.expression(Printer.print(parsed)) == parsed)
  }

  @Test func `reserved words are keys wherever a key may stand`() {
    let spellings: [String] = Word.allCases.map(\.rawValue).filter { !$0.contains("-") }
      .flatMap { [$0, $0.lowercased(), $0.prefix(1) + $0.dropFirst().lowercased()] }
    for word in spellings {
      let paths: [String] = [
        word, "a.\(word)", "\(word).b", "a.\(word).b", "a.@max.\(word)", "\(word).@count",
      ]
      for path in paths {
        var expressions: [ExpressionNode] = [
          .keyPath(path), .path(.variable("x"), path), .path(.aggregate([]), path),
          .index(.keyPath("a"), .at(.keyPath(path))),
          .function(target: nil, name: "sum:", arguments: [.keyPath(path)]),
          .aggregate([.keyPath(path)]),
          .subquery(collection: .keyPath(path), variable: "x", predicate: .constant(true)),
        ]
        expressions.append(.conditional(.constant(true), .keyPath(path), .keyPath(path)))
        for expression in expressions {
          let node: ComparisonNode = ComparisonNode(left: expression, right: .keyPath(path), comparison: .in)
          // `self` as a first key is the object, and a path from it is the path.
          if path.lowercased().hasPrefix("self") { continue }
          let problem: String? = Self.problem(.comparison(node))
          #expect(problem == nil, "\(path): \(problem ?? "")")
        }
      }
    }
  }

  @Test(.enabled(if: SharedVectors.isPresent, "the shared predicate vectors are not beside the repository"))
  func `every vector survives printing and parsing`() throws {
    let url: URL = try #require(SharedVectors.url)
    var counts: (identical: Int, opaque: Int) = (0, 0)
    for data in [try Data(contentsOf: url), Data(ownVectors.utf8)] {
      for vector in try PredicateVector.read(data) {
        guard let node = try? Parser.predicate(vector.format, arguments: vector.arguments) else { continue }
        let text: String = Printer.print(node)
        if Literals.isOpaque(node) {
          // No format says them; a collection prints as the braces that its members would be written in.
          counts.opaque += 1
          if let parsed = try? Parser.predicate(text) {
            #expect(Printer.print(parsed) == text, "\(vector.id)")
          }
        } else {
          counts.identical += 1
          let problem: String? = Self.problem(node)
          #expect(problem == nil, "\(vector.id): \(problem ?? "")")
        }
      }
    }
    print("vectors: \(counts.identical) come back equal, \(counts.opaque) hold constants without a spelling")
    #expect(counts.identical >= 470)
  }

  /// nil when the tree comes back equal and prints the same.
  private static func problem(_ node: PredicateNode) -> String? {
    let text: String = Printer.print(node)
    do {
      let parsed: PredicateNode = try Parser.predicate(text)
      let again: String = Printer.print(parsed)
      if parsed != node { return "\(text) came back as \(again)" }
      return again == text ? nil : "\(text) prints as \(again) after parsing"
    } catch {
      return "\(text) does not parse: \(error)"
    }
  }
}

/// The constants that formats can express.
private enum Literals {
  static let all: [PredicateValue] =
    integers + doubles + decimals + strings + dates + [.null, .bool(true), .bool(false)]

  private static let integers: [PredicateValue] = [
    .integer(0), .integer(1), .integer(-1), .integer(.max), .integer(.min), .integer(1 << 53 + 1),
    .unsigned(UInt64(Int64.max) + 1), .unsigned(.max),
  ]
  private static let doubles: [PredicateValue] = [
    0.0, -0.0, 0.1, -0.1, 0.5, 1.5, 42, -42, 1e15, 1e16, 123_456_789.123_456_78, 1e300, -1e300, 1e-7, 1e-300,
    .leastNonzeroMagnitude, .greatestFiniteMagnitude, .pi, 0x1p53, 0x1p63, 0x1p64, -0x1p63,
  ].map { .double($0) }
  private static let decimals: [PredicateValue] = [
    "0", "0.1", "-12.10", "123456789012345678",
  ]
  .compactMap { Decimal(string: $0).map(PredicateValue.decimal) }
  private static let strings: [PredicateValue] = [
    "", " ", "a", "it's", "\"", "\\", "\\\\", "\\\"", "\\n", "\n\r\t", "\u{0}", "\u{1}\u{7F}", "\\*", "\\?",
    "*?", "%@",
    "%K %d %%", "$x", "#a", "é", "e\u{301}", "ﬁ", "👩‍👩‍👧", "🇩🇪", "\u{202E}abc", "\u{FEFF}", "\u{FFFD}",
    "\u{10FFFF}",
    "'\"'\"", "CAST(1.000000, \"NSDate\")", "nil", "TRUE", "\u{2028}\u{2029}", "\u{D7FF}\u{E000}",
    String(repeating: "\\", count: 99),
  ].map { .string($0) }
  private static let dates: [PredicateValue] = [
    0, 1, -1, 0.5, -0.000001, 599_529_600, 599_529_600.123456, -978_307_200, 63_113_904_000, -63_114_076_800,
  ].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }

  static func keepsKind(_ value: PredicateValue) -> Bool {
    switch value {
    // A boolean prints as 1 or 0, as Apple's does.
    case .integer, .unsigned, .double, .decimal, .string, .date: true
    default: false
    }
  }

  /// Whether the tree holds a constant that prints as something else.
  static func isOpaque(_ node: PredicateNode) -> Bool {
    var result: Bool = false
    node.forEachExpression { expression in
      guard case .constant(let value) = expression else { return }
      switch value {
      case .nullObject, .data, .uuid, .url, .array, .set, .dictionary, .object: result = true
      case .double(let number): result = result || !number.isFinite
      case .null, .bool, .integer, .unsigned, .decimal, .string, .date: break
      }
    }
    return result
  }
}

/// The kinds of nodes in a tree, by name.
private enum NodeKinds {
  static let all: Set<String> = Set(ComparisonOperator.allCases.map { "\($0)" }).union([
    "true", "false", "and", "or", "not", "constant", "self", "variable", "keyPath", "path", "dynamicPath",
    "first", "last",
    "size", "at", "infix", "function", "message", "aggregate", "subquery", "conditional", "UNION",
    "INTERSECT", "MINUS",
    "assignment", "fetch", "anyKey", "direct", "all", "any", "options",
  ])

  static func of(_ node: PredicateNode) -> Set<String> {
    var kinds: Set<String> = []
    add(node, to: &kinds)
    return kinds
  }

  private static func add(_ node: PredicateNode, to kinds: inout Set<String>) {
    switch node {
    case .constant(let value): kinds.insert(value ? "true" : "false")
    case .block: kinds.insert("block")
    case .compound(let kind, let members):
      kinds.insert("\(kind)")
      for member in members { add(member, to: &kinds) }
    case .comparison(let comparison):
      kinds.formUnion(["\(comparison.modifier)", "\(comparison.comparison)"])
      if !comparison.options.isEmpty { kinds.insert("options") }
      for side in [comparison.left, comparison.right] {
        side.forEachExpression { expression in
          kinds.insert(name(expression))
          switch expression {
          case .subquery(_, _, let predicate), .conditional(let predicate, _, _): add(predicate, to: &kinds)
          default: break
          }
        }
      }
    }
  }

  private static func name(_ expression: ExpressionNode) -> String {
    switch expression {
    case .constant: "constant"
    case .evaluatedObject: "self"
    case .variable: "variable"
    case .keyPath: "keyPath"
    case .path: "path"
    case .dynamicPath: "dynamicPath"
    case .index(_, .first): "first"
    case .index(_, .last): "last"
    case .index(_, .size): "size"
    case .index(_, .at): "at"
    case .function(.some, _, _): "message"
    case .function(nil, let name, _): FunctionTable.infix(name) == nil ? "function" : "infix"
    case .aggregate: "aggregate"
    case .subquery: "subquery"
    case .conditional: "conditional"
    case .set(let operation, _, _): operation.rawValue
    case .assignment: "assignment"
    case .fetch: "fetch"
    case .anyKey: "anyKey"
    case .block: "block"
    }
  }
}

/// Builds trees that a format can express: chains of one operator as the parser makes them.
private struct TreeMaker {
  var random: SeededGenerator

  private mutating func pick<T>(_ values: [T]) -> T {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  mutating func predicate(_ depth: Int) -> PredicateNode {
    switch depth == 0 ? 3 : Int.random(in: 0...6, using: &random) {
    case 0:
      let count: Int = .random(in: 2...4, using: &random)
      return .compound(pick([.and, .or]), (0..<count).map { _ in predicate(depth - 1) })
    case 1: return .compound(.not, [predicate(depth - 1)])
    case 2: return .constant(.random(using: &random))
    default: return .comparison(comparison(depth))
    }
  }

  private mutating func comparison(_ depth: Int) -> ComparisonNode {
    let comparison: ComparisonOperator = pick(ComparisonOperator.allCases)
    return ComparisonNode(
      left: expression(depth), right: expression(depth), modifier: pick([.direct, .direct, .all, .any]),
      comparison: comparison,
      options: ComparisonOptions(rawValue: pick([0, 0, .random(in: 0...15, using: &random)])),
      selector: comparison == .customSelector ? pick(["hasPrefix:", "isEqual:", "compare:options:"]) : nil)
  }

  mutating func expression(_ depth: Int) -> ExpressionNode {
    if depth == 0 { return leaf() }
    let inner: Int = depth - 1
    switch Int.random(in: 0...18, using: &random) {
    case 0:
      let names: [String] = FunctionTable.selectors.filter { FunctionTable.infix($0) != nil }.sorted()
      return .function(target: nil, name: pick(names), arguments: [expression(inner), expression(inner)])
    case 1: return function(inner)
    case 2:
      let arguments: [ExpressionNode] = (0..<Int.random(in: 0...2, using: &random)).map { _ in
        expression(inner)
      }
      return .function(
        target: expression(inner), name: pick(["pow:", "a", "x:y:", "\"q\\"]), arguments: arguments)
    case 3: return .aggregate((0..<Int.random(in: 0...3, using: &random)).map { _ in expression(inner) })
    case 4:
      return .subquery(
        collection: expression(inner), variable: pick(["v", "in", "größe"]), predicate: predicate(inner))
    case 5: return .conditional(predicate(inner), expression(inner), expression(inner))
    case 6: return .set(pick([.union, .intersect, .minus]), expression(inner), expression(inner))
    case 7: return index(inner)
    case 8: return .index(expression(inner), pick([.first, .last, .size]))
    case 9:
      return .makePath(expression(inner), pick(["in.@max.self", "a", "first", "@count", "b.@avg.order.no"]))
    case 10: return negation(expression(inner))
    case 11: return .dynamicPath(pathStart(inner), .variable(pick(["k", "or"])))
    // `a.d[0]`: an index that belongs to the last key alone.
    case 12:
      return .dynamicPath(
        .keyPath(pick(["a", "a.size", "x.in"])),
        .index(.keyPath(pick(["d", "no", "last"])), pick([.first, .size, .at(expression(inner))])))
    // Bound tighter than any operator only in parentheses, which print around the left side of a comparison alone.
    case 13:
      return .function(
        target: nil, name: "count:", arguments: [.assignment(variable: "v", expression(inner))])
    case 14:
      return .fetch(request: expression(inner), context: expression(inner), countOnly: expression(inner))
    default: return leaf()
    }
  }

  private mutating func function(_ depth: Int) -> ExpressionNode {
    // `objectFrom:withIndex:` parses as an index, a CAST of a constant to NSDate as a date.
    let names: [String] = FunctionTable.selectors.subtracting(["objectFrom:withIndex:", "castObject:toType:"])
      .filter { FunctionTable.infix($0) == nil }.sorted()
    if Int.random(in: 0...5, using: &random) == 0 {
      let type: String = pick(["NSString", "NSNumber", "NSDate"])
      return .function(
        target: nil, name: "castObject:toType:", arguments: [.keyPath("a"), .constant(.string(type))])
    }
    let name: String = pick(names)
    let count: Int = FunctionTable.colons(name)
    return .function(target: nil, name: name, arguments: (0..<count).map { _ in expression(depth) })
  }

  private mutating func index(_ depth: Int) -> ExpressionNode {
    .index(expression(depth), .at(expression(depth)))
  }

  /// A minus sign before a number belongs to the number.
  private func negation(_ operand: ExpressionNode) -> ExpressionNode {
    .function(target: nil, name: FunctionTable.negation, arguments: [operand])
  }

  private mutating func pathStart(_ depth: Int) -> ExpressionNode {
    pick([.evaluatedObject, .variable("a"), .keyPath("a.b"), expression(depth)])
  }

  private mutating func leaf() -> ExpressionNode {
    switch Int.random(in: 0...9, using: &random) {
    case 0, 1, 2: .constant(pick(Literals.all))
    case 3: .constant(.integer(.random(in: -1000...1000, using: &random)))
    case 4:
      .constant(.double(Double(bitPattern: UInt64.random(in: 0..<0x7FF0_0000_0000_0000, using: &random))))
    case 5: .variable(pick(["x", "in", "SELF"]))
    case 6: .evaluatedObject
    case 7:
      .keyPath(
        pick([
          "a", "size", "order", "a.in", "@sum.x", "größe", "all.any", "_", "a1",
          "x.@distinctUnionOfObjects.y",
        ]))
    case 8: .anyKey
    default: .function(target: nil, name: pick(["now", "random"]), arguments: [])
    }
  }
}
