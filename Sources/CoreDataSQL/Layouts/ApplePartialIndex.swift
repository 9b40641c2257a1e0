import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The condition of a partial index. Values can't be bound there, and it may contain only the table's own
/// columns and SQLite's own operators.
///
/// SQLite uses such an index for a statement with the same condition in the same words, so the words are
/// Apple's as far as they are known:
///
///     state != 4                      ZSTATE <> 4
///     label != nil                    ZLABEL IS NOT NULL
///     a == -1 AND (b > 1 OR c == 0)   (ZA = -1 AND (ZB > 1 OR ZC = 0))
///
/// As in Apple's files, `<>` leaves rows without a value out of the index; fetches of Clarus that include
/// them don't use it.
struct PartialIndexCondition {
  let entity: EntityLayout
  let schema: StoreSchema

  /// nil if the predicate needs more than these.
  static func tree(_ predicate: Foundation.NSPredicate, of entity: EntityLayout, schema: StoreSchema)
    -> SQLExpression?
  {
    let condition = PartialIndexCondition(entity: entity, schema: schema)
    return condition.tree(predicate.predicateNode())
      ?? LocalCondition.tree(predicate, of: entity, schema: schema)
  }

  private func tree(_ predicate: PredicateNode) -> SQLExpression? {
    switch predicate {
    case .compound(let kind, let members) where kind != .not && !members.isEmpty:
      let parts: [SQLExpression] = members.compactMap(tree)
      guard parts.count == members.count else { return nil }
      return .enclosed(kind == .and ? .all(parts) : .any(parts))
    case .comparison(let node) where node.modifier == .direct && node.options.isEmpty:
      guard case .keyPath(let path) = node.left, case .constant(let value) = node.right,
        let column = schema.column(of: entity, named: path).map({ SQLExpression.column(nil, $0) })
      else { return nil }
      if value.isNull {
        switch node.comparison {
        case .equalTo: return .isNull(column)
        case .notEqualTo: return .isNotNull(column)
        default: return nil
        }
      }
      guard let symbol = Self.symbols[node.comparison], let literal = Self.literal(value) else { return nil }
      return .binary(symbol, column, literal)
    default: return nil
    }
  }

  private static let symbols: [ComparisonOperator: SQLOperator] = [
    .equalTo: .equal, .notEqualTo: .unequal, .lessThan: .less, .lessThanOrEqualTo: .lessOrEqual,
    .greaterThan: .greater, .greaterThanOrEqualTo: .greaterOrEqual,
  ]

  private static func literal(_ value: PredicateValue) -> SQLExpression? {
    switch value {
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .integer(let number): .integer(number)
    case .string(let text) where !text.utf8.contains(0): .bound(.text(text))
    default: nil
    }
  }
}
