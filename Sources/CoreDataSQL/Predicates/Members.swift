import CoreDataStorage

/// A to-many relationship entered: the member as a place, and what ties it to its owner.
struct EnteredMembers {
  var member: ObjectPlace
  /// Goes into the `WHERE` of the select that has the members as its source.
  var link: SQLExpression
}

extension KeyPathResolver {
  /// Makes the members of a to-many the source of a fresh frame, or joins them to one that has a source already (a nested
  /// to-many).
  ///
  ///     foreign key   FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK
  ///     join table    FROM Z_1TAGS t1 [JOIN ZTAG t2 ON t2.Z_PK = t1.Z_13TAGS] WHERE t1.Z_1CAREPLANS = t0.Z_PK
  ///     reflexive     FROM ZPERSON t1 WHERE t1.Z_PK IN (SELECT REFLEXIVE … UNION SELECT Z_1FRIENDS …)
  func enter(_ many: ManyPath, in frame: SelectFrame, path: String) throws -> EnteredMembers {
    let owner: EntityLayout = schema.layout.entities[many.owner.entity]
    let slot: PropertySlot = owner.slots[many.slot]
    guard case .toMany(let storage) = schema.storage(of: owner.index, slot: many.slot),
      let destination = slot.destination
    else {
      throw StoreError.unsupported(
        part: path, reason: "the store keeps no members of '\(slot.name)'",
        advice: "check the relationship's inverse")
    }
    let table: TableSchema = try schema.table(of: destination)
    switch storage {
    case .foreignKey(let members):
      let (alias, link) = add(members.table, to: frame) { alias in
        .binary(.equal, .column(alias, members.key), many.owner.key)
      }
      return EnteredMembers(
        member: ObjectPlace(entity: destination, table: table, alias: alias, frame: frame), link: link)
    case .joinTable(let members) where members.isReflexive:
      let (alias, link) = add(table.name, to: frame) { alias in
        reflexive(members, member: .column(alias, table.key), owner: many.owner.key, aliases: frame.aliases)
      }
      return EnteredMembers(
        member: ObjectPlace(entity: destination, table: table, alias: alias, frame: frame), link: link)
    case .joinTable(let members):
      let (alias, link) = add(members.table, to: frame) { alias in
        .binary(.equal, .column(alias, members.owner), many.owner.key)
      }
      let member = ObjectPlace(
        entity: destination, table: table, key: .column(alias, members.member), canBeMissing: false,
        joinKind: .inner, frame: frame)
      return EnteredMembers(member: member, link: link)
    }
  }

  private func add(
    _ table: String, to frame: SelectFrame, link: (String) -> SQLExpression
  ) -> (String, SQLExpression) {
    guard frame.source != nil else {
      let alias: String = frame.aliases.take()
      frame.source = .table(table, alias: alias)
      return (alias, link(alias))
    }
    return (frame.join(.inner, table, on: link), .truth(true))
  }

  /// A pair of a reflexive relationship counts in whichever direction it was written.
  private func reflexive(
    _ members: JoinTableMembers, member: SQLExpression, owner: SQLExpression, aliases: AliasSource
  ) -> SQLExpression {
    func side(_ column: String, where other: String) -> SelectStatement {
      let alias: String = aliases.take()
      var select = SelectStatement(
        columns: [.column(alias, column)], source: .table(members.table, alias: alias))
      select.condition = .binary(.equal, .column(alias, other), owner)
      return select
    }
    var both: SelectStatement = side(members.member, where: members.owner)
    both.union = [side(members.owner, where: members.member)]
    return .inSelect(member, both)
  }
}
