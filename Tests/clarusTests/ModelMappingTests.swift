import CoreDataModel
import CoreDataPredicates
import Foundation
import TestSupport
import Testing

/// `clarus model mapping`
struct ModelMappingTests {
  private let folder: TemporaryFolder
  private let package: String

  init() throws {
    folder = try TemporaryFolder()
    package = folder.file("ToDo.xcdatamodeld").path
    try FileManager.default.copyItem(
      at: CommandLineRun.packageRoot.appendingPathComponent("Examples/ToDo/Sources/ToDo/ToDo.xcdatamodeld"),
      to: folder.file("ToDo.xcdatamodeld"))
  }

  private func mapping(_ arguments: String...) throws -> CommandLineRun {
    try CommandLineRun(["model", "mapping"] + arguments)
  }

  private func compile(_ name: String, to output: String) throws -> Data {
    let run = try CommandLineRun(["model", "compile", folder.file(name).path, folder.file(output).path])
    #expect(run.status == 0, "\(run)")
    return try Data(contentsOf: folder.file(output))
  }

  @Test func `an inferred mapping model is written as a source that compiles to the compiled one`() throws {
    let versions: [String] = [package, "--from", "ToDo", "--to", "ToDo 2", "--output"]
    let source = try CommandLineRun(["model", "mapping"] + versions + [folder.file("A.xcmappingmodel").path])
    #expect(source.status == 0 && source.output.contains("entity mapping"), "\(source)")
    let compiled = try CommandLineRun(["model", "mapping"] + versions + [folder.file("A.cdm").path])
    #expect(compiled.status == 0, "\(compiled)")
    #expect(try compile("A.xcmappingmodel", to: "B.cdm") == Data(contentsOf: folder.file("A.cdm")))
    let again = try mapping(
      package, "--from", "ToDo", "--to", "ToDo 2", "--mapping", folder.file("A.cdm").path, "--output",
      folder.file("C.xcmappingmodel").path)
    #expect(again.status == 0, "\(again)")
    let sources: [Data] = try ["A", "C"].map {
      try Data(contentsOf: folder.file("\($0).xcmappingmodel/xcmapping.xml"))
    }
    #expect(sources[0] == sources[1])
    let taken = try CommandLineRun(["model", "mapping"] + versions + [folder.file("A.cdm").path])
    #expect(taken.status == 1 && taken.errors.contains("There is a file already"), "\(taken)")
  }

  @Test func `what can't be written says what to do`() throws {
    let other = try mapping(package, package, "--output", folder.file("A.xml").path)
    #expect(other.status == 2 && other.errors.contains("the ending .xcmappingmodel or .cdm"), "\(other)")
    let one = try mapping(package, "--output", folder.file("A.cdm").path)
    #expect(one.status == 2 && one.errors.contains("--from and --to"), "\(one)")
    let store: String =
      CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores/Library.sqlite").path
    let stored = try mapping(store, store, "--output", folder.file("A.xcmappingmodel").path)
    #expect(stored.status == 1 && stored.errors.contains("or write a .cdm"), "\(stored)")
    let same = try mapping(store, store, "--output", folder.file("A.cdm").path)
    #expect(same.status == 0 && same.errors.contains("have the same version hashes"), "\(same)")
    let refused = try mapping(package, store, "--mapping", package, "--output", folder.file("B.cdm").path)
    #expect(refused.status == 1 && !refused.errors.isEmpty, "\(refused)")
  }

