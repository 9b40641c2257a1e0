import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

@Suite
struct RoundTripTests {
  let folder: TemporaryFolder
  let engine: SQLiteEngine

  init() throws {
    folder = try TemporaryFolder()
    engine = try SQLiteEngine.open(
      url: folder.file("Zoo.sqlite"), layout: ModelLayout(model: Zoo.model()))
  }

  static let texts: [String] = ["", "a", "\0", "a\0b", "naïve 日本語 👩‍👩‍👧", String(repeating: "x", count: 300_000)]
  static let kinds: [[String: Value]] =
    [
      [:],
      ["i16": .integer(-32768), "i32": .integer(-2_147_483_648), "i64": .integer(.min), "flag": .integer(0)],
      ["i16": .integer(32767), "i32": .integer(2_147_483_647), "i64": .integer(.max), "flag": .integer(1)],
      ["i16": .integer(0), "i32": .integer(0), "i64": .integer(0), "double": .real(0), "date": .real(0)],
      [
        "double": .real(-1.5e300), "float": .real(Double(Float(0.1))), "date": .real(-63_114_076_800.000_001),
      ],
      ["double": .real(.leastNonzeroMagnitude), "date": .real(802_526_400.123_456)],
      ["double": .real(.infinity), "float": .real(-.infinity)],
      [
        "uuid": .bytes(Array(0..<16)), "bytes": .bytes([]), "thing": .bytes([0, 255, 1]),
        "uri": .text("x:y?z#ä"),
      ],
      ["bytes": .bytes([UInt8](repeating: 7, count: 200_000)), "thing": .bytes([])],
      ["big": .bytes([])], ["big": .bytes([1])], ["big": .bytes([2] + Array("not a file".utf8))],
      ["big": .bytes([UInt8](repeating: 9, count: 100_000))],
      ["big": .bytes([UInt8](repeating: 9, count: 100_001))],
    ] + texts.map { ["text": .text($0)] }

  @Test(arguments: kinds)
  func `every kind of value comes back as it was`(values: [String: Value]) throws {
    let id: RowID = try engine.insert("Kinds", [values])[0]
    #expect(try engine.values(id) == values)
    #expect(try engine.row(id)?.version == 1)
  }

  @Test(arguments: [
    "0", "1", "-1", "10.11", "0.1", "-0.000000000000000000000000000001", "123456789012345",
    "9223372036854775807", "9223372036854775808", "99999999999999999999999999999999999999",
    "3.3333333333333333333333333333333333333", "-12345678901234567890.123456789012345678",
    "100000000000000000000", "NaN",
  ])
  func `a decimal keeps all its digits`(text: String) throws {
    let id: RowID = try engine.insert("Kinds", [["decimal": .text(text)]])[0]
    #expect(try engine.values(id) == ["decimal": .text(text)])
  }

