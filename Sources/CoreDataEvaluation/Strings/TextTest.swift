import CoreDataPredicates
import Foundation

/// A text operator with a constant on its right: folded once, and applied to bytes in place.
///
/// ASCII is compared in place, upper and lower case alike with `c`; so is a constant of ASCII with text that
/// has letters of western and central Europe too. Only text that has other characters, and options that
/// concern them, is made a string and folded.
package struct TextTest: Sendable {
  private let comparison: ComparisonOperator
  private let options: ComparisonOptions
  private let needle: Needle
  private let isLiteral: Bool
  private let foldsCase: Bool
  /// Whether it is sufficient that a character is not ASCII, folded or not.
  private let passesLatin: Bool

  /// Whether the operator under these options compares bytes, folded or not.
  package static func isTest(_ comparison: ComparisonOperator, _ options: ComparisonOptions) -> Bool {
    guard StringMatching.Mode(options) != .localized else { return false }
    switch comparison {
    case .equalTo, .notEqualTo, .contains, .beginsWith, .endsWith: return true
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo: return true
    default: return false
    }
  }

  /// Only for operators and options for which ``isTest(_:_:)`` is true.
  package init(_ comparison: ComparisonOperator, _ constant: String, _ options: ComparisonOptions) {
    self.comparison = comparison
    self.options = options
    isLiteral = StringMatching.Mode(options) == .literal
    foldsCase = !isLiteral && options.contains(.caseInsensitive)
    needle = Needle(isLiteral ? constant : StringMatching.fold(constant, options: options))
    passesLatin = foldsCase && !options.contains(.diacriticInsensitive) && needle.bytes.isASCII
  }

  package func holds(_ text: String) -> Bool {
    var text: String = text
    return text.withUTF8 { decide($0, isValid: true) } ?? holdsFolded(text)
  }

  /// - Parameter bytes: UTF-8; broken bytes count as replacement characters.
  @inline(__always)
  package func holds(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    decide(bytes, isValid: false) ?? holdsFolded(String(decoding: bytes, as: UTF8.self))
  }

  private func holdsFolded(_ text: String) -> Bool {
    var text: String = isLiteral ? text : StringMatching.fold(text, options: options)
    return text.withUTF8 { holdsLiterally($0) }
  }

  /// nil when the bytes alone don't decide.
  private func decide(_ bytes: UnsafeBufferPointer<UInt8>, isValid: Bool) -> Bool? {
    if isLiteral {
      // Broken bytes differ from every text without replacement characters, and so does the repaired text;
      // only the order of the two is different.
      if isValid || !(needle.holdsReplacement || isOrder) || bytes.isASCII { return holdsLiterally(bytes) }
      return nil
    }
    switch comparison {
    case .beginsWith:
      if let begins = beginsFolded(bytes) { return begins }
    case .endsWith:
      if let ends = endsFolded(bytes) { return ends }
    default: break
    }
    guard bytes.isASCII || passesLatin && bytes.isLatin else { return nil }
    if !foldsCase { return holdsLiterally(bytes) }
    switch comparison {
    case .equalTo: return equalsFolded(bytes)
    case .notEqualTo: return !equalsFolded(bytes)
    case .contains: return containsFolded(bytes)
    case .beginsWith: return holdsFolded(bytes, at: 0)
    case .endsWith: return holdsFolded(bytes, at: bytes.count - needle.bytes.count)
    default: return holdsOrder(foldedOrder(bytes))
    }
  }

  private var isOrder: Bool {
    switch comparison {
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo: true
    default: false
    }
  }

  private func holdsLiterally(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let needle: UnsafeBufferPointer<UInt8> = needle.bytes
    switch comparison {
    case .equalTo: return ByteSearch.equals(bytes, needle)
    case .notEqualTo: return !ByteSearch.equals(bytes, needle)
    // An empty part is never found.
    case .contains: return needle.count > 0 && ByteSearch.contains(bytes, needle)
    case .beginsWith: return needle.count > 0 && ByteSearch.begins(bytes, needle)
    case .endsWith: return needle.count > 0 && ByteSearch.ends(bytes, needle)
    default: return holdsOrder(ByteSearch.order(bytes, needle))
    }
  }

  private func holdsOrder(_ order: ComparisonResult) -> Bool {
    switch comparison {
    case .lessThan: order == .orderedAscending
    case .lessThanOrEqualTo: order != .orderedDescending
    case .greaterThan: order == .orderedDescending
    default: order != .orderedAscending
    }
  }

  // MARK: ASCII, folded during comparison

  // All of these also work for texts with `isLatin`: characters beyond ASCII stay so when folded, and differ
  // from every part of the constant.

  @inline(__always)
  private func folded(_ byte: UInt8) -> UInt8 { foldsCase ? StringMatching.lowercased(byte) : byte }

  private func equalsFolded(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard bytes.count == needle.bytes.count else { return false }
    for place in 0..<bytes.count where folded(bytes[place]) != needle.bytes[place] { return false }
    return true
  }

  /// A combining mark after a letter changes it, so the byte after those compared must be ASCII too.
  private func beginsFolded(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
    let part: UnsafeBufferPointer<UInt8> = needle.bytes
    for place in 0..<part.count {
      guard place < bytes.count else { return false }
      if bytes[place] >= 0x80 { return nil }
      if folded(bytes[place]) != part[place] {
        return place + 1 < bytes.count && bytes[place + 1] >= 0x80 ? nil : false
      }
    }
    if part.count < bytes.count, bytes[part.count] >= 0x80 { return nil }
    return part.count > 0
  }

  private func endsFolded(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
    let part: UnsafeBufferPointer<UInt8> = needle.bytes
    let start: Int = max(0, bytes.count - part.count)
    for place in start..<bytes.count where bytes[place] >= 0x80 { return nil }
    return holdsFolded(bytes, at: bytes.count - part.count)
  }

  private func holdsFolded(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
    let part: UnsafeBufferPointer<UInt8> = needle.bytes
    guard part.count > 0, start >= 0, start + part.count <= bytes.count else { return false }
    for place in 0..<part.count where folded(bytes[start + place]) != part[place] { return false }
    return true
  }

  private func containsFolded(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let part: UnsafeBufferPointer<UInt8> = needle.bytes
    guard part.count > 0, part.count <= bytes.count else { return false }
    let first: UInt8 = part[0]
    search: for start in 0...(bytes.count - part.count) where folded(bytes[start]) == first {
      for place in 1..<part.count where folded(bytes[start + place]) != part[place] { continue search }
      return true
    }
    return false
  }

  private func foldedOrder(_ bytes: UnsafeBufferPointer<UInt8>) -> ComparisonResult {
    let other: UnsafeBufferPointer<UInt8> = needle.bytes
    for place in 0..<min(bytes.count, other.count) {
      let (a, b): (UInt8, UInt8) = (folded(bytes[place]), other[place])
      if a != b { return a < b ? .orderedAscending : .orderedDescending }
    }
    return bytes.count < other.count
      ? .orderedAscending : bytes.count > other.count ? .orderedDescending : .orderedSame
  }

  /// The constant's bytes at a fixed address: an array would be retained for each comparison.
  private final class Needle: @unchecked Sendable {
    // Immutable after init.
    let bytes: UnsafeBufferPointer<UInt8>
    let holdsReplacement: Bool

    init(_ text: String) {
      var text: String = text
      bytes = text.withUTF8 { source in
        let copy: UnsafeMutableBufferPointer<UInt8> = .allocate(capacity: max(1, source.count))
        _ = copy.initialize(from: source)
        return UnsafeBufferPointer(rebasing: copy[..<source.count])
      }
      holdsReplacement = text.unicodeScalars.contains("\u{FFFD}")
    }

    deinit { bytes.deallocate() }
  }
}
