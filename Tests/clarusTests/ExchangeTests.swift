import CoreDataStorage
import Foundation
import GRDB
import StoreConformance
import TestSupport
import Testing

/// `clarus export` and `clarus import`
@Suite struct ExchangeTests {
  /// The match keys of the rich store's entities.
  private static let keys: [String] = [
    "Item=title", "Tag=label", "Album=name", "Track=name", "Playlist=name", "Person=name", "Note=text",
    "Animal=name", "Everything=int64,double", "unique",
  ]

  @Test func `an export makes an equal store again`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let file: String = store.file("rich.json").path
    let before = try Data(contentsOf: store.url)
    #expect(try CommandLineRun(["export", store.path, "--out", file]).status == 0)
    #expect(try Data(contentsOf: store.url) == before)
    let new: String = store.file("New.sqlite").path
    let run = try CommandLineRun(["import", new, file, "--create", "--model", store.path])
    #expect(run.status == 0, "\(run.errors)")
    let diff = try CommandLineRun(["diff", store.path, new])
    #expect(
      (diff.output, diff.status) == ("The stores are equal: 29 objects compared.\n", 0), "\(diff.output)")
    // The export of the new store has the same objects.
    let first =
      try JSONSerialization.jsonObject(with: Data(contentsOf: store.file("rich.json"))) as? [String: Any]
    let again = try CommandLineRun(["export", new])
    let second = try again.json() as? [String: Any]
    #expect(
      NSArray(array: first?["objects"] as? [Any] ?? []) == NSArray(array: second?["objects"] as? [Any] ?? [1])
    )
    #expect(store.names == ["New.sqlite", "Rich.sqlite", "rich.json"])
    #expect(try CommandLineRun(["check", new]).status == 0)
  }

  @Test(arguments: [
    ("Item.csv", "name,home\na,Main St\n"), ("items.json", #"{"Item": [{"home": {"street": "x"}}]}"#),
  ])
  func `a composite attribute is imported by its elements, which the error of its name lists`(
    name: String, text: String
  ) throws {
    let folder = try TemporaryFolder()
    func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }
    let model: URL = folder.file("Shop.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Item" representedClassName="Item" syncable="YES">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="home" optional="YES" attributeType="Composite" composite="Address"/>
      </entity>
      <composite name="Address">
        <attribute name="street" optional="YES" attributeType="String"/>
        <attribute name="zip" optional="YES" attributeType="Integer 32"/>
      </composite>
    </model>
    """.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    func load(_ name: String, _ text: String) throws -> CommandLineRun {
      try text.write(toFile: path(name), atomically: true, encoding: .utf8)
      return try CommandLineRun([
        "import", path("s.sqlite"), path(name), "--entity", "Item", "--create", "--model", model.path,
      ])
    }
    let refused = try load(name, text)
    #expect(refused.status == 1)
    #expect(
      refused.errors.contains(
        "Item.home is a composite attribute: name its elements in its place, home.street, home.zip."),
      "\(refused.errors)")
    let done = try load("Item.csv", "name,home.street,home.zip\na,Main St,12\n")
    #expect(done.status == 0, "\(done.errors)")
    let rows = try CommandLineRun(
      ["fetch", path("s.sqlite"), "Item", "--columns", "home.street,home.zip", "--format", "csv"])
    #expect(rows.output.contains("Main St,12"), "\(rows.output)\(rows.errors)")
  }

  /// The command has neither the classes nor the transformers of the program.
  @Test(arguments: ["Shop.sqlite", "Shop.xml", "Shop.bin"])
  func `a new store has the model that was given, with its classes and transformers, and can be migrated`(
    name: String
  ) throws {
    let folder = try TemporaryFolder()
    func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }
    let (model, store, file) = (path("Shop.xcdatamodeld"), path(name), path("items.json"))
    func run(_ arguments: String...) throws -> CommandLineRun {
      let run = try CommandLineRun(arguments)
      #expect(run.status == 0, "\(arguments): \(run.errors)\(run.output)")
      return run
    }
    _ = try run("model", "new", path("Shop"), "--entity", "Item")
    _ = try run(
      "model", "add", model, "attribute", "Item.tags", "Transformable", "--transformer", "ShopTransformer")
    _ = try run("model", "add", model, "attribute", "Item.parts", "Transformable")
    // Binary stores have what the archive holds, others its bytes.
    let archive: Data = try NSKeyedArchiver.archivedData(
      withRootObject: ["wheel"] as NSArray, requiringSecureCoding: true)
    try #"[{"tags": "YWJj", "parts": "\#(archive.base64EncodedString())"}]"#.write(
      toFile: file, atomically: true, encoding: .utf8)
    _ = try run("import", store, file, "--entity", "Item", "--create", "--model", model)
    if name.hasSuffix(".sqlite") { _ = try run("model", "diff", store, model) }
    _ = try run("model", "add", model, "version")
    _ = try run("model", "add", model, "attribute", "Item.title", "String", "--required", "--default", "new")
    _ = try run("migrate", store, "--to", model, "--verify")
    let export = try run("export", store, "--model", model).json() as? [String: Any]
    let item = try #require((export?["objects"] as? [[String: Any]])?.first)
    #expect(item["tags"] as? String == "YWJj" && item["title"] as? String == "new", "\(item)")
    let parts = try #require(Data(base64Encoded: item["parts"] as? String ?? ""))
    let read = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [NSArray.self, NSString.self], from: parts)
    #expect(read as? [String] == ["wheel"])
  }

  @Test func `an export changes nothing in the store that it came from`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let file: String = store.file("rich.json").path
    #expect(try CommandLineRun(["export", store.path, "--out", file]).status == 0)
    for match in [["--match", "id"], Self.keys.flatMap { ["--match", $0] }] {
      let run = try CommandLineRun(["import", store.path, file, "--json"] + match)
      #expect(run.status == 0, "\(run.errors)")
      let entities = try #require((try run.json() as? [String: Any])?["entities"] as? [[String: Any]])
      #expect(
        entities.allSatisfy { $0["inserted"] as? Int == 0 && $0["updated"] as? Int == 0 }, "\(run.output)")
    }
  }

  @Test func `values with lines, quotes and empty texts come through CSV`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let folder: String = store.file("csv").path
    #expect(try CommandLineRun(["export", store.path, "--format", "csv", "--out", folder]).status == 0)
    for (entity, key) in [("Everything", "int64,double"), ("Tag", "label")] {
      let run = try CommandLineRun(
        [
          "import", store.path, "\(folder)/\(entity).csv", "--match", "\(entity)=\(key)", "--match",
          "Item=title",
          "--match", "id", "--dry-run", "--json",
        ])
      #expect(run.status == 0, "\(run.errors)")
      let entities = try #require((try run.json() as? [String: Any])?["entities"] as? [[String: Any]])
      #expect(entities.count == 1)
      #expect(entities.first?["unchanged"] as? Int == 3, "\(run.output)")
    }
  }

  @Test(arguments: ["sqlite", "xml", "binary"])
  func `a folder of CSV files makes an equal store again`(kind: String) throws {
    let rich = try RichStore()
    defer { rich.remove() }
    let store: String = rich.file("Source.\(kind)").path
    let (folder, new): (String, String) = (rich.file("csv").path, rich.file("New.\(kind)").path)
    for arguments in [
      ["convert", rich.path, store], ["export", store, "--format", "csv", "--out", folder],
      ["import", new, folder, "--create"], ["diff", store, new], ["check", new],
    ] {
      let run = try CommandLineRun(arguments + ["--model", rich.path])
      #expect(run.status == 0, "\(arguments): \(run.errors)\(run.output)")
    }
    // All of it is there already.
    let again = try CommandLineRun([
      "import", new, folder + "/", "--match", "id", "--json", "--model", rich.path,
    ])
    let entities = (try again.json() as? [String: Any])?["entities"] as? [[String: Any]] ?? []
    #expect(!entities.isEmpty && again.status == 0, "\(again.errors)")
    #expect(
      entities.allSatisfy { $0["inserted"] as? Int == 0 && $0["updated"] as? Int == 0 }, "\(again.output)")
  }

  @Test func `errors in a folder of CSV files name the file, and what a folder takes`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let folder: String = store.file("csv").path
    #expect(try CommandLineRun(["export", store.path, "--format", "csv", "--out", folder]).status == 0)
    func refused(_ more: [String], _ says: [String], _ folder: String) throws {
      let before = try FolderState(store.folder)
      let run = try CommandLineRun(
        ["import", store.file("New.sqlite").path, folder, "--create", "--model", store.path] + more)
      #expect(run.status == 1 && run.output == "", "\(run.output)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      for text in says { #expect(run.errors.contains(text), "\(run.errors)") }
      #expect(try FolderState(store.folder) == before)
    }
    try refused(["--format", "json"], [folder, "one file with the JSON"], folder)
    try refused(["--entity", "Item"], [folder, "--entity goes with one file"], folder)
    try refused([], [store.folder.path, "no CSV file"], store.folder.path)
    let item: String = folder + "/Item.csv"
    let text = try String(contentsOfFile: item, encoding: .utf8)
    try text.replacingOccurrences(of: "Category/p1", with: "Category/p9")
      .write(toFile: item, atomically: true, encoding: .utf8)
    try refused([], ["\(item):2:", "Item.category", "Category/p9"], folder)
    try text.write(toFile: item, atomically: true, encoding: .utf8)
    try "$id,label\r\nItem/p1,x\r\n".write(toFile: folder + "/Tag.csv", atomically: true, encoding: .utf8)
    try refused([], ["/Tag.csv:2:1: ", "Item/p1", "twice"], folder)
    try FileManager.default.moveItem(atPath: item, toPath: folder + "/Thing.csv")
    try "title\r\nx\r\n".write(toFile: folder + "/Thing.csv", atomically: true, encoding: .utf8)
    try "$id,label\r\nTag/p1,x\r\n".write(toFile: folder + "/Tag.csv", atomically: true, encoding: .utf8)
    try refused([], ["/Thing.csv:2:1: ", "no entity \"Thing\""], folder)
  }

  @Test func `records change what they match and make the others`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let file: URL = store.file("items.csv")
    let text: String =
      "title,price,category.name,tags\nitem 1,9.5,tools,a b\nnew,,fruit,\nitem 0,0.1,fruit,\n"
    try Data(text.utf8).write(to: file)
    let arguments: [String] = [
      "import", store.path, file.path, "--entity", "Item", "--match", "Item=title", "--match", "Tag=label",
    ]
    let before = try Data(contentsOf: store.url)
    let dry = try CommandLineRun(arguments + ["--dry-run"])
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(dry.output.contains("Item           1        1          1"), "\(dry.output)")
    #expect(dry.output.hasSuffix("Nothing was written: this was a dry run.\n"))
    #expect(try Data(contentsOf: store.url) == before)
    let run = try CommandLineRun(arguments)
    #expect(run.status == 0, "\(run.errors)")
    let show = try CommandLineRun([
      "fetch", store.path, "Item", "--where", "title IN {'item 1', 'new'}", "--columns",
      "title,price,category.name,tags",
      "--members", "--sort", "title", "--format", "csv",
    ])
    #expect(show.output.contains("item 1,9.5,tools,"), "\(show.output)")
    #expect(show.output.contains("/Tag/p1 x-coredata://"))
    #expect(show.output.contains("\nnew,,fruit,"))
    #expect(try CommandLineRun(["check", store.path]).status == 0)
  }

  @Test func `a predicate chooses the object that a record changes`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let file: URL = store.file("items.json")
    try Data("[{\"title\": \"ITEM 2\", \"price\": 7}, {\"title\": \"other\", \"price\": 8}]".utf8).write(
      to: file)
    let arguments: [String] = ["import", store.path, file.path, "--entity", "Item", "--match-where"]
    let run = try CommandLineRun(arguments + ["title ==[c] $title AND priority < 5", "--json"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("\"inserted\": 1, \"updated\": 1, \"unchanged\": 0"), "\(run.output)")
    let show = try CommandLineRun([
      "fetch", store.path, "Item", "--id", "p3", "--columns", "title,price", "--format", "csv",
    ])
    #expect(show.output == "title,price\r\nITEM 2,7\r\n")
    for (predicate, says) in [
      ("title == $titel", "$titel is no stored attribute of Item. Did you mean \"title\"?"),
      ("title ==", "--match-where: "),
      ("priority < $priority", "has no \"priority\""),
    ] {
      let run = try CommandLineRun(arguments + [predicate])
      #expect(run.status == 1)
      #expect(run.errors.contains(says), "\(run.errors)")
    }
  }

  @Test func `objects of JSON name each other by ids, keys and lists`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let file: URL = store.file("more.json")
    let text: String = """
      { "Album": [{"$id": "x", "name": "second", "tracks": ["b", "a"]}],
        "Track": [{"$id": "a", "name": "A"}, {"$id": "b", "name": "B", "playlists": [{"name": "mine"}]}],
        "Item": [{"title": "item 6", "category": "tools"}] }
      """
    try Data(text.utf8).write(to: file)
    let run = try CommandLineRun(
      [
        "import", store.path, file.path, "--match", "Item=title", "--match", "Category=name", "--match",
        "Playlist=name",
        "--json",
      ])
    #expect(run.status == 0, "\(run.errors)")
    let show = try CommandLineRun(["show", store.path, "Album/p2"])
    #expect(show.output.contains("Track/p7  B\n") && show.output.contains("Track/p6  A\n"), "\(show.output)")
    let b = try #require(show.output.range(of: "  B\n"))
    let a = try #require(show.output.range(of: "  A\n"))
    #expect(b.lowerBound < a.lowerBound)
    #expect(try CommandLineRun(["check", store.path]).status == 0)
  }

  @Test func `SQL makes a table for each entity and one for pairs`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let run = try CommandLineRun(["export", store.path, "--format", "sql"])
    #expect(run.status == 0, "\(run.errors)")
    let database = try DatabaseQueue()
    try database.write { try $0.execute(sql: run.output) }
    let values: [String] = try database.read { database in
      try [
        "SELECT count(*) FROM Item", "SELECT title FROM Item WHERE id = 3",
        "SELECT group_concat(m.name) FROM (SELECT t.name FROM Album_tracks p JOIN Track t ON t.id = p.member "
          + "WHERE p.owner = 1 ORDER BY p.position) m",
        "SELECT hex(data) FROM Everything WHERE id = 2", "SELECT uuid FROM Everything WHERE id = 1",
        "SELECT date FROM Everything WHERE id = 1", "SELECT label FROM Tag WHERE id = 3",
      ].map { try String.fetchOne(database, sql: $0) ?? "nil" }
    }
    #expect(
      values == [
        "7", "item 2", "track 3,track 1,track 4,track 0,track 2", "", "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "2000-12-31 23:59:59.000000", "\"c\",\n; d",
      ])
  }

  @Test func `views show the tables of a copy with the names of the model`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let run = try CommandLineRun(["export", store.path, "--format", "sqlite-views"])
    #expect(run.status == 0, "\(run.errors)")
    let copy: URL = store.file("Copy.sqlite")
    try FileManager.default.copyItem(at: store.url, to: copy)
    let database = try DatabaseQueue(path: copy.path)
    try database.write { try $0.execute(sql: run.output) }
    let values: [String] = try database.read { database in
      try [
        "SELECT c.name FROM Item i JOIN Category c ON c.id = i.category WHERE i.title = 'item 1'",
        "SELECT group_concat(name) FROM (SELECT name FROM Animal ORDER BY name)", "SELECT count(*) FROM Cat",
        "SELECT count(*) FROM Item_tags", "SELECT date FROM Everything WHERE id = 1",
      ].map { try String.fetchOne(database, sql: $0) ?? "nil" }
    }
    try database.close()
    #expect(values == ["tools", "Kit,Rex", "1", "9", "2000-12-31 23:59:59"])
    let document: String = store.file("x.xml").path
    #expect(try CommandLineRun(["convert", store.path, document]).status == 0)
    let other = try CommandLineRun(["export", document, "--format", "sqlite-views", "--model", store.path])
    #expect(other.status == 1)
    #expect(other.errors.contains("have no tables"), "\(other.errors)")
  }

  /// A file that is refused, with the place and the reason.
  struct Refusal: Sendable, CustomTestStringConvertible {
    var name: String
    var text: String
    var more: [String] = []
    var says: String
    var testDescription: String { says }
  }

  static let refusals: [Refusal] = [
    Refusal(
      name: "x.json", text: "[{\"title\": \"a\",\n  \"price\": \"dear\"}]",
      says: "x.json:2:12: Item.price takes a number up to 1.8e308, and there is the text \"dear\"."),
    Refusal(
      name: "x.json", text: "[{\"titel\": \"a\"}]",
      says: "x.json:1:3: Item has no property \"titel\". Did you mean \"title\"?"),
    Refusal(name: "x.json", text: "[{\"title\": \"a\"}", says: "x.json:1:16: Here a comma or ] is expected."),
    Refusal(
      name: "x.json", text: "[{\"priority\": 99999}]",
      says: "x.json:1:15: Item.priority takes a whole number from -32768 to 32767"),
    Refusal(
      name: "x.json", text: "[{\"category\": \"fruit\"}]",
      says: "x.json:1:15: Item.category: the text \"fruit\" is the id of no record."),
    Refusal(
      name: "x.json", text: "[{\"category\": \"Category/p1\"}]",
      says:
        "record. To name objects of the store by their ids pass --match id, or by their values give their key"
    ),
    Refusal(
      name: "x.json", text: "[{\"category\": [\"a\"]}]",
      says: "x.json:1:15: Item.category takes one Category here, and there is a list."),
    Refusal(
      name: "x.json", text: "[{\"$id\": 5}]",
      says: "x.json:1:10: \"$id\" takes text such as Item/p1, and there is the number 5."),
    Refusal(
      name: "x.json", text: "[{\"category\": \"meat\"}]", more: ["--match", "Category=name"],
      says: "x.json:1:15: Item.category: There is no Category whose name is the text \"meat\""),
    Refusal(
      name: "x.json", text: "[{\"price\": 1e400}]",
      says: "x.json:1:12: Item.price takes a number up to 1.8e308, and there is the number 1e400."),
    Refusal(
      name: "x.json", text: "[{\"$entity\": \"Everything\", \"float\": 1e39}]",
      says: "x.json:1:37: Everything.float takes a number up to 3.4e38"),
    Refusal(
      name: "x.json", text: "[{\"due\": 1e400}]", says: "x.json:1:10: Item.due takes a date"),
    Refusal(
      name: "x.json", text: "[{\"$kind\": \"Item\"}]",
      says: "x.json:1:3: The key \"$kind\" has no meaning here; those with $ are $id and $entity."),
    Refusal(
      name: "x.json", text: "[{\"$id\": \"x-coredata://0F1E/Item/p1\"}]",
      says: "x.json:1:10: x-coredata://0F1E/Item/p1 is the id of an object in another store"),
    Refusal(
      name: "x.json", text: "[{\"category\": \"x-coredata://0F1E/Category/p1\"}]", more: ["--match", "id"],
      says: "x.json:1:15: x-coredata://0F1E/Category/p1 is the id of an object in another store"),
    Refusal(
      name: "x.json", text: "[{\"$entity\": \"Itm\"}]", says: "x.json:1:2: There is no entity \"Itm\"."),
    Refusal(
      name: "x.json", text: "[{\"title\": \"a\"}, {\"title\": \"a\"}]", more: ["--match", "Item=title"],
      says: "x.json:1:18: The object has the same title as the one in line 1."),
    Refusal(
      name: "x.json", text: "[{\"price\": 1}]", more: ["--match", "Item=title"],
      says: "x.json:1:2: The object has no \"title\""),
    // Finding: objects of entities without a constraint were inserted again and again.
    Refusal(
      name: "x.json", text: "[{\"$entity\": \"Category\", \"name\": \"new\"},\n{\"title\": \"a\"}]",
      more: ["--match", "unique"],
      says:
        "x.json:2:1: Item has no uniqueness constraint of attributes, so that --match unique finds no object of it"
    ),
    Refusal(
      name: "x.json", text: "[{\"title\": \"a\", \"title\": \"b\"}]",
      says: "x.json:1:17: The name \"title\" is there twice."),
    Refusal(
      name: "x.json",
      text: """
        [{"$entity": "Category", "$id": "a", "items": ["x"]},
         {"$entity": "Category", "$id": "b", "items": ["x"]}, {"$id": "x"}]
        """,
      says:
        "x.json:2:48: Item.category of one object is told twice: here, and otherwise at line 1, column 48."),
    Refusal(
      name: "x.json",
      text: "[{\"$entity\": \"Category\", \"items\": [\"x\"]},\n{\"$id\": \"x\", \"category\": null}]",
      says: "Item.category of one object is told twice: here, and otherwise at line 1, column 36"),
    Refusal(name: "x.json", text: "[01]", says: "x.json:1:2: 01 is no number of JSON."),
    Refusal(
      name: "x.json", text: String(repeating: "[", count: 100_000),
      says: "The document nests deeper than 200 levels."),
    Refusal(name: "x.json", text: "", says: "x.json:1:1: The document ends where a value is expected."),
    Refusal(
      name: "x.csv", text: "title,price\na,1,2\n",
      says: "x.csv:2:1: The line has 3 fields, and the first one 2."),
    Refusal(name: "x.csv", text: "title,price\n\"a\nb\",x\n", says: "x.csv:3:4: Item.price takes a number"),
    Refusal(name: "x.csv", text: "title\n\"a", says: "x.csv:2:1: The quotation mark is never closed."),
    Refusal(name: "x.csv", text: "title,title\n", says: "x.csv:1:7: The name \"title\" is there twice."),
    Refusal(name: "x.csv", text: "", says: "x.csv:1:1: The file is empty"),
  ]

  @Test(arguments: refusals)
  func `a file with a mistake is refused with its place, and nothing is written`(refusal: Refusal) throws {
    let store = try RichStore()
    defer { store.remove() }
    let file: URL = store.file(refusal.name)
    try Data(refusal.text.utf8).write(to: file)
    let run = try CommandLineRun(["import", store.path, file.path, "--entity", "Item"] + refusal.more)
    #expect(run.status == 1)
    #expect(run.output == "")
    #expect(run.errors.contains(refusal.says), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
    let count = try CommandLineRun(["fetch", store.path, "Item", "--count", "--json"])
    #expect(count.output.contains("\"count\": 7"))
  }

  @Test func `an import into a store that another program keeps locked says so in one line, with advice`()
    throws
  {
    let store = try RichStore()
    defer { store.remove() }
    try #"{"Tag": [{"label": "new"}]}"#.write(
      to: store.file("tags.json"), atomically: true, encoding: .utf8)
    let writer = try DatabaseQueue(path: store.path)
    try writer.writeWithoutTransaction { database in
      try database.inTransaction(.immediate) {
        let run = try CommandLineRun(["import", store.path, store.file("tags.json").path])
        #expect(run.status == 1 && run.output == "")
        #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
        for text in [store.path, "database is locked", "Close it or let it finish, then try again."] {
          #expect(run.errors.contains(text), "\(run.errors)")
        }
        #expect(!run.errors.contains("TRANSACTION"), "\(run.errors)")
        return .rollback
      }
    }
    try writer.close()
  }

  @Test(arguments: ["sqlite", "xml", "binary"], [false, true])
  func `what a save refuses leaves the store as it was`(kind: String, isDry: Bool) throws {
    let store = try RichStore()
    defer { store.remove() }
    let path: String = store.file("Other.\(kind)").path
    let made = try CommandLineRun(["convert", store.path, path, "--to", kind])
    #expect(made.status == 0, "\(made.errors)")
    let before: [String] = store.names
    let file: URL = store.file("x.json")
    for (text, says) in [
      (
        "[{\"name\": \"new\"},\n {\"name\": \"fruit\"}]",
        "x.json:2:2: An object of the store has the same name"
      ),
      ("[{\"name\": \"new\"},\n {\"name\": \"new\"}]", "x.json:2:2: The object in line 1 has the same name"),
    ] {
      try Data(text.utf8).write(to: file)
      let run = try CommandLineRun(
        ["import", path, file.path, "--entity", "Category", "--model", store.path]
          + (isDry ? ["--dry-run"] : []))
      #expect(run.status == 1)
      #expect(run.errors.contains(says), "\(run.errors)")
      #expect(run.errors.contains("--match unique"), "\(run.errors)")
    }
    try FileManager.default.removeItem(at: file)
    #expect(store.names == before)
    let count = try CommandLineRun(["fetch", path, "Category", "--model", store.path, "--count", "--json"])
    #expect(count.output.contains("\"count\": 2"))
  }

  @Test(arguments: ["sqlite", "xml", "binary"])
  func `a dry run of a large value leaves every file as it was`(kind: String) throws {
    let store = try PhotoStore()
    defer { store.remove() }
    let path: String = store.folder.appendingPathComponent("Other.\(kind)").path
    let made = try CommandLineRun(["convert", store.path, path, "--to", kind])
    #expect(made.status == 0, "\(made.errors)")
    let image: String = Data(repeating: 7, count: 150_000).base64EncodedString()
    let file: String = store.folder.appendingPathComponent("x.json").path
    try #"[{"name": "new", "image": "\#(image)"}]"#.write(toFile: file, atomically: true, encoding: .utf8)
    func files() -> [String: Data] {
      var found: [String: Data] = [:]
      let names: FileManager.DirectoryEnumerator? = FileManager.default.enumerator(atPath: store.folder.path)
      while let name = names?.nextObject() {
        let path: String = store.folder.appendingPathComponent("\(name)").path
        found["\(name)"] = FileManager.default.contents(atPath: path) ?? Data()
      }
      return found
    }
    let before: [String: Data] = files()
    let arguments: [String] = [
      "import", path, file, "--entity", "Photo", "--model", store.path, "--json",
    ]
    let dry = try CommandLineRun(arguments + ["--dry-run"])
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(
      dry.output.contains("\"inserted\": 1") && dry.output.contains("\"saved\": false"), "\(dry.output)")
    #expect(files() == before)
    let run = try CommandLineRun(arguments)
    #expect(run.status == 0 && run.output.contains("\"saved\": true"), "\(run.errors)")
    #expect(files() != before)
  }

  @Test func `no store is made where one is expected, and none is replaced`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let file: URL = store.file("x.json")
    try Data("[]".utf8).write(to: file)
    let before: [String] = store.names
    for arguments in [
      ["import", store.file("none.sqlite").path, file.path],
      ["import", store.path, file.path, "--create", "--model", store.path],
      ["import", store.path, store.folder.path], ["import", store.path, store.file("none.json").path],
      ["export", store.path, "--out", file.path], ["export", store.file("none.sqlite").path],
    ] {
      let run = try CommandLineRun(arguments)
      #expect(run.status == 1, "\(arguments)")
      #expect(
        run.errors.hasPrefix("clarus: ") && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      #expect(store.names == before)
    }
  }

  @Test func `an import into a store that is not there names the option that makes one`() throws {
    let folder = try TemporaryFolder()
    try #"{"Item": []}"#.write(to: folder.file("items.json"), atomically: true, encoding: .utf8)
    let run = try CommandLineRun(["import", folder.file("New.sqlite").path, folder.file("items.json").path])
    #expect(
      run.status == 1 && run.errors.contains("There is no such file. With --create a new store is made"),
      "\(run)")
  }
}
