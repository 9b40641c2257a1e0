import CoreDataModel
import CoreDataStorage

// Derived attributes are ordinary columns that triggers keep up, whoever writes. Names and texts are Apple's where they are known
// (Decisions/0023): a trigger is named after the table it watches, the entity, the attribute, and what happened. What
// happens to the row itself is SOURCE (nothing at all where it reads nothing else), what happens to rows that it reads PARAMETER:
//
//     CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_INSERT AFTER INSERT ON ZPAGE FOR EACH ROW WHEN (NEW.ZBOOK NOT NULL)
//     BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = IFNULL(ZPAGESCOUNT, 0) + 1 WHERE Z_PK = NEW.ZBOOK; SELECT … ; END
//
// Counts and sums of whole numbers are counted up and down, one row at a time. Sums of real numbers are counted up for new
// rows only and else added up anew, since 0.1 + 0.2 - 0.2 is not 0.1.
//
// Apple's framework asks each trigger to call a function with the new value, and so do these; on connections of Clarus the
// function does nothing.

extension SchemaCreation {
  /// The triggers of all derived attributes. Throws for a relationship that leads out of the store's configuration.
  package func triggers(_ derived: [DerivedSlot]) throws -> [String] {
    try derived.flatMap { try DerivationTriggers(schema: schema, derived: $0).statements() }
  }
}

/// The triggers of one derived attribute.
struct DerivationTriggers {
  private let schema: StoreSchema
  private let derived: DerivedSlot
  private let entity: EntityLayout
  private let table: TableSchema
  private let column: String
  /// ` AND …` for an entity that shares its table with others; empty for a root.
  private let condition: String

  init(schema: StoreSchema, derived: DerivedSlot) throws {
    self.schema = schema
    self.derived = derived
    entity = schema.layout.entities[derived.place.entity]
    table = try schema.table(of: entity.index)
    column = try Self.column(derived.place, schema)
    if entity.superIndex == nil {
      condition = ""
    } else {
      let numbers: [Int] = entity.family.map { schema.entityNumbers[$0] }
      condition =
        numbers.count == 1
        ? " AND Z_ENT = \(numbers[0])"
        : " AND Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))"
    }
  }

  func statements() throws -> [String] {
    switch derived.source {
    case .now: return now()
    case .value(let path, let attribute, let function): return try value(path, attribute, function)
    case .count(let slot): return try aggregate(slot, summand: nil)
    case .sum(let slot, let attribute):
      return try aggregate(slot, summand: (try Self.column(attribute, schema), isWhole(attribute)))
    }
  }

  /// Whether counting up and down is exact.
  private func isWhole(_ attribute: DerivedSlot.Place) -> Bool {
    guard case .stored(let kind, _) = schema.layout.entities[attribute.entity].slots[attribute.slot].role
    else { return false }
    switch kind {
    case .int16, .int32, .int64: return true
    default: return false
    }
  }

  // MARK: Pieces

  private static func column(_ place: DerivedSlot.Place, _ schema: StoreSchema) throws -> String {
    switch schema.storage(of: place.entity, slot: place.slot) {
    case .attribute(let column): return SQLIdentifier.quoted(column.name)
    case .toOne(let columns): return SQLIdentifier.quoted(columns.key)
    case .none, .toMany:
      let entity: EntityLayout = schema.layout.entities[place.entity]
      throw StoreError.unsupportedModel(
        entity: entity.name, property: entity.slots[place.slot].name, reason: "the store has no column for it"
      )
    }
  }

  private var target: String { SQLIdentifier.quoted(table.name) }

  private static func literal(_ text: String) -> String {
    "'" + text.replacing("'", with: "''").replacing("\0", with: "\u{FFFD}") + "'"
  }

  private enum Event: String {
    case insert = "INSERT"
    case delete = "DELETE"
    case update = "UPDATE"
  }

