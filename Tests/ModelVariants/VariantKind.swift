import Foundation
import TestSupport

/// The kinds of files, and how they are damaged.
enum VariantKind: String, CaseIterable {
  /// `contents` of an `.xcdatamodel`
  case source
  case mom
  /// `VersionInfo.plist` of a `.momd`
  case versions
  /// `.xccurrentversion` of an `.xcdatamodeld`
  case current
  /// `xcmapping.xml` of an `.xcmappingmodel`
  case mapping
  case cdm

  private var isXML: Bool { [.source, .mapping].contains(self) }

  func variant(of sample: Data, _ number: Int, _ random: inout SeededRandom) -> Data {
    // A third damages bytes, whatever they mean; the rest damages what the format says.
    if number % 3 == 0 { return ByteDamage.apply(to: sample, &random) }
    if isXML { return XMLDamage.apply(to: sample, &random) }
    return ArchiveDamage.apply(to: sample, &random)
  }
}

/// Damage to bytes.
enum ByteDamage {
  static func apply(to sample: Data, _ random: inout SeededRandom) -> Data {
    var bytes: [UInt8] = Array(sample)
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let place: Int = .random(in: 0..<bytes.count, using: &random)
      let end: Int = min(bytes.count, place + .random(in: 1...64, using: &random))
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bytes.removeSubrange(place...)
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: bytes[place..<end], at: .random(in: 0...bytes.count, using: &random))
      case 3: for index in place..<end { bytes[index] = 0 }
      case 4: for index in place..<end { bytes[index] = 0xFF }
      case 5: for index in place..<end { bytes[index] = .random(in: 0...255, using: &random) }
      default: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
    }
    return Data(bytes)
  }
}

/// Damage to XML: lines are elements there, as Xcode writes them.
enum XMLDamage {
  private static let numbers: [String] = [
    "-1", "0", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808",
    "99999999999999999999999999", "1e400", "-1e400", "nan", "0x10", "", " 1", "１", "YES",
  ]
  private static let types: [String] = [
    "Integer 16", "Integer 64", "Decimal", "Double", "String", "Boolean", "Date", "Binary", "UUID", "URI",
    "Transformable", "Composite", "Undefined", "ObjectID", "x",
  ]
  private static let texts: [String] = [
    "", " ", "\u{1}", "é", "e\u{301}", "\u{202E}", "%@", "&#0;", "&amp;", "&lt;a&gt;", "$source", "SELF",
    "a.b.c", "../../etc/passwd", "((((((((", "name ==", "1 == 1", "FETCH(a, b, c)", "SUBQUERY(a, $x, $x.b)",
    "FUNCTION(a, \"b\")", "\u{FFFD}", "class", "NSManagedObject", "hash", "objectID",
  ]

