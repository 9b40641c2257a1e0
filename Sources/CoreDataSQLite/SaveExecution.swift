import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// One save plan, executed inside a transaction that is already open. The caller rolls back if this throws.
///
/// Order: deletes first, then updates, then inserts, so that a unique value may move from a deleted or
/// changed row to a new one; then to-many edits, for which all rows must exist.
///
/// Optimistic locking: every update and delete names the version it expects. Those that match no such row are
/// collected, and the save then stops with one `.conflicts`.
struct SaveExecution {
  let engine: SQLiteEngine
  let database: Database
  let files: ExternalDataChanges
  /// Whether rows of one entity and version are deleted by one statement. How many it has not found is known
  /// then, and not which ones: a save in which some are missing is executed again, row by row.
  let deletesTogether: Bool
  private var conflicts: [(id: RowID, expected: Int32)] = []
  private var compiler: SaveCompiler { engine.saveCompiler }

  /// Some of the rows that were to be deleted together are gone, or have another version.
  struct RowsMissing: Error {}

  init(engine: SQLiteEngine, database: Database, files: ExternalDataChanges, deletesTogether: Bool) {
    self.engine = engine
    self.database = database
    self.files = files
    self.deletesTogether = deletesTogether
  }

  /// The part of a save that its new rows have no part in; they need no keys yet.
  ///
  /// Throws `RowsMissing` if rows that were to be deleted together are not as they were read.
  mutating func runDeletes(_ plan: borrowing SavePlan) throws {
    try checkTrees(plan)
    try checkDerived()
    try check(plan.checks)
    try find(plan.targets)
    try delete(plan.deletes)
  }

  mutating func runWrites(_ plan: borrowing SavePlan) throws {
    try update(plan.updates)
    if !conflicts.isEmpty { throw StoreError.conflicts(try describe(conflicts)) }
    for (layout, rows) in plan.inserts {
      try insert(rows, of: layout)
      if plan.keepsTimes { try keepTimes(of: rows, layout) }
    }
    try ToManyWriter(engine: engine, database: database).run(plan.toMany)
  }

  private func statements(of entity: Int) throws -> RowStatements {
    RowStatements(try engine.schema.table(of: entity))
  }

  private func locks(of entity: Int) throws -> EngineStatements.RowLocks {
    guard let position = engine.schema.tablePosition[entity] else {
      return EngineStatements.RowLocks(try engine.schema.table(of: entity))
    }
    return engine.texts.locks[position]
  }

  private func describe(_ conflicts: [(id: RowID, expected: Int32)]) throws -> [RowConflict] {
    try conflicts.map { conflict in
      let root: EntityLayout = engine.layout.entities[
        engine.layout.entities[Int(conflict.id.entity)].rootIndex]
      let stored: RowBatch = try engine.rows(of: root, keys: [conflict.id.key], database)
      return RowConflict(id: conflict.id, expectedVersion: conflict.expected, stored: stored.first)
    }
  }

  private mutating func check(_ checks: [RowDelete]) throws {
    var last: (entity: Int32, select: RawStatement)?
    for check in checks {
      if last?.entity != check.id.entity {
        let text: String = try locks(of: Int(check.id.entity)).check
        last = (check.id.entity, try RawStatement(database, text, url: engine.url))
      }
      guard let select = last?.select else { continue }
      defer { select.reset() }
      try select.bind(1, check.id.key)
      try select.bind(2, Int64(check.expectedVersion))
      if try !select.step() { conflicts.append((id: check.id, expected: check.expectedVersion)) }
    }
  }

  private mutating func find(_ targets: [RowID]) throws {
    var last: (entity: Int32, select: RawStatement)?
    for target in targets {
      if last?.entity != target.entity {
        let text: String = try locks(of: Int(target.entity)).find
        last = (target.entity, try RawStatement(database, text, url: engine.url))
      }
      guard let select = last?.select else { continue }
      defer { select.reset() }
      try select.bind(1, target.key)
      if try !select.step() { conflicts.append((id: target, expected: 0)) }
    }
  }

