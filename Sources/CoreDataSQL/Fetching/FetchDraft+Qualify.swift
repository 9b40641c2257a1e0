import CoreDataPredicates
import CoreDataStorage

extension FetchDraft {
  /// The predicate, and the entity numbers if the table also holds rows of other entities.
  mutating func qualify() throws {
    let compiler = PredicateCompiler(schema: schema, trace: trace)
    let predicate: SQLExpression =
      try (trace?.predicate ?? plan.predicate).map { predicate in
        try PredicateDepth.check(predicate)
        return try compiler.condition(predicate, PredicateScope(object: root))
      } ?? .truth(true)
    condition = .conjunction([treeCondition(predicate), entityCondition(), predicate])
  }

  /// What an R-tree index tells about the rows; nothing without one that serves the predicate.
  private func treeCondition(_ predicate: SQLExpression) -> SQLExpression {
    let trees: [RTree] = schema.trees.filter {
      schema.layout.entities[$0.entity].family.contains(plan.entity.index)
    }
    if trees.isEmpty { return .truth(true) }
    let members: [SQLExpression] = if case .all(let members) = predicate { members } else { [predicate] }
    let search = TreeSearch(members, of: root.alias)
    return trees.lazy.compactMap { search.condition(root.key, in: $0) }.first ?? .truth(true)
  }

  private func entityCondition() -> SQLExpression {
    let wanted: ClosedRange<Int> =
      plan.includesSubentities ? plan.entity.family : plan.entity.index...plan.entity.index
    let hierarchy: ClosedRange<Int> = schema.layout.entities[plan.entity.rootIndex].family
    return EntityCondition.condition(root.entityNumber, wanted, of: hierarchy, schema)
  }
}

/// `entity = ?`, `IN (?, ?)`, or nothing if the table holds no other rows.
enum EntityCondition {
  static func condition(
    _ column: SQLExpression, _ wanted: ClosedRange<Int>, of hierarchy: ClosedRange<Int>,
    _ schema: StoreSchema
  ) -> SQLExpression {
    if wanted == hierarchy { return .truth(true) }
    let numbers: [Int64] = wanted.map { Int64(schema.entityNumbers[$0]) }.sorted()
    if numbers.count == 1 { return .binary(.equal, column, .bound(.integer(numbers[0]))) }
    let isRange: Bool = numbers[numbers.count - 1] - numbers[0] == Int64(numbers.count - 1)
    if isRange, numbers.count > 8 {
      return .between(column, .bound(.integer(numbers[0])), .bound(.integer(numbers[numbers.count - 1])))
    }
    return .inList(column, numbers.map { .bound(.integer($0)) })
  }
}
