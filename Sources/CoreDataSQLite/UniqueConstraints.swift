import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// Maps SQLite's message about a unique index back to the model's constraint and the conflicting row.
///
///     UNIQUE constraint failed: ZUSER.ZEMAIL, ZUSER.ZDOMAIN      constraint [email, domain]
enum UniqueConstraints {
  /// The properties of all constraints that apply to an entity: its own, its ancestors', its descendants'.
  static func names(of layout: EntityLayout, in model: ModelLayout) -> Set<String> {
    var result: Set<String> = []
    for (entity, names) in constraints(of: layout, in: model) where entity.family.contains(layout.index) {
      result.formUnion(names)
    }
    return result
  }

  /// Constraints of the hierarchy, which shares one table, with the entity that declares each.
  private static func constraints(
    of layout: EntityLayout, in model: ModelLayout
  ) -> [(entity: EntityLayout, names: [String])] {
    model.entities[layout.rootIndex].family.flatMap { index in
      model.entities[index].entity.uniquenessConstraintNames.map { (model.entities[index], $0) }
    }
  }

  static func explain(
    _ message: String, row: RowRef, engine: SQLiteEngine, database: Database
  ) -> StoreError? {
    guard let colon = message.firstIndex(of: ":") else { return nil }
    let failed: Set<String> = Set(
      message[message.index(after: colon)...].split(separator: ",").map { part in
        let name = part.trimmingCharacters(in: .whitespaces)
        return (name.split(separator: ".").last.map(String.init) ?? name).uppercased()
      })
    let layout: EntityLayout = engine.layout.entities[row.entity]
    for (entity, names) in constraints(of: layout, in: engine.layout) {
      let columns: [String] = names.compactMap { engine.schema.column(of: entity, named: $0) }
      guard columns.count == names.count, Set(columns.map { $0.uppercased() }) == failed else { continue }
      return .uniqueness(
        entity: entity.name, constraint: names,
        row: try? otherRow(
          row, names: names, columns: columns, of: entity, engine: engine, database: database),
        database: message)
    }
    return nil
  }

  /// The row that already has the values.
  private static func otherRow(
    _ row: RowRef, names: [String], columns: [String], of entity: EntityLayout, engine: SQLiteEngine,
    database: Database
  ) throws -> RowID? {
    let table: TableSchema = try engine.schema.table(of: entity.index)
    let select = try RawStatement(
      database, RowStatements(table).other(with: columns), url: engine.url)
    defer { select.reset() }
    for (place, name) in names.enumerated() {
      guard let slot = entity.slot(named: name), case .stored(let kind, let word) = slot.role,
        row.hasValue(word)
      else { return nil }
      switch engine.schema.encoding.form(of: kind) {
      case .integer: try select.bind(place + 1, row.integer(word))
      case .real: try select.bind(place + 1, row.double(word))
      case .text: try select.bind(place + 1, row.string(word))
      case .decimalText: try select.bind(place + 1, DecimalText.stored(row.string(word)))
      case .bytes: try select.bind(place + 1, row.data(word))
      case .boolean, .timestamp, .uuid, .numeric: return nil
      }
    }
    try select.bind(names.count + 1, row.key)
    guard try select.step(), let index = engine.schema.entityIndex(ofNumber: Int(select.integer(1))) else {
      return nil
    }
    return RowID(entity: index, key: select.integer(0))
  }
}
