import CoreDataStorage

/// The statements of a save. None depends on values, so an engine keeps each prepared by entity and slot set.
///
///     INSERT INTO person(_id, _entity, _version, name) VALUES($1, $2, $3, $4)
///     UPDATE person SET _version = $1, name = $2 WHERE _id = $3 AND _version = $4
///     DELETE FROM person WHERE _id = $1 AND _version = $2
///
/// If an update or delete changes no row there is a conflict: the row was deleted or has another version.
/// Rows of one version are deleted together (`KeySelection`):
///
///     DELETE FROM person WHERE _id BETWEEN $1 AND $2 AND _version = $3
package struct SaveCompiler: Sendable {
  package let schema: StoreSchema

  package init(schema: StoreSchema) { self.schema = schema }

  /// Inserts a whole row. Hidden and order columns are empty at first; edits of to-many relationships fill
  /// them.
  package func insert(_ entity: EntityLayout) throws -> WriteStatement {
    let table: TableSchema = try schema.table(of: entity.index)
    var columns: [String] = [table.key]
    var parameters: [RowParameter] = [.key]
    if let number = table.entity {
      columns.append(number)
      parameters.append(.entityNumber)
    }
    columns.append(table.version)
    parameters.append(.version)
    for slot in entity.slots.indices {
      for (column, parameter) in self.columns(of: entity, slot: slot) {
        columns.append(column)
        parameters.append(parameter)
      }
    }
    let values: [SQLExpression] = columns.indices.map { .parameter($0 + 1) }
    return statement(.insert(InsertStatement(into: table.name, columns, values: values)), parameters)
  }

  /// Writes the changed slots and the version of a row that still has the expected version. A changed to-one
  /// loses its position in an ordered inverse; the edit of that relationship sets a new one.
  package func update(_ entity: EntityLayout, changed: SlotSet) throws -> WriteStatement {
    let table: TableSchema = try schema.table(of: entity.index)
    var parameters: [RowParameter] = [.version]
    var assignments: [UpdateStatement.Assignment] = [.init(table.version, .parameter(1))]
    for slot in changed.members where slot < entity.slots.count {
      for (column, parameter) in columns(of: entity, slot: slot) {
        parameters.append(parameter)
        assignments.append(.init(column, .parameter(parameters.count)))
      }
      if case .toOne(let columns) = schema.storage(of: entity.index, slot: slot), let order = columns.order {
        assignments.append(.init(order, .null))
      }
    }
    parameters += [.key, .expectedVersion]
    let condition: SQLExpression = .all([
      table.has(key: .parameter(parameters.count - 1)),
      .binary(.equal, .column(nil, table.version), .parameter(parameters.count)),
    ])
    return statement(.update(UpdateStatement(table.name, set: assignments, where: condition)), parameters)
  }

  /// Writes the attributes derived by `now()` of a row that was just inserted: a copy keeps the times of its
  /// source, and the triggers have set others. nil for an entity without such attributes.
  package func keepTimes(_ entity: EntityLayout) throws -> WriteStatement? {
    var parameters: [RowParameter] = []
    var assignments: [UpdateStatement.Assignment] = []
    for (number, slot) in entity.slots.enumerated() {
      guard slot.isTimeOfSave, case .stored(let kind, let word) = slot.role,
        case .attribute(let column) = schema.storage(of: entity.index, slot: number)
      else { continue }
      parameters.append(.value(word: word, kind: kind, isTagged: false))
      assignments.append(.init(column.name, .parameter(parameters.count)))
    }
    if assignments.isEmpty { return nil }
    let table: TableSchema = try schema.table(of: entity.index)
    parameters.append(.key)
    let condition: SQLExpression = table.has(key: .parameter(parameters.count))
    return statement(.update(UpdateStatement(table.name, set: assignments, where: condition)), parameters)
  }

  /// (keys, version): deletes the rows that have the version.
  package func delete(_ entity: EntityLayout, _ keys: KeySelection = .one) throws -> String {
    let table: TableSchema = try schema.table(of: entity.index)
    let condition: SQLExpression = .all([
      keys.condition(table.key),
      .binary(.equal, .column(nil, table.version), .parameter(keys.parameterCount + 1)),
    ])
    return text(.delete(DeleteStatement(from: table.name, where: condition)))
  }

  private func statement(_ tree: RowTree, _ parameters: [RowParameter]) -> WriteStatement {
    WriteStatement(sql: text(tree), parameters: parameters)
  }

  func text(_ tree: RowTree) -> String { SQLRenderer.text(tree, dialect: schema.dialect) }

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

extension TableSchema {
  /// The condition for the row with a key.
  func has(key value: SQLExpression) -> SQLExpression { .binary(.equal, .column(nil, key), value) }
}
