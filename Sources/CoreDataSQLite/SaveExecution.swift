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
  private var compiler: SaveCompiler { engine.saveCompiler }

  init(engine: SQLiteEngine, database: Database, files: ExternalDataChanges) {
    self.engine = engine
    self.database = database
    self.files = files
  }

  func run(_ plan: SavePlan) throws {
    try checkTrees(plan)
    try checkDerived()
    var conflicts: [(id: RowID, expected: Int32)] = []
    try check(plan.checks, &conflicts)
    try find(plan.targets, &conflicts)
    try delete(plan.deletes, &conflicts)
    try update(plan.updates, &conflicts)
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

  private func check(_ checks: [RowDelete], _ conflicts: inout [(id: RowID, expected: Int32)]) throws {
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

  private func find(_ targets: [RowID], _ conflicts: inout [(id: RowID, expected: Int32)]) throws {
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
  private func checkTrees(_ plan: SavePlan) throws {
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

  /// How the rows of one entity are deleted.
  private struct DeleteWork {
    let text: EngineStatements.DeletionText
    let statement: RawStatement
    let cleanups: [RawStatement]
  }

  private func deleteWork(of entity: Int) throws -> DeleteWork {
    let text: EngineStatements.DeletionText = engine.texts.deletion(of: entity, compiler)
    let binder: RowBinder = try engine.texts.binder(.delete(entity: entity), compiler)
    return DeleteWork(
      text: text, statement: try RawStatement(database, binder.sql, url: engine.url),
      cleanups: try text.cleanups.map { try RawStatement(database, $0, url: engine.url) })
  }

  private func delete(_ deletes: [RowDelete], _ conflicts: inout [(id: RowID, expected: Int32)]) throws {
    var works: [Int: DeleteWork] = [:]
    var last: (entity: Int, work: DeleteWork)?
    for delete in deletes {
      let entity = Int(delete.id.entity)
      if last?.entity != entity {
        let work: DeleteWork = try works[entity] ?? deleteWork(of: entity)
        works[entity] = work
        last = (entity, work)
      }
      guard let work = last?.work else { continue }
      if work.text.tagged != nil { try noteTagged(work.text, key: delete.id.key) }
      try work.statement.bind(1, delete.id.key)
      try work.statement.bind(2, Int64(delete.expectedVersion))
      if try runLocked(work.statement, delete.id, version: delete.expectedVersion) == 0 {
        conflicts.append((id: delete.id, expected: delete.expectedVersion))
        continue
      }
      for cleanup in work.cleanups {
        try cleanup.bind(1, delete.id.key)
        try cleanup.run()
      }
    }
    if LogSink.level > 0, !deletes.isEmpty {
      LogSink.log(LogEntry(.statement, "DELETE", rows: deletes.count))
    }
  }

  private func noteTagged(_ text: EngineStatements.DeletionText, key: Int64) throws {
    guard let sql = text.tagged else { return }
    let select = try RawStatement(database, sql, url: engine.url)
    defer { select.reset() }
    try select.bind(1, key)
    if try select.step() {
      for column in 0..<text.taggedCount { files.willReplace(select.data(column)) }
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

  private func update(_ updates: [RowUpdate], _ conflicts: inout [(id: RowID, expected: Int32)]) throws {
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
            beginnings: beginnings(update.changed, of: update.row.entity))
          if LogSink.level > 0 { LogSink.log(LogEntry(.statement, binder.sql)) }
        }
        last = works[write].map { (write, $0) }
      }
      guard let work = last?.work else { continue }
      for sql in work.beginnings { try noteReplacedFile(sql, key: update.row.key) }
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
  private func beginnings(_ slots: SlotSet, of entity: Int) -> [String] {
    let columns: [String] = slots.members.compactMap { slot in
      guard case .attribute(let column) = engine.schema.storage(of: entity, slot: slot) else { return nil }
      return column.isTagged ? column.name : nil
    }
    if columns.isEmpty { return [] }
    let text: EngineStatements.DeletionText = engine.texts.deletion(of: entity, compiler)
    return columns.compactMap { text.beginnings[$0] }
  }

  private func noteReplacedFile(_ sql: String, key: Int64) throws {
    let select = try RawStatement(database, sql, url: engine.url)
    defer { select.reset() }
    try select.bind(1, key)
    if try select.step() { files.willReplace(select.data(0)) }
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
