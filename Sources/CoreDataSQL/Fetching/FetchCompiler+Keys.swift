import CoreDataStorage

/// The members of a to-many for some owners: result columns 0 owner's key, 1 member's key, 2 member's entity
/// number, and with `hasOrder` 3 the order key. Rows come owner by owner (by key), the members of each in
/// their order.
package struct MembersStatement: Sendable {
  package var statement: CompiledStatement
  package var hasOrder: Bool
}

extension FetchCompiler {
  /// The rows of `entity` and its sub-entities with these keys, in no particular order. Pass a root to get
  /// any row of its hierarchy. The number of keys is not limited: more than 1,024 are bound as one JSON
  /// array.
  package func rows(of entity: EntityLayout, keys: [Int64]) throws -> RowStatement {
    var plan = FetchPlan(entity: entity)
    plan.includesSubentities = true
    var draft = try FetchDraft(resolving: plan, in: schema)
    try draft.qualify()
    let wanted: SQLExpression = ListMembership.condition(draft.root.key, keys.map(SQLValue.integer))
    draft.condition = .conjunction([wanted, draft.condition])
    let columns: RowColumns = schema.rowColumns(of: entity)
    draft.selectRows(columns)
    return RowStatement(
      statement: SQLRenderer.statement(draft.assembled(), dialect: dialect), columns: columns)
  }

  /// The members of a to-many relationship of `entity` for owners with these keys; with `candidates`, only
  /// those of them.
  package func members(
    of entity: EntityLayout, slot: Int, owners: [Int64], among candidates: [Int64]? = nil
  ) throws -> MembersStatement {
    let property: PropertySlot = entity.slots[slot]
    guard case .toMany(let storage) = schema.storage(of: entity.index, slot: slot),
      let destination = property.destination
    else {
      throw StoreError.unsupported(
        part: "\(entity.name).\(property.name)", reason: "the store keeps no members of it",
        advice: "check that the relationship is to-many and its inverse is not transient")
    }
    let table: TableSchema = try schema.table(of: destination)
    let asked = AskedMembers(
      owners: owners.map(SQLValue.integer), candidates: candidates?.map(SQLValue.integer))
    var select: SelectStatement
    var hasOrder: Bool
    switch storage {
    case .foreignKey(let members):
      select = foreignKeyMembers(members, table, asked)
      hasOrder = members.order != nil
    case .joinTable(let members):
      select = joinTableMembers(members, table, asked)
      hasOrder = members.order != nil
      if members.isReflexive, !hasOrder {
        var flipped: JoinTableMembers = members
        (flipped.owner, flipped.member) = (members.member, members.owner)
        select.union = [joinTableMembers(flipped, table, asked)]
      }
    }
    // By position: terms of a union must name result columns.
    select.order = (hasOrder ? [1, 4, 2] : [1, 2]).map { SQLOrderTerm(.integer($0), ascending: true) }
    return MembersStatement(
      statement: SQLRenderer.statement(select, dialect: dialect), hasOrder: hasOrder)
  }

  private func foreignKeyMembers(
    _ members: ForeignKeyMembers, _ table: TableSchema, _ asked: AskedMembers
  ) -> SelectStatement {
    func column(_ name: String) -> SQLExpression { .column("t0", name) }
    var select = SelectStatement(
      columns: [column(members.key), column(table.key), table.entityNumber("t0")]
        + (members.order.map { [column($0)] } ?? []),
      source: .table(members.table, alias: "t0"))
    select.condition = asked.condition(owner: column(members.key), member: column(table.key))
    return select
  }

  /// Joined with the members' table, for their entities, and to leave out pairs whose member was deleted.
  private func joinTableMembers(
    _ members: JoinTableMembers, _ table: TableSchema, _ asked: AskedMembers
  ) -> SelectStatement {
    func column(_ name: String) -> SQLExpression { .column("t0", name) }
    var select = SelectStatement(
      columns: [column(members.owner), column(members.member), table.entityNumber("t1")]
        + (members.order.map { [column($0)] } ?? []),
      source: .table(members.table, alias: "t0"))
    select.joins = [
      SQLJoin(
        kind: .inner, table: table.name, alias: "t1",
        condition: .binary(.equal, .column("t1", table.key), column(members.member)))
    ]
    select.condition = asked.condition(owner: column(members.owner), member: column(members.member))
    return select
  }
}

/// The owners whose members are fetched, and the candidates.
private struct AskedMembers {
  let owners: [SQLValue]
  let candidates: [SQLValue]?

  func condition(owner: SQLExpression, member: SQLExpression) -> SQLExpression {
    let ofOwners: SQLExpression = ListMembership.condition(owner, owners)
    guard let candidates else { return ofOwners }
    return .conjunction([ofOwners, ListMembership.condition(member, candidates)])
  }
}
