import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Finds a fetch index that would keep a fetch from reading every row, or from sorting all of them for the
/// first few.
///
/// Candidates are made of the attributes that the predicate compares with constants and of those that the
/// fetch sorts by. Which of them serves is not guessed: the store asks its database for the plan of the same
/// statement over the same empty tables with that index.
struct FetchHint {
  private let plan: FetchPlan
  private let entity: EntityRuntime

  init(_ plan: FetchPlan, _ entity: EntityRuntime) {
    self.plan = plan
    self.entity = entity
  }

  /// Whether a plan of the database reads or sorts more than it has to.
  private func isSlow(_ lines: [String]) -> Bool { scans(lines) || (plan.limit > 0 && sorts(lines)) }

  private func scans(_ lines: [String]) -> Bool {
    lines.contains { $0.hasPrefix("SCAN ") && !$0.contains(" USING ") && !$0.contains("CONSTANT ROW") }
  }

  private func sorts(_ lines: [String]) -> Bool { lines.contains { $0.contains("B-TREE FOR ORDER BY") } }

  /// Advice for a fetch; nil if it needs none, or if no index helps.
  func text(_ explained: ExplainedStatement, _ operations: any StoreOperations) throws -> String? {
    guard isSlow(explained.queryPlan) else { return nil }
    for candidate in candidates {
      guard let lines = try operations.queryPlan(of: plan, indexing: candidate), !isSlow(lines) else {
        continue
      }
      return describe(candidate, scans(explained.queryPlan))
    }
    return nil
  }

  private func describe(_ slots: [IndexedSlot], _ scans: Bool) -> String {
    let names: [String] = slots.map { entity.layout.slots[$0.slot].name }
    let elements: [String] = zip(names, slots).map { $0 + ($1.ascending ? "" : " (descending)") }
    let name: String =
      "by" + names.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And")
    let owner: Int = slots.map { entity.layout.slots[$0.slot].declaringEntity }.max() ?? entity.index
    return """
      The fetch \(scans ? "reads every row" : "sorts all rows that match") of \(entity.layout.name). A fetch index would \
      serve it: add one to the entity \(entity.model.entities[owner].layout.name) in the model, such as '\(name)', with the \
      \(names.count == 1 ? "element" : "elements") \(elements.joined(separator: ", ")).
      """
  }

  // MARK: Candidates

  private var candidates: [[IndexedSlot]] {
    let (equal, ranges): ([Int], [Int]) = compared
    let fixed: [IndexedSlot] = equal.map { IndexedSlot(slot: $0) }
    let sorted: [IndexedSlot]? = order.map { $0.filter { !equal.contains($0.slot) } }
    var result: [[IndexedSlot]] = []
    if let sorted, !sorted.isEmpty { result.append(fixed + sorted) }
    for range in ranges { result.append(fixed + [IndexedSlot(slot: range)]) }
    if !fixed.isEmpty { result += [fixed] + fixed.map { [$0] } }
    if let sorted, !sorted.isEmpty, !fixed.isEmpty { result.append(sorted) }
    return result
  }

  /// The attributes that must have a value, or lie in a range, for a row to match.
  private var compared: (equal: [Int], ranges: [Int]) {
    var (equal, ranges): ([Int], [Int]) = ([], [])
    for case .comparison(let node) in plan.predicate?.conjuncts ?? []
    where node.modifier == .direct && node.options.isEmpty {
      guard let slot = attribute(node.left, against: node.right) ?? attribute(node.right, against: node.left)
      else { continue }
      switch node.comparison {
      case .equalTo, .in: if !equal.contains(slot) { equal.append(slot) }
      case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between, .beginsWith:
        if !ranges.contains(slot) { ranges.append(slot) }
      default: break
      }
    }
    return (equal, ranges.filter { !equal.contains($0) })
  }

  private func attribute(_ expression: ExpressionNode, against other: ExpressionNode) -> Int? {
    guard case .keyPath(let path) = expression else { return nil }
    switch other {
    case .constant, .aggregate: return slot(path)
    default: return nil
    }
  }

  private func slot(_ name: String) -> Int? {
    guard let slot = entity.layout.slotByName[name],
      case .stored(let kind, _) = entity.layout.slots[slot].role,
      kind != .toOne, kind != .transformable
    else { return nil }
    return slot
  }

  /// The attributes to sort by; nil if the fetch sorts by something else too, or not at all.
  private var order: [IndexedSlot]? {
    var result: [IndexedSlot] = []
    for term in plan.order {
      guard term.comparison == .plain, let slot = slot(term.keyPath) else { return nil }
      result.append(IndexedSlot(slot: slot, ascending: term.ascending))
    }
    return result.isEmpty ? nil : result
  }
}
