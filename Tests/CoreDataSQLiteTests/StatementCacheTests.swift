import CoreDataPredicates
import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CoreDataSQLite

/// What compiling was spared, counted.
@Suite struct StatementCacheTests {
  private let folder: TemporaryFolder
  private let world: StoreWorld

  init() throws {
    folder = try TemporaryFolder()
    let file: URL = folder.file("store.sqlite")
    var options = SQLiteOptions()
    options.statementLimit = 4
    world = try StoreWorld(
      StoreMaker { [options] in try SQLiteEngine.open(url: file, layout: $0, options: options) })
    try world.insert("Item", (1...9).map { ["title": "t\($0)", "priority": $0] })
  }

  private func engine() throws -> SQLiteEngine { try #require(world.engine as? SQLiteEngine) }

  private func plan(_ format: String, _ arguments: Any?...) throws -> FetchPlan {
    var plan = FetchPlan(entity: try #require(world.layout.byName["Item"]))
    plan.predicate = try Parser.predicate(format, arguments: arguments)
    return plan
  }

  private func titles(_ plan: FetchPlan, in other: StoreWorld? = nil) throws -> [Int64] {
    var keys: [Int64] = []
    try (other ?? world).engine.fetch(plan).forEach { keys.append($0.key) }
    return keys.sorted()
  }

  @Test func `a shape that was fetched before is not compiled again`() throws {
    let statements: StatementCache = try engine().statements
    for number in 1...5 { #expect(try titles(plan("priority == %d", number)) == [Int64(number)]) }
    #expect(statements.counts == StatementCache.Counts(hits: 4, misses: 1))
    for number in 1...5 { #expect(try world.engine.count(plan("priority > %d", number)) == 9 - number) }
    for number in 1...5 {
      #expect(try world.engine.fetchIDs(plan("priority > %d", number)).count == 9 - number)
    }
    #expect(statements.counts == StatementCache.Counts(hits: 12, misses: 3))
    #expect(statements.shapeCount == 3)
  }

  @Test func `no more shapes are kept than allowed, those used last`() throws {
    let statements: StatementCache = try engine().statements
    let formats: [String] = ["priority == %d", "priority < %d", "priority > %d", "priority != %d"]
    for format in formats { _ = try titles(plan(format, 3)) }
    _ = try titles(plan(formats[0], 4))
    _ = try titles(plan("priority >= %d", 3))
    #expect(statements.counts == StatementCache.Counts(hits: 1, misses: 5, evictions: 1))
    #expect(statements.shapeCount == 4)
    _ = try titles(plan(formats[0], 5))
    #expect(statements.counts.hits == 2)
    _ = try titles(plan(formats[1], 5))
    #expect(statements.counts == StatementCache.Counts(hits: 2, misses: 6, evictions: 2))
  }

  @Test func `values that are part of the statement make several of one shape`() throws {
    let statements: StatementCache = try engine().statements
    for _ in 1...3 {
      #expect(try titles(plan("title LIKE %@", "t*")).count == 9)
      #expect(try titles(plan("title LIKE %@", "*3")) == [3])
      #expect(try titles(plan("title MATCHES %@", "t[45]")) == [4, 5])
      #expect(try titles(plan("title MATCHES %@", "t[5]")) == [5])
    }
    #expect(statements.counts == StatementCache.Counts(hits: 8, misses: 4))
    #expect(statements.shapeCount == 2)
    for number in 10...40 { _ = try titles(plan("title MATCHES %@", "t\(number)")) }
    #expect(statements.shapeCount == 2)
  }

  @Test func `what has no shape, or fails, is not kept`() throws {
    let statements: StatementCache = try engine().statements
    for _ in 1...2 {
      #expect(try titles(plan("priority > 3 AND now() > %@", Date(timeIntervalSince1970: 0))).count == 6)
      #expect(throws: StoreError.self) { try titles(plan("title > %d", 3)) }
      #expect(throws: StoreError.self) { try titles(plan("nothing == %d", 3)) }
    }
    #expect(statements.counts == StatementCache.Counts(unshaped: 2))
    #expect(statements.shapeCount == 0)
  }

  @Test func `readers of an earlier state share the statements, and see their own rows`() throws {
    let statements: StatementCache = try engine().statements
    _ = try titles(plan("priority == %d", 1))
    let earlier: any StoreEngine = try #require(try engine().snapshot())
    try world.insertOne("Item", ["priority": 3])
    #expect(try earlier.count(plan("priority == %d", 3)) == 1)
    #expect(try world.engine.count(plan("priority == %d", 3)) == 2)
    #expect(statements.counts == StatementCache.Counts(hits: 1, misses: 2))
    try earlier.close()
  }

  @Test func `the members of a relationship are asked for by one statement for each size of the list`() throws
  {
    let engine: SQLiteEngine = try engine()
    let tags: [RowID] = try world.insert("Tag", (0..<40).map { ["label": "\($0)"] })
    let items: [RowID] = try engine.fetchIDs(plan("priority > %d", 0))
    for (number, item) in items.enumerated() {
      try world.edit(item, "tags", add: Array(tags[number...(number + 20)]))
    }
    let layout: EntityLayout = try #require(world.layout.byName["Item"])
    let slot: Int = try #require(layout.slotByName["tags"])
    let before: Int = engine.memberStatements.count
    for (number, item) in items.enumerated() {
      let expected: [RowID] = Array(tags[number...(number + 20)])
      #expect(try engine.members(of: layout, slot: slot, owners: [item]) == [expected])
      let among: [RowID] = try engine.members(
        of: layout, slot: slot, owner: item, among: [tags[0], tags[20]])
      #expect(Set(among) == Set([tags[0], tags[20]]).intersection(expected))
    }
    let all: [[RowID]] = try engine.members(of: layout, slot: slot, owners: items)
    #expect(all == items.indices.map { Array(tags[$0...($0 + 20)]) })
    #expect(engine.memberStatements.count - before <= 3)
  }

  @Test func `an index that another process makes changes nothing about what is kept`() throws {
    let statements: StatementCache = try engine().statements
    #expect(try titles(plan("priority == %d", 1)) == [1])
    let other = try StoreWorld(
      StoreMaker { [url = try engine().url] in
        try SQLiteEngine.open(url: url, layout: $0, options: SQLiteOptions())
      })
    let second: SQLiteEngine = try #require(other.engine as? SQLiteEngine)
    guard case .writable(let pool) = try second.currentAccess() else {
      Issue.record("not writable")
      return
    }
    try pool.writeWithoutTransaction { try $0.execute(sql: "CREATE INDEX ZELSEWHERE ON ZITEM (ZPRIORITY)") }
    #expect(try titles(plan("priority == %d", 2)) == [2])
    #expect(statements.counts == StatementCache.Counts(hits: 1, misses: 1))
    try second.close()
  }

  // MARK: Statements that connections keep prepared

  @Test func `more shapes than a connection keeps prepared give their own rows, and the store closes`() throws
  {
    let file: URL = folder.file("many.sqlite")
    let many = try StoreWorld(
      StoreMaker { try SQLiteEngine.open(url: file, layout: $0, options: SQLiteOptions()) })
    try many.insert("Item", (1...9).map { ["title": "t\($0)", "priority": $0] })
    for _ in 1...3 {
      for shape in 0..<(ReaderConnection.mostPrepared * 2) {
        #expect(try titles(plan("priority + \(shape) == %d", 3 + shape), in: many) == [3])
      }
    }
    try (many.engine as? SQLiteEngine)?.close()
    #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
  }

  @Test(arguments: [true, false])
  func `a kept statement reads no contents but the store's own`(isExchanged: Bool) throws {
    let file: URL = folder.file("other.sqlite")
    let other = try StoreWorld(
      StoreMaker { try SQLiteEngine.open(url: file, layout: $0, options: SQLiteOptions()) })
    try other.insert("Item", (1...9).map { ["title": "other", "priority": $0] })
    try (other.engine as? SQLiteEngine)?.close()
    let url: URL = try engine().url
    for number in 1...3 { #expect(try titles(plan("priority == %d", number)) == [Int64(number)]) }
    if isExchanged {
      try StoreExchange(url: url, options: SQLiteOptions()).replace(with: file)
    } else {
      try FileManager.default.removeItem(at: url)
      try FileManager.default.moveItem(at: file, to: url)
    }
    do {
      _ = try titles(plan("priority == %d", 4))
      Issue.record("rows of other contents were read")
    } catch StoreError.fileChanged(let place, _) {
      #expect(place == url)
    }
  }

  @Test func `threads share the statements`() throws {
    let statements: StatementCache = try engine().statements
    let plans: [[FetchPlan]] = try [
      "priority == %d", "priority < %d", "priority IN {%d, 3}", "title == %@", "priority > %d",
    ]
    .map { format in
      try (1...9).map { try plan(format, format.contains("@") ? "t\($0)" as Any : $0 as Any) }
    }
    let expected: [[[Int64]]] = try plans.map { try $0.map { try titles($0) } }
    let differences = Guarded(0)
    let engine: any TestedStore = world.engine
    DispatchQueue.concurrentPerform(iterations: 400) { step in
      let (shape, number): (Int, Int) = (step % plans.count, step / 7 % 9)
      var keys: [Int64] = []
      try? engine.fetch(plans[shape][number]).forEach { keys.append($0.key) }
      if keys.sorted() != expected[shape][number] { differences.withLock { $0 += 1 } }
    }
    #expect(differences.withLock { $0 } == 0)
    #expect(statements.shapeCount <= 4)
    let counts: StatementCache.Counts = statements.counts
    #expect(counts.hits + counts.misses == 45 + 400)
  }
}
