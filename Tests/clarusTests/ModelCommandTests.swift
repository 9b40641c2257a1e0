import Foundation
import TestSupport
import Testing

/// The commands on models, over every form in which a model exists.
struct ModelCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let store: String =
    CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores/Library.sqlite").path

  @Test(arguments: [
    "show", "hash", "lint", "diff", "graph", "generate --all --output Classes",
    "decompile --output New.xcdatamodeld",
  ])
  func `a command works on sources, compiled models and stores`(command: String) throws {
    func clarus(_ line: String) throws -> CommandLineRun {
      try CommandLineRun(shell: "cd '\(folder.url.path)' && \"$CLARUS\" model \(line)")
    }
    #expect(try clarus("from-store '\(Self.store)'").status == 0)
    #expect(try clarus("compile Library.xcdatamodeld").status == 0)
    for model in [
      "Library.xcdatamodeld", "Library.xcdatamodeld/Library.xcdatamodel", "Library.momd",
      "Library.momd/Library.mom", Self.store,
    ] {
      var words: [String] = command.split(separator: " ").map(String.init)
      words.insert("'\(model)'", at: 1)
      if words[0] == "diff" { words.append("Library.momd") }
      let run: CommandLineRun = try clarus(words.joined(separator: " "))
      #expect(run.status == 0 && !run.output.isEmpty && run.errors.isEmpty, "\(model): \(run)")
      try? FileManager.default.removeItem(at: folder.file("New.xcdatamodeld"))
      try? FileManager.default.removeItem(at: folder.file("Classes"))
    }
  }

  /// A model's source with entities as the editor writes them.
  private func source(_ name: String, entities: String) throws -> URL {
    let model: URL = folder.file("\(name).xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    \(entities)
    </model>
    """.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    return model
  }

  @Test func `what values are allowed is shown`() throws {
    let model: URL = try source(
      "Rules",
      entities: """
        <entity name="Item" syncable="YES">
          <attribute name="code" attributeType="String" minValueString="2" maxValueString="9" regularExpressionString="[A-Z]+"/>
          <attribute name="rank" attributeType="Integer 16" minValueString="1" maxValueString="5"/>
          <attribute name="day" attributeType="Date" minDateTimeInterval="0"/>
          <attribute name="free" attributeType="String"/>
          <relationship name="parts" optional="YES" toMany="YES" minCount="1" maxCount="3" deletionRule="Nullify" destinationEntity="Item"/>
        </entity>
        """)
    let run = try CommandLineRun(["model", "show", model.path])
    for words in [
      "length at least 2, length at most 9, pattern [A-Z]+", "at least 1, at most 5", "at least \"2001-01-01",
      "to-many, at least 1, at most 3, no inverse, on delete Nullify",
    ] { #expect(run.output.contains(words), "\(run)") }
    let json = try CommandLineRun(["model", "show", model.path, "--json"])
    let entities = try #require((try json.json() as? [String: Any])?["entities"] as? [[String: Any]])
    let attributes = try #require(entities.first?["attributes"] as? [[String: Any]])
    let code = try #require(attributes.first { $0["name"] as? String == "code" })
    #expect(
      code["minLength"] as? Int == 2 && code["maxLength"] as? Int == 9
        && code["pattern"] as? String == "[A-Z]+")
    let rank = try #require(attributes.first { $0["name"] as? String == "rank" })
    #expect(rank["min"] as? Int == 1 && rank["max"] as? Int == 5)
    let free = try #require(attributes.first { $0["name"] as? String == "free" })
    #expect(free["minLength"] == nil && free["rules"] == nil)
  }

  // Finding: a computed column had a name that the reader of the file had made up, "expression1".
  @Test func `indexes are shown with their expressions, directions and kinds`() throws {
    let model: URL = try source(
      "Place",
      entities: """
        <entity name="Place" syncable="YES">
          <attribute name="x" attributeType="Double" optional="YES"/>
          <attribute name="y" attributeType="Double" optional="YES"/>
          <fetchIndex name="sum">
            <fetchIndexElement expression="x + y" expressionType="Double" type="Binary" order="descending"/>
          </fetchIndex>
          <fetchIndex name="where">
            <fetchIndexElement property="x" type="RTree" order="ascending"/>
            <fetchIndexElement property="y" type="RTree" order="ascending"/>
          </fetchIndex>
        </entity>
        """)
    let run = try CommandLineRun(["model", "show", model.path])
    #expect(run.output.contains("\n  index sum: x + y downwards\n"), "\(run)")
    #expect(run.output.contains("\n  index where: x in an R-tree, y in an R-tree\n"), "\(run)")
  }

  @Test func `the commands have the names that the guide lists`() throws {
    let run = try CommandLineRun(["model", "--help"])
    for name in [
      "show", "hash", "lint", "diff", "squash", "merge", "generate", "compile", "decompile", "from-store",
      "graph",
      "new", "add",
    ] {
      #expect(run.output.contains("\n  \(name) "), "\(name)")
    }
  }
}

/// A real history of many versions.
@Suite(.enabled(if: Fixtures.areThere, "There are no fixtures; set CLARUS_FIXTURES to their folder."))
struct ModelHistoryTests {
  private static let package: String = Fixtures.folder.appendingPathComponent(
    "models/swift-projects+WordPress-iOS/WordPress/Classes/WordPress.xcdatamodeld"
  ).path

  private func clarus(_ arguments: String...) throws -> CommandLineRun {
    try CommandLineRun(["model"] + arguments)
  }

  @Test func `versions beside one another and far apart are compared`() throws {
    for (from, to, change) in [
      ("70", "71", "* Media.error is only in the destination"),
      ("72", "73", "* Blog.quotaSpaceAllowed is only in the destination"),
    ] {
      let run = try clarus("diff", Self.package, "--from", "WordPress \(from)", "--to", "WordPress \(to)")
      #expect(run.status == 1 && run.output.contains("\(change)\n"), "\(run)")
      #expect(run.output.hasSuffix("A mapping model can be inferred.\n"))
    }
    let same = try clarus("diff", Self.package, "--from", "WordPress 73")
    #expect(same.status == 0, "73 is the current one: \(same)")
    let far = try clarus("diff", Self.package, "--from", "WordPress 45", "--json")
    let facts = try #require(try far.json() as? [String: Any])
    #expect((facts["entities"] as? [Any])?.count == 26)
  }

  @Test func `old versions have the mistake that later ones do not have`() throws {
    let old = try clarus("lint", Self.package, "--model-version", "WordPress 40")
    #expect(old.status == 1 && old.output.contains("contents:462:5: error: UnreadNotes:"), "\(old)")
    let current = try clarus("lint", Self.package)
    #expect(current.status == 0 && !current.output.contains(": error:"), "\(current)")
    #expect(try clarus("lint", Self.package, "--strict").status == 1)
  }

  @Test func `pictures of versions show what changed`() throws {
    let (old, new) = (
      try clarus("graph", Self.package, "--model-version", "WordPress 72"), try clarus("graph", Self.package)
    )
    #expect(old.status == 0 && new.status == 0)
    #expect(!old.output.contains(">quotaSpaceUsed<") && new.output.contains(">quotaSpaceUsed<"))
  }
}