  /// An R-tree index is a table of its own. Apple's files keep it up to date by triggers; if these are
  /// missing, writing would silently make location fetches wrong.
  private func checkTrees(_ plan: borrowing SavePlan) throws {
    var touched: Set<Int> = []
    for (layout, rows) in plan.inserts where !rows.isEmpty { touched.insert(layout.index) }
    for update in plan.updates { touched.insert(update.row.entity) }
    for delete in plan.deletes { touched.insert(Int(delete.id.entity)) }
    for entity in touched.sorted() {
      guard let tree = engine.texts.unguardedTrees[entity].first else { continue }
      throw StoreError.unsupportedModel(
        entity: engine.layout.entities[entity].name, property: nil,
        reason:
          "its rows are also in the R-tree index \(tree), which no trigger of the file keeps up to date; drop "
          + "that table to write with Clarus (Apple's framework makes it anew when the model changes)")
    }
  }

  /// Triggers update derived values; in a file without them a save would leave wrong values.
  private func checkDerived() throws {
    guard let name = engine.texts.unguardedDerived.first else { return }
    let parts: [Substring] = name.split(separator: ".", maxSplits: 1)
    throw StoreError.unsupportedModel(
      entity: String(parts[0]), property: String(parts[1]),
      reason:
        "it is a derived attribute, and the file has no trigger that keeps it up to date; copy the objects into "
        + "a fresh store to write with this model")
  }

  // MARK: Deletes

  /// Rows of one entity and version.
  private struct DeletionGroup: Hashable {
    let entity: Int
    let version: Int32
  }

  /// Deletes the rows, those of a group by as few statements as their keys take.
  private mutating func delete(_ deletes: [RowDelete]) throws {
    if deletes.isEmpty { return }
    var groups: [(group: DeletionGroup, keys: [Int64])] = []
    var places: [DeletionGroup: Int] = [:]
    var last: (group: DeletionGroup, place: Int)?
    for delete in deletes {
      let group = DeletionGroup(entity: Int(delete.id.entity), version: delete.expectedVersion)
      if last?.group != group {
        let place: Int = places[group] ?? groups.count
        if place == groups.count { groups.append((group, [])) }
        places[group] = place
        last = (group, place)
      }
      if let last { groups[last.place].keys.append(delete.id.key) }
    }
    for (group, keys) in groups {
      // Rows written by hand may have no version, which reads as 0; each is looked at.
      let parts: [KeySelection.Part] =
        deletesTogether && group.version != 0
        ? KeySelection.parts(of: keys) : KeySelection.singles(of: keys[...])
      for part in parts { try delete(part, group) }
    }
    if LogSink.level > 0 { LogSink.log(LogEntry(.statement, "DELETE", rows: deletes.count)) }
  }

  private mutating func delete(_ part: KeySelection.Part, _ group: DeletionGroup) throws {
    let text: EngineStatements.DeletionText = try engine.texts.deletion(
      of: group.entity, part.selection, compiler)
    let values: ArraySlice<Int64> = part.values
    if let tagged = text.tagged { try noteFiles(tagged, text.taggedCount, values) }
    let statement: RawStatement = try bound(text.rows, values)
    try statement.bind(values.count + 1, Int64(group.version))
    let count: Int
    if part.selection == .one {
      let id = RowID(entity: group.entity, key: part.keys[part.keys.startIndex])
      count = try runLocked(statement, id, version: group.version)
      if count == 0 { return conflicts.append((id: id, expected: group.version)) }
    } else {
      count = try statement.run()
    }
    if count != part.keys.count { throw RowsMissing() }
    for cleanup in text.cleanups { try bound(cleanup, values).run() }
  }

