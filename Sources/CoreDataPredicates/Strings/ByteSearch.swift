import Foundation

/// Searches in UTF-8. A code point never occurs inside another one there, so bytes can be compared.
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
}
