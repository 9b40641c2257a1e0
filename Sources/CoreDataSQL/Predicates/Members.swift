import CoreDataPredicates
import CoreDataStorage

/// A collection: a select that still lacks its columns.
///
///     items                    FROM ZITEM t1 WHERE t1.ZOWNER = t0.Z_PK              element t1
///     items.price              the same                                             element t1.ZPRICE
///     items.tags.name          FROM ZITEM t1 JOIN Z_1TAGS t2 ON … JOIN ZTAG t3 …    element t3.ZNAME
///     SUBQUERY(items, $i, …)   the same with another condition
///
/// Key-value coding returns a set when it reads from an unordered relationship: equal values become one, and
/// nil is left out. From an ordered relationship it returns a list. Rows represent neither, so the properties
/// below define what must be removed from the rows of a set.
struct Members {
  let frame: SelectFrame
  /// The enclosing frame, which contains the owner.
  let outer: SelectFrame
  /// The condition that relates the rows to their owner, and the conditions of a subquery.
  var conditions: [SQLExpression]
  /// `.value` or `.object`.
  var element: Operand
  /// Whether the collection is a set in memory: equal values count once, nil not at all.
  var isSet: Bool
  /// Whether each member has one row only, so that no duplicates need to be removed to count them.
  var isUnique: Bool = true
  /// Whether a collection operator has removed nil.
  var leavesOutNil: Bool = false
  /// True if there is no collection, because the object that has it is missing.
  var isMissing: SQLExpression?
  /// The order of the rows; nil if members have no position.
  var order: [SQLExpression]?
  /// Whether a further to-many relationship adds its members to this collection. A subquery over a list is a
  /// plain array, in which the collections would stay separate.
  var isFlat: Bool = true

  /// The expression for a member: an object's key, or the value.
  var value: SQLExpression {
    switch element {
    case .object(let place): place.key
    case .value(let value, _): value
    default: .null
    }
  }

  /// Whether a member can be nil.
  var canHoldNil: Bool {
    if case .object(let place) = element { place.canBeMissing } else { true }
  }

  var dropsNil: Bool { isSet || leavesOutNil }

  /// The rows with the given columns. Everything that joins a table must be compiled before.
  func select(_ columns: [SQLExpression], where extra: [SQLExpression] = []) -> SelectStatement {
    frame.select(columns, where: .conjunction(conditions + extra))
  }

  /// Whether a condition holds for at least one row.
  func exists(where condition: SQLExpression) -> SQLExpression {
    if condition == .truth(false) { return .truth(false) }
    return .exists(select([.integer(1)], where: [condition]), isNegated: false)
  }

  /// One value computed from all rows; `NULL` if there is no collection.
  func scalar(_ column: SQLExpression, empty: SQLExpression? = nil) -> SQLExpression {
    var scalar: SQLExpression = .scalar(select([column]))
    if let empty { scalar = .builtin("COALESCE", [scalar, empty]) }
    guard let isMissing else { return scalar }
    return .choice(when: isMissing, then: .null, otherwise: scalar)
  }

  /// The number of members.
  var count: SQLExpression {
    if isSet, !isUnique { return .builtin("COUNT", [.distinct(value)]) }
    return dropsNil && canHoldNil ? .builtin("COUNT", [value]) : .countRows
  }

  /// The same members, each in one row and none nil, for computations.
  ///
  ///     FROM (SELECT DISTINCT t3.Z_PK AS value FROM … WHERE …) t4 JOIN ZTAG t5 ON t5.Z_PK = t4.value
  func deduplicated() -> Members {
    guard isSet, !isUnique else { return self }
    var rows: SelectStatement = select([.named(value, "value")], where: canHoldNil ? [.isNotNull(value)] : [])
    rows.isDistinct = true
    var result: Members = Members.values(of: rows, like: element, outer: outer)
    result.isSet = true
    result.isMissing = isMissing
    result.isFlat = isFlat
    return result
  }

