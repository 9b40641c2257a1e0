import CoreDataPredicates
import Foundation

/// Compiles trees to closures.
enum Compiler {
  static func compile(_ predicate: PredicateNode) -> Test {
    switch predicate {
    case .constant(let value): return { _ in value }
    case .comparison(let node): return compile(node)
    case .block(let block) where block.predicate is TooDeepPredicate: return { _ in throw TreeLimits.error }
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
    if let constant = ConstantComparison.constant(of: node.right) {
      let operation: ConstantComparison = ConstantComparison(node, constant)
      if node.modifier == .direct {
        let value = left.value
        return { try operation.holds(value($0)) }
      }
      holds = { value, _ in try operation.holds(value) }
    } else {
      let right = compile(node.right).value
      if node.modifier == .direct {
        let value = left.value
        return { try compare(value($0), node, right($0)) }
      }
      holds = { try compare($0, node, right($1)) }
    }
    let raw = compileMembers(node.left)
    let needsAll: Bool = node.modifier == .all
    return { context in
      guard let collection = try raw(context), !isNullObject(collection) else { return needsAll }
      guard let elements = RawCollection.elements(of: collection) else {
        if node.takesSingleValue { return try holds(PredicateValue(normalizing: collection), context) }
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
  /// A pattern in an object may be no regular expression, and an argument in an object may be missing: it
  /// matches nothing. In a predicate's constant this is an error.
  static func compare(
    _ left: PredicateValue, _ node: ComparisonNode, _ right: PredicateValue
  ) throws -> Bool {
    do {
      return try ValueComparison.holds(left, node, right)
    } catch let error as PredicateError where error.isEvaluation {
      switch (node.right, node.comparison, left, right) {
      case (.constant, _, _, _), (.variable, _, _, _): throw error
      case (_, .matches, .string, .string): return false
      case (_, .customSelector, _, _)
      where right.isNull && StandardSelectors.usual.contains(node.selector ?? ""):
        return false
      default: throw error
      }
    }
  }
}

extension Foundation.NSPredicate {
  /// Calls a block, or a predicate class of the program; a block never leads back to the tree that holds it.
  fileprivate func evaluatingBlock(_ object: Any?, _ bindings: [String: Any]?) throws -> Bool {
    evaluate(with: object, substitutionVariables: bindings)
  }
}
