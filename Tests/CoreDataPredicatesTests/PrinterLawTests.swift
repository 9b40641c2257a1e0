import Foundation
import Testing

@testable import CoreDataPredicates

/// What prints parses back to an equal tree.
struct PrinterLawTests {
  @Test func `random trees survive printing and parsing`() throws {
    let seed: UInt64 = .random(in: 0 ... .max)
    print("seed \(seed)")
    var maker: TreeMaker = TreeMaker(random: SeededGenerator(seed: seed))
    for _ in 0..<5_000 {
      let node: PredicateNode = maker.predicate(4)
      let text: String = Printer.print(node)
      let parsed: PredicateNode = try Parser.predicate(text)
      #expect(parsed == node, "\(text) came back as \(Printer.print(parsed))")
    }
  }
}

/// Builds trees that a format can express: chains of one operator as the parser makes them, numbers that print exactly.
private struct TreeMaker {
  var random: SeededGenerator

  mutating func predicate(_ depth: Int) -> PredicateNode {
    switch depth == 0 ? 3 : Int.random(in: 0...6, using: &random) {
    case 0:
      let kind: CompoundKind = .random(in: 0...1, using: &random) == 0 ? .and : .or
      return .compound(kind, (0..<Int.random(in: 2...3, using: &random)).map { _ in predicate(depth - 1) })
    case 1: return .compound(.not, [predicate(depth - 1)])
    case 2: return .constant(.random(using: &random))
    default: return .comparison(comparison(depth))
    }
  }

  private mutating func comparison(_ depth: Int) -> ComparisonNode {
    let operators: [ComparisonOperator] = ComparisonOperator.allCases
    let comparison: ComparisonOperator = operators.randomElement(using: &random) ?? .equalTo
    return ComparisonNode(
      left: expression(depth), right: expression(depth),
      modifier: ComparisonModifier(rawValue: .random(in: 0...2, using: &random)) ?? .direct,
      comparison: comparison,
      options: ComparisonOptions(rawValue: .random(in: 0...15, using: &random)),
      selector: comparison == .customSelector ? "hasPrefix:" : nil)
  }

  private mutating func expression(_ depth: Int) -> ExpressionNode {
    if depth == 0 { return leaf() }
    switch Int.random(in: 0...12, using: &random) {
    case 0:
      let names: [String] = [
        "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "raise:toPower:", "bitwiseAnd:with:",
        "bitwiseOr:with:",
        "bitwiseXor:with:", "leftshift:by:", "rightshift:by:", "modulus:by:",
      ]
      return .function(
        target: nil, name: names.randomElement(using: &random) ?? "",
        arguments: [expression(depth - 1), expression(depth - 1)])
    case 1: return .function(target: nil, name: "sum:", arguments: [expression(depth - 1)])
    case 2: return .function(target: expression(depth - 1), name: "pow:", arguments: [expression(depth - 1)])
    case 3: return .aggregate((0..<Int.random(in: 0...3, using: &random)).map { _ in expression(depth - 1) })
    case 4:
      return .subquery(collection: expression(depth - 1), variable: "v", predicate: predicate(depth - 1))
    case 5: return .conditional(predicate(depth - 1), expression(depth - 1), expression(depth - 1))
    case 6: return .set(.union, expression(depth - 1), expression(depth - 1))
    case 7: return .index(expression(depth - 1), .at(expression(depth - 1)))
    case 8:
      return .index(
        expression(depth - 1), [IndexNode.first, .last, .size].randomElement(using: &random) ?? .first)
    case 9: return .makePath(expression(depth - 1), "in.@max.self")
    case 10: return .function(target: nil, name: FunctionTable.negation, arguments: [.keyPath("a")])
    default: return leaf()
    }
  }

  private mutating func leaf() -> ExpressionNode {
    switch Int.random(in: 0...9, using: &random) {
    case 0: .constant(.integer(.random(in: -1000...1000, using: &random)))
    case 1: .constant(.double(Double(Int.random(in: -1000...1000, using: &random)) + 0.25))
    case 2:
      .constant(.string(["", "a\"b", "it's", "\\*", "%@", "é\n", "$x"].randomElement(using: &random) ?? ""))
    case 3: .constant(.null)
    case 4:
      .constant(.date(Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -9...9, using: &random)))))
    case 5: .variable("x")
    case 6: .evaluatedObject
    case 7: .keyPath(["a", "size", "order", "a.in", "@sum.x", "größe"].randomElement(using: &random) ?? "a")
    case 8: .anyKey
    default: .function(target: nil, name: "now", arguments: [])
    }
  }
}
