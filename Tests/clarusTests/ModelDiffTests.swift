import Foundation
import TestSupport
import Testing

/// `clarus model diff`
@Suite struct ModelDiffTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ from: String, _ to: String, _ more: String...) throws -> CommandLineRun {
    let package: String = folder.url.appendingPathComponent("Shop.xcdatamodeld").path
    return try CommandLineRun(["model", "diff", package, "--from", from, "--to", to] + more)
  }

  private static let rank: String = #"<attribute name="rank" optional="YES" attributeType="Integer 16"/>"#
  private static let wide: String = #"<attribute name="rank" optional="YES" attributeType="Integer 32"/>"#
  private static let title: String = #"<attribute name="title" attributeType="String"/>"#

  @Test func `equal models`() throws {
    defer { try? FileManager.default.removeItem(at: folder.url) }
    try folder.writeShop("1", Self.rank)
    let run: CommandLineRun = try run("1", "1")
    #expect((run.output, run.errors, run.status) == ("The models are equal.\n", "", 0))
  }

  @Test func `changes are told with what is inferred`() throws {
    defer { try? FileManager.default.removeItem(at: folder.url) }
    try folder.writeShop("1", Self.rank)
    try folder.writeShop("2", Self.wide)
    let run: CommandLineRun = try run("1", "2")
    #expect(
      run.output == """
        * Item.rank is Integer 16 in the source, Integer 32 in the destination

        A mapping model can be inferred.

        """)
    #expect(run.status == 1)
  }

  @Test func `names that are exchanged without a trace in the hashes are told`() throws {
    func pair(_ first: String, _ second: String) -> String {
      #"<attribute name="a" optional="YES" attributeType="String"\#(first)/>"#
        + #"<attribute name="b" optional="YES" attributeType="String"\#(second)/>"#
    }
    try folder.writeShop("1", pair("", ""))
    try folder.writeShop("2", pair(#" elementID="b""#, #" elementID="a""#))
    let text: CommandLineRun = try run("1", "2")
    #expect(text.status == 1 && !text.output.contains("* "), "\(text)")
    #expect(text.output.contains("\n  - Item: 'a' and 'b' exchange their names and are alike"), "\(text)")
    let root = try #require(try run("1", "2", "--json").json() as? [String: Any])
    #expect((root["exchanges"] as? [String])?.count == 1, "\(root)")
  }

  @Test func `refusals say what to do`() throws {
    defer { try? FileManager.default.removeItem(at: folder.url) }
    try folder.writeShop("1", Self.wide)
    try folder.writeShop("2", Self.rank.replacing("Integer 16", with: "Boolean") + Self.title)
    let run: CommandLineRun = try run("1", "2", "--json")
    let root = try #require(try run.json() as? [String: Any])
    #expect(root["inferable"] as? Bool == false)
    let refusals = try #require(root["refusals"] as? [[String: Any]])
    #expect(refusals.compactMap { $0["property"] as? String }.sorted() == ["rank", "title"])
    #expect(refusals.allSatisfy { ($0["advice"] as? String)?.isEmpty == false })
    let entity = try #require((root["entities"] as? [[String: Any]])?.first)
    let changes = try #require(entity["changes"] as? [[String: Any]])
    #expect(changes.compactMap { $0["change"] as? String } == ["type", "added"])
    #expect(changes.allSatisfy { $0["inferred"] as? Bool == false && $0["needsMigration"] as? Bool == true })
  }

  @Test func `changes of a fetched property and of user info are told with what they are`() throws {
    defer { try? FileManager.default.removeItem(at: folder.url) }
    func twins(_ condition: String, _ info: String) -> String {
      #"<fetchedProperty name="twins" optional="YES">"#
        + #"<fetchRequest name="f" entity="Item" predicateString="\#(condition)"/>"#
        + "<userInfo>\(info)</userInfo></fetchedProperty>"
    }
    let same: String = #"<entry key="same" value="x"/>"#
    try folder.writeShop("1", twins("rank == 1", same + #"<entry key="note" value="a"/>"#) + Self.rank)
    let more: String = same + #"<entry key="note" value="b"/><entry key="new" value="c"/>"#
    try folder.writeShop("2", twins("rank == 2", more) + Self.rank)
    let run: CommandLineRun = try run("1", "2")
    #expect(
      run.output == """
          Item.twins is a fetch of Item where rank == 1 in the source, a fetch of Item where rank == 2 in the destination
          Item.twins is of the user info no 'new', 'note' = 'a' in the source, of the user info 'new' = 'c', 'note' = 'b' in the destination

        Stores of the source open with the destination; nothing has to be migrated.

        """)
  }

  @Test func `changes that no store depends on need no migration`() throws {
    defer { try? FileManager.default.removeItem(at: folder.url) }
    try folder.writeShop("1", Self.rank)
    try folder.writeShop(
      "2", Self.rank.replacingOccurrences(of: "Integer 16\"", with: "Integer 16\" defaultValueString=\"7\""))
    let run: CommandLineRun = try run("1", "2")
    #expect(
      run.output.contains("  Item.rank is without default in the source, of the default 7 in the destination")
    )
    #expect(run.output.contains("nothing has to be migrated"))
    #expect(run.status == 1)
  }

  @Test func `an unknown version and a single model are named`() throws {
    defer { try? FileManager.default.removeItem(at: folder.url) }
    try folder.writeShop("1", Self.rank)
    let unknown: CommandLineRun = try run("1", "9")
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("--to: ") && unknown.errors.contains("There is no version '9'"))
    let single = try CommandLineRun(["model", "diff", folder.url.path])
    #expect(single.errors.contains("--from"))
    #expect(single.status != 0)
  }
}
