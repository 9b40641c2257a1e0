import CoreDataModel
import Foundation
import TestSupport
import Testing

/// What is refused before the XML parser sees it.
struct XMLBytesTests {
  private static let body: String = "<model><entity name=\"Item\"/></model>"
  private static let subset: String = "[<!ENTITY b \"c\">]"

  @Test(arguments: [
    ("<?xml version=\"1.0\" encoding=\"UTF-7\"?>\n\(body)", 1, "the encoding UTF-7"),
    ("<?xml version='1.0' encoding = 'utf-16le' standalone=\"yes\"?>\(body)", 1, "the encoding utf-16le"),
    ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\(body)", 1, "the encoding ISO-8859-1"),
    ("\u{FEFF}<!-- one\ntwo --><?xml encoding=\"EBCDIC-CP-US\"?>\(body)", 2, "the encoding EBCDIC-CP-US"),
    ("<?xml version=\"1.0\"?>\n<!DOCTYPE model \(subset)>\(body)", 2, "declares entities"),
    ("<!-- <model> -->\n\n<!DOCTYPE model SYSTEM \"a\" \(subset)>\(body)", 3, "declares entities"),
    // A sign in quotation marks ends nothing.
    ("<!DOCTYPE model SYSTEM \"a>b\"\n\(subset)>\(body)", 1, "declares entities"),
    ("<!DOCTYPE model PUBLIC 'a\">' \"b'>\" \(subset)>\(body)", 1, "declares entities"),
    ("<model>\n\n\0</model>", 3, "zero byte"),
    (
      "<model>\n<entity \((0..<257).map { "a\($0)=\"\"" }.joined(separator: " "))/></model>", 2,
      "more than 256 attributes"
    ),
    // Finding: the parser stopped the program there.
    ("<model>\n<?pi?></model>", 2, "a processing instruction without a text"),
    ("<?xml version=\"1.0\"?>\n<?pi \t?>\(body)", 2, "a processing instruction without a text"),
    ("<model/>\n\n<?pi\n?>", 3, "a processing instruction without a text"),
  ]) func `a document that the parser can't be given names the line`(text: String, line: Int, reason: String)
    throws
  {
    let refusal = try #require(XMLBytes.refusal(of: Data(text.utf8)))
    #expect(refusal.line == line && refusal.reason.contains(reason), "\(refusal)")
    // All the same through a model.
    let error: ModelFileError = try #require(throws: ModelFileError.self) {
      try NSManagedObjectModel.load(source: Data(text.utf8), file: "contents")
    }
    #expect(error.line == line && error.reason.contains(reason), "\(error)")
  }

  @Test func `bytes that are not UTF-8 are named by their line`() throws {
    let refusal = try #require(
      XMLBytes.refusal(of: Data("<model>\n\n<ent".utf8) + [0xFF] + Data("ity/></model>".utf8)))
    #expect(refusal.line == 3 && refusal.reason.contains("not UTF-8"))
  }

  @Test(arguments: [
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\(body)",
    "<?xml version=\"1.0\" encoding='utf-8'?><!DOCTYPE model SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">\(body)",
    "<?xml version=\"1.0\" encoding=\"US-ASCII\"?>\(body)", "\u{FEFF}\(body)", "", "<", "<!--", "<?xml", "<!",
    "<?pi a?>\(body)<?pi ??>", "<model><?>?></model>", "<model><!-- <?pi?> --><![CDATA[<?pi?>]]></model>",
    "<model><![CDATA[ <!DOCTYPE a [ ]]></model>",
    "<model><!-- \(String(repeating: "a=\"b\" ", count: 300)) --></model>",
    "<model a=\"\(String(repeating: "a='b' ", count: 300))\"/>",
  ]) func `other documents are the parser's`(text: String) {
    #expect(XMLBytes.refusal(of: Data(text.utf8)) == nil)
  }

  // Finding: a small file took all of the memory.
  @Test func `composites within composites have a number of elements that can be held`() throws {
    func text(levels: Int) -> String {
      let composites: String = (0..<levels).map { level in
        let elements: String = (0..<10).map { number in
          level == 0
            ? "<attribute name=\"e\(number)\" attributeType=\"String\"/>"
            : "<attribute name=\"e\(number)\" attributeType=\"Composite\" composite=\"c\(level - 1)\"/>"
        }.joined()
        return "<composite name=\"c\(level)\">\(elements)</composite>"
      }.joined()
      return
        "<model><entity name=\"Item\"><attribute name=\"a\" attributeType=\"Composite\" composite=\"c\(levels - 1)\"/>"
        + "</entity>\(composites)</model>"
    }
    #expect(throws: Never.self) {
      try NSManagedObjectModel.load(source: Data(text(levels: 3).utf8), file: "contents")
    }
    let error: ModelFileError = try #require(throws: ModelFileError.self) {
      try NSManagedObjectModel.load(source: Data(text(levels: 12).utf8), file: "contents")
    }
    #expect(error.reason.contains("more than 20000 elements"), "\(error)")
  }

  @Test(arguments: [
    String(repeating: "long ", count: 20_000),
    // One character.
    "e" + String(repeating: "\u{301}", count: 50_000),
  ]) func `a name of many kilobytes does not hide what is said of it`(name: String) throws {
    let text: String =
      "<model><entity name=\"Item\"><relationship name=\"\(name)\" destinationEntity=\"Thing\"/></entity></model>"
    let error: ModelFileError = try #require(throws: ModelFileError.self) {
      try NSManagedObjectModel.load(source: Data(text.utf8), file: "contents")
    }
    #expect(error.reason.utf8.count < 2000 && error.reason.contains("Thing"), "\(error)")
  }
}
