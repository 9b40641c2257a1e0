import Foundation
import TestSupport
import Testing

/// `clarus migrate`
@Suite struct MigrateCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.writeShop("1", #"<attribute name="title" attributeType="String"/>"# + Self.rank)
    try folder.writeShop(
      "2",
      #"<attribute name="name" attributeType="String" elementID="title"/>"#
        + #"<attribute name="note" optional="YES" attributeType="String"/>"#)
    try folder.writeShop("3", #"<attribute name="title" attributeType="Integer 16" optional="YES"/>"#)
  }

  private static let rank: String = #"<attribute name="rank" optional="YES" attributeType="Integer 16"/>"#

  private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

  /// A store of the first version with two objects.
  private func makeStore() throws -> String {
    try #"{"Item": [{"title": "axe", "rank": 1}, {"title": "bow", "rank": 2}]}"#.write(
      toFile: path("items.json"), atomically: true, encoding: .utf8)
    let run = try CommandLineRun([
      "import", path("Shop.sqlite"), path("items.json"), "--create", "--model",
      path("Shop.xcdatamodeld/1.xcdatamodel"),
    ])
    #expect(run.status == 0, "\(run.errors)")
    return path("Shop.sqlite")
  }

  // Finding: the plan of one that began beside another was made of two versions.
  @Test func `several at once wait for each other and find the store migrated`() async throws {
    let store: String = try makeStore()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
    for round in 0..<3 {
      let copy: String = path("Copy\(round).sqlite")
      try bytes.write(to: URL(fileURLWithPath: copy))
      try await withThrowingTaskGroup(of: CommandLineRun.self) { group in
        for _ in 0..<3 { group.addTask { try migrate(copy, "2") } }
        for try await run in group { #expect(run.status == 0, "\(run.output)\(run.errors)") }
      }
    }
  }

  private func migrate(_ store: String, _ version: String, _ more: String...) throws -> CommandLineRun {
    try CommandLineRun(
      ["migrate", store, "--to", path("Shop.xcdatamodeld"), "--model-version", version] + more)
  }

  private func names(_ store: String, _ column: String) throws -> [String] {
    try CommandLineRun(["fetch", store, "Item", "--columns", column, "--sort", column, "--format", "csv"])
      .output.split(whereSeparator: \.isNewline).map(String.init)
  }

  @Test func `a plan is printed and changes nothing`() throws {
    let store: String = try makeStore()
    let bytes: Data = try Data(contentsOf: URL(fileURLWithPath: store))
    let run: CommandLineRun = try migrate(store, "2", "--plan")
    #expect(run.status == 0, "\(run.errors)")
    let steps = try (migrate(store, "2", "--plan", "--json").json() as? [String: Any])?["steps"]
    #expect((steps as? [[String: Any]])?.first?["mapping"] is NSNull)
    for words in [
      "Item, 2 objects", "name from title", "rank is dropped", "in place", "ALTER TABLE", "Lost:",
    ] {
      #expect(run.output.contains(words), "\(run.output)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
  }

  @Test func `a store is migrated, verified, and its original is kept`() throws {
    let store: String = try makeStore()
    let run: CommandLineRun = try migrate(
      store, "2", "--verify", "--keep-original", path("Before.sqlite"), "--json")
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try run.json() as? [String: Any])
    #expect(report["done"] as? Bool == true)
    #expect(report["losses"] as? [String] == ["Item.rank"])
    #expect(try names(store, "name") == ["name", "axe", "bow"])
    #expect(try names(path("Before.sqlite"), "title") == ["title", "axe", "bow"])
    let again: CommandLineRun = try migrate(store, "2")
    #expect(again.output.contains("has this model already"))
  }

  @Test func `what can't be inferred is refused with the reason, and the store is as it was`() throws {
    let store: String = try makeStore()
    let bytes: Data = try Data(contentsOf: URL(fileURLWithPath: store))
    let run: CommandLineRun = try migrate(store, "3")
    #expect(run.status == 1)
    #expect(run.errors.contains("Item.title") && run.errors.contains(store), "\(run.errors)")
    // The command has no class of any program, so that it says nothing of them.
    #expect(!run.errors.contains("class"), "\(run.errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
    try folder.writeShop("4", "", entity: "Customer")
    let strange: CommandLineRun = try migrate(store, "4")
    #expect(
      strange.status == 1 && strange.errors.contains("none of the entities")
        && strange.errors.contains(store), "\(strange.errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
    let missing: CommandLineRun = try migrate(path("None.sqlite"), "2")
    #expect(missing.status == 1)
    #expect(!FileManager.default.fileExists(atPath: path("None.sqlite")))
  }

  @Test func `a damaged store is named in one line, with what to do, and nothing is left beside it`() throws {
    let store: String = try makeStore()
    let file: FileHandle = try FileHandle(forWritingTo: URL(fileURLWithPath: store))
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0x47, count: 8192))
    try file.close()
    let bytes: Data = try Data(contentsOf: URL(fileURLWithPath: store))
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    for more in [["--plan"], ["--keep-original", path("Before.sqlite")]] {
      let run = try CommandLineRun(
        ["migrate", store, "--to", path("Shop.xcdatamodeld"), "--model-version", "2"] + more)
      #expect(run.status == 1)
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      #expect(run.errors.contains("\(store) can't be migrated: The database is damaged"), "\(run.errors)")
      #expect(run.errors.contains("clarus check"), "\(run.errors)")
      #expect(!run.errors.contains("(url:"), "\(run.errors)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == names)
  }

  @Test func `a mapping model for another version of the store is refused with the version that it is for`()
    throws
  {
    try folder.writeShop("1", Self.rank)
    try folder.writeShop("2", Self.rank + #"<attribute name="sku" attributeType="String"/>"#)
    try folder.writeShop(
      "3",
      Self.rank + #"<attribute name="sku" attributeType="String"/>"#
        + #"<attribute name="note" optional="YES" attributeType="String"/>"#)
    try #"{"Item": [{"rank": 1}]}"#.write(toFile: path("items.json"), atomically: true, encoding: .utf8)
    let made = try CommandLineRun([
      "import", path("Shop.sqlite"), path("items.json"), "--create", "--model",
      path("Shop.xcdatamodeld/1.xcdatamodel"),
    ])
    #expect(made.status == 0, "\(made.errors)")
    let mapping = try CommandLineRun([
      "model", "mapping", path("Shop.xcdatamodeld"), "--from", "2", "--to", "3", "--output",
      path("Other.cdm"),
    ])
    #expect(mapping.status == 0, "\(mapping.errors)")
    let run = try migrate(path("Shop.sqlite"), "3", "--mapping", path("Other.cdm"))
    #expect(run.status == 1)
    #expect(run.errors.contains("not for a migration from 1 to 3"), "\(run.errors)")
    #expect(run.errors.contains("It leads from 2 to 3."), "\(run.errors)")
  }

  @Test("--down keeps what was renamed since, and tells nothing as lost that has no values")
  func down() throws {
    let store: String = try makeStore()
    #expect(try migrate(store, "2").status == 0)
    let plan = try migrate(store, "1", "--down", "--plan")
    #expect(plan.output.contains("title from name"), "\(plan.output)\(plan.errors)")
    // No object has a value of it.
    #expect(!plan.output.contains("Item.note"), "\(plan.output)")
    #expect(try migrate(store, "1", "--down", "--verify").status == 0)
    let rows = try CommandLineRun(["fetch", store, "Item", "--sort", "title", "--format", "csv"])
    #expect(rows.output.contains("axe"), "\(rows.output)")
    let both = try migrate(store, "1", "--down", "--mapping", "x.cdm")
    #expect(both.status == 2)
    #expect(both.errors.contains("--mapping"), "\(both.errors)")
  }

  @Test func `an earlier version is refused without --down, which the error names with both versions`() throws
  {
    let store: String = try makeStore()
    #expect(try migrate(store, "2").status == 0)
    let bytes: Data = try Data(contentsOf: URL(fileURLWithPath: store))
    for more in [["--plan"], []] {
      let run = try CommandLineRun(
        ["migrate", store, "--to", path("Shop.xcdatamodeld"), "--model-version", "1"] + more)
      #expect(run.status == 1 && run.output.isEmpty, "\(run)")
      #expect(
        run.errors.contains("To go back from 2 to 1, migrate with --down") && run.errors.contains(store),
        "\(run)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
  }

  @Test func `a plan with problems has exit status 1, in JSON too`() throws {
    try folder.writeShop(
      "3",
      #"<attribute name="title" attributeType="String"/>"# + Self.rank
        + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"title\"/></uniquenessConstraint>"
        + "</uniquenessConstraints>")
    let store: String = try makeStore()
    let sound = try migrate(store, "3", "--plan")
    #expect(sound.status == 0, "\(sound)")
    try makeDatabase(URL(fileURLWithPath: store), ["UPDATE ZITEM SET ZTITLE = 'axe'"])
    for more in [[], ["--json"]] {
      let run = try CommandLineRun(
        ["migrate", store, "--to", path("Shop.xcdatamodeld"), "--model-version", "3", "--plan"] + more)
      #expect(run.status == 1, "\(run)")
      #expect(run.output.contains("The values of title are to be unique among the objects of Item"), "\(run)")
      #expect(run.output.contains("delete the objects with the version that the store has"), "\(run)")
      #expect(run.errors.contains("\(store): The migration would end with an error, for 1 reason"), "\(run)")
    }
    #expect(try migrate(store, "3").status == 1)
  }

  // Finding: a new required attribute was an error without a plan, and without a way out.
  @Test func `a plan that lacks values of a required attribute is printed with its steps and the ways out`()
    throws
  {
    try folder.writeShop(
      "4",
      #"<attribute name="title" attributeType="String"/>"# + Self.rank
        + #"<attribute name="sku" attributeType="String"/>"#)
    let store: String = try makeStore()
    let bytes: Data = try Data(contentsOf: URL(fileURLWithPath: store))
    let plan = try migrate(store, "4", "--plan")
    #expect(plan.status == 1, "\(plan)")
    let command: String =
      "clarus model mapping \(path("Shop.xcdatamodeld")) --from 1 --to 4 --output Step.xcmappingmodel --value "
    for words in [
      "1 → 4, by an inferred mapping model", "Item, 2 objects", "sku is new: no value",
      "problem: Item.sku is new and required and has no default value",
      "Ways out for Item.sku:\n  a default value: clarus model set \(path("Shop.xcdatamodeld")) Item.sku "
        + "--model-version 4 --default VALUE\n  optional: clarus model set ", "--optional", command,
    ] { #expect(plan.output.contains(words), "\(words): \(plan.output)") }
    let report = try #require(try migrate(store, "4", "--plan", "--json").json() as? [String: Any])
    let problems: Any? = (report["steps"] as? [[String: Any]])?.first?["problems"]
    #expect((problems as? [String])?.count == 1, "\(report)")
    let run = try migrate(store, "4")
    #expect(run.status == 1 && run.errors.contains("Item.sku is new and required"), "\(run)")
    #expect(run.errors.hasSuffix("--plan prints the steps and the ways out.\n"), "\(run)")
    // What lacks more than values has no such plan.
    let refused = try migrate(store, "3")
    #expect(refused.status == 1 && !refused.errors.contains("--plan"), "\(refused)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
  }

  // Finding: plans advised `clarus model add`, which changes nothing that is there.
  @Test(arguments: ["--default VALUE", "--optional", "--value"])
  func `the command of a way out is one`(way: String) throws {
    try folder.writeShop(
      "4",
      #"<attribute name="title" attributeType="String"/>"# + Self.rank
        + #"<attribute name="sku" attributeType="String"/>"#)
    let store: String = try makeStore()
    let lines: [Substring] = try migrate(store, "4", "--plan").output.split(separator: "\n")
    let line: Substring = try #require(lines.first { $0.contains(way) && $0.contains("clarus model") })
    let command: String = String(line[line.range(of: "clarus model")!.lowerBound...])
      .replacing("; then --mapping", with: "").replacing("EXPRESSION", with: "$source.title")
    let run = try CommandLineRun(
      shell: "cd '\(folder.url.path)' && clarus() { \"$CLARUS\" \"$@\"; } && \(command)")
    #expect(run.status == 0, "\(command): \(run)")
    let mapping: [String] = way == "--value" ? ["--mapping", path("Step.xcmappingmodel")] : []
    let done = try CommandLineRun(
      ["migrate", store, "--to", path("Shop.xcdatamodeld"), "--model-version", "4"] + mapping)
    #expect(done.status == 0, "\(done)")
    let values: [String] = way == "--optional" ? [] : way == "--value" ? ["axe", "bow"] : ["VALUE", "VALUE"]
    #expect(try Array(names(store, "sku").dropFirst().filter { $0 != "\"\"" }) == values)
  }

  // Finding: the ways out told to edit the earlier version, which stores have.
  @Test func `the ways out of a way back leave the earlier version as it is`() throws {
    try folder.writeShop("4", #"<attribute name="title" attributeType="String"/>"# + Self.rank)
    try folder.writeShop("5", Self.rank)
    let store: String = try makeStore()
    #expect(try migrate(store, "5").status == 0)
    let plan = try migrate(store, "1", "--down", "--plan")
    #expect(plan.status == 1, "\(plan)")
    for words in [
      "The earlier version stays as it is, since stores have it: put back an original that was kept, or give the "
        + "values with a mapping model that leads back to it.",
      "Ways out for Item.title:\n  the store before its migration, if it was kept (--keep-original)",
      "--from 5 --to 1 --output Step.xcmappingmodel --value 'Item.title=EXPRESSION'; then --mapping in place of --down",
    ] { #expect(plan.output.contains(words), "\(words): \(plan.output)") }
    #expect(!plan.output.contains("default value in") && !plan.output.contains("model set"), "\(plan.output)")
    let run = try migrate(store, "1", "--down")
    #expect(run.status == 1 && !run.errors.contains("Change the destination model"), "\(run)")
    let mapping = try CommandLineRun([
      "model", "mapping", path("Shop.xcdatamodeld"), "--from", "5", "--to", "1", "--output",
      path("Back.cdm"), "--value", "Item.title=\"none\"",
    ])
    #expect(mapping.status == 0 && mapping.errors.isEmpty, "\(mapping)")
    #expect(try migrate(store, "1", "--mapping", path("Back.cdm")).status == 0)
    #expect(try names(store, "title") == ["title", "none", "none"])
  }

  // Finding: plans named versions by identifiers that --model-version refused, and Swift's words for options.
  @Test func `a version is named by its file, and an identifier names it too`() throws {
    for version in ["1", "2"] {
      let file: URL = folder.file("Shop.xcdatamodeld/\(version).xcdatamodel/contents")
      let text: String = try String(contentsOf: file, encoding: .utf8).replacing(
        "documentVersion=\"1.0\"",
        with: "documentVersion=\"1.0\" userDefinedModelVersionIdentifier=\"\(version).0\"")
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let store: String = try makeStore()
    let plan = try migrate(store, "2.0", "--plan")
    #expect(plan.status == 0 && plan.output.hasPrefix("1 → 2, by "), "\(plan)")
    #expect(try migrate(store, "2.0").output.contains("migrated to 2 in"))
    let back = try migrate(store, "1")
    #expect(back.errors.contains("To go back from 2 to 1, migrate with --down: what was renamed"), "\(back)")
    let wrong = try migrate(store, "3.0")
    #expect(wrong.errors.contains("There is no version '3.0'. It has '3', '2', '1'."), "\(wrong)")
  }

  @Test func `a place where no original can be kept is refused before anything is done`() throws {
    let store: String = try makeStore()
    let bytes: Data = try Data(contentsOf: URL(fileURLWithPath: store))
    for (place, words) in [(store, "It is the store itself."), (path("none/a.sqlite"), "There is no folder")]
    {
      let run = try migrate(store, "2", "--keep-original", place)
      #expect(run.status == 1 && run.errors.hasPrefix("clarus: --keep-original: "), "\(run)")
      #expect(run.errors.contains(place) && run.errors.contains(words), "\(run)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
    // A second run has nothing to keep.
    for _ in 0..<2 {
      let run = try migrate(store, "2", "--keep-original", path("Before.sqlite"))
      #expect(run.status == 0, "\(run)")
    }
  }

  @Test func `a copy tells of references that lead nowhere when it is done, too`() throws {
    let relationship: String =
      #"<relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Item"/>"#
    for (version, name) in [("1", "title"), ("2", #"label" elementID="title"#)] {
      try folder.writeShop(
        version, #"<attribute name="\#(name)" attributeType="String"/>"# + Self.rank + relationship)
    }
    let store: String = try makeStore()
    try makeDatabase(
      URL(fileURLWithPath: store),
      ["UPDATE ZITEM SET ZNEXT = 77 WHERE ZTITLE = 'axe'", "CREATE VIEW titles AS SELECT ZTITLE FROM ZITEM"])
    let run = try migrate(store, "2")
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("lost: 1 reference(s) of Item.next lead to objects"), "\(run)")
    #expect(run.output.contains("lost: View titles is not of the model."), "\(run)")
  }

  @Test func `the models of a mapping model that lies elsewhere are looked for beside --to`() throws {
    let other = try TemporaryFolder()
    let mapping: String = other.file("Step.xcmappingmodel").path
    let made = try CommandLineRun([
      "model", "mapping", path("Shop.xcdatamodeld"), "--from", "1", "--to", "2", "--output", mapping,
    ])
    #expect(made.status == 0, "\(made)")
    let compiled = try CommandLineRun([
      "model", "mapping", path("Shop.xcdatamodeld"), "--from", "1", "--to", "2", "--mapping", mapping,
      "--output", other.file("Step.cdm").path,
    ])
    #expect(compiled.status == 0, "\(compiled)")
    let store: String = try makeStore()
    let run = try migrate(store, "2", "--mapping", mapping)
    #expect(run.status == 0, "\(run)")
    #expect(try names(store, "name") == ["name", "axe", "bow"])
  }

  @Test("model squash makes a mapping model over several versions, which a migration then finds")
  func squash() throws {
    try folder.writeShop(
      "2", #"<attribute name="name" attributeType="String" elementID="title"/>"# + Self.rank)
    try folder.writeShop(
      "3", #"<attribute name="label" attributeType="String" elementID="name"/>"# + Self.rank)
    let store: String = try makeStore()
    let run = try CommandLineRun(["model", "squash", path("Shop.xcdatamodeld"), "--output", path("Shop.cdm")])
    #expect(run.output == "\(path("Shop.cdm")): 1 → 3, over 1 version\n", "\(run.errors)")
    let again = try CommandLineRun([
      "model", "squash", path("Shop.xcdatamodeld"), "--output", path("Shop.cdm"),
    ])
    #expect(again.status == 1)
    #expect(again.errors.contains("Shop.cdm: There is a file already."), "\(again.errors)")
    // Otherwise it tells of the renamings itself.
    try FileManager.default.removeItem(atPath: path("Shop.xcdatamodeld/2.xcdatamodel"))
    let plan = try migrate(store, "3", "--plan")
    #expect(
      plan.output.contains("by the mapping model \(path("Shop.cdm"))\n"), "\(plan.output)\(plan.errors)")
    let report = try #require(try migrate(store, "3", "--plan", "--json").json() as? [String: Any])
    let step = try #require((report["steps"] as? [[String: Any]])?.first)
    #expect(step["mapping"] as? String == path("Shop.cdm") && step["inferred"] as? Bool == false)
    #expect(try migrate(store, "3", "--verify").status == 0)
    let rows = try CommandLineRun(["fetch", store, "Item", "--sort", "label", "--format", "csv"])
    #expect(rows.output.contains("axe") && rows.output.contains("label"), "\(rows.output)")
    let one = try CommandLineRun(
      ["model", "squash", path("Shop.xcdatamodeld"), "--through", "1", "--output", path("Other.cdm")])
    #expect(one.status == 2)
  }

  @Test
  func `a store whose metadata is lost is read by the version with its tables, or by the one that is named`()
    throws
  {
    let store: String = try makeStore()
    try makeDatabase(
      URL(fileURLWithPath: store), ["DELETE FROM Z_METADATA", "DELETE FROM Z_MODELCACHE"])
    let model: [String] = ["--model", path("Shop.xcdatamodeld")]
    let repair = try CommandLineRun(["check", store, "--repair", path("Out.sqlite")] + model)
    #expect(repair.errors == "", "\(repair.errors)")
    #expect(repair.output.contains("2 rows"), "\(repair.output)")
    let fetch = try CommandLineRun(["fetch", path("Out.sqlite"), "Item", "--columns", "title,rank"])
    #expect(fetch.output.contains("axe"), "\(fetch.output)\(fetch.errors)")
    // A version with the same tables: nothing but the user can tell.
    try folder.writeShop(
      "4", #"<attribute name="title" attributeType="String" defaultValueString="x"/>"# + Self.rank)
    let ambiguous = try CommandLineRun(["check", store, "--repair", path("Two.sqlite")] + model)
    #expect(ambiguous.status == 1)
    #expect(
      ambiguous.errors.contains(
        "several fit its tables. Name one with --model-version: '4', '1'; others fit less: "),
      "\(ambiguous.errors)")
    let named = try CommandLineRun(
      ["check", store, "--repair", path("Three.sqlite"), "--model-version", "1"] + model)
    #expect(named.errors == "" && named.output.contains("2 rows"), "\(named.output)\(named.errors)")
    let wrong = try CommandLineRun(
      ["check", store, "--repair", path("Four.sqlite"), "--model-version", "9"] + model)
    #expect(wrong.status == 1 && wrong.errors.contains("There is no version '9'"), "\(wrong.errors)")
    let alone = try CommandLineRun(["check", store, "--model-version", "1"])
    #expect(alone.errors.contains("--model-version needs --model"), "\(alone.errors)")
  }
}
