import CoreDataArchives
import CoreDataPredicates
import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import clarus

/// One object with its relationships and what its data holds. (Finding D, command line.)
@Suite struct ShowTests {
  @Test func `an object is shown with its relationships by id and label`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    let before = try FolderState(store.folder)
    let run = try store.run(["show", "STORE", "Item/p1"])
    #expect(run.errors == "")
    #expect(
      run.output == """
        Item/p1  Apple, "red"
          due       2026-05-09T06:13:20.25Z
          isDone    yes
          price     1.5
          priority  3
          title     Apple, "red"
          category  Category/p1  fruit
          tags      2 × Tag
                      Tag/p1  a
                      Tag/p2  b

        """)
    #expect(try FolderState(store.folder) == before, "reading leaves no trace")
    let short = try store.run(["show", "STORE", "x-coredata://\(store.uuid)/Item/p1", "--members", "1"])
    #expect(short.output.contains("2 × Tag\n              Tag/p1  a\n              … and 1 more\n"))
    // An id by the superentity's name, and one whose target is not there.
    let cat = try store.run(["show", "STORE", "Animal/p2"])
    #expect(cat.output.hasPrefix("HouseCat/p2  Kit\n"))
  }

  @Test func `JSON has attributes, relationships and counts`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    let run = try store.run(["show", "STORE", "Item/p1", "--json"])
    let root = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    #expect(root["objectID"] as? String == "x-coredata://UUID/Item/p1")
    #expect(root["entity"] as? String == "Item" && root["label"] as? String == "Apple, \"red\"")
    let attributes = try #require(root["attributes"] as? [[String: Any]])
    #expect(attributes.map { $0["name"] as? String } == ["due", "isDone", "price", "priority", "title"])
    #expect(attributes[1]["value"] as? Bool == true && attributes[1]["type"] as? String == "Boolean")
    let relationships = try #require(root["relationships"] as? [[String: Any]])
    #expect(relationships.map { $0["count"] as? Int } == [1, 2])
    let tags = try #require(relationships[1]["objects"] as? [[String: String]])
    #expect(tags.map { $0["label"] } == ["a", "b"])
    #expect(tags[0]["objectID"] == "x-coredata://UUID/Tag/p1")
  }

  @Test(arguments: [
    ["show", "STORE", "Item/p1"], ["info", "STORE"], ["model", "show", "STORE"], ["model", "hash", "STORE"],
    ["model", "lint", "STORE"],
  ])
  func `every command takes the format that fetch takes`(arguments: [String]) throws {
    let store = try ShopStore()
    defer { store.remove() }
    #expect(
      try store.run(arguments + ["--format", "json"]).output == store.run(arguments + ["--json"]).output)
    #expect(try store.run(arguments + ["--format", "table"]).output == store.run(arguments).output)
    #expect(try store.run(arguments + ["--json", "--format", "json"]).status == 0)
  }

  // MARK: Data

  /// A store whose `Everything` rows hold these data, in this order.
  private func store(_ data: [Data]) throws -> (path: String, remove: () -> Void) {
    let folder: URL = try TemporaryFolder().url
    let url: URL = folder.appendingPathComponent("Data.sqlite")
    let world: StoreWorld = try ShopStore.world(url)
    try world.insert("Everything", data.map { ["data": $0, "string": "x"] })
    try world.engine.close()
    return (url.path, { try? FileManager.default.removeItem(at: folder) })
  }

  /// The lines below "data", without their indentation.
  private func tree(_ output: String) -> String {
    let indent = String(repeating: " ", count: 13)
    let lines = output.split(separator: "\n").drop { !$0.hasPrefix("  data") }.dropFirst()
      .prefix { $0.hasPrefix(indent) }
    return lines.map { String($0.dropFirst(indent.count)) }.joined(separator: "\n")
  }

  @Test func `property lists and keyed archives are shown as trees`() throws {
    let inner = try NSKeyedArchiver.archivedData(
      withRootObject: ["k": 1] as NSDictionary, requiringSecureCoding: true)
    let plist: [String: Any] = [
      "name": "red\u{1B}[31m", "numbers": [1, 2.5, true] as [Any],
      "when": Date(timeIntervalSinceReferenceDate: 0),
      "bytes": Data([1, 2, 3]), "inner": inner,
    ]
    let archive = NSKeyedArchiver(requiringSecureCoding: false)
    archive.encode(
      ArchivedColor([
        UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF")! as NSUUID, NSURL(string: "https://a.b/")!,
        NSNull(),
      ]), forKey: "root")
    let store = try store([
      try PropertyListSerialization.data(fromPropertyList: plist, format: .binary, options: 0),
      try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0),
      archive.encodedData,
      Data("<svg/>".utf8), Data("bplist00 broken".utf8),
    ])
    defer { store.remove() }
    for id in 1...2 {
      let run = try CommandLineRun(["show", store.path, "Everything/p\(id)"])
      #expect(run.errors == "")
      #expect(
        tree(run.output) == """
          dictionary of 5
            bytes: <3 bytes>
            inner: dictionary of 1
              k: 1
            name: "red\\u{1b}[31m"
            numbers: array of 3
              1
              2.5
              yes
            when: 2001-01-01T00:00:00Z
          """)
      #expect(run.output.contains("bytes> property list\n"))
    }
    let color = try CommandLineRun(["show", store.path, "Everything/p3"])
    #expect(color.output.contains("bytes> keyed archive\n"))
    #expect(
      tree(color.output) == """
        clarusTests.ArchivedColor
          parts: array of 3
            6F9619FF-8B86-D011-B42D-00C04FC964FF
            https://a.b/
            nil
          red: 0.5
        """)
    let json = try CommandLineRun(["show", store.path, "Everything/p3", "--json"])
    let attributes = try #require((try json.json() as? [String: Any])?["attributes"] as? [[String: Any]])
    let data = try #require(attributes.first { $0["name"] as? String == "data" })
    #expect(data["form"] as? String == "keyed archive")
    let content = try #require(data["content"] as? [String: Any])
    #expect(content["$class"] as? String == "clarusTests.ArchivedColor" && content["red"] as? Double == 0.5)
    #expect(try CommandLineRun(["show", store.path, "Everything/p4"]).output.contains("<6 bytes>\n"))
    #expect(try CommandLineRun(["show", store.path, "Everything/p5"]).output.contains("(it can't be read: "))
  }

  @Test func `hostile data ends in a note`() throws {
    // A list that holds itself, a dictionary as its own key, a class without name, a million members,
    // a deep nest.
    func archive(_ objects: [PlistNode]) -> Data {
      BinaryPlistWriter.write(
        .dictionary([
          "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
          "$objects": .array([.string("$null")] + objects), "$top": .dictionary(["root": .uid(1)]),
        ]))
    }
    func description(_ name: String) -> PlistNode {
      .dictionary(["$classname": .string(name), "$classes": .array([.string(name)])])
    }
    var nest: PlistNode = .integer(1)
    for _ in 0..<100 { nest = .array([nest]) }
    let cases: [(Data, String)] = [
      (
        archive([.dictionary(["$class": .uid(2), "NS.objects": .array([.uid(1)])]), description("NSArray")]),
        "in a circle"
      ),
      (
        archive([
          .dictionary(["$class": .uid(2), "NS.keys": .array([.uid(1)]), "NS.objects": .array([.uid(1)])]),
          description("NSDictionary"),
        ]), "?: (…)"
      ), (archive([.dictionary(["$class": .uid(2)]), .dictionary([:])]), "no class description"),
      (archive([.uid(77)]), "a reference to a reference"), (archive([]), "a reference to object 1 of 1"),
      (BinaryPlistWriter.write(.array(Array(repeating: .integer(1), count: 100_000))), "…"),
      (BinaryPlistWriter.write(nest), "deeper than"),
      (
        archive([
          .dictionary(["$class": .uid(2), "NS.objects": .array(Array(repeating: .uid(3), count: 3000))]),
          description("NSArray"),
          .dictionary(["$class": .uid(2), "NS.objects": .array(Array(repeating: .uid(4), count: 3000))]),
          .dictionary(["$class": .uid(2), "NS.objects": .array(Array(repeating: .integer(1), count: 3000))]),
        ]), "…"
      ),
    ]
    let store = try store(cases.map(\.0))
    defer { store.remove() }
    for (number, (_, note)) in cases.enumerated() {
      let run = try CommandLineRun(["show", store.path, "Everything/p\(number + 1)"])
      #expect(run.status == 0)
      #expect(run.output.contains(note), "\(note) in: \(run.output.suffix(300))")
      #expect(run.output.split(separator: "\n").count < 300)
      let json = try CommandLineRun(["show", store.path, "Everything/p\(number + 1)", "--json"])
      #expect(json.output.utf8.count < 3_000_000)
      #expect(try json.json() is [String: Any])
    }
  }

  @Test func `bytes cut off or changed anywhere are shown or explained`() throws {
    let archive: Data = try NSKeyedArchiver.archivedData(
      withRootObject: [["a": [1, 2], "b": NSDate()] as NSDictionary, NSUUID(), "text"] as NSArray,
      requiringSecureCoding: true)
    var damaged: [Data] = stride(from: 8, to: archive.count, by: 7).map { archive.prefix($0) }
    for place in 8..<archive.count {
      for flip in [0x01, 0x80, 0xFF] as [UInt8] {
        var bytes: Data = archive
        bytes[place] ^= flip
        damaged.append(bytes)
      }
    }
    for data in damaged {
      let result = DataTreeReader.read(Data(data))
      #expect(result != nil)
      if let tree = result?.tree {
        #expect(TreeText(tree, indent: 0).lines.count < 300)
        #expect(!TreeText.json(tree).compact.isEmpty)
      }
    }
  }
}

/// A class that `clarus` doesn't have.
final class ArchivedColor: NSObject, NSCoding {
  private let parts: [Any]

  init(_ parts: [Any]) { self.parts = parts }
  init?(coder: NSCoder) { nil }

  func encode(with coder: NSCoder) {
    coder.encode(0.5, forKey: "red")
    coder.encode(parts as NSArray, forKey: "parts")
  }
}
