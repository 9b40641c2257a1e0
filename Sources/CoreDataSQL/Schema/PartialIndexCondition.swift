import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The condition of a partial index as text. Values can't be bound there, and only the table's own columns and SQLite's own
/// operators may take part.
enum PartialIndexCondition {
  /// nil if the predicate needs more than that.
  static func text(_ predicate: Foundation.NSPredicate, of entity: EntityLayout, schema: StoreSchema)
    -> String?
  {
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
