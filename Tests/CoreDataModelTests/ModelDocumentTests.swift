import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelEditing

/// Sources of models as documents.
struct ModelDocumentTests {
  private static func source(_ body: String) -> String {
    #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n<model type=\"m\">\(body)</model>"
  }

  @Test(arguments: [
    source(""), source("\n"), source("\r\n  <entity name='A'/>\r\n") + "\n<!-- end -->\n",
    source("\n\t<entity  name = \"A\"\n  syncable=\"YES\" ></entity >\n"),
    source(
      "<entity name=\"a&amp;b&#10;&#x41;&quot;&lt;\"><!-- <entity name=\"no\"/> -->text<![CDATA[</x>]]></entity>"
    ),
    source("<future a=\"1\"><?pi x?><entity name=\"é\"/></future>"),
    "\u{FEFF}" + source("\n    <elements/>\n"),
    source("<entity name=\">\" other='\"'/>"),
  ])
  func `a document is written as it was read`(text: String) throws {
    let document = try ModelDocument(Data(text.utf8), file: "contents")
    #expect(String(decoding: document.data, as: UTF8.self).utf8.elementsEqual(text.utf8))
  }

  @Test func `values are read without escapes`() throws {
    let text: String = Self.source(
      "<entity name=\"a&amp;b&#10;&#x41;&quot;&lt;\n\t\" x='&apos;&#128512;'/>")
    let entity = try #require(ModelDocument(Data(text.utf8), file: "contents").root.children.first)
    #expect(entity["name"] == "a&b\nA\"<  ")
    #expect(entity["x"] == "'\u{1F600}")
  }

  @Test(arguments: ["", "<model>", "<model><entity></model>", "<plist/>", "<model a=\"1\" a=\"2\"/>", "x"])
  func `what is no model is an error with the file`(text: String) {
    let error = #expect(throws: ModelFileError.self) { try ModelDocument(Data(text.utf8), file: "contents") }
    #expect(error?.file == "contents")
  }

  @Test func `edits of attributes keep the rest of the line`() throws {
    let text: String = Self.source(
      "\n  <attribute  optional='YES'   name=\"a\"\n   attributeType=\"String\"  />\n")
    var document = try ModelDocument(Data(text.utf8), file: "contents")
    let place: Int = try #require(document.root.place("attribute"))
    document.root[at: place].set("elementID", "old\"")
    document.root[at: place].set("transient", "YES")
    document.root[at: place].set("name", "b")
    document.root[at: place].set("optional", "YES")
    #expect(
      document.root[at: place].text
        == "<attribute  optional='YES'   name=\"b\" transient=\"YES\"\n   attributeType=\"String\" elementID=\"old&quot;\"  />"
    )
    for name in ["elementID", "transient"] { document.root[at: place].set(name, nil) }
    document.root[at: place].set("name", "a")
    #expect(String(decoding: document.data, as: UTF8.self) == text)
  }

  @Test func `children are inserted in their order and removed without a trace`() throws {
    let text: String = Self.source(
      "\r\n  <entity name=\"A\"/>\r\n  <entity name=\"C\"/>\r\n  <!-- layout -->\r\n  <elements/>\r\n")
    var document = try ModelDocument(Data(text.utf8), file: "contents")
    let style: SourceStyle = document.style
    #expect(style.newline == "\r\n" && style.indent == "  ")
    document.root.insert(SourceElement("entity", ["name": "b"]), style, depth: 1)
    document.root.insert(SourceElement("entity", ["name": "D"]), style, depth: 1)
    let place: Int = try #require(document.root.place("entity", named: "b"))
    document.root[at: place].insert(SourceElement("attribute", ["name": "x"]), style, depth: 2)
    #expect(
      String(decoding: document.data, as: UTF8.self)
        == Self.source(
          "\r\n  <entity name=\"A\"/>\r\n  <entity name=\"b\">\r\n    <attribute name=\"x\"/>\r\n  </entity>\r\n"
            + "  <entity name=\"C\"/>\r\n  <entity name=\"D\"/>\r\n  <!-- layout -->\r\n  <elements/>\r\n"))
    document.root.remove(at: try #require(document.root.place("entity", named: "D")))
    document.root.remove(at: try #require(document.root.place("entity", named: "b")))
    #expect(String(decoding: document.data, as: UTF8.self) == text)
  }

  @Test(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `every real source is written as it was read, and has the order of the editor`() throws {
    var count: Int = 0
    for url in FixtureFolder.find(["xcdatamodel"], under: "models") {
      let file: URL = url.appendingPathComponent("contents")
      guard FileManager.default.fileExists(atPath: file.path) else { continue }
      let data = try Data(contentsOf: file)
      let document = try ModelDocument(data, file: file.path)
      #expect(document.data == data, "\(FixtureFolder.relative(file))")
      // Editors before Xcode 8 wrote the version identifier first.
      let strays: [String] = document.attributesOutOfOrder().filter {
        !$0.hasPrefix("model userDefined") && !$0.hasPrefix("model name userDefined")
      }
      #expect(strays == [], "\(FixtureFolder.relative(file))")
      count += 1
    }
    print("sources written as they were read: \(count)")
    #expect(count == 210)
  }
}
