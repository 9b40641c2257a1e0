import CoreDataEvaluation
import CoreDataPredicates
import Foundation

/// A projection computed in memory, from rows that key-value coding reads. The rows are those that match the
/// plan's predicate, by key.
///
/// Cost: linear in the rows; a group holds one running value for each function, not its rows.
package struct ProjectionEvaluation {
  private let plan: ProjectionPlan
  private let shape: DividedProjection
  private let columns: [ExpressionProgram]
  private let order: [(expression: ExpressionProgram, term: ProjectionOrder)]

  /// Throws `StoreError` for a plan without meaning.
  package init(_ plan: ProjectionPlan) throws {
    let shape = try DividedProjection(plan)
    self.plan = plan
    self.shape = shape
    columns = shape.columns.map { ExpressionProgram($0) }
    order = shape.order.map { (ExpressionProgram($0.expression), $0) }
  }

  package func run(_ rows: some Sequence<Any>) throws -> ProjectedRows {
    var lines: [Line] = shape.isGrouped ? try grouped(rows) : try plain(rows)
    try sort(&lines)
    var limiter = DistinctLimiter(isDistinct: plan.isDistinct, limit: plan.limit, offset: plan.offset)
    var table = ProjectedRows(width: columns.count)
    for line in lines {
      if limiter.isFull { break }
      if limiter.accepts(line.values) { table.append(row: line.values) }
    }
    return table
  }

  /// A row of the result with the values it is sorted by.
  private struct Line {
    var values: [PredicateValue]
    var order: [PredicateValue]
    var keys: [PredicateValue] = []
  }

  private func plain(_ rows: some Sequence<Any>) throws -> [Line] {
    try rows.map { row in
      Line(
        values: try columns.map { try $0.value(row) }, order: try order.map { try $0.expression.value(row) })
    }
  }

  // MARK: Grouping

  private struct Group {
    var keys: [PredicateValue]
    var totals: [AggregateAccumulator]
  }

  private func grouped(_ rows: some Sequence<Any>) throws -> [Line] {
    let keys: [ExpressionProgram] = shape.keys.map { ExpressionProgram($0) }
    let arguments: [MemberValues] = shape.aggregates.map {
      MemberValues($0.argument, of: plan.rows.entity.entity)
    }
    let fresh: [AggregateAccumulator] = zip(shape.aggregates, arguments).map {
      AggregateAccumulator($0.function, ofReals: $1.areReals)
    }
    // Without keys there is one group, even if there are no rows.
    var groups: [Group] = keys.isEmpty ? [Group(keys: [], totals: fresh)] : []
    var places: [[PredicateValue]: Int] = keys.isEmpty ? [[]: 0] : [:]
    for row in rows {
      let key: [PredicateValue] = try keys.map { try $0.value(row) }
      let place: Int
      if let known = places[key] {
        place = known
      } else {
        place = groups.count
        places[key] = place
        groups.append(Group(keys: key, totals: fresh))
      }
      for (number, argument) in arguments.enumerated() {
        try argument.add(of: row, to: &groups[place].totals[number])
      }
    }
    return try lines(groups)
  }

  private func lines(_ groups: [Group]) throws -> [Line] {
    let having: PredicateProgram? = shape.having.map { PredicateProgram($0) }
    var lines: [Line] = []
    for group in groups {
      var variables: [String: Any] = [:]
      for (number, key) in group.keys.enumerated() { variables[DividedProjection.key(number)] = key }
      for (number, total) in group.totals.enumerated() {
        variables[DividedProjection.aggregate(number)] = try total.value()
      }
      if let having, try !having.evaluate(nil, variables: variables) { continue }
      lines.append(
        Line(
          values: try columns.map { try $0.value(nil, variables: variables) },
          order: try order.map { try $0.expression.value(nil, variables: variables) }, keys: group.keys))
    }
    return lines
  }

  // MARK: Sorting

  /// Rows that the order does not distinguish come in the order of insertion, groups by their keys.
  private func sort(_ lines: inout [Line]) throws {
    if order.isEmpty && !shape.isGrouped { return }
    let terms: [(StringComparison, ascending: Bool)] = order.map { ($0.term.comparison, $0.term.ascending) }
    let positions: [Int] = try lines.indices.sorted { left, right in
      for (number, term) in terms.enumerated() {
        let result: ComparisonResult = try ProjectionEvaluation.compare(
          lines[left].order[number], lines[right].order[number], term.0)
        if result != .orderedSame { return (result == .orderedAscending) == term.ascending }
      }
      for (a, b) in zip(lines[left].keys, lines[right].keys) {
        let result: ComparisonResult = try ProjectionEvaluation.compare(a, b, .plain)
        if result != .orderedSame { return result == .orderedAscending }
      }
      return left < right
    }
    lines = positions.map { lines[$0] }
  }

  private static func compare(
    _ left: PredicateValue, _ right: PredicateValue, _ comparison: StringComparison
  ) throws -> ComparisonResult {
    try SortTerm(key: nil, ascending: true, comparison: comparison).order(left, right)
  }
}
