import CoreDataPredicates
import CoreDataStorage

/// One `left operator right` with both sides resolved. The extensions hold the operators, one family in each
/// file.
struct Comparison {
  let node: ComparisonNode
  let compiler: PredicateCompiler

  var options: ComparisonOptions { node.options }
  var schema: StoreSchema { compiler.schema }

  /// Whether text is compared without folding: no options, or texts that are declared normalized.
  var isLiteral: Bool { options.isLiteral }

  func sql(_ node: SemanticNode) throws -> SQLExpression { try schema.dialect.rewrite(node) }

  /// The constant as columns of the type hold it, compared by `symbol`.
  func bind(_ constant: PredicateValue, as type: ValueType, _ symbol: SQLOperator = .equal) -> BoundValue {
    schema.encoding.bind(constant, as: type, comparedBy: symbol)
  }

  /// A side that is a choice is compared branch by branch, because the branches may be of any kind.
  func compile(_ left: Operand, _ right: Operand) throws -> SQLExpression {
    try left.eachBranch { left in
      try right.eachBranch { right in
        let condition: SQLExpression = try compare(left, right)
        // Members of a relationship are compared inside the condition.
        if node.comparison == .contains, case .members = left { return condition }
        return traced(condition, left, right)
      }
    }
  }

  private func compare(_ left: Operand, _ right: Operand) throws -> SQLExpression {
    switch node.comparison {
    case .equalTo: return try equality(left, right)
    case .notEqualTo: return try equality(left, right).negated
    case .lessThan: return try order(.less, left, right)
    case .lessThanOrEqualTo: return try order(.lessOrEqual, left, right)
    case .greaterThan: return try order(.greater, left, right)
    case .greaterThanOrEqualTo: return try order(.greaterOrEqual, left, right)
    case .between: return try between(left, right)
    case .in: return try membership(of: left, in: right)
    case .contains: return try membership(of: right, in: left)
    case .beginsWith: return try search(.beginsWith, left, right)
    case .endsWith: return try search(.endsWith, left, right)
    case .like: return try like(left, right)
    case .matches: return try matches(left, right)
    case .customSelector where node.selector == ClassTest.selector: return try isKind(left, right)
    case .customSelector, .tokenMatches, .utiConformsTo, .utiEquals:
      throw unsupported(
        "a database has no operator for it", "use another operator, or filter the fetched objects")
    }
  }

  /// The comparison, for messages.
  var text: String { Printer.print(.comparison(node)) }

  /// The error for a comparison that the database can't evaluate, but memory can.
  func unsupported(_ reason: String, _ advice: String) -> StoreError {
    .unsupported(part: text, reason: reason, advice: advice)
  }

  /// The error for a comparison that fails for every row, in memory too.
  func invalid(_ reason: String, _ advice: String) -> StoreError {
    .invalid(part: text, reason: reason, advice: advice)
  }

  /// The error for a to-many path in place of a single value.
  func toManyNotAllowed() -> StoreError {
    invalid(
      "to-many key not allowed here", "put ANY, ALL or NONE before the path, or compare its @count")
  }
}
