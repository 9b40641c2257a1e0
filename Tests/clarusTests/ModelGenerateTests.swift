import Foundation
import TestSupport
import Testing

/// `clarus model generate`; what it writes is tested with the generator.
struct ModelGenerateTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let kitchen: String =
    CommandLineRun.packageRoot.appendingPathComponent(
      "Tests/CoreDataModelPluginTests/Kitchen.xcdatamodeld"
    ).path

  private func generate(_ arguments: String...) throws -> CommandLineRun {
    try CommandLineRun(
      ["model", "generate", Self.kitchen, "--output", folder.file("Out").path] + arguments)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.file("Out").path).sorted() }
  }

  @Test func `the classes are written once, and with --all those of all entities`() throws {
    let first: CommandLineRun = try generate("--module", "Kitchen")
    #expect(first.status == 0, "\(first)")
    #expect(first.output.contains("written    KitchenTag+CoreDataClass.swift\n"))
    #expect(try names.count == 9)
    let second: CommandLineRun = try generate("--module", "Kitchen")
    #expect(
      !second.output.contains("written")
        && second.output.contains("unchanged  KitchenTag+CoreDataClass.swift"))
    let all: CommandLineRun = try generate("--all", "--accessors", "managed", "--json")
    let json: [String: Any] = try #require(try all.json() as? [String: Any])
    let files: [[String: Any]] = try #require(json["files"] as? [[String: Any]])
    #expect(files.count == 12 && files.allSatisfy { $0["written"] as? Bool == true })
    #expect((json["messages"] as? [Any])?.isEmpty == true)
  }

  @Test func `a file that was not generated is never replaced`() throws {
    try FileManager.default.createDirectory(at: folder.file("Out"), withIntermediateDirectories: true)
    let own: URL = folder.file("Out").appendingPathComponent("KitchenTag+CoreDataClass.swift")
    try Data("// Mine.\n".utf8).write(to: own)
    let run: CommandLineRun = try generate()
    #expect(
      run.status == 1 && run.errors.contains("KitchenTag+CoreDataClass.swift: The file was not generated"))
    #expect(try names == ["KitchenTag+CoreDataClass.swift"])
    #expect(try String(contentsOf: own, encoding: .utf8) == "// Mine.\n")
  }

  @Test func `a pipe and a folder in the place of a file are left alone, and nothing is written`() throws {
    try FileManager.default.createDirectory(at: folder.file("Out"), withIntermediateDirectories: true)
    let place: URL = folder.file("Out").appendingPathComponent("KitchenTag+CoreDataProperties.swift")
    #expect(mkfifo(place.path, 0o600) == 0)
    let pipe: CommandLineRun = try generate()
    #expect(
      pipe.status == 1 && pipe.errors.contains("It is no regular file, so it is not replaced"), "\(pipe)")
    try FileManager.default.removeItem(at: place)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let directory: CommandLineRun = try generate()
    #expect(directory.status == 1 && directory.errors.contains("There is a folder in the place of the file"))
    #expect(try names == ["KitchenTag+CoreDataProperties.swift"])
  }

  @Test func `generated files of no class of the model are named`() throws {
    #expect(try generate().status == 0)
    let first: URL = folder.file("Out").appendingPathComponent("KitchenTag+CoreDataClass.swift")
    try FileManager.default.copyItem(
      at: first, to: folder.file("Out").appendingPathComponent("Gone+CoreDataClass.swift"))
    try Data("// Mine.\n".utf8).write(
      to: folder.file("Out").appendingPathComponent("Own+CoreDataHelpers.swift"))
    let run: CommandLineRun = try generate()
    #expect(
      run.output.contains("left       Gone+CoreDataClass.swift: generated, but of no class of this model"))
    #expect(!run.output.contains("Own+"))
    let json: [String: Any]? = try generate("--json").json() as? [String: Any]
    #expect(json?["others"] as? [String] == ["Gone+CoreDataClass.swift"])
  }

  @Test func `what has no accessor is named with its line`() throws {
    let model: URL = folder.file("Shop.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    let text = """
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Item" representedClassName="Item" codeGenerationType="class">
      <attribute name="hash" attributeType="String"/></entity></model>
      """
    try Data(text.utf8).write(to: model.appendingPathComponent("contents"))
    let arguments: [String] = ["model", "generate", model.path, "--output", folder.file("Out").path]
    #expect(
      try CommandLineRun(arguments).errors.contains(
        "contents:3: warning: The property 'hash' of entity 'Item'"))
    let json: Any = try CommandLineRun(arguments + ["--json"]).json()
    let messages: [[String: Any]]? = (json as? [String: Any])?["messages"] as? [[String: Any]]
    #expect(messages?.first?["line"] as? Int == 3 && messages?.first?["severity"] as? String == "warning")
  }

  @Test func `options that don't go together are refused`() throws {
    let run: CommandLineRun = try generate("--collections", "swift", "--accessors", "managed")
    #expect(run.status == 2 && run.errors.contains("don't go together"))
  }

  @Test func `a folder is named with the models in it`() throws {
    try FileManager.default.createDirectory(at: folder.file("Empty"), withIntermediateDirectories: true)
    let empty = try CommandLineRun([
      "model", "generate", folder.file("Empty").path, "--output", folder.file("Out").path,
    ])
    #expect(
      empty.status == 1 && empty.errors.contains("It is a folder without a model in it. Name a model:"),
      "\(empty)")
    // Without classes there is nothing to write, whatever is asked for.
    let bare: URL = folder.file("Bare.xcdatamodel")
    try FileManager.default.createDirectory(at: bare, withIntermediateDirectories: true)
    try """
    <model type="com.apple.IDECoreDataModeler.DataModel">
      <entity name="Item"><attribute name="a" attributeType="String"/></entity>
    </model>
    """.write(to: bare.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    let none = try CommandLineRun(
      ["model", "generate", bare.path, "--all", "--output", folder.file("Out").path])
    #expect(none.status == 0 && none.output.hasPrefix("No entity names a class"), "\(none)")
    try? FileManager.default.removeItem(at: folder.file("Out"))
    let parent: String = URL(fileURLWithPath: Self.kitchen).deletingLastPathComponent().path
    let full = try CommandLineRun(["model", "generate", parent, "--output", folder.file("Out").path])
    #expect(full.status == 1 && full.errors.contains("a folder with Kitchen.xcdatamodeld in it"), "\(full)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("Out").path))
  }
}
