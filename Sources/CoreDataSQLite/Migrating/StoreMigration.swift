import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// Migrates a SQLite file in place: one transaction of statements, no objects.
///
///     BEGIN IMMEDIATE ─▸ metadata, structure ─▸ plan ─▸ checks ─▸ statements ─▸ metadata, model ─▸ proof ─▸ COMMIT
///
/// An error at any point, also a crash, leaves the file as it was. Files of large values that the result does
/// not refer to are removed after the commit; a note names them meanwhile (`ExternalNote`). Other connections
/// that have the store open find out that its contents were exchanged, as after `replace` (`OwnContents`).
struct StoreMigration {
  let url: URL
  let plan: SchemaPlan
  let options: SQLiteOptions

  init(_ plan: SchemaPlan, at url: URL, options: SQLiteOptions) throws {
    self.url = url
    self.plan = plan
    self.options = options
    try plan.target.checkNames()
    if SQLiteStoreFile.namesNoFile(url) {
      throw StoreError.invalidFile(
        url: url, reason: "A store there is in memory and new; it has nothing to migrate.")
    }
    if let objection = StoreFileState(url: url).objection {
      throw StoreError.invalidFile(url: url, reason: objection)
    }
  }

  // MARK: Planning

  /// `counting`: whether rows are counted, and problems looked for in them.
  func planned(counting: Bool) throws -> PlannedMigration {
    let access = ReadOnlyAccess(
      url: url, configuration: try Connections.configuration(options, url: url))
    defer { try? access.close() }
    return try access.read { database in
      guard let state = try state(database, counting: counting) else { return PlannedMigration(steps: []) }
      let migration: InPlaceMigration = state.migration
      let rehearsal: MigrationRehearsal.Result? = try rehearsal(of: state)
      let obstacles: [String] = migration.obstacles + (rehearsal?.refusal.map { [$0] } ?? [])
      guard obstacles.isEmpty else { return PlannedMigration(steps: [], obstacles: obstacles) }
      return PlannedMigration(
        steps: migration.steps.map { step in
          PlannedMigration.Step(
            explanation: step.explanation, statement: step.tree.text, rows: step.rows)
        } + (try closingSteps(database)), problems: counting ? try problems(migration, database) : [],
        notes: counting ? try notes(migration, database) + (rehearsal?.notes ?? []) : [])
    }
  }

  /// What is written by other means than the plan's statements.
  private func closingSteps(_ database: Database) throws -> [PlannedMigration.Step] {
    func step(_ explanation: String, _ statement: String, rows: Int64? = 1) -> PlannedMigration.Step {
      PlannedMigration.Step(explanation: explanation, statement: statement, rows: rows)
    }
    let hasModel: Bool = try database.hasTable(AppleBookkeeping.modelCache, url: url)
    return [step("write the versions of the new model's entities", AppleBookkeeping.updateMetadata)]
      + (hasModel
        ? [step("replace the model that the store carries", AppleBookkeeping.insertModel)]
        : [
          step(
            "make a table for the model, which the store lacks", AppleBookkeeping.createModelCache, rows: nil),
          step("write the model", AppleBookkeeping.insertModel),
        ])
  }

  /// The store as it is, and what to do; nil if it fits the new model already.
  private struct State {
    var metadata: StoreMetadata
    var migration: InPlaceMigration
    var facts: MigrationFacts
  }

  private func state(_ database: Database, counting: Bool) throws -> State? {
    let metadata: StoreMetadata = try StoreMetadata.read(database, url: url)
    let names: Set<String>? = metadata.hashes.isEmpty ? nil : Set(metadata.hashes.keys)
    if options.checksModel {
      func check(_ layout: ModelLayout, _ names: Set<String>?) throws {
        try ModelCheck.check(metadata, layout: layout, entityNames: names, url: url, acceptsUnknown: true) {
          try? ModelCache.read(database, url: url)
        }
      }
      let fitsNew: Bool = (try? check(plan.target, options.entityNames)) != nil
      if fitsNew, isSure(metadata, database) { return nil }
      do {
        try check(plan.source, names)
      } catch {
        if fitsNew { return nil }
        throw error
      }
    }
    let facts: MigrationFacts = try .read(database, url: url, counting: counting)
    let old = try StoreSchema(layout: plan.source, database: facts.database, entities: names)
    return State(
      metadata: metadata,
      migration: try MigrationPlanner.plan(plan, old: old, facts: facts, targetEntities: options.entityNames),
      facts: facts)
  }

