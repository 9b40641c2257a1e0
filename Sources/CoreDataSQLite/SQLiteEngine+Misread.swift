import CoreDataSQL
import CoreDataStorage
import GRDB
import GRDBSQLite

extension SQLiteEngine {
  package func misreadValues() throws -> [RowID: [UnwritableValue]] {
    try read { database in
      let statements = ExaminationStatements(schema)
      var found: [RowID: [UnwritableValue]] = [:]
      for table in schema.tables {
        let columns: [MisreadColumn] = misreadColumns(of: table)
        guard let sql = statements.hasStrangeValues(in: columns.map(\.column), of: table),
          try !integers(sql, database).isEmpty
        else { continue }
        for column in columns { try add(column, of: table, statements, database, &found) }
      }
      return found
    }
  }

  /// A column of which a value of another type reads as another value. Data read as their bytes, numbers in a
  /// text as their digits, and each integer but 0 as the Boolean true.
  private struct MisreadColumn {
    let entity: EntityLayout
    let slot: Int
    let column: AttributeColumn
  }

  private func misreadColumns(of table: TableSchema) -> [MisreadColumn] {
    layout.entities[table.root].family.flatMap { number -> [MisreadColumn] in
      let entity: EntityLayout = layout.entities[number]
      return entity.slots.indices.compactMap { slot in
        guard entity.slots[slot].declaringEntity == entity.index,
          case .attribute(let column) = schema.storage(of: entity.index, slot: slot)
        else { return nil }
        switch column.kind {
        case .data, .transformable, .toOne: return nil
        default: return MisreadColumn(entity: entity, slot: slot, column: column)
        }
      }
    }
  }

  private func add(
    _ place: MisreadColumn, of table: TableSchema, _ statements: ExaminationStatements, _ database: Database,
    _ found: inout [RowID: [UnwritableValue]]
  ) throws {
    guard let sql = statements.strangeValues(in: place.column, of: place.entity, table) else { return }
    let name: String = place.entity.slots[place.slot].name
    let rows = try RawStatement(database, sql, url: url)
    defer { rows.reset() }
    while try rows.step() {
      let type: CInt = sqlite3_column_type(rows.handle, 2)
      if place.column.kind == .bool, type == SQLITE_INTEGER { continue }
      if place.column.kind.isText, type == SQLITE_INTEGER || type == SQLITE_FLOAT { continue }
      // A row without an entity is none that anybody reads; each entity has numbers of its own for its slots.
      guard let owner = schema.entityIndex(ofNumber: Int(clamping: rows.integer(1))),
        let slot = layout.entities[owner].slotByName[name]
      else { continue }
      found[RowID(entity: owner, key: rows.integer(0)), default: []].append(
        UnwritableValue(
          slot: slot, reason: reason(rows, place.column.kind)))
    }
  }

  private func reason(_ rows: RawStatement, _ kind: ColumnKind) -> String {
    if kind == .decimal { return "\(shown(rows)) is no decimal number" }
    if kind.isText, sqlite3_column_type(rows.handle, 2) == SQLITE_TEXT {
      return UnwritableValue.noText
    }
    return "the file has \(shown(rows)), which is none of its type (\(kind.wordForMessages))"
  }

  private func shown(_ rows: RawStatement) -> String {
    switch sqlite3_column_type(rows.handle, 2) {
    case SQLITE_BLOB: "\(rows.data(2)?.count ?? 0) bytes"
    case SQLITE_TEXT: "'\(rows.text(2)?.prefix(40) ?? "")'"
    default: rows.text(2) ?? ""
    }
  }
}

extension ColumnKind {
  fileprivate var isText: Bool { self == .string || self == .uri }
}
