import Foundation
import TestSupport
import Testing

/// `clarus model lint`
struct ModelLintTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try write("Shop.xcdatamodel/contents", Self.source)
  }

  /// A warning (no inverse) in line 4, column 9; a note (optional Boolean) in line 3.
  private static let source: String = """
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Item" representedClassName="Item" syncable="YES">
            <attribute name="done" optional="YES" attributeType="Boolean" usesScalarValueType="YES"/>
            <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag"/>
        </entity>
        <entity name="Tag" representedClassName="Tag" syncable="YES">
            <attribute name="name" attributeType="String"/><attribute name="rank" attributeType="Integer 16"/>
        </entity>
    </model>
    """

  private func write(_ path: String, _ text: String) throws {
    let file: URL = folder.file(path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private func lint(_ arguments: String) throws -> CommandLineRun {
    try CommandLineRun(
      shell: "cd '\(folder.url.path)' && \"$CLARUS\" model lint Shop.xcdatamodel \(arguments)")
  }

  @Test func `warnings fail with --strict only, at file, line and column`() throws {
    let lenient: CommandLineRun = try lint("")
    let place: String = "Shop.xcdatamodel/contents:4:9: warning: Item.tags: "
    #expect(lenient.status == 0 && lenient.output.hasPrefix(place), "\(lenient)")
    #expect(lenient.output.hasSuffix("[no-inverse]\n"))
    let strict: CommandLineRun = try lint("--strict")
    #expect(strict.status == 1 && strict.output == lenient.output, "\(strict)")
    #expect(strict.errors == "clarus: Shop.xcdatamodel: The model has 1 warning.\n")
  }

  @Test func `notes are shown when asked for, and never fail`() throws {
    let run: CommandLineRun = try lint("--notes --strict --ignore no-inverse")
    #expect(run.status == 0 && run.output.contains("contents:3:9: note: Item.done:"), "\(run)")
    #expect(run.output.contains("[optional-boolean]"))
  }

  @Test func `a model that can't be read is an error at its line, in JSON too`() throws {
    try write(
      "Shop.xcdatamodel/contents", Self.source.replacingOccurrences(of: "Integer 16", with: "Integer 17"))
    let run: CommandLineRun = try lint("")
    #expect(run.status == 1 && run.output.contains("/contents:7: error: "), "\(run)")
    #expect(run.output.hasSuffix(" [unreadable]\n"))
    let json: [String: Any]? = try lint("--json").json() as? [String: Any]
    let problem: [String: Any] = try #require((json?["problems"] as? [[String: Any]])?.first)
    #expect(problem["line"] as? Int == 7 && problem["code"] as? String == "unreadable")
  }

  @Test func `what the build of the classes will say is told`() throws {
    let text: String = Self.source.replacingOccurrences(
      of: "<attribute name=\"name\" attributeType=\"String\"/>",
      with:
        "<attribute name=\"name\" attributeType=\"String\"><userInfo><entry key=\"clarus.cases\" value=\"a, 1b\"/></userInfo></attribute>"
    ).replacingOccurrences(
      of: "representedClassName=\"Tag\"", with: "representedClassName=\"Tag\" codeGenerationType=\"class\"")
    try write("Shop.xcdatamodel/contents", text)
    let run: CommandLineRun = try lint("")
    #expect(
      run.status == 1 && run.output.contains("contents:7: error: The user info of attribute 'name'"), "\(run)"
    )
    #expect(run.output.hasSuffix(" [generated-code]\n"))
    let json: [String: Any]? = try lint("--json").json() as? [String: Any]
    let codes: [String] = (json?["problems"] as? [[String: Any]])?.compactMap { $0["code"] as? String } ?? []
    #expect(codes == ["no-inverse", "generated-code"])
    #expect(try lint("--ignore generated-code").status == 0)
  }

  @Test func `a line in which two elements begin has no column`() throws {
    try write(
      "Shop.xcdatamodel/contents", Self.source.replacingOccurrences(of: "\"rank\"", with: "\"objectID\""))
    let run: CommandLineRun = try lint("")
    #expect(run.status == 1 && run.output.contains("contents:7: error: Tag.objectID:"), "\(run)")
    let json: CommandLineRun = try lint("--json")
    let problems = try #require((try json.json() as? [String: Any])?["problems"] as? [[String: Any]])
    let reserved = try #require(problems.first { $0["code"] as? String == "reserved-name" })
    #expect(reserved["line"] as? Int == 7 && reserved["column"] is NSNull)
    #expect(reserved["page"] as? String == "Documentation/lint.md#reserved-name")
    let inverse = try #require(problems.first { $0["code"] as? String == "no-inverse" })
    #expect(inverse["line"] as? Int == 4 && inverse["column"] as? Int == 9)
  }

  @Test func `a file in the package ignores rules of the whole model`() throws {
    try write("Shop.xcdatamodel/.clarus-lint", "# reasons\nno-action\nno-inverse  # in all entities\n")
    let run: CommandLineRun = try lint("--strict")
    #expect(run.status == 0 && run.output == "No problems found.\n", "\(run)")
    try write("Shop.xcdatamodel/.clarus-lint", "\nno-invers\n")
    let wrong: CommandLineRun = try lint("")
    #expect(wrong.status == 1 && wrong.output.isEmpty, "\(wrong)")
    #expect(wrong.errors.contains("Shop.xcdatamodel/.clarus-lint:2: There is no rule 'no-invers'."))
  }

  @Test func `in an .xcdatamodeld the file holds for every version`() throws {
    for version in ["Shop", "Shop 2"] {
      try write("All.xcdatamodeld/\(version).xcdatamodel/contents", Self.source)
    }
    try write("All.xcdatamodeld/.clarus-lint", "*\n")
    for version in ["Shop", "Shop 2"] {
      let run = try CommandLineRun([
        "model", "lint", folder.file("All.xcdatamodeld").path, "--strict", "--model-version", version,
      ])
      #expect(run.status == 0 && run.output == "No problems found.\n", "\(run)")
    }
  }

  @Test func `an unknown code is wrong usage`() throws {
    let run: CommandLineRun = try lint("--ignore nonsense")
    #expect(run.status == 2 && run.errors.contains("--ignore: There is no rule 'nonsense'."), "\(run)")
  }
}
