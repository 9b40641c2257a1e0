import Foundation
import GRDB
import TestSupport
import Testing

/// Bad input gets one line and a status.
@Suite struct FailureTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var arguments: [String]
    var status: Int32 = 1
    /// What the line must say.
    var says: [String]
    /// What it must not say.
    var lacks: [String] = []
    var testDescription: String { arguments.joined(separator: " ") }
  }

  /// `DIR/…` names one of the files below, `STORE` the shop.
  static let cases: [Case] = [
    Case(arguments: ["info", "DIR/missing.sqlite"], says: ["missing.sqlite", "no such file"]),
    Case(arguments: ["info", "DIR"], says: ["folder"]),
    Case(arguments: ["info", "DIR/empty"], says: ["empty"]),
    Case(arguments: ["info", "DIR/text"], says: ["no Core Data store", "text file"]),
    Case(arguments: ["info", "DIR/noise"], says: ["no Core Data store"]),
    Case(arguments: ["info", "DIR/plain.sqlite"], says: ["Z_METADATA"]),
    Case(arguments: ["info", "DIR/header"], says: ["header"]),
    Case(arguments: ["info", "DIR/truncated.sqlite"], says: ["truncated.sqlite"]),
    Case(arguments: ["info", "DIR/store.xml"], says: ["store.xml", "UUID"]),
    Case(arguments: ["info", "DIR/store.binary"], says: ["store.binary", "ends within its header"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--limit", "-1"], status: 2, says: ["--limit must be at least 1"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--offset", "-1"], status: 2,
      says: ["--offset must not be negative"]),
    Case(
      arguments: ["show", "STORE", "Item/p1", "--members", "-1"], status: 2,
      says: ["--members must not be negative"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--group-by", "title", "--having", "nonsense > 1"],
      says: ["has no property \"nonsense\"", "The columns of groups are count, title; sum, avg"]),
    Case(arguments: ["info", "DIR/contents"], says: ["clarus model show"]),
    Case(arguments: ["fetch", "STORE", "Itm"], says: ["no entity \"Itm\"", "Did you mean \"Item\"?"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "titel == 'x'"], says: ["--where: titel", "title"]),
    Case(arguments: ["fetch", "STORE", "Item", "--sort", "titel"], says: ["--sort: titel", "title"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--columns", "titel"],
      says: ["--columns: ", "titel", "Did you mean \"title\"?"]),
    Case(arguments: ["fetch", "STORE", "Item", "--columns", "title.x"], says: ["Item.title", "is a value"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--columns", "tags.label"],
      says: ["Item.tags has many members", "tags.@count", "--members"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--columns", "category.nam"], says: ["Category", "\"name\""]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--columns", "tags.@median.label"], says: ["@median", "@avg"]),
    Case(arguments: ["fetch", "STORE", "Item", "--id", "99"], says: ["--id: ", "no Item with the id 99"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--id", "1", "--id", "p98", "--id", "Item/p99"],
      says: ["id p98, Item/p99"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--id", "Tag/p1"], says: ["--id: ", "Tag/p1", "an id of Item"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--id", "Tga/p1"], says: ["\"Tga\"", "Did you mean \"Tag\"?"]),
    Case(
      arguments: [
        "fetch", "STORE", "Item", "--id", "x-coredata://6F9619FF-8B86-D011-B42D-00C04FC964FF/Item/p1",
      ],
      says: ["another store"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "category == 'fruit'"],
      says: ["\"fruit\" is compared with an object", "Item/p42"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "SELF == 'Tag/p1'"], says: ["Tag/p1", "an id of Item"]),
    // Findings of 2026-11-22: a shell has no arguments, and its own forms of dates.
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "due > now - 7q"],
      says: ["--where: \"7q\" is no span of time", "now - 7d", "mon"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "due > 'yesterday'"],
      says: ["--where: \"yesterday\"", "due, a date", "2026-12-01T09:30:00Z", "now - 7d", "mon"],
      lacks: ["%@"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "due IN {'2026-12-01', '2026-02-30'}"],
      says: ["--where: \"2026-02-30\"", "now()"], lacks: ["%@"]),
    Case(
      arguments: ["fetch", "STORE", "Category", "--where", "items.@max.due < '2026'"],
      says: ["--where: \"2026\"", "items.@max.due"], lacks: ["%@"]),
    Case(
      arguments: ["fetch", "STORE", "Category", "--where", "SUBQUERY(items, $i, $i.due > 'x').@count > 0"],
      says: ["--where: ", "CAST("], lacks: ["%@"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "due > now - 7"],
      says: ["--where: ", "now - 7d", "units"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "due > CAST('1800', 'NSDate')"],
      says: ["--where: ", "no date", "CAST(1800, \"NSDate\")"], lacks: ["%@"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "price == '1.5'"],
      says: ["--where: ", "Write 1.5 without quotation marks"], lacks: ["%@"]),
    Case(
      arguments: ["fetch", "STORE", "Everything", "--where", "uuid == 'x'"],
      says: ["--where: ", "CAST(", "NSUUID"], lacks: ["%@"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "isDone == 'YES'"], says: ["--where: ", "YES or NO"],
      lacks: ["%@", "Bool"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--group-by", "isDone", "--count", "--having", "price > 3"],
      says: ["--having: price may differ", "avg(price)", "isDone, count"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--group-by", "isDone", "--having", "sum(prize) > 3"],
      says: ["--having: ", "prize", "price"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--group-by", "isDone", "--having", "count > %d"],
      says: ["--having: ", "argument"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--group-by", "isDone", "--having", "max(due) > 'soon'"],
      says: ["--having: \"soon\"", "now - 7d"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--group-by", "isDone", "--having", "count >"],
      says: ["--having: Unable to parse"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--count", "--having", "count > 1"], status: 2,
      says: ["--having needs --group-by"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--group-by", "nam", "--count"],
      says: ["--group-by: ", "\"nam\""]),
    Case(arguments: ["fetch", "STORE", "Item", "--min", "nam"], says: ["--min: ", "\"nam\""]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--distinct", "--columns", "nam"],
      says: ["--columns: ", "\"nam\""]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--distinct", "--columns", "title", "--sort", "nam"],
      says: ["--sort: ", "\"nam\""]),
    Case(
      arguments: ["fetch", "STORE", "Animal", "--columns", "sofe"],
      says: ["--columns: Entity Animal and its sub-entities", "\"sofe\"", "Did you mean \"sofa\"?"]),
    Case(
      arguments: ["fetch", "STORE", "Animal", "--columns", "zzzzzz"],
      says: ["--columns: ", "lives", "name", "objectID", "sofa"]),
    Case(arguments: ["fetch", "STORE", "Item", "--sort", "tags"], says: ["--sort: ", "tags.@count"]),
    Case(
      arguments: ["model", "show", "STORE", "--model-version", "x"], says: ["--model-version: ", "'x'"]),
    Case(
      arguments: ["show", "STORE", "Item/p1", "--format", "csv"], status: 2,
      says: ["csv", "--format", "json"]),
    Case(arguments: ["info", "STORE", "--format", "csv"], status: 2, says: ["csv", "--format", "json"]),
    Case(
      arguments: ["model", "hash", "STORE", "--format", "csv"], status: 2, says: ["csv", "--format", "json"]),
    Case(
      arguments: ["show", "STORE", "Item/p1", "--format", "table", "--json"], status: 2, says: ["contradict"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--group-by", "tags", "--count"], says: ["tags has many members"]),
    Case(arguments: ["fetch", "STORE", "Item", "--sum", "title"], says: ["--sum: title", "no number"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--group-by", "isDone", "--count", "--sort", "price"],
      says: ["--sort: ", "price is none", "isDone, count"]),
    Case(
      arguments: [
        "fetch", "STORE", "Item", "--where", "titel == 'x' AND price LIKE 'a' AND tags.label == 'b'",
      ],
      says: ["(1) titel", "title", "(2) price LIKE \"a\"", "(3) tags.label == \"b\"", "ANY tags.label"]),
    Case(arguments: ["fetch", "STORE", "Item", "--where", "title =="], says: ["--where: ", "at character"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "title == %@"],
      says: ["--where: ", "title == %@", "passes none"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--where", "title == $x"],
      says: ["--where: $x", "Write the value"], lacks: ["withSubst"]),
    Case(arguments: ["fetch", "STORE", "Item", "--where", ""], says: ["--where: Unable to parse"]),
    Case(arguments: ["model", "show", "DIR/missing.momd"], says: ["missing.momd"]),
    Case(arguments: ["model", "show", "DIR/text"], says: ["text"]),
    Case(arguments: ["model", "show", "DIR/broken.xcdatamodel"], says: ["contents"]),
    Case(arguments: ["model", "hash", "DIR/store.xml"], says: ["store.xml", "UUID"]),
    Case(arguments: ["info", "STORE", "--model", "DIR/missing.momd"], says: ["--model: ", "missing.momd"]),
    Case(
      arguments: ["info", "STORE", "--model", "DIR/Other.xcdatamodel"],
      says: ["doesn't fit", "Other", "Item"]),
    Case(arguments: ["fetch", "DIR/modelless.sqlite", "Item"], says: ["--model"]),
    Case(
      arguments: ["fetch", "DIR/modelless.sqlite", "Item", "--model", "DIR/modelless.sqlite"],
      says: ["--model: ", "modelless.sqlite", "Name a model file"]),
    Case(
      arguments: ["export", "STORE", "--out", "DIR/missing/x.json"],
      says: ["missing/x.json: There is no folder", "Make it first: mkdir -p"], lacks: ["The store"]),
    Case(
      arguments: ["import", "STORE", "DIR", "--entity", "Item"],
      says: ["It is a folder", "--entity goes with one file"]),
    Case(
      arguments: ["info", "STORE", "--entity", "Itm"], says: ["--entity: ", "no entity \"Itm\"", "Item"]),
    Case(arguments: ["show", "STORE", "Item/p99"], says: ["no object Item/p99"]),
    Case(arguments: ["show", "STORE", "Itm/p1"], says: ["\"Itm\"", "Did you mean \"Item\"?"]),
    Case(arguments: ["show", "DIR/text", "Item/p1"], says: ["no Core Data store"]),
    Case(arguments: ["show", "DIR/modelless.sqlite", "Item/p1"], says: ["--model"]),
    Case(arguments: ["show", "STORE", "p1"], status: 2, says: ["Item/p42"]),
    Case(arguments: ["show", "STORE", "Item/p1", "--members", "-1"], status: 2, says: ["--members"]),
    Case(arguments: ["info", "STORE", "--counts", "--entity", "Item"], status: 2, says: ["contradict"]),
    Case(arguments: ["info"], status: 2, says: ["store", "--help"]),
    Case(arguments: ["fetch", "STORE"], status: 2, says: ["entity"]),
    Case(arguments: ["info", "STORE", "--nonsense"], status: 2, says: ["--nonsense"]),
    Case(arguments: ["fetch", "STORE", "Item", "--limit", "x"], status: 2, says: ["--limit"]),
    Case(arguments: ["fetch", "STORE", "Item", "--limit", "0"], status: 2, says: ["--limit"]),
    Case(arguments: ["fetch", "STORE", "Item", "--format", "xml"], status: 2, says: ["xml"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--format", "csv", "--json"], status: 2, says: ["contradict"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--sort", "title:up"], status: 2,
      says: ["title:up", "asc or desc"]),
    Case(arguments: ["fetch", "STORE", "Item", "--columns", "title,"], status: 2, says: ["empty name"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--columns", "title,title"], status: 2, says: ["title twice"]),
    Case(arguments: ["fetch", "STORE", "Item", "--id", "p0"], status: 2, says: ["--id \"p0\"", "Item/p42"]),
    Case(arguments: ["fetch", "STORE", "Item", "--id", "Item/t3"], status: 2, says: ["no id"]),
    Case(arguments: ["fetch", "STORE", "Item", "--distinct"], status: 2, says: ["--columns"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--distinct", "--columns", "title", "--count"], status: 2,
      says: ["contradict"]),
    Case(
      arguments: ["fetch", "STORE", "Item", "--columns", "title", "--count"], status: 2, says: ["--group-by"]),
    Case(arguments: ["fetch", "STORE", "Item", "--members", "--count"], status: 2, says: ["--members"]),
    Case(arguments: ["nonsense"], status: 2, says: ["nonsense"]),
  ]

  @Test(arguments: cases)
  func `bad input gets one clear line`(entry: Case) throws {
    let store = try ShopStore()
    defer { store.remove() }
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    try Self.fill(folder, from: store)
    let before = try FolderState(folder)
    let run = try CommandLineRun(
      entry.arguments.map {
        $0 == "STORE" ? store.path : $0.hasPrefix("DIR") ? folder.path + $0.dropFirst(3) : $0
      })
    #expect(run.status == entry.status)
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("clarus: "))
    #expect(run.errors.hasSuffix("\n"))
    #expect(run.errors.split(separator: "\n").count == 1, "one line: \(run.errors)")
    for text in entry.says { #expect(run.errors.contains(text), "\(run.errors)") }
    for text in entry.lacks { #expect(!run.errors.contains(text), "\(run.errors)") }
    #expect(try FolderState(folder) == before, "nothing was written")
  }

  @Test(.timeLimit(.minutes(2)), arguments: ["info", "model hash"], ["-journal", "-wal"])
  func `a pipe in the place of a journal is named, at once`(command: String, ending: String) throws {
    let store = try ShopStore()
    defer { store.remove() }
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let run = try CommandLineRun(
      shell: """
        cd \(folder.path); cp \(store.path) s.sqlite; mkfifo s.sqlite\(ending)
        timeout -s KILL 60 "$CLARUS" \(command) s.sqlite
        """)
    #expect(run.status == 1)
    #expect(run.errors.contains("s.sqlite\(ending)") && run.errors.contains("named pipe"), "\(run.errors)")
  }

  /// Finding B16: it is known what they are before they are opened; opening a pipe waits for somebody who
  /// writes to it.
  @Test(.timeLimit(.minutes(2)), arguments: ["info", "fetch", "model hash"], ["pipe", "device", "socket"])
  func `what is no file is said to be none, at once`(command: String, kind: String) throws {
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let run = try CommandLineRun(
      shell: """
        cd \(folder.path); mkfifo pipe; ln -s /dev/zero device
        python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' 2>/dev/null || ln -s pipe socket
        timeout -s KILL 60 "$CLARUS" \(command) \(kind)\(command == "fetch" ? " Item" : "")
        """)
    #expect(run.status == 1)
    #expect(run.output == "")
    let isSaid: Bool = run.errors.contains(kind) || (kind == "socket" && run.errors.contains("pipe"))
    #expect(isSaid && run.errors.contains("not a file"), "\(run.errors)")
  }

  private static func fill(_ folder: URL, from store: ShopStore) throws {
    func write(_ name: String, _ data: Data) throws {
      try data.write(to: folder.appendingPathComponent(name))
    }
    try write("empty", Data())
    try write("text", Data("just words\n".utf8))
    try write("noise", Data((0..<2000).map { UInt8(truncatingIfNeeded: $0 &* 37) }))
    try write("header", Data("SQLite format 3\0".utf8))
    try write("store.binary", Data("CoreData".utf8) + Data([0, 0, 0, 1, 8, 4, 8, 0]))
    try write(
      "store.xml",
      Data("<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"CoreData.dtd\">\n<database></database>".utf8)
    )
    try write(
      "contents",
      Data("<?xml version=\"1.0\"?><model type=\"com.apple.IDECoreDataModeler.DataModel\"></model>".utf8))
    try makeDatabase(folder.appendingPathComponent("plain.sqlite"), ["CREATE TABLE person (name TEXT)"])
    let whole: Data = try Data(contentsOf: store.url)
    try write("truncated.sqlite", whole.prefix(whole.count / 3))
    try write("modelless.sqlite", whole)
    let journal = URL(fileURLWithPath: store.path + "-wal")
    if FileManager.default.fileExists(atPath: journal.path) {
      try write("modelless.sqlite-wal", Data(contentsOf: journal))
    }
    try makeDatabase(folder.appendingPathComponent("modelless.sqlite"), ["DELETE FROM Z_MODELCACHE"])
    for (name, text) in [
      (
        "Other",
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="Other"><attribute name="x" optional="YES" attributeType="String"/></entity>
        </model>
        """
      ), ("broken", "<model><entity name="),
    ] {
      let package: URL = folder.appendingPathComponent("\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: package.appendingPathComponent("contents"))
    }
  }

  @Test(arguments: [
    ["--help"], ["info", "--help"], ["fetch", "--help"], ["show", "--help"], ["model", "show", "--help"],
    ["help", "fetch"],
  ])
  func `help is printed and is no failure`(arguments: [String]) throws {
    let run = try CommandLineRun(arguments)
    #expect(run.status == 0)
    #expect(run.output.contains("EXAMPLES"))
    #expect(run.errors == "")
  }

  @Test func `a store without a model shows what it can`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    try Self.fill(folder, from: store)
    let path: String = folder.appendingPathComponent("modelless.sqlite").path
    let run = try CommandLineRun(["info", path, "--json"])
    #expect(run.status == 0)
    let root = try #require(try run.json() as? [String: Any])
    let entities = try #require(root["entities"] as? [[String: Any]])
    #expect(entities.first { $0["name"] as? String == "Item" }?["count"] as? Int == 3)
    #expect((root["model"] as? [String: Any])?["source"] is NSNull)

    // Another store of the same model lends its own.
    let lent = try CommandLineRun([
      "fetch", path, "Tag", "--model", store.path, "--columns", "label", "--format", "csv",
    ])
    #expect(lent.errors == "")
    #expect(lent.output == "label\r\na\r\nb\r\n")
  }

  @Test func `a store that another process keeps locked is a failure, not a wait`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: store.path, configuration: configuration)
    try other.writeWithoutTransaction { database in
      try database.execute(
        sql:
          "PRAGMA journal_mode=DELETE; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM Z_MODELCACHE"
      )
    }
    let run = try CommandLineRun(["fetch", store.path, "Item"])
    #expect(run.status == 1)
    #expect(run.errors.contains(store.path) && run.errors.contains("locked"), "\(run.errors)")
    try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
  }
}
