import CoreDataPredicates
import Foundation

/// Turns the expression tree of a Swift `Predicate` or `Expression` into a tree of the predicate language.
///
/// Each node of the Swift tree converts itself (``ConvertiblePredicateExpression``; a family
/// of nodes a file). The shapes are those that Apple's framework gives, so that the texts agree:
///
///     $0.boss?.name == "Ann"         TERNARY(boss != nil, boss.name, nil) == "Ann"
///     $0.items.contains { $0.done }  SUBQUERY(items, $_local_1, $_local_1.done == 1).@count != 0
///
/// They are long-winded because they are general; ``PredicateNode/simplified`` brings them to what a store
/// can use an index for. Where such a shape would have another result than Swift has (`contains("")`, regular
/// expressions with alternatives) another one is used.
///
/// A part without counterpart that depends on no variable is evaluated at once and becomes a constant; any
/// other is an error that names it.
package final class PredicateConversion {
  /// The operands that the variables of enclosing closures are bound to.
  private var operands: [PredicateExpressions.VariableID: ExpressionNode] = [:]
  /// The values of variables that are constants.
  private var bindings: PredicateBindings = .init()
  private var localCount: Int = 0
  private var level: Int = 0

  /// The Swift tree nests closures and operators as the source does; more levels come from joining predicates
  /// in loops.
  private static let deepest: Int = 150

  init() {}

  // MARK: Variables

  /// Binds the variable of a closure to an operand.
  func bind(_ variable: PredicateExpressions.VariableID, to operand: ExpressionNode) {
    operands[variable] = operand
  }

  /// Binds the variable of a closure to a value. A value that no predicate can hold can still be read from.
  func bind<Value>(_ variable: PredicateExpressions.Variable<Value>, toValue value: Value) {
    bindings[variable] = value
    operands[variable.key] = (try? Self.constant(value)).map(ExpressionNode.constant)
  }

  /// Binds the variable of a closure to the members of a subquery.
  func bindLocal(_ variable: PredicateExpressions.VariableID) -> String {
    localCount += 1
    let name: String = "_local_\(localCount)"
    operands[variable] = .variable(name)
    return name
  }

  func operand(for variable: PredicateExpressions.VariableID) throws -> ExpressionNode {
    if let operand = operands[variable] { return operand }
    throw PredicateError.unsupported(
      "A variable of this Swift predicate stands for nothing that a predicate can hold. Capture the values that are "
        + "compared, not an object of a type of your own.")
  }

  // MARK: Converting

  /// The node as an operand; a condition becomes a conditional of true and false.
  func expression(_ node: any PredicateExpression) throws -> ExpressionNode {
    switch try convert(node) {
    case .expression(let expression): expression
    case .predicate(let predicate):
      .conditional(predicate, .constant(.bool(true)), .constant(.bool(false)))
    }
  }

  /// The node as a condition; an operand is compared with true.
  func predicate(_ node: any PredicateExpression) throws -> PredicateNode {
    switch try convert(node) {
    case .expression(let expression): .compare(expression, .equalTo, .constant(.bool(true)))
    case .predicate(let predicate): predicate
    }
  }

  func convert(_ node: any PredicateExpression) throws -> ConvertedNode {
    level += 1
    defer { level -= 1 }
    guard level <= Self.deepest else {
      throw PredicateError.unsupported(
        "This Swift predicate nests deeper than \(Self.deepest) levels. Join many conditions with NSCompoundPredicate."
      )
    }
    do {
      guard let convertible = node as? any ConvertiblePredicateExpression else { throw unsupported(node) }
      return try convertible.convert(with: self)
    } catch {
      guard let value = value(of: node), let constant = try? Self.constant(value) else { throw error }
      return .expression(.constant(constant))
    }
  }

  /// The value of a node that depends on no variable.
  func value<Node: PredicateExpression>(of node: Node) -> Node.Output? {
    try? node.evaluate(bindings)
  }

  /// The error for a node that has no counterpart in the predicate language.
  func unsupported(
    _ node: any PredicateExpression, _ reason: String = "NSPredicate has no counterpart",
    _ advice: String =
      "Rewrite the condition with operators that Documentation/swift-predicates.md lists, or filter the "
      + "objects with the Swift predicate itself"
  ) -> PredicateError {
    .unsupported("\(Self.name(of: node)) in a Swift predicate can't be converted: \(reason). \(advice).")
  }

  /// `CollectionRangeSubscript`, without its generic arguments.
  private static func name(of node: any PredicateExpression) -> String {
    String("\(type(of: node))".prefix { $0 != "<" })
  }
}

/// The result of converting a node of a Swift predicate: an operand or a condition.
package enum ConvertedNode {
  case expression(ExpressionNode)
  case predicate(PredicateNode)
}

/// A node of a Swift predicate that can be converted, at least for some operands.
package protocol ConvertiblePredicateExpression: PredicateExpression {
  /// - Throws: ``PredicateError`` that names the part that can't be converted.
  func convert(with conversion: PredicateConversion) throws -> ConvertedNode
}

extension PredicateNode {
  /// `left operator right`
  static func compare(
    _ left: ExpressionNode, _ comparison: ComparisonOperator, _ right: ExpressionNode,
    _ options: ComparisonOptions = []
  ) -> PredicateNode {
    .comparison(ComparisonNode(left: left, right: right, comparison: comparison, options: options))
  }
}
