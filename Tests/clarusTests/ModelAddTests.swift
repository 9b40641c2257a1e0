import Foundation
import TestSupport
import Testing

/// `clarus model new`, `clarus model add`, `clarus model from-store`
struct ModelAddTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Runs a command line in the folder.
  private func clarus(_ line: String) throws -> CommandLineRun {
    try CommandLineRun(shell: "cd '\(folder.url.path)' && \"$CLARUS\" \(line)")
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: folder.file(path), encoding: .utf8)
  }

  @Test func `a model from nothing compiles and has no faults`() throws {
    let new: CommandLineRun = try clarus("model new Shop --entity Item --entity Category")
    #expect(
      new.status == 0 && new.output == "Shop.xcdatamodeld: 2 entities\n" && new.errors.isEmpty, "\(new)")
    for line in [
      "attribute Item.title String --required", "attribute Item.price decimal --min 0 --default 1.5",
      "attribute Item.sku String --unique", "attribute Item.added Date --indexed",
      "relationship Item.category Category --inverse items --inverse-to-many --inverse-rule cascade",
      "entity Gift --parent Item", "attribute Gift.wrapped Bool --required",
    ] {
      let run: CommandLineRun = try clarus("model add Shop.xcdatamodeld \(line)")
      #expect(run.status == 0 && run.errors.isEmpty, "\(line): \(run)")
      #expect(run.output.hasPrefix("Shop.xcdatamodeld/Shop.xcdatamodel/contents: added "), "\(run)")
    }
    let lint: CommandLineRun = try clarus("model lint Shop.xcdatamodeld --strict --ignore cascade-to-owner")
    #expect(lint.status == 0, "\(lint)")
    #expect(try clarus("model compile Shop.xcdatamodeld").status == 0)
    let (source, compiled) = (try clarus("model hash Shop.xcdatamodeld"), try clarus("model hash Shop.momd"))
    #expect(source.output == compiled.output && source.output.split(separator: "\n").count == 3)
  }

  @Test func `a version copies the current one with all its files and becomes the current one`() throws {
    _ = try clarus("model new 'My Shop' --entity Item")
    let old: String = try text("My Shop.xcdatamodeld/My Shop.xcdatamodel/contents")
    try Data("x".utf8).write(to: folder.file("My Shop.xcdatamodeld/My Shop.xcdatamodel/layout"))
    let run: CommandLineRun = try clarus("model add 'My Shop.xcdatamodeld' version")
    #expect(
      run.output
        == "My Shop.xcdatamodeld: added version 'My Shop 2', a copy of 'My Shop'; it is the current one\n",
      "\(run)")
    #expect(try text("My Shop.xcdatamodeld/My Shop 2.xcdatamodel/contents") == old)
    #expect(try text("My Shop.xcdatamodeld/My Shop 2.xcdatamodel/layout") == "x")
    #expect(
      try text("My Shop.xcdatamodeld/.xccurrentversion").contains("<string>My Shop 2.xcdatamodel</string>"))
    // What is added goes to the new one.
    #expect(try clarus("model add 'My Shop.xcdatamodeld' attribute Item.a String").status == 0)
    #expect(try text("My Shop.xcdatamodeld/My Shop.xcdatamodel/contents") == old)
    let diff: CommandLineRun = try clarus(
      "model diff 'My Shop.xcdatamodeld' --from 'My Shop' --to 'My Shop 2'")
    #expect(diff.status == 1 && diff.output.contains("Item.a"), "\(diff)")
    let named: CommandLineRun = try clarus("model add 'My Shop.xcdatamodeld' version Third --from 'My Shop'")
    #expect(named.status == 0)
    #expect(try text("My Shop.xcdatamodeld/Third.xcdatamodel/contents") == old)
    #expect(
      try clarus("model add 'My Shop.xcdatamodeld' version").output.contains(
        "'Third 2', a copy of 'Third'"))
  }

  // Finding: the name was counted from the package's, so that "Model 7" was followed by "Shop 2".
  @Test(
    arguments: [
      (["Model", "Model 7"], "Model 7", "Model 8"), (["Shop", "Shop 2", "Shop 5"], "Shop", "Shop 6"),
      (["V1", "V2"], "V2", "V3"), (["Model_v09"], "Model_v09", "Model_v10"), (["1.2"], "1.2", "1.3"),
      (["7"], "7", "8"), (["A", "a 2"], "A", "A 3"),
      (["A99999999999999999999"], "A99999999999999999999", nil),
    ] as [([String], String, String?)])
  func `a version without a name is counted on from the one that is copied`(
    versions: [String], from: String, next: String?
  ) throws {
    _ = try clarus("model new Shop --entity Item")
    for name in versions {
      try FileManager.default.copyItem(
        at: folder.file("Shop.xcdatamodeld/Shop.xcdatamodel"),
        to: folder.file("Shop.xcdatamodeld/\(name).xcdatamodel.new"))
    }
    try FileManager.default.removeItem(at: folder.file("Shop.xcdatamodeld/Shop.xcdatamodel"))
    for name in versions {
      let path: String = folder.file("Shop.xcdatamodeld/\(name).xcdatamodel").path
      try FileManager.default.moveItem(atPath: path + ".new", toPath: path)
    }
    let run: CommandLineRun = try clarus("model add Shop.xcdatamodeld version --from '\(from)'")
    #expect(run.status == 0 && run.output.contains("added version '\(next ?? from + " 2")'"), "\(run)")
  }

  // Finding: a mark of a version that had been renamed made every command on the model fail.
  @Test func `a stale mark of the current version matters only where there are several versions`() throws {
    _ = try clarus("model new Shop --entity Item")
    let mark: URL = folder.file("Shop.xcdatamodeld/.xccurrentversion")
    let stale: String = try text("Shop.xcdatamodeld/.xccurrentversion").replacing(
      "Shop.xcdatamodel", with: "Gone.xcdatamodel")
    try stale.write(to: mark, atomically: true, encoding: .utf8)
    #expect(try clarus("model add Shop.xcdatamodeld attribute Item.a String").status == 0)
    #expect(try clarus("model add Shop.xcdatamodeld version").status == 0)
    #expect(try text("Shop.xcdatamodeld/.xccurrentversion").contains("<string>Shop 2.xcdatamodel</string>"))
    try stale.write(to: mark, atomically: true, encoding: .utf8)
    for line in ["attribute Item.b String", "version"] {
      let run: CommandLineRun = try clarus("model add Shop.xcdatamodeld \(line)")
      #expect(
        run.status == 1
          && run.errors.contains("names the version 'Gone', which is not there. Name one of 'Shop'"),
        "\(run)")
    }
    #expect(
      try clarus("model add Shop.xcdatamodeld attribute Item.b String --model-version 'Shop 2'").status == 0)
    #expect(try clarus("model add Shop.xcdatamodeld version --from 'Shop 2'").status == 0)
    #expect(try text("Shop.xcdatamodeld/.xccurrentversion").contains("<string>Shop 3.xcdatamodel</string>"))
  }

  // Finding: two processes read the same file, and the second one wrote over what the first had added.
  @Test func `additions of several processes at once are all there, by whatever path they name the model`()
    throws
  {
    _ = try clarus("model new Shop --entity Item")
    let paths: [String] = [
      "Shop.xcdatamodeld", "Shop.xcdatamodeld/Shop.xcdatamodel",
      "Shop.xcdatamodeld/Shop.xcdatamodel/contents",
    ]
    let names: [String] = (1...12).map { "a\($0)" }
    let lines: [String] = names.enumerated().map { place, name in
      "\"$CLARUS\" model add \(paths[place % 3]) attribute Item.\(name) String &"
    }
    let run = try CommandLineRun(shell: "cd '\(folder.url.path)'; \(lines.joined(separator: " ")) wait")
    #expect(run.errors.isEmpty, "\(run)")
    let source: String = try text("Shop.xcdatamodeld/Shop.xcdatamodel/contents")
    #expect(names.filter { !source.contains("name=\"\($0)\"") } == [])
    // The lock leaves nothing behind.
    let left: [String] = try FileManager.default.subpathsOfDirectory(
      atPath: folder.file("Shop.xcdatamodeld").path)
    #expect(left.sorted() == [".xccurrentversion", "Shop.xcdatamodel", "Shop.xcdatamodel/contents"])
  }

  @Test func `a version is named by its file or by its identifier`() throws {
    _ = try clarus("model new Shop --entity Item")
    _ = try clarus("model add Shop.xcdatamodeld version")
    let file: URL = folder.file("Shop.xcdatamodeld/Shop.xcdatamodel/contents")
    try text("Shop.xcdatamodeld/Shop.xcdatamodel/contents").replacing(
      "userDefinedModelVersionIdentifier=\"\"", with: "userDefinedModelVersionIdentifier=\"1.0\""
    ).write(to: file, atomically: true, encoding: .utf8)
    let run: CommandLineRun = try clarus(
      "model add Shop.xcdatamodeld attribute Item.a String --model-version 1.0")
    #expect(run.output == "Shop.xcdatamodeld/Shop.xcdatamodel/contents: added Item.a\n", "\(run)")
  }

  @Test func `negative numbers are values`() throws {
    _ = try clarus("model new Shop --entity Item")
    let run: CommandLineRun = try clarus(
      "model add Shop.xcdatamodeld attribute Item.depth Double --min -5 --max -.5 --default -2e0")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let source: String = try text("Shop.xcdatamodeld/Shop.xcdatamodel/contents")
    #expect(source.contains("minValueString=\"-5\" maxValueString=\"-.5\" defaultValueString=\"-2e0\""))
  }

  // Finding: a number with a least value of 1900 had the default value 0, which it refuses.
  @Test(arguments: [("--min 1900", false), ("--max -1", false), ("--min 0 --max 9", true)])
  func `the default value of the editor is one that the limits allow`(limits: String, hasDefault: Bool) throws
  {
    _ = try clarus("model new Shop --entity Item")
    let run: CommandLineRun = try clarus(
      "model add Shop.xcdatamodeld attribute Item.year 'Integer 16' \(limits)")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let source: String = try text("Shop.xcdatamodeld/Shop.xcdatamodel/contents")
    #expect(source.contains("defaultValueString") == hasDefault)
  }

  @Test func `a removed part is gone from the file, and what needs it keeps it`() throws {
    _ = try clarus("model new Shop --entity Item --entity Tag")
    let line = "relationship Item.tag Tag --inverse items --inverse-to-many"
    #expect(try clarus("model add Shop.xcdatamodeld \(line)").status == 0)
    let before: String = try text("Shop.xcdatamodeld/Shop.xcdatamodel/contents")
    let refused: CommandLineRun = try clarus("model remove Shop.xcdatamodeld Tag")
    #expect(
      refused.status == 1 && refused.errors.contains("Tag is needed: Item.tag leads to it."), "\(refused)")
    #expect(
      try clarus("model add Shop.xcdatamodeld attribute Item.title String --indexed --unique").status == 0)
    let removed: CommandLineRun = try clarus("model remove Shop.xcdatamodeld Item.title")
    #expect(removed.output.hasSuffix("contents: removed Item.title\n"), "\(removed)")
    #expect(try text("Shop.xcdatamodeld/Shop.xcdatamodel/contents") == before)
  }

  @Test(arguments: ["String", "NSObject", "Data", "Task"])
  func `a class that hides a common type is told of`(name: String) throws {
    _ = try clarus("model new Shop --entity Item")
    let run: CommandLineRun = try clarus("model add Shop.xcdatamodeld entity \(name)")
    #expect(run.status == 0 && run.errors.contains("hides the type \(name)"), "\(run)")
    #expect(try clarus("model add Shop.xcdatamodeld attribute Item.a String").errors.isEmpty)
  }

  @Test func `links and permissions stay, and a package without a mark of its version gets one`() throws {
    _ = try clarus("model new Shop --entity Item")
    let (file, real) = (folder.file("Shop.xcdatamodeld/Shop.xcdatamodel/contents"), folder.file("real"))
    let files = FileManager.default
    try files.moveItem(at: file, to: real)
    try files.createSymbolicLink(atPath: file.path, withDestinationPath: "../../real")
    try files.setAttributes([.posixPermissions: 0o664], ofItemAtPath: real.path)
    #expect(try clarus("model add Shop.xcdatamodeld attribute Item.a String").status == 0)
    #expect(try files.destinationOfSymbolicLink(atPath: file.path) == "../../real")
    #expect(try files.attributesOfItem(atPath: real.path)[.posixPermissions] as? Int == 0o664)
    #expect(try text("real").contains("name=\"a\""))
    try files.removeItem(at: folder.file("Shop.xcdatamodeld/.xccurrentversion"))
    #expect(try clarus("model add Shop.xcdatamodeld version").status == 0)
    #expect(try text("Shop.xcdatamodeld/.xccurrentversion").contains("<string>Shop 2.xcdatamodel</string>"))
  }

  // Finding: the values of an attribute that was still there moved silently to the one that named it.
  @Test func `a former name is one that another version has, and none that this version still has`() throws {
    _ = try clarus("model new Shop --entity Item")
    let add: String = "model add Shop.xcdatamodeld attribute"
    for line in ["Item.title String --unique --indexed", "Item.price Double"] {
      #expect(try clarus("\(add) \(line)").status == 0)
    }
    // Without another version nothing moves: a hint.
    let first: CommandLineRun = try clarus("\(add) Item.note String --renamed-from remark")
    #expect(first.status == 0 && first.errors.contains("There is no other version"), "\(first)")
    _ = try clarus("model add Shop.xcdatamodeld version")
    for (line, says) in [
      ("Item.label String --renamed-from title", "Item still has the attribute 'title' in this version"),
      (
        "Item.label String --renamed-from titel",
        "'titel' of Item, so that it would get no values. Version 'Shop' has 'note', 'price', 'title'."
      ),
      ("Item.label String --replace", "--replace removes the attribute that --renamed-from names"),
      (
        "Item.label String --renamed-from titel --replace",
        "Item has no attribute 'titel' in this version, so that there is nothing to replace. Did you mean \"title\"?"
      ),
    ] {
      let before = try FolderState(folder.url)
      let run: CommandLineRun = try clarus("\(add) \(line)")
      #expect(run.status != 0 && run.errors.contains(says), "\(run)")
      #expect(try FolderState(folder.url) == before)
    }
    let run: CommandLineRun = try clarus("\(add) Item.label String --renamed-from title --replace")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(run.output.hasSuffix("added Item.label in place of Item.title\n"), "\(run)")
    let source: String = try text("Shop.xcdatamodeld/Shop 2.xcdatamodel/contents")
    #expect(
      !source.contains("name=\"title\"") && source.contains("<constraint value=\"label\"/>"), "\(source)")
    let diff: CommandLineRun = try clarus("model diff Shop.xcdatamodeld --from Shop --to 'Shop 2'")
    #expect(
      diff.output.contains("Item.label is named 'title' in the source")
        && diff.output.contains("A mapping model can be inferred."),
      "\(diff)")
  }

  @Test func `an attribute that is there is changed, and nothing else`() throws {
    _ = try clarus("model new Shop --entity Item")
    let add: String = "model add Shop.xcdatamodeld attribute"
    for line in ["Item.price Decimal --min -5 --required --unique", "Item.title String"] {
      #expect(try clarus("\(add) \(line)").status == 0)
    }
    let file: String = "Shop.xcdatamodeld/Shop.xcdatamodel/contents"
    let before: String = try text(file)
    let run: CommandLineRun = try clarus("model set Shop.xcdatamodeld Item.price Double --min -7 --optional")
    #expect(
      run.status == 0 && run.output == "\(file): changed Item.price\n" && run.errors.isEmpty, "\(run)")
    let line: String =
      #"<attribute name="price" attributeType="Decimal" minValueString="-5" defaultValueString="0.0"/>"#
    #expect(
      try text(file)
        == before.replacing(
          line,
          with: #"<attribute name="price" optional="YES" attributeType="Double" minValueString="-7" "#
            + #"defaultValueString="0.0" usesScalarValueType="YES"/>"#))
    for (line, says) in [
      ("Item.price", "Nothing is named to be changed"), ("price --optional", "as in `clarus model set MODEL"),
      ("Item.prise --optional", "Did you mean \"price\"?"),
      ("Item.price --requierd", "Unknown option '--requierd'. Did you mean '--required'?"),
      ("Item.title --default -none", "needs an equals sign: --default=-none"),
      ("Item --default x", "'Item' is an entity; of those --abstract,"),
      ("Item.title --abstract", "--abstract belongs to entities: name one without a property, Item."),
      ("Item.title --inverse a --no-inverse", "contradict each other"),
      ("Item --class ''", "--class is empty"),
      ("Item.price Number", "There is no type 'Number'"),
      ("Item.price --min 1 --no-min", "--min and --no-min contradict each other"),
      ("Item.price String", "would lose the minimum '-7'"),
      ("Item.price --renamed-from title", "Remove 'title' from this version, or leave --renamed-from out"),
    ] {
      let state = try FolderState(folder.url)
      let run: CommandLineRun = try clarus("model set Shop.xcdatamodeld \(line)")
      #expect(run.status != 0 && run.errors.contains(says), "\(run)")
      #expect(try FolderState(folder.url) == state)
    }
    #expect(try clarus("model add Shop.xcdatamodeld attribute --help").output.contains("clarus model set"))
  }

  // Finding: no former name of a relationship was found.
  @Test func `entities and relationships are changed and renamed, and former names are found`() throws {
    _ = try clarus("model new Shop --entity Item --entity Tag")
    for line in [
      "add Shop.xcdatamodeld relationship Item.tag Tag --inverse items --inverse-to-many",
      "add Shop.xcdatamodeld attribute Item.title String", "add Shop.xcdatamodeld version",
    ] {
      #expect(try clarus("model \(line)").status == 0)
    }
    for (line, output) in [
      ("Item.tag --rename label --rule deny", "renamed Item.tag to Item.label"),
      ("Item.title --rename name", "renamed Item.title to Item.name"),
      ("Tag --rename Label --class ShopLabel", "renamed Tag to Label"),
      ("Item.label --no-renamed-from", "changed Item.label"),
      ("Item.label --renamed-from tag", "changed Item.label"),
      ("Label --renamed-from Tag --abstract", "changed Label"),
    ] {
      let run: CommandLineRun = try clarus("model set Shop.xcdatamodeld \(line)")
      #expect(run.status == 0 && run.output.hasSuffix(": \(output)\n"), "\(run)")
    }
    let refused: CommandLineRun = try clarus("model set Shop.xcdatamodeld Item.label --renamed-from gat")
    #expect(
      refused.errors.contains("No other version has a relationship 'gat' of Item") && refused.status == 1,
      "\(refused)")
    let diff: CommandLineRun = try clarus("model diff Shop.xcdatamodeld --from Shop --to 'Shop 2'")
    for says in ["Item.label is named 'tag'", "Item.name is named 'title'", "Label is named 'Tag'"] {
      #expect(diff.output.contains(says), "\(diff)")
    }
  }

  // Finding: the module that the class had before was put before the one that was given.
  @Test func `a class with a module is the class, whatever module was there`() throws {
    _ = try clarus("model new Shop --entity Item")
    for name in [".Record", "Music.Record", "Outer.Record", "Record"] {
      let run: CommandLineRun = try clarus("model set Shop.xcdatamodeld Item --class \(name)")
      #expect(run.status == 0, "\(run)")
      let expected: String = name == "Record" ? "Outer.Record" : name
      let source = try String(
        contentsOf: folder.file("Shop.xcdatamodeld/Shop.xcdatamodel/contents"), encoding: .utf8)
      #expect(source.contains("representedClassName=\"\(expected)\""), "\(source)")
    }
  }

  @Test func `the Codegen of an entity is set`() throws {
    _ = try clarus("model new Shop --entity Item")
    for (word, expected) in [("category", "category"), ("class", "class"), ("none", nil)] {
      let run: CommandLineRun = try clarus("model set Shop.xcdatamodeld Item --codegen \(word)")
      #expect(run.status == 0, "\(run)")
      let source = try String(
        contentsOf: folder.file("Shop.xcdatamodeld/Shop.xcdatamodel/contents"), encoding: .utf8)
      let found: String? = expected.map { "codeGenerationType=\"\($0)\"" }
      #expect(found.map(source.contains) ?? !source.contains("codeGenerationType"), "\(source)")
    }
    #expect(try clarus("model set Shop.xcdatamodeld Item --codegen Klass").status == 2)
  }

  @Test(arguments: ["Item", "Item.title", "Item.tag"])
  func `a hash modifier gives a part another version hash`(part: String) throws {
    _ = try clarus("model new Shop --entity Item --entity Tag")
    for line in [
      "relationship Item.tag Tag --inverse items --inverse-to-many", "attribute Item.title String",
    ] {
      #expect(try clarus("model add Shop.xcdatamodeld \(line)").status == 0)
    }
    func hashes() throws -> String { try clarus("model hash Shop.xcdatamodeld").output }
    let before: String = try hashes()
    #expect(try clarus("model set Shop.xcdatamodeld \(part) --hash-modifier 2").status == 0)
    let changed: String = try hashes()
    #expect(changed != before)
    #expect(try clarus("model set Shop.xcdatamodeld \(part) --no-hash-modifier").status == 0)
    #expect(try hashes() == before)
  }

  @Test(arguments: [
    ("model new Shop", "Shop.xcdatamodeld: There is a file already"),
    ("model new .Shop", "can't be the name of a model"),
    ("model new x/y/Other", "x/y/Other.xcdatamodeld: There is no folder x/y. Make it first: mkdir -p 'x/y'"),
    ("model new Other --entity 1", "[entity-name]"),
    ("model add Shop.xcdatamodeld entity Item", "There is an entity 'Item' already"),
    ("model add Shop.xcdatamodeld entity Items --parent Itm", "Did you mean \"Item\"?"),
    ("model add Shop.xcdatamodeld attribute Item.hash String", "[reserved-name]"),
    (
      "model add Shop.xcdatamodeld attribute Item.a Number",
      "There is no type 'Number'. The types are String,"
    ),
    (
      "model add Shop.xcdatamodeld attribute a String",
      "'a' names no property: write the entity, a dot and the property, as in `clarus model add MODEL attribute "
        + "Item.title String`."
    ),
    (
      "model add Shop.xcdatamodeld attribute 'Integer 16' Item.a",
      "The type comes last: write `clarus model add MODEL attribute Item.a 'Integer 16'`."
    ),
    ("model add Shop.xcdatamodeld relationship Item Item", "as in `clarus model add MODEL relationship"),
    ("model add Shop.xcdatamodeld relationship Item.a Item --to-many --min -5", "[count-bounds]"),
    (
      "model add Shop.xcdatamodeld property Item.a",
      "'property' is nothing that can be added: write `clarus model add Shop.xcdatamodeld version`, or entity,"
    ),
    ("model add Shop.xcdatamodeld", "Nothing is named to be added: write"),
    ("model ad Shop.xcdatamodeld", "There is no command `clarus model ad`. Did you mean \"add\"?"),
    ("model bogus", "set, show, squash."),
    ("model add Shop.xcdatamodeld entity NSManagedObject", "the name of a type of Core Data"),
    ("model add Shop.xcdatamodeld attribute Item.a String --requird", "Unknown option '--requird'"),
    ("modell", "There is no command `clarus modell`. Did you mean \"model\"?"),
    ("model add Shop.xcdatamodeld entity A --class 'a b'", "[class-name]"),
    ("model add Shop.xcdatamodeld entity A --class ''", "--class is empty"),
    ("model add Shop.xcdatamodeld attribute Item.a String --pattern '['", "[invalid-pattern]"),
    (
      "model add Shop.xcdatamodeld attribute Item.a Int16 --pattern x",
      "can't have a pattern; only these have: String."
    ),
    (
      "model add Shop.xcdatamodeld attribute Item.a Binary --default x",
      "Binary, which can't have a default value;"
    ),
    ("model add Shop.xcdatamodeld attribute Item.a Transformable --default x", "can't have a default value;"),
    ("model add Shop.xcdatamodeld attribute Item.a Double --default nan", "no finite number"),
    ("model add Shop.xcdatamodeld attribute Item.a Double --default 1e400", "[default-range]"),
    ("model add Shop.xcdatamodeld attribute Item.a Float --default 1e39", "does not fit into a Float"),
    ("model add Shop.xcdatamodeld attribute Item.a Double --max nan", "[crossed-bounds]"),
    ("model add Shop.xcdatamodeld attribute Item.a Decimal --default 1,5", "has a point, not a comma"),
    ("model add Shop.xcdatamodeld attribute Item.a Decimal --default 0x1F", "no decimal number"),
    (
      "model add Shop.xcdatamodeld attribute Item.a Bool --min 1",
      "can't have a minimum; only these have: String,"
    ),
    (
      "model add Shop.xcdatamodeld attribute Item.a String --transformer T",
      "can't have a value transformer; only these have: Transformable."
    ),
    (
      "model add Shop.xcdatamodeld attribute Item.a String --external",
      "can't have external storage; only these have: Binary, Transformable."
    ),
    ("model add Shop.xcdatamodeld relationship Item.a Item --ordered", "add --to-many"),
    (
      "model add Shop.xcdatamodeld relationship Item.a Item --inverse-to-many",
      "Name the inverse with --inverse."
    ),
    ("model add Shop.xcdatamodeld version shop", "There is a version 'shop' already"),
    ("model add Shop.xcdatamodeld version a/b", "can't be the name of a model"),
    ("model add Shop.xcdatamodeld version B --from C", "There is no version 'C'. It has 'Shop'."),
    ("model add Shop.xcdatamodeld --model-version X entity A", "clarus model add"),
    ("model add Shop.xcdatamodeld entity A --model-version X", "There is no version 'X'. It has 'Shop'."),
    ("model add Missing.xcdatamodeld entity A", "Missing.xcdatamodeld: There is no such file."),
    ("model add . entity A", "Only the source of a model can be edited"),
    ("model from-store Shop.xcdatamodeld", "This is no store"),
    ("model from-store Missing.sqlite", "Missing.sqlite"),
  ])
  func `a mistake is an error that changes nothing`(line: String, says: String) throws {
    _ = try clarus("model new Shop --entity Item")
    let before = try FolderState(folder.url)
    let run: CommandLineRun = try clarus(line)
    #expect((1...2).contains(run.status) && run.output.isEmpty && run.errors.contains(says), "\(run)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    #expect(try FolderState(folder.url) == before)
  }

  @Test func `a write-protected source is not replaced`() throws {
    _ = try clarus("model new Shop --entity Item")
    let file: URL = folder.file("Shop.xcdatamodeld/Shop.xcdatamodel/contents")
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.path)
    let before = try FolderState(folder.url)
    let run: CommandLineRun = try clarus("model add Shop.xcdatamodeld attribute Item.a String")
    #expect(run.status == 1 && run.errors.contains("contents: The file is write-protected"), "\(run)")
    #expect(try FolderState(folder.url) == before)
  }

  @Test func `the help of what is added names the model first`() throws {
    let run: CommandLineRun = try clarus("model add Shop.xcdatamodeld attribute --help")
    #expect(
      run.status == 0 && run.output.contains("clarus model add <model> attribute <entity.name>"), "\(run)")
    #expect(try clarus("model add --help").output.contains("clarus model add Shop.xcdatamodeld entity Item"))
  }

  @Test func `the model of a store becomes a source that is equal to it`() throws {
    let store: String = CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores/Library.sqlite")
      .path
    let run: CommandLineRun = try clarus("model from-store '\(store)'")
    #expect(run.status == 0 && run.output == "Library.xcdatamodeld: 1 version\n", "\(run)")
    let diff: CommandLineRun = try clarus("model diff '\(store)' Library.xcdatamodeld")
    #expect(diff.status == 0, "\(diff)")
    let (left, right) = (
      try clarus("model show '\(store)' --json").json() as? [String: Any],
      try clarus("model show Library.xcdatamodeld --json").json() as? [String: Any]
    )
    #expect(left?["checksum"] as? String == right?["checksum"] as? String)
    #expect(try clarus("check '\(store)' --model Library.xcdatamodeld").status == 0)
    #expect(try clarus("model from-store '\(store)'").errors.contains("There is a file already"))
  }

  // MARK: Mistakes

  @Test(arguments: [
    // Finding: an ending, or the model, that was forgotten.
    (
      "model add Shop entity Gift", "clarus: Shop: There is no such file. Did you mean \"Shop.xcdatamodeld\"?"
    ),
    ("model lint ./Shop", "Did you mean \"./Shop.xcdatamodeld\"?"),
    ("model show Shp.xcdatamodeld", "Did you mean \"Shop.xcdatamodeld\"?"),
    ("model hash Other", "Its folder has Shop.xcdatamodeld."),
    (
      "model set Item.title String",
      "Item.title: There is no such file. The model comes first, as in `clarus model set Shop.xcdatamodeld …`."
    ),
    (
      "model set Item.title --required",
      "Missing expected argument '<entity[.name]>'. The model comes first: `clarus model set MODEL Item.title --required`. See"
    ),
    ("model add entity Item", "The model comes first: `clarus model add MODEL entity Item`."),
    (
      "model add Shop.xcdatamodeld attribute Item.n 'Intger 32'",
      "There is no type 'Intger 32'. Did you mean \"Integer 32\""
    ),
    ("model add Shop.xcdatamodeld attribute Item.n Whatever", "The types are String, Integer 16"),
    (
      "model set Shop.xcdatamodeld Item.title --frobnicate",
      "Unknown option '--frobnicate'. See 'clarus model set --help'"
    ),
    ("model set Shop.xcdatamodeld Item.kind String", "which can't have a type. Of relationships"),
    (
      "model set Shop.xcdatamodeld Item.title --hash-modifier ''",
      "--hash-modifier is empty: write a text, or take away what there is with --no-hash-modifier."
    ),
    (
      "model set Shop.xcdatamodeld Item.title --pattern \"$(printf 'a\\001')\"",
      "with the character U+0001, which the file of a model can't have; leave it out."
    ),
    ("model remove Shop.xcdatamodeld Item.titl", "Did you mean \"title\"?"),
    ("model remove Shop.xcdatamodeld Item.", "as in `clarus model remove MODEL Item.title`"),
    (
      "model add Shop.xcdatamodeld relationship Item.x Item --rule casc",
      "Please provide one of 'nullify', 'cascade', 'deny' or 'no-action'."
    ),
  ])
  func `a mistake is told with what may be meant`(line: String, says: String) throws {
    _ = try clarus("model new Shop --entity Item")
    _ = try clarus("model add Shop.xcdatamodeld attribute Item.title String")
    _ = try clarus("model add Shop.xcdatamodeld relationship Item.kind Item --inverse of")
    let run: CommandLineRun = try clarus(line)
    #expect(run.status != 0 && run.errors.contains(says), "\(run)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
  }

  @Test(arguments: ["Cascade", "CASCADE", "cascade"]) func `delete rules are words of any case`(word: String)
    throws
  {
    _ = try clarus("model new Shop --entity Item")
    for (name, rule, written) in [("a", word, "Cascade"), ("b", "'No Action'", "No Action")] {
      let run: CommandLineRun = try clarus(
        "model add Shop.xcdatamodeld relationship Item.\(name) Item --inverse \(name)Back --rule \(rule)")
      #expect(run.status == 0, "\(run)")
      #expect(
        try text("Shop.xcdatamodeld/Shop.xcdatamodel/contents").contains("deletionRule=\"\(written)\""))
    }
  }

  @Test func `what is so already is not told as changed, and an entity in lower case is warned of`() throws {
    let new: CommandLineRun = try clarus("model new Shop --entity Item --entity kind")
    #expect(
      new.status == 0 && new.errors.contains("kind: its name begins with a lower-case letter"), "\(new)")
    _ = try clarus("model add Shop.xcdatamodeld attribute Item.title String")
    let before: String = try text("Shop.xcdatamodeld/Shop.xcdatamodel/contents")
    for line in [
      "Item.title --rename title", "Item --rename Item", "Item.title --optional", "Item --concrete",
    ] {
      let run: CommandLineRun = try clarus("model set Shop.xcdatamodeld \(line)")
      #expect(
        run.status == 0
          && run.output == "Shop.xcdatamodeld/Shop.xcdatamodel/contents: nothing changed: it is so already\n",
        "\(run)")
    }
    #expect(try text("Shop.xcdatamodeld/Shop.xcdatamodel/contents") == before)
    let both: CommandLineRun = try clarus("model set Shop.xcdatamodeld Item.title --rename title --required")
    #expect(both.output.hasSuffix("changed Item.title\n"), "\(both)")
  }

  // MARK: Exchanged names

  /// Each step is right for itself, and the identifiers are those of the version before.
  @Test(arguments: [("String", "String"), ("String", "Date")])
  func `attributes that exchange their names exchange their values in a migration`(a: String, b: String)
    throws
  {
    _ = try clarus("model new Shop --entity Item")
    _ = try clarus("model add Shop.xcdatamodeld attribute Item.a \(a)")
    _ = try clarus("model add Shop.xcdatamodeld attribute Item.b \(b)")
    let other: String = b == "Date" ? "2026-01-02T00:00:00Z" : "B"
    try "{\"Item\": [{\"a\": \"A\", \"b\": \"\(other)\"}]}".write(
      to: folder.file("items.json"), atomically: true, encoding: .utf8)
    #expect(try clarus("import Shop.sqlite items.json --create --model Shop.xcdatamodeld").status == 0)
    _ = try clarus("model add Shop.xcdatamodeld version")
    var told: String = ""
    for (old, new) in [("a", "t"), ("b", "a"), ("t", "b")] {
      let run: CommandLineRun = try clarus("model set Shop.xcdatamodeld Item.\(old) --rename \(new)")
      #expect(run.status == 0, "\(run)")
      told += run.errors
    }
    // Alike, they have the hashes of before.
    #expect(told.contains("Item.b has the hash modifier 'was a' now") == (a == b), "\(told)")
    #expect(try clarus("model lint Shop.xcdatamodeld --strict").status == 0)
    let run: CommandLineRun = try clarus("migrate Shop.sqlite --to Shop.xcdatamodeld")
    #expect(run.status == 0 && run.output.contains("migrated to Shop 2"), "\(run)")
    let rows: CommandLineRun = try clarus("fetch Shop.sqlite Item --columns b --format csv")
    #expect(rows.output.split(whereSeparator: \.isNewline) == ["b", "A"], "\(rows)")
  }

  @Test func `a name that a migration can't tell from another is warned of`() throws {
    _ = try clarus("model new Shop --entity Item")
    for name in ["a", "b"] { _ = try clarus("model add Shop.xcdatamodeld attribute Item.\(name) String") }
    for version in 2...3 {
      _ = try clarus("model add Shop.xcdatamodeld version")
      var told: String = ""
      for (old, new) in [("a", "t"), ("b", "a"), ("t", "b")] {
        told += try clarus("model set Shop.xcdatamodeld Item.\(old) --rename \(new)").errors
      }
      #expect(
        told.contains(
          "A migration from version 'Shop 2' will give Item.a the values of Item.a, not those of Item.b")
          == (version == 3), "\(told)")
    }
  }

  @Test func `a renaming is undone by another, also after versions`() throws {
    _ = try clarus("model new Shop --entity Item")
    _ = try clarus("model add Shop.xcdatamodeld attribute Item.a String")
    for (old, new) in [("a", "b"), ("b", "c"), ("c", "a")] {
      _ = try clarus("model add Shop.xcdatamodeld version")
      let run: CommandLineRun = try clarus("model set Shop.xcdatamodeld Item.\(old) --rename \(new)")
      #expect(run.status == 0 && run.errors == "", "\(run)")
    }
    for (from, to) in [("Shop", "Shop 2"), ("Shop 2", "Shop 3"), ("Shop 3", "Shop 4"), ("Shop", "Shop 4")] {
      let diff: CommandLineRun = try clarus(
        "model diff Shop.xcdatamodeld --from '\(from)' --to '\(to)' --json")
      #expect(!diff.output.contains("removed") && !diff.output.contains("added"), "\(diff)")
    }
  }
}
