import CoreDataStorage

/// Generates the aliases of one statement: `t0`, `t1`, …
final class AliasSource {
  private var next: Int = 0
  func make() -> String {
    defer { next += 1 }
    return "t\(next)"
  }
}

/// The `FROM` part of one select while it is being built: its source and the joins that paths need.
///
///     SELECT … FROM ZITEM t0  LEFT JOIN ZCATEGORY t1 ON t1.Z_PK = t0.ZCATEGORY    `category.name`, used twice, joins once
///              └─ source ──┘  └─ joins ────────────────────────────────────────┘
final class SelectFrame {
  let aliases: AliasSource
  var source: SQLSource?
  private(set) var joins: [SQLJoin] = []
  private var steps: [StepKey: JoinedObject] = [:]

  private struct StepKey: Hashable {
    let alias: String?
    /// Sibling entities use one slot for different properties.
    let entity: Int
    let slot: Int
  }

  init(aliases: AliasSource) { self.aliases = aliases }

  func join(_ kind: SQLJoin.Kind, _ table: String, on condition: (String) -> SQLExpression) -> String {
    let alias: String = aliases.make()
    joins.append(SQLJoin(kind: kind, table: table, alias: alias, condition: condition(alias)))
    return alias
  }

  /// The target of a to-one step; the same place for every use of the step.
  func step(from place: JoinedObject, slot: Int, make: () -> JoinedObject) -> JoinedObject {
    let key = StepKey(alias: place.alias, entity: place.entity, slot: slot)
    if let known = steps[key] { return known }
    let place: JoinedObject = make()
    steps[key] = place
    return place
  }

  /// The select. Everything that may join a table must have been compiled before.
  func select(_ columns: [SQLExpression], where condition: SQLExpression) -> SelectStatement {
    guard let source else { preconditionFailure("A frame without source was finished.") }
    var select = SelectStatement(columns: columns, source: source)
    select.joins = joins
    select.condition = condition
    return select
  }
}

/// An object in a predicate: the row being tested, the target of a to-one path, a member of a to-many. Its
/// table is joined only if one of its columns is needed; often the key in the neighbour's column is enough.
final class JoinedObject {
  /// The declared entity's index.
  let entity: Int
  let table: TableSchema
  /// The object's primary key; `NULL` if there is no object.
  let key: SQLExpression
  let canBeMissing: Bool
  let frame: SelectFrame
  /// The kind of the join that adds the place's table to the frame.
  private let joinKind: SQLJoin.Kind
  private var state: State

  private enum State {
    case joined(String?)
    case pending
    /// The same object, treated as one of a sub-entity.
    case same(JoinedObject)
  }

  /// A place whose table is already in the frame. Without alias, the table is the only one of its statement.
  init(
    entity: Int, table: TableSchema, alias: String?, canBeMissing: Bool = false, frame: SelectFrame
  ) {
    self.entity = entity
    self.table = table
    key = .column(alias, table.key)
    self.canBeMissing = canBeMissing
    self.frame = frame
    joinKind = .inner
    state = .joined(alias)
  }

  /// A place identified by its key.
  init(
    entity: Int, table: TableSchema, key: SQLExpression, canBeMissing: Bool, joinKind: SQLJoin.Kind,
    frame: SelectFrame
  ) {
    self.entity = entity
    self.table = table
    self.key = key
    self.canBeMissing = canBeMissing
    self.frame = frame
    self.joinKind = joinKind
    state = .pending
  }

  /// The same object as one of a sub-entity, whose properties are in the same table.
  init(_ place: JoinedObject, narrowedTo entity: Int) {
    self.entity = entity
    table = place.table
    key = place.key
    canBeMissing = place.canBeMissing
    frame = place.frame
    joinKind = place.joinKind
    state = .same(place)
  }

  var alias: String? {
    switch state {
    case .joined(let alias): return alias
    case .same(let place): return place.alias
    case .pending: break
    }
    let alias: String = frame.join(joinKind, table.name) {
      .binary(.equal, .column($0, table.key), key)
    }
    state = .joined(alias)
    return alias
  }

  func column(_ name: String) -> SQLExpression { .column(alias, name) }

  /// The number of the object's entity; `NULL` if the object is missing.
  var entityNumber: SQLExpression {
    if table.entity != nil { return table.entityNumber(alias) }
    let number: SQLExpression = table.entityNumber(nil)
    return canBeMissing ? .choice(when: .isNull(key), then: .null, otherwise: number) : number
  }
}

/// What the names of a predicate refer to: `SELF`, and the variables, which are members of enclosing
/// subqueries or represent values compiled before (keys and aggregates of a group).
struct PredicateScope {
  var object: JoinedObject
  var values: [String: Operand] = [:]
}

extension JoinedObject {
  /// The term that gives rows with equal values the order of their insertion. There is none if an index may
  /// serve the order read backwards: it then returns equal rows backwards too, as Apple's framework does, and
  /// another term would require sorting.
  func tieBreaker(after order: [SQLOrderTerm], in schema: StoreSchema) -> SQLOrderTerm? {
    let columns: [OrderedColumn] = order.compactMap { term in
      guard term.collation == nil, case .column(let alias, let name) = term.expression,
        key == .column(alias, table.key)
      else { return nil }
      return OrderedColumn(name: name, ascending: term.ascending)
    }
    if columns.count == order.count, schema.isServedBackwards(columns, of: table) { return nil }
    return SQLOrderTerm(key, ascending: true)
  }
}
