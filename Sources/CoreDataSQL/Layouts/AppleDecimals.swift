import CoreDataStorage
import Foundation

// Decimals in columns of numeric affinity. If all digits of a number are to be kept and a real would not
// reproduce them, its text is bound with a zero byte at its end: SQLite does not convert such text to a
// number and keeps it unchanged, and a reader of C strings (Apple's included) sees the exact number.

extension DecimalText {
  /// A number in the form of a decimal column: an integer, a real whose shortest text it is, or text with a
  /// zero byte at its end. nil for NaN.
  package static func stored(_ value: Decimal) -> SQLValue? {
    value.isNaN ? nil : stored(value.description)
  }

  /// The same for a number's text; other text, such as Apple's NaN, unchanged.
  package static func stored(_ text: String) -> SQLValue {
    if let integer = Int64(text) { return .integer(integer) }
    guard let real = Double(text), real.isFinite else { return .text(text) }
    return kept(text) == text ? .real(real) : .text(text + "\0")
  }

  /// Bytes with the same order as the numbers:
  ///
  ///     sign  exponent (2 bytes, + 32768)  digits (each + 1, without zeros around)      0.00120 = 0.12 · 10⁻²: 02 7F FE 02 03
  ///     02 positive, 01 zero (alone), 00 negative with everything behind it complemented and FF at the end
  package static func key(_ value: Decimal) -> [UInt8] {
    let text: String = plain(Substring(value.description))
    var digits: [UInt8] = []
    var exponent: Int = 0
    var sawPoint = false
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39:
        if digits.isEmpty, byte == 0x30 {
          if sawPoint { exponent -= 1 }
        } else {
          digits.append(byte - 0x30 + 1)
          if !sawPoint { exponent += 1 }
        }
      case 0x2E: sawPoint = true
      default: continue
      }
    }
    while digits.last == 1 { digits.removeLast() }
    if digits.isEmpty { return [1] }
    let biased: Int = exponent + 32_768
    let magnitude: [UInt8] = [UInt8(biased >> 8 & 255), UInt8(biased & 255)] + digits
    return text.hasPrefix("-") ? [0] + magnitude.map { ~$0 } + [255] : [2] + magnitude
  }
}