  /// A statement whose first parameters are keys.
  private func bound(_ sql: String, _ values: ArraySlice<Int64>) throws -> RawStatement {
    let statement = try RawStatement(database, sql, url: engine.url)
    var parameter: Int = 1
    for value in values {
      try statement.bind(parameter, value)
      parameter += 1
    }
    return statement
  }

  /// Notes the files of rows that are to be deleted.
  private func noteFiles(_ sql: String, _ count: Int, _ values: ArraySlice<Int64>) throws {
    let select: RawStatement = try bound(sql, values)
    defer { select.reset() }
    while try select.step() {
      for column in 0..<count { files.willReplace(select.data(column)) }
    }
  }

  // MARK: Updates

  /// How the rows of one entity with the same changed slots are written.
  private struct UpdateWork {
    let binder: RowBinder
    let statement: RawStatement
    /// Read the tagged columns that change, whose files may be replaced.
    let beginnings: [String]
  }

  private mutating func update(_ updates: [RowUpdate]) throws {
    var works: [EngineStatements.RowWrite: UpdateWork] = [:]
    var last: (write: EngineStatements.RowWrite, work: UpdateWork)?
    var postponed: [RowUpdate] = []
    for update in updates {
      let write: EngineStatements.RowWrite = .update(entity: update.row.entity, update.changed)
      if last?.write != write {
        if works[write] == nil {
          let binder: RowBinder = try engine.texts.binder(write, compiler)
          works[write] = UpdateWork(
            binder: binder, statement: try RawStatement(database, binder.sql, url: engine.url),
            beginnings: try beginnings(update.changed, of: update.row.entity))
          if LogSink.level > 0 { LogSink.log(LogEntry(.statement, binder.sql)) }
        }
        last = works[write].map { (write, $0) }
      }
      guard let work = last?.work else { continue }
      for sql in work.beginnings { try noteFiles(sql, 1, [update.row.key]) }
      do {
        if try run(update, work.binder, work.statement) == 0 {
          conflicts.append((id: update.row.id, expected: update.expectedVersion))
        }
      } catch let error as StoreError {
        // Two rows that swap unique values collide only in between: this row's values are cleared here and
        // set at the end.
        guard isUniqueViolation(error), try clearUniqueValues(update) else {
          throw explained(error, update.row)
        }
        postponed.append(update)
      }
    }
    for update in postponed {
      let binder: RowBinder = try engine.texts.binder(
        .update(entity: update.row.entity, update.changed), compiler)
      let statement = try RawStatement(database, binder.sql, url: engine.url)
      do {
        try run(update, binder, statement)
      } catch let error as StoreError {
        throw explained(error, update.row)
      }
    }
  }

  @discardableResult
  private func run(_ update: RowUpdate, _ binder: RowBinder, _ statement: RawStatement) throws -> Int {
    try statement.bind(Int(binder.version), Int64(update.expectedVersion) + 1)
    try binder.bind(
      update.row.base, update.row, to: statement, numbers: engine.schema.entityNumbers, files: files)
    try statement.bind(Int(binder.key), update.row.key)
    try statement.bind(Int(binder.expectedVersion), Int64(update.expectedVersion))
    return try runLocked(statement, update.row.id, version: update.expectedVersion)
  }

  /// Runs a statement that names the version it expects. Rows written by hand may have no version, which
  /// reads as 0; such a row gets the version 0, and the statement is run once more.
  private func runLocked(_ statement: RawStatement, _ id: RowID, version: Int32) throws -> Int {
    let count: Int = try statement.run()
    if count > 0 || version != 0 { return count }
    let mend = try RawStatement(database, try locks(of: Int(id.entity)).setMissingVersion, url: engine.url)
    try mend.bind(1, id.key)
    return try mend.run() > 0 ? try statement.run() : 0
  }

  /// The statements that read the tagged columns among some slots.
  private func beginnings(_ slots: SlotSet, of entity: Int) throws -> [String] {
    let columns: [String] = slots.members.compactMap { slot in
      guard case .attribute(let column) = engine.schema.storage(of: entity, slot: slot) else { return nil }
      return column.isTagged ? column.name : nil
    }
    if columns.isEmpty { return [] }
    let texts: [String: String] = try engine.texts.beginnings(of: entity, compiler)
    return columns.compactMap { texts[$0] }
  }

