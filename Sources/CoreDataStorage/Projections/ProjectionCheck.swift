import CoreDataPredicates

/// Rejects expressions that can be evaluated for no row, before any row is read: for all stores that compute
/// projections in memory.
package struct ProjectionCheck {
  private let plan: ProjectionPlan
  private let paths: KeyPathCheck

  package init(_ plan: ProjectionPlan, _ layout: ModelLayout) {
    self.plan = plan
    paths = KeyPathCheck(layout: layout, entity: plan.rows.entity)
  }

  package func run() throws {
    for column in plan.columns { try check(column.expression) }
    for key in plan.groups { try check(key) }
    for term in plan.order { try check(term.expression) }
    if let having = plan.having { try check(having) }
  }

  private func check(_ expression: ExpressionNode) throws {
    if let aggregate = RowAggregate(expression), aggregate.argument != expression {
      return try check(aggregate, expression)
    }
    switch expression {
    case .keyPath(let path):
      if try paths.check(path) {
        throw StoreError.unsupported(
          part: path, reason: "to-many key not allowed here",
          advice: "A column holds one value: put count:, min:, max:, sum: or average: around the path.")
      }
    case .subquery(let collection, _, let predicate):
      for path in collection.keyPaths + predicate.keyPaths { try paths.check(path) }
    default: try expression.forEachChild({ try check($0) }, predicate: { try check($0) })
    }
  }

  private func check(_ predicate: PredicateNode) throws {
    switch predicate {
    case .constant, .block: return
    case .comparison(let node) where node.modifier == .direct:
      try check(node.left)
      try check(node.right)
    case .comparison(let node):
      for path in node.left.keyPaths + node.right.keyPaths { try paths.check(path) }
    case .compound(_, let members): for member in members { try check(member) }
    }
  }

  private func check(_ aggregate: RowAggregate, _ expression: ExpressionNode) throws {
    guard case .keyPath(let path) = aggregate.argument else {
      if aggregate.argument != .evaluatedObject { try check(aggregate.argument) }
      return
    }
    let isCollection: Bool = try paths.check(path)
    if aggregate.function == .members, !isCollection {
      throw StoreError.unsupported(
        part: Printer.print(expression), reason: "@count needs a to-many relationship before it",
        advice: "Write relationship.@count, or count:(\(path)) for the values that are not nil.")
    }
  }
}
