import CoreDataModel
import CoreDataSQLite
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

/// `clarus check`
@Suite struct CheckTests {
  /// A way to damage the contents of a store, and what is found then.
  struct Case: Sendable, CustomTestStringConvertible {
    var sql: String
    var kind: String
    var says: String
    var isPhotos: Bool = false
    var isWarning: Bool = false
    var testDescription: String { sql }
  }

  static let cases: [Case] = [
    Case(
      sql: "UPDATE ZITEM SET ZCATEGORY = 99 WHERE Z_PK < 3", kind: "dangling",
      says: "error: Item.category names an object that does not exist. 2 times: Item/p1, Item/p2"),
    Case(
      sql: "UPDATE ZPHOTO SET ZNEXT = 3 WHERE Z_PK = 1", kind: "inverse",
      says: "error: Photo.next names an object whose former does not name it in turn. Photo/p1",
      isPhotos: true),
    Case(
      sql: "UPDATE ZPHOTO SET ZNEXT = NULL WHERE Z_PK = 1", kind: "inverse",
      says: "error: Photo.former names an object whose next does not name it in turn. Photo/p2",
      isPhotos: true),
    Case(
      sql: "UPDATE ZPHOTO SET ZNAME = NULL WHERE Z_PK = 2", kind: "required",
      says: "error: Photo.name is nil, and the model requires a value. Photo/p2", isPhotos: true),
    Case(
      sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Item'", kind: "keys",
      says: "warning: The counter of keys of Item is 1, and there is a row with the key 7.", isWarning: true),
    Case(
      sql: "UPDATE ZANIMAL SET Z_ENT = 77 WHERE Z_PK = 1", kind: "entity",
      says: "error: Rows in the table of Animal have the number of no entity of the hierarchy"),
    Case(
      sql: "UPDATE ZANIMAL SET Z_PK = -5 WHERE Z_PK = 1", kind: "row",
      says: "error: Rows in the table of Animal have keys that are not above 0, which no object has (keys -5)"
    ),
    Case(
      sql: "UPDATE ZITEM SET Z_PK = 0 WHERE Z_PK = 1", kind: "row",
      says: "error: Rows in the table of Item have keys that are not above 0, which no object has (keys 0)"),
    Case(
      sql: "DROP INDEX Z_Category_UNIQUE_name; UPDATE ZCATEGORY SET ZNAME = 'fruit'", kind: "unique",
      says: "error: Category has objects with the same name, which the model wants to be unique. Category/p2"),
    Case(
      sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME = 'Item'", kind: "fullKeys",
      says: "error: The counter of keys of Item is 9223372036854775807, so no new object can be saved"),
    Case(
      sql: "UPDATE ZITEM SET ZPRICE = 'text', ZPRIORITY = 70000, ZTITLE = x'41' WHERE Z_PK < 3",
      kind: "value",
      says: "error: Item.price has a value that is none of its type (a number). 2 times: Item/p1, Item/p2"),
    Case(
      sql: "UPDATE ZEVERYTHING SET ZUUID = x'01' WHERE Z_PK = 1", kind: "value",
      says: "error: Everything.uuid has a value that is none of its type (a UUID of 16 bytes). Everything/p1"),
    Case(
      sql: "UPDATE ZEVERYTHING SET ZDECIMAL = 'twelve' WHERE Z_PK = 1", kind: "value",
      says: "error: Everything.decimal can't be read: 'twelve' is no decimal number. Everything/p1"),
    Case(
      sql: "INSERT INTO Z_8TAGS VALUES (1, 99)", kind: "dangling",
      says: "has pairs of which one object does not exist."),
    Case(
      sql: "UPDATE ZTRACK SET Z_FOK_ALBUM = NULL WHERE Z_PK = 2", kind: "order",
      says: "warning: Album.tracks is ordered, and some members have no place, or share one. Album/p1",
      isWarning: true),
  ]

  private static func problems(_ run: CommandLineRun) throws -> [[String: Any]] {
    try #require((try run.json() as? [String: Any])?["problems"] as? [[String: Any]])
  }

