import CoreDataStorage

/// Gives out aliases of one statement: `t0`, `t1`, …
final class AliasSource {
  private var next: Int = 0
  func take() -> String {
    defer { next += 1 }
    return "t\(next)"
  }
}

/// The `FROM` part of one select while it is being built: its source and the joins that paths have asked for.
///
///     SELECT … FROM ZITEM t0  LEFT JOIN ZCATEGORY t1 ON t1.Z_PK = t0.ZCATEGORY    `category.name`, asked for twice, joins once
///              └─ source ──┘  └─ joins ────────────────────────────────────────┘
final class SelectFrame {
  let aliases: AliasSource
  var source: SQLSource?
  private(set) var joins: [SQLJoin] = []
  private var steps: [StepKey: ObjectPlace] = [:]

  private struct StepKey: Hashable {
    let alias: String?
    /// Siblings use one slot for different properties.
    let entity: Int
    let slot: Int
  }

  init(aliases: AliasSource) { self.aliases = aliases }

  func join(_ kind: SQLJoin.Kind, _ table: String, on condition: (String) -> SQLExpression) -> String {
    let alias: String = aliases.take()
    joins.append(SQLJoin(kind: kind, table: table, alias: alias, condition: condition(alias)))
    return alias
  }

  /// The target of a to-one step, the same place whenever the step is asked for again.
  func step(from place: ObjectPlace, slot: Int, make: () -> ObjectPlace) -> ObjectPlace {
    let key = StepKey(alias: place.alias, entity: place.entity, slot: slot)
    if let known = steps[key] { return known }
    let place: ObjectPlace = make()
    steps[key] = place
    return place
  }

  /// The select, once everything that may join has been compiled.
  func select(_ columns: [SQLExpression], where condition: SQLExpression) -> SelectStatement {
    guard let source else { preconditionFailure("A frame without source was finished.") }
    var select = SelectStatement(columns: columns, source: source)
    select.joins = joins
    select.condition = condition
    return select
  }
}

/// An object that a predicate speaks of: the row being tested, the target of a to-one path, a member of a
/// to-many. Its table is joined only when a column of it is needed; often the key in the
/// neighbour's column is enough.
final class ObjectPlace {
  /// The declared entity's index.
  let entity: Int
  let table: TableSchema
  /// The object's primary key; `NULL` if there is no object.
  let key: SQLExpression
  let canBeMissing: Bool
  let frame: SelectFrame
  /// What the place is called in a join's kind.
  private let joinKind: SQLJoin.Kind
  private var state: State

  private enum State {
    case joined(String?)
    case pending
    /// The same object, seen as one of a sub-entity.
    case same(ObjectPlace)
  }

  /// A place whose table is in the frame already. Without alias: the only table of its statement.
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

  /// A place known by its key.
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

  /// The same object, known to be of a sub-entity, whose properties lie in the same table.
  init(_ place: ObjectPlace, narrowedTo entity: Int) {
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

  /// The number of the object's entity; `NULL` where the object is missing.
  var entityNumber: SQLExpression {
    if table.entity != nil { return table.entityNumber(alias) }
    let number: SQLExpression = table.entityNumber(nil)
    return canBeMissing ? .choice(when: .isNull(key), then: .null, otherwise: number) : number
  }
}

/// Where the names of a predicate lead: `SELF`, and the variables: members of enclosing subqueries, and what
/// stands for a value compiled already (keys and functions of a group).
struct PredicateScope {
  var object: ObjectPlace
  var values: [String: Operand] = [:]
}

extension ObjectPlace {
  /// The term that brings rows which an order leaves equal into the order in which they were inserted. None
  /// where an index may serve the order read backwards: it gives equal rows backwards too, as Apple's
  /// framework does, and a term would have them sorted.
  func tie(after order: [SQLOrderTerm], in schema: StoreSchema) -> SQLOrderTerm? {
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
