import Foundation
import TestSupport

@testable import CoreDataPredicates

/// Builds trees that a format can express: chains of one operator as the parser makes them.
struct TreeMaker {
  var random: SeededRandom

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
      let names: [String] = BuiltinFunction.selectors.filter { BuiltinFunction.mark(of: $0) != nil }.sorted()
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
    // Bound tighter than any operator only in parentheses, which print around the left side of
    // a comparison alone.
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
    let names: [String] = BuiltinFunction.selectors.subtracting([
      "objectFrom:withIndex:", "castObject:toType:",
    ])
    .filter { BuiltinFunction.mark(of: $0) == nil }.sorted()
    if Int.random(in: 0...5, using: &random) == 0 {
      let type: String = pick(["NSString", "NSNumber", "NSDate"])
      return .function(
        target: nil, name: "castObject:toType:", arguments: [.keyPath("a"), .constant(.string(type))])
    }
    let name: String = pick(names)
    let count: Int = name.selectorArgumentCount
    return .function(target: nil, name: name, arguments: (0..<count).map { _ in expression(depth) })
  }

  private mutating func index(_ depth: Int) -> ExpressionNode {
    .index(expression(depth), .at(expression(depth)))
  }

  /// A minus sign before a number belongs to the number.
  private func negation(_ operand: ExpressionNode) -> ExpressionNode {
    .function(target: nil, name: BuiltinFunction.negate.selector, arguments: [operand])
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

/// The constants that formats can express.
enum Literals {
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
