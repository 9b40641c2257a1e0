import CoreDataPredicates

/// A fetch of values instead of objects: the columns of a fetch that returns dictionaries.
///
///     rows      which rows                    Item, priority > 1
///     groups    made one row of the result    category.name
///     columns   one expression each           category.name, count:(title), max:(price)
///     having    which groups stay             count:(title) > 2
///     order, isDistinct, limit, offset        apply to the result's rows
///
/// Without groups, an aggregate (`sum:`, `count:`, …) makes one row of all rows. Expressions are closed as a
/// fetch plan's predicate is: no variables, objects as `ObjectReference`.
package struct ProjectionPlan: Sendable {
  /// Entity and predicate; its order, limit and offset are ignored.
  package var rows: FetchPlan
  package var columns: [ProjectionColumn]
  package var groups: [ExpressionNode] = []
  package var having: PredicateNode?
  package var order: [ProjectionOrder] = []
  package var isDistinct: Bool = false
  /// 0: no limit.
  package var limit: Int = 0
  package var offset: Int = 0

  package init(rows: FetchPlan, columns: [ProjectionColumn]) {
    self.rows = rows
    self.columns = columns
  }

  /// The plan with every constant replaced, for instance references to rows by the form that an engine reads.
  package func mapConstants(_ replace: (PredicateValue) throws -> PredicateValue) rethrows -> ProjectionPlan {
    var plan: ProjectionPlan = self
    plan.rows.predicate = try rows.predicate?.mapConstants(replace)
    for place in columns.indices {
      plan.columns[place].expression = try columns[place].expression.mapConstants(replace)
    }
    plan.groups = try groups.map { try $0.mapConstants(replace) }
    plan.having = try having?.mapConstants(replace)
    for place in order.indices {
      plan.order[place].expression = try order[place].expression.mapConstants(replace)
    }
    return plan
  }
}

package struct ProjectionColumn: Sendable, Hashable {
  package var name: String
  package var expression: ExpressionNode

  package init(name: String, expression: ExpressionNode) {
    self.name = name
    self.expression = expression
  }
}

/// One term of a projection's order; nil sorts before every value when ascending.
package struct ProjectionOrder: Sendable, Hashable {
  package var expression: ExpressionNode
  package var ascending: Bool
  package var comparison: StringComparison

  package init(_ expression: ExpressionNode, ascending: Bool = true, comparison: StringComparison = .plain) {
    self.expression = expression
    self.ascending = ascending
    self.comparison = comparison
  }
}

/// The rows of a projection, one after the other. Objects are `ObjectReference`s.
package struct ProjectedRows: Sendable, Equatable {
  package let width: Int
  package private(set) var values: [PredicateValue] = []

  package init(width: Int) { self.width = width }

  package var count: Int { width == 0 ? 0 : values.count / width }

  package subscript(row: Int, column: Int) -> PredicateValue { values[row * width + column] }

  /// The values of one row.
  package func row(_ row: Int) -> ArraySlice<PredicateValue> { values[row * width..<(row + 1) * width] }

  package mutating func append(row: some Collection<PredicateValue>) {
    precondition(row.count == width, "a row of \(row.count) values in a table of \(width) columns")
    values.append(contentsOf: row)
  }

  package mutating func mapValues(_ replace: (PredicateValue) throws -> PredicateValue) rethrows {
    for place in values.indices { values[place] = try replace(values[place]) }
  }
}

/// Removes repeated rows from a stream of rows, and applies offset and limit to the rest.
package struct DistinctLimiter {
  private var seen: Set<[PredicateValue]> = []
  private let isDistinct: Bool
  private var toSkip: Int
  private var toTake: Int

  package init(isDistinct: Bool, limit: Int, offset: Int) {
    self.isDistinct = isDistinct
    toSkip = max(0, offset)
    toTake = limit > 0 ? limit : .max
  }

  /// Whether the limit is reached.
  package var isFull: Bool { toTake == 0 }

  package mutating func accepts(_ row: [PredicateValue]) -> Bool {
    if isFull || isDistinct && !seen.insert(row).inserted { return false }
    if toSkip > 0 {
      toSkip -= 1
      return false
    }
    toTake -= 1
    return true
  }
}
