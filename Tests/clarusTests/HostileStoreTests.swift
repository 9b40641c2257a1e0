import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Stores that somebody has tampered with, and values that upset terminals.
@Suite struct HostileStoreTests {
  /// What no output may hold: controls but line breaks, and what turns the direction of text.
  private static func firstUnsafe(_ text: String) -> Unicode.Scalar? {
    text.unicodeScalars.first { scalar in
      switch scalar.value {
      case 0x0A, 0x0D: false
      case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
      default: false
      }
    }
  }

  private static let nasty: String = "a\u{1B}[2J\u{9B}31m\u{202E}\u{7}\u{85}\u{2066}\u{61C}\u{7F}\tb\r\nc"

  @Test(arguments: [
    ["fetch", "STORE", "Item"], ["fetch", "STORE", "Item", "--json"], ["show", "STORE", "Item/p1"],
    ["show", "STORE", "Item/p1", "--json"], ["info", "STORE", "--entity", "Item"],
    ["info", "STORE", "--entity", "Item", "--json"],
    ["fetch", "STORE", "Item", "--group-by", "title", "--count"],
    [
      "fetch", "STORE", "Item", "--columns", "title,category.name", "--sql", "--where",
      "title != '\u{1B}[1m'",
    ],
    ["show", "STORE", "Category/p1"], ["show", "STORE", "Item/p1", "--format", "table"],
    [
      "fetch", "STORE", "Item", "--group-by", "title", "--count", "--having",
      "title BEGINSWITH 'a' AND count == 1",
    ],
    ["info", "STORE", "--counts", "--format", "table"], ["check", "STORE"], ["check", "STORE", "--json"],
    ["export", "STORE"], ["export", "STORE", "--format", "sqlite-views"],
  ])
  func `values never reach a terminal as control characters`(arguments: [String]) throws {
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let url: URL = folder.appendingPathComponent("Nasty.sqlite")
    let world: StoreWorld = try ShopStore.world(url)
    let category: RowID = try world.insertOne("Category", ["name": Self.nasty])
    try world.insert("Item", [["title": Self.nasty, "category": category, "price": Double.infinity]])
    try world.engine.close()
    let run = try CommandLineRun(arguments.map { $0 == "STORE" ? url.path : $0 })
    #expect(run.status == 0, "\(run.errors)")
    #expect(Self.firstUnsafe(run.output) == nil, "\(run.output.debugDescription)")
    #expect(Self.firstUnsafe(run.errors) == nil)
    if arguments.contains("--json") { _ = try run.json() }
  }

  @Test func `names out of the file and out of the command line are escaped in errors`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    for arguments in [
      ["fetch", store.path, Self.nasty], ["show", store.path, "\(Self.nasty)/p1"],
      ["fetch", store.path, "Item", "--columns", Self.nasty],
      ["fetch", store.path, "Item", "--where", Self.nasty],
      ["fetch", store.path, "Item", "--sort", Self.nasty], ["fetch", store.path, "Item", "--id", Self.nasty],
      ["fetch", store.path, "Item", "--group-by", "title", "--having", Self.nasty],
      [
        "fetch", store.path, "Item", "--group-by", "title", "--having", "title == '\(Self.nasty)' AND x == 1",
      ],
      ["fetch", store.path, "Item", "--where", "due > '\(Self.nasty)'"],
      ["fetch", store.path, "Item", "--where", "due > now - 7\(Self.nasty)"],
      ["fetch", store.path, "Item", "--group-by", Self.nasty],
      ["fetch", store.path, "Item", "--sum", Self.nasty],
      ["fetch", store.path, "Item", "--format", Self.nasty],
      ["show", store.path, "Item/p1", "--format", Self.nasty],
      ["fetch", store.path, "Item", "--model", "/\(Self.nasty)"],
      ["model", "show", store.path, "--model-version", Self.nasty],
      ["info", store.path, "--entity", Self.nasty], ["info", "/\(Self.nasty)"], [Self.nasty],
    ] {
      let run = try CommandLineRun(arguments)
      #expect(run.status == 1 || run.status == 2)
      #expect(Self.firstUnsafe(run.errors) == nil, "\(run.errors.debugDescription)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }

  /// Entity names, and columns that hold what their type does not allow.
  @Test(arguments: [
    "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Item' || char(27) || '[2J' WHERE Z_NAME = 'Item'",
    "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT", "DELETE FROM Z_PRIMARYKEY", "DROP TABLE ZITEM",
    "DROP TABLE Z_METADATA",
    "UPDATE ZITEM SET Z_ENT = 999",
    "UPDATE ZITEM SET ZTITLE = x'FFFE80C0', ZPRICE = 'text', ZDUE = x'00', ZCATEGORY = 'x'",
    "UPDATE ZITEM SET ZCATEGORY = -9223372036854775808", "UPDATE ZITEM SET ZPRICE = 9e999, ZDUE = 9e999",
    "UPDATE ZEVERYTHING SET ZUUID = x'01', ZDECIMAL = 'not a number', ZURI = char(27), ZBOOL = 77",
    "UPDATE Z_METADATA SET Z_PLIST = x'62706C697374303000'",
    "UPDATE Z_METADATA SET Z_UUID = char(27) || '[2J'",
    "UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'", "UPDATE Z_MODELCACHE SET Z_CONTENT = zeroblob(100000)",
  ])
  func `a store that was tampered with is read as far as it goes, or explained in a line`(statement: String)
    throws
  {
    let store = try ShopStore()
    defer { store.remove() }
    try makeDatabase(store.url, [statement])
    let before = try FolderState(store.folder)
    for arguments in [
      ["info", store.path], ["info", store.path, "--json"], ["fetch", store.path, "Item", "--json"],
      ["fetch", store.path, "Item", "--columns", "title,category.name,tags", "--members"],
      ["fetch", store.path, "Everything", "--json"], ["show", store.path, "Item/p1", "--json"],
      ["show", store.path, "Everything/p1"], ["info", store.path, "--entity", "Item"],
      ["fetch", store.path, "Item", "--group-by", "category", "--max", "due"],
    ] {
      let run = try CommandLineRun(arguments)
      #expect(run.status == 0 || run.status == 1, "\(arguments): \(run.status) \(run.errors)")
      #expect(Self.firstUnsafe(run.output) == nil && Self.firstUnsafe(run.errors) == nil, "\(arguments)")
      if run.status == 1 {
        #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      } else if arguments.last == "--json" {
        _ = try run.json()
      }
    }
    #expect(try FolderState(store.folder) == before, "reading leaves no trace")
  }

  @Test func `a store with bytes changed anywhere never crashes a command`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    try makeDatabase(store.url, ["VACUUM"])
    let whole: Data = try Data(contentsOf: store.url)
    let damaged: URL = store.folder.appendingPathComponent("Damaged.sqlite")
    // Steps of a prime meet every page at other places.
    for (number, place) in stride(from: 16, to: whole.count, by: 6151).enumerated() {
      var bytes: Data = whole
      for offset in place..<min(place + 24, whole.count) {
        bytes[offset] = UInt8(truncatingIfNeeded: 0xFF - number)
      }
      try bytes.write(to: damaged)
      let arguments: [String] =
        [
          ["info", damaged.path], ["fetch", damaged.path, "Item", "--json"],
          ["show", damaged.path, "Item/p1"],
        ][number % 3]
      let run = try CommandLineRun(arguments)
      #expect(run.status == 0 || run.status == 1, "\(place): \(arguments[0]) ended with \(run.status)")
      if run.status == 1 { #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)") }
    }
  }
}
