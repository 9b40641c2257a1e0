import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

/// `clarus check` of stores whose rows are whole, or mostly: damaged and stale R-trees, damaged hashes,
/// tables without keys.
@Suite struct CheckTreesTests {
  private func check(_ store: PlaceStore, _ more: [String] = []) throws -> CommandLineRun {
    try CommandLineRun(["check", store.path] + more)
  }

  /// Repairs a store into one that is sound.
  private func repair(_ store: PlaceStore, _ more: [String] = []) throws -> (
    run: CommandLineRun, saved: [String: Int]
  ) {
    let out: String = store.file("Out.sqlite").path
    let run = try check(store, ["--repair", out, "--json"] + more)
    #expect(run.errors == "")
    let report = try #require(try run.json() as? [String: Any], "\(run.output)")
    let entities = try #require(report["entities"] as? [[String: Any]])
    var saved: [String: Int] = [:]
    for entity in entities { saved[entity["name"] as? String ?? ""] = entity["saved"] as? Int }
    let after = try CommandLineRun(["check", out])
    #expect(after.status == 0, "\(after.output)\(after.errors)")
    return (run, saved)
  }

  private static let all: [String: Int] = ["Place": PlaceStore.placeCount, "Item": PlaceStore.itemCount]

  @Test(arguments: ["node", "rowid", "parent", "node, not its root"])
  func `a damaged R-tree loses nothing: it is named, and a repair makes it anew`(part: String) throws {
    let store = try PlaceStore()
    defer { store.remove() }
    let words: [Substring] = part.split(separator: ",")
    try store.damage("\(PlaceStore.tree)_\(words[0])") { words.count > 1 ? Array($0.suffix(1)) : [$0[0]] }
    let found = try check(store)
    #expect(found.status == 1 && found.errors == "", "\(found.errors)")
    #expect(
      found.output.contains("error: The R-tree index \(PlaceStore.tree) is damaged"), "\(found.output)")
    let (run, saved) = try repair(store)
    #expect(run.status == 0 && saved == Self.all, "\(run.output)")
    #expect(!run.output.contains("clarus check STORE"))
    // What does not search the tree reads the rows.
    let rows = try CommandLineRun(["fetch", store.path, "Place", "--count", "--json"])
    #expect(
      rows.status == 0 && rows.output.contains("\(PlaceStore.placeCount)"), "\(rows.output)\(rows.errors)")
  }

  @Test func `an R-tree that lacks rows is an error with their number, and a repair makes it anew`() throws {
    let store = try PlaceStore()
    defer { store.remove() }
    try store.execute(["DELETE FROM \(PlaceStore.tree) WHERE Z_PK BETWEEN 11 AND 17"])
    let found = try check(store)
    #expect(found.status == 1)
    #expect(found.output.contains("\(PlaceStore.tree) lacks rows of Place"), "\(found.output)")
    #expect(found.output.contains("7 times: Place/p11, Place/p12"), "\(found.output)")
    let (run, saved) = try repair(store)
    #expect(run.status == 0 && saved == Self.all, "\(run.output)")
  }

  @Test(arguments: ["stale", "moved", "damaged"])
  func `a copy has a whole R-tree, whatever that of its source was`(state: String) throws {
    let store = try PlaceStore()
    defer { store.remove() }
    switch state {
    case "stale": try store.execute(["DELETE FROM \(PlaceStore.tree) WHERE Z_PK BETWEEN 11 AND 17"])
    case "moved":
      try store.execute(["UPDATE \(PlaceStore.tree) SET ZLATITUDE_MIN = -90, ZLATITUDE_MAX = -90"])
    default: try store.damage("\(PlaceStore.tree)_node") { Array($0.suffix(1)) }
    }
    #expect(try check(store).status == 1)
    let before = try Data(contentsOf: URL(fileURLWithPath: store.path))
    let out: String = store.file("Out.sqlite").path
    let run = try CommandLineRun(["convert", store.path, out, "--verify"])
    #expect(run.status == 0, "\(run.errors)")
    let after = try CommandLineRun(["check", out])
    #expect(after.status == 0, "\(after.output)\(after.errors)")
    let found = try CommandLineRun([
      "fetch", out, "Place", "--where", "latitude BETWEEN {1.05, 1.75}", "--count",
    ])
    #expect(found.status == 0 && found.output.contains("7"), "\(found.output)\(found.errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == before)
  }

  @Test(arguments: ["Places.sqlite", "Places.xml", "Places.bin"])
  func `a damaged hash of an entity is told, and the model that the file fits is taken`(name: String) throws {
    let store = try PlaceStore()
    defer { store.remove() }
    let url: URL = store.file(name)
    if name.hasSuffix("bin") {
      #expect(try CommandLineRun(["convert", store.path, url.path]).status == 0)
      let file: StoreInspection = try AtomicKind.binary.inspect(url, options: StoreOpeningOptions())
      let hash: Data = try #require(file.versions?.hashes["Item"])
      var bytes = try Data(contentsOf: url)
      let place: Range<Int> = try #require(bytes.range(of: hash))
      bytes[place.lowerBound] ^= 1
      try bytes.write(to: url)
    } else if name.hasSuffix("xml") {
      #expect(try CommandLineRun(["convert", store.path, url.path]).status == 0)
      let text = try String(contentsOf: url, encoding: .utf8)
      // The hash of Item, whose key comes first.
      let hash = try #require(text.firstMatch(of: /<key>Item<\/key>\s*<data>\s*([A-Za-z0-9])/))
      try text.replacingCharacters(in: hash.1.startIndex..<hash.1.endIndex, with: hash.1 == "A" ? "B" : "A")
        .write(to: url, atomically: true, encoding: .utf8)
    } else {
      let queue = try DatabaseQueue(path: url.path)
      try queue.writeWithoutTransaction { database in
        var plist: Data = try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA") ?? Data()
        let metadata = try PropertyListSerialization.propertyList(from: plist, format: nil) as? [String: Any]
        let hashes = metadata?["NSStoreModelVersionHashes"] as? [String: Data]
        let hash: Data = try #require(hashes?["Item"])
        let place: Range<Int> = try #require(plist.range(of: hash))
        plist[place.lowerBound] ^= 1
        try database.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [plist])
        try database.execute(sql: "DELETE FROM Z_MODELCACHE")
      }
      try queue.close()
      try store.execute([])
    }
    let found = try CommandLineRun(["check", url.path, "--model", store.model])
    #expect(
      found.status == 1 && found.output.contains("Entities that differ: Item."),
      "\(found.output)\(found.errors)")
    let out: String = store.file("Out.sqlite").path
    let run = try CommandLineRun(["check", url.path, "--model", store.model, "--repair", out])
    #expect(run.output.contains("nothing was lost"), "\(run.output)\(run.errors)")
    #expect(try CommandLineRun(["check", out]).status == 0)
    // A model that the rows don't fit stays refused.
    let other = try PhotoStore()
    defer { other.remove() }
    let refused = try CommandLineRun(["check", url.path, "--model", other.path, "--repair", out + "2"])
    #expect(refused.status == 1 && refused.errors.contains("doesn't fit"), "\(refused.errors)")
  }

  @Test func `a table without its keys is named, and the others are saved`() throws {
    let store = try PlaceStore()
    defer { store.remove() }
    try store.execute([
      "DROP TABLE ZPLACE", "CREATE TABLE ZPLACE (Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)",
      "INSERT INTO ZPLACE VALUES (2, 1, 'nobody')",
    ])
    let found = try check(store)
    #expect(
      found.status == 1 && found.output.contains("Places.sqlite: Place: table ZPLACE has no column Z_PK"))
    let (run, saved) = try repair(store)
    #expect(run.status == 1 && saved == ["Place": 0, "Item": PlaceStore.itemCount], "\(run.output)")
    let report = try #require(try run.json() as? [String: Any])
    let table = try #require((report["damagedTables"] as? [[String: Any]])?.first)
    #expect(table["table"] as? String == "ZPLACE" && table["entity"] as? String == "Place")
    #expect((table["reason"] as? String)?.contains("no column Z_PK") == true)
  }

  @Test
  func `a store without entity numbers is repaired, and one of which nothing is left is refused by name`()
    throws
  {
    let store = try PlaceStore()
    defer { store.remove() }
    try store.execute(["DELETE FROM Z_PRIMARYKEY"])
    let found = try check(store)
    #expect(found.status == 1 && found.output.contains("Places.sqlite: "), "\(found.output)\(found.errors)")
    #expect(!(found.output + found.errors).contains("it has )"))
    let (_, saved) = try repair(store)
    #expect(saved == Self.all)
    let bytes = try Data(contentsOf: store.file("Places.sqlite"))
    try bytes.prefix(100).write(to: store.file("Places.sqlite"))
    let run = try check(store, ["--model", store.model, "--repair", store.file("Other.sqlite").path])
    #expect(
      run.status == 1 && run.errors.hasPrefix("clarus: \(store.path): Nothing of it can be saved"),
      "\(run.errors)")
    #expect(run.errors.contains("Restore a copy") && !run.errors.contains("clarus check"))
  }

  // Finding: "error 41 of libxml2", and "Lost 0" of a file without its end.
  @Test func `of a file that is cut off it is said that it is, and nothing counts what is lost`() throws {
    let store = try PlaceStore()
    defer { store.remove() }
    let out: String = store.file("Out.xml").path
    for (kind, says) in [
      ("xml", "It is cut off: it ends at line "), ("binary", "The file is cut off: it has "),
    ] {
      let url: URL = store.file("Places.\(kind)")
      #expect(try CommandLineRun(["convert", store.path, url.path]).status == 0)
      let bytes: Data = try Data(contentsOf: url)
      try bytes.prefix(bytes.count * 3 / 5).write(to: url)
      let info = try CommandLineRun(["info", url.path])
      #expect(info.status == 1 && info.errors.contains(says) && !info.errors.contains("libxml2"), "\(info)")
      #expect(info.errors.contains("--repair") == (kind == "xml"), "\(info)")
      let repair = try CommandLineRun(["check", url.path, "--model", store.path, "--repair", out])
      #expect(repair.status == 1, "\(repair)")
      #expect(
        kind == "xml"
          ? repair.output.contains("0 or more")
          : repair.errors.contains("The file is cut off within its objects"),
        "\(repair)")
    }
  }

  // Finding: the first wrong value alone was named.
  @Test(arguments: [3, 25])
  func `of an XML store all values that can't be read are named, up to twenty`(count: Int) throws {
    let store = try PlaceStore()
    defer { store.remove() }
    let url: URL = store.file("Places.xml")
    #expect(try CommandLineRun(["convert", store.path, url.path]).status == 0)
    var text: String = try String(contentsOf: url, encoding: .utf8)
    var number: Int = 0
    text = text.replacing(
      /(<attribute name="latitude" type="[a-z0-9]+">)[^<]*/, maxReplacements: count
    ) { match in
      number += 1
      return "\(match.1)wrong\(number)!"
    }
    try text.write(to: url, atomically: true, encoding: .utf8)
    let run = try CommandLineRun(["check", url.path, "--model", store.path])
    #expect(run.status == 1, "\(run)")
    let named: Int = (1...count).count { run.output.contains("'wrong\($0)!' is no value for Place.latitude") }
    #expect(named == min(count, 20), "\(run.output)")
    #expect(run.output.contains(" And 5 more.") == (count == 25), "\(run.output)")
    // Other commands end with the first.
    let fetch = try CommandLineRun(["fetch", url.path, "Place", "--model", store.path])
    #expect(fetch.status == 1 && fetch.errors.ranges(of: "is no value for").count == 1, "\(fetch)")
  }

  // Finding: the error named tables, and gave the advice twice.
  @Test func `of an XML store that is cut off nothing is saved, and the error says so once`() throws {
    let store = try PlaceStore()
    defer { store.remove() }
    let url: URL = store.file("Places.xml")
    #expect(try CommandLineRun(["convert", store.path, url.path]).status == 0)
    try Data(contentsOf: url).prefix(900).write(to: url)
    // Finding: a repair was advised, of which nothing comes.
    let check = try CommandLineRun(["check", url.path, "--model", store.path])
    #expect(
      check.output.contains("Restore a copy of the file.") && !check.output.contains("--repair"), "\(check)")
    let run = try CommandLineRun(["check", url.path, "--repair", store.file("Other.xml").path])
    #expect(run.status == 1, "\(run)")
    #expect(run.errors.contains("Nothing of it can be saved. Its XML is damaged"), "\(run)")
    #expect(run.errors.ranges(of: "Restore a copy").count == 1 && !run.errors.contains("tables"), "\(run)")
  }
}
