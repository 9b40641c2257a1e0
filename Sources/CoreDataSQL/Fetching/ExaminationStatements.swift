import CoreDataStorage
import Foundation

/// The statements that examine a store's tables for what no fetch shows.
package struct ExaminationStatements: Sendable {
  /// The function that is 1 for a text whose bytes are not UTF-8, and else 0.
  package static let isNoText: String = "clarus_is_no_text"

  private let schema: StoreSchema
  private let dialect: any SQLDialect

  package init(_ schema: StoreSchema, dialect: any SQLDialect = SQLiteDialect()) {
    self.schema = schema
    self.dialect = dialect
  }

  private func text(_ select: SelectStatement) -> String {
    SQLRenderer.inlineText(.select(select), dialect: dialect)
  }

  /// The highest key in use.
  package func highestKey(in table: TableSchema) -> String {
    text(
      SelectStatement(
        columns: [.builtin("max", [.column(nil, table.key)])], source: .table(table.name, alias: nil)))
  }

  /// (key, most): keys after a key, in ascending order, with their entity numbers.
  package func keys(in table: TableSchema) -> String {
    var select = SelectStatement(
      columns: [.column(nil, table.key), table.entityNumber(nil)], source: .table(table.name, alias: nil))
    select.condition = .binary(.greater, .column(nil, table.key), .parameter(1))
    select.order = [SQLOrderTerm(.column(nil, table.key), ascending: true)]
    select.limit = .parameter(2)
    return SQLRenderer.text(.select(select), dialect: dialect)
  }

  /// Keys that are not above 0.
  package func lowKeys(in table: TableSchema) -> String {
    var select = SelectStatement(
      columns: [.column(nil, table.key)], source: .table(table.name, alias: nil))
    select.condition = .binary(.lessOrEqual, .column(nil, table.key), .integer(0))
    select.order = [SQLOrderTerm(.column(nil, table.key), ascending: true)]
    return text(select)
  }

  /// A row for a table in which a value of one of the columns is not stored as its kind is; nil for columns
  /// that take anything.
  package func hasStrangeValues(in columns: [AttributeColumn], of table: TableSchema) -> String? {
    let conditions: [SQLExpression] = columns.compactMap {
      AppleBookkeeping.isStrange(.column(nil, $0.name), $0)
    }
    if conditions.isEmpty { return nil }
    var select = SelectStatement(columns: [.integer(1)], source: .table(table.name, alias: nil))
    select.condition = .any(conditions)
    select.limit = .integer(1)
    return text(select)
  }

  /// Keys, entity numbers and values of rows of an entity, or of its sub-entities, whose value in a column of
  /// its own is not stored as its kind is; nil for a column that takes anything. Another entity of the
  /// hierarchy may have an attribute of another type in the same column.
  package func strangeValues(in column: AttributeColumn, of entity: EntityLayout, _ table: TableSchema)
    -> String?
  {
    guard var condition = AppleBookkeeping.isStrange(.column(nil, column.name), column) else { return nil }
    if entity.superIndex != nil {
      let numbers: [SQLExpression] = entity.family.map { .integer(Int64(schema.entityNumber(of: $0))) }
      condition = .all([.inList(table.entityNumber(nil), numbers), condition])
    }
    var select = SelectStatement(
      columns: [.column(nil, table.key), table.entityNumber(nil), .column(nil, column.name)],
      source: .table(table.name, alias: nil))
    select.condition = condition
    return text(select)
  }

  /// How many objects name one that is not there, in a to-one relationship of an entity's own; nil for
  /// another property. `isExact`: whether an object of a wrong entity is none.
  static func lostReferences(
    of entity: EntityLayout, slot number: Int, _ schema: StoreSchema, isExact: Bool = false
  ) -> SelectStatement? {
    let slot: PropertySlot = entity.slots[number]
    guard slot.declaringEntity == entity.index, slot.isToOne, let destination = slot.destination,
      let table = try? schema.table(of: entity.index),
      let key = schema.column(of: entity.index, slot: number),
      let target = try? schema.table(of: destination)
    else { return nil }
    var found = SelectStatement(columns: [.integer(1)], source: .table(target.name, alias: "target"))
    let isTarget: SQLExpression =
      .binary(.equal, .column("target", target.key), .tableColumn(table.name, key))
    found.condition =
      isExact && target.entity != nil
      ? .all([isTarget, isMember("target", target, of: schema.layout.entities[destination], schema)])
      : isTarget
    var select = SelectStatement(columns: [.countRows], source: .table(table.name, alias: nil))
    select.condition = .all([.isNotNull(.column(nil, key)), .exists(found, isNegated: true)])
    return select
  }

  /// How many objects name one that is not there, or is of a wrong entity or of none, in a to-one
  /// relationship of an entity's own.
  package func lostReferences(of entity: EntityLayout, slot: Int) -> String? {
    Self.lostReferences(of: entity, slot: slot, schema, isExact: true).map(text)
  }

  /// Keys and entity numbers of rows of an entity, or of its sub-entities, that have beside a reference of an
  /// entity's own the number of another entity than the object's; nil for a property without such numbers.
  package func wrongTargetNumbers(of entity: EntityLayout, slot number: Int) -> String? {
    let slot: PropertySlot = entity.slots[number]
    guard slot.declaringEntity == entity.index, slot.isToOne, let destination = slot.destination,
      case .toOne(let columns) = schema.storage(of: entity.index, slot: number),
      let named = columns.entity, let table = try? schema.table(of: entity.index),
      let target = try? schema.table(of: destination), let own = target.entity
    else { return nil }
    var found = SelectStatement(columns: [.integer(1)], source: .table(target.name, alias: "target"))
    found.condition = .all([
      .binary(.equal, .column("target", target.key), .tableColumn(table.name, columns.key)),
      .binary(.unequal, .column("target", own), .tableColumn(table.name, named)),
    ])
    var select = SelectStatement(
      columns: [.column(nil, table.key), table.entityNumber(nil)], source: .table(table.name, alias: nil))
    var conditions: [SQLExpression] = [.isNotNull(.column(nil, named)), .exists(found, isNegated: false)]
    if entity.superIndex != nil { conditions.insert(isMember(nil, table, of: entity), at: 0) }
    select.condition = .all(conditions)
    return text(select)
  }

  /// Whether a row is of an entity or its sub-entities.
  private func isMember(_ alias: String?, _ table: TableSchema, of entity: EntityLayout) -> SQLExpression {
    Self.isMember(alias, table, of: entity, schema)
  }

  private static func isMember(
    _ alias: String?, _ table: TableSchema, of entity: EntityLayout, _ schema: StoreSchema
  ) -> SQLExpression {
    let numbers: [SQLExpression] = entity.family.map { .integer(Int64(schema.entityNumber(of: $0))) }
    return .inList(table.entityNumber(alias), numbers)
  }

  /// Pairs of which an object is missing: the keys of the owner and of the target.
  package func danglingPairs(in join: JoinTable) -> String? {
    let slot: PropertySlot = schema.layout.entities[join.entity].slots[join.slot]
    guard let destination = slot.destination, let owners = try? schema.table(of: join.entity),
      let targets = try? schema.table(of: destination)
    else { return nil }
    func isMissing(_ column: String, _ table: TableSchema, _ entity: Int) -> SQLExpression {
      var rows = SelectStatement(columns: [.integer(1)], source: .table(table.name, alias: "t"))
      let isRow: SQLExpression = .binary(.equal, .column("t", table.key), .column("j", column))
      rows.condition =
        table.entity == nil ? isRow : .all([isRow, isMember("t", table, of: schema.layout.entities[entity])])
      return .exists(rows, isNegated: true)
    }
    var select = SelectStatement(
      columns: [.column("j", join.ownerKey), .column("j", join.targetKey)],
      source: .table(join.name, alias: "j"))
    select.condition = .any([
      isMissing(join.ownerKey, owners, join.entity), isMissing(join.targetKey, targets, destination),
    ])
    return text(select)
  }

  /// Owners of an ordered relationship some of whose members have no place, or share one; nil for a
  /// relationship without an order.
  package func unorderedOwners(_ storage: ToManyStorage) -> [String] {
    let (table, owner, order): (String, String, String?) =
      switch storage {
      case .foreignKey(let members): (members.table, members.key, members.order)
      case .joinTable(let members): (members.table, members.owner, members.order)
      }
    guard let order else { return [] }
    var none = SelectStatement(columns: [.column(nil, owner)], source: .table(table, alias: nil))
    none.isDistinct = true
    none.condition = .all([.isNotNull(.column(nil, owner)), .isNull(.column(nil, order))])
    var shared = SelectStatement(columns: [.column(nil, owner)], source: .table(table, alias: nil))
    shared.condition = .all([.isNotNull(.column(nil, owner)), .isNotNull(.column(nil, order))])
    shared.groups = [.column(nil, owner), .column(nil, order)]
    shared.having = .binary(.greater, .countRows, .integer(1))
    return [text(none), text(shared)]
  }

  /// Keys and entity numbers of rows that a search of an R-tree for their own numbers does not find.
  package func rowsMissing(in tree: RTree) -> String {
    var tests: [SQLExpression] = [
      .binary(.equal, .tableColumn(tree.name, tree.key), .column("t", tree.key))
    ]
    for column in tree.columns {
      // A missing number is 0 in the tree.
      let value: SQLExpression = .choice(
        when: .isNull(.column("t", column)), then: .integer(0), otherwise: .column("t", column))
      tests += TreeSearch.tests(of: column, in: tree, from: value, to: value)
    }
    var found = SelectStatement(columns: [.integer(1)], source: .table(tree.name, alias: nil))
    found.condition = .all(tests)
    let number: SQLExpression = .column("t", AppleNames.entityNumber)
    var select = SelectStatement(
      columns: [.column("t", tree.key), number], source: .table(tree.table, alias: "t"))
    let isMissing: SQLExpression = .exists(found, isNegated: true)
    select.condition =
      tree.numbers.map { .all([.inList(number, $0.map { .integer(Int64($0)) }), isMissing]) } ?? isMissing
    return text(select)
  }

  /// Keys of rows with values of a column that have the form of a file's name, and these values.
  package func fileReferences(in column: String, of table: TableSchema, tag: UInt8) -> String {
    let value: SQLExpression = .column(nil, column)
    var select = SelectStatement(
      columns: [.column(nil, table.key), table.entityNumber(nil), value],
      source: .table(table.name, alias: nil))
    select.condition = AppleBookkeeping.isFileReference(value, tag: tag)
    return text(select)
  }
}
