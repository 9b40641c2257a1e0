import CoreDataModel
import CoreDataStorage

// Derived attributes are ordinary columns that triggers update, whatever program writes. Names and texts are
// Apple's as far as they are known (Decisions/0023): a trigger is named after its table, the entity, the
// attribute, and the event. Changes of the row itself have the suffix SOURCE (there is no such trigger if the
// expression reads nothing else), changes of rows that it reads PARAMETER:
//
//     CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_INSERT AFTER INSERT ON ZPAGE
//     FOR EACH ROW WHEN (NEW.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = IFNULL(ZPAGESCOUNT, 0) + 1 WHERE Z_PK = NEW.ZBOOK; SELECT … ; END
//
// Counts and sums of integers are incremented and decremented, one row at a time. Sums of real numbers are
// incremented for new rows only and otherwise computed again, because 0.1 + 0.2 - 0.2 is not 0.1.
//
// Apple's framework requires each trigger to call a function with the new value, and so do these; on
// connections of Clarus the function does nothing.

extension AppleCreation {
  /// The triggers of all derived attributes. Throws for a relationship to an entity outside the store's
  /// configuration.
  package func triggers(_ derived: [DerivedSlot]) throws -> [String] {
    try derived.flatMap { try DerivationTriggers(schema: schema, derived: $0).trees().map(text) }
  }
}

