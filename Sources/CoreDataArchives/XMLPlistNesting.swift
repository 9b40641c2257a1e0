import Foundation

/// Measures XML property lists before Foundation reads them: its reader recurses as deep as the input is
/// nested, so a few hundred kilobytes can overflow the stack.
///
/// Only the syntax of property lists is accepted: elements without attributes below the root, UTF-8, no
/// declarations inside the document type. Everything that a reader could interpret differently from this one
/// is refused.
package struct XMLPlistNesting {
  private let bytes: [UInt8]
  private var position: Int = 0
  private var depth: Int = 0

  /// Throws ``PlistError`` for anything but an XML property list of at most `limit` levels.
  package static func check(_ data: Data, limit: Int = 128) throws {
    var scanner = XMLPlistNesting(bytes: Array(data))
    try scanner.scan(limit: limit)
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private mutating func scan(limit: Int) throws {
    guard !bytes.contains(0) else { throw PlistError("it is neither a binary nor an XML property list") }
    if starts(with: "\u{FEFF}") { position = 3 }
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    guard starts(with: "<") else { throw PlistError("it is neither a binary nor an XML property list") }
    while let next = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
      position = next
      try tag()
      guard depth <= limit else { throw PlistError("its elements nest deeper than \(limit)") }
    }
  }

  private mutating func tag() throws {
    if starts(with: "<!--") { return try skip(past: "-->") }
    if starts(with: "<![CDATA[") { return try skip(past: "]]>") }
    if starts(with: "<?") { return try instruction() }
    if starts(with: "<!") {
      let start = position
      try skip(past: ">")
      guard !bytes[start..<position].contains(UInt8(ascii: "[")) else {
        throw PlistError("its document type declares entities")
      }
      return
    }
    let start = position
    try skip(past: ">")
    let content = bytes[(start + 1)..<(position - 1)]
    if content.first == UInt8(ascii: "/") {
      depth -= 1
      guard depth >= 0 else { throw PlistError("it closes an element that is not open") }
      return
    }
    guard
      depth == 0 || content.allSatisfy({ Self.isNameByte($0) || Self.isSpace($0) || $0 == UInt8(ascii: "/") })
    else { throw PlistError("it has an element with attributes") }
    if content.last != UInt8(ascii: "/") || depth == 0 { depth += 1 }
  }

  /// Another encoding could spell elements in bytes that this scanner would treat as text.
  private mutating func instruction() throws {
    let start = position
    try skip(past: "?>")
    guard let encoding = Self.encoding(String(decoding: bytes[start..<position], as: UTF8.self)) else {
      return
    }
    guard encoding.lowercased() == "utf-8" else { throw PlistError("its encoding is not UTF-8") }
  }

  /// The encoding that an instruction declares.
  package static func encoding(_ instruction: String) -> String? {
    guard let name = instruction.range(of: "encoding", options: .caseInsensitive) else { return nil }
    let value: Substring = instruction[name.upperBound...].drop { " \t\r\n=\"'".contains($0) }
    return String(value.prefix { !" \t\r\n\"'?".contains($0) })
  }

  private func starts(with text: String) -> Bool {
    bytes[position...].starts(with: text.utf8)
  }

  private mutating func skip(past end: String) throws {
    let mark = Array(end.utf8)
    var place = position
    while let next = bytes[place...].firstIndex(of: mark[0]) {
      if bytes[next...].starts(with: mark) {
        position = next + mark.count
        return
      }
      place = next + 1
    }
    throw PlistError("it is cut off")
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
