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
    #expect(try mapping(store, store, "--output", folder.file("A.cdm").path).status == 0)
    let refused = try mapping(package, store, "--mapping", package, "--output", folder.file("B.cdm").path)
    #expect(refused.status == 1 && !refused.errors.isEmpty, "\(refused)")
  }

  @Test func `a value is an expression of an attribute that the newer model has`() throws {
    for (value, status, says) in [
      ("Item", 2, "is no value: write the entity, a dot, the attribute"), ("Item.title", 2, "is no value"),
      ("Itm.title=1", 1, "Did you mean \"Item\"?"), ("Item.titel=1", 1, "Did you mean \"title\"?"),
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
}
