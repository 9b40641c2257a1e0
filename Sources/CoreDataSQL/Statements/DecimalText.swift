import Foundation

/// The text of decimal numbers that SQLite keeps in columns of numeric affinity.
///
/// A column declared `DECIMAL` turns a bound text such as `10.11` into REAL when 15 digits of it survive the change.
/// Apple's framework lives with the loss of further digits. Here a number whose text a REAL would not give back
/// is bound with a zero byte at its end: no number ends so, SQLite therefore keeps the text as it is, and a reader of C
/// strings (Apple's included) sees the exact number.
package enum DecimalText {
  /// The shortest decimal text that denotes exactly this double's shortest form, without exponent.
  package static func shortest(_ value: Double) -> String {
    guard value.isFinite else { return value.isNaN ? "NaN" : (value < 0 ? "-inf" : "inf") }
    return plain(Substring(value.description))
  }

  /// Takes the exponent and superfluous zeros out of a number's text: `1.50e+3` becomes `1500`.
  package static func plain(_ text: Substring) -> String {
    var digits: [UInt8] = []
    var exponent: Int = 0
    var isNegative = false
    var sawPoint = false
    var rest = text.utf8[...]
    if let first = rest.first, first == 0x2D || first == 0x2B {
      isNegative = first == 0x2D
      rest = rest.dropFirst()
    }
    while let byte = rest.first {
      rest = rest.dropFirst()
      switch byte {
      case 0x30...0x39:
        digits.append(byte)
        if sawPoint { exponent -= 1 }
      case 0x2E: sawPoint = true
      case 0x65, 0x45:
        // SQLite's and Decimal's exponents have at most four digits; more would be an attempt to fill memory.
        guard let value = Int(Substring(rest)), abs(value) < 10_000 else { return String(text) }
        exponent += value
        rest = rest[rest.endIndex...]
      default: return String(text)
      }
    }
    while digits.last == 0x30 {
      digits.removeLast()
      exponent += 1
    }
    let leading: Int = digits.prefix { $0 == 0x30 }.count
    digits.removeFirst(leading)
    if digits.isEmpty { return "0" }
    var result: [UInt8] = isNegative ? [0x2D] : []
    if exponent >= 0 {
      result += digits + [UInt8](repeating: 0x30, count: exponent)
    } else if -exponent < digits.count {
      result += digits.dropLast(-exponent) + [0x2E] + digits.suffix(-exponent)
    } else {
      result += [0x30, 0x2E] + [UInt8](repeating: 0x30, count: -exponent - digits.count) + digits
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether SQLite's numeric affinity gives the number back as it was.
  package static func survivesAffinity(_ text: UnsafeRawBufferPointer) -> Bool {
    // Up to 15 digits always do (SQLite's own promise); an exponent only moves the point.
    var count: Int = 0
    for byte in text {
      if byte >= 0x30 && byte <= 0x39 { count += 1 }
      if byte == 0x65 || byte == 0x45 { break }
    }
    if count <= 15 { return true }
    let string = String(decoding: text, as: UTF8.self)
    if Int64(string) != nil { return true }
    guard let value = Double(string), value.isFinite else { return true }
    return shortest(value) == plain(Substring(string))
  }

  /// A number as a decimal column holds it: an integer, a real whose shortest text it is, or text behind which stands a zero
  /// byte. nil for what is no number.
  package static func stored(_ value: Decimal) -> SQLValue? {
    if value.isNaN { return nil }
    let text: String = value.description
    if let integer = Int64(text) { return .integer(integer) }
    if Array(text.utf8).withUnsafeBytes({ survivesAffinity($0) }), let real = Double(text) {
      return .real(real)
    }
    return .text(text + "\0")
  }

  /// Bytes that are ordered as their numbers are:
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
