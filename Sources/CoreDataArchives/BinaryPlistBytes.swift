import Foundation

/// The bytes of a binary property list (``BinaryPlistTable``), object after object.
struct BinaryPlistBytes {
  private(set) var bytes: [UInt8] = Array("bplist00".utf8)
  private var offsets: [Int] = []
  private let referenceSize: Int

  /// - Parameter referenceSize: The bytes of a reference: 1, 2, 4 or 8.
  init(referenceSize: Int) { self.referenceSize = referenceSize }

  /// The number of objects so far, which is the number of the next one.
  var count: Int { offsets.count }

  /// Whether references can name all objects.
  var isComplete: Bool { referenceSize >= Self.width(max(0, count - 1)) }

  // MARK: Objects. Each returns the object's number.

  mutating func append(_ value: Bool) -> Int {
    start()
    bytes.append(value ? 9 : 8)
    return count - 1
  }

  mutating func append(_ value: Int64) -> Int {
    start()
    appendInteger(value)
    return count - 1
  }

  mutating func append(unsigned value: UInt64) -> Int {
    start()
    bytes.append(0x14)
    appendBigEndian(0, size: 8)
    appendBigEndian(value, size: 8)
    return count - 1
  }

  mutating func append(_ value: Double) -> Int {
    start()
    bytes.append(0x23)
    appendBigEndian(value.bitPattern, size: 8)
    return count - 1
  }

  mutating func append(secondsSince2001 value: Double) -> Int {
    start()
    bytes.append(0x33)
    appendBigEndian(value.bitPattern, size: 8)
    return count - 1
  }

  mutating func append(data: UnsafeRawBufferPointer) -> Int {
    start()
    appendSize(0x40, data.count)
    bytes += data
    return count - 1
  }

  /// UTF-8 text.
  mutating func append(text: UnsafeRawBufferPointer) -> Int {
    start()
    if text.allSatisfy({ $0 < 0x80 }) {
      appendSize(0x50, text.count)
      bytes += text
      return count - 1
    }
    let units: [UInt16] = Array(String(decoding: text, as: UTF8.self).utf16)
    appendSize(0x60, units.count)
    for unit in units { appendBigEndian(UInt64(unit), size: 2) }
    return count - 1
  }

  mutating func append(uid number: Int) -> Int {
    start()
    let size: Int = Self.width(number)
    bytes.append(0x80 | UInt8(size - 1))
    appendBigEndian(UInt64(number), size: size)
    return count - 1
  }

  mutating func append(array members: some Collection<Int>) -> Int {
    start()
    appendSize(0xA0, members.count)
    for member in members { appendBigEndian(UInt64(member), size: referenceSize) }
    return count - 1
  }

  mutating func append(keys: some Collection<Int>, values: some Collection<Int>) -> Int {
    start()
    appendSize(0xD0, keys.count)
    for member in keys { appendBigEndian(UInt64(member), size: referenceSize) }
    for member in values { appendBigEndian(UInt64(member), size: referenceSize) }
    return count - 1
  }

  /// Appends the table of offsets, which ends the list.
  mutating func finish(top: Int) {
    let tableOffset: Int = bytes.count
    let offsetSize: Int = Self.width(tableOffset)
    bytes.reserveCapacity(bytes.count + offsets.count * offsetSize + 32)
    for offset in offsets { appendBigEndian(UInt64(offset), size: offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for number in [offsets.count, top, tableOffset] { appendBigEndian(UInt64(number), size: 8) }
  }

  // MARK: Parts

  private mutating func start() { offsets.append(bytes.count) }

  private mutating func appendInteger(_ value: Int64) {
    let size: Int = value < 0 ? 8 : Self.width(Int(value))
    bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
    appendBigEndian(UInt64(bitPattern: value), size: size)
  }

  private mutating func appendSize(_ marker: UInt8, _ count: Int) {
    if count < 15 {
      bytes.append(marker | UInt8(count))
    } else {
      bytes.append(marker | 0x0F)
      appendInteger(Int64(count))
    }
  }

  private mutating func appendBigEndian(_ value: UInt64, size: Int) {
    var shift: Int = 8 * size
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }

  /// The fewest bytes, a power of two, that hold `value`.
  static func width(_ value: Int) -> Int {
    switch value {
    case 0...0xFF: 1
    case 0...0xFFFF: 2
    case 0...0xFFFF_FFFF: 4
    default: 8
    }
  }
}
