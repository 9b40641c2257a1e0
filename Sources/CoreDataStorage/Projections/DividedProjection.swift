import CoreDataPredicates

/// A projection plan divided into parts, the same way for every engine.
///
/// A plain projection has a row for each row of the store, and its expressions are read from that row. In a
/// grouped one the group's keys and the aggregates are computed first, and the remaining expressions are read
/// from them:
///
///     plan      category.name | sum:(price) / count:(price)
///     shape     keys          category.name                  → $group 0
///               aggregates    sum:(price), count:(price)     → $aggregate 0, $aggregate 1
///               columns       $group 0 | $aggregate 0 / $aggregate 1
///
/// The variables' names contain a space, which no predicate format can contain.
package struct DividedProjection: Sendable {
  package let isGrouped: Bool
  package let keys: [ExpressionNode]
  package let aggregates: [RowAggregate]
  package let columns: [ExpressionNode]
  package let having: PredicateNode?
  package let order: [ProjectionOrder]

  /// Throws `StoreError.unsupported` for a value that is neither grouped nor an aggregate of the group's
  /// rows.
  package init(_ plan: ProjectionPlan) throws {
    isGrouped =
      !plan.groups.isEmpty || plan.having != nil
      || plan.columns.contains { RowAggregate.isOverRows($0.expression) }
    guard isGrouped else {
      (keys, aggregates, having, order) = ([], [], nil, plan.order)
      columns = plan.columns.map(\.expression)
      return
    }
    if plan.having != nil, plan.groups.isEmpty {
      throw StoreError.unsupported(
        part: "havingPredicate", reason: "there are no groups to ask",
        advice: "Set propertiesToGroupBy, or use predicate to choose rows.")
    }
    var grouping = Grouping(keys: plan.groups)
    columns = try plan.columns.map { try grouping.rewrite($0.expression) }
    having = try plan.having.map { try grouping.rewrite($0) }
    // Aggregates over all rows give one row, so the order has no effect. Requests often contain one anyway.
    order =
      plan.groups.isEmpty
      ? []
      : try plan.order.map { term in
        var term: ProjectionOrder = term
        term.expression = try grouping.rewrite(term.expression)
        return term
      }
    keys = plan.groups
    aggregates = grouping.aggregates
  }

  package static func key(_ number: Int) -> String { "group \(number)" }
  package static func aggregate(_ number: Int) -> String { "aggregate \(number)" }

  /// The index of the group key that a column of the shape consists of; nil if it is not just a key.
  package func keyNumber(_ column: ExpressionNode) -> Int? {
    keys.indices.first { column == .variable(DividedProjection.key($0)) }
  }

  /// The index of the aggregate that a column of the shape consists of; nil if it is not just an aggregate.
  package func aggregateNumber(_ column: ExpressionNode) -> Int? {
    aggregates.indices.first { column == .variable(DividedProjection.aggregate($0)) }
  }
}

/// Replaces keys and aggregates by variables.
private struct Grouping {
  let keys: [ExpressionNode]
  var aggregates: [RowAggregate] = []

  mutating func rewrite(_ expression: ExpressionNode) throws -> ExpressionNode {
    if let number = keys.firstIndex(of: expression) { return .variable(DividedProjection.key(number)) }
    if let aggregate = RowAggregate(expression) { return .variable(try name(aggregate, expression)) }
    switch expression {
    case .keyPath, .evaluatedObject, .path, .dynamicPath, .subquery, .fetch, .anyKey, .block:
      throw StoreError.unsupported(
        part: Printer.print(expression), reason: "it is neither grouped nor aggregated",
        advice: keys.isEmpty
          ? "Beside functions over all rows there is no row to read it from: name it in propertiesToGroupBy, or put "
            + "min:, max:, sum:, average: or count: around it."
          : "Name it in propertiesToGroupBy, or put min:, max:, sum:, average: or count: around it.")
    default:
      // The closures of a walk can't share the struct that they change.
      var copy: Grouping = self
      defer { self = copy }
      return try expression.mapChildren({ try copy.rewrite($0) }, predicate: { try copy.rewrite($0) })
    }
  }

  mutating func rewrite(_ predicate: PredicateNode) throws -> PredicateNode {
    switch predicate {
    case .constant: return predicate
    case .comparison(var node):
      node.left = try rewrite(node.left)
      node.right = try rewrite(node.right)
      return .comparison(node)
    case .compound(let kind, let members): return .compound(kind, try members.map { try rewrite($0) })
    case .block:
      throw StoreError.unsupported(
        part: "BLOCKPREDICATE", reason: "a block can't be asked about a group of rows",
        advice: "Write the condition as a format, or filter the dictionaries.")
    }
  }

  private mutating func name(_ aggregate: RowAggregate, _ expression: ExpressionNode) throws -> String {
    if RowAggregate.isOverRows(aggregate.argument) {
      throw StoreError.unsupported(
        part: Printer.print(expression), reason: "a function over rows stands within another",
        advice: "Fetch the inner one and compute the outer from the dictionaries.")
    }
    if let known = aggregates.firstIndex(of: aggregate) { return DividedProjection.aggregate(known) }
    aggregates.append(aggregate)
    return DividedProjection.aggregate(aggregates.count - 1)
  }
}
