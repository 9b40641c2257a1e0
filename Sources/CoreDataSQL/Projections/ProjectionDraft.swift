import CoreDataPredicates
import CoreDataStorage

/// A projection between plan and statement, in the stages of a fetch (``FetchCompiler``) and two more:
///
///     resolve, qualify   as for rows                              FROM ZITEM t0 WHERE t0.ZPRIORITY > ?
///     group              keys and aggregates                      GROUP BY t1.ZNAME HAVING COUNT(t0.ZTITLE) > ?
///     columns            one expression each                      t1.ZNAME, COUNT(t0.ZTITLE), MAX(t0.ZPRICE)
///     order, limit       of the result's rows
struct ProjectionDraft {
  let plan: ProjectionPlan
  let shape: DividedProjection
  let compiler: PredicateCompiler
  private var rows: FetchDraft
  private var scope: PredicateScope
  private var columns: [SQLExpression] = []
  private(set) var reads: [ValueRead] = []
  private var keys: [ProjectionValue] = []
  private var totals: [ProjectionValue] = []
  private var having: SQLExpression = .truth(true)
  private var order: [SQLOrderTerm] = []

  init(resolving plan: ProjectionPlan, in schema: StoreSchema) throws {
    self.plan = plan
    shape = try DividedProjection(plan)
    compiler = PredicateCompiler(schema: schema)
    rows = try FetchDraft(resolving: plan.rows, in: schema)
    scope = PredicateScope(object: rows.root)
  }

  var root: JoinedObject { rows.root }

  /// See ``ProjectionStatement/leavesDuplicates``.
  var leavesDuplicates: Bool {
    plan.isDistinct && !shape.order.allSatisfy { shape.columns.contains($0.expression) }
  }

  mutating func qualify() throws { try rows.qualify() }

  /// Keys first: aggregates are read from the rows, everything else from keys and aggregates.
  mutating func group() throws {
    keys = try shape.keys.map { key in
      let value: ProjectionValue = try value(ofRow: key)
      if value.isTagged || value.kind == .transformable {
        throw StoreError.unsupported(
          part: Printer.print(key), reason: "the database sees only what was made of the value",
          advice: "Group by another attribute, or group the fetched objects.")
      }
      return value
    }
    totals = try shape.aggregates.map { try total($0, scope) }
    for (number, key) in keys.enumerated() { scope.values[DividedProjection.key(number)] = key.operand }
    for (number, total) in totals.enumerated() {
      scope.values[DividedProjection.aggregate(number)] = total.operand
    }
    having = try shape.having.map { try compiler.condition($0, scope) } ?? .truth(true)
  }

  mutating func select() throws {
    for column in shape.columns {
      let value: ProjectionValue = try value(of: column)
      let position: Int = columns.count
      columns += value.columns
      reads.append(
        ValueRead(
          position: position, kind: value.kind, isTagged: value.isTagged,
          entityPosition: value.columns.count > 1 ? position + 1 : nil, target: value.target))
    }
  }

  /// Groups without an order are ordered by their keys. The last term orders rows by primary key, as in a
  /// fetch.
  mutating func sort() throws {
    // A single row is not sorted; an invalid key is an error even so.
    if shape.isGrouped, plan.groups.isEmpty {
      for term in plan.order where RowAggregate(term.expression) == nil {
        if case .keyPath = term.expression { _ = try orderTerm(term) }
      }
    }
    order = try shape.order.compactMap { try orderTerm($0) }
    if plan.isDistinct && !leavesDuplicates { return }
    if shape.isGrouped {
      order += try keys.flatMap { key in
        try key.columns.map { column in
          try compiler.orderTerm(column, isDecimal: key.kind == .decimal, ascending: true)
        }
      }
    } else if !shape.order.isEmpty, let tieBreaker = root.tieBreaker(after: order, in: compiler.schema) {
      order.append(tieBreaker)
    }
  }

  /// nil for an expression that is the same for every row.
  private func orderTerm(_ term: ProjectionOrder) throws -> SQLOrderTerm? {
    switch try compiler.operand(term.expression, scope) {
    case .value(let value, let type):
      let collation: SQLCollation? = type == .string ? SQLCollation(term.comparison) : nil
      return try compiler.orderTerm(
        value, isDecimal: type == .decimal, ascending: term.ascending, collation: collation)
    case .object(let place): return SQLOrderTerm(place.key, ascending: term.ascending)
    case .constant: return nil
    case .list, .members, .entity, .choice, .combined:
      throw StoreError.unsupported(
        part: "sort by \(Printer.print(term.expression))", reason: "to-many key not allowed here",
        advice: "sort by an attribute, by one of a to-one relationship, or by the members' @count")
    }
  }

