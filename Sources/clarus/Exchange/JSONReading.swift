import Foundation

/// Reads JSON with the place of every value and all digits of every number, which `JSONSerialization` does
/// not keep.
struct JSONReading {
  private let bytes: [UInt8]
  private var place: Int = 0
  private var line: Int = 1
  /// Where the line begins.
  private var lineStart: Int = 0
  private var depth: Int = 0
  /// The columns before the last place that was asked for: a document may be one line.
  private var counted: (lineStart: Int, place: Int, columns: Int) = (0, 0, 0)

  private static let deepest: Int = 200

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The one value of a document. Throws ``ImportError``.
  static func read(_ bytes: [UInt8]) throws -> ImportValue {
    var reading = JSONReading(bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      reading.place = 3
      reading.lineStart = 3
    }
    let value: ImportValue = try reading.value()
    reading.skipSpace()
    if reading.place < bytes.count { throw reading.error("There is text behind the end of the document.") }
    return value
  }

  private func columns(from start: Int) -> Int {
    // Bytes that continue a character are no columns.
    bytes[min(start, place)..<place].count { $0 & 0xC0 != 0x80 }
  }

  private var position: TextPosition {
    TextPosition(line: line, column: columns(from: lineStart) + 1)
  }

  /// The same for a place behind those that were asked for before, at the cost of the bytes between.
  private mutating func notePosition() -> TextPosition {
    if counted.lineStart != lineStart || counted.place > place { counted = (lineStart, lineStart, 0) }
    counted.columns += columns(from: counted.place)
    counted.place = place
    return TextPosition(line: line, column: counted.columns + 1)
  }

  private func error(_ reason: String) -> ImportError { ImportError(position, reason) }

  private mutating func skipSpace() {
    while place < bytes.count {
      switch bytes[place] {
      case 0x0A:
        line += 1
        lineStart = place + 1
      case 0x20, 0x09, 0x0D: break
      default: return
      }
      place += 1
    }
  }

  private mutating func next(_ byte: Character) -> Bool {
    skipSpace()
    guard place < bytes.count, bytes[place] == byte.asciiValue else { return false }
    place += 1
    return true
  }

  private mutating func value() throws -> ImportValue {
    skipSpace()
    let start: TextPosition = notePosition()
    guard place < bytes.count else { throw error("The document ends where a value is expected.") }
    func made(_ content: ImportValue.Content) -> ImportValue {
      ImportValue(content: content, position: start)
    }
    switch bytes[place] {
    case UInt8(ascii: "{"): return made(.object(try object()))
    case UInt8(ascii: "["): return made(.list(try list()))
    case UInt8(ascii: "\""): return made(.string(try string()))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return made(.number(try number()))
    default:
      if word("true") { return made(.bool(true)) }
      if word("false") { return made(.bool(false)) }
      if word("null") { return made(.null) }
      throw error("Here a value is expected: text in quotation marks, a number, true, false, null, [ or {.")
    }
  }

  private mutating func word(_ text: String) -> Bool {
    guard bytes[place...].starts(with: Array(text.utf8)) else { return false }
    place += text.utf8.count
    return true
  }

  private mutating func descend() throws {
    place += 1
    depth += 1
    if depth > Self.deepest { throw error("The document nests deeper than \(Self.deepest) levels.") }
  }

  private mutating func list() throws -> [ImportValue] {
    try descend()
    defer { depth -= 1 }
    var members: [ImportValue] = []
    if next("]") { return members }
    repeat { members.append(try value()) } while next(",")
    guard next("]") else { throw error("Here a comma or ] is expected.") }
    return members
  }

  private mutating func object() throws -> [ImportField] {
    try descend()
    defer { depth -= 1 }
    var fields: [ImportField] = []
    var names: Set<String> = []
    if next("}") { return fields }
    repeat {
      skipSpace()
      let start: TextPosition = notePosition()
      guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else {
        throw error("Here a name in quotation marks is expected.")
      }
      let name: String = try string()
      if !names.insert(name).inserted { throw ImportError(start, "The name \"\(name)\" is there twice.") }
      guard next(":") else { throw error("Here a colon is expected.") }
      fields.append(ImportField(name: name, position: start, value: try value()))
    } while next(",")
    guard next("}") else { throw error("Here a comma or } is expected.") }
    return fields
  }

  private mutating func number() throws -> String {
    let start: Int = place
    let allowed: Set<UInt8> = Set("+-.eE0123456789".utf8)
    while place < bytes.count, allowed.contains(bytes[place]) { place += 1 }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    guard text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil else {
      place = start
      throw error("\(text) is no number of JSON.")
    }
    return text
  }

  private mutating func string() throws -> String {
    place += 1
    var text: [UInt8] = []
    while place < bytes.count {
      let byte: UInt8 = bytes[place]
      switch byte {
      case UInt8(ascii: "\""):
        place += 1
        guard let string = String(validating: text, as: UTF8.self) else {
          throw error("The text is not UTF-8.")
        }
        return string
      case UInt8(ascii: "\\"):
        place += 1
        try escape(into: &text)
      case 0..<0x20: throw error("A text can't contain this character as it is; write \\u\(Self.hex(byte)).")
      default:
        text.append(byte)
        place += 1
      }
    }
    throw error("The document ends within a text.")
  }

  private static func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }

  private mutating func escape(into text: inout [UInt8]) throws {
    guard place < bytes.count else { throw error("The document ends within a text.") }
    let byte: UInt8 = bytes[place]
    let plain: [UInt8: UInt8] = [
      0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
    ]
    if let plain = plain[byte] {
      text.append(plain)
      place += 1
      return
    }
    guard byte == UInt8(ascii: "u") else { throw error("\\ is followed by no escape of JSON.") }
    place += 1
    var units: [UInt16] = [try unit()]
    if units[0] & 0xFC00 == 0xD800, bytes[place...].starts(with: Array("\\u".utf8)) {
      place += 2
      units.append(try unit())
    }
    guard let string = String(validating: units, as: UTF16.self) else {
      throw error("The escapes are no character.")
    }
    text.append(contentsOf: string.utf8)
  }

  private mutating func unit() throws -> UInt16 {
    guard place + 4 <= bytes.count,
      let unit = UInt16(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
    else { throw error("\\u needs four hexadecimal digits.") }
    place += 4
    return unit
  }
}