  @Test func `decimals of any length compare and sort as numbers`() throws {
    let texts: [String] = [
      "-5", "0.3333333333333333333333333333333333333", "3.3333333333333333333333333333333333333", "4",
      "12345678901234567890.5", "9e30",
    ]
    try engine.insert("Kinds", texts.shuffled().map { ["decimal": .text($0)] })
    var plan = FetchPlan(entity: engine.entity("Kinds"))
    plan.order = [FetchOrder(keyPath: "decimal")]
    func fetch(_ format: String) throws -> [Value?] {
      plan.predicate = try NSPredicate(parsing: format, arguments: []).predicateNode()
      return try engine.fetch(plan).rows.map { $0.values(engine.entity("Kinds"))["decimal"] }
    }
    #expect(
      try fetch("TRUEPREDICATE") == texts.dropLast().map { .text($0) } + [
        .text("9" + String(repeating: "0", count: 30))
      ])
    #expect(try fetch("decimal > 1 AND decimal < 5") == [.text(texts[2]), .text("4")])
    #expect(try fetch("decimal < 1") == [.text("-5"), .text(texts[1])])
  }

  @Test func `decimals are computed as decimals`() throws {
    let texts: [String] = [
      "0.1", "0.2", "-2.5", "12345678901234567890.12345678", "12345678901234567890.12345679",
    ]
    try engine.insert("Kinds", texts.map { ["decimal": .text($0)] })
    var plan = FetchPlan(entity: engine.entity("Kinds"))
    plan.order = [FetchOrder(keyPath: "decimal", ascending: false)]
    func fetch(_ format: String, _ arguments: Any?...) throws -> [Value?] {
      plan.predicate = try NSPredicate(parsing: format, arguments: arguments).predicateNode()
      return try engine.fetch(plan).rows.map { $0.values(engine.entity("Kinds"))["decimal"] }
    }
    let long: Decimal = try #require(Decimal(string: texts[3]))
    #expect(
      try fetch("TRUEPREDICATE") == [texts[4], texts[3], texts[1], texts[0], texts[2]].map { .text($0) })
    #expect(try fetch("decimal == %@", long) == [.text(texts[3])])
    #expect(try fetch("decimal > %@", long) == [.text(texts[4])])
    #expect(
      try fetch("decimal IN %@", [long, Decimal(string: "0.2")]) == [.text(texts[3]), .text(texts[1])])
    #expect(try fetch("decimal + %@ == %@", Decimal(string: "0.2"), Decimal(string: "0.3")) == [.text("0.1")])
    #expect(try fetch("-decimal == %@", Decimal(string: "2.5")) == [.text("-2.5")])
    #expect(try fetch("ceiling(decimal) == 1") == [.text("0.2"), .text("0.1")])
    #expect(try fetch("decimal / 0 == 1").isEmpty)
    #expect(try fetch("CAST(decimal, 'NSString') BEGINSWITH '1234567890123456789'").count == 2)
    #expect(try fetch("decimal < 0.15") == [.text("0.1"), .text("-2.5")])
  }

  @Test(arguments: ["decimal == 12.1", "decimal == 12", "decimal > 5", "decimal <= 5.5", "decimal IN {1, 2}"])
  func `a comparison of a decimal uses its index`(format: String) throws {
    try engine.execute("CREATE INDEX Z_Kinds_decimal ON ZKINDS (ZDECIMAL)")
    var plan = FetchPlan(entity: engine.entity("Kinds"))
    plan.predicate = try NSPredicate(parsing: format, arguments: []).predicateNode()
    let explained: ExplainedStatement = try #require(try engine.explain(plan))
    #expect(
      explained.queryPlan.contains { $0.contains("SEARCH") && $0.contains("Z_Kinds_decimal") }
        && !explained.queryPlan.contains { $0.hasPrefix("SCAN") }, "\(explained.queryPlan)")
  }

  @Test func `targets carry their entity, also in a hierarchy`() throws {
    let cat: RowID = try engine.insert("Cat", [["name": .text("Tom"), "lives": .integer(9)]])[0]
    let dog: RowID = try engine.insert("Dog", [["name": .text("Rex"), "weight": .real(12.5)]])[0]
    #expect(cat.key != dog.key)
    let owners: [RowID] = try engine.insert(
      "Owner", [["name": .text("A"), "best": .target(dog)], ["best": .target(cat)], [:]])
    #expect(try engine.values(owners[0])?["best"] == .target(dog))
    #expect(try engine.values(owners[1])?["best"] == .target(cat))
    #expect(try engine.values(owners[2]) == [:])
    let all: RowBatch = try engine.fetch(FetchPlan(entity: engine.entity("Animal")))
    #expect(all.rows.map(\.id) == [cat, dog])
    #expect(all.rows[1].values(engine.entity("Dog")) == ["name": .text("Rex"), "weight": .real(12.5)])
  }

  @Test func `a target whose entity column is empty is looked up`() throws {
    let dog: RowID = try engine.insert("Dog", [[:]])[0]
    let owner: RowID = try engine.insert("Owner", [["best": .target(dog)]])[0]
    try engine.execute("UPDATE ZOWNER SET Z1_BEST = NULL")
    #expect(try engine.values(owner)?["best"] == .target(dog))
    try engine.execute("DELETE FROM ZANIMAL")
    let gone: Value? = try engine.values(owner)?["best"]
    #expect(gone == .target(RowID(entity: engine.entity("Animal").index, key: dog.key)))
  }

  @Test func `values of other types than the column's are read as what they mean`() throws {
    let id: RowID = try engine.insert("Kinds", [[:]])[0]
    try engine.execute(
      """
      UPDATE ZKINDS SET ZI64 = '12x', ZI16 = 70000, ZFLAG = 7, ZDOUBLE = 3, ZTEXT = CAST(x'616200' AS BLOB), ZURI = 5,
      ZDECIMAL = 1e22, ZUUID = '00010203-0405-0607-0809-0A0B0C0D0E0F', ZBYTES = 'text'
      """)
    let values: [String: Value] = try #require(try engine.values(id))
    #expect(values["i64"] == .integer(12))
    #expect(values["i16"] == .integer(70000 - 65536))
    #expect(values["flag"] == .integer(1))
    #expect(values["double"] == .real(3))
    #expect(values["text"] == .text("ab\0"))
    #expect(values["uri"] == .text("5"))
    #expect(values["decimal"] == .text("10000000000000000000000"))
    #expect(values["uuid"] == .bytes(Array(0..<16)))
    #expect(values["bytes"] == .text("text"))
    try engine.execute("UPDATE ZKINDS SET ZUUID = x'0102'")
    #expect(try engine.values(id)?["uuid"] == nil)
  }

  @Test func `rows over many slabs keep their order`() throws {
    let ids: [RowID] = try engine.insert(
      "Kinds", (0..<20_000).map { ["i64": .integer($0), "text": .text("row \($0)")] })
    let batch: RowBatch = try engine.fetch(FetchPlan(entity: engine.entity("Kinds")))
    #expect(batch.slabs.count > 3)
    #expect(batch.rows.map(\.id) == ids)
    #expect(try engine.count(FetchPlan(entity: engine.entity("Kinds"))) == 20_000)
    #expect(try engine.fetchIDs(FetchPlan(entity: engine.entity("Kinds"))) == ids)
    let keys: [Int64] = ids.map(\.key).shuffled() + [-5, 999_999]
    #expect(
      Set(try engine.rows(of: engine.entity("Kinds"), keys: keys).rows.map(\.key)) == Set(ids.map(\.key)))
  }

  /// Successive keys are read as a range, others as lists.
  @Test(arguments: [1, 16, 17, 128, 129, 1000, 3000])
  func `rows of successive keys are those with the keys`(count: Int) throws {
    let ids: [RowID] = try engine.insert(
      "Kinds", (0..<4000).map { ["i64": .integer($0), "text": .text("row \($0)")] })
    try engine.execute("DELETE FROM ZKINDS WHERE Z_PK = \(ids[500].key)")
    let kinds: EntityLayout = engine.entity("Kinds")
    func keys(_ wanted: [Int64]) throws -> [Int64] {
      try engine.rows(of: kinds, keys: wanted).rows.map(\.key)
    }
    let sequence: [Int64] = ids[490..<490 + count].map(\.key)
    let stored: [Int64] = sequence.filter { $0 != ids[500].key }
    #expect(try keys(sequence) == stored)
    #expect(try keys(sequence.reversed()).sorted() == stored)
    // As many keys as a sequence from the first to the last would have, but not that one.
    var other: [Int64] = sequence
    if count > 16 { other.swapAt(3, 7) }
    #expect(try keys(other).sorted() == stored)
    #expect(try keys(ids[3990...].map(\.key) + (5001...5020)) == ids[3990...].map(\.key))
  }
}

extension SQLiteEngine {
  /// Runs SQL on the store behind the engine's back.
  func execute(_ sql: String) throws {
    guard case .writable(let writer) = try currentAccess() else { return }
    try writer.writeWithoutTransaction { try $0.execute(sql: sql) }
  }

  func number(_ sql: String) throws -> Int64? {
    try read { try Int64.fetchOne($0, sql: sql) }
  }
}
