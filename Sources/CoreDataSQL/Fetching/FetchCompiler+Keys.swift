import CoreDataStorage

/// The members of a to-many for some owners: result columns 0 owner's key, 1 member's key, 2 member's entity
/// number, and with `hasOrder` 3 the order key. Rows come owner by owner (by key), the members of each in
/// their order.
package struct MembersStatement: Sendable {
  package var statement: CompiledStatement
  package var hasOrder: Bool
}

extension FetchCompiler {
  /// The members of a to-many relationship of `entity` for owners with these keys, of which there may be any
  /// number; with `candidates`, only those of them.
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
      owners: owners.map(SQLValue.integer), candidates: candidates?.map(SQLValue.integer), dialect: dialect)
    var select: SelectStatement
    var hasOrder: Bool
    switch storage {
    case .foreignKey(let members):
      select = try foreignKeyMembers(members, table, asked)
      hasOrder = members.order != nil
    case .joinTable(let members):
      select = try joinTableMembers(members, table, asked)
      hasOrder = members.order != nil
      if members.isReflexive, !hasOrder {
        var flipped: JoinTableMembers = members
        (flipped.owner, flipped.member) = (members.member, members.owner)
        select.union = [try joinTableMembers(flipped, table, asked)]
      }
    }
    // By position: terms of a union must name result columns.
    select.order = (hasOrder ? [1, 4, 2] : [1, 2]).map { SQLOrderTerm(.integer($0), ascending: true) }
    return MembersStatement(
      statement: SQLRenderer.statement(select, dialect: dialect), hasOrder: hasOrder)
  }

  private func foreignKeyMembers(
    _ members: ForeignKeyMembers, _ table: TableSchema, _ asked: AskedMembers
  ) throws -> SelectStatement {
    func column(_ name: String) -> SQLExpression { .column("t0", name) }
    var select = SelectStatement(
      columns: [column(members.key), column(table.key), table.entityNumber("t0")]
        + (members.order.map { [column($0)] } ?? []),
      source: .table(members.table, alias: "t0"))
    select.condition = try asked.condition(owner: column(members.key), member: column(table.key))
    return select
  }

  /// Joined with the members' table, for their entities, and to leave out pairs whose member was deleted.
  private func joinTableMembers(
    _ members: JoinTableMembers, _ table: TableSchema, _ asked: AskedMembers
  ) throws -> SelectStatement {
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
    select.condition = try asked.condition(owner: column(members.owner), member: column(members.member))
    return select
  }
}

/// The owners whose members are fetched, and the candidates.
private struct AskedMembers {
  let owners: [SQLValue]
  let candidates: [SQLValue]?
  let dialect: any SQLDialect

  func condition(owner: SQLExpression, member: SQLExpression) throws -> SQLExpression {
    let ofOwners: SQLExpression = try dialect.rewrite(.member(owner, owners))
    guard let candidates else { return ofOwners }
    return .conjunction([ofOwners, try dialect.rewrite(.member(member, candidates))])
  }
}
