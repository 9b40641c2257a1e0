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
      says:
        "error: Category has objects with the same values (name \"fruit\"), which the model wants to be unique. "
        + "2 times: Category/p1, Category/p2"),
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

  /// What a store has lost as a whole, and what the repair says of it.
  private static let gone: [(sql: String, says: [String], kind: String)] = [
    (
      "ALTER TABLE ZITEM DROP COLUMN ZPRICE",
      ["error: Item.price became nil in all 7 objects: table ZITEM has no column ZPRICE."], "value"
    ),
    (
      "DROP TABLE Z_8TAGS",
      ["Item.tags is empty in all 7 objects: ", "Tag.items is empty in all 3 objects: ", "no join table"],
      "damage"
    ),
    (
      "ALTER TABLE ZTRACK DROP COLUMN Z_FOK_ALBUM",
      ["Album.tracks has lost its order in the 1 object: table ZTRACK has no column Z_FOK_ALBUM."], "order"
    ),
    (
      "ALTER TABLE ZANIMAL DROP COLUMN ZSOFA",
      ["HouseCat.sofa became nil in the 1 object: table ZANIMAL has no column ZSOFA."], "value"
    ),
    (
      "DROP INDEX ZITEM_ZCATEGORY_INDEX; ALTER TABLE ZITEM DROP COLUMN ZCATEGORY",
      ["error: Item.category became nil in all 7 objects: table ZITEM has no column ZCATEGORY."], "value"
    ),
  ]

  @Test(arguments: gone, ["sqlite", "xml"])
  func `without a column or a table of pairs a repair saves all else, and says what is missing`(
    gone: (sql: String, says: [String], kind: String), kind: String
  ) throws {
    let store = try RichStore()
    defer { store.remove() }
    let whole: String = store.file("Whole.sqlite").path
    try FileManager.default.copyItem(atPath: store.path, toPath: whole)
    try makeDatabase(store.url, gone.sql.split(separator: ";").map(String.init))
    #expect(try CommandLineRun(["check", store.path]).status == 1)
    let out: String = store.file("Out.\(kind)").path
    let repair = try CommandLineRun(["check", store.path, "--repair", out])
    #expect(repair.status == 1 && repair.errors == "", "\(repair.errors)")
    for text in gone.says { #expect(repair.output.contains(text), "\(repair.output)") }
    #expect(repair.output.contains("29 rows."), "\(repair.output)")
    let found = try CommandLineRun(["check", out, "--model", whole])
    #expect(found.status == 0, "\(found.output)\(found.errors)")
    if kind == "sqlite" {
      // Nothing else differs.
      let diff = try CommandLineRun(["diff", whole, out, "--json"]).json() as? [String: Any]
      let found = try #require(diff?["differences"] as? [[String: Any]])
      let changed: [[String: Any]] = found.flatMap { $0["properties"] as? [[String: Any]] ?? [] }
      let names: [String] = Set(changed.compactMap { $0["name"] as? String }).sorted()
      #expect(found.allSatisfy { $0["change"] as? String == "changed" })
      let said: String = gone.says.joined()
      #expect(!names.isEmpty && names.allSatisfy { said.contains(".\($0) ") }, "\(names)")
    }
    let json = try CommandLineRun(["check", store.path, "--repair", out + ".2", "--json"])
    let report = try #require(try json.json() as? [String: Any])
    #expect(report["complete"] as? Bool == false)
    let changes = try #require(report["changes"] as? [[String: Any]])
    #expect(changes.contains { $0["kind"] as? String == gone.kind && $0["count"] as? Int ?? 0 > 0 })
  }

  @Test func `a repair of an XML store saves all but what can't be read, and lists it`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let (xml, out): (URL, String) = (store.file("Shop.xml"), store.file("New.xml").path)
    #expect(try CommandLineRun(["convert", store.path, xml.path]).status == 0)
    let text = try String(contentsOf: xml, encoding: .utf8)
    let price = try #require(text.firstMatch(of: /name="price" type="double">0.1</))
    try text.replacingCharacters(in: price.range, with: "name=\"price\" type=\"double\">cheap<")
      .replacing("type=\"PLAYLIST\" id=\"z", with: "type=\"PLAYLIST\" id=\"")
      .write(to: xml, atomically: true, encoding: .utf8)
    #expect(try CommandLineRun(["check", xml.path, "--model", store.path]).status == 1)
    let repair = try CommandLineRun(["check", xml.path, "--model", store.path, "--repair", out])
    #expect(repair.status == 1 && repair.errors == "", "\(repair.errors)")
    for text in [
      "error: Item.price could not be read ('cheap' is no value of the type double), and became nil. Item/p",
      "An object 'PLAYLIST' has the id '", "XML store with 28 rows.",
    ] { #expect(repair.output.contains(text), "\(repair.output)") }
    let found = try CommandLineRun(["check", out, "--model", store.path])
    #expect(found.status == 0, "\(found.output)\(found.errors)")
  }

  @Test
  func `of several versions that a store with a damaged hash fits the newest is taken, and others are named`()
    throws
  {
    let folder = try TemporaryFolder()
    let attribute: String = "<attribute name=\"title\" attributeType=\"String\" optional=\"YES\"/>"
    for version in ["Shop", "Shop 2"] { try folder.writeShop(version, attribute) }
    try folder.writeShop("Shop 3", attribute.replacing("String", with: "Date"))
    let package: String = folder.file("Shop.xcdatamodeld").path
    try Data(#"{"Item": [{"title": "one"}]}"#.utf8).write(to: folder.file("all.json"))
    let xml: URL = folder.file("Shop.xml")
    let made = try CommandLineRun([
      "import", xml.path, folder.file("all.json").path, "--create", "--model", package + "/Shop.xcdatamodel",
    ])
    #expect(made.status == 0, "\(made.errors)")
    let text = try String(contentsOf: xml, encoding: .utf8)
    let hash = try #require(text.firstMatch(of: /<key>Item<\/key>\s*<data>\s*([A-Za-z0-9])/))
    try text.replacingCharacters(
      in: hash.1.startIndex..<hash.1.endIndex, with: hash.1 == "A" ? "B" : "A"
    ).write(to: xml, atomically: true, encoding: .utf8)
    let repair = try CommandLineRun([
      "check", xml.path, "--model", package, "--repair", folder.file("New.xml").path,
    ])
    #expect(
      repair.output.contains("version 'Shop 2', the newest of them, was taken.")
        && repair.output.contains("--model-version: 'Shop'."), "\(repair.output)\(repair.errors)")
    #expect(repair.output.contains("XML store with 1 row"), "\(repair.output)")
    try text.replacing("NSStoreModelVersionHashes<", with: "Lost<").write(
      to: xml, atomically: true, encoding: .utf8)
    let asked = try CommandLineRun([
      "check", xml.path, "--model", package, "--repair", folder.file("Other.xml").path,
    ])
    #expect(
      asked.errors.contains(
        "several fit its objects. Name one with --model-version: 'Shop 2', 'Shop'; others fit less: 'Shop 3' "
          + "(1 difference: Item.title is date, and string in the store)."), "\(asked.output)\(asked.errors)")
    // Of two that fit, the one of whose properties more occur is named first; of none, the nearest.
    try folder.writeShop("Shop 2", attribute + attribute.replacing("title", with: "note"))
    let ranked = try CommandLineRun([
      "check", xml.path, "--model", package, "--repair", folder.file("O.xml").path,
    ])
    #expect(
      ranked.errors.contains(
        "--model-version: 'Shop', 'Shop 2' (the objects have 1 of its 2 properties); others fit less"),
      "\(ranked.errors)")
    try folder.writeShop("Shop 2", attribute.replacing("title", with: "note"))
    try folder.writeShop("Shop", "", entity: "Other")
    let none = try CommandLineRun([
      "check", xml.path, "--model", package, "--repair", folder.file("P.xml").path,
    ])
    #expect(none.errors.contains("none fits its objects altogether. Name one"), "\(none.errors)")
  }

  @Test func `a required value without a column is nil, and the report says that the model requires it`()
    throws
  {
    let photos = try PhotoStore()
    defer { photos.remove() }
    let whole: String = photos.folder.appendingPathComponent("Whole.sqlite").path
    try FileManager.default.copyItem(atPath: photos.path, toPath: whole)
    try makeDatabase(photos.url, ["ALTER TABLE ZPHOTO DROP COLUMN ZNAME"])
    let out: String = photos.folder.appendingPathComponent("Out.sqlite").path
    let repair = try CommandLineRun(["check", photos.path, "--repair", out])
    #expect(
      repair.output.contains(
        "error: Photo.name became nil in all 3 objects, although the model requires it: table ZPHOTO has no column ZNAME."
      ), "\(repair.output)\(repair.errors)")
    let after = try Self.problems(try CommandLineRun(["check", out, "--json"]))
    #expect(after.count == 1 && after[0]["kind"] as? String == "required" && after[0]["count"] as? Int == 3)
    // With a model whose hashes are not the store's a missing column says nothing.
    let other: String = photos.folder.appendingPathComponent("Other.sqlite").path
    try makeDatabase(
      photos.url, ["UPDATE Z_METADATA SET Z_PLIST = 'text'", "ALTER TABLE ZPHOTO ADD COLUMN ZNAME VARCHAR"])
    try makeDatabase(photos.url, ["ALTER TABLE ZPHOTO DROP COLUMN ZNAME"])
    let refused = try CommandLineRun(["check", photos.path, "--repair", other, "--model", whole])
    #expect(refused.status == 1 && refused.output == "")
    #expect(refused.errors.contains("ZPHOTO has no column ZNAME"), "\(refused.errors)")
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
    let said: String =
      "The file is cut off: it has \(bytes.count * percent / 100) of the \(bytes.count) bytes"
    #expect(check.output.contains(said), "\(check.output)\(check.errors)")
    if percent >= 60 { #expect(repair.output.contains(said), "\(repair.output)") }
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

  @Test(arguments: [13, 16, 60, 99]) func `a file that is cut off within its header is called so`(bytes: Int)
    throws
  {
    let store = try RichStore()
    defer { store.remove() }
    try Data(contentsOf: store.url).prefix(bytes).write(to: store.url)
    let out: String = store.file("Out.sqlite").path
    for arguments in [["info"], ["check"], ["fetch"], ["check", "--repair", out]] {
      let words: [String] =
        [arguments[0], store.path] + arguments.dropFirst() + (arguments == ["fetch"] ? ["Item"] : [])
      let run = try CommandLineRun(words)
      let text: String = run.output + run.errors
      #expect(
        run.status == 1 && text.contains("The file is cut off: it has \(bytes) bytes"), "\(words): \(run)")
      #expect(text.components(separatedBy: "Restore a copy.").count == 2, "\(run)")
    }
  }

  // Finding: what SQLite reads as zeros was told as rows of the store, and not as lost.
  @Test func `rows behind the cut in a page are counted as lost, and the cut is told once`() throws {
    let folder = try TemporaryFolder()
    func clarus(_ line: String) throws -> CommandLineRun {
      try CommandLineRun(
        shell: "cd '\(folder.url.path)' && \(line.replacing("clarus ", with: "\"$CLARUS\" "))")
    }
    // The table of the entity that is added later has the last page.
    let made = try clarus(
      """
      clarus model new Shop --entity Item && clarus model add Shop.xcdatamodeld attribute Item.title String \
      && echo '{"Item": [{"title": "x"}]}' > Item.json \
      && clarus import Shop.sqlite Item.json --create --model Shop.xcdatamodeld \
      && clarus model add Shop.xcdatamodeld version && clarus model add Shop.xcdatamodeld entity Note \
      && clarus model add Shop.xcdatamodeld attribute Note.text String \
      && clarus migrate Shop.sqlite --to Shop.xcdatamodeld \
      && echo '{"Note": [{"text": "12345678901234567890"}, {"text": "2"}, {"text": "3"}, {"text": "4"}, {"text": "5"}]}' \
        > Note.json \
      && clarus import Shop.sqlite Note.json --model Shop.xcdatamodeld
      """)
    #expect(made.status == 0, "\(made)")
    let file: URL = folder.file("Shop.sqlite")
    let bytes = try Data(contentsOf: file)
    for (lacking, lost) in [(500, 5), (50, 4), (30, 2)] {
      try bytes.dropLast(lacking).write(to: file)
      let check = try clarus("clarus check Shop.sqlite --model Shop.xcdatamodeld")
      #expect(check.status == 1 && !check.output.contains("not above 0"), "\(check)")
      let repair = try clarus(
        "rm -f Out.sqlite; clarus check Shop.sqlite --model Shop.xcdatamodeld --repair Out.sqlite")
      #expect(repair.status == 1 && !repair.output.contains("not above 0"), "\(repair)")
      #expect(repair.output.components(separatedBy: "The file is cut off").count == 2, "\(repair)")
      let note: Substring? = repair.output.split(separator: "\n").first { $0.hasPrefix("Note ") }
      #expect(
        note?.split(separator: " ") == ["Note", "\(5 - lost)", "\(lost)", "or", "more"], "\(repair)")
    }
  }

  // Finding: SQLite takes a last page that is cut off for whole; copies lost what stood there, verified.
  @Test(arguments: [1, 1000])
  func `a file that lacks the end of its last page is no store to be read`(lacking: Int) throws {
    let store = try RichStore()
    // The last page has the model.
    let whole = try RichStore("Whole.sqlite")
    defer {
      store.remove()
      whole.remove()
    }
    let bytes: Data = try Data(contentsOf: store.url).dropLast(lacking)
    try bytes.write(to: store.url)
    try #"{"Tag": [{"label": "new"}]}"#.write(
      to: store.file("items.json"), atomically: true, encoding: .utf8)
    let names: [String] = store.names
    let said: String = "The file is cut off: it has \(bytes.count) of the \(bytes.count + lacking) bytes"
    for arguments in [
      ["convert", store.path, store.file("Out.sqlite").path, "--verify"],
      ["convert", store.path, store.file("Out.xml").path], ["export", store.path],
      ["import", store.path, store.file("items.json").path], ["fetch", store.path, "Item"],
    ] {
      let run = try CommandLineRun(arguments + ["--model", whole.path])
      #expect(run.status == 1 && run.errors.contains(said), "\(arguments): \(run.output)\(run.errors)")
      #expect(run.errors.contains("--repair"), "\(run.errors)")
    }
    // Without the model, which stands on the last page, the file is not opened, and was taken for whole.
    let info = try CommandLineRun(["info", store.path])
    #expect(info.errors.contains("warning: \(store.path): \(said)"), "\(info)")
    #expect(store.names == names)
    #expect(try Data(contentsOf: store.url) == bytes)
    let check = try CommandLineRun(["check", store.path, "--model", whole.path])
    #expect(check.status == 1 && check.output.contains("error: \(said)"), "\(check.output)\(check.errors)")
    let repair = try CommandLineRun([
      "check", store.path, "--model", whole.path, "--repair", store.file("New.sqlite").path,
    ])
    #expect(repair.status == 1 && repair.output.contains(said), "\(repair.output)\(repair.errors)")
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

  /// A store of 20,000 books, with each row in its table, and the numbers of the pages of that tree by kind.
  private static func bigLibrary(_ folder: URL) throws -> (url: URL, inner: [Int], root: Int) {
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
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    let root: Int = try queue.read {
      try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'ZBOOK'") ?? 0
    }
    let bytes = [UInt8](try Data(contentsOf: url))
    // Children of the root that are inner pages, or the root alone.
    let start: Int = (root - 1) * 4096
    let cells = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
    func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    let children: [Int] =
      (0..<cells).map { cell in
        let place: Int = start + 12 + 2 * cell
        return number(start + (Int(bytes[place]) << 8 | Int(bytes[place + 1])))
      } + [number(start + 8)]
    return (url, children.filter { bytes[($0 - 1) * 4096] == 5 }, root)
  }

  @Test(arguments: ["root", "inner", "log"])
  func `rows below a damaged inner page are recovered from pages that nothing refers to`(page: String) throws
  {
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let (url, inner, root): (URL, [Int], Int) = try Self.bigLibrary(folder)
    let whole: URL = folder.appendingPathComponent("Whole.sqlite")
    try FileManager.default.copyItem(at: url, to: whole)
    let number: Int = page == "root" ? root : inner.first ?? root
    var bytes = try Data(contentsOf: url)
    bytes.replaceSubrange((number - 1) * 4096..<number * 4096, with: Data(repeating: 0xFF, count: 4096))
    try bytes.write(to: url)
    if page == "log" {
      // The damage is in the file, and a newer row is in the log.
      let queue = try DatabaseQueue(path: url.path)
      try queue.writeWithoutTransaction { database in
        _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
        try database.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 20001 WHERE Z_NAME = 'Book'")
        for end in ["", "-wal"] {
          try FileManager.default.copyItem(
            atPath: url.path + end, toPath: folder.appendingPathComponent("Copy.sqlite").path + end)
        }
      }
      try queue.close()
    }
    let damaged: String = page == "log" ? folder.appendingPathComponent("Copy.sqlite").path : url.path
    let before = try Data(contentsOf: URL(fileURLWithPath: damaged))
    let out: String = folder.appendingPathComponent("Out.sqlite").path
    let repair = try CommandLineRun(["check", damaged, "--repair", out])
    #expect(repair.status == 1 && repair.errors == "", "\(repair.errors)")
    #expect(
      repair.output.contains(
        "error: 1 page of the table ZBOOK can't be read. The rows that may have been there"),
      "\(repair.output.prefix(3000))")
    #expect(
      repair.output.contains(" rows of the table ZBOOK were recovered from "), "\(repair.output.prefix(3000))"
    )
    #expect(repair.output.contains("0 or more"))
    #expect(!repair.output.contains("nothing was lost"))
    let json = try CommandLineRun(["check", damaged, "--repair", out + "2.sqlite", "--json"])
    let report = try #require(try json.json() as? [String: Any])
    let table = try #require((report["damagedTables"] as? [[String: Any]])?.first)
    #expect(table["entity"] as? String == "Book" && table["unreadablePages"] as? Int == 1)
    #expect((table["recoveredRows"] as? Int ?? 0) > 5000)
    #expect((table["recoveredKeys"] as? [Int])?.count == table["recoveredRows"] as? Int)
    // Nothing but the page above them was damaged, so every row is there with every value.
    let diff = try CommandLineRun(["diff", whole.path, out])
    #expect(diff.status == 0, "\(diff.output.prefix(2000))\(diff.errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: damaged)) == before)
  }

  @Test func `rows that were deleted do not come back by a repair`() throws {
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let (url, inner, root): (URL, [Int], Int) = try Self.bigLibrary(folder)
    try makeDatabase(
      url,
      ["DELETE FROM ZBOOK WHERE Z_PK BETWEEN 5000 AND 15000", "UPDATE ZBOOK SET Z_OPT = 7 WHERE Z_PK < 4000"])
    let whole: URL = folder.appendingPathComponent("Whole.sqlite")
    try FileManager.default.copyItem(at: url, to: whole)
    var bytes = try Data(contentsOf: url)
    for number in inner.isEmpty ? [root] : inner where bytes[(number - 1) * 4096] == 5 {
      bytes.replaceSubrange((number - 1) * 4096..<number * 4096, with: Data(repeating: 0, count: 4096))
    }
    try bytes.write(to: url)
    let out: String = folder.appendingPathComponent("Out.sqlite").path
    let repair = try CommandLineRun(["check", url.path, "--repair", out])
    #expect(repair.status == 1 && repair.errors == "", "\(repair.errors)")
    let diff = try CommandLineRun(["diff", whole.path, out])
    #expect(diff.status == 0, "\(diff.output.prefix(2000))\(diff.errors)")
  }

  @Test(arguments: 0..<12)
  func `a damaged inner page and wrong bytes on every page are repaired without a crash`(seed: Int) throws {
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let (url, inner, root): (URL, [Int], Int) = try Self.bigLibrary(folder)
    var bytes = [UInt8](try Data(contentsOf: url))
    var random = SeededRandom(seed: UInt64(seed) &* 104_729)
    for page in inner.prefix(1) + [root] { bytes[(page - 1) * 4096] = 0xFF }
    // Not the first pages, which have the schema, metadata and model: without these nothing is opened.
    let schemaEnd: Int = (root - 1) * 4096 + 1
    for _ in 0..<(bytes.count / 2048) {
      let place = Int(random.next() % UInt64(bytes.count - schemaEnd)) + schemaEnd
      // Headers and lists of cells are hit as often as all the rest.
      let target: Int = random.next() % 2 == 0 ? place / 4096 * 4096 + place % 64 : place
      if target >= schemaEnd { bytes[target] = UInt8(truncatingIfNeeded: random.next()) }
    }
    try Data(bytes).write(to: url)
    let out: URL = folder.appendingPathComponent("Out.sqlite")
    let repair = try CommandLineRun(["check", url.path, "--repair", out.path])
    #expect(repair.status == 1, "seed \(seed): \(repair.status) \(repair.errors)")
    #expect(repair.errors.split(separator: "\n").count <= 1, "seed \(seed): \(repair.errors)")
    if FileManager.default.fileExists(atPath: out.path) {
      let check = try CommandLineRun(["check", out.path])
      #expect(check.errors == "", "seed \(seed): \(check.errors)")
      #expect(repair.output.contains("ZBOOK can't be read"), "seed \(seed)")
    }
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
