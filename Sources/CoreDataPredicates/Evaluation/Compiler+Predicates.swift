import Foundation

/// Compiles trees to closures.
enum Compiler {
  static func compile(_ predicate: PredicateNode) -> Test {
    switch predicate {
    case .constant(let value): return { _ in value }
    case .comparison(let node): return compile(node)
    case .block(let block):
      return { try block.predicate.evaluatingBlock($0.object, $0.allBindings) }
    case .compound(.not, let members):
      guard let member = members.first else { return { _ in false } }
      let test: Test = compile(member)
      return { try !test($0) }
    case .compound(.and, let members):
      let tests: [Test] = members.map { compile($0) }
      return { context in
        for test in tests where try !test(context) { return false }
        return true
      }
    case .compound(.or, let members):
      let tests: [Test] = members.map { compile($0) }
      return { context in
        for test in tests where try test(context) { return true }
        return false
      }
    }
  }

  private static func compile(_ node: ComparisonNode) -> Test {
    let left: CompiledExpression = compile(node.left)
    let holds: @Sendable (PredicateValue, EvaluationContext) throws -> Bool
    if case .constant(let constant) = node.right {
      let operation: ConstantComparison = ConstantComparison(node, constant)
      if node.modifier == .direct {
        let value = left.value
        return { try operation.holds(value($0), $0.rules) }
      }
      holds = { try operation.holds($0, $1.rules) }
    } else {
      let right = compile(node.right).value
      if node.modifier == .direct {
        let value = left.value
        return { try compare(value($0), node, right($0), $0.rules) }
      }
      holds = { try compare($0, node, right($1), $1.rules) }
    }
    let raw = compileMembers(node.left)
    let needsAll: Bool = node.modifier == .all
    return { context in
      guard let collection = try raw(context), !(collection is NSNull) else { return needsAll }
      guard let elements = RawCollection.elements(of: collection) else {
        throw PredicateError.evaluation(
          "The left side of an ALL or ANY operator must be an array or a set, but \(Printer.print(node.left)) gave "
            + "\(PredicateValue(normalizing: collection).kindName) in \(Printer.print(.comparison(node))). "
            + "Leave out the quantifier, or name a to-many relationship.")
      }
      for element in elements where try holds(PredicateValue(normalizing: element), context) != needsAll {
        return !needsAll
      }
      return needsAll
    }
  }
}

extension Compiler {
  /// Under the rules of stores a pattern that a row holds may be no regular expression, an argument that it should hold may be
  /// missing: it matches nothing.
  fileprivate static func compare(
    _ left: PredicateValue, _ node: ComparisonNode, _ right: PredicateValue, _ rules: EvaluationRules
  ) throws -> Bool {
    do {
      return try ValueComparison.holds(left, node, right)
    } catch let error as PredicateError where error.isEvaluation && rules == .store {
      if case .constant = node.right { throw error }
      switch (node.comparison, left, right) {
      case (.matches, .string, .string): return false
      case (.customSelector, _, _) where right.isNull && Messages.usual.contains(node.selector ?? ""):
        return false
      default: throw error
      }
    }
  }
}

extension Foundation.NSPredicate {
  /// Calls a block, or a predicate class of the program's own; a block never leads back to the tree that holds it.
  fileprivate func evaluatingBlock(_ object: Any?, _ bindings: [String: Any]?) throws -> Bool {
    evaluate(with: object, substitutionVariables: bindings)
  }
}

/// A comparison with a constant on its right, prepared as far as possible.
private struct ConstantComparison: Sendable {
  private enum Strategy: Sendable {
    case equal
    case notEqual
    /// `==`, `!=` and searches with the constant folded once.
    case text(@Sendable (String) -> Bool)
    case like(LikePattern)
    case matches(RegularExpression)
    case member(Set<PredicateValue>)
    case general
  }

  private let strategy: Strategy
  private let constant: PredicateValue
  private let node: ComparisonNode

  init(_ node: ComparisonNode, _ constant: PredicateValue) {
    self.node = node
    self.constant = constant
    switch (node.comparison, constant) {
    case (.equalTo, _) where node.options.isEmpty: strategy = .equal
    case (.notEqualTo, _) where node.options.isEmpty: strategy = .notEqual
    case (let comparison, .string(let text)) where TextTest.isTest(comparison, node.options):
      strategy = .text(TextTest.make(comparison, text, node.options))
    case (.like, .string(let pattern)) where StringMatching.Mode(node.options) != .localized:
      strategy = .like(LikePattern(pattern, node.options))
    case (.matches, .string(let pattern)):
      // An invalid pattern is an error of the evaluation, which compiles it again to throw.
      strategy = (try? RegularExpression(pattern, node.options)).map(Strategy.matches) ?? .general
    case (.in, .array(let members)) where node.options.isEmpty && members.count > 4:
      strategy = .member(Set(members))
    case (.in, .set(let members)) where node.options.isEmpty: strategy = .member(members)
    default: strategy = .general
    }
  }

  @inline(__always)
  func holds(_ value: PredicateValue, _ rules: EvaluationRules) throws -> Bool {
    switch strategy {
    case .equal: return value == constant
    case .notEqual: return value != constant
    case .member(let members): return members.contains(value)
    case .text(let test):
      if case .string(let text) = value { return test(text) }
    case .like(let pattern):
      if case .string(let text) = value { return pattern.matches(text) }
    case .matches(let expression):
      if case .string(let text) = value { return expression.matches(text) }
    case .general: break
    }
    return try Compiler.compare(value, node, constant, rules)
  }
}
