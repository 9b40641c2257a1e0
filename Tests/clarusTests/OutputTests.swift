import Foundation
import Testing

@testable import clarus

@Suite struct OutputTests {
  @Test(arguments: [
    (0.0, "2001-01-01T00:00:00.000000Z"), (-1.0, "2000-12-31T23:59:59.000000Z"),
    (800_000_000.25, "2026-05-09T06:13:20.250000Z"), (-978_307_200.0, "1970-01-01T00:00:00.000000Z"),
    (-31_622_400.0, "2000-01-01T00:00:00.000000Z"), (-26_438_400.0, "2000-03-01T00:00:00.000000Z"),
    (-26_524_800.0, "2000-02-29T00:00:00.000000Z"), (0.000_000_4, "2001-01-01T00:00:00.000000Z"),
    (0.999_999_6, "2001-01-01T00:00:01.000000Z"),
    (-62_135_769_600.0, "0031-12-31T00:00:00.000000Z"),
    (-63_113_904_000.0, "0001-01-01T00:00:00.000000Z"), (-63_113_904_001.0, "-63113904001.0 s since 2001"),
    (Double.nan, "nan s since 2001"), (1e300, "1e+300 s since 2001"),
  ])
  func `dates print as ISO 8601 with microseconds`(seconds: Double, expected: String) {
    #expect(DateText.full(secondsSince2001: seconds).hasPrefix(expected))
  }

  @Test func `dates agree with Foundation's calendar over four centuries`() {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "UTC")!
    // Steps of a prime number of seconds meet every month and both kinds of century.
    for seconds in stride(from: -6.3e9, to: 6.3e9, by: 8_640_007) {
      let parts: DateComponents = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSinceReferenceDate: seconds))
      let expected = String(
        format: "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.year!, parts.month!, parts.day!, parts.hour!,
        parts.minute!,
        parts.second!)
      #expect(DateText.short(secondsSince2001: seconds) == expected)
    }
  }

  @Test(arguments: [
    ("", 0), ("abc", 3), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("👍🏽", 2), ("👨‍👩‍👧", 2), ("한국", 4), ("ｱ", 1),
    ("Ａ", 2),
    ("\u{200B}", 0), ("☎️", 2),
  ])
  func `width is what a terminal draws`(text: String, width: Int) {
    #expect(DisplayWidth.of(text) == width)
  }

  @Test func `what moves the cursor or turns the line is escaped`() {
    #expect(
      DisplayWidth.escaped("a\u{1B}[2Jb\u{202E}c\r\n\t\u{9B}") == "a\\u{1b}[2Jb\\u{202e}c\\r\\n\\t\\u{9b}")
    #expect(DisplayWidth.escaped("naïve 日本 🧵") == "naïve 日本 🧵")
  }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab", 1, "…"),
  ])
  func `long text is cut to its columns`(text: String, columns: Int, expected: String) {
    #expect(DisplayWidth.truncated(text, to: columns) == expected)
    #expect(DisplayWidth.of(DisplayWidth.truncated(text, to: columns)) <= columns)
  }

  @Test(arguments: [
    ("a", "a"), ("", ""), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""),
    ("a\r\nb", "\"a\r\nb\""),
    (" a", "\" a\""), ("日", "日"),
  ])
  func `CSV fields are quoted by RFC 4180`(text: String, expected: String) {
    #expect(CSVText.field(text) == expected)
  }

  @Test(arguments: [
    ("12.5", "12.5"), ("-0.25", "-0.25"), ("0", "0"), ("123456789012345", "123456789012345"),
    ("1234567890123456", "\"1234567890123456\""), ("NaN", "\"NaN\""), (".5", "\".5\""), ("5.", "\"5.\""),
    ("05", "\"05\""), ("1e5", "\"1e5\""), ("-", "\"-\""), ("1-2", "\"1-2\""), ("", "\"\""),
  ])
  func `a decimal is a JSON number only if nothing is lost`(text: String, expected: String) {
    #expect(ValuePrinter.json(decimal: text).compact == expected)
  }

  @Test func `JSON is valid, whatever the text holds`() throws {
    var nasty: String = ""
    for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) { nasty.unicodeScalars.append(scalar) }
    nasty += "\u{2028}\u{2029}🧵\u{10FFFF}"
    let json = JSONText.object([
      ("text \"q\"", .string(nasty)), ("list", .array([.null, .double(1e300), .double(.nan)])),
    ])
    for form in [json.compact, json.pretty] {
      let parsed = try JSONSerialization.jsonObject(with: Data(form.utf8)) as? [String: Any]
      #expect(parsed?["text \"q\""] as? String == nasty)
      #expect((parsed?["list"] as? [Any])?.count == 3)
    }
  }

  @Test(arguments: [
    ("SQLite format 3\0rest", FileContent.store("SQLite")), ("CoreData\0\0\0\u{1}", .store("Binary")),
    ("bplist00x", .propertyList),
    ("<?xml version=\"1.0\"?><!DOCTYPE database SYSTEM \"x\"><database>", .store("XML")),
    ("\u{FEFF}<database>", .store("XML")),
    ("<?xml?><model type=\"com.apple.IDECoreDataModeler.DataModel\"/>", .model),
    ("hello", .unknown("a text file")),
    ("<html>", .unknown("an XML file, which is no model either")),
    ("a\0b", .unknown("a file of another kind")),
  ])
  func `files are told by their content`(head: String, kind: FileContent) {
    #expect(FileContent.recognize(Data(head.utf8)) == kind)
  }
}
