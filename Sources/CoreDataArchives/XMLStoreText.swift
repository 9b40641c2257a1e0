import Foundation

/// Text as XML stores hold it. Not XML's entities but a backslash escapes: `\\` is a backslash, and `\u3c00`
/// the UTF-16 code unit 0x003C, low byte first.
package enum XMLStoreText {
  private static let backslash = UInt8(ascii: "\\")
  private static let digits: [UInt8] = Array("0123456789abcdef".utf8)

  /// Escapes what XML can't hold as it stands: markup, the controls that no document may contain, and a
  /// carriage return, which a parser would replace by a line feed.
  package static func append(_ text: UnsafeRawBufferPointer, to output: inout [UInt8]) {
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
  package static func unescaped(_ text: [UInt8]) -> [UInt8] {
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
