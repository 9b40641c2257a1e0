import Foundation

/// Decimal numbers as text, in rows, and what stores keep of them.
///
/// Apple's framework keeps decimals in columns of numeric affinity: as 64-bit integers if they are whole and
/// small enough, otherwise as reals. That always preserves 15 digits, but not always more; of longer numbers
/// the shortest text that denotes the same real is kept (Decisions/0037).
package enum DecimalText {
  /// The shortest decimal text that denotes exactly this double's shortest form, without exponent.
  package static func shortest(_ value: Double) -> String {
    guard value.isFinite else { return value.isNaN ? "NaN" : (value < 0 ? "-inf" : "inf") }
    return plain(Substring(value.description))
  }

  /// Whether a text is a decimal number and nothing else: `Decimal(string:)` takes anything that begins with
  /// one, and `Double(_:)` takes hexadecimal ones and some white space.
  package static func isNumber(_ text: String) -> Bool {
    var rest: Substring.UTF8View = text.utf8[...]
    func digits() -> Int {
      let found = rest.prefix { (0x30...0x39).contains($0) }
      rest = rest[found.endIndex...]
      return found.count
    }
    func takes(_ bytes: UInt8...) -> Bool {
      guard let first = rest.first, bytes.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    _ = takes(0x2B, 0x2D)
    var count: Int = digits()
    if takes(0x2E) { count += digits() }
    if count == 0 { return false }
    if takes(0x65, 0x45) {
      _ = takes(0x2B, 0x2D)
      if digits() == 0 { return false }
    }
    return rest.isEmpty
  }

  /// Removes the exponent and superfluous zeros from a number's text: `1.50e+3` becomes `1500`.
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
        // SQLite's and Decimal's exponents have at most four digits; a longer one could be an attempt to
        // exhaust memory.
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

  /// Whether a 64-bit integer or a real represents the number exactly.
  package static func isKept(_ text: UnsafeRawBufferPointer) -> Bool {
    // Up to 15 digits are always kept; an exponent only moves the point.
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

  /// The text of the number that a store keeps. If that is the whole number, this only scans its digits.
  package static func kept(_ text: String) -> String {
    var text: String = text
    if text.withUTF8({ isKept(UnsafeRawBufferPointer($0)) }) { return text }
    return Double(text).map(shortest) ?? text
  }

  /// The number that a store keeps of a value.
  package static func kept(_ value: Decimal) -> Decimal {
    let text: String = value.description
    let kept: String = kept(text)
    return kept == text ? value : number(kept) ?? value
  }

  package static func number(_ text: String) -> Decimal? { Decimal(string: text, locale: posix) }

  /// Made once, because rows are compared by the thousand.
  private static let posix = Locale(identifier: "en_US_POSIX")
}
