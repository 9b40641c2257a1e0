import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

/// A store before a change of its model, the change, and what the migration makes of the file.
struct MigrationCase: CustomTestStringConvertible, Sendable {
  let name: String
  let before: ModelSketch
  let after: ModelSketch
  /// The statements, without those that write the list of entities, and without triggers.
  let sql: [String]
  var movesKeys: Bool = false

  var testDescription: String { name }
}

extension ModelSketch: @unchecked Sendable {}

enum Migrating {
  static func engine(_ url: URL, _ layout: ModelLayout) throws -> SQLiteEngine {
    try SQLiteEngine.open(url: url, layout: layout)
  }

  /// Fills a store of the first model and returns what is in it.
  static func make(
    _ url: URL, _ layout: ModelLayout, seed: UInt64, count: Int = 7, largestValue: Int = 40
  ) throws -> StoreDump {
    let engine: SQLiteEngine = try engine(url, layout)
    defer { try? engine.close() }
    var random = SeededRandom(seed: seed)
    try engine.fill(count, &random, largestValue: largestValue)
    return try StoreDump(engine)
  }

  @discardableResult
  static func migrate(
    _ url: URL, _ plan: SchemaPlan, _ options: StoreOpeningOptions = StoreOpeningOptions(),
    _ progress: (MigrationProgress) throws -> Void = { _ in }
  ) throws -> MigrationReport {
    try SQLiteKind().migrate(
      at: url, plan: plan, options: options, verification: .everything, progress: progress)
  }

  static func dump(_ url: URL, _ layout: ModelLayout) throws -> StoreDump {
    let engine: SQLiteEngine = try engine(url, layout)
    defer { try? engine.close() }
    return try StoreDump(engine)
  }
}

@Suite struct MigrationCaseTests {
  @Test(arguments: MigrationCase.all + MigrationCase.structural)
  func `the statements of a change, and the objects after it`(_ example: MigrationCase) throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let (source, target) = (example.before.layout(), example.after.layout())
    let plan = SchemaPlan(source: source, target: target)
    let before: StoreDump = try Migrating.make(url, source, seed: 11)
    // Hashes don't cover indexes: a store fits a model that differs in them only.
    let isCovered: Bool =
      source.model.entityVersionHashesByName != target.model.entityVersionHashesByName
    var options = StoreOpeningOptions()
    options.checksModel = isCovered
    let planned: PlannedMigration = try SQLiteKind().migrationPlan(at: url, plan: plan, options: options)
    #expect(planned.obstacles == [])
    #expect(planned.problems == [])
    let statements: [String] = planned.steps.dropLast(2).map(\.statement).filter {
      !$0.contains("Z_PRIMARYKEY") && !$0.contains(" TRIGGER ")
    }
    #expect(statements == example.sql, "\(statements.joined(separator: "\n"))")
    let report: MigrationReport = try Migrating.migrate(url, plan, options)
    #expect(report.outcome == .migrated)
    let expected: StoreDump = before.migrated(plan).withoutNewOrders(plan)
    let found: StoreDump = try Migrating.dump(url, target).withoutNewOrders(plan)
    let isEqual: Bool =
      example.movesKeys ? found.withoutKeys == expected.withoutKeys : found == expected
    #expect(isEqual, "\(found.differences(from: expected))")
    try Self.expectFresh(url, target, folder)
    // A second process finds nothing to do.
    #expect(try Migrating.migrate(url, plan).outcome == .alreadyMigrated)
  }

  @Test func `new derived attributes are computed for all objects`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let example: MigrationCase = try #require(
      MigrationCase.structural.first { $0.name == "derived attributes are added" })
    let plan = SchemaPlan(source: example.before.layout(), target: example.after.layout())
    let before: StoreDump = try Migrating.make(url, plan.source, seed: 4)
    try Migrating.migrate(url, plan)
    let engine: SQLiteEngine = try Migrating.engine(url, plan.target)
    defer { try? engine.close() }
    let (place, visit) = (engine.entity("Place"), engine.entity("Visit"))
    for (number, row) in try engine.fetch(FetchPlan(entity: place)).rows.enumerated() {
      let found: [String: Value] = row.values(place)
      let visits: [StoreDump.Object] = before.objects["Visit"]!.filter {
        $0.members["place"] == ["Place \(number)"]
      }
      let total: Int64 = visits.reduce(0) { sum, visit in
        if case .integer(let cost)? = visit.values["cost"] { return sum + cost }
        return sum
      }
      #expect(found["count"] == .integer(Int64(visits.count)))
      #expect(found["total"] == .integer(total))
      #expect(found["low"] == before.objects["Place"]![number].values["code"])
    }
    for (number, row) in try engine.fetch(FetchPlan(entity: visit)).rows.enumerated() {
      let of: Int? = before.objects["Visit"]![number].members["place"].flatMap { Int($0[0].dropFirst(6)) }
      #expect(row.values(visit)["where"] == of.flatMap { before.objects["Place"]![$0].values["code"] })
    }
    // The triggers go on from there.
    let first: RowID = try engine.fetchIDs(FetchPlan(entity: place))[0]
    let count: Value? = try engine.values(first)?["count"]
    try engine.insert("Visit", [["place": .target(first), "cost": .integer(5)]])
    guard case .integer(let was)? = count else { return }
    #expect(try engine.values(first)?["count"] == .integer(was + 1))
  }

  /// Tables, columns, indexes, triggers and the list of entities are those of a fresh store.
  static func expectFresh(_ url: URL, _ layout: ModelLayout, _ folder: TemporaryFolder) throws {
    let fresh: URL = folder.file("fresh-\(UUID().uuidString).sqlite")
    try Migrating.engine(fresh, layout).close()
    #expect(try Self.shape(url) == Self.shape(fresh))
  }

  /// What a file's structure is, whatever the order of its columns and the names of its indexes.
  static func shape(_ url: URL) throws -> [String] {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    return try queue.read { database in
      var lines: [String] = try String.fetchAll(
        database,
        sql: """
          SELECT 'column ' || upper(m.name) || '.' || upper(c.name) || ' ' || upper(c.type) || ' ' || c.pk
          FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'
          UNION SELECT 'entity ' || Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER FROM Z_PRIMARYKEY
          UNION SELECT 'trigger ' || name || ' ' || sql FROM sqlite_master WHERE type = 'trigger'
          """)
      let indexes: [Row] = try Row.fetchAll(
        database,
        sql: """
          SELECT m.name, upper(m.tbl_name) AS tbl, l."unique" AS u, l.partial AS p FROM sqlite_master m
          JOIN pragma_index_list(m.tbl_name) l ON l.name = m.name WHERE m.type = 'index'
          """)
      for index in indexes {
        let name: String = index["name"]
        let columns: [String] = try String.fetchAll(
          database, sql: "SELECT upper(name) || \"desc\" FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno",
          arguments: [name])
        lines.append("index \(index["tbl"] as String) \(columns) \(index["u"] as Int) \(index["p"] as Int)")
      }
      return lines.sorted()
    }
  }
}