  /// The rows of a select with one column called `value`.
  static func values(of rows: SelectStatement, like element: Operand, outer: SelectFrame) -> Members {
    let frame = SelectFrame(aliases: outer.aliases)
    let alias: String = outer.aliases.make()
    frame.source = .select(rows, alias: alias)
    let column: SQLExpression = .column(alias, "value")
    let member: Operand
    switch element {
    case .object(let place):
      member = .object(
        JoinedObject(
          entity: place.entity, table: place.table, key: column, canBeMissing: place.canBeMissing,
          joinKind: place.canBeMissing ? .left : .inner, frame: frame))
    case .value(_, let type): member = .value(column, type)
    default: member = element
    }
    return Members(frame: frame, outer: outer, conditions: [], element: member, isSet: false)
  }
}

/// A to-many relationship that was joined: the member as a place, the condition that relates it to its owner,
/// and its position among the members.
struct EnteredMembers {
  var member: JoinedObject
  /// Becomes part of the `WHERE` of the select that has the members as its source.
  var link: SQLExpression
  /// For an ordered relationship.
  var order: SQLExpression?
}

extension KeyPathResolver {
  /// Makes the members of a to-many the source of a fresh frame, or joins them to a frame that already has a
  /// source (a nested to-many).
  ///
  ///     foreign key   FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK
  ///     join table    FROM Z_1TAGS t1 [JOIN ZTAG t2 ON t2.Z_PK = t1.Z_13TAGS] WHERE t1.Z_1CAREPLANS = t0.Z_PK
  ///     reflexive     FROM ZPERSON t1 WHERE t1.Z_PK IN (SELECT REFLEXIVE … UNION SELECT Z_1FRIENDS …)
  ///
  /// With a `.left` join, rows without members stay, with a missing member.
  func enter(
    _ slot: Int, of place: JoinedObject, in frame: SelectFrame, joining kind: SQLJoin.Kind = .inner,
    path: String
  ) throws -> EnteredMembers {
    let owner: EntityLayout = schema.layout.entities[place.entity]
    let property: PropertySlot = owner.slots[slot]
    guard case .toMany(let storage) = schema.storage(of: owner.index, slot: slot),
      let destination = property.destination
    else {
      throw StoreError.unsupported(
        part: path, reason: "the store keeps no members of '\(property.name)'",
        advice: "check the relationship's inverse")
    }
    let table: TableSchema = try schema.table(of: destination)
    switch storage {
    case .foreignKey(let members):
      let (alias, link) = add(members.table, to: frame, kind) { alias in
        .binary(.equal, .column(alias, members.key), place.key)
      }
      return EnteredMembers(
        member: JoinedObject(
          entity: destination, table: table, alias: alias, canBeMissing: kind == .left, frame: frame),
        link: link, order: members.order.map { .column(alias, $0) })
    case .joinTable(let members) where members.isReflexive:
      let (alias, link) = add(table.name, to: frame, kind) { alias in
        reflexive(members, member: .column(alias, table.key), owner: place.key, aliases: frame.aliases)
      }
      return EnteredMembers(
        member: JoinedObject(
          entity: destination, table: table, alias: alias, canBeMissing: kind == .left, frame: frame),
        link: link)
    case .joinTable(let members):
      let (alias, link) = add(members.table, to: frame, kind) { alias in
        .binary(.equal, .column(alias, members.owner), place.key)
      }
      let member = JoinedObject(
        entity: destination, table: table, key: .column(alias, members.member),
        canBeMissing: kind == .left, joinKind: kind, frame: frame)
      return EnteredMembers(
        member: member, link: link, order: members.order.map { .column(alias, $0) })
    }
  }

  private func add(
    _ table: String, to frame: SelectFrame, _ kind: SQLJoin.Kind, link: (String) -> SQLExpression
  ) -> (String, SQLExpression) {
    guard frame.source != nil else {
      let alias: String = frame.aliases.make()
      frame.source = .table(table, alias: alias)
      return (alias, link(alias))
    }
    return (frame.join(kind, table, on: link), .truth(true))
  }

  /// A pair of a reflexive relationship counts whichever direction it was written in.
  private func reflexive(
    _ members: JoinTableMembers, member: SQLExpression, owner: SQLExpression, aliases: AliasSource
  ) -> SQLExpression {
    func side(_ column: String, where other: String) -> SelectStatement {
      let alias: String = aliases.make()
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
