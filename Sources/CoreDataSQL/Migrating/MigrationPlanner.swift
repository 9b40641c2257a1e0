import CoreDataModel
import CoreDataStorage

/// Plans a migration in place: from the structure of a database as it is, and a plan for its entities and
/// properties, to the statements that make it a store of the new model.
///
///     1  triggers, indexes and R-trees that do not stay are dropped
///     2  tables and columns that stay get their new names
///     3  new tables are created; those that can't be had by altering an old one are filled
///     4  rows of altered tables: removed entities, defaults, conversions, entity numbers
///     5  columns and tables that nothing refers to are dropped
///     6  references to removed objects are cleared; numbers and orders that need all rows are written
///     7  indexes, R-trees, derived attributes, triggers
///     8  Z_PRIMARYKEY
///
/// Steps 3 reads only what was there before, which steps 4 then changes.
package struct MigrationPlanner {
  let plan: SchemaPlan
  let old: StoreSchema
  let new: StoreSchema
  let facts: MigrationFacts
  let moves: EntityMoves
  var tables: [TableChange] = []
  var joins: [JoinChange] = []
  var names = CurrentNames()
  var steps: [MigrationStep] = []
  var obstacles: [String] = []
  private var sources: ColumnSources

  /// `targetEntities`: the names of the entities of the store's configuration in the new model, nil for all.
  package static func plan(
    _ plan: SchemaPlan, old: StoreSchema, facts: MigrationFacts, targetEntities: Set<String>? = nil
  ) throws -> InPlaceMigration {
    try plan.target.checkComposites(entityNames: targetEntities)
    let new = try StoreSchema(layout: plan.target, entities: targetEntities)
    var planner = MigrationPlanner(plan, old, new, facts)
    return try planner.migration(targetEntities)
  }

  private init(_ plan: SchemaPlan, _ old: StoreSchema, _ new: StoreSchema, _ facts: MigrationFacts) {
    self.plan = plan
    self.old = old
    self.new = new
    self.facts = facts
    moves = EntityMoves(plan, old: old, new: new, facts: facts)
    sources = ColumnSources(plan, moves)
  }

  private mutating func migration(_ entities: Set<String>?) throws -> InPlaceMigration {
    if facts.hasHistory {
      obstacles.append("The store keeps persistent history, to which nothing can be added.")
    }
    changeTables()
    changeJoins()
    checkRelationships()
    checkManyToMany()
    obstacles += moves.obstacles + sources.obstacles
    let indexes = IndexChanges(self)
    let triggers = try TriggerChanges(self, indexes, entities)
    obstacles += indexes.obstacles + triggers.obstacles
    steps += triggers.dropping + indexes.dropping
    rename()
    create()
    updateRows()
    drop()
    complete()
    steps += indexes.creating + triggers.creating
    numberEntities()
    return InPlaceMigration(
      old: old, new: new, steps: steps, obstacles: obstacles, checks: checks(indexes),
      surveys: surveys(), counts: counts(),
      externalColumns: externalColumns())
  }

  // MARK: Decisions

  private mutating func changeTables() {
    var taken: Set<Int> = []
    for position in new.tables.indices {
      let rebuilt: (Int) -> Bool = { [facts, old] table in
        // A constraint inside the definition of the table can't be altered.
        facts.objects.contains {
          $0.kind == .index && $0.sql == nil
            && DatabaseNames.fold($0.table) == DatabaseNames.fold(old.tables[table].name)
        }
      }
      let change = TableChange(position, moves, &sources) { !taken.contains($0) && !rebuilt($0) }
      if let kept = change.kept { taken.insert(kept.position) }
      tables.append(change)
    }
    for (position, table) in old.tables.enumerated() {
      let foreign: [String] = facts.foreignColumns(of: table)
      if foreign.isEmpty { continue }
      guard let kept = tables.compactMap(\.kept).first(where: { $0.position == position }) else {
        obstacles += foreign.map {
          "Table \(table.name) has a column \($0) that is not of the store's model."
        }
        continue
      }
      let wanted: Set<String> = Set((kept.added.map(\.name) + kept.renames.map(\.to)).map(DatabaseNames.fold))
      obstacles += foreign.filter { wanted.contains(DatabaseNames.fold($0)) }.map {
        "Table \(table.name) has a column \($0) that is not of the store's model, and the new model needs the name."
      }
    }
  }

  private mutating func changeJoins() {
    var taken: Set<String> = []
    joins = new.joinTables.compactMap { JoinChange($0, plan, moves, taken: &taken) }
  }

  // MARK: Names

  private mutating func rename() {
    let kept: [(from: String, to: String)] =
      tables.compactMap { change in
        change.kept.map { (old.tables[$0.position].name, change.table.name) }
      } + joins.compactMap { change in change.kept.map { ($0.name, change.join.name) } }
    let stays: Set<String> = Set(kept.map(\.from))
    let dropped: [String] = (old.tables.map(\.name) + old.joinTables.map(\.name)).filter {
      !stays.contains($0)
    }
    let made: [String] =
      tables.filter { $0.kept == nil }.map(\.table.name) + joins.filter(\.isMade).map(\.join.name)
    checkNames(kept.map(\.to) + made)
    let changes = NameChanges(renamed: kept, dropped: dropped, added: made, AppleNames.formerTable)
    for (from, to) in changes.steps {
      steps.append(MigrationStep(.renameTable(from, to: to), "call table \(from) \(to)"))
    }
    for (from, to) in kept { names.rename(table: from, to: to) }
    for (from, to) in changes.names { names.rename(table: from, to: to) }
    for change in tables {
      guard let kept = change.kept else { continue }
      for (from, to) in kept.renames {
        steps.append(
          MigrationStep(
            .renameColumn(from, of: names.table(old.tables[kept.position].name), to: to),
            "call column \(from) of \(change.table.name) \(to)"))
      }
      names.rename(columns: kept.names, of: old.tables[kept.position].name)
    }
    for change in joins {
      guard let kept = change.kept else { continue }
      let renaming = NameChanges(renamed: change.renames, dropped: [], added: [])
      for (from, to) in renaming.steps {
        steps.append(
          MigrationStep(
            .renameColumn(from, of: change.join.name, to: to),
            "call column \(from) of \(change.join.name) \(to)"))
      }
      names.rename(columns: renaming.names, of: kept.name)
    }
  }

  /// New names must not be those of other programs' tables.
  private mutating func checkNames(_ wanted: [String]) {
    let own: Set<String> = Set((old.tables.map(\.name) + old.joinTables.map(\.name)).map(DatabaseNames.fold))
    let wanted: Set<String> = Set(wanted.map(DatabaseNames.fold))
    for object in facts.objects where object.kind == .table || object.kind == .view {
      let name: String = DatabaseNames.fold(object.name)
      if wanted.contains(name), !own.contains(name) {
        obstacles.append(
          "There is a \(object.kind.rawValue) \(object.name) that is not of the store's model.")
      }
    }
  }

  // MARK: New tables

  private mutating func create() {
    let creation = AppleCreation(new)
    for change in tables where change.kept == nil {
      let name: String = change.table.name
      steps.append(
        MigrationStep(.create(.table(creation.table(change.table))), "make table \(name)", rows: 0))
      var sourceProofs: [SelectStatement] = []
      for (place, origin) in change.origins.enumerated() {
        let copy = TableCopy(change, origin, moves, names)
        sourceProofs.append(copy.fingerprint)
        let from: TableSchema = old.tables[origin.table]
        var step = MigrationStep(
          copy.tree, "copy rows of \(from.name) to \(name)",
          rows: facts.rows(of: from.name, numbers: origin.pairs.map(moves.number)))
        if place == change.origins.count - 1 {
          step.proof = CopyProof(
            table: name, columns: copy.provenColumns.map { change.table.columns[$0].name },
            sources: sourceProofs, result: copy.resultFingerprint)
        }
        steps.append(step)
      }
    }
    for change in joins where change.isMade {
      steps.append(
        MigrationStep(
          .create(.table(creation.joinTable(change.join))), "make table \(change.join.name)", rows: 0))
      for source in change.sources {
        steps.append(
          MigrationStep(
            change.copy(source, names), "copy pairs of \(source.table) to \(change.join.name)",
            rows: facts.rows(of: source.table, numbers: source.numbers)))
      }
    }
  }

  // MARK: Rows

  private mutating func updateRows() {
    for change in tables {
      guard let kept = change.kept else { continue }
      let name: String = change.table.name
      let former: String = old.tables[kept.position].name
      for column in kept.added {
        steps.append(
          MigrationStep(
            .addColumn(column.name, type: AppleLayout().type(column.purpose, column.kind), to: name),
            "add column \(column.name) to \(name)", rows: 0))
      }
      if !kept.deleted.isEmpty {
        steps.append(
          MigrationStep(
            .rows(.delete(DeleteStatement(from: name, where: TableChange.isOf(kept.deleted)))),
            "remove rows of entities that are not in \(name) any more",
            rows: facts.rows(of: former, numbers: kept.deleted)))
      }
      for update in kept.updates {
        let conditions: [SQLExpression] =
          (update.missing.map { [.isNull(.column(nil, $0))] } ?? [])
          + (update.numbers.map { [TableChange.isOf($0)] } ?? [])
        steps.append(
          MigrationStep(
            .rows(
              .update(UpdateStatement(name, set: update.assignments, where: .conjunction(conditions)))),
            update.explanation,
            rows: update.missing == nil ? facts.rows(of: former, numbers: update.numbers) : nil))
      }
    }
  }

  private mutating func drop() {
    for change in tables {
      for column in change.kept?.dropped ?? [] {
        steps.append(
          MigrationStep(
            .dropColumn(column, of: change.table.name), "remove column \(column) of \(change.table.name)",
            rows: facts.rows(of: old.tables[change.kept!.position].name)))
      }
    }
    let stays: Set<String> = Set(
      tables.compactMap { $0.kept.map { old.tables[$0.position].name } } + joins.compactMap { $0.kept?.name })
    for name in old.joinTables.map(\.name) + old.tables.map(\.name) where !stays.contains(name) {
      steps.append(
        MigrationStep(.dropTable(names.table(name)), "remove table \(name)", rows: facts.rows(of: name)))
    }
  }

  // MARK: What needs all rows

  private mutating func complete() {
    for change in tables {
      for (place, column) in change.table.columns.enumerated() {
        clearLost(column, change)
        guard change.sources[place].values.contains(.later) else { continue }
        completeColumn(column, change.table)
      }
    }
    for change in joins where !change.sources.isEmpty {
      if change.losesRows { clearLost(change) }
      let isOrdered: Bool = change.sources.allSatisfy { $0.order != nil }
      let isInverseOrdered: Bool = change.sources.allSatisfy { $0.inverseOrder != nil }
      func number(_ order: String, _ owner: String, _ member: String) {
        steps.append(
          MigrationStep(
            .numberMembers(of: change.join.name, order: order, owner: owner, by: member),
            "number the members in \(change.join.name)"))
      }
      if let order = change.members.order, !isOrdered {
        number(order, change.members.owner, change.members.member)
      }
      if let order = change.members.inverseOrder, !isInverseOrdered {
        number(order, change.members.member, change.members.owner)
      }
    }
  }

  private mutating func completeColumn(_ column: ColumnSchema, _ table: TableSchema) {
    let entity: EntityLayout = new.layout.entities[column.owner]
    let slot: PropertySlot = entity.slots[column.slot]
    let name: String = "\(entity.name).\(slot.name)"
    switch (column.purpose, new.storage(of: column.owner, slot: column.slot)) {
    case (.toOneEntity, .toOne(let columns)):
      guard let target = slot.destination.flatMap({ try? new.table(of: $0) }), let number = target.entity
      else { return }
      var found = SelectStatement(
        columns: [.column("target", number)], source: .table(target.name, alias: "target"))
      found.condition = .binary(
        .equal, .column("target", target.key), .tableColumn(table.name, columns.key))
      steps.append(
        MigrationStep(
          .rows(
            .update(
              UpdateStatement(
                table.name, set: [.init(column.name, .scalar(found))],
                where: .all([
                  .isNotNull(.column(nil, columns.key)), .isNull(.column(nil, column.name)),
                ])))), "note the entities that \(name) leads to"))
    case (.order, .toOne(let columns)):
      steps.append(
        MigrationStep(
          .numberMembers(of: table.name, order: column.name, owner: columns.key, by: table.key),
          "number the objects by \(name)"))
    case (.order, .toMany(.foreignKey(let members))):
      steps.append(
        MigrationStep(
          .numberMembers(of: table.name, order: column.name, owner: members.key, by: table.key),
          "number the objects of \(name)"))
    default: break
    }
  }

  /// No row has this key and is of one of the family's entities.
  private func isLost(_ key: SQLExpression, of target: Int) -> SQLExpression? {
    guard let table = try? new.table(of: target) else { return nil }
    let family: EntityLayout = new.layout.entities[target]
    var found = SelectStatement(columns: [.integer(1)], source: .table(table.name, alias: "target"))
    let isIt: SQLExpression = .binary(.equal, .column("target", table.key), key)
    found.condition =
      family.superIndex == nil
      ? isIt : .all([isIt, TableChange.isOf(family.family.map { new.entityNumbers[$0] }, "target")])
    return .exists(found, isNegated: true)
  }

  private mutating func clearLost(_ column: ColumnSchema, _ change: TableChange) {
    let pairs: [EntityMoves.Pair] = change.origins.flatMap(\.pairs).filter {
      sources.applies(column, to: $0.new)
    }
    var losing: [EntityMoves.Pair] = []
    var target: Int?
    for pair in pairs {
      guard let found = sources.targetThatLosesRows(column, pair) else { continue }
      target = found
      losing.append(pair)
    }
    let table: TableSchema = change.table
    guard let target, let isLost = isLost(.tableColumn(table.name, column.name), of: target) else { return }
    let slot: PropertySlot = new.layout.entities[column.owner].slots[column.slot]
    let others: [String?] =
      switch new.storage(of: column.owner, slot: column.slot) {
      case .toOne(let columns): [columns.entity, columns.order]
      case .toMany(.foreignKey(let members)): [members.order]
      default: []
      }
    var conditions: [SQLExpression] = [.isNotNull(.column(nil, column.name)), isLost]
    if losing.count < change.origins.flatMap(\.pairs).count, new.layout.entities[table.root].hasSubentities {
      conditions.append(TableChange.isOf(losing.map { new.entityNumbers[$0.new] }.sorted()))
    }
    steps.append(
      MigrationStep(
        .rows(
          .update(
            UpdateStatement(
              table.name, set: ([column.name] + others.compactMap(\.self)).map { .init($0, .null) },
              where: .all(conditions)))),
        "clear \(new.layout.entities[column.owner].name).\(slot.name) where its object is removed"))
  }

  private mutating func clearLost(_ change: JoinChange) {
    let name: String = change.join.name
    let conditions: [SQLExpression] = [
      isLost(.tableColumn(name, change.members.owner), of: change.owner),
      isLost(.tableColumn(name, change.members.member), of: change.member),
    ].compactMap(\.self)
    if conditions.isEmpty { return }
    steps.append(
      MigrationStep(
        .rows(.delete(DeleteStatement(from: name, where: .disjunction(conditions)))),
        "remove pairs of \(name) whose object is removed"))
  }

  // MARK: Entities

  private mutating func numberEntities() {
    struct Row: Equatable {
      var number: Int
      var name: String
      var superNumber: Int
      var highest: Int64
    }
    let wanted: [Row] = new.layout.entities.map { entity in
      Row(
        number: new.entityNumbers[entity.index], name: entity.name,
        superNumber: entity.superIndex.map { new.entityNumbers[$0] } ?? 0,
        highest: entity.superIndex == nil
          ? new.tablePosition[entity.index].map { moves.highestKey(of: $0, facts) } ?? 0 : 0)
    }
    let rows: [ExistingDatabase.EntityRow] = facts.database.entities.filter {
      $0.number < AppleBookkeeping.firstHistoryNumber
    }
    let found: [Row] = rows.sorted { $0.number < $1.number }.map {
      Row(number: $0.number, name: $0.name, superNumber: $0.superNumber, highest: $0.maxKey)
    }
    if wanted == found { return }
    steps.append(
      MigrationStep(
        .rows(.delete(AppleBookkeeping.removeEntities)), "remove the former list of entities",
        rows: Int64(found.count)))
    for row in wanted {
      steps.append(
        MigrationStep(
          .rows(
            .insert(
              AppleBookkeeping.entity(
                number: row.number, name: row.name, superNumber: row.superNumber, highestKey: row.highest))),
          "list entity \(row.name)", rows: 1))
    }
  }
}
