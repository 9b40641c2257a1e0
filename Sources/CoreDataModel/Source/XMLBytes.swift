import CoreDataArchives
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// What must be known of a document before Foundation's parser reads it: on Linux (Swift 6.3) the parser
/// stops the program at a name that is not UTF-8, also one that a declared encoding makes of it, and at a
/// processing instruction that says nothing (`<?name?>`), and expands entities without telling.
package struct XMLBytes {
  /// How many bytes the value of an attribute may have: the parser refuses 10,000,000.
  package static let longestAttribute: Int = 9_000_000
  /// How many attributes an element may have: the parser compares each with all before it, so that 100,000
  /// take most of a minute.
  private static let mostAttributes: Int = 256

  private let bytes: UnsafeRawBufferPointer
  private var place: Int = 0

  /// A parser of a document. It reads a stream, since `XMLParser(data:)` refuses documents above 10 MB: they
  /// are one piece for the parser then, and it limits the length of pieces.
  package static func parser(of data: Data) -> XMLParser { XMLParser(stream: InputStream(data: data)) }

  /// What the parser objects to, as a clause. Foundation on Linux gives the error number of libxml2; these
  /// are the ones that broken files usually raise.
  package static func explanation(of error: (any Error)?) -> String {
    let code = (error as NSError?)?.code
    return switch code {
    case 4: "the document has no content"
    case 5: "it ends in the middle; a tag is not closed"
    case 9: "it has a character that XML doesn't allow"
    case 23, 26, 27, 68: "a name or an entity reference (&…;) is malformed"
    case 38: "an attribute's value contains '<'"
    case 39, 40: "an attribute's value is not closed"
    case 41: "an attribute has no value"
    case 42: "an attribute is given twice"
    case 65: "a space is missing between attributes"
    case 73: "a tag is not closed with '>'"
    case 76: "an end tag doesn't match its start tag"
    case 77: "it ends in the middle; a tag is not closed"
    case 81, 32: "it has bytes that are not UTF-8"
    case _?: "what stands there is no XML"
    case nil: "it ends in the middle"
    }
  }

  /// Whether a document ends before its outermost element does, whose name is given.
  package static func isCutOff(_ data: Data, root: String) -> Bool {
    let text: String = String(decoding: data.suffix(4096), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    // A comment or an instruction may follow.
    if text.hasSuffix("-->") || text.hasSuffix("?>") { return false }
    guard text.hasSuffix(">"), let start = text.range(of: "</", options: .backwards) else { return true }
    return text[start.upperBound...].dropLast().trimmingCharacters(in: .whitespacesAndNewlines) != root
  }

  /// Why a document is not given to the parser, with the line, counted from 1; nil if it may be.
  ///
  /// Cost: three passes over the bytes, quicker than the parser's.
  package static func refusal(of data: Data) -> (line: Int, reason: String)? {
    data.withUnsafeBytes { bytes in
      var scan = XMLBytes(bytes: bytes)
      return scan.refusal().map { reason in
        (bytes[..<min(scan.place, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1, reason)
      }
    }
  }

  /// Where the outermost element of a document that is not refused starts.
  package static func startOfRoot(in data: Data) -> Int {
    data.withUnsafeBytes { bytes in
      var scan = XMLBytes(bytes: bytes)
      _ = scan.refusalOfProlog()
      return scan.place
    }
  }

  private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The reason, with `place` where it is.
  private mutating func refusal() -> String? {
    if String(validating: bytes, as: UTF8.self) == nil {
      place = placeOfDamage()
      return "It has bytes that are not UTF-8."
    }
    if let zero = next(0) {
      place = zero
      return "It has a zero byte, which text never has."
    }
    if let reason = refusalOfProlog() { return reason }
    return refusalOfElements()
  }

  private func placeOfDamage() -> Int {
    var decoder = UTF8()
    var rest = bytes.makeIterator()
    var place: Int = 0
    while case .scalarValue(let scalar) = decoder.decode(&rest) { place += UTF8.width(scalar) }
    return place
  }

  /// Of what stands before the outermost element, at which `place` ends.
  private mutating func refusalOfProlog() -> String? {
    if starts("\u{FEFF}") { place = 3 }
    while place < bytes.count {
      if starts("<!--") {
        skip(past: "-->")
      } else if starts("<?") {
        let start: Int = place
        if skipsEmptyInstruction() {
          place = start
          return Self.emptyInstruction
        }
        let instruction = String(decoding: bytes[start..<place], as: UTF8.self)
        if instruction.hasPrefix("<?xml"), let encoding = XMLPlistNesting.encoding(instruction),
          !["utf-8", "us-ascii", "ascii"].contains(encoding.lowercased())
        {
          place = start
          return "It declares the encoding \(encoding.prefix(40)); save it in UTF-8 and declare that."
        }
      } else if starts("<!") {
        let start: Int = place
        if declares() {
          place = start
          return "Its document type declares entities, which files of models and stores never do."
        }
      } else if starts("<") {
        return nil
      } else {
        place += 1
      }
    }
    return nil
  }

  /// Goes to the end of a document type. Returns whether it has declarations, which stand in brackets; what
  /// is quoted is a name.
  private mutating func declares() -> Bool {
    var quote: UInt8 = 0
    while place < bytes.count {
      let byte: UInt8 = bytes[place]
      place += 1
      if quote != 0 {
        if byte == quote { quote = 0 }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: "[") {
        return true
      } else if byte == UInt8(ascii: ">") {
        return false
      }
    }
    return false
  }

  private static let emptyInstruction: String =
    "It has a processing instruction without a text, <?…?>, which the parser can't read; take it out."

  /// Goes past a processing instruction. Returns whether it has nothing but a name.
  private mutating func skipsEmptyInstruction() -> Bool {
    let start: Int = place + 2
    skip(past: "?>")
    // One that does not end is the parser's to refuse.
    guard place - 2 > start, bytes[place - 2] == UInt8(ascii: "?"), bytes[place - 1] == UInt8(ascii: ">")
    else {
      return false
    }
    let content = bytes[start..<place - 2]
    guard let space = content.firstIndex(where: Self.isSpace) else { return true }
    return content[space...].allSatisfy(Self.isSpace)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x9, 0xA, 0xD].contains(byte) }

  /// Of an element with too many attributes, and of what stands between elements; `place` is there.
  private mutating func refusalOfElements() -> String? {
    while let start = next(UInt8(ascii: "<")) {
      place = start
      if starts("<!--") {
        skip(past: "-->")
      } else if starts("<![CDATA[") {
        skip(past: "]]>")
      } else if starts("<?") {
        if skipsEmptyInstruction() {
          place = start
          return Self.emptyInstruction
        }
      } else if isCrowded() {
        return "An element has more than \(Self.mostAttributes) attributes."
      }
    }
    return nil
  }

  /// Goes to the end of a tag. An equals sign outside quotation marks is an attribute.
  private mutating func isCrowded() -> Bool {
    var count: Int = 0
    while place < bytes.count {
      let byte: UInt8 = bytes[place]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        place = next(byte, from: place + 1) ?? bytes.count
      } else if byte == UInt8(ascii: "=") {
        count += 1
        if count > Self.mostAttributes { return true }
      } else if byte == UInt8(ascii: ">") {
        return false
      }
      place += 1
    }
    return false
  }

  private func starts(_ text: StaticString) -> Bool {
    let count: Int = text.utf8CodeUnitCount
    guard place + count <= bytes.count else { return false }
    for offset in 0..<count where bytes[place + offset] != text.utf8Start[offset] { return false }
    return true
  }

  private mutating func skip(past end: StaticString) {
    while let start = next(end.utf8Start[0]) {
      place = start
      if starts(end) {
        place += end.utf8CodeUnitCount
        return
      }
      place += 1
    }
    place = bytes.count
  }

  /// Where a byte is next, at `place` or behind. By the C library: stores have hundreds of megabytes.
  private func next(_ byte: UInt8, from start: Int? = nil) -> Int? {
    let start: Int = start ?? place
    guard start < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + start, Int32(byte), bytes.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }
}