  @Test func `a value is an expression of an attribute that the newer model has`() throws {
    for (value, status, says) in [
      ("Item", 2, "is no value: write the entity, a dot, the attribute"), ("Item.title", 2, "is no value"),
      ("Itm.title=1", 1, "The newer model has no entity 'Itm'. Did you mean \"Item\"?"),
      ("Item.titel=1", 1, "Did you mean \"title\"?"),
      ("Item.title=((", 1, "--value: Item.title: Unable to parse"),
    ] as [(String, Int32, String)] {
      let run = try mapping(
        package, "--from", "ToDo", "--to", "ToDo 2", "--value", value, "--output", folder.file("V.cdm").path)
      #expect(run.status == status && run.errors.contains(says), "\(run)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("V.cdm").path))
  }

  // Finding: the way out that refusals advise could not be followed.
  @Test func `an attribute may get any type, with an expression that converts its values`() throws {
    let old: String = try folder.writeShop(
      "1", #"<attribute name="code" optional="YES" attributeType="String"/>"#
    ).path
    let new: String = try folder.writeShop(
      "2", #"<attribute name="code" optional="YES" attributeType="Integer 32" usesScalarValueType="NO"/>"#
    ).path
    let output: String = folder.file("Code.cdm").path
    let refused = try mapping(old, new, "--output", output)
    #expect(
      refused.status == 1 && refused.errors.contains("--value 'Item.code=EXPRESSION'"), "\(refused)")
    let data: URL = folder.file("items.json")
    try #"{"Item": [{"code": "12"}, {"code": "abc"}, {}]}"#.write(to: data, atomically: true, encoding: .utf8)
    let store: String = folder.file("items.sqlite").path
    let filled = try CommandLineRun(["import", store, data.path, "--create", "--model", old])
    #expect(filled.status == 0, "\(filled)")
    for (expression, status) in [("$source.code", 1), ("CAST($source.code, \"NSNumber\")", 0)] {
      try? FileManager.default.removeItem(atPath: output)
      let made = try mapping(old, new, "--value", "Item.code=\(expression)", "--output", output)
      #expect(made.status == 0, "\(made)")
      let plan = try CommandLineRun(["migrate", store, "--to", new, "--mapping", output, "--plan"])
      #expect(plan.status == status, "\(plan)")
    }
    let run = try CommandLineRun(["migrate", store, "--to", new, "--mapping", output, "--verify"])
    #expect(run.status == 0, "\(run)")
    // "abc" is no number.
    #expect(run.output.contains("lost: 1 object(s) of Item have a value of code, of which"), "\(run)")
    let rows = try CommandLineRun(["fetch", store, "Item", "--model", new, "--columns", "code"])
    #expect(rows.output.contains("12"), "\(rows)")
  }

  @Test func `what is required and has no value is written without one, and named`() throws {
    let old: String = try folder.writeShop(
      "1", #"<attribute name="title" optional="YES" attributeType="String"/>"#
    ).path
    let new: String = try folder.writeShop(
      "2",
      #"<attribute name="title" attributeType="String"/><attribute name="sku" attributeType="String"/>"#
    ).path
    for name in ["A.xcmappingmodel", "A.cdm"] {
      let output: String = folder.file(name).path
      let run = try mapping(old, new, "--output", output)
      #expect(run.status == 0, "\(run)")
      #expect(run.errors.split(separator: "\n").count == 2, "\(run)")
      for attribute in ["sku", "title"] {
        #expect(
          run.errors.contains(
            "Give '\(attribute)' of the entity mapping for Item a value expression in \(output)"),
          "\(run)")
      }
    }
    let source = try String(contentsOf: folder.file("A.xcmappingmodel/xcmapping.xml"), encoding: .utf8)
    #expect(source.contains(">sku<"))
    let other: String = try folder.writeShop("3", #"<attribute name="title" attributeType="Date"/>"#).path
    let refused = try mapping(old, other, "--output", folder.file("B.cdm").path)
    #expect(refused.status == 1 && refused.errors.contains("Item.title is String"), "\(refused)")
  }

  // MARK: Values of several entities

  private func writeFamily(_ version: String, _ attributes: String, isAbstract: Bool = false) throws -> String
  {
    try folder.writeModel(
      "Family.xcdatamodeld/\(version).xcdatamodel",
      """
      <entity name="Parent"\(isAbstract ? " isAbstract=\"YES\"" : "")>\(attributes)
        <relationship name="kin" optional="YES" maxCount="1" destinationEntity="Child"/></entity>
      <entity name="Child" parentEntity="Parent"/>
      <entity name="Grandchild" parentEntity="Child"/>
      """
    ).path
  }
  private static let text: String = #"<attribute name="a" optional="YES" attributeType="String"/>"#
  private static let both: String = text + #"<attribute name="b" attributeType="String"/>"#

