import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Conditions that a definition can contain: about one row, with the database's own operators.
enum LocalCondition {
  /// A predicate compiled as in fetches; nil if that needs more than one row, or functions that an engine
  /// registers.
  static func tree(_ predicate: Foundation.NSPredicate, of entity: EntityLayout, schema: StoreSchema)
    -> SQLExpression?
  {
    guard let table = try? schema.table(of: entity.index) else { return nil }
    let frame = SelectFrame(aliases: AliasSource())
    frame.source = .table(table.name, alias: nil)
    let root = JoinedObject(entity: entity.index, table: table, alias: nil, frame: frame)
    let condition: SQLExpression? = try? PredicateCompiler(schema: schema)
      .condition(predicate.predicateNode(), PredicateScope(object: root))
    guard let condition, frame.joins.isEmpty, condition.isLocal else { return nil }
    return condition
  }

  /// A value computed from columns alone, as in fetches; nil if that needs more, or constants.
  static func value(_ expression: ExpressionNode, of entity: EntityLayout, schema: StoreSchema)
    -> SQLExpression?
  {
    guard let table = try? schema.table(of: entity.index) else { return nil }
    let frame = SelectFrame(aliases: AliasSource())
    frame.source = .table(table.name, alias: nil)
    let root = JoinedObject(entity: entity.index, table: table, alias: nil, frame: frame)
    let value: SQLExpression? = try? PredicateCompiler(schema: schema)
      .scalar(expression, PredicateScope(object: root)).0
    guard let value, frame.joins.isEmpty, value.isOfColumns else { return nil }
    return value
  }
}

extension SQLExpression {
  /// Whether it is computed by the database's own operators, from columns of one row.
  fileprivate var isOfColumns: Bool {
    switch self {
    case .column(_, _): true
    case .binary(_, let left, let right): left.isOfColumns && right.isOfColumns
    case .negative(let part): part.isOfColumns
    case .builtin(_, let parts): !parts.isEmpty && parts.allSatisfy(\.isOfColumns)
    default: false
    }
  }

  /// Whether one row and the database alone are enough to evaluate it.
  var isLocal: Bool {
    switch self {
    case .column, .tableColumn, .bound, .constant, .integer, .null, .truth: true
    case .function, .aggregate, .exists, .scalar, .inSelect, .distinct, .named, .countRows, .parameter,
      .numbered:
      false
    case .builtin(_, let parts), .all(let parts), .any(let parts): parts.allSatisfy(\.isLocal)
    case .binary(_, let left, let right): left.isLocal && right.isLocal
    case .negative(let part), .bitNot(let part), .noIndex(let part), .isNull(let part), .isNotNull(let part),
      .isNotTrue(let part), .cast(let part, _), .enclosed(let part):
      part.isLocal
    case .between(let a, let b, let c), .choice(let a, let b, let c): a.isLocal && b.isLocal && c.isLocal
    case .inArray(let value, let array): value.isLocal && array.isLocal
    case .inList(let value, let members): value.isLocal && members.allSatisfy(\.isLocal)
    }
  }
}