/// The triggers of one derived attribute.
package struct DerivationTriggers {
  /// Whether one of these triggers, given by their names in upper case, updates an attribute.
  package static func isGuarded(_ attribute: String, of entity: String, by triggers: Set<String>) -> Bool {
    let part: String = "_\(entity)_\(attribute)_".uppercased()
    return triggers.contains { $0.hasPrefix("Z_DA_") && $0.contains(part) }
  }

  private let schema: StoreSchema
  private let derived: DerivedSlot
  private let entity: EntityLayout
  private let table: TableSchema
  /// The column of the derived attribute itself.
  private let column: String
  /// A condition for an entity that shares its table with others; true for a root.
  private let isOfEntity: SQLExpression

  init(schema: StoreSchema, derived: DerivedSlot) throws {
    self.schema = schema
    self.derived = derived
    entity = schema.layout.entities[derived.place.entity]
    table = try schema.table(of: entity.index)
    column = try Self.column(derived.place, schema)
    let numbers: [SQLExpression] = entity.family.map { .integer(Int64(schema.entityNumbers[$0])) }
    isOfEntity =
      entity.superIndex == nil
      ? .truth(true)
      : numbers.count == 1
        ? .binary(.equal, .column(nil, AppleNames.entityNumber), numbers[0])
        : .inList(.column(nil, AppleNames.entityNumber), numbers)
  }

  func trees() throws -> [SchemaTree] {
    switch derived.source {
    case .now: return now()
    case .value(let path, let attribute, let function): return try value(path, attribute, function)
    case .count(let slot): return try aggregate(slot, summand: nil)
    case .sum(let slot, let attribute):
      return try aggregate(
        slot, summand: Summand(column: try Self.column(attribute, schema), isWhole: isWhole(attribute)))
    }
  }

  /// The rows of the attribute's entity.
  var isOwnRow: SQLExpression { isOfEntity }
  var tableName: String { table.name }
  var columnName: String { column }

  /// The value for any row, whatever it was before.
  func wholeValue() throws -> SQLExpression {
    switch derived.source {
    case .now: return .builtin("NSCoreDataNow", [])
    case .value(let path, let attribute, let function):
      let source: String = try Self.column(attribute, schema)
      func call(_ value: SQLExpression) -> SQLExpression {
        function.map { .function(Self.sqlFunction($0), [value]) } ?? value
      }
      let steps: [Step] = try steps(path)
      guard let first = steps.first else { return call(own(source)) }
      return found(steps, from: .tableColumn(table.name, first.key), source, call)
    case .count(let slot): return try total(slot, summand: nil)
    case .sum(let slot, let attribute): return try total(slot, summand: try Self.column(attribute, schema))
    }
  }

  /// The number of members, or the sum of a column of theirs.
  private func total(_ slot: Int, summand: String?) throws -> SQLExpression {
    let owner: SQLExpression = .tableColumn(table.name, table.key)
    guard case .toMany(let storage) = schema.storage(of: entity.index, slot: slot),
      let destination = entity.slots[slot].destination
    else { return .integer(0) }
    let total: SQLExpression =
      summand.map { orZero(.builtin("SUM", [.column("member", $0)])) } ?? .countRows
    switch storage {
    case .foreignKey(let members):
      return .scalar(
        select(
          total, from: .table(members.table, alias: "member"),
          where: equal(.column("member", members.key), owner)))
    case .joinTable(let members):
      var pairs: SelectStatement = select(
        .named(.column("pair", members.member), "m"), from: .table(members.table, alias: "pair"),
        where: equal(.column("pair", members.owner), owner))
      if members.isReflexive {
        pairs.union = [
          select(
            .column("pair", members.owner), from: .table(members.table, alias: "pair"),
            where: equal(.column("pair", members.member), owner))
        ]
      }
      let rows: TableSchema = try schema.table(of: destination)
      return .scalar(
        select(
          total, from: .table(rows.name, alias: "member"),
          where: .inSelect(.column("member", rows.key), pairs)))
    }
  }

  /// Whether incrementing and decrementing is exact.
  private func isWhole(_ attribute: DerivedSlot.Place) -> Bool {
    guard case .stored(let kind, _) = schema.layout.entities[attribute.entity].slots[attribute.slot].role
    else { return false }
    switch kind {
    case .int16, .int32, .int64: return true
    default: return false
    }
  }

  private struct Summand {
    var column: String
    var isWhole: Bool
  }

  // MARK: Pieces

  private static func column(_ place: DerivedSlot.Place, _ schema: StoreSchema) throws -> String {
    if let column = schema.column(of: place.entity, slot: place.slot) { return column }
    let entity: EntityLayout = schema.layout.entities[place.entity]
    throw StoreError.unsupportedModel(
      entity: entity.name, property: entity.slots[place.slot].name, reason: "the store has no column for it")
  }

  /// The row after the change, and before it.
  private enum Row: String {
    case new = "NEW"
    case old = "OLD"

    func callAsFunction(_ column: String) -> SQLExpression { .column(rawValue, column) }
  }

  private func own(_ column: String) -> SQLExpression { .column(nil, column) }

  private func equal(_ left: SQLExpression, _ right: SQLExpression) -> SQLExpression {
    .binary(.equal, left, right)
  }

  private func orZero(_ value: SQLExpression) -> SQLExpression { .builtin("IFNULL", [value, .integer(0)]) }

  private func select(
    _ column: SQLExpression, from source: SQLSource, joins: [SQLJoin] = [],
    where condition: SQLExpression = .truth(true)
  ) -> SelectStatement {
    var select = SelectStatement(columns: [column], source: source)
    select.joins = joins
    select.condition = condition
    return select
  }

  /// Selects the row itself.
  private var isSelf: SQLExpression { has(key: Row.new(table.key)) }

  private func has(key value: SQLExpression) -> SQLExpression { equal(own(table.key), value) }

  /// One trigger on the table `watched`.
  ///
  /// - Parameters:
  ///   - value: the new value of the column, in the rows that match `rows`.
  private func trigger(
    _ suffix: String, _ event: TriggerDefinition.Event, on watched: String, when: SQLExpression? = nil,
    set value: SQLExpression, where rows: SQLExpression, isNew: Bool = false
  ) -> SchemaTree {
    let function: String =
      isNew
      ? "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
      : "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    let affected: SQLExpression = .conjunction([rows, isOfEntity])
    let notice: SelectStatement = select(
      .builtin(
        function,
        [.text(table.name), own(AppleNames.entityNumber), own(table.key), .text(derived.name), own(column)]),
      from: .table(table.name, alias: nil), where: affected)
    return .trigger(
      TriggerDefinition(
        name: AppleNames.derivation(derived.name, of: entity.name, watching: watched, suffix), event: event,
        table: watched,
        condition: when,
        body: [
          .update(UpdateStatement(table.name, set: [.init(column, value)], where: affected)),
          .select(notice),
        ]))
  }

  // MARK: now()

  /// Every save of an object raises its version.
  private func now() -> [SchemaTree] {
    let now: SQLExpression = .builtin("NSCoreDataNow", [])
    return [
      trigger("INSERT", .insert, on: table.name, set: now, where: isSelf, isNew: true),
      trigger("UPDATE", .update(of: [table.version]), on: table.name, set: now, where: isSelf),
    ]
  }

  // MARK: Copies

  /// A table on a path.
  private struct Step {
    /// The column that leads to it.
    var key: String
    var table: TableSchema
  }

  private func steps(_ path: [DerivedSlot.Place]) throws -> [Step] {
    try path.map { step in
      let destination: Int = schema.layout.entities[step.entity].slots[step.slot].destination ?? step.entity
      return Step(key: try Self.column(step, schema), table: try schema.table(of: destination))
    }
  }

  /// The value at the end of a path for a row with this first key.
  private func found(
    _ steps: [Step], from key: SQLExpression, _ source: String, _ call: (SQLExpression) -> SQLExpression
  ) -> SQLExpression {
    steps.indices.reduce(key) { row, place in
      let alias = "p\(place)"
      let wanted: SQLExpression =
        place == steps.count - 1 ? call(.column(alias, source)) : .column(alias, steps[place + 1].key)
      return .scalar(
        select(
          wanted, from: .table(steps[place].table.name, alias: alias),
          where: equal(.column(alias, steps[place].table.key), row)))
    }
  }

  private func value(
    _ path: [DerivedSlot.Place], _ attribute: DerivedSlot.Place, _ function: Derivation.TextFunction?
  ) throws -> [SchemaTree] {
    let source: String = try Self.column(attribute, schema)
    func call(_ value: SQLExpression) -> SQLExpression {
      function.map { .function(Self.sqlFunction($0), [value]) } ?? value
    }
    let steps: [Step] = try steps(path)
    guard let first = steps.first else {
      return [
        trigger(
          "INSERT", .insert, on: table.name, set: call(Row.new(source)), where: isSelf, isNew: true),
        trigger(
          "UPDATE", .update(of: [source]), on: table.name, set: call(Row.new(source)), where: isSelf),
      ]
    }
    if steps.count == 1 { return copies(first, path[0], source, call) }
    func found(from key: SQLExpression) -> SQLExpression { self.found(steps, from: key, source, call) }
    var result: [SchemaTree] = [
      trigger(
        "SOURCE_INSERT", .insert, on: table.name, set: found(from: Row.new(first.key)), where: isSelf,
        isNew: true),
      trigger(
        "SOURCE_UPDATE", .update(of: [first.key]), on: table.name, set: found(from: Row.new(first.key)),
        where: isSelf),
    ]
    for place in steps.indices {
      /// The rows whose path contains a row of this table.
      func rows(_ row: Row) -> SQLExpression {
        var condition: SQLExpression = equal(own(steps[place].key), row(steps[place].table.key))
        for step in stride(from: place - 1, through: 0, by: -1) {
          let table: TableSchema = steps[step].table
          condition = .inSelect(
            own(steps[step].key),
            select(own(table.key), from: .table(table.name, alias: nil), where: condition))
        }
        return condition
      }
      let suffix: String = place == 0 ? "PARAMETER" : "PARAMETER\(place + 1)"
      let read: String = place == steps.count - 1 ? source : steps[place + 1].key
      let value: SQLExpression = found(from: .tableColumn(table.name, first.key))
      let watched: String = steps[place].table.name
      result += [
        trigger("\(suffix)_INSERT", .insert, on: watched, set: value, where: rows(.new)),
        trigger("\(suffix)_UPDATE", .update(of: [read]), on: watched, set: value, where: rows(.new)),
        trigger("\(suffix)_DELETE", .delete, on: watched, set: value, where: rows(.old)),
      ]
    }
    return result
  }

  /// A copy of the attribute of an object one step away.
  private func copies(
    _ step: Step, _ place: DerivedSlot.Place, _ source: String, _ call: (SQLExpression) -> SQLExpression
  ) -> [SchemaTree] {
    let found: SQLExpression = .scalar(
      select(
        call(own(source)), from: .table(step.table.name, alias: nil),
        where: equal(own(step.table.key), Row.new(step.key))))
    func readers(_ row: Row) -> SQLExpression { equal(own(step.key), row(step.table.key)) }
    var result: [SchemaTree] = [
      trigger("SOURCE_INSERT", .insert, on: table.name, set: found, where: isSelf, isNew: true),
      trigger("SOURCE_UPDATE", .update(of: [step.key]), on: table.name, set: found, where: isSelf),
      trigger(
        "PARAMETER_INSERT", .insert, on: step.table.name, set: call(Row.new(source)), where: readers(.new),
        isNew: true),
      trigger(
        "PARAMETER_UPDATE", .update(of: [source]), on: step.table.name, set: call(Row.new(source)),
        where: readers(.new)),
    ]
    // A deletion clears the key of a relationship with an inverse, which fires the trigger on the key.
    // Without an inverse no other trigger fires.
    let relationship: PropertySlot = schema.layout.entities[place.entity].slots[place.slot]
    if relationship.relationship?.inverseRelationship == nil {
      result.append(
        trigger("PARAMETER_DELETE", .delete, on: step.table.name, set: .null, where: readers(.old)))
    }
    return result
  }

  private static func sqlFunction(_ function: Derivation.TextFunction) -> SQLFunction {
    switch function {
    case .canonical: .canonical
    case .lowercase: .lowercase
    case .uppercase: .uppercase
    }
  }

  // MARK: Counts and sums

  private func aggregate(_ slot: Int, summand: Summand?) throws -> [SchemaTree] {
    guard case .toMany(let storage) = schema.storage(of: entity.index, slot: slot),
      let destination = entity.slots[slot].destination
    else {
      throw StoreError.unsupportedModel(
        entity: entity.name, property: derived.name,
        reason: "the members of '\(entity.slots[slot].name)' are not in this store's configuration")
    }
    switch storage {
    case .foreignKey(let members): return foreignKey(members, summand)
    case .joinTable(let members): return joinTable(members, try schema.table(of: destination), summand)
    }
  }

  private func foreignKey(_ members: ForeignKeyMembers, _ summand: Summand?) -> [SchemaTree] {
    let key: String = members.key
    func whole(of owner: SQLExpression) -> SQLExpression {
      let total: SQLExpression =
        summand.map { .builtin("SUM", [own($0.column)]) } ?? .builtin("COUNT", [own(key)])
      return .scalar(
        select(orZero(total), from: .table(members.table, alias: nil), where: equal(own(key), owner)))
    }
    func amount(_ row: Row) -> SQLExpression { summand.map { orZero(row($0.column)) } ?? .integer(1) }
    // A row that is its own owner is counted by the trigger of its own insertion.
    let isReflexive: Bool = members.table == table.name
    let hasOwner: SQLExpression = .isNotNull(Row.new(key))
    let newOwner: SQLExpression =
      isReflexive ? .all([hasOwner, .binary(.unequal, Row.new(key), Row.new(table.key))]) : hasOwner
    let isCounted: Bool = summand?.isWhole ?? true
    func changed(_ symbol: SQLOperator, _ row: Row) -> SQLExpression {
      isCounted ? .binary(symbol, own(column), amount(row)) : whole(of: row(key))
    }
    func watch(
      _ suffix: String, _ event: TriggerDefinition.Event, _ row: Row, when: SQLExpression,
      set value: SQLExpression
    ) -> SchemaTree {
      trigger(suffix, event, on: members.table, when: when, set: value, where: has(key: row(key)))
    }
    let change: TriggerDefinition.Event = .update(of: [key] + (summand.map { [$0.column] } ?? []))
    let hadOwner: SQLExpression = .isNotNull(Row.old(key))
    return [
      watch(
        "PARAMETER_INSERT", .insert, .new, when: newOwner,
        set: .binary(.add, orZero(own(column)), amount(.new))),
      watch("PARAMETER_UPDATE_INCREMENT", change, .new, when: hasOwner, set: changed(.add, .new)),
      watch("PARAMETER_UPDATE_DECREMENT", change, .old, when: hadOwner, set: changed(.subtract, .old)),
      watch("PARAMETER_DELETE", .delete, .old, when: hadOwner, set: changed(.subtract, .old)),
      trigger(
        "SOURCE_INSERT", .insert, on: table.name, set: whole(of: Row.new(table.key)), where: isSelf,
        isNew: true),
    ]
  }

  private func joinTable(_ members: JoinTableMembers, _ memberTable: TableSchema, _ summand: Summand?)
    -> [SchemaTree]
  {
    let pairs: SQLSource = .table(members.table, alias: nil)
    /// The members of an owner; a pair of a relationship that is its own inverse counts once, in either
    /// direction.
    func membersRows(of key: SQLExpression) -> SQLSource {
      var rows: SelectStatement = select(
        .named(own(members.member), "m"), from: pairs, where: equal(own(members.owner), key))
      if members.isReflexive {
        rows.union = [select(own(members.owner), from: pairs, where: equal(own(members.member), key))]
      }
      return .select(rows, alias: nil)
    }
    func whole(of key: SQLExpression) -> SQLExpression {
      if let summand {
        let join = SQLJoin(
          kind: .inner, table: memberTable.name, alias: "s",
          condition: equal(.column("s", memberTable.key), own("m")))
        return .scalar(
          select(
            orZero(.builtin("SUM", [.column("s", summand.column)])), from: membersRows(of: key),
            joins: [join]))
      }
      if members.isReflexive { return .scalar(select(.countRows, from: membersRows(of: key))) }
      return .scalar(
        select(
          orZero(.builtin("COUNT", [own(members.owner)])), from: pairs,
          where: equal(own(members.owner), key)))
    }
    let everyOwner: SQLExpression = whole(of: .tableColumn(table.name, table.key))
    func ends(_ row: Row) -> SQLExpression {
      members.isReflexive
        ? .inList(own(table.key), [row(members.owner), row(members.member)])
        : has(key: row(members.owner))
    }
    let added: SQLExpression
    let removed: SQLExpression
    switch summand {
    case _ where members.isReflexive: (added, removed) = (everyOwner, everyOwner)
    case nil:
      added = .binary(.add, orZero(own(column)), .integer(1))
      removed = .binary(.subtract, own(column), .integer(1))
    case let summand?:
      let worth: SelectStatement = select(
        .column("s", summand.column), from: .table(memberTable.name, alias: "s"),
        where: equal(.column("s", memberTable.key), Row.new(members.member)))
      added = .binary(.add, orZero(own(column)), orZero(.scalar(worth)))
      // The member, and with it its value, may already be deleted.
      removed = everyOwner
    }
    var result: [SchemaTree] = [
      trigger("PARAMETER_INSERT", .insert, on: members.table, set: added, where: ends(.new)),
      trigger("PARAMETER_DELETE", .delete, on: members.table, set: removed, where: ends(.old)),
      trigger(
        "SOURCE_INSERT", .insert, on: table.name, set: whole(of: Row.new(table.key)), where: isSelf,
        isNew: true),
    ]
    guard let summand else { return result }
    func owners(_ row: Row) -> SQLExpression {
      let member: SQLExpression = row(memberTable.key)
      var rows: SelectStatement = select(
        own(members.owner), from: pairs, where: equal(own(members.member), member))
      if members.isReflexive {
        rows.union = [select(own(members.member), from: pairs, where: equal(own(members.owner), member))]
      }
      return .inSelect(own(table.key), rows)
    }
    let watched: String = memberTable.name
    result += [
      trigger("MEMBER_INSERT", .insert, on: watched, set: everyOwner, where: owners(.new)),
      trigger(
        "MEMBER_UPDATE", .update(of: [summand.column]), on: watched, set: everyOwner, where: owners(.new)),
      trigger("MEMBER_DELETE", .delete, on: watched, set: everyOwner, where: owners(.old)),
    ]
    return result
  }
}
