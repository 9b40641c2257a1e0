import CoreDataPredicates
import CoreDataStorage

extension FetchDraft {
  /// Order terms. The key ends the order, in the direction of the last term: an index on that column already holds its
  /// entries so, and equal values come out the same way every time.
  mutating func sort() throws {
    guard let last = plan.order.last else { return }
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
    if !byKey { order.append(SQLOrderTerm(root.key, ascending: last.ascending)) }
  }

  private func operand(_ term: FetchOrder) throws -> Operand {
    let path: [String] =
      term.keyPath.isEmpty || term.keyPath == "self" ? [] : KeyPathResolver.components(term.keyPath)
    return try PredicateCompiler(schema: schema).paths.read(path, from: .object(root), text: term.keyPath)
  }
}
