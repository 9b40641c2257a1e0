import CoreDataPredicates
import CoreDataStorage

extension PredicateCompiler {
  /// `ANY`, `SOME` and `ALL`. Every member is tested, also nil; several to-many steps are one flat
  /// collection. Without a collection `ANY` is false and `ALL` is true.
  func quantified(
    _ node: ComparisonNode, _ left: Operand, _ right: Operand, _ scope: PredicateScope
  ) throws -> SQLExpression {
    let needsAll: Bool = node.modifier == .all
    let comparison = Comparison(node: node, compiler: self)
    switch left {
    case .members(let members):
      let test: SQLExpression = try comparison.compile(members.element, right)
      let present: SQLExpression =
        members.leavesOutNil && members.canHoldNil ? .isNotNull(members.value) : .truth(true)
      if needsAll { return members.exists(where: .conjunction([present, test.negated])).negated }
      return members.exists(where: .conjunction([present, test]))
    case .constant(let value) where value.isNull: return .truth(needsAll)
    case .constant(let value):
      guard let members = value.elements else { break }
      return try quantified(comparison, members.map(Operand.constant), right)
    case .list(let members): return try quantified(comparison, members, right)
    case .choice: return try left.eachBranch { try quantified(node, $0, right, scope) }
    case .combined(.union, let first, let second):
      // The union with a missing collection is missing, so that `ANY` is false and `ALL` is true.
      let missing: SQLExpression = .disjunction([first.isMissingCollection, second.isMissingCollection])
      let both: [SQLExpression] = try [first, second].map {
        try quantified(node, $0.withoutNilOfSets, right, scope)
      }
      if needsAll { return .disjunction([missing, .conjunction(both)]) }
      return .conjunction([missing.negated, .disjunction(both)])
    case .combined:
      guard let members = try members(of: left, Printer.print(node.left), scope) else {
        return .truth(needsAll)
      }
      return try quantified(node, .members(members), right, scope)
    case .value, .object, .entity:
      if node.takesSingleValue { return try comparison.compile(left, right) }
      try left.checkReadable(Printer.print(node.left))
    }
    throw invalid(
      node.left,
      "ANY, SOME, ALL and NONE need a to-many relationship, and '\(Printer.print(node.left))' crosses none",
      "leave the quantifier out")
  }

  private func quantified(
    _ comparison: Comparison, _ members: [Operand], _ right: Operand
  ) throws -> SQLExpression {
    let tests: [SQLExpression] = try members.map { try comparison.compile($0, right) }
    return comparison.node.modifier == .all ? .conjunction(tests) : .disjunction(tests)
  }
}

extension Operand {
  /// Sets contain no nil, unlike a relationship's own values, for which the quantifiers test it.
  fileprivate var withoutNilOfSets: Operand {
    guard case .members(var members) = self, members.isSet else { return self }
    members.leavesOutNil = true
    return .members(members)
  }

  /// True if there is no collection, not even an empty one.
  var isMissingCollection: SQLExpression {
    switch self {
    case .members(let members): members.isMissing ?? .truth(false)
    case .constant(let value): .truth(value.isNull)
    case .combined(_, let left, let right):
      .disjunction([left.isMissingCollection, right.isMissingCollection])
    default: .truth(false)
    }
  }
}
