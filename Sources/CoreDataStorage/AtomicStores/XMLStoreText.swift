import Foundation

/// Text as XML stores hold it. Not XML's entities but a backslash escapes: `\\` is a backslash, and `\u3c00`
/// the UTF-16 code unit 0x003C, low byte first.
enum XMLStoreText {
  private static let backslash = UInt8(ascii: "\\")
  private static let digits: [UInt8] = Array("0123456789abcdef".utf8)

  /// Escapes what XML can't hold as it stands: markup, the controls that no document may contain, and a
  /// carriage return, which a parser would replace by a line feed.
  static func append(_ text: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    var place: Int = 0
    while place < text.count {
      let byte: UInt8 = text[place]
      switch byte {
      case backslash: output += [backslash, backslash]
      case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), 0..<9, 11, 12, 13..<32, 127:
        append(unit: UInt16(byte), to: &output)
      case 0xEF where isNoncharacter(text, place):
        append(unit: text[place + 2] == 0xBE ? 0xFFFE : 0xFFFF, to: &output)
        place += 2
      default: output.append(byte)
      }
      place += 1
    }
  }

  /// U+FFFE and U+FFFF are no characters of XML.
  private static func isNoncharacter(_ text: UnsafeRawBufferPointer, _ place: Int) -> Bool {
    place + 2 < text.count && text[place + 1] == 0xBF && text[place + 2] >= 0xBE
  }

  private static func append(unit: UInt16, to output: inout [UInt8]) {
    output += [backslash, UInt8(ascii: "u")]
    for byte in [UInt8(unit & 0xFF), UInt8(unit >> 8)] {
      output += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }

  /// Reverts `append`. A backslash before anything else stands for itself.
  static func unescaped(_ text: [UInt8]) -> [UInt8] {
    guard text.contains(backslash) else { return text }
    var output: [UInt8] = []
    output.reserveCapacity(text.count)
    var units: [UInt16] = []
    func finishUnits() {
      if units.isEmpty { return }
      output += Array(String(decoding: units, as: UTF16.self).utf8)
      units = []
    }
    var place: Int = 0
    while place < text.count {
      if text[place] == backslash, place + 1 < text.count {
        if text[place + 1] == backslash {
          finishUnits()
          output.append(backslash)
          place += 2
          continue
        }
        if text[place + 1] == UInt8(ascii: "u"), let unit = unit(text, place + 2) {
          units.append(unit)
          place += 6
          continue
        }
      }
      finishUnits()
      output.append(text[place])
      place += 1
    }
    finishUnits()
    return output
  }

  private static func unit(_ text: [UInt8], _ place: Int) -> UInt16? {
    guard place + 4 <= text.count else { return nil }
    var nibbles: [UInt16] = []
    for byte in text[place..<place + 4] {
      guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
      nibbles.append(UInt16(digit))
    }
    return nibbles[2] << 12 | nibbles[3] << 8 | nibbles[0] << 4 | nibbles[1]
  }
}

/// Values as XML stores spell them.
enum XMLStoreValue {
  /// The name of a kind in the attribute `type`. Those of double, decimal, UUID, URI and transformable values
  /// were never seen in files by Apple's framework; readers go by the model.
  static func typeName(_ kind: ColumnKind) -> String {
    switch kind {
    case .int16: "int16"
    case .int32: "int32"
    case .int64: "int64"
    case .bool: "bool"
    case .double: "double"
    case .float: "float"
    case .date: "date"
    case .decimal: "decimal"
    case .string: "string"
    case .uri: "uri"
    case .uuid: "uuid"
    case .data: "binary"
    case .transformable: "transformable"
    case .toOne: ""
    }
  }

  static func append(_ row: RowRef, _ kind: ColumnKind, _ word: Int, to output: inout [UInt8]) {
    switch kind {
    case .int16, .int32, .int64, .bool, .toOne: output += Array(String(row.integer(word)).utf8)
    case .double: output += Array(text(row.double(word), row.double(word).description).utf8)
    case .float: output += Array(text(row.double(word), Float(row.double(word)).description).utf8)
    case .date: output += Array(dateText(row.double(word)).utf8)
    case .decimal, .string, .uri: XMLStoreText.append(row.bytes(word), to: &output)
    case .uuid: output += Array((uuid(row.bytes(word))?.uuidString ?? "").utf8)
    case .data, .transformable: output += Array(row.data(word).base64EncodedData())
    }
  }

  /// `5`, not `5.0`.
  private static func text(_ number: Double, _ shortest: String) -> String {
    shortest.hasSuffix(".0") && abs(number) < 1e15 ? String(shortest.dropLast(2)) : shortest
  }

  /// Seconds with 20 decimals, or with an exponent if these would lose digits.
  private static func dateText(_ seconds: Double) -> String {
    let text = String(format: "%.20f", seconds)
    return Double(text)?.bitPattern == seconds.bitPattern ? text : seconds.description
  }

  private static func uuid(_ bytes: UnsafeRawBufferPointer) -> UUID? {
    bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
  }

  /// Sets a value from its text; false if that is none of the kind.
  static func set(
    _ text: [UInt8], _ kind: ColumnKind, _ word: Int, of place: AtomicStoreLoader.Place,
    in loader: AtomicStoreLoader
  ) -> Bool {
    func number(_ value: Int64?) -> Bool {
      guard let value else { return false }
      loader.set(place, word: word, to: UInt64(bitPattern: value))
      return true
    }
    func real(_ value: Double?) -> Bool {
      guard let value else { return false }
      loader.set(place, word: word, to: value.bitPattern)
      return true
    }
    func bytes(_ value: some Sequence<UInt8>) -> Bool {
      Array(value).withUnsafeBytes { loader.set(place, word: word, to: $0) }
      return true
    }
    var trimmed: String {
      String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
    switch kind {
    case .int16: return number(Int16(trimmed).map(Int64.init))
    case .int32: return number(Int32(trimmed).map(Int64.init))
    case .int64: return number(Int64(trimmed))
    case .bool:
      return number(["1": 1, "true": 1, "YES": 1, "0": 0, "false": 0, "NO": 0][trimmed])
    case .double, .date: return real(Double(trimmed))
    case .float: return real(Float(trimmed).map(Double.init))
    case .decimal:
      let text: String = trimmed
      guard let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
        text.isPlainDecimal
      else { return false }
      return bytes(decimal.description.utf8)
    case .string, .uri: return bytes(XMLStoreText.unescaped(text))
    case .uuid:
      guard let uuid = UUID(uuidString: trimmed) else { return false }
      return withUnsafeBytes(of: uuid.uuid) { bytes($0) }
    case .data, .transformable:
      guard let data = Data(base64Encoded: Data(text), options: .ignoreUnknownCharacters) else {
        return false
      }
      return bytes(data)
    case .toOne: return false
    }
  }
}

extension String {
  /// `Decimal(string:)` accepts anything that begins with a number.
  fileprivate var isPlainDecimal: Bool {
    self == "NaN" || (Double(self) != nil && allSatisfy { $0.isASCII && !$0.isWhitespace })
  }
}
