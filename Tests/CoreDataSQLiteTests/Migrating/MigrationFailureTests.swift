import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A migration that does not come to its end leaves the store as it was.
@Suite(.serialized) struct MigrationFailureTests {
  private typealias Attribute = ModelSketch.Attribute
  private typealias Relation = ModelSketch.Relation
  private typealias Entity = ModelSketch.Entity

  static let before = ModelSketch(
    Entity(
      name: "Note",
      attributes: [
        Attribute(name: "text"), Attribute(name: "rank", type: .integer32AttributeType),
        Attribute(name: "photo", type: .binaryDataAttributeType, isExternal: true),
        Attribute(name: "old"), Attribute(name: "older"), Attribute(name: "oldest"),
      ],
      relations: [
        Relation(name: "tags", to: "Tag", isMany: true, inverse: "notes"),
        Relation(name: "book", to: "Book", inverse: "notes"),
      ]),
    Entity(
      name: "Book", attributes: [Attribute(name: "title")],
      relations: [Relation(name: "notes", to: "Note", isMany: true, inverse: "book")]),
    Entity(
      name: "Tag", attributes: [Attribute(name: "name")],
      relations: [Relation(name: "notes", to: "Note", isMany: true, inverse: "tags")]))

  /// Renames, rebuilds, renumbers, and moves values out of files.
  static let after: ModelSketch = before.changed { sketch in
    sketch.entities.insert(Entity(name: "Archive", attributes: [Attribute(name: "name")]), at: 0)
    sketch["Note"].attributes = [
      Attribute(name: "body", was: "text"), Attribute(name: "rank", type: .doubleAttributeType),
      Attribute(name: "photo", type: .binaryDataAttributeType),
      Attribute(name: "kind", isOptional: false, standard: "plain"),
    ]
    sketch.renameEntity("Tag", "Label")
    sketch["Book"].indexed = [["title"]]
  }

  static func plan() -> SchemaPlan { SchemaPlan(source: before.layout(), target: after.layout()) }

  static func make(_ url: URL, count: Int = 12) throws -> StoreDump {
    try Migrating.make(url, before.layout(), seed: 5, count: count, largestValue: 250_000)
  }

  static func files(of url: URL) -> [String] {
    let external = ExternalData(store: url, missing: .isError)
    let all: [String] = (try? FileManager.default.contentsOfDirectory(atPath: external.folder.path)) ?? []
    return all.sorted() + ExternalNote.paths(of: external)
  }

  private struct Stop: Error {}

