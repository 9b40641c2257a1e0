import Foundation

/// Compares numbers by value, whatever their types. Mixed pairs are compared exactly where doubles allow it:
/// an `Int64` never loses its low bits in a conversion.
package enum NumberComparison {
  /// The order of two numbers; nil if one of them is no number, or is NaN.
  package static func order(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult? {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): return order(of: a, b)
    case (.double(let a), .double(let b)): return order(of: a, b)
    case (.bool(let a), _): return order(.integer(a ? 1 : 0), right)
    case (_, .bool(let b)): return order(left, .integer(b ? 1 : 0))
    case (.unsigned(let a), .unsigned(let b)): return order(of: a, b)
    case (.integer(let a), .unsigned(let b)): return a < 0 ? .orderedAscending : order(of: UInt64(a), b)
    case (.unsigned(let a), .integer(let b)): return b < 0 ? .orderedDescending : order(of: a, UInt64(b))
    case (.integer(let a), .double(let b)): return order(a, b)
    case (.double(let a), .integer(let b)): return order(b, a).map(reversed)
    case (.unsigned(let a), .double(let b)): return order(a, b)
    case (.double(let a), .unsigned(let b)): return order(b, a).map(reversed)
    case (.decimal(let a), .decimal(let b)): return order(a, b)
    case (.decimal(let a), .integer(let b)): return order(a, Decimal(b))
    case (.integer(let a), .decimal(let b)): return order(Decimal(a), b)
    case (.decimal(let a), .unsigned(let b)): return order(a, Decimal(b))
    case (.unsigned(let a), .decimal(let b)): return order(Decimal(a), b)
    // 12.1 as a decimal and 12.1 as a double should be one value; converting the double instead would show
    // its binary digits.
    case (.decimal, .double(let b)): return double(left).flatMap { order(of: $0, b) }
    case (.double(let a), .decimal): return double(right).flatMap { order(of: a, $0) }
    default: return nil
    }
  }

  /// The nearest double of a number.
  package static func double(_ value: PredicateValue) -> Double? {
    switch value {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .double(let value): value
    // Decimal.doubleValue multiplies powers of ten and may be off by one in the last digit; the text converts
    // exactly.
    case .decimal(let value): Double(value.description) ?? .nan
    default: nil
    }
  }

  /// The integer with a number's value, if there is one.
  package static func integer(_ value: PredicateValue) -> Int64? {
    switch value {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): value
    case .unsigned: nil
    case .double(let value): Int64(exactly: value)
    case .decimal: double(value).flatMap { Int64(exactly: $0) }
    default: nil
    }
  }

  package static func reversed(_ result: ComparisonResult) -> ComparisonResult {
    switch result {
    case .orderedAscending: .orderedDescending
    case .orderedDescending: .orderedAscending
    case .orderedSame: .orderedSame
    }
  }

  @inline(__always)
  private static func order<T: Comparable>(of a: T, _ b: T) -> ComparisonResult? {
    if a < b { return .orderedAscending }
    if a == b { return .orderedSame }
    return a > b ? .orderedDescending : nil
  }

  private static func order(_ a: Decimal, _ b: Decimal) -> ComparisonResult? {
    if a.isNaN || b.isNaN { return nil }
    return order(of: a, b)
  }

  private static func order<I: FixedWidthInteger>(_ a: I, _ b: Double) -> ComparisonResult? {
    if b.isNaN { return nil }
    // Outside the integer's range the double alone decides; inside, its integral part converts exactly.
    if b >= 0x1p64 || (I.isSigned && b >= 0x1p63) { return .orderedAscending }
    if b < (I.isSigned ? -0x1p63 : 0) { return .orderedDescending }
    let whole = b.rounded(.towardZero)
    let result = order(of: a, I(whole))
    guard result == .orderedSame, whole != b else { return result }
    return b > whole ? .orderedAscending : .orderedDescending
  }
}
