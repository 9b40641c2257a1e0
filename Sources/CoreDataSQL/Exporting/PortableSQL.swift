import CoreDataModel
import CoreDataStorage
import Foundation

/// A store as SQL that most databases read: a table for each entity that has objects of its own, one for the
/// pairs of each to-many relationship that is no mere inverse of a to-one, and an insertion for each row.
///
///     CREATE TABLE Item (id BIGINT PRIMARY KEY, title VARCHAR, price DOUBLE PRECISION, category BIGINT)
///     INSERT INTO Item(id, title, price, category) VALUES(1, 'Apple', 1.5, 3)
///     CREATE TABLE Item_tags (owner BIGINT NOT NULL, member BIGINT NOT NULL, position INTEGER)
///
/// Dates are timestamps in UTC as text, UUIDs and URLs text, truth values 0 and 1. SQL has no text with a NUL
/// and no NaN: these become U+FFFD and `NULL`.
package struct PortableSQL {
  private let dialect: any SQLDialect = SQLiteDialect()
  /// The text of a date.
  private let dateText: @Sendable (_ secondsSince2001: Double) -> String

  package init(dateText: @escaping @Sendable (_ secondsSince2001: Double) -> String) {
    self.dateText = dateText
  }

  /// A column with the word of the row that it comes from.
  private struct Column {
    var name: String
    var kind: ColumnKind
    var word: Int
  }

  private func columns(of entity: EntityLayout) -> (key: String, columns: [Column]) {
    let columns: [Column] = entity.slots.compactMap { slot in
      guard case .stored(let kind, let word) = slot.role else { return nil }
      return Column(name: slot.name.replacing(".", with: "_"), kind: kind, word: word)
    }
    var key: String = "id"
    let names: Set<String> = Set(columns.map { $0.name.lowercased() })
    while names.contains(key) { key = "_" + key }
    return (key, columns)
  }

  /// Whether a relationship needs a table of pairs. Of two unordered sides the one whose name comes first has
  /// it.
  package static func hasPairs(_ slot: PropertySlot, of entity: EntityLayout) -> Bool {
    guard slot.role == .toMany, let relationship = slot.relationship else { return false }
    guard let inverse = relationship.inverseRelationship else { return true }
    if relationship.isOrdered { return true }
    if !inverse.isToMany || inverse.isOrdered { return false }
    return inverse === relationship
      || (slot.name, relationship.entity.name ?? "") <= (inverse.name, inverse.entity.name ?? "")
  }

  package func table(of entity: EntityLayout) -> String {
    let (key, columns) = columns(of: entity)
    let definitions: [ColumnDefinition] = columns.map { ColumnDefinition($0.name, Self.type($0.kind)) }
    return text(
      .table(
        TableDefinition(
          entity.name, [ColumnDefinition(key, "BIGINT", isPrimaryKey: true)] + definitions)))
  }

  private static func type(_ kind: ColumnKind) -> String {
    switch kind {
    case .int16, .bool: "SMALLINT"
    case .int32: "INTEGER"
    case .int64, .toOne: "BIGINT"
    case .double, .float: "DOUBLE PRECISION"
    case .decimal: "DECIMAL(38, 18)"
    case .date: "TIMESTAMP"
    case .string, .uri: "VARCHAR"
    case .uuid: "CHAR(36)"
    case .data, .transformable: "BLOB"
    }
  }

  package func insertion(of row: RowRef, _ entity: EntityLayout) -> String {
    let (key, columns) = columns(of: entity)
    let values: [SQLExpression] = columns.map { .bound(value(row, $0)) }
    return text(
      InsertStatement(
        into: entity.name, [key] + columns.map(\.name), values: [.integer(row.key)] + values))
  }

  private func value(_ row: RowRef, _ column: Column) -> SQLValue {
    guard row.hasValue(column.word) else { return .null }
    switch column.kind {
    case .int16, .int32, .int64, .toOne: return .integer(row.integer(column.word))
    case .bool: return .integer(row.word(column.word) == 0 ? 0 : 1)
    case .double, .float:
      let number: Double = row.double(column.word)
      return number.isNaN ? .null : .real(number)
    case .date: return .text(dateText(row.double(column.word)))
    case .decimal, .string, .uri: return .text(row.string(column.word))
    case .uuid:
      let bytes: UnsafeRawBufferPointer = row.bytes(column.word)
      return bytes.count == 16 ? .text(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString) : .null
    case .data, .transformable: return .blob(row.data(column.word))
    }
  }

  private func pairs(_ entity: EntityLayout, _ slot: PropertySlot) -> String { "\(entity.name)_\(slot.name)" }

  /// `owner` and `member` are keys, `position` counts from 1 in an ordered relationship.
  package func pairTable(of slot: PropertySlot, _ entity: EntityLayout) -> String {
    let key = ColumnDefinition("owner", "BIGINT", isRequired: true)
    let member = ColumnDefinition("member", "BIGINT", isRequired: true)
    return text(
      .table(
        TableDefinition(pairs(entity, slot), [key, member, ColumnDefinition("position", "INTEGER")])))
  }

  package func insertion(
    of member: RowID, at place: Int, owner: RowID, _ slot: PropertySlot, _ entity: EntityLayout
  ) -> String {
    let position: SQLExpression = slot.relationship?.isOrdered == true ? .integer(Int64(place + 1)) : .null
    return text(
      InsertStatement(
        into: pairs(entity, slot), ["owner", "member", "position"],
        values: [.integer(owner.key), .integer(member.key), position]))
  }

  private func text(_ tree: SchemaTree) -> String { SQLRenderer.text(tree, dialect: dialect) + ";" }

  private func text(_ insert: InsertStatement) -> String {
    SQLRenderer.inlineText(.insert(insert), dialect: dialect) + ";"
  }
}
