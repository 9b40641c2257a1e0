import Foundation

/// The objects of a binary property list by their numbers, each parsed when it is asked for.
///
/// ```
/// offset 0          "bplist" + version "00"
/// …                 objects: a marker byte (high half kind, low half size) and content
/// offset table      for each object its offset, big-endian, `offsetSize` bytes each
/// last 32 bytes     6 unused · offsetSize (1) · referenceSize (1) · object count (8) · top object (8) · table offset (8)
/// ```
///
/// | marker | object |
/// |---|---|
/// | 08, 09 | false, true |
/// | 1n | integer of 2ⁿ bytes, signed if 8 bytes; of 16 if above `Int64.max` |
/// | 22, 23 | real of 4 or 8 bytes |
/// | 33 | date: 8-byte real, seconds since 2001 |
/// | 4n, 5n, 6n | data, ASCII, UTF-16 of n bytes or code units; n = 15: an integer object with the size follows |
/// | 8n | reference into an archive, n + 1 bytes |
/// | An, Dn | array of n references; dictionary of n key references, then n value references |
///
/// Every size and offset is checked against the bytes before use. Nothing is allocated and nothing is
/// followed: cycles, depth and repetition are the caller's to limit.
package struct BinaryPlistTable {
  /// Valid as long as the memory that `init` was called with.
  private let bytes: UnsafeRawBufferPointer
  private let offsetSize: Int
  private let referenceSize: Int
  private let tableOffset: Int
  package let count: Int
  package let top: Int

  /// Bytes of the list: of text or data.
  package typealias Place = Range<Int>

  /// The members of a collection: references to other objects.
  package struct References {
    fileprivate let start: Int
    package let count: Int
  }

  package enum Entry {
    case boolean(Bool)
    case integer(Int64)
    /// Only above `Int64.max`.
    case unsigned(UInt64)
    case real(Double)
    /// Seconds since 2001.
    case date(Double)
    case data(Place)
    case ascii(Place)
    /// Big-endian code units.
    case utf16(Place)
    case uid(Int)
    case array(References)
    case dictionary(keys: References, values: References)

    /// The bytes that the entry has for itself, beside its marker.
    var size: Int {
      switch self {
      case .data(let place), .ascii(let place), .utf16(let place): place.count
      default: 0
      }
    }
  }

  package init(_ bytes: UnsafeRawBufferPointer) throws {
    guard bytes.starts(with: Array("bplist0".utf8)) else {
      throw PlistError("it doesn't start with 'bplist0'")
    }
    guard bytes.count >= 8 + 1 + 1 + 32 else { throw PlistError("it ends after \(bytes.count) bytes") }
    self.bytes = bytes
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
      throw PlistError("its trailer gives offsets of \(offsetSize) and references of \(referenceSize) bytes")
    }
    func number(_ offset: Int) throws -> Int {
      let value = bytes[offset..<(offset + 8)].reduce(UInt64(0)) { ($0 << 8) | UInt64($1) }
      guard value <= UInt64(bytes.count) else {
        throw PlistError("its trailer gives the number \(value), beyond the \(bytes.count) bytes there are")
      }
      return Int(value)
    }
    count = try number(trailer + 8)
    top = try number(trailer + 16)
    tableOffset = try number(trailer + 24)
    guard count > 0, top < count, tableOffset >= 8,
      count <= (trailer - min(trailer, tableOffset)) / offsetSize
    else {
      throw PlistError("its table of \(count) objects doesn't fit; the file is cut off or damaged")
    }
  }

  // MARK: Objects

  package func entry(at index: Int) throws -> Entry {
    guard index >= 0, index < count else { throw PlistError("it refers to object \(index) of \(count)") }
    let start: UInt64 = unchecked(tableOffset + index * offsetSize, size: offsetSize)
    guard start < UInt64(bytes.count) else {
      throw PlistError("object \(index) lies outside the file; it is cut off or damaged")
    }
    let offset = Int(start)
    let marker: UInt8 = bytes[offset]
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case 0x0 where low == 8: return .boolean(false)
    case 0x0 where low == 9: return .boolean(true)
    case 0x1: return try integer(at: offset, index: index).entry
    case 0x2 where low == 2:
      return .real(Double(Float(bitPattern: UInt32(try number(offset + 1, 4, index)))))
    case 0x2 where low == 3: return .real(Double(bitPattern: try number(offset + 1, 8, index)))
    case 0x3 where low == 3: return .date(Double(bitPattern: try number(offset + 1, 8, index)))
    case 0x4: return .data(try place(at: offset, index: index, unit: 1))
    case 0x5: return .ascii(try place(at: offset, index: index, unit: 1))
    case 0x6: return .utf16(try place(at: offset, index: index, unit: 2))
    case 0x8:
      guard low < 8 else { throw PlistError("object \(index) is a reference of \(low + 1) bytes") }
      let value: UInt64 = try number(offset + 1, low + 1, index)
      guard value <= UInt64(Int32.max) else { throw PlistError("object \(index) refers to number \(value)") }
      return .uid(Int(value))
    case 0xA, 0xC:
      let (start, count) = try size(at: offset, index: index, unit: referenceSize)
      return .array(References(start: start, count: count))
    case 0xD:
      let (start, count) = try size(at: offset, index: index, unit: 2 * referenceSize)
      return .dictionary(
        keys: References(start: start, count: count),
        values: References(start: start + count * referenceSize, count: count))
    default:
      throw PlistError("object \(index) has the unknown marker 0x\(String(marker, radix: 16))")
    }
  }

  /// The number of a collection's member.
  package func member(_ position: Int, of references: References) throws -> Int {
    precondition(position >= 0 && position < references.count)
    let found: UInt64 = unchecked(references.start + position * referenceSize, size: referenceSize)
    guard found < UInt64(count) else { throw PlistError("it refers to object \(found) of \(count)") }
    return Int(found)
  }

  /// The bytes of data or of text.
  package func content(_ place: Place) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[place])
  }

  /// The text of an entry, nil if it is none.
  package func text(_ entry: Entry) -> String? {
    switch entry {
    case .ascii(let place): return String(decoding: content(place), as: UTF8.self)
    case .utf16(let place):
      let bytes: UnsafeRawBufferPointer = content(place)
      return String(
        decoding: (0..<bytes.count / 2).lazy.map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) },
        as: UTF16.self)
    default: return nil
    }
  }

  /// The bytes that references take.
  func size(_ references: References) -> Int { references.count * referenceSize }

  // MARK: Sizes

  private func place(at offset: Int, index: Int, unit: Int) throws -> Place {
    let (start, count) = try size(at: offset, index: index, unit: unit)
    return start..<start + count * unit
  }

  /// The start and count of a sized object whose elements take `unit` bytes each.
  private func size(at offset: Int, index: Int, unit: Int) throws -> (start: Int, count: Int) {
    var start = offset + 1
    var count = Int64(bytes[offset] & 0x0F)
    if count == 15 {
      guard start < bytes.count, bytes[start] >> 4 == 0x1 else {
        throw PlistError("object \(index) has no size")
      }
      let (entry, length) = try integer(at: start, index: index)
      guard case .integer(let value) = entry else {
        throw PlistError("object \(index) claims too many elements")
      }
      count = value
      start += length
    }
    guard count >= 0, count <= Int64(tableOffset), start + Int(count) * unit <= tableOffset else {
      throw PlistError("object \(index) claims \(count) elements, more than the file holds")
    }
    return (start, Int(count))
  }

  private func integer(at offset: Int, index: Int) throws -> (entry: Entry, length: Int) {
    let exponent = Int(bytes[offset] & 0x0F)
    guard exponent <= 4 else { throw PlistError("object \(index) is an integer of 2^\(exponent) bytes") }
    let width = 1 << exponent
    if width < 16 {
      return (.integer(Int64(truncatingIfNeeded: try number(offset + 1, width, index))), width + 1)
    }
    // Apple writes numbers above Int64.max in 16 bytes; only those that still fit 64 bits occur.
    let high: UInt64 = try number(offset + 1, 8, index)
    guard high == 0 || high == UInt64.max else {
      throw PlistError("object \(index) is an integer beyond 64 bits")
    }
    let low: UInt64 = try number(offset + 9, 8, index)
    if high == 0, low > UInt64(Int64.max) { return (.unsigned(low), 17) }
    return (.integer(Int64(truncatingIfNeeded: low)), 17)
  }

  private func number(_ offset: Int, _ size: Int, _ index: Int) throws -> UInt64 {
    guard size <= bytes.count - offset else {
      throw PlistError("object \(index) lies outside the file; it is cut off or damaged")
    }
    return unchecked(offset, size: size)
  }

  private func unchecked(_ offset: Int, size: Int) -> UInt64 {
    switch size {
    case 1: return UInt64(bytes[offset])
    case 2: return UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self).bigEndian)
    case 4: return UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian)
    case 8: return bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
    default:
      var value: UInt64 = 0
      for byte in bytes[offset..<(offset + size)] { value = value << 8 | UInt64(byte) }
      return value
    }
  }
}
