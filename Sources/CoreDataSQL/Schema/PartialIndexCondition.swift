import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The condition of a partial index as text. Values can't be bound there, and only the table's own columns and SQLite's own
/// operators may take part.
///
/// SQLite uses such an index for a statement that says the same in the same words, so the words are Apple's wherever they are known:
///
///     state != 4                      ZSTATE <> 4
///     label != nil                    ZLABEL IS NOT NULL
///     a == -1 AND (b > 1 OR c == 0)   (ZA = -1 AND (ZB > 1 OR ZC = 0))
///
/// As in Apple's, `<>` leaves rows without a value out of the index; fetches of Clarus that count them in don't use it.
struct PartialIndexCondition {
  let entity: EntityLayout
  let schema: StoreSchema

  /// nil if the predicate needs more than that.
  static func text(_ predicate: Foundation.NSPredicate, of entity: EntityLayout, schema: StoreSchema)
    -> String?
  {
    let condition = PartialIndexCondition(entity: entity, schema: schema)
    return condition.text(predicate.predicateNode()) ?? condition.compiled(predicate)
  }

  private func text(_ predicate: PredicateNode) -> String? {
    switch predicate {
    case .compound(let kind, let members) where kind != .not && !members.isEmpty:
      let parts: [String] = members.compactMap(text)
      guard parts.count == members.count else { return nil }
      return "(" + parts.joined(separator: kind == .and ? " AND " : " OR ") + ")"
    case .comparison(let node) where node.modifier == .direct && node.options.isEmpty:
      guard case .keyPath(let path) = node.left, case .constant(let value) = node.right,
        let column = column(path)
      else { return nil }
      if value.isNull {
        switch node.comparison {
        case .equalTo: return "\(column) IS NULL"
        case .notEqualTo: return "\(column) IS NOT NULL"
        default: return nil
        }
      }
      guard let symbol = Self.symbols[node.comparison], let literal = Self.literal(value) else { return nil }
      return "\(column) \(symbol) \(literal)"
    default: return nil
    }
  }

  private static let symbols: [ComparisonOperator: String] = [
    .equalTo: "=", .notEqualTo: "<>", .lessThan: "<", .lessThanOrEqualTo: "<=", .greaterThan: ">",
    .greaterThanOrEqualTo: ">=",
  ]

  private static func literal(_ value: PredicateValue) -> String? {
    switch value {
    case .bool(let flag): flag ? "1" : "0"
    case .integer(let number): "\(number)"
    case .string(let text) where !text.utf8.contains(0): "'\(text.replacing("'", with: "''"))'"
    default: nil
    }
  }

  private func column(_ property: String) -> String? {
    guard let slot = entity.slotByName[property] else { return nil }
    switch schema.storage[entity.index][slot] {
    case .attribute(let column): return SQLIdentifier.quoted(column.name)
    case .toOne(let columns): return SQLIdentifier.quoted(columns.key)
    case .none, .toMany: return nil
    }
  }

  /// Other conditions as fetches say them.
  private func compiled(_ predicate: Foundation.NSPredicate) -> String? {
    guard let table = try? schema.table(of: entity.index) else { return nil }
    let frame = SelectFrame(aliases: AliasSource())
    frame.source = .table(table.name, alias: nil)
    let root = ObjectPlace(entity: entity.index, table: table, alias: nil, frame: frame)
    let condition: SQLExpression? = try? PredicateCompiler(schema: schema)
      .condition(predicate.predicateNode(), PredicateScope(object: root))
    guard let condition, frame.joins.isEmpty, condition.isLocal else { return nil }
    return SQLRenderer.inline(condition, dialect: SQLiteDialect())
  }
}

extension SQLExpression {
  /// Whether one row and SQLite alone are enough to evaluate it.
  var isLocal: Bool {
    switch self {
    case .column, .bound, .integer, .null, .truth: true
    case .function, .aggregate, .exists, .scalar, .inSelect, .distinct, .named, .countRows: false
    case .builtin(_, let parts), .all(let parts), .any(let parts): parts.allSatisfy(\.isLocal)
    case .binary(_, let left, let right): left.isLocal && right.isLocal
    case .negative(let part), .bitNot(let part), .noIndex(let part), .isNull(let part), .isNotNull(let part),
      .isNotTrue(let part), .cast(let part, _):
      part.isLocal
    case .between(let a, let b, let c), .choice(let a, let b, let c): a.isLocal && b.isLocal && c.isLocal
    case .inList(let value, let members): value.isLocal && members.allSatisfy(\.isLocal)
    }
  }
}