  /// What the statements do to definitions of other programs, which no plan knows, and which alone make
  /// SQLite refuse one; nil if there are none.
  private func rehearsal(of state: State) throws -> MigrationRehearsal.Result? {
    guard state.migration.obstacles.isEmpty,
      !SchemaDrift(state.migration.old, state.facts).foreignDefinitions().isEmpty
    else { return nil }
    return try MigrationRehearsal(state.migration, state.facts.objects)
      .run(Connections.configuration(options, url: url), url: url)
  }

  /// Whether hashes or structures decide for all entities of the new model: Apple's hashes of some can't be
  /// computed.
  private func isSure(_ metadata: StoreMetadata, _ database: Database) -> Bool {
    let versions = EntityVersions(
      hashes: metadata.hashes, carried: try? ModelCache.read(database, url: url))
    return plan.target.entities.allSatisfy { entity in
      !(options.entityNames?.contains(entity.name) ?? true) || versions.fits(entity.entity) == true
    }
  }

  private func problems(_ migration: InPlaceMigration, _ database: Database) throws -> [MigrationProblem] {
    try migration.checks.compactMap { check in
      let count: Int64 = try count(check, database)
      return count > 0 ? check.problem(count: count) : nil
    }
  }

  private func notes(_ migration: InPlaceMigration, _ database: Database) throws -> [String] {
    try migration.surveys.compactMap { survey in
      let count: Int64 = try count(survey, database)
      return count > 0 ? survey.note(count: count) : nil
    }
  }

  private func count(_ check: MigrationCheck, _ database: Database) throws -> Int64 {
    let select = try RawStatement(database, check.statement.sql, url: url)
    defer { select.reset() }
    try select.bind(check.statement.bindings)
    return try select.step() ? select.integer(0) : 0
  }

  // MARK: Execution

  func run(
    _ verification: MigrationVerification, progress: (MigrationProgress) throws -> Void
  ) throws -> MigrationReport {
    if options.isReadOnly { throw StoreError.readOnly(url: url, .requested) }
    try StoreFileState(url: url).requireWhole()
    let external = ExternalData(store: url, missing: .isError)
    let functions = MigrationFunctions(external: external)
    return try withoutActuallyEscaping(progress) { progress in
      let watch = MigrationWatch(progress)
      do {
        return try SQLiteErrors.translating(url: url) {
          let queue = try DatabaseQueue(
            path: url.path, configuration: try Connections.configuration(options, url: url))
          defer { try? queue.close() }
          return try queue.writeWithoutTransaction { database in
            functions.register(on: database)
            watch.start(on: database)
            defer {
              watch.stop(on: database)
              MigrationFunctions.unregister(on: database)
            }
            let note = ExternalNote(of: external)
            var report: MigrationReport?
            // The note names files of values that the old or the new contents don't refer to.
            defer { ExternalLeftovers.collect(external, options) { try $0(database) } }
            try database.inTransaction(.immediate) {
              guard let state = try state(database, counting: false) else {
                report = MigrationReport(.alreadyMigrated)
                return .rollback
              }
              report = try migrate(state, database, note, verification, watch)
              return .commit
            }
            return report ?? MigrationReport(.alreadyMigrated)
          }
        }
      } catch {
        throw watch.failure ?? functions.failure ?? error
      }
    }
  }

  private func migrate(
    _ state: State, _ database: Database, _ note: ExternalNote, _ verification: MigrationVerification,
    _ watch: MigrationWatch
  ) throws -> MigrationReport {
    let migration: InPlaceMigration = state.migration
    guard migration.obstacles.isEmpty else {
      throw StoreError.migration(url: url, .notInPlace(reasons: migration.obstacles))
    }
    if let problem = try problems(migration, database).first {
      throw StoreError.migration(url: url, problem)
    }
    for column in migration.externalColumns { try noteFiles(column, database, note) }
    let proof = MigrationProof(
      migration: migration, facts: state.facts, verification: verification, database: database, url: url)
    let counts: MigrationProof.Counts = try proof.counts()
    var done: [PlannedMigration.Step] = []
    for (place, step) in migration.steps.enumerated() {
      try watch.report(
        MigrationProgress(step: place, stepCount: migration.steps.count, explanation: step.explanation))
      let rows: Int64? = try run(step, database)
      if verification != .structure, let copy = step.proof { try proof.prove(copy) }
      done.append(
        PlannedMigration.Step(explanation: step.explanation, statement: step.tree.text, rows: rows))
    }
    try watch.report(
      MigrationProgress(
        step: migration.steps.count, stepCount: migration.steps.count, explanation: "check the result"))
    database.clearSchemaCache()
    try writeMetadata(state.metadata, database)
    let found: [String: Int64] = try proof.prove(counts, targetEntities: options.entityNames)
    try OwnContents.markExchanged(database, url: url)
    return MigrationReport(.migrated, steps: done, rowCounts: found)
  }

