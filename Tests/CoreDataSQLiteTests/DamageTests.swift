import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

/// Broken files give explained errors or the rows that are left; never a crash.
@Suite
struct DamageTests {
  let folder: TemporaryFolder
  let layout = ModelLayout(model: Zoo.model())
  let whole: Data

  init() throws {
    folder = try TemporaryFolder()
    var options = SQLiteOptions()
    options.pragmas = ["journal_mode": "DELETE"]
    let engine = try SQLiteEngine.open(url: folder.file("whole.sqlite"), layout: layout, options: options)
    try engine.insert(
      "Kinds",
      (0..<200).map {
        [
          "i64": .integer($0), "text": .text("row \($0)"), "big": .bytes([UInt8](repeating: 1, count: 300)),
          "decimal": .text("\($0).5"), "uuid": .bytes(Array(0..<16)),
        ]
      })
    try engine.close()
    whole = try Data(contentsOf: engine.url)
  }

  /// Does all that a tool and an application would do; only errors of ours may come out.
  private func use(_ data: Data, _ note: String, writing: Bool) throws {
    let url: URL = folder.file("broken.sqlite")
    for suffix in ["", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: url.path + suffix)
    }
    try data.write(to: url)
    func attempt(_ body: () throws -> Void) {
      do {
        try body()
      } catch is StoreError {
      } catch {
        Issue.record("\(note): \(type(of: error)): \(error)")
      }
    }
    attempt { _ = try SQLiteStoreFile.inspect(url: url) }
    attempt {
      let engine = try SQLiteEngine.open(
        url: url, layout: layout, options: SQLiteOptions(isReadOnly: !writing))
      defer { try? engine.close() }
      for entity in engine.layout.entities {
        attempt {
          _ = try engine.fetch(FetchPlan(entity: entity)).rows.map {
            $0.values(engine.layout.entities[$0.entity])
          }
        }
      }
      if writing { attempt { try engine.insert("Kinds", [["text": .text("new")]]) } }
    }
  }

  @Test func `truncated files`() throws {
    for length in [0, 1, 15, 16, 17, 99, 100, 101, 512, 4095, 4096, 4097]
      + stride(from: 5000, to: whole.count, by: 3001)
    {
      try use(whole.prefix(length), "length \(length)", writing: length > 0 && length % 2 == 0)
    }
  }

  @Test func `files with flipped bits`() throws {
    var random = SeededRandom(seed: Crash.seed)
    for round in 0..<120 {
      var data: Data = whole
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        // The first pages hold header, schema and bookkeeping: more of interest happens there.
        let end: Int = round % 2 == 0 ? 8192 : data.count
        data[Int.random(in: 0..<end, using: &random)] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
      }
      try use(data, "seed \(Crash.seed), round \(round)", writing: round % 3 == 0)
    }
  }

  @Test(arguments: [
    "UPDATE Z_METADATA SET Z_PLIST = x'62706C6973743030'", "UPDATE Z_METADATA SET Z_PLIST = NULL",
    "UPDATE Z_METADATA SET Z_PLIST = 'text'", "DELETE FROM Z_METADATA", "DROP TABLE Z_METADATA",
    "DROP TABLE Z_PRIMARYKEY", "DELETE FROM Z_PRIMARYKEY",
    "UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT * 1000000000000",
    "UPDATE Z_PRIMARYKEY SET Z_NAME = NULL", "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807",
    "DROP TABLE ZKINDS", "ALTER TABLE ZKINDS RENAME COLUMN ZI64 TO ZOTHER", "UPDATE ZKINDS SET Z_ENT = 77",
    "UPDATE ZKINDS SET Z_ENT = -1, Z_OPT = 'x'", "UPDATE ZKINDS SET ZBIG = x'02'",
    "UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'", "UPDATE Z_MODELCACHE SET Z_CONTENT = 'x'",
    "UPDATE ZKINDS SET ZDECIMAL = 9e999, ZUUID = 'x', ZI64 = 9e300, ZDOUBLE = 'no'",
    "CREATE TABLE more (a); DROP TABLE ZOWNER; CREATE VIEW ZOWNER AS SELECT 1 AS Z_PK",
  ])
  func `tables changed by hand`(sql: String) throws {
    let url: URL = folder.file("changed.sqlite")
    try whole.write(to: url)
    let queue = try DatabaseQueue(path: url.path)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
    for writing in [false, true] { try use(try Data(contentsOf: url), sql, writing: writing) }
  }

  @Test func `metadata that nests without end is refused`() throws {
    // A binary property list of arrays, each holding the next, 100,000 deep.
    var bytes: [UInt8] = Array("bplist00".utf8)
    let depth: Int = 100_000
    var offsets: [Int] = []
    for level in 0..<depth {
      offsets.append(bytes.count)
      bytes += [0xA1] + [16, 8, 0].map { UInt8((level + 1) >> $0 & 255) }
    }
    offsets.append(bytes.count)
    bytes.append(0x09)
    let table: Int = bytes.count
    for offset in offsets { bytes += [16, 8, 0].map { UInt8(offset >> $0 & 255) } }
    func long(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(value >> ((7 - $0) * 8) & 255) } }
    bytes += [0, 0, 0, 0, 0, 0, 3, 3] + long(depth + 1) + long(0) + long(table)
    let url: URL = folder.file("deep.sqlite")
    try whole.write(to: url)
    let queue = try DatabaseQueue(path: url.path)
    try queue.write { try $0.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [Data(bytes)]) }
    try queue.close()
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: url)
    #expect(file.metadataProblem?.isEmpty == false)
    #expect(throws: StoreError.self) { try SQLiteEngine.open(url: url, layout: layout) }
  }
}
