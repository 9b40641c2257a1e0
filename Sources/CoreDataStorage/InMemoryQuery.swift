import CoreDataEvaluation
import CoreDataPredicates
import Foundation

/// One fetch over one state: check, collect, filter, sort, limit.
struct InMemoryQuery {
  private let plan: FetchPlan
  private let state: InMemoryState
  private let layout: ModelLayout

  init(_ plan: FetchPlan, _ state: InMemoryState) {
    self.plan = plan
    self.state = state
    layout = state.schema.layout
  }

  /// The rows, in order. Rows that the order does not distinguish come in the order of insertion.
  func run() throws -> [RowRef] {
    try checkPredicate()
    let terms: [Term] = try plan.order.map(term)
    // Without an order the first rows that match are enough.
    let (wanted, isEndless) = max(0, plan.offset).addingReportingOverflow(plan.limit)
    let isEnough: Bool = plan.limit > 0 && terms.isEmpty && !isEndless
    var rows: [RowRef] = try filter(candidates(), atMost: isEnough ? wanted : nil)
    if !terms.isEmpty { rows = try sort(rows, by: terms) }
    if plan.offset > 0 { rows.removeFirst(min(plan.offset, rows.count)) }
    if plan.limit > 0, rows.count > plan.limit { rows.removeLast(rows.count - plan.limit) }
    return rows
  }

  /// Throws what is wrong with the plan's order, for callers that do not sort.
  func checkOrder() throws {
    for order in plan.order { _ = try term(order) }
  }

  // MARK: Collecting and filtering

  private func candidates() -> [RowRef] {
    let family: ClosedRange<Int> =
      plan.includesSubentities ? plan.entity.family : plan.entity.index...plan.entity.index
    let table: InMemoryRowTable = state.table(of: plan.entity)
    if let keys = InMemoryIndexUse(plan, state).keys() {
      return keys.compactMap(table.row).filter { family.contains($0.entity) }
    }
    var rows: [RowRef] = []
    rows.reserveCapacity(table.count)
    var isSorted = true
    table.forEach { row in
      guard family.contains(row.entity) else { return }
      if let last = rows.last, last.key > row.key { isSorted = false }
      rows.append(row)
    }
    if !isSorted { rows.sort { $0.key < $1.key } }
    return rows
  }

  private func filter(_ rows: [RowRef], atMost wanted: Int?) throws -> [RowRef] {
    guard let predicate = plan.predicate else { return rows }
    if case .constant(let value) = predicate { return value ? rows : [] }
    let source = InMemoryRowProxy.Source(state)
    let program = PredicateProgram(InMemoryRowProxy.bind(predicate, to: source))
    var passed: [RowRef] = []
    for row in rows {
      if try program.evaluate(InMemoryRowProxy(row: row, source: source)) {
        passed.append(row)
        if passed.count == wanted { break }
      }
    }
    return passed
  }

  // MARK: Checking

  /// Rejects what needs objects, and paths that name no property, even if there is no row to evaluate.
  private func checkPredicate() throws {
    guard let predicate = plan.predicate else { return }
    if let part = predicate.firstProgramCode {
      throw StoreError.unsupported(
        part: part, reason: "it is code of the program, which wants objects and not rows",
        advice: "Fetch through a context, which evaluates the condition over objects.")
    }
    let check = KeyPathCheck(layout: layout, entity: plan.entity)
    for path in predicate.keyPaths { try check.check(path) }
  }

  // MARK: Sorting

  private struct Term {
    /// The to-one words to follow.
    var steps: [Int]
    /// The value at the end; nil sorts by key.
    var column: (kind: ColumnKind, word: Int)?
    /// The value to compute if the path names more than a column; the fields above are not used then.
    var computed: ExpressionProgram?
    var comparison: SortTerm
  }

