import CoreDataPredicates
import CoreDataStorage

extension FetchDraft {
  /// Order terms, and a last one that orders rows which the others do not distinguish.
  mutating func sort() throws {
    if plan.order.isEmpty { return }
    let compiler = PredicateCompiler(schema: schema)
    var byKey: Bool = false
    for term in plan.order {
      switch try compiler.paths.read(components(term), from: .object(root), text: term.keyPath) {
      case .value(let value, let type):
        let collation: SQLCollation? = type == .string ? SQLCollation(term.comparison) : nil
        order.append(
          try compiler.orderTerm(
            value, isDecimal: type == .decimal, ascending: term.ascending, collation: collation))
      case .object(let place):
        order.append(SQLOrderTerm(place.key, ascending: term.ascending))
        if place === root { byKey = true }
      case .constant, .list, .members, .entity, .choice, .combined:
        throw StoreError.invalid(
          part: "sort by \(term.keyPath)", reason: "to-many key not allowed here",
          advice: "sort by an attribute, by one of a to-one relationship, or by the members' @count")
      }
    }
    if !byKey, let tieBreaker = root.tieBreaker(after: order, in: schema) { order.append(tieBreaker) }
  }

  private func components(_ term: FetchOrder) -> [String] {
    term.keyPath.isEmpty ? [] : KeyPathResolver.components(term.keyPath)
  }
}

extension PredicateCompiler {
  /// The term that orders rows by a value.
  func orderTerm(
    _ value: SQLExpression, isDecimal: Bool, ascending: Bool, collation: SQLCollation? = nil
  ) throws -> SQLOrderTerm {
    let key: SQLExpression = isDecimal ? try sql(.function(.decimalKey, [value])) : value
    return try schema.dialect.rewrite(SQLOrderTerm(key, ascending: ascending, collation: collation))
  }
}
