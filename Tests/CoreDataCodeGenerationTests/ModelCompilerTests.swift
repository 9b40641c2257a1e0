import CoreDataModel
import Foundation
import TestSupport
import Testing

/// `coredata-modelc`, run as a process.
struct ModelCompilerTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

  private func modified(_ name: String) throws -> Date {
    try #require(try FileManager.default.attributesOfItem(atPath: path(name))[.modificationDate] as? Date)
  }

  private static let item: String = """
    <entity name="Item" representedClassName="Item" codeGenerationType="class">
      <attribute name="title" attributeType="String"/>
    </entity>
    """

  @Test func `a model package compiles to a folder that has every version and the same hashes`() throws {
    let source: URL = folder.url.appendingPathComponent("Shop.xcdatamodeld")
    for name in ["Shop", "Shop 2"] {
      try TextModel.write(
        Self.item.replacing("title", with: "title\(name.count)"),
        to: source.appendingPathComponent("\(name).xcdatamodel"))
    }
    try PropertyListSerialization.data(
      fromPropertyList: ["_XCCurrentVersionName": "Shop 2.xcdatamodel"], format: .xml, options: 0
    ).write(to: source.appendingPathComponent(".xccurrentversion"))
    let output: Output = try Programs.modelCompiler("compile", source.path, path("Shop.momd"))
    #expect(output.status == 0 && output.text == "", "\(output)")
    let compiled = URL(fileURLWithPath: path("Shop.momd"))
    for url in [source, compiled] {
      let current: NSManagedObjectModel = try NSManagedObjectModel.load(contentsOf: url).model
      #expect(current.entitiesByName["Item"]?.attributesByName.keys.sorted() == ["title6"])
    }
    let (old, new) = try (
      NSManagedObjectModel.loadVersions(contentsOf: source),
      NSManagedObjectModel.loadVersions(contentsOf: compiled)
    )
    #expect(
      old.mapValues(\.model.entityVersionHashesByName) == new.mapValues(\.model.entityVersionHashesByName))
  }

  @Test func `a single model compiles to a file, and a mapping model too`() throws {
    let source: URL = try TextModel.write(
      Self.item, to: folder.url.appendingPathComponent("Shop.xcdatamodel"))
    #expect(try Programs.modelCompiler("compile", source.path, path("Shop.mom")).status == 0)
    let compiled: NSManagedObjectModel = try NSManagedObjectModel.load(
      contentsOf: URL(fileURLWithPath: path("Shop.mom"))
    ).model
    #expect(compiled.entitiesByName.keys.sorted() == ["Item"])

    // The mapping model of the example lies apart from the model that it names.
    let examples: URL = SharedFiles.package.appendingPathComponent("Examples/ToDo")
    for name in ["Sources/ToDo/ToDo.xcdatamodeld", "Migration/Mapping/ToDo1to2.xcmappingmodel"] {
      let url: URL = examples.appendingPathComponent(name)
      try FileManager.default.copyItem(at: url, to: folder.url.appendingPathComponent(url.lastPathComponent))
    }
    let mapping: Output = try Programs.modelCompiler(
      "compile", path("ToDo1to2.xcmappingmodel"), path("ToDo1to2.cdm"))
    #expect(mapping.status == 0, "\(mapping)")
    let read: NSMappingModel = try NSMappingModel.load(contentsOf: URL(fileURLWithPath: path("ToDo1to2.cdm")))
    #expect(read.entityMappings?.count == 2)
  }

  @Test func `what has not changed is not written again`() async throws {
    let source: URL = folder.url.appendingPathComponent("Shop.xcdatamodeld")
    let version: URL = source.appendingPathComponent("Shop.xcdatamodel")
    try TextModel.write(Self.item, to: version)
    func build() throws {
      let output: Output = try Programs.modelCompiler(
        "build", source.path, path("Shop.momd"), path("Shop.swift"), "--module", "Shop")
      #expect(output.status == 0 && output.text == "", "\(output)")
    }
    try build()
    let old: Date = Date(timeIntervalSinceReferenceDate: 0)
    func age() throws {
      for name in ["Shop.momd", "Shop.swift"] {
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path(name))
      }
    }
    try age()
    try build()
    #expect(try modified("Shop.momd") == old && modified("Shop.swift") == old)
    // What does not concern the classes does not touch them.
    try TextModel.write(Self.item.replacing("/>", with: " minValueString=\"1\"/>"), to: version)
    try build()
    #expect(try modified("Shop.momd") > old && modified("Shop.swift") == old)
  }

  @Test func `mistakes of a model are reported at their line`() throws {
    let source: URL = folder.url.appendingPathComponent("Shop.xcdatamodeld")
    let version: URL = source.appendingPathComponent("Shop.xcdatamodel")
    let file: String = version.appendingPathComponent("contents").path
    func messages(_ elements: String) throws -> (Int32, [String]) {
      try TextModel.write(elements, to: version)
      let output: Output = try Programs.modelCompiler(
        "build", source.path, path("Shop.momd"), path("Shop.swift"))
      return (
        output.status, output.text.replacing(file, with: "contents").split(separator: "\n").map(String.init)
      )
    }
    var (status, lines) = try messages(
      "<entity name=\"A\"/>\n<entity name=\"B\">\n<relationship name=\"a\" destinationEntity=\"C\"/></entity>"
    )
    #expect(status == 1)
    #expect(
      lines == [
        "contents:4: error: Relationship 'a' of entity 'B' leads to 'C', which is not in the model."
      ])
    (status, lines) = try messages("<entity name=\"A\" color=\"red\"/>")
    #expect(status == 0)
    #expect(
      lines == ["contents:2: warning: <entity> has the unknown attribute 'color'; what it says is ignored"])
    (status, lines) = try messages(
      "<entity name=\"A\" representedClassName=\"1\" codeGenerationType=\"class\"/>")
    #expect(status == 1)
    #expect(lines == ["contents:2: error: The class '1' of entity 'A' is no name of a class in Swift."])
  }

  @Test func `options come from the command line or from a file`() throws {
    let source: URL = try TextModel.write(
      Self.item, to: folder.url.appendingPathComponent("Shop.xcdatamodel"))
    func generate(_ arguments: String...) throws -> (Int32, String, String) {
      let output: Output = try Programs.run(
        Programs.build.appendingPathComponent("coredata-modelc"),
        ["generate", source.path, path("Shop.swift")] + arguments)
      let text: String = (try? String(contentsOfFile: path("Shop.swift"), encoding: .utf8)) ?? ""
      return (output.status, output.text, text)
    }
    #expect(try generate("--access", "internal").2.contains("\nclass Item: NSManagedObject"))
    try Data(#"{"access": "package", "fetchedProperties": false}"#.utf8).write(
      to: folder.url.appendingPathComponent("options.json"))
    #expect(
      try generate("--options", path("options.json")).2.contains("\npackage class Item: NSManagedObject"))
    #expect(!(try generate("--classes", "none")).2.contains("class "))

    for (arguments, status, message) in [
      (["--access", "secret"], 2, "--access secret: It is one of public, package, internal, open."),
      (["--colour", "red"], 2, "--colour red: There is no such option"),
      (["--access"], 2, "--access needs a value."),
      (["--accessors", "managed", "--collections", "swift"], 2, "don't go together"),
    ] as [([String], Int32, String)] {
      let output: Output = try Programs.run(
        Programs.build.appendingPathComponent("coredata-modelc"),
        ["generate", source.path, path("Shop.swift")] + arguments)
      #expect(output.status == status && output.text.contains(message), "\(output)")
    }
    for (text, line, message) in [
      ("{", 1, "The options can't be read"), ("[]", 1, "The options are no JSON object"),
      (#"{"access": 1.5}"#, 1, "access: It is neither a text nor true or false."),
      ("{\n  \"access\": \"internal\",\n  \"colour\": \"red\"}", 3, "colour: There is no such option"),
    ] {
      try Data(text.utf8).write(to: folder.url.appendingPathComponent("options.json"))
      let (status, output, _) = try generate("--options", path("options.json"))
      #expect(
        status == 1 && output.hasPrefix("\(path("options.json")):\(line): error: ")
          && output.contains(message),
        "\(output)")
    }
  }

  @Test func `classes with @NSManaged get their accessors, if the options want such classes`() throws {
    let source: URL = try TextModel.write(
      """
      <entity name="Item" representedClassName="Item" codeGenerationType="class">
        <attribute name="title" optional="YES" attributeType="String"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="item"/>
      </entity>
      <entity name="Tag" representedClassName="Tag">
        <relationship name="item" optional="YES" maxCount="1" destinationEntity="Item" inverseName="tags"/>
      </entity>
      """, to: folder.url.appendingPathComponent("Shop.xcdatamodel"))
    // Its own members are those of the other plugin.
    let byHand: URL = folder.url.appendingPathComponent("Tag.swift")
    try Data(
      "import CoreData\npublic class Tag: NSManagedObject { @NSManaged var item: Item? }\n".utf8
    ).write(to: byHand)
    let options: String = path("options.json")
    func accessors(_ kind: String) throws -> String {
      try Data("{\"accessors\": \"\(kind)\"}".utf8).write(to: URL(fileURLWithPath: options))
      for arguments in [
        ["build", source.path, path("Shop.mom"), path("Shop.swift"), "--options", options],
        [
          "accessors", "--options", options, "--module", "Checked", "--work", path("Work"), "--output",
          path("Accessors.swift"), "--beside", byHand.path, path("Shop.swift"),
        ],
      ] {
        let output: Output = try Programs.run(
          Programs.build.appendingPathComponent("coredata-modelc"), arguments)
        #expect(output.status == 0 && output.text == "", "\(output)")
      }
      return try String(contentsOfFile: path("Accessors.swift"), encoding: .utf8)
    }
    let managed: String = try accessors("managed")
    #expect(managed.components(separatedBy: "@_silgen_name").count - 1 == 8)
    #expect(
      managed.contains("C5titleSSSgvg\")") && managed.contains("C9addToTagsyyAA3TagCF\")"), "\(managed)")
    #expect(
      try Programs.typeCheck(
        [URL(fileURLWithPath: path("Shop.swift")), byHand]
          + [URL(fileURLWithPath: path("Accessors.swift"))]) == "")
    for kind in ["slots", "portable"] { #expect(try !accessors(kind).contains("func")) }
  }

  // Finding: programs that used a library's subscript by name did not compile.
  @Test func `a library may give objects a subscript by name, as for Apple's framework`() throws {
    let library: URL = folder.url.appendingPathComponent("Helper.swift")
    try Data(
      """
      import CoreData
      extension NSManagedObject {
        public subscript(key: String) -> Any? {
          get { value(forKey: key) }
          set { setValue(newValue, forKey: key) }
        }
      }

      """.utf8
    ).write(to: library)
    let module: URL = folder.url.appendingPathComponent("Helper.swiftmodule")
    #expect(try Programs.typeCheck([library], module: "Helper", makes: module) == "")
    let use: URL = folder.url.appendingPathComponent("Use.swift")
    try Data(
      """
      import CoreData
      import Helper
      func name(of object: NSManagedObject) -> String? {
        object["name"] = "a"
        let value = object["name"]
        return value as? String
      }

      """.utf8
    ).write(to: use)
    #expect(try Programs.typeCheck([use], searching: [folder.url]) == "")
  }

  @Test func `the alias file settles names that Foundation has too`() throws {
    #expect(try Programs.modelCompiler("aliases", path("Names.swift")).status == 0)
    let use: URL = folder.url.appendingPathComponent("Use.swift")
    try Data(
      """
      import CoreData
      import Foundation
      func key(_ name: String) -> NSExpression { NSExpression(forKeyPath: name) }
      func both(_ one: NSPredicate, _ other: NSPredicate) -> NSCompoundPredicate {
        NSCompoundPredicate(andPredicateWithSubpredicates: [one, other])
      }

      """.utf8
    ).write(to: use)
    #expect(try Programs.typeCheck([URL(fileURLWithPath: path("Names.swift")), use]) == "")
    #expect(try Programs.typeCheck([use]).contains("ambiguous"))
  }

  @Test(arguments: [
    (["compile"], 2), (["compile", "a", "b", "c"], 2), (["compose"], 2),
    (["compile", "none.xcdatamodeld", "x"], 1),
    (["compile", "none.txt", "x"], 1), (["help"], 0), ([], 0), (["build", "a", "b", "c"], 2),
  ])
  func `the exit status says whether it worked`(_ arguments: [String], _ status: Int) throws {
    let output: Output = try Programs.run(
      Programs.build.appendingPathComponent("coredata-modelc"), arguments, in: folder.url)
    #expect(Int(output.status) == status, "\(output)")
    #expect(!output.text.isEmpty)
  }

  @Test func `a file that was not generated is not replaced`() throws {
    let source: URL = folder.url.appendingPathComponent("Shop.xcdatamodel")
    try TextModel.write(Self.item, to: source)
    try Data("let precious = 1\n".utf8).write(to: URL(fileURLWithPath: path("Shop.swift")))
    let output: Output = try Programs.modelCompiler("generate", source.path, path("Shop.swift"))
    #expect(output.status == 1 && output.text.contains("Shop.swift:1: error: The file was not generated"))
    #expect(try String(contentsOfFile: path("Shop.swift"), encoding: .utf8) == "let precious = 1\n")
    try FileManager.default.removeItem(atPath: path("Shop.swift"))
    for _ in 0..<2 {
      #expect(try Programs.modelCompiler("generate", source.path, path("Shop.swift")).status == 0)
      try TextModel.write(Self.item.replacing("title", with: "name"), to: source)
    }
  }

}