  private func term(_ order: FetchOrder) throws -> Term {
    let comparison = SortTerm(key: order.keyPath, ascending: order.ascending, comparison: order.comparison)
    var entity: EntityLayout = plan.entity
    var steps: [Int] = []
    var components: [String] = order.keyPath.split(separator: ".", omittingEmptySubsequences: false)
      .map(String.init)
    var place: Int = -1
    while place + 1 < components.count {
      place += 1
      components = components[..<place] + entity.joinElements(Array(components[place...]))
      let name: String = components[place]
      let isLast: Bool = place == components.count - 1
      guard let slot = entity.slot(named: name) else {
        if name == "self" || name == "SELF" || isLast && name == "objectID" { continue }
        if name == "entity", !isLast { return try computed(order, comparison) }
        throw StoreError.unknownKeyPath(
          order.keyPath, entity: plan.entity.name,
          advice: "\(entity.name) has no property \"\(name)\". "
            + NearestNames.advice(for: name, among: entity.slotByName.keys))
      }
      guard case .stored(let kind, let word) = slot.role else {
        if slot.isToMany {
          let rest: ArraySlice<String> = components[(place + 1)...]
          if rest.contains(where: { $0.hasPrefix("@") }) { return try computed(order, comparison) }
          throw StoreError.invalid(
            part: "sort by \(order.keyPath)",
            reason: "to-many key not allowed here: \(entity.name).\(name) has many values",
            advice: "Sort by an attribute, by one of a to-one relationship, or by the members' @count.")
        }
        if slot.role == .composite {
          throw StoreError.invalid(
            part: "sort by \(order.keyPath)",
            reason: "\(entity.name).\(name) is a composite attribute, and dictionaries have no order",
            advice: "Sort by an element of it.")
        }
        throw StoreError.unsupported(
          part: "sort by \(order.keyPath)", reason: "\(entity.name).\(name) is not stored",
          advice: "Fetch through a context, which sorts the objects.")
      }
      if kind == .toOne, let destination = slot.destination {
        steps.append(word)
        entity = layout.entities[destination]
      } else if isLast {
        return Term(steps: steps, column: (kind, word), comparison: comparison)
      } else {
        return try computed(order, comparison)
      }
    }
    return Term(steps: steps, column: nil, comparison: comparison)
  }

  /// A term whose value is not a column: `items.@count`, `name.length`, `entity.name`.
  private func computed(_ order: FetchOrder, _ comparison: SortTerm) throws -> Term {
    try KeyPathCheck(layout: layout, entity: plan.entity).check(order.keyPath)
    return Term(
      steps: [], computed: ExpressionProgram(.keyPath(order.keyPath)), comparison: comparison)
  }

  private func sort(_ rows: [RowRef], by terms: [Term]) throws -> [RowRef] {
    // Values are decoded once for each row, not for each comparison.
    let source = InMemoryRowProxy.Source(state)
    let values: [[PredicateValue]] = try rows.map { row in
      try terms.map { try value(of: row, $0, source) }
    }
    let positions: [Int] = try rows.indices.sorted { left, right in
      for (number, term) in terms.enumerated() {
        let result: ComparisonResult = try term.comparison.order(values[left][number], values[right][number])
        if result != .orderedSame { return result == .orderedAscending }
      }
      return left < right
    }
    return positions.map { rows[$0] }
  }

  private func value(
    of row: RowRef, _ term: Term, _ source: InMemoryRowProxy.Source
  ) throws -> PredicateValue {
    if let computed = term.computed {
      return try computed.value(InMemoryRowProxy(row: row, source: source))
    }
    var row: RowRef = row
    for (place, step) in term.steps.enumerated() {
      guard row.hasValue(step) else { return .null }
      let target: RowID = row.target(step)
      // If the last step of a path is a relationship it needs no row: its key is the value.
      if term.column == nil, place == term.steps.count - 1 { return .integer(target.key) }
      guard let next = state.row(target) else { return .null }
      row = next
    }
    guard let (kind, word) = term.column else { return .integer(row.key) }
    guard row.hasValue(word) else { return .null }
    // URLs are sorted as text.
    return kind == .uri ? .string(row.string(word)) : kind.predicateValue(row, word)
  }
}
