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
    #expect(first.errors.contains("contents:21: warning: The property 'description' of entity 'Recipe'"))
    #expect(first.output.contains("written    Tag+CoreDataClass.swift\n"))
    #expect(try names.count == 9)
    let second: CommandLineRun = try generate("--module", "Kitchen")
    #expect(
      !second.output.contains("written") && second.output.contains("unchanged  Tag+CoreDataClass.swift"))
    let all: CommandLineRun = try generate("--all", "--accessors", "managed", "--json")
    let json: [String: Any] = try #require(try all.json() as? [String: Any])
    let files: [[String: Any]] = try #require(json["files"] as? [[String: Any]])
    #expect(files.count == 12 && files.allSatisfy { $0["written"] as? Bool == true })
    #expect((json["messages"] as? [[String: Any]])?.first?["line"] as? Int == 21)
  }

  @Test func `a file that was not generated is never replaced`() throws {
    try FileManager.default.createDirectory(at: folder.file("Out"), withIntermediateDirectories: true)
    let own: URL = folder.file("Out").appendingPathComponent("Tag+CoreDataClass.swift")
    try Data("// Mine.\n".utf8).write(to: own)
    let run: CommandLineRun = try generate()
    #expect(run.status == 1 && run.errors.contains("Tag+CoreDataClass.swift: The file was not generated"))
    #expect(try names == ["Tag+CoreDataClass.swift"])
    #expect(try String(contentsOf: own, encoding: .utf8) == "// Mine.\n")
  }

  @Test func `options that don't go together are refused`() throws {
    let run: CommandLineRun = try generate("--collections", "swift", "--accessors", "managed")
    #expect(run.status == 2 && run.errors.contains("don't go together"))
  }
}
