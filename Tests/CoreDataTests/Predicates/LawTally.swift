import CoreDataPredicates
import Foundation
import StackSupport

/// What became of the predicates.
struct LawTally {
  struct Count {
    var predicates: Int = 0
    /// Match some rows and not others: a law over empty results proves nothing.
    var telling: Int = 0
    var answered: Int = 0
    var refused: Int = 0
    var different: Int = 0
    /// Evaluated by the database alone.
    var inSQL: Int = 0
  }

  private(set) var counts: [StoreKind: Count] = [:]
  private var refusals: [String: Int] = [:]
  private(set) var features: [String: Int] = [:]

  var differences: Int { counts.values.reduce(0) { $0 + $1.different } }

  mutating func add(_ outcome: LawCase.Outcome, _ node: PredicateNode, _ kind: StoreKind) {
    var count: Count = counts[kind] ?? Count()
    count.predicates += 1
    switch outcome {
    case .agreed(let matching, let answered, let isSQL):
      count.answered += answered
      if matching > 0, matching < answered { count.telling += 1 }
      if isSQL { count.inSQL += 1 }
    case .refused(let reason):
      count.refused += 1
      refusals["\(kind.rawValue) \(reason.prefix(240))", default: 0] += 1
    case .different: count.different += 1
    }
    counts[kind] = count
    if kind == .sqlite { for feature in LawFeatures.of(node) { features[feature, default: 0] += 1 } }
  }

  var text: String {
    var lines: [String] = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, count in
      "\(kind.rawValue): \(count.predicates) predicates, \(count.telling) match some rows and not others, "
        + "\(count.inSQL) in SQL alone, \(count.answered) rows compared, \(count.refused) refused, \(count.different) differ"
    }
    for (reason, count) in refusals.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }).prefix(30) {
      lines.append("  refused \(count): \(reason)")
    }
    return lines.joined(separator: "\n")
  }
}

/// The parts of the language that a predicate uses, by name.
enum LawFeatures {
  /// What the law has to have seen to mean something.
  static let expected: Set<String> = {
    var result: Set<String> = [
      "TRUEPREDICATE", "AND", "OR", "NOT", "ANY", "ALL", "c", "d", "n", "l", "SELF", "variable",
      "path of a variable",
      "to-one path", "index", "FIRST", "LAST", "SIZE", "FUNCTION", "aggregate", "SUBQUERY", "nested SUBQUERY",
      "correlated SUBQUERY", "TERNARY", "UNION", "INTERSECT", "MINUS", "nil on the left", "nil on the right",
      "array", "set", "dictionary", "object",
    ]
    let operators: [ComparisonOperator] = ComparisonOperator.allCases.filter {
      ![.tokenMatches, .utiConformsTo, .utiEquals].contains($0)
    }
    result.formUnion(operators.map { "operator \($0)" })
    // Chance, and places on the earth; an index is a node of its own.
    let others: Set<String> = [
      "random", "randomn:", "distanceToLocation:fromLocation:", "objectFrom:withIndex:",
    ]
    result.formUnion(BuiltinFunction.selectors.subtracting(others))
    result.insert(BuiltinFunction.negate.selector)
    let marks: [String] = ["count", "sum", "avg", "min", "max", "unionOfObjects", "distinctUnionOfObjects"]
    return result.union(marks.map { "@\($0)" })
  }()

  static func of(_ node: PredicateNode) -> Set<String> {
    var features: Set<String> = []
    add(node, to: &features, outer: [])
    return features
  }

  private static func add(_ node: PredicateNode, to features: inout Set<String>, outer: [String]) {
    switch node {
    case .constant(let value): features.insert(value ? "TRUEPREDICATE" : "FALSEPREDICATE")
    case .block: features.insert("block")
    case .compound(let kind, let members):
      features.insert(kind == .and ? "AND" : kind == .or ? "OR" : "NOT")
      for member in members { add(member, to: &features, outer: outer) }
    case .comparison(let comparison):
      features.insert("operator \(comparison.comparison)")
      if comparison.modifier != .direct { features.insert(comparison.modifier == .any ? "ANY" : "ALL") }
      features.formUnion(comparison.options.letters.map(String.init))
      for (side, name) in [(comparison.left, "left"), (comparison.right, "right")] {
        if case .constant(let value) = side, value.isNull { features.insert("nil on the \(name)") }
        add(side, to: &features, outer: outer)
      }
    }
  }

  private static func add(_ expression: ExpressionNode, to features: inout Set<String>, outer: [String]) {
    expression.forEachExpression { part in
      switch part {
      case .constant(let value): features.insert(name(value))
      case .evaluatedObject: features.insert("SELF")
      case .variable: features.insert("variable")
      case .keyPath(let path):
        if path.contains("."), !path.contains("@") { features.insert("to-one path") }
        features.formUnion(marks(path))
      case .path(let target, let path):
        if case .variable = target { features.insert("path of a variable") }
        features.formUnion(marks(path))
      case .index(_, .first): features.insert("FIRST")
      case .index(_, .last): features.insert("LAST")
      case .index(_, .size): features.insert("SIZE")
      case .index: features.insert("index")
      case .function(.some, _, _): features.insert("FUNCTION")
      case .function(nil, let name, _): features.insert(name)
      case .aggregate: features.insert("aggregate")
      case .subquery(_, let variable, let predicate):
        features.insert(outer.isEmpty ? "SUBQUERY" : "nested SUBQUERY")
        if !predicate.keyPaths.isEmpty || !predicate.variables.subtracting([variable]).isDisjoint(with: outer)
        {
          features.insert("correlated SUBQUERY")
        }
        add(predicate, to: &features, outer: outer + [variable])
      case .conditional(let test, _, _):
        features.insert("TERNARY")
        add(test, to: &features, outer: outer)
      case .set(let operation, _, _): features.insert(operation.rawValue)
      case .anyKey, .dynamicPath, .assignment, .fetch, .block: features.insert("other")
      }
    }
  }

  private static func marks(_ path: String) -> Set<String> {
    Set(path.split(separator: ".").filter { $0.hasPrefix("@") }.map(String.init))
  }

  private static func name(_ value: PredicateValue) -> String {
    switch value {
    case .array: "array"
    case .set: "set"
    case .dictionary: "dictionary"
    case .object: "object"
    default: "constant"
    }
  }
}
