import CoreDataEvaluation
import CoreDataPredicates
import CoreDataStorage

/// Compiles predicates to conditions of SQL that are true for exactly the rows for which the predicate is
/// true in memory. With a table `person` and PostgreSQL's dialect:
///
///     name == 'a'              t0.name = $1
///     name != 'a'              t0.name IS DISTINCT FROM $1        true for nil, as in memory
///     NOT (age < 3)            (t0.age < $1) IS NOT TRUE          true for nil
///     name BEGINSWITH 'ab'     t0.name >= $1 AND t0.name < $2     "ab" and "ac"; an index serves it
///     owner.name == 'x'        LEFT JOIN person t1 ON t1._id = t0.owner_id … t1.name = $1
///     ANY pets.age > 3         EXISTS (SELECT 1 FROM pet t1 WHERE t1.owner_id = t0._id AND t1.age > $1)
///     ALL pets.age > 3         NOT EXISTS (… AND (t1.age > $1) IS NOT TRUE)
///     pets.@count > 2          (SELECT COUNT(*) FROM pet t1 WHERE t1.owner_id = t0._id) > $1
///
/// An expression that only memory can evaluate throws `StoreError.unsupported` with the part's text, and the
/// graph evaluates it (Decisions/0013). An expression that fails for every row throws `.invalid`, or
/// `.unknownKeyPath` with the nearest names.
struct PredicateCompiler {
  let schema: StoreSchema
  /// Follows the parameters of the statement's shape; nil if the statement is not kept.
  var trace: ConstantTrace?
  /// The parameter of the comparison that is being compiled.
  var parameter: Int?
  var paths: KeyPathResolver { KeyPathResolver(schema: schema) }

  /// The database's expression for a node.
  func sql(_ node: SemanticNode) throws -> SQLExpression { try schema.dialect.rewrite(node) }

  func condition(_ predicate: PredicateNode, _ scope: PredicateScope) throws -> SQLExpression {
    switch predicate {
    case .constant(let value): return .truth(value)
    case .compound(.and, let members): return try conjunction(members, scope)
    case .compound(.or, let members): return .disjunction(try members.map { try condition($0, scope) })
    case .compound(.not, let members):
      return try members.first.map { try condition($0, scope).negated } ?? .truth(false)
    case .comparison(let node): return try comparison(node, scope)
    case .block:
      throw StoreError.unsupported(
        part: "BLOCKPREDICATE", reason: "a block is code, which a database can't run",
        advice: "write the condition as a format, or filter the fetched objects")
    }
  }

  func comparison(_ node: ComparisonNode, _ scope: PredicateScope) throws -> SQLExpression {
    var compiler: PredicateCompiler = self
    var node: ComparisonNode = node
    if let trace { (node, compiler.parameter) = trace.original(node) }
    if let value = try constantResult(node) { return .truth(value) }
    let left: Operand = try operand(node.left, scope)
    let right: Operand = try operand(node.right, scope)
    switch node.modifier {
    case .direct: return try Comparison(node: node, compiler: compiler).compile(left, right)
    case .any, .all: return try compiler.quantified(node, left, right, scope)
    }
  }

  /// A comparison in which nothing depends on the row is evaluated now.
  private func constantResult(_ node: ComparisonNode) throws -> Bool? {
    guard isConstant(node.left), isConstant(node.right), node.comparison != .customSelector else {
      return nil
    }
    return try PredicateProgram(.comparison(node)).evaluate(nil)
  }

  /// Whether the value is the same for every row.
  func isConstant(_ expression: ExpressionNode) -> Bool {
    var result: Bool = true
    expression.forEachExpression { part in
      switch part {
      case .constant(.object): result = false
      case .function(target: nil, let name, _) where BuiltinFunction(rawValue: name)?.isRandom == true:
        result = false
      case .constant, .aggregate, .function(target: nil, _, _), .conditional, .set, .index: break
      default: result = false
      }
    }
    return result
  }

  func unsupported(_ expression: ExpressionNode, _ reason: String, _ advice: String) -> StoreError {
    .unsupported(part: Printer.print(expression), reason: reason, advice: advice)
  }

  func invalid(_ expression: ExpressionNode, _ reason: String, _ advice: String) -> StoreError {
    .invalid(part: Printer.print(expression), reason: reason, advice: advice)
  }
}