  @Test(arguments: [false, true])
  func `a value reaches the sub-entities that inherit the attribute, and one of their own prevails`(
    isAbstract: Bool
  ) throws {
    let old: String = try writeFamily("1", Self.text, isAbstract: isAbstract)
    let new: String = try writeFamily("2", Self.both, isAbstract: isAbstract)
    let data: URL = folder.file("family.json")
    let parents: String = isAbstract ? "" : #""Parent": [{"a": "p"}], "#
    try "{\(parents)\"Child\": [{\"a\": \"c\"}], \"Grandchild\": [{\"a\": \"g\"}]}".write(
      to: data, atomically: true, encoding: .utf8)
    for (values, expected) in [
      (["Parent.b=uppercase:($source.a)"], ["P", "C", "G"]),
      (["Child.b='own'", "Parent.b='all'"], ["all", "own", "own"]),
      (["Parent.b='all'", "Grandchild.b='own'"], ["all", "all", "own"]),
    ] {
      let (store, output): (URL, URL) = (folder.file("family.sqlite"), folder.file("Family.cdm"))
      for file in [store, output] { try? FileManager.default.removeItem(at: file) }
      let filled = try CommandLineRun(["import", store.path, data.path, "--create", "--model", old])
      #expect(filled.status == 0, "\(filled)")
      let options: [String] = values.flatMap { ["--value", $0] }
      let made = try CommandLineRun(["model", "mapping", old, new] + options + ["--output", output.path])
      #expect(made.status == 0 && made.errors == "", "\(made)")
      let run = try CommandLineRun(["migrate", store.path, "--to", new, "--mapping", output.path])
      #expect(run.status == 0, "\(run)")
      for (former, value) in zip(["p", "c", "g"], expected) where !isAbstract || former != "p" {
        let rows = try CommandLineRun(
          [
            "fetch", store.path, "Parent", "--columns", "b", "--where", "a == '\(former)'", "--format", "csv",
            "--model",
            new,
          ])
        #expect(rows.output.split(whereSeparator: \.isNewline).last.map(String.init) == value, "\(rows)")
      }
    }
  }

  @Test func `everything that is wrong with values is told, with mapping, property and key`() throws {
    let old: String = try writeFamily("1", #"<attribute name="a" optional="YES" attributeType="String"/>"#)
    let new: String = try writeFamily(
      "2",
      #"<attribute name="a" optional="YES" attributeType="Date"/><attribute name="sum" optional="YES" attributeType="Double" derived="YES" derivationExpression="1"/>"#
    )
    let output: String = folder.file("V.cdm").path
    for (values, says) in [
      (["Parent.kin=1"], ["--value: Parent.kin is a relationship, and --value is for attributes"]),
      (["Parent.sum=1"], ["--value: Parent.sum is derived"]),
      (["Parent.a=nil", "Parent.a=nil"], ["--value: Parent.a is given twice"]),
      // The lack of a value hides no mistake, and one mistake no other.
      (
        ["Parent.nope=1", "Paret.a=nil", "Child.a=(("],
        [
          "Parent has no attribute 'nope'", "Did you mean \"Parent\"?", "Child.a: Unable to parse",
          "--value 'Parent.a=EXPRESSION'",
        ]
      ),
      (
        ["Parent.a=CAST($source.nope, 'NSDate')"],
        [
          "--value: Parent.a, in the entity mapping 'IEM_Transform_Parent': $source.nope: keypath $source.nope not found in "
            + "entity Parent"
        ]
      ),
      (
        ["Parent.a=CAST($src.a, 'NSDate')"],
        ["$src: the variable has no value. There are $destination, $entityMapping,"]
      ),
      (["Parent.a=CAST(nope, 'NSDate')"], ["keypath nope not found in entity Parent"]),
    ] as [([String], [String])] {
      let options: [String] = values.flatMap { ["--value", $0] }
      let run = try CommandLineRun(["model", "mapping", old, new] + options + ["--output", output])
      #expect(run.status == 1 && run.errors.split(separator: "\n").count == 1, "\(run)")
      for text in says { #expect(run.errors.contains(text), "\(text) in \(run)") }
      #expect(!FileManager.default.fileExists(atPath: output))
    }
  }

  @Test func `keys of a given mapping model that the models don't have are told`() throws {
    let optional: String = Self.text + #"<attribute name="b" optional="YES" attributeType="String"/>"#
    let (old, new): (String, String) = (try writeFamily("1", Self.text), try writeFamily("2", optional))
    let models: [NSManagedObjectModel] = try [old, new].map {
      try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: $0)).model
    }
    let model: NSMappingModel = try MappingInference(from: models[0], to: models[1]).mappingModel()
    let parent = try #require(model.entityMappings.first { $0.destinationEntityName == "Parent" })
    let value = try #require(parent.attributeMappings?.first { $0.name == "b" })
    value.valueExpression = try CoreDataPredicates.NSExpression(parsing: "$source.x")
    let source: URL = folder.file("A.cdm")
    try model.archivedData().write(to: source)
    let run = try mapping(old, new, "--mapping", source.path, "--output", folder.file("B.cdm").path)
    #expect(run.status == 0, "\(run)")
    #expect(
      run.errors.contains("Parent.b, in the entity mapping 'IEM_Transform_Parent': $source.x: keypath"),
      "\(run)")
  }
}