  func assembled() -> SelectStatement {
    var select: SelectStatement = rows.frame.select(columns, where: rows.condition)
    select.groups = keys.flatMap(\.columns)
    select.having = having
    select.order = order
    if leavesDuplicates { return select }
    select.isDistinct = plan.isDistinct
    if plan.limit > 0 { select.limit = .bound(.integer(Int64(plan.limit))) }
    if plan.offset > 0 { select.offset = .bound(.integer(Int64(plan.offset))) }
    return select
  }

  // MARK: Values

  /// A column of the shape.
  private func value(of column: ExpressionNode) throws -> ProjectionValue {
    if let number = shape.keyNumber(column) { return keys[number] }
    if let number = shape.aggregateNumber(column) { return totals[number] }
    return shape.isGrouped ? try value(of: compiler.operand(column, scope), column) : try value(ofRow: column)
  }

  /// An expression read from the row. An attribute is selected in its stored form, so that nothing is lost.
  func value(ofRow expression: ExpressionNode) throws -> ProjectionValue {
    let operand: Operand = try compiler.operand(expression, scope)
    guard let (column, place) = try storedColumn(expression) else {
      return try value(of: operand, expression)
    }
    return ProjectionValue(
      columns: [place.column(column.name)], kind: column.kind, isTagged: column.isTagged, operand: operand)
  }

  /// The column of a plain path to an attribute.
  func storedColumn(_ expression: ExpressionNode) throws -> (AttributeColumn, JoinedObject)? {
    guard case .keyPath(let path) = expression, !path.contains("@") else { return nil }
    let paths: KeyPathResolver = compiler.paths
    let components: [String] = joinElements(KeyPathResolver.components(path), paths.schema.layout)
    guard let name = components.last,
      case .object(let place) = try paths.read(components.dropLast(), from: .object(root), text: path),
      let slot = paths.schema.layout.entities[place.entity].slotByName[name],
      case .attribute(let column) = paths.schema.storage(of: place.entity, slot: slot)
    else { return nil }
    return (column, place)
  }

  /// The path with an element of a composite attribute as one component.
  private func joinElements(_ path: [String], _ layout: ModelLayout) -> [String] {
    var entity: EntityLayout = layout.entities[root.entity]
    var done: [String] = []
    var rest: [String] = entity.joinElements(path)
    while rest.count > 1, let destination = entity.slot(named: rest[0])?.destination {
      done.append(rest.removeFirst())
      entity = layout.entities[destination]
      rest = entity.joinElements(rest)
    }
    return done + rest
  }

  private func value(of operand: Operand, _ expression: ExpressionNode) throws -> ProjectionValue {
    switch operand {
    case .value(let value, let type):
      return ProjectionValue(
        columns: [value], kind: ColumnKind(type), isTagged: type == .externalData, operand: operand)
    case .object(let place): return object(place)
    case .constant(let constant):
      if constant.isNull { return ProjectionValue(columns: [.null], kind: .int64, operand: operand) }
      guard let (bound, type) = compiler.schema.encoding.bind(constant) else {
        throw compiler.unsupported(
          expression, "\(constant.kindName) is no single value of a database",
          "use a number, a string or a date")
      }
      let kind: ColumnKind = if case .bool = constant { .bool } else { ColumnKind(type) }
      return ProjectionValue(columns: [.bound(bound)], kind: kind, operand: operand)
    case .members:
      throw StoreError.unsupported(
        part: Printer.print(expression), reason: "to-many key not allowed here",
        advice: "A column holds one value: put count:, min:, max:, sum: or average: around the path.")
    case .list, .combined:
      throw compiler.unsupported(expression, "a column holds one value", "make a column of each part")
    case .choice, .entity:
      throw compiler.unsupported(
        expression, "its values are of no single type that a database knows", "fetch the objects instead")
    }
  }

  private func object(_ place: JoinedObject) -> ProjectionValue {
    let varies: Bool = compiler.schema.layout.entities[place.entity].hasSubentities
    return ProjectionValue(
      columns: varies ? [place.key, place.entityNumber] : [place.key], kind: .toOne,
      target: place.entity, operand: .object(place))
  }
}

extension FetchCompiler {
  /// The rows of a projection; `ProjectionStatement.columns` defines how to read them. Throws as fetches of
  /// rows do.
  package func table(_ plan: ProjectionPlan) throws -> ProjectionStatement {
    var draft = try ProjectionDraft(resolving: plan, in: schema)
    try draft.qualify()
    try draft.group()
    try draft.select()
    try draft.sort()
    return ProjectionStatement(
      statement: SQLRenderer.statement(draft.assembled(), dialect: dialect), columns: draft.reads,
      leavesDuplicates: draft.leavesDuplicates)
  }
}
