import CoreDataPredicates
import Foundation

// What Swift's optionals become is full of choices between a value and nil. In memory that does no harm; a
// store can use an index only for a plain comparison. These rules bring the one to the other, and change the
// result for no object:
//
//     TERNARY(boss != nil, boss.name, nil) == "Ann"    boss.name == "Ann"
//     TERNARY(name != nil, name, "") == "Ann"          name != nil AND name == "Ann"
//     TERNARY(due < $d, 1, 0) == 1                     due < $d
//     TERNARY(a ==[c] b, 0, …) == 0                    a ==[c] b

extension PredicateNode {
  /// An equivalent predicate with fewer conditionals (`TERNARY`); the predicate itself if it has none.
  package var simplified: PredicateNode {
    var hasChoice: Bool = false
    forEachExpression { if case .conditional = $0 { hasChoice = true } }
    return hasChoice ? StackGuard.run(levels: Self.framesPerLevel * depth) { reduced } : self
  }

  /// The frames that a level takes, compared with other walks: deciding and joining are called in between.
  private static let framesPerLevel: Int = 4

  fileprivate var reduced: PredicateNode {
    switch self {
    case .constant, .block: return self
    case .comparison(var node):
      node.left = node.left.reduced
      node.right = node.right.reduced
      return node.modifier == .direct ? Self.decide(node) : .comparison(node)
    case .compound(.not, let members):
      guard let member = members.first?.reduced else { return self }
      if case .constant(let value) = member { return .constant(!value) }
      return .compound(.not, [member])
    case .compound(let kind, let members): return Self.join(kind, members.map(\.reduced))
    }
  }

  /// A comparison with a choice on one side and a constant on the other is left to the choice's branches,
  /// when the result of at least one of them is known.
  private static func decide(_ node: ComparisonNode) -> PredicateNode {
    switch (node.left, node.right) {
    case (.constant(let left), .constant(let right)):
      if let known = answer(left, node, right) { return .constant(known) }
    case (.conditional(let test, let then, let otherwise), .constant):
      var (yes, no): (ComparisonNode, ComparisonNode) = (node, node)
      (yes.left, no.left) = (then, otherwise)
      if let choice = choice(test, decide(yes), decide(no)) { return choice }
    case (.constant, .conditional(let test, let then, let otherwise)):
      var (yes, no): (ComparisonNode, ComparisonNode) = (node, node)
      (yes.right, no.right) = (then, otherwise)
      if let choice = choice(test, decide(yes), decide(no)) { return choice }
    default: break
    }
    return .comparison(node)
  }

  /// Objects are compared where they are, by the evaluator or the store.
  private static func answer(
    _ left: PredicateValue, _ node: ComparisonNode, _ right: PredicateValue
  ) -> Bool? {
    if case .object = left { return nil }
    if case .object = right { return nil }
    return try? ValueComparison.holds(left, node, right)
  }

  private static func choice(
    _ test: PredicateNode, _ yes: PredicateNode, _ no: PredicateNode
  ) -> PredicateNode? {
    switch (yes, no) {
    case (.constant(true), .constant(true)): .constant(true)
    case (.constant(false), .constant(false)): .constant(false)
    case (.constant(true), .constant(false)): test
    case (.constant(true), _): join(.or, [test, no])
    case (.constant(false), _): join(.and, [.compound(.not, [test]).reduced, no])
    case (_, .constant(true)): join(.or, [.compound(.not, [test]).reduced, yes])
    case (_, .constant(false)): join(.and, [test, yes])
    default: nil
    }
  }

  /// A compound without constants, repetitions and compounds of the same kind inside.
  private static func join(_ kind: CompoundKind, _ members: [PredicateNode]) -> PredicateNode {
    let neutral: Bool = kind == .and
    var result: [PredicateNode] = []
    var seen: Set<PredicateNode> = []
    for member in members {
      let parts: [PredicateNode]
      if case .compound(kind, let inner) = member { parts = inner } else { parts = [member] }
      for part in parts {
        if case .constant(let value) = part {
          if value == neutral { continue }
          return .constant(value)
        }
        if seen.insert(part).inserted { result.append(part) }
      }
    }
    return result.isEmpty ? .constant(neutral) : result.count == 1 ? result[0] : .compound(kind, result)
  }
}

extension ExpressionNode {
  fileprivate var reduced: ExpressionNode {
    let expression: ExpressionNode = mapChildren({ $0.reduced }, predicate: { $0.reduced })
    switch expression {
    case .conditional(.constant(true), let then, _): return then
    case .conditional(.constant(false), _, let otherwise): return otherwise
    case .conditional(.comparison(let test), let then, .constant(let otherwise)):
      // nil gives nil in any case.
      let isGuard: Bool =
        test.modifier == .direct && test.comparison == .notEqualTo && test.right == .constant(.null)
        && otherwise.isNull
      return isGuard && then.isNil(with: test.left) ? then : expression
    case .path(.conditional(let test, let then, let otherwise), let path)
    where then == .constant(.null) || otherwise == .constant(.null):
      return ExpressionNode.conditional(test, then.below(path), otherwise.below(path)).reduced
    default: return expression
    }
  }

  private func below(_ path: String) -> ExpressionNode {
    self == .constant(.null) ? self : .makePath(self, path)
  }

  /// Whether the expression is nil whenever the other one is: a path that begins with it.
  private func isNil(with other: ExpressionNode) -> Bool {
    if self == other { return true }
    switch self {
    case .path(let target, _): return target.isNil(with: other)
    case .keyPath(let path):
      guard case .keyPath(let start) = other else { return false }
      return path.hasPrefix("\(start).")
    default: return false
    }
  }
}
