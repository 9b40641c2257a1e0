import CoreDataStorage

/// The statements of a save. None depends on values, so an engine keeps each prepared by entity and slot set.
///
///     INSERT INTO ZUSER(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(?, ?, ?, ?)
///     UPDATE ZUSER SET Z_OPT = ?, ZNAME = ? WHERE Z_PK = ? AND Z_OPT = ?
///     DELETE FROM ZUSER WHERE Z_PK = ? AND Z_OPT = ?
///
/// An update or delete that changes no row met a conflict: the row is gone or has another version.
package struct SaveCompiler: Sendable {
  package let schema: StoreSchema
  package let dialect: any SQLDialect

  package init(schema: StoreSchema, dialect: any SQLDialect = SQLiteDialect()) {
    self.schema = schema
    self.dialect = dialect
  }

  func name(_ name: String) -> String { dialect.identifier(name) }

  /// Writes a whole new row. Hidden and order columns start empty; edits of to-many relationships fill them.
  package func insert(_ entity: EntityLayout) throws -> WriteStatement {
    let table: TableSchema = try schema.table(of: entity.index)
    var columns: [String] = [table.key, table.entity, table.version]
    var parameters: [RowParameter] = [.key, .entityNumber, .version]
    for slot in entity.slots.indices {
      for (column, parameter) in self.columns(of: entity, slot: slot) {
        columns.append(column)
        parameters.append(parameter)
      }
    }
    let marks: String = columns.indices.map { dialect.placeholder($0 + 1) }.joined(separator: ", ")
    return WriteStatement(
      sql: "INSERT INTO \(name(table.name))(\(columns.map(name).joined(separator: ", "))) VALUES(\(marks))",
      parameters: parameters)
  }

  /// Writes the changed slots and the version of a row that still has the expected version. A changed to-one loses its place in
  /// an ordered inverse; the edit of that relationship gives it a new one.
  package func update(_ entity: EntityLayout, changed: SlotSet) throws -> WriteStatement {
    let table: TableSchema = try schema.table(of: entity.index)
    var parameters: [RowParameter] = [.version]
    var assignments: [String] = ["\(name(table.version)) = \(dialect.placeholder(1))"]
    for slot in changed.members where slot < entity.slots.count {
      for (column, parameter) in columns(of: entity, slot: slot) {
        parameters.append(parameter)
        assignments.append("\(name(column)) = \(dialect.placeholder(parameters.count))")
      }
      if case .toOne(let columns) = schema.storage(of: entity.index, slot: slot), let order = columns.order {
        assignments.append("\(name(order)) = NULL")
      }
    }
    parameters += [.key, .expectedVersion]
    let key: String = dialect.placeholder(parameters.count - 1)
    let version: String = dialect.placeholder(parameters.count)
    return WriteStatement(
      sql: "UPDATE \(name(table.name)) SET \(assignments.joined(separator: ", ")) "
        + "WHERE \(name(table.key)) = \(key) AND \(name(table.version)) = \(version)",
      parameters: parameters)
  }

  package func delete(_ entity: EntityLayout) throws -> WriteStatement {
    let table: TableSchema = try schema.table(of: entity.index)
    return WriteStatement(
      sql: "DELETE FROM \(name(table.name)) WHERE \(name(table.key)) = \(dialect.placeholder(1)) "
        + "AND \(name(table.version)) = \(dialect.placeholder(2))",
      parameters: [.key, .expectedVersion])
  }

  /// Derived attributes have none: triggers write them.
  private func columns(of entity: EntityLayout, slot: Int) -> [(String, RowParameter)] {
    guard case .stored(let kind, let word) = entity.slots[slot].role, !entity.slots[slot].isDerived else {
      return []
    }
    switch schema.storage(of: entity.index, slot: slot) {
    case .attribute(let column):
      return [(column.name, .value(word: word, kind: kind, isTagged: column.isTagged))]
    case .toOne(let columns):
      let target: [(String, RowParameter)] = [(columns.key, .target(word: word))]
      return target + (columns.entity.map { [($0, .targetEntityNumber(word: word))] } ?? [])
    case .none, .toMany: return []
    }
  }
}
