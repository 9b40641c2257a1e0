import CoreDataPredicates
import Foundation

/// Searches in UTF-8. The bytes of a code point never occur inside another one, so bytes can be compared.
enum ByteSearch {
  static func contains(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.baseAddress, let needle = part.baseAddress, part.count <= text.count else {
      return false
    }
    var offset: Int = 0
    let last: Int = text.count - part.count
    while offset <= last {
      guard let hit = memchr(start + offset, Int32(needle[0]), last - offset + 1) else { return false }
      offset = UnsafeRawPointer(hit) - UnsafeRawPointer(start)
      if memcmp(start + offset, needle, part.count) == 0 { return true }
      offset += 1
    }
    return false
  }

  static func begins(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.baseAddress, let needle = part.baseAddress, part.count <= text.count else {
      return false
    }
    return memcmp(start, needle, part.count) == 0
  }

  static func ends(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.baseAddress, let needle = part.baseAddress, part.count <= text.count else {
      return false
    }
    return memcmp(start + (text.count - part.count), needle, part.count) == 0
  }

  @inline(__always)
  static func equals(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    guard let a = left.baseAddress, let b = right.baseAddress else { return true }
    return memcmp(a, b, left.count) == 0
  }

  /// The order by code points, which is the same as that of the bytes.
  static func order(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> ComparisonResult {
    var order: Int = 0
    let common: Int = min(left.count, right.count)
    if common > 0, let a = left.baseAddress, let b = right.baseAddress { order = Int(memcmp(a, b, common)) }
    if order == 0 { order = left.count - right.count }
    return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether all bytes are ASCII. Checks eight bytes at a time.
  var isASCII: Bool {
    guard let start = UnsafeRawPointer(baseAddress) else { return true }
    var place: Int = 0
    while place &+ 8 <= count {
      if start.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
        return false
      }
      place &+= 8
    }
    while place < count {
      if self[place] >= 0x80 { return false }
      place &+= 1
    }
    return true
  }

  /// Whether it consists of ASCII and letters from U+00C0 to U+017F (`é`, `ł`), without the four that become
  /// ASCII when their case is folded: folding such a text maps each character separately, and none from ASCII
  /// to others or back.
  var isLatin: Bool {
    var place: Int = 0
    while place < count {
      let byte: UInt8 = self[place]
      if byte < 0x80 {
        place &+= 1
        continue
      }
      guard byte >= 0xC3, byte <= 0xC5, place &+ 1 < count, self[place &+ 1] & 0xC0 == 0x80 else {
        return false
      }
      switch (byte, self[place &+ 1]) {
      // ß, İ, ŉ, ſ
      case (0xC3, 0x9F), (0xC4, 0xB0), (0xC5, 0x89), (0xC5, 0xBF): return false
      default: place &+= 2
      }
    }
    return true
  }
}