  @Test func `large values come out of their files, which are removed after the commit`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let old: StoreDump = try Self.make(url)
    #expect(!Self.files(of: url).isEmpty)
    let plan: SchemaPlan = Self.plan()
    try Migrating.migrate(url, plan)
    #expect(try Migrating.dump(url, plan.target) == old.migrated(plan))
    #expect(Self.files(of: url).isEmpty)
    #expect(Self.shapeIsFresh(url, plan.target, folder))
  }

  private static func shapeIsFresh(_ url: URL, _ layout: ModelLayout, _ folder: TemporaryFolder) -> Bool {
    (try? MigrationCaseTests.expectFresh(url, layout, folder)) != nil
  }

  @Test func `a program can stop a migration before each step`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let old: StoreDump = try Self.make(url)
    let files: [String] = Self.files(of: url)
    let plan: SchemaPlan = Self.plan()
    var last: Int = 0
    var step: Int = 0
    repeat {
      #expect(throws: Stop.self) {
        try Migrating.migrate(url, plan) { progress in
          last = progress.stepCount
          if progress.step == step { throw Stop() }
        }
      }
      #expect(try Migrating.dump(url, plan.source) == old, "step \(step)")
      #expect(Self.files(of: url) == files, "step \(step)")
      step += 1
    } while step < last
    #expect(last > 10)
  }

  @Test func `a program can stop a long statement`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let plan: SchemaPlan = Self.plan()
    _ = try Migrating.make(url, plan.source, seed: 1, count: 1)
    let queue = try DatabaseQueue(path: url.path)
    try queue.write { database in
      try database.execute(
        sql: """
          INSERT INTO ZNOTE (Z_ENT, Z_OPT, ZTEXT) WITH RECURSIVE c(n) AS
          (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 400000) SELECT 2, 1, 'note ' || n FROM c
          """)
    }
    try queue.close()
    var seen: [Int: Int] = [:]
    #expect(throws: Stop.self) {
      try Migrating.migrate(url, plan) { progress in
        seen[progress.step, default: 0] += 1
        if seen[progress.step] == 2 { throw Stop() }
      }
    }
    #expect(seen.values.contains(2))
    let engine: SQLiteEngine = try Migrating.engine(url, plan.source)
    #expect(try engine.count(FetchPlan(entity: engine.entity("Note"))) == 400_001)
    try engine.close()
  }

  @Test(arguments: [0, 1, 2, 3])
  func `a process killed in a migration leaves the old store or the new one`(_ part: Int) async throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let plan: SchemaPlan = Self.plan()
    let url: URL = folder.file("store.sqlite")
    let old: StoreDump = try Self.make(url)
    let files: [String] = Self.files(of: url)
    let steps: Int = try SQLiteKind().migrationPlan(at: url, plan: plan, options: StoreOpeningOptions())
      .steps.count
    for step in stride(from: part, through: steps, by: 4) {
      let path: String = url.path
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
        try Migrating.migrate(URL(fileURLWithPath: path), MigrationFailureTests.plan()) { progress in
          if progress.step == step { kill(getpid(), SIGKILL) }
        }
        kill(getpid(), SIGKILL)
      }
      // The closing steps have no callback: a process that gets there is killed after the commit.
      if let found = try? Migrating.dump(url, plan.source) {
        #expect(found == old, "step \(step)")
        #expect(Self.files(of: url) == files, "step \(step)")
      } else {
        #expect(step >= steps - 2, "step \(step)")
        #expect(try Migrating.dump(url, plan.target) == old.migrated(plan), "step \(step)")
        #expect(Self.files(of: url).isEmpty, "step \(step)")
        return
      }
    }
  }

  @Test func `a process killed at any moment leaves the old store or the new one`() async throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let plan: SchemaPlan = Self.plan()
    var random = SeededRandom(seed: Crash.seed)
    let original: URL = folder.file("original.sqlite")
    let old: StoreDump = try Migrating.make(
      original, plan.source, seed: 3, count: 40, largestValue: 5_000)
    for round in 0..<6 {
      let url: URL = folder.file("round\(round).sqlite")
      try StoreExchange(url: url, options: SQLiteOptions()).replace(with: original)
      let path: String = url.path
      let microseconds: UInt32 = UInt32.random(in: 500...60_000, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, microseconds = microseconds as UInt32] in
        let plan: SchemaPlan = MigrationFailureTests.plan()
        Crash.comes(afterMicroseconds: microseconds)
        try Migrating.migrate(URL(fileURLWithPath: path), plan)
        sleep(5)
      }
      let note: Comment = "seed \(Crash.seed), round \(round)"
      if let found = try? Migrating.dump(url, plan.source) {
        #expect(found == old, note)
      } else {
        #expect(try Migrating.dump(url, plan.target) == old.migrated(plan), note)
      }
    }
  }

  @Test func `a full disk leaves the store as it was`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let old: StoreDump = try Self.make(url)
    let files: [String] = Self.files(of: url)
    let plan: SchemaPlan = Self.plan()
    let pages: Int = try DatabaseQueue(path: url.path).read {
      try Int.fetchOne($0, sql: "PRAGMA page_count")!
    }
    for more in [0, 1, 4] {
      var options = StoreOpeningOptions()
      options.pragmas = ["max_page_count": "\(pages + more)"]
      do {
        try Migrating.migrate(url, plan, options)
        Issue.record("the disk was not full with \(more) pages more")
      } catch StoreError.database(let code, _, _, _) {
        #expect(code == ResultCode.SQLITE_FULL.rawValue)
      }
      #expect(try Migrating.dump(url, plan.source) == old)
      #expect(Self.files(of: url) == files)
    }
  }

  @Test func `a locked file is an explained error`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    _ = try Self.make(url)
    let other = try DatabaseQueue(path: url.path)
    try other.writeWithoutTransaction { database in
      try database.inTransaction(.immediate) {
        var options = StoreOpeningOptions()
        options.timeoutInSeconds = 0.05
        do {
          try Migrating.migrate(url, Self.plan(), options)
          Issue.record("migrated a locked file")
        } catch StoreError.database(let code, _, _, _) {
          #expect(code == ResultCode.SQLITE_BUSY.rawValue)
        }
        return .rollback
      }
    }
  }

  @Test func `an open store finds out that its file was migrated`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    _ = try Self.make(url)
    let plan: SchemaPlan = Self.plan()
    let engine: SQLiteEngine = try Migrating.engine(url, plan.source)
    defer { try? engine.close() }
    _ = try engine.fetchIDs(FetchPlan(entity: engine.entity("Book")))
    try Migrating.migrate(url, plan)
    #expect {
      try engine.insert("Book", [[:]])
    } throws: { error in
      if case .fileChanged? = error as? StoreError { return true }
      return false
    }
    #expect(try Migrating.migrate(url, plan).outcome == .alreadyMigrated)
  }

  // MARK: What the contents must be like

  private func problems(
    _ after: ModelSketch, from before: ModelSketch = before
  ) throws -> [MigrationProblem] {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let plan = SchemaPlan(source: before.layout(), target: after.layout())
    let engine: SQLiteEngine = try Migrating.engine(url, plan.source)
    try engine.insert(
      "Note", [["rank": .integer(1)], ["rank": .integer(1), "text": .text("a")], ["text": .text("a")]])
    let old = try StoreDump(engine)
    try engine.close()
    let planned: PlannedMigration = try SQLiteKind().migrationPlan(
      at: url, plan: plan, options: StoreOpeningOptions())
    #expect(planned.obstacles == [])
    do {
      try Migrating.migrate(url, plan)
      Issue.record("migrated")
    } catch StoreError.migration(_, let problem) {
      if let first = planned.problems.first { #expect(problem == first) }
    }
    #expect(try Migrating.dump(url, plan.source) == old)
    return planned.problems
  }

  @Test func `required values that are missing are counted`() throws {
    let after: ModelSketch = Self.before.changed { $0["Note"].attributes[0].isOptional = false }
    #expect(try problems(after) == [.missingValues(entity: "Note", property: "text", count: 1)])
    let added: ModelSketch = Self.before.changed {
      $0["Note"].attributes.append(Attribute(name: "new", isOptional: false))
    }
    #expect(try problems(added) == [.missingValues(entity: "Note", property: "new", count: 3)])
    let related: ModelSketch = Self.before.changed { $0["Note"].relations[1].isOptional = false }
    #expect(try problems(related) == [.missingValues(entity: "Note", property: "book", count: 3)])
  }

  @Test func `values that are to be unique and are not are counted`() throws {
    let after: ModelSketch = Self.before.changed { $0["Note"].unique = [["rank"], ["text"]] }
    #expect(
      try problems(after) == [
        .duplicates(entity: "Note", properties: ["rank"], count: 1),
        .duplicates(entity: "Note", properties: ["text"], count: 1),
      ])
  }

  @Test func `objects of an entity that becomes abstract are counted`() throws {
    let after: ModelSketch = Self.before.changed { sketch in
      sketch["Note"].isAbstract = true
    }
    #expect(try problems(after) == [.abstractRows(entity: "Note", count: 3)])
  }

  // MARK: Other programs' tables

  private func obstacles(_ sql: String, _ after: ModelSketch) throws -> [String] {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let plan = SchemaPlan(source: Self.before.layout(), target: after.layout())
    try Migrating.engine(url, plan.source).close()
    try DatabaseQueue(path: url.path).write { try $0.execute(sql: sql) }
    let planned: PlannedMigration = try SQLiteKind().migrationPlan(
      at: url, plan: plan, options: StoreOpeningOptions())
    if planned.canRunInPlace {
      try Migrating.migrate(url, plan)
      #expect(
        try DatabaseQueue(path: url.path).read {
          try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'mine%'")
        } != [])
    }
    return planned.obstacles
  }

  @Test func `tables, views, triggers and indexes of other programs stay, or the migration says why not`()
    throws
  {
    let added: ModelSketch = Self.before.changed { $0["Note"].attributes.append(Attribute(name: "new")) }
    let removed: ModelSketch = Self.before.changed { $0["Note"].attributes.remove(at: 0) }
    for sql in [
      "CREATE TABLE mine (a)", "CREATE VIEW mine AS SELECT ZTEXT FROM ZNOTE",
      "CREATE TABLE mine (a); CREATE TRIGGER mine2 AFTER INSERT ON ZNOTE BEGIN INSERT INTO mine VALUES (1); END",
      "CREATE INDEX mine ON ZNOTE (ZTEXT)",
    ] {
      #expect(try obstacles(sql, added) == [], "\(sql)")
      #expect(try obstacles(sql, removed).count == (sql == "CREATE TABLE mine (a)" ? 0 : 1), "\(sql)")
    }
    let table: ModelSketch = Self.before.changed { $0.entities.append(Entity(name: "Other")) }
    #expect(
      try obstacles("CREATE TABLE ZOTHER (mine)", table)
        == ["There is a table ZOTHER that is not of the store's model."])
  }
}
