/// A checksum over the values that a contestant read, independent of the order of rows.
///
/// In a timed pass (`thorough == false`) a string adds its length and its last byte: the string exists, its
/// bytes are in memory that the contestant owns, and summing costs each contestant the same few nanoseconds.
/// The pass after the timed ones is thorough: it sums every byte. If the sums of two contestants differ the
/// run stops.
struct Checksum {
  private(set) var value: UInt64 = 0
  private(set) var rows: Int = 0
  let thorough: Bool

  init(thorough: Bool) { self.thorough = thorough }

  mutating func addRow() { rows &+= 1 }

  mutating func add(_ value: some FixedWidthInteger) { self.value &+= UInt64(truncatingIfNeeded: value) }

  mutating func add(_ value: Double) { self.value &+= value.bitPattern }

  mutating func add(_ value: Bool) { self.value &+= value ? 0x10001 : 1 }

  mutating func add(_ value: String) {
    if thorough {
      var text: String = value
      text.withUTF8 { addEveryByte($0) }
    } else {
      add(length: value.utf8.count, last: value.utf8.last ?? 0)
    }
  }

  /// Text as bytes of C.
  mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    if thorough {
      addEveryByte(bytes)
    } else {
      add(length: bytes.count, last: bytes.last ?? 0)
    }
  }

  private mutating func add(length: Int, last: UInt8) { value &+= UInt64(length) &* 257 &+ UInt64(last) }

  /// FNV-1a.
  private mutating func addEveryByte(_ bytes: UnsafeBufferPointer<UInt8>) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    value &+= hash
  }
}