  @Test func `a sound store has no problems`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let before = try FolderState(store.folder)
    let run = try CommandLineRun(["check", store.path])
    #expect(
      (run.output, run.errors, run.status)
        == ("Nothing is wrong in 12 entities with 29 rows.\n", "", 0))
    let json = try CommandLineRun(["check", store.path, "--json"])
    #expect((try json.json() as? [String: Any])?["sound"] as? Bool == true)
    #expect(try FolderState(store.folder) == before)
    let photos = try PhotoStore()
    defer { photos.remove() }
    #expect(try CommandLineRun(["check", photos.path]).status == 0)
  }

  @Test(arguments: cases)
  func `what is wrong is found, and repaired into a new file`(test: Case) throws {
    let rich = try RichStore()
    let photos = try PhotoStore()
    defer {
      rich.remove()
      photos.remove()
    }
    let url: URL = test.isPhotos ? photos.url : rich.url
    try makeDatabase(url, [test.sql])
    let run = try CommandLineRun(["check", url.path])
    #expect(run.status == (test.isWarning ? 0 : 1), "\(run.output)\(run.errors)")
    #expect(run.output.contains(test.says), "\(run.output)")
    let json = try CommandLineRun(["check", url.path, "--json"])
    #expect(try Self.problems(json).contains { $0["kind"] as? String == test.kind })
    let out: URL = url.deletingLastPathComponent().appendingPathComponent("Out.sqlite")
    let before = try Data(contentsOf: url)
    let repair = try CommandLineRun(["check", url.path, "--repair", out.path, "--json"])
    #expect(repair.errors == "")
    let report = try #require(try repair.json() as? [String: Any], "\(repair.output)")
    let isComplete: Bool = report["complete"] as? Bool == true
    #expect(repair.status == (isComplete ? 0 : 1))
    #expect(try Data(contentsOf: url) == before)
    let after = try Self.problems(try CommandLineRun(["check", out.path, "--json"]))
    // A value that is required and nil can't be made up.
    #expect(after.allSatisfy { $0["kind"] as? String == "required" }, "\(after)")
    #expect(after.isEmpty == (test.kind != "required"))
  }

  @Test func `rows that stand for no object are lost by a repair, and named`() throws {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(
      store.url,
      ["UPDATE ZANIMAL SET Z_ENT = 77 WHERE Z_PK = 1", "UPDATE ZANIMAL SET Z_PK = -5 WHERE Z_PK = 2"])
    for (number, more) in [[], ["--json"]].enumerated() {
      let out: String = store.file("Out\(number).sqlite").path
      let repair = try CommandLineRun(["check", store.path, "--repair", out] + more)
      #expect(repair.status == 1)
      #expect(repair.errors == "")
      if more.isEmpty {
        #expect(
          repair.output.contains(
            "error: 1 row of the table ZANIMAL could not be saved: they have keys that are not above 0, which no "
              + "object has. Z_PK -5\n"), "\(repair.output)")
        #expect(repair.output.contains(" no entity of the hierarchy, so no fetch shows them. Z_PK 1\n"))
        #expect(!repair.output.contains("nothing was lost"))
      } else {
        let report = try #require(try repair.json() as? [String: Any])
        #expect(report["complete"] as? Bool == false)
        let rows = try #require(report["lostRows"] as? [[String: Any]])
        #expect(rows.compactMap { $0["keys"] as? [Int] } == [[-5], [1]])
        #expect(rows.allSatisfy { $0["table"] as? String == "ZANIMAL" })
      }
    }
  }

  /// SQLite reads no such file, unless it is to save what it can.
  @Test func `a file whose list of tables has empty rows is refused by name, and repaired`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let whole: String = store.file("Whole.sqlite").path
    try FileManager.default.copyItem(atPath: store.path, toPath: whole)
    try makeDatabase(
      store.url,
      ["PRAGMA writable_schema = ON", "INSERT INTO sqlite_master VALUES (NULL, NULL, NULL, NULL, NULL)"])
    let before = try Data(contentsOf: store.url)
    let new: String = store.file("New").path
    for arguments in [
      ["check", store.path], ["info", store.path], ["fetch", store.path, "Item", "--model", whole],
      ["convert", store.path, new + ".xml"], ["convert", store.path, new + ".sqlite"],
      ["diff", whole, store.path], ["migrate", store.path, "--to", whole],
    ] {
      let run = try CommandLineRun(arguments)
      #expect(run.status == 1 || run.status == 2, "\(arguments) \(run.output)")
      let said: String = run.errors + run.output
      #expect(said.contains("damaged"), "\(arguments) \(said)")
      #expect(said.contains("Rich.sqlite") || arguments[0] == "check", "\(arguments) \(said)")
      #expect(run.errors.split(separator: "\n").count <= 1, "\(run.errors)")
    }
    let layout = ModelLayout(model: PhotoStore.model())
    #expect(throws: StoreError.self) { try SQLiteEngine.open(url: store.url, layout: layout) }
    #expect(throws: StoreError.self) { try SQLiteKind().inspect(store.url, options: StoreOpeningOptions()) }
    let repair = try CommandLineRun(["check", store.path, "--repair", new + ".sqlite"])
    #expect(repair.status == 1, "\(repair.output)\(repair.errors)")
    let diff = try CommandLineRun(["diff", whole, new + ".sqlite"])
    #expect(diff.status == 0, "\(diff.output)\(diff.errors)")
    #expect(try Data(contentsOf: store.url) == before)
  }

  @Test func `missing and superfluous files of values are found`() throws {
    let store = try PhotoStore()
    defer { store.remove() }
    try FileManager.default.removeItem(at: store.support.appendingPathComponent(store.valueFiles[0]))
    let orphan: String = UUID().uuidString
    try Data("x".utf8).write(to: store.support.appendingPathComponent(orphan))
    let run = try CommandLineRun(["check", store.path])
    #expect(run.status == 1)
    #expect(
      run.output.contains(
        "error: Photo.image has its value in a file of .Photos_SUPPORT, which can't be read: There is no such file."
      ), "\(run.output)")
    #expect(run.output.contains("warning: Files in .Photos_SUPPORT belong to no row: \(orphan)."))
    #expect(run.output.hasSuffix("1 problem and 1 warning in 1 entity with 3 rows.\n"))
    for (number, more) in [[], ["--json"]].enumerated() {
      let out: String = store.folder.appendingPathComponent("Out\(number).sqlite").path
      let repair = try CommandLineRun(["check", store.path, "--repair", out] + more)
      #expect(repair.status == 1 && repair.errors == "", "\(repair.errors)")
      if more.isEmpty {
        #expect(
          repair.output.contains("There is no such file. The value became nil. Photo/p"), "\(repair.output)")
        #expect(!repair.output.contains("nothing was lost"))
      } else {
        let report = try #require(try repair.json() as? [String: Any])
        #expect(report["complete"] as? Bool == false)
        let change = try #require((report["changes"] as? [[String: Any]])?.first)
        #expect(change["kind"] as? String == "missingFile")
        #expect(change["entity"] as? String == "Photo" && change["property"] as? String == "image")
        #expect((change["objects"] as? [String])?.count == 1)
      }
    }
  }

  @Test func `another model is told entity by entity and property by property`() throws {
    let rich = try RichStore()
    let photos = try PhotoStore()
    defer {
      rich.remove()
      photos.remove()
    }
    let run = try CommandLineRun(["check", rich.path, "--model", photos.path])
    #expect(run.status == 1)
    #expect(run.output.contains("Only in the store: "), "\(run.output)")
    #expect(run.output.contains("Only in the model: Photo."))
  }

  @Test(arguments: [95, 80, 60, 40, 20, 5])
  func `a file that was cut off is repaired as far as it can be read`(percent: Int) throws {
    let store = try RichStore()
    let whole = try RichStore("Whole.sqlite")
    defer {
      store.remove()
      whole.remove()
    }
    let bytes = try Data(contentsOf: store.url)
    try bytes.prefix(bytes.count * percent / 100).write(to: store.url)
    let check = try CommandLineRun(["check", store.path, "--model", whole.path])
    #expect(check.status == 1)
    #expect((check.output + check.errors).contains("damaged"), "\(check.output)\(check.errors)")
    let out: URL = store.file("Out.sqlite")
    let repair = try CommandLineRun(["check", store.path, "--model", whole.path, "--repair", out.path])
    #expect(repair.status == 1)
    // Its first pages are the schema and the tables.
    if percent >= 60 { #expect(FileManager.default.fileExists(atPath: out.path), "\(repair.errors)") }
    if FileManager.default.fileExists(atPath: out.path) {
      #expect(repair.output.contains("Out.sqlite: SQLite store with "), "\(repair.output)")
      let after = try CommandLineRun(["check", out.path])
      #expect(after.status == 0, "\(after.output)\(after.errors)")
    } else {
      #expect(repair.errors.hasPrefix("clarus: ") && repair.errors.split(separator: "\n").count == 1)
      #expect(store.names == ["Rich.sqlite"])
    }
  }

  @Test func `damage in the middle of a table loses the rows on that page only`() throws {
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let url: URL = folder.appendingPathComponent("Big.sqlite")
    try FileManager.default.copyItem(
      at: CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores/Library.sqlite"), to: url)
    try makeDatabase(
      url,
      [
        "WITH RECURSIVE n(i) AS (SELECT 16 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO ZBOOK "
          + "(Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, 2, 1, 'The title of book number ' || i FROM n",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 20000 WHERE Z_NAME = 'Book'",
      ])
    var bytes = try Data(contentsOf: url)
    // Its row, and its entry in the index of titles.
    var start: Int = 0
    while let found = bytes.range(of: Data("book number 10000".utf8), in: start..<bytes.count) {
      let page: Int = found.lowerBound / 4096 * 4096
      bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: 0xFF, count: 4096))
      start = page + 4096
    }
    #expect(start > 0)
    try bytes.write(to: url)
    let out: URL = folder.appendingPathComponent("Out.sqlite")
    let repair = try CommandLineRun(["check", url.path, "--repair", out.path, "--json"])
    #expect(repair.status == 1, "\(repair.errors)")
    let report = try #require(try repair.json() as? [String: Any], "\(repair.errors)")
    let entities = try #require(report["entities"] as? [[String: Any]])
    let saved: Int = entities.first { $0["name"] as? String == "Book" }?["saved"] as? Int ?? 0
    #expect(saved > 19_700 && saved < 19_998, "\(saved)")
    #expect(try CommandLineRun(["check", out.path]).status == 0)
  }

  @Test(arguments: 0..<24)
  func `a file with wrong bytes gives a report or an error`(seed: Int) throws {
    let store = try RichStore()
    let whole = try RichStore("Whole.sqlite")
    defer {
      store.remove()
      whole.remove()
    }
    var bytes = try Data(contentsOf: store.url)
    var random = SeededRandom(seed: UInt64(seed) &* 7919)
    for _ in 0..<8 {
      bytes[Int(random.next() % UInt64(bytes.count - 100)) + 100] = UInt8(truncatingIfNeeded: random.next())
    }
    try bytes.write(to: store.url)
    let out: URL = store.file("Out.sqlite")
    for more in [[], ["--json"], ["--repair", out.path]] {
      let run = try CommandLineRun(["check", store.path, "--model", whole.path] + more)
      #expect(run.status == 0 || run.status == 1, "\(run.status) \(run.errors)")
      #expect(run.errors.split(separator: "\n").count <= 1, "\(run.errors)")
    }
    if FileManager.default.fileExists(atPath: out.path) {
      #expect(try CommandLineRun(["info", out.path]).status == 0)
    } else {
      #expect(store.names == ["Rich.sqlite"])
    }
  }

  @Test func `nothing is examined where there is no store`() throws {
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let text: URL = folder.appendingPathComponent("text")
    try Data("hello".utf8).write(to: text)
    let pipe: URL = folder.appendingPathComponent("pipe")
    #expect(mkfifo(pipe.path, 0o600) == 0)
    let before: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for command in ["check", "convert", "diff"] {
      for path in [text.path, pipe.path, folder.path, folder.path + "/none"] {
        let more: [String] = command == "check" ? [] : [folder.path + "/out"]
        let run = try CommandLineRun([command, path] + more)
        #expect(run.status == (command == "diff" ? 2 : 1), "\(command) \(path)")
        #expect(run.output == "")
        #expect(
          run.errors.hasPrefix("clarus: ") && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
  }
}
