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

/// A writer process dies by `kill -9` at a random moment of its saves; what it leaves is one
/// save's result, whole.
///
/// Save n sets the number of both owners to n, adds one row, and replaces an external value of n × 1,000 +
/// 100,001 bytes.
@Suite(.serialized)
struct CrashTests {
  static func big(_ number: Int) -> Value {
    .bytes([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 20 * 1000 + 100_001))
  }

  static func open(_ path: String, mode: String) throws -> SQLiteEngine {
    var options = SQLiteOptions()
    options.pragmas = ["journal_mode": mode]
    return try SQLiteEngine.open(
      url: URL(fileURLWithPath: path), layout: ModelLayout(model: Zoo.model()), options: options)
  }

  /// The child: saves for ever.
  static func write(_ path: String, mode: String) throws {
    let engine: SQLiteEngine = try open(path, mode: mode)
    let owner: EntityLayout = engine.entity("Owner")
    let kinds: EntityLayout = engine.entity("Kinds")
    for _ in 0..<1_000_000 {
      let owners: [RowID] = try engine.fetchIDs(FetchPlan(entity: owner))
      let gift: RowID = try engine.fetchIDs(FetchPlan(entity: kinds))[0]
      guard case .integer(let old)? = try engine.values(gift)?["i64"] else { return }
      let number = Int(old) + 1
      var plan = SavePlan()
      plan.updates = try owners.map { try engine.update($0, ["name": .text("\(number)")]) }
      plan.updates.append(try engine.update(gift, ["i64": .integer(Int64(number)), "big": big(number)]))
      let slab = RowSlab(layout: kinds, family: false, rowCapacity: 1)
      slab.add(kinds, key: plan.provisionalKey(in: kinds), ["i32": .integer(Int64(number))])
      plan.inserts = [(layout: kinds, rows: RowBatch(slabs: [slab]))]
      _ = try engine.save(plan)
    }
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `a killed writer leaves the state before or after a save`(mode: String) async throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("crash.sqlite")
    let engine: SQLiteEngine = try Self.open(url.path, mode: mode)
    try engine.insert("Owner", [["name": .text("0")], ["name": .text("0")]])
    try engine.insert("Kinds", [["i64": .integer(0), "big": Self.big(0)]])
    try engine.close()
    var random = SeededRandom(seed: Crash.seed)
    var last: Int = 0
    for round in 0..<(Soak.isOn ? 100 : 4) {
      let path: String = url.path
      let microseconds: UInt32 = UInt32.random(in: 500...120_000, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, mode = mode as String, microseconds = microseconds as UInt32] in
        Crash.comes(afterMicroseconds: microseconds)
        try CrashTests.write(path, mode: mode)
      }
      let reader: SQLiteEngine = try Self.open(path, mode: mode)
      let note: Comment = "seed \(Crash.seed), round \(round), mode \(mode)"
      let owner: EntityLayout = reader.entity("Owner")
      let kinds: EntityLayout = reader.entity("Kinds")
      let names: [Value?] = try reader.fetch(FetchPlan(entity: owner)).rows.map { $0.values(owner)["name"] }
      let all: [RowRef] = try reader.fetch(FetchPlan(entity: kinds)).rows
      guard case .integer(let number)? = all[0].values(kinds)["i64"] else {
        Issue.record("the first row is gone; \(note)")
        return
      }
      #expect(names == [.text("\(number)"), .text("\(number)")], note)
      #expect(all.count == Int(number) + 1, note)
      #expect(all[0].values(kinds)["big"] == Self.big(Int(number)), note)
      #expect(Int(number) >= last, note)
      #expect(try reader.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok", note)
      last = Int(number)
      try reader.close()
    }
  }

  @Test func `a process killed while it creates a store leaves none or a whole one`() async throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    var random = SeededRandom(seed: Crash.seed)
    for round in 0..<(Soak.isOn ? 100 : 3) {
      let path: String = folder.file("new-\(round).sqlite").path
      let microseconds: UInt32 = UInt32.random(in: 100...12_000, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, microseconds = microseconds as UInt32] in
        Crash.comes(afterMicroseconds: microseconds)
        try CrashTests.open(path, mode: "WAL").close()
        sleep(5)
      }
      let engine: SQLiteEngine = try Self.open(path, mode: "WAL")
      try engine.insert("Owner", [[:]])
      #expect(
        try engine.number("SELECT count(*) FROM Z_PRIMARYKEY") == 5, "seed \(Crash.seed), round \(round)")
      try engine.close()
    }
  }

  @Test func `what a process leaves that died in the middle of writing a store's first pages is no store`()
    throws
  {
    let folder: TemporaryFolder = try TemporaryFolder()
    let begun: URL = folder.file("begun.sqlite")
    let left: URL = folder.file("left.sqlite")
    let queue = try DatabaseQueue(path: begun.path)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2; PRAGMA cache_size = 1")
      try database.inTransaction(.immediate) {
        for number in 0..<40 { try database.execute(sql: "CREATE TABLE T\(number) (A)") }
        // A cache of one page has written the others to the file: it and its journal are as a
        // crash leaves them.
        for ending in ["", "-journal"] {
          try FileManager.default.copyItem(atPath: begun.path + ending, toPath: left.path + ending)
        }
        return .rollback
      }
    }
    try queue.close()
    #expect(StoreFileState(url: left).hasHotJournal && !StoreFileState(url: left).isBlank)
    let engine: SQLiteEngine = try Self.open(left.path, mode: "WAL")
    try engine.insert("Owner", [[:]])
    #expect(try engine.number("SELECT count(*) FROM Z_PRIMARYKEY") == 5)
    try engine.close()
  }
}
