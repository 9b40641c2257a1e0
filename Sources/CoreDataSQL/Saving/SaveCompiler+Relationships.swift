import CoreDataStorage

/// The statements that execute the edits of one to-many relationship. Parameters are listed in the order of
/// their placeholders.
package struct ToManyStatements: Sendable, Hashable {
  /// (owner key, member key): adds a member to an owner. Empty if the member's own row holds the
  /// relationship. Several for a reflexive relationship, each with the same parameters.
  package var add: [String] = []
  /// (owner key, member key): removes a member.
  package var remove: [String] = []
  /// (order key, owner key, member key): sets a member's position. nil for an unordered relationship.
  package var place: String?
  /// (owner key): the highest order key among the members. nil for an unordered relationship.
  package var lastKey: String?
}

extension SaveCompiler {
  /// The statements of a to-many slot; all empty for a plain one-to-many without order.
  package func toMany(of entity: EntityLayout, slot: Int) throws -> ToManyStatements {
    let property: PropertySlot = entity.slots[slot]
    guard case .toMany(let storage) = schema.storage(of: entity.index, slot: slot),
      let destination = property.destination
    else {
      throw StoreError.unsupported(
        part: "\(entity.name).\(property.name)", reason: "the store keeps no members of it",
        advice: "check that the relationship is to-many and its inverse is not transient")
    }
    switch storage {
    case .foreignKey(let members): return foreignKey(members, try schema.table(of: destination))
    case .joinTable(let members): return joinTable(members)
    }
  }

  /// (owner keys): the statements that remove all members of a to-many slot, run when owners are deleted.
  /// None if the members' own rows hold the relationship, or if their entity is not in the store.
  package func clear(of entity: EntityLayout, slot: Int, _ owners: KeySelection = .one) -> [String] {
    guard case .toMany(let storage) = schema.storage(of: entity.index, slot: slot) else { return [] }
    switch storage {
    case .foreignKey(let members):
      guard members.isHidden, let destination = entity.slots[slot].destination,
        schema.tablePosition[destination] != nil
      else { return [] }
      return [
        text(
          .update(
            UpdateStatement(members.table, set: Self.untied(members), where: owners.condition(members.key))))
      ]
    case .joinTable(let members):
      return ([members.owner] + (members.isReflexive ? [members.member] : [])).map { column in
        text(.delete(DeleteStatement(from: members.table, where: owners.condition(column))))
      }
    }
  }

  /// A member without owner.
  private static func untied(_ members: ForeignKeyMembers) -> [UpdateStatement.Assignment] {
    [.init(members.key, .null)] + (members.order.map { [.init($0, .null)] } ?? [])
  }

  // Numbered parameters can be used in two places and keep the documented order.

  private func foreignKey(_ members: ForeignKeyMembers, _ table: TableSchema) -> ToManyStatements {
    var result = ToManyStatements()
    func update(_ assignments: [UpdateStatement.Assignment], where conditions: SQLExpression...) -> String {
      text(.update(UpdateStatement(members.table, set: assignments, where: .conjunction(conditions))))
    }
    func isOwner(_ position: Int) -> SQLExpression {
      .binary(.equal, .column(nil, members.key), .numbered(position))
    }
    if let order = members.order {
      result.place = update(
        [.init(order, .numbered(1))], where: isOwner(2), table.has(key: .numbered(3)))
      result.lastKey = lastKey(order, in: members.table, where: isOwner(1))
    }
    guard members.isHidden else { return result }
    let noOrder: [UpdateStatement.Assignment] = members.order.map { [.init($0, .null)] } ?? []
    result.add = [update([.init(members.key, .numbered(1))] + noOrder, where: table.has(key: .numbered(2)))]
    result.remove = [update(Self.untied(members), where: isOwner(1), table.has(key: .numbered(2)))]
    return result
  }

  private func joinTable(_ members: JoinTableMembers) -> ToManyStatements {
    var result = ToManyStatements()
    func add(_ owner: Int, _ member: Int) -> String {
      var insert = InsertStatement(
        into: members.table, [members.owner, members.member], values: [.numbered(owner), .numbered(member)])
      insert.conflict = .ignore
      return text(.insert(insert))
    }
    func isOwner(_ position: Int) -> SQLExpression {
      .binary(.equal, .column(nil, members.owner), .numbered(position))
    }
    func isMember(_ position: Int) -> SQLExpression {
      .binary(.equal, .column(nil, members.member), .numbered(position))
    }
    func delete(_ conditions: SQLExpression...) -> String {
      text(.delete(DeleteStatement(from: members.table, where: .conjunction(conditions))))
    }
    result.add = [add(1, 2)]
    result.remove = [delete(isOwner(1), isMember(2))]
    if members.isReflexive {
      result.add.append(add(2, 1))
      result.remove.append(delete(isOwner(2), isMember(1)))
    }
    if let order = members.order {
      result.place = text(
        .update(
          UpdateStatement(
            members.table, set: [.init(order, .numbered(1))], where: .all([isOwner(2), isMember(3)]))))
      result.lastKey = lastKey(order, in: members.table, where: isOwner(1))
    }
    return result
  }

  private func lastKey(_ order: String, in table: String, where condition: SQLExpression) -> String {
    var select = SelectStatement(
      columns: [.builtin("MAX", [.column(nil, order)])], source: .table(table, alias: nil))
    select.condition = condition
    return text(.select(select))
  }
}
