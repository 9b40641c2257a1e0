import CoreDataPredicates

/// The rows that can pass a condition on a to-one (`owner == x`, `owner IN {x, y}`) or on the row itself
/// (`SELF IN {x, y}`), from the indexes of the state. Without them each such fetch would scan its table, and
/// a deletion that cascades over n levels would cost n² rows.
struct InMemoryIndexUse {
  private let plan: FetchPlan
  private let state: InMemoryState

  init(_ plan: FetchPlan, _ state: InMemoryState) {
    self.plan = plan
    self.state = state
  }

  /// The keys, ascending, of rows among which all are that pass the plan's predicate; nil if no index tells.
  func keys() -> [Int64]? {
    guard let predicate = plan.predicate else { return nil }
    let found: [[Int64]] = conjuncts(of: predicate).compactMap(keys)
    guard let fewest = found.min(by: { $0.count < $1.count }) else { return nil }
    return Set(fewest).sorted()
  }

  /// Conditions of which a row passes each if it passes the predicate.
  private func conjuncts(of predicate: PredicateNode) -> [ComparisonNode] {
    switch predicate {
    case .comparison(let node): [node]
    case .compound(.and, let members): members.flatMap(conjuncts)
    default: []
    }
  }

  private func keys(_ node: ComparisonNode) -> [Int64]? {
    guard node.modifier == .direct else { return nil }
    switch node.comparison {
    case .equalTo:
      return keys(node.left, among: [node.right]) ?? keys(node.right, among: [node.left])
    case .in:
      switch node.right {
      case .aggregate(let members): return keys(node.left, among: members)
      case .constant(.array(let members)): return keys(node.left, among: members.map { .constant($0) })
      case .constant(.set(let members)): return keys(node.left, among: members.map { .constant($0) })
      default: return nil
      }
    default: return nil
    }
  }

  private func keys(_ place: ExpressionNode, among targets: [ExpressionNode]) -> [Int64]? {
    guard let index: Index = index(over: place) else { return nil }
    var keys: [Int64] = []
    for target in targets {
      guard case .constant(.object(let box)) = target, let reference = box.value as? ObjectReference else {
        return nil
      }
      // An object that the store does not hold equals nothing.
      guard let id = reference.id else { continue }
      switch index {
      case .rows: keys.append(id.key)
      case .link(let number): keys += state.links[number].forward[id.key] ?? []
      }
    }
    return keys
  }

  private enum Index {
    case rows
    /// Number of the link that indexes a to-one.
    case link(Int)
  }

  private func index(over place: ExpressionNode) -> Index? {
    switch place {
    case .evaluatedObject: return .rows
    case .keyPath(let name):
      guard let slot = plan.entity.slot(named: name) else { return name == "objectID" ? .rows : nil }
      guard case .stored(.toOne, let word) = slot.role else { return nil }
      let address = InMemorySchema.Address(entity: slot.declaringEntity, slot: word)
      return state.schema.indexByWord[address].map { .link($0) }
    default: return nil
    }
  }
}
