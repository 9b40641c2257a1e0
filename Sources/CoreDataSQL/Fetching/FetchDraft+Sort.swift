import CoreDataPredicates
import CoreDataStorage

extension FetchDraft {
  /// Order terms, and what decides between rows that they leave equal.
  mutating func sort() throws {
    if plan.order.isEmpty { return }
    var byKey: Bool = false
    for term in plan.order {
      let expression: SQLExpression
      var collation: SQLCollation?
      switch try operand(term) {
      case .value(let value, let type):
        expression = type == .decimal ? .function(.decimalKey, [value]) : value
        if type == .string { collation = SQLCollation(term.comparison) }
      case .object(let place):
        expression = place.key
        if place === root { byKey = true }
      case .constant, .list, .members, .entity, .choice, .combined:
        throw StoreError.invalid(
          part: "sort by \(term.keyPath)", reason: "to-many key not allowed here",
          advice: "sort by an attribute, by one of a to-one relationship, or by the members' @count")
      }
      order.append(SQLOrderTerm(expression, ascending: term.ascending, collation: collation))
    }
    if !byKey, let tie = root.tie(after: order, in: schema) { order.append(tie) }
  }

  private func operand(_ term: FetchOrder) throws -> Operand {
    let path: [String] = term.keyPath.isEmpty ? [] : KeyPathResolver.components(term.keyPath)
    return try PredicateCompiler(schema: schema).paths.read(path, from: .object(root), text: term.keyPath)
  }
}
