import CoreDataModel
import CoreDataStorage

extension MigrationPlanner {
  /// What the contents must be like, as questions to the old tables.
  func checks(_ indexes: IndexChanges) -> [MigrationCheck] {
    var result: [MigrationCheck] = []
    for entity in new.layout.entities {
      guard let former = moves.source[entity.index], let position = old.tablePosition[former] else {
        continue
      }
      let table: TableSchema = old.tables[position]
      let isOf: SQLExpression = TableChange.isOf([old.entityNumbers[former]])
      func count(_ condition: SQLExpression) -> SelectStatement {
        var select = SelectStatement(columns: [.countRows], source: .table(table.name, alias: nil))
        select.condition = .conjunction([condition, isOf])
        return select
      }
      if entity.isAbstract, !old.layout.entities[former].isAbstract {
        result.append(
          MigrationCheck(subject: .abstractRows(entity: entity.name), select: count(.truth(true))))
      }
      for (number, slot) in entity.slots.enumerated() {
        guard !slot.property.isOptional, !slot.isDerived, case .stored = slot.role,
          let missing = missing(number, of: entity, former)
        else { continue }
        result.append(
          MigrationCheck(
            subject: .missingValues(entity: entity.name, property: slot.name), select: count(missing)))
      }
    }
    return result + duplicates(indexes)
  }

  /// The rows of an old entity that would have no value; nil if all have one, or no more lack one than
  /// before.
  private func missing(_ number: Int, of entity: EntityLayout, _ former: Int) -> SQLExpression? {
    switch plan.entities[entity.index].slots[number] {
    case .constant(let value):
      if let column = formerKey(number, of: entity, former) { return .isNull(.column(nil, column)) }
      return value.isNull ? .truth(true) : nil
    case .slot(let number, let whenNil):
      let slot: PropertySlot = old.layout.entities[former].slots[number]
      guard whenNil == nil, slot.property.isOptional, let column = old.column(of: former, slot: number) else {
        return nil
      }
      return .isNull(.column(nil, column))
    }
  }

  /// The old column from which a new reference to one object gets its keys: that of the other side.
  private func formerKey(_ number: Int, of entity: EntityLayout, _ former: Int) -> String? {
    guard case .toOne(let columns) = new.storage(of: entity.index, slot: number),
      let position = new.tablePosition[entity.index],
      let place = new.tables[position].columns.firstIndex(where: { $0.name == columns.key })
    else { return nil }
    return tables[position].sources[place][EntityMoves.Pair(old: former, new: entity.index)]?.column
  }

  /// Of the values that the rows of one old table will have; in other cases the unique index finds them.
  private func duplicates(_ indexes: IndexChanges) -> [MigrationCheck] {
    indexes.constraints.compactMap { constraint in
      guard let change = tables.first(where: { $0.table.name == constraint.table }), change.origins.count == 1
      else { return nil }
      // Before anything is renamed.
      let copy = TableCopy(change, change.origins[0], moves, CurrentNames())
      let places: [Int] = constraint.columns.compactMap { name in
        change.table.columns.firstIndex { $0.name == name }
      }
      guard places.count == constraint.columns.count, let repeated = copy.repeated(places) else { return nil }
      return MigrationCheck(
        subject: .duplicates(entity: constraint.entity, properties: constraint.properties),
        select: SelectStatement(columns: [.countRows], source: .select(repeated, alias: nil)))
    }
  }

  /// References of the old tables that lead nowhere: they stay so.
  func surveys() -> [MigrationCheck] {
    old.layout.entities.flatMap { entity -> [MigrationCheck] in
      entity.slots.enumerated().compactMap { number, slot in
        ExaminationStatements.lostReferences(of: entity, slot: number, old).map { select in
          MigrationCheck(subject: .lostReferences(entity: entity.name, property: slot.name), select: select)
        }
      }
    }
  }

  /// The rows of each table afterwards.
  func counts() -> [CountProof] {
    tables.map { change in
      var sources: [Int: CountProof.Source] = [:]
      var names: [Int: String] = [:]
      for origin in change.origins {
        for pair in origin.pairs {
          sources[new.entityNumbers[pair.new]] = CountProof.Source(
            table: old.tables[origin.table].name, number: old.entityNumbers[pair.old])
        }
      }
      for entity in new.layout.entities[change.table.root].family {
        names[new.entityNumbers[entity]] = new.layout.entities[entity].name
      }
      let keepsRows: Bool = change.kept.map { $0.deleted.isEmpty } ?? false
      return CountProof(table: change.table.name, sources: sources, names: names, isTouched: !keepsRows)
    }
  }

  /// Tagged columns of tables that lose rows, columns or themselves.
  func externalColumns() -> [InPlaceMigration.ExternalColumn] {
    let quiet: Set<String> = Set(
      tables.compactMap { change in
        guard let kept = change.kept, kept.isQuiet, kept.dropped.isEmpty else { return nil }
        return old.tables[kept.position].name
      })
    var result: [InPlaceMigration.ExternalColumn] = []
    for entity in old.layout.entities {
      guard let position = old.tablePosition[entity.index] else { continue }
      let table: String = old.tables[position].name
      for storage in old.storage[entity.index] {
        guard case .attribute(let column) = storage, column.isTagged, !quiet.contains(table) else { continue }
        let found = InPlaceMigration.ExternalColumn(table: table, column: column.name)
        if !result.contains(found) { result.append(found) }
      }
    }
    return result
  }
}