  /// Sets the changed columns that take part in a uniqueness constraint to NULL, which collides with nothing.
  private func clearUniqueValues(_ update: RowUpdate) throws -> Bool {
    let layout: EntityLayout = engine.layout.entities[update.row.entity]
    let constrained: Set<String> = UniqueConstraints.names(of: layout, in: engine.layout)
    let columns: [String] = update.changed.members.compactMap { slot in
      guard constrained.contains(layout.slots[slot].name) else { return nil }
      return engine.schema.column(of: layout.index, slot: slot)
    }
    if columns.isEmpty { return false }
    let clear = try RawStatement(database, try statements(of: layout.index).clear(columns), url: engine.url)
    try clear.bind(1, update.row.key)
    try clear.bind(2, Int64(update.expectedVersion))
    return try clear.run() > 0
  }

  // MARK: Inserts

  private func insert(_ batch: RowBatch, of layout: EntityLayout) throws {
    let binder: RowBinder = try engine.texts.binder(.insert(entity: layout.index), compiler)
    let statement = try RawStatement(database, binder.sql, url: engine.url)
    let handle: OpaquePointer = statement.handle
    let numbers: [Int] = engine.schema.entityNumbers
    let number = Int64(numbers[layout.index])
    for slab in batch.slabs {
      for position in 0..<slab.count {
        let row: RowRef = slab.row(position)
        sqlite3_bind_int64(handle, binder.key, row.key)
        sqlite3_bind_int64(handle, binder.entityNumber, number)
        sqlite3_bind_int64(handle, binder.version, Int64(row.version))
        try binder.bind(row.base, row, to: statement, numbers: numbers, files: files)
        let code: Int32 = sqlite3_step(handle)
        if code != SQLITE_DONE {
          let error: StoreError = statement.failure()
          statement.reset()
          try refuseUsedKey(error, row)
          throw explained(error, row)
        }
        sqlite3_reset(handle)
      }
    }
    // Pointers into slabs must not stay bound after the slabs may be gone.
    sqlite3_clear_bindings(handle)
    if LogSink.level > 0 { LogSink.log(LogEntry(.statement, binder.sql, rows: batch.count)) }
  }

  /// The triggers have set the time of this save.
  private func keepTimes(of batch: RowBatch, _ layout: EntityLayout) throws {
    guard let binder = try engine.texts.timeBinder(of: layout, compiler) else { return }
    let statement = try RawStatement(database, binder.sql, url: engine.url)
    try batch.forEach { row in
      try binder.bind(row.base, row, to: statement, numbers: engine.schema.entityNumbers, files: files)
      try statement.bind(Int(binder.key), row.key)
      try statement.run()
    }
  }

  /// A restored row, under its old key, may collide with a row that another context has restored before.
  private func refuseUsedKey(_ error: StoreError, _ row: RowRef) throws {
    guard isUniqueViolation(error) else { return }
    let conflicts: [RowConflict] = try describe([(id: row.id, expected: 0)])
    if conflicts[0].stored != nil { throw StoreError.conflicts(conflicts) }
  }

  // MARK: Uniqueness

  private func isUniqueViolation(_ error: StoreError) -> Bool {
    guard case .database(let code, let message, _, _) = error else { return false }
    return code == SQLITE_CONSTRAINT && message.hasPrefix("UNIQUE constraint failed")
  }

  /// A violated uniqueness constraint of the model as that error; any other error unchanged.
  private func explained(_ error: StoreError, _ row: RowRef) -> StoreError {
    guard case .database(_, let message, _, _) = error, isUniqueViolation(error) else { return error }
    return UniqueConstraints.explain(message, row: row, engine: engine, database: database) ?? error
  }
}