  private func run(_ step: MigrationStep, _ database: Database) throws -> Int64? {
    let statement: CompiledStatement = step.tree.statement
    do {
      let raw = try RawStatement(database, statement.sql, url: url)
      try raw.bind(statement.bindings)
      let changed = Int64(try raw.run())
      switch step.tree {
      case .rows, .copy, .numberMembers: return changed
      default: return nil
      }
    } catch StoreError.database(SQLITE_CONSTRAINT, let message, let sql, let url) {
      if let constraint = step.constraint, let url {
        throw StoreError.migration(
          url: url,
          .duplicates(entity: constraint.entity, properties: constraint.properties, count: nil))
      }
      throw StoreError.database(code: SQLITE_CONSTRAINT, message: message, sql: sql, url: url)
    }
  }

  private func noteFiles(
    _ column: InPlaceMigration.ExternalColumn, _ database: Database, _ note: ExternalNote
  ) throws {
    let reading: String = AppleBookkeeping.fileReferences(
      in: column.column, of: column.table, tag: ExternalData.fileTag)
    let values = try RawStatement(database, reading, url: url)
    defer { values.reset() }
    while try values.step() {
      guard let value = values.data(0), let name = value.withUnsafeBytes({ ExternalData.fileName($0) }) else {
        continue
      }
      // Without a folder there are no files to remove.
      try? note.add(name)
    }
  }

  /// The versions and the model of the new contents; the UUID and the program's values stay.
  private func writeMetadata(_ former: StoreMetadata, _ database: Database) throws {
    var metadata: StoreMetadata = former
    let fresh: StoreMetadata = .freshSQLite(model: plan.target.model, entityNames: options.entityNames)
    for (key, value) in fresh.values where key != StoreMetadata.Key.autoVacuum {
      metadata.values[key] = value
    }
    metadata.values[EntityVersions.structuresKey] = nil
    try metadata.write(database, url: url)
    let hasModel: Bool = try database.hasTable(AppleBookkeeping.modelCache, url: url)
    if hasModel { try RawStatement(database, AppleBookkeeping.removeModel, url: url).run() }
    guard let blob = ModelCache.blob(for: plan.target.model) else { return }
    if !hasModel { try RawStatement(database, AppleBookkeeping.createModelCache, url: url).run() }
    let insert = try RawStatement(database, AppleBookkeeping.insertModel, url: url)
    try insert.bind(1, blob)
    try insert.run()
  }
}

/// Tells the program how far the migration is, and stops it if the program says so, also in the middle of a
/// statement.
private final class MigrationWatch {
  private let progress: (MigrationProgress) throws -> Void
  private var current = MigrationProgress(step: 0, stepCount: 0, explanation: "")
  private var last: Date = .distantPast
  /// What the program has thrown.
  private(set) var failure: (any Error)?

  init(_ progress: @escaping (MigrationProgress) throws -> Void) { self.progress = progress }

  func start(on database: Database) {
    sqlite3_progress_handler(
      database.sqliteConnection, 100_000,
      { Unmanaged<MigrationWatch>.fromOpaque($0!).takeUnretainedValue().tick() },
      Unmanaged.passUnretained(self).toOpaque())
  }

  func stop(on database: Database) { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }

  func report(_ next: MigrationProgress) throws {
    current = next
    last = Date()
    do {
      try progress(next)
    } catch {
      failure = error
      throw error
    }
  }

  private func tick() -> CInt {
    if failure != nil { return 1 }
    if current.stepCount == 0 || Date().timeIntervalSince(last) < 0.1 { return 0 }
    return (try? report(current)) == nil ? 1 : 0
  }
}
