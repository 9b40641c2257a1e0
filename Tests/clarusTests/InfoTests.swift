import Foundation
import TestSupport
import Testing

@Suite struct InfoTests {
  @Test func `info counts own rows and describes properties`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    let before = try FolderState(store.folder)
    let run = try CommandLineRun(["info", store.path, "--json"])
    #expect(run.status == 0)
    #expect(run.errors == "")
    #expect(try FolderState(store.folder) == before)
    let root = try #require(try run.json() as? [String: Any])
    let entities = try #require(root["entities"] as? [[String: Any]])
    let counts: [String: Int] = Dictionary(
      uniqueKeysWithValues: entities.map { ($0["name"] as? String ?? "", $0["count"] as? Int ?? -1) })
    #expect(
      counts == [
        "Album": 0, "Animal": 0, "Cat": 1, "HouseCat": 1, "Dog": 0, "Category": 2, "Everything": 2, "Item": 3,
        "Note": 0, "Person": 0, "Playlist": 0, "Tag": 2, "Track": 0,
      ])
    let item = try #require(entities.first { $0["name"] as? String == "Item" })
    let attributes = try #require(item["attributes"] as? [[String: Any]])
    #expect(attributes.map { $0["name"] as? String } == ["due", "isDone", "price", "priority", "title"])
    #expect(
      attributes.map { $0["type"] as? String } == ["Date", "Boolean", "Double", "Integer 16", "String"])
    let relationships = try #require(item["relationships"] as? [[String: Any]])
    #expect(relationships.map { $0["name"] as? String } == ["category", "tags"])
    #expect(relationships.map { $0["destination"] as? String } == ["Category", "Tag"])
    #expect(relationships.map { $0["toMany"] as? Bool } == [false, true])
    #expect(relationships.map { $0["inverse"] as? String } == ["items", "items"])
    #expect(relationships.map { $0["deleteRule"] as? String } == ["Nullify", "Nullify"])
    let file = try #require(root["store"] as? [String: Any])
    #expect(file["uuid"] as? String == store.uuid)
    #expect(file["type"] as? String == "SQLite")
    #expect((root["model"] as? [String: Any])?["source"] as? String == "store")
    #expect((root["metadata"] as? [String: Any])?["NSStoreUUID"] as? String == store.uuid)
  }

  // Finding: the error told the entities, and not what to do.
  @Test(arguments: ["sqlite", "xml", "binary"])
  func `a model that does not fit is told with its entities and the cure, by every command`(kind: String)
    throws
  {
    let folder = try TemporaryFolder()
    try folder.writeShop("1", #"<attribute name="title" attributeType="String"/>"#)
    try folder.writeShop("2", #"<attribute name="title" optional="YES" attributeType="String"/>"#)
    let model: String = folder.file("Shop.xcdatamodeld").path
    let (store, items): (String, String) = (folder.file("Shop.\(kind)").path, folder.file("items.json").path)
    try Data(#"{"Item": [{"title": "axe"}]}"#.utf8).write(to: URL(fileURLWithPath: items))
    let made = try CommandLineRun([
      "import", store, items, "--create", "--model", "\(model)/1.xcdatamodel",
    ])
    #expect(made.status == 0, "\(made)")
    let library: String =
      CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores/Library.sqlite").path
    let ownCure: String =
      kind == "sqlite"
      ? "The store carries its own model: leave --model out" : "carry no model: name the one that it was"
    let commands: [(String, [String])] = [
      ("info", []), ("check", []), ("fetch", ["Item"]), ("export", []), ("show", ["Item/p1"]),
      ("convert", [folder.file("Out.xml").path]), ("import", [items]),
    ]
    for (command, more) in commands {
      for (choice, says) in [
        ([library], ["Only in the store: Item.", "Only in the model: AudioBook, Author", ownCure]),
        (
          [model, "--model-version", "2"],
          ["Entities that differ: Item.", "Its version '1' fits: name that"]
        ),
        (["\(model)/2.xcdatamodel"], ["Its version '1' fits: give --model \(model)."]),
      ] {
        // Each process takes a while, and a check accepts what has the structure of the file.
        if command != "info", choice != [library] { continue }
        let run = try CommandLineRun([command, store] + more + ["--model"] + choice)
        #expect(run.status == 1, "\(run)")
        for words in says { #expect((run.errors + run.output).contains(words), "\(command): \(run)") }
      }
    }
  }

  @Test func `info for people names entities, properties and metadata`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    let run = try store.run(["info", "STORE"])
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("Store     STORE\nType      SQLite, write-ahead log"))
    #expect(run.output.contains("\nModel     carried by the store\nContent   13 entities, 11 rows\n"))
    let category: String = """

      Category (2 rows)
        Property  Type        Remarks
        ────────  ──────────  ────────────────────────────────────────────
        name      String
        rank      Integer 32
        items     → Item      to-many, inverse category, on delete Nullify
        unique: name

      """
    #expect(run.output.contains(category))
    #expect(run.output.contains("HouseCat (1 row, a kind of Cat)\n"))
    #expect(run.output.contains("Animal (0 rows, abstract)\n"))
    #expect(run.output.contains("\n  unique: name\n"))
    #expect(run.output.contains("items     → Item"))
  }

  @Test func `a store's model shows, hashes and checks`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    let show = try CommandLineRun(["model", "show", store.path, "--json"])
    #expect(show.status == 0)
    let entities = try #require((try show.json() as? [String: Any])?["entities"] as? [[String: Any]])
    #expect(entities.count == 13)
    let hash = try CommandLineRun(["model", "hash", store.path, "--json"])
    let hashes = try #require(try hash.json() as? [String: String])
    #expect(hashes.count == 13)
    #expect(hashes.values.allSatisfy { $0.count == 64 && $0.allSatisfy(\.isHexDigit) })
    // The hashes are those the store records.
    let info = try CommandLineRun(["info", store.path, "--json"])
    let metadata = (try info.json() as? [String: Any])?["metadata"] as? [String: Any]
    let recorded = try #require(metadata?["NSStoreModelVersionHashes"] as? [String: String])
    for (name, text) in recorded {
      let hex: String = (Data(base64Encoded: text) ?? Data()).map { String(format: "%02x", $0) }.joined()
      #expect(hashes[name] == hex)
    }
    let lint = try CommandLineRun(["model", "lint", store.path, "--json"])
    #expect(lint.status == 0)
    #expect((try lint.json() as? [String: Any])?["problems"] is [Any])
  }
}
