import Foundation
import PredicateVectors
import TestSupport
import Testing

@testable import CoreDataPredicates

/// What prints parses back to an equal tree, and prints the same again.
///
/// Out of the law are constants that no format can express: objects, blocks, UUIDs, URLs, data, dictionaries,
/// infinity and not-a-number. A constant array or set prints as braces, which parse as an aggregate
/// of its members.
struct PrinterLawTests {
  private static let seeds: ClosedRange<UInt64> = {
    if let given = Seed.given {
      return given...given
    }
    return 1...(Soak.isOn ? 20_000 : 2_000)
  }()

  @Test func `random predicates survive printing and parsing`() {
    var kinds: Set<String> = []
    for seed in Self.seeds {
      var maker: TreeMaker = TreeMaker(random: SeededRandom(seed: seed))
      let node: PredicateNode = maker.predicate(4)
      if let problem = Self.problem(node) { Issue.record("seed \(seed): \(problem)") }
      kinds.formUnion(NodeKinds.of(node))
    }
    // A maker that forgets a kind of node proves nothing about it.
    if Self.seeds.count > 1 { #expect(NodeKinds.all.subtracting(kinds).isEmpty) }
  }

  @Test func `random expressions survive printing and parsing`() {
    for seed in Self.seeds {
      var maker: TreeMaker = TreeMaker(random: SeededRandom(seed: ~seed))
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
    case .function(nil, let name, _): BuiltinFunction.mark(of: name) == nil ? "function" : "infix"
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