  /// One trigger on `table`.
  ///
  /// - Parameters:
  ///   - columns: for updates, those whose change counts.
  ///   - value: what the column becomes, in the rows that `rows` says.
  private func trigger(
    _ suffix: String, _ event: Event, of columns: [String] = [], on watched: String, when: String? = nil,
    set value: String, where rows: String, isNew: Bool = false
  ) -> String {
    let name: String = SQLIdentifier.quoted(
      "Z_DA_\(watched)_\(entity.name)_\(derived.name)_\(suffix)")
    let events: String =
      columns.isEmpty ? event.rawValue : "\(event.rawValue) OF \(columns.joined(separator: ", "))"
    let function: String =
      isNew
      ? "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
      : "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    return "CREATE TRIGGER \(name) AFTER \(events) ON \(SQLIdentifier.quoted(watched)) FOR EACH ROW"
      + (when.map { " WHEN (\($0))" } ?? "")
      + " BEGIN UPDATE \(target) SET \(column) = \(value) WHERE \(rows)\(condition);"
      + " SELECT \(function)(\(Self.literal(table.name)), Z_ENT, Z_PK, \(Self.literal(derived.name)), \(column))"
      + " FROM \(target) WHERE \(rows)\(condition); END"
  }

  // MARK: now()

  /// Every save of an object moves its version.
  private func now() -> [String] {
    [
      trigger(
        "INSERT", .insert, on: table.name, set: Self.nowCall, where: "Z_PK = NEW.Z_PK", isNew: true),
      trigger(
        "UPDATE", .update, of: ["Z_OPT"], on: table.name, set: Self.nowCall, where: "Z_PK = NEW.Z_PK"),
    ]
  }

  private static let nowCall: String = "NSCoreDataNow()"

  // MARK: Copies