  static func apply(to sample: Data, _ random: inout SeededRandom) -> Data {
    var lines: [String] = String(decoding: sample, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for _ in 0..<Int.random(in: 1...5, using: &random) where !lines.isEmpty {
      change(&lines, &random)
    }
    return Data(lines.joined(separator: "\n").utf8)
  }

  private static func change(_ lines: inout [String], _ random: inout SeededRandom) {
    let place: Int = .random(in: 0..<lines.count, using: &random)
    let other: Int = .random(in: 0..<lines.count, using: &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0: lines.remove(at: place)
    case 1: lines.insert(lines[place], at: other)
    case 2: lines.swapAt(place, other)
    case 3:
      let part: [String] = Array(lines[min(place, other)...max(place, other)])
      for _ in 0..<Int.random(in: 1...5, using: &random) { lines.insert(contentsOf: part, at: place) }
    case 4: bomb(&lines, &random)
    case 5:
      let depth: Int = [10, 100, 1000, 100_000].randomElement(using: &random)!
      let element: String = ["entity", "attribute", "userInfo", "object"].randomElement(using: &random)!
      lines.insert(
        String(repeating: "<\(element) name=\"a\">", count: depth)
          + String(repeating: "</\(element)>", count: depth), at: place)
    case 6:
      let wanted: Int = [10, 100, 2000].randomElement(using: &random)!
      // A line that was made long before would take the time of many files.
      let count: Int = min(wanted, max(1, 1_000_000 / max(1, lines[place].utf8.count)))
      lines.insert(
        (0..<count).map { lines[place].replacing("name=\"", with: "name=\"n\($0)") }.joined(separator: "\n"),
        at: place)
    case 7:
      let attribute: String = (0..<1000).map { "a\($0)=\"\"" }.joined(separator: " ")
      lines[place] = lines[place].replacing(" ", with: " \(attribute) ", maxReplacements: 1)
    case 8, 9, 10: exchange(&lines[place], lines[other], &random)
    case 11, 12: replaceValue(&lines[place], numbers.randomElement(using: &random)!, &random)
    case 13: replaceValue(&lines[place], types.randomElement(using: &random)!, &random)
    case 14, 15: replaceValue(&lines[place], texts.randomElement(using: &random)!, &random)
    case 16:
      let length: Int = Bool.random(using: &random) ? 300 : 70_000
      replaceValue(&lines[place], String(repeating: "x", count: length), &random)
    case 17:
      let depth: Int = [50, 2000].randomElement(using: &random)!
      let text = String(repeating: "NOT (", count: depth) + "a == 1" + String(repeating: ")", count: depth)
      replaceValue(&lines[place], text, &random)
    case 18: cycle(&lines, &random)
    default:
      let encoding: String = ["UTF-16", "UTF-7", "x", ""].randomElement(using: &random)!
      lines[0] = lines[0].replacing("UTF-8", with: encoding)
    }
  }

  /// Entities of XML that grow, that name files, and that name themselves.
  private static func bomb(_ lines: inout [String], _ random: inout SeededRandom) {
    let declarations: String
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      declarations =
        "<!ENTITY a0 \"aaaaaaaaaa\">"
        + (1..<12).map { "<!ENTITY a\($0) \"\(String(repeating: "&a\($0 - 1);", count: 10))\">" }.joined()
    case 1: declarations = "<!ENTITY a11 SYSTEM \"file:///etc/passwd\">"
    default: declarations = "<!ENTITY a11 \"&a12;\"><!ENTITY a12 \"&a11;\">"
    }
    lines.insert("<!DOCTYPE model [\(declarations)]>", at: min(1, lines.count))
    let place: Int = .random(in: 0..<lines.count, using: &random)
    replaceValue(&lines[place], "&a11;", &random)
  }

  /// A value of one line by a value of another: entities become their own parents and elements this way.
  private static func exchange(_ line: inout String, _ other: String, _ random: inout SeededRandom) {
    let values: [Substring] = values(of: other).map { other[$0] }
    guard let value = values.randomElement(using: &random) else { return }
    replaceValue(&line, String(value), &random)
  }

  private static func replaceValue(_ line: inout String, _ value: String, _ random: inout SeededRandom) {
    guard let range = values(of: line).randomElement(using: &random) else { return }
    line.replaceSubrange(range, with: value)
  }

  /// What stands between quotation marks, or between the marks of an element.
  private static func values(of line: String) -> [Range<String.Index>] {
    var result: [Range<String.Index>] = []
    var start: String.Index?
    for index in line.indices where line[index] == "\"" {
      if let begin = start {
        result.append(begin..<index)
        start = nil
      } else {
        start = line.index(after: index)
      }
    }
    if let end = line.range(of: "</"), let begin = line[..<end.lowerBound].lastIndex(of: ">") {
      result.append(line.index(after: begin)..<end.lowerBound)
    }
    return result
  }

  /// Parents, destinations and composites in circles.
  private static func cycle(_ lines: inout [String], _ random: inout SeededRandom) {
    let names: [String] = lines.compactMap { line in
      guard line.contains("<entity "), let start = line.range(of: "name=\"") else { return nil }
      return line[start.upperBound...].split(separator: "\"").first.map(String.init)
    }
    for index in lines.indices where lines[index].contains("<entity ") {
      guard let parent = names.randomElement(using: &random), Bool.random(using: &random) else { continue }
      lines[index] = lines[index].replacing("<entity ", with: "<entity parentEntity=\"\(parent)\" ")
    }
    let place: Int = lines.firstIndex { $0.contains("<entity ") } ?? 0
    func member(_ composite: String) -> String {
      "<attribute name=\"cc\" attributeType=\"Composite\" composite=\"\(composite)\"/>"
    }
    lines.insert(
      contentsOf: [("C1", "C2"), ("C2", "C1")].map {
        "<composite name=\"\($0)\">\(member($1))</composite>"
      }, at: place)
    if place + 3 < lines.count { lines.insert(member("C1"), at: place + 3) }
  }
}