  private func value(
    _ path: [DerivedSlot.Place], _ attribute: DerivedSlot.Place, _ function: Derivation.TextFunction?
  ) throws -> [String] {
    let source: String = try Self.column(attribute, schema)
    func call(_ value: String) -> String {
      function.map { "\(Self.sqlFunction($0).rawValue)(\(value))" } ?? value
    }
    guard !path.isEmpty else {
      return [
        trigger(
          "INSERT", .insert, on: table.name, set: call("NEW.\(source)"), where: "Z_PK = NEW.Z_PK", isNew: true
        ),
        trigger(
          "UPDATE", .update, of: [source], on: table.name, set: call("NEW.\(source)"),
          where: "Z_PK = NEW.Z_PK"),
      ]
    }
    let keys: [String] = try path.map { try Self.column($0, schema) }
    // The tables that the path goes through, behind each of its steps.
    let tables: [String] = try path.map { step in
      let destination: Int = schema.layout.entities[step.entity].slots[step.slot].destination ?? step.entity
      return try schema.table(of: destination).name
    }
    /// The value that a row with this first key sees at the end of the path.
    func found(from key: String) -> String {
      var row: String = key
      for place in path.indices {
        let wanted: String =
          place == path.count - 1 ? call("p\(place).\(source)") : "p\(place).\(keys[place + 1])"
        row =
          "(SELECT \(wanted) FROM \(SQLIdentifier.quoted(tables[place])) AS p\(place) "
          + "WHERE p\(place).Z_PK = \(row))"
      }
      return row
    }
    if path.count == 1 {
      let own: String =
        "(SELECT \(call(source)) FROM \(SQLIdentifier.quoted(tables[0])) WHERE Z_PK = NEW.\(keys[0]))"
      let readers = "\(keys[0]) = NEW.Z_PK"
      // A deletion clears the key of a relationship with an inverse, which the trigger on the key sees. Without an inverse nothing does.
      let step: PropertySlot = schema.layout.entities[path[0].entity].slots[path[0].slot]
      let isLeftBehind: Bool = step.relationship?.inverseRelationship == nil
      let removal: String = trigger(
        "PARAMETER_DELETE", .delete, on: tables[0], set: "NULL", where: "\(keys[0]) = OLD.Z_PK")
      return [
        trigger(
          "SOURCE_INSERT", .insert, on: table.name, set: own, where: "Z_PK = NEW.Z_PK", isNew: true),
        trigger("SOURCE_UPDATE", .update, of: [keys[0]], on: table.name, set: own, where: "Z_PK = NEW.Z_PK"),
        trigger(
          "PARAMETER_INSERT", .insert, on: tables[0], set: call("NEW.\(source)"), where: readers, isNew: true),
        trigger(
          "PARAMETER_UPDATE", .update, of: [source], on: tables[0], set: call("NEW.\(source)"), where: readers
        ),
      ] + (isLeftBehind ? [removal] : [])
    }
    var result: [String] = [
      trigger(
        "SOURCE_INSERT", .insert, on: table.name, set: found(from: "NEW.\(keys[0])"),
        where: "Z_PK = NEW.Z_PK", isNew: true),
      trigger(
        "SOURCE_UPDATE", .update, of: [keys[0]], on: table.name, set: found(from: "NEW.\(keys[0])"),
        where: "Z_PK = NEW.Z_PK"),
    ]
    for place in path.indices {
      /// The rows whose path goes through a row of this table.
      func rows(_ row: String) -> String {
        var condition = "= \(row).Z_PK"
        for step in stride(from: place, to: 0, by: -1) {
          condition =
            "IN (SELECT Z_PK FROM \(SQLIdentifier.quoted(tables[step - 1])) WHERE \(keys[step]) \(condition))"
        }
        return "\(keys[0]) \(condition)"
      }
      let suffix: String = place == 0 ? "PARAMETER" : "PARAMETER\(place + 1)"
      let read: String = place == path.count - 1 ? source : keys[place + 1]
      let value: String = found(from: "\(target).\(keys[0])")
      result += [
        trigger("\(suffix)_INSERT", .insert, on: tables[place], set: value, where: rows("NEW")),
        trigger("\(suffix)_UPDATE", .update, of: [read], on: tables[place], set: value, where: rows("NEW")),
        trigger("\(suffix)_DELETE", .delete, on: tables[place], set: value, where: rows("OLD")),
      ]
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

  private func aggregate(_ slot: Int, summand: (column: String, isWhole: Bool)?) throws -> [String] {
    guard case .toMany(let storage) = schema.storage(of: entity.index, slot: slot),
      let destination = entity.slots[slot].destination
    else {
      throw StoreError.unsupportedModel(
        entity: entity.name, property: derived.name,
        reason: "the members of '\(entity.slots[slot].name)' are not in this store's configuration")
    }
    switch storage {
    case .foreignKey(let members): return foreignKey(members, summand)
    case .joinTable(let members):
      return joinTable(members, try schema.table(of: destination).name, summand)
    }
  }

  private func foreignKey(
    _ members: ForeignKeyMembers, _ summand: (column: String, isWhole: Bool)?
  ) -> [String] {
    let key: String = SQLIdentifier.quoted(members.key)
    let source: String = SQLIdentifier.quoted(members.table)
    func whole(of owner: String) -> String {
      let total: String = summand.map { "SUM(\($0.column))" } ?? "COUNT(\(key))"
      return "(SELECT IFNULL(\(total), 0) FROM \(source) WHERE \(key) = \(owner))"
    }
    func amount(_ row: String) -> String { summand.map { "IFNULL(\(row).\($0.column), 0)" } ?? "1" }
    // A row that is its own owner is counted by its own insertion.
    let isReflexive: Bool = members.table == table.name
    let newOwner = "NEW.\(key) NOT NULL\(isReflexive ? " AND NEW.\(key) <> NEW.Z_PK" : "")"
    let columns: [String] = [key] + (summand.map { [$0.column] } ?? [])
    let isCounted: Bool = summand?.isWhole ?? true
    func changed(_ sign: String, _ row: String) -> String {
      isCounted ? "\(column) \(sign) \(amount(row))" : whole(of: "\(row).\(key)")
    }
    func watch(
      _ suffix: String, _ event: Event, of columns: [String] = [], _ row: String, when: String,
      set value: String
    ) -> String {
      trigger(
        suffix, event, of: columns, on: members.table, when: when, set: value, where: "Z_PK = \(row).\(key)")
    }
    return [
      watch(
        "PARAMETER_INSERT", .insert, "NEW", when: newOwner, set: "IFNULL(\(column), 0) + \(amount("NEW"))"),
      watch(
        "PARAMETER_UPDATE_INCREMENT", .update, of: columns, "NEW", when: "NEW.\(key) NOT NULL",
        set: changed("+", "NEW")),
      watch(
        "PARAMETER_UPDATE_DECREMENT", .update, of: columns, "OLD", when: "OLD.\(key) NOT NULL",
        set: changed("-", "OLD")),
      watch("PARAMETER_DELETE", .delete, "OLD", when: "OLD.\(key) NOT NULL", set: changed("-", "OLD")),
      trigger(
        "SOURCE_INSERT", .insert, on: table.name, set: whole(of: "NEW.Z_PK"), where: "Z_PK = NEW.Z_PK",
        isNew: true),
    ]
  }

  private func joinTable(
    _ members: JoinTableMembers, _ memberTable: String, _ summand: (column: String, isWhole: Bool)?
  ) -> [String] {
    let join: String = SQLIdentifier.quoted(members.table)
    let owner: String = SQLIdentifier.quoted(members.owner)
    let member: String = SQLIdentifier.quoted(members.member)
    /// The members of an owner; a pair of a relationship that is its own inverse counts in either direction, once.
    func pairs(of key: String) -> String {
      members.isReflexive
        ? "(SELECT \(member) AS m FROM \(join) WHERE \(owner) = \(key) "
          + "UNION SELECT \(owner) FROM \(join) WHERE \(member) = \(key))"
        : "(SELECT \(member) AS m FROM \(join) WHERE \(owner) = \(key))"
    }
    func whole(of key: String) -> String {
      guard let summand else {
        return members.isReflexive
          ? "(SELECT COUNT(*) FROM \(pairs(of: key)))"
          : "(SELECT IFNULL(COUNT(\(owner)), 0) FROM \(join) WHERE \(owner) = \(key))"
      }
      return "(SELECT IFNULL(SUM(s.\(summand.column)), 0) FROM \(pairs(of: key)) "
        + "JOIN \(SQLIdentifier.quoted(memberTable)) AS s ON s.Z_PK = m)"
    }
    let everyOwner: String = whole(of: "\(target).Z_PK")
    let first: String = trigger(
      "SOURCE_INSERT", .insert, on: table.name, set: whole(of: "NEW.Z_PK"), where: "Z_PK = NEW.Z_PK",
      isNew: true)
    func ends(_ row: String) -> String {
      members.isReflexive ? "Z_PK IN (\(row).\(owner), \(row).\(member))" : "Z_PK = \(row).\(owner)"
    }
    let added: String
    let removed: String
    switch summand {
    case _ where members.isReflexive: (added, removed) = (everyOwner, everyOwner)
    case nil: (added, removed) = ("IFNULL(\(column), 0) + 1", "\(column) - 1")
    case let summand?:
      added =
        "IFNULL(\(column), 0) + IFNULL((SELECT s.\(summand.column) FROM \(SQLIdentifier.quoted(memberTable)) AS s "
        + "WHERE s.Z_PK = NEW.\(member)), 0)"
      // The member may be gone by now, and what it was worth with it.
      removed = everyOwner
    }
    var result: [String] = [
      trigger("PARAMETER_INSERT", .insert, on: members.table, set: added, where: ends("NEW")),
      trigger("PARAMETER_DELETE", .delete, on: members.table, set: removed, where: ends("OLD")),
      first,
    ]
    guard let summand else { return result }
    func owners(_ row: String) -> String {
      "Z_PK IN (SELECT \(owner) FROM \(join) WHERE \(member) = \(row).Z_PK"
        + (members.isReflexive ? " UNION SELECT \(member) FROM \(join) WHERE \(owner) = \(row).Z_PK)" : ")")
    }
    result += [
      trigger("MEMBER_INSERT", .insert, on: memberTable, set: everyOwner, where: owners("NEW")),
      trigger(
        "MEMBER_UPDATE", .update, of: [summand.column], on: memberTable, set: everyOwner, where: owners("NEW")
      ),
      trigger("MEMBER_DELETE", .delete, on: memberTable, set: everyOwner, where: owners("OLD")),
    ]
    return result
  }
}
