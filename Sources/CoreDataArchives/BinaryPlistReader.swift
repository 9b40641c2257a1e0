import Foundation

/// Reads a binary property list.
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
/// Every size and offset is checked against the file before use, objects are read once, and cycles, deep
/// nesting and objects that share bytes are refused, so no input costs more than a small multiple
/// of its size.
package struct BinaryPlistReader {
  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private let tableOffset: Int
  private var finished: [PlistNode?]
  private var isOpen: [Bool]
  /// Bytes that sized objects may still use: all of them together have no more than the file.
  private var unclaimed: Int
  /// The number of nodes below each object, itself included, in a walk over the tree.
  private var weights: [Int]

  /// Real archives nest four deep; property lists in user info rarely more.
  private static let maximumDepth = 128

  package static func read(_ data: Data) throws -> PlistNode {
    var reader = try BinaryPlistReader(Array(data))
    return try reader.object(reader.topObject, depth: 0)
  }

  private let topObject: Int

  private init(_ bytes: [UInt8]) throws {
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
    let counts = try [trailer + 8, trailer + 16, trailer + 24].map { offset -> Int in
      let value = bytes[offset..<(offset + 8)].reduce(UInt64(0)) { ($0 << 8) | UInt64($1) }
      guard value <= UInt64(bytes.count) else {
        throw PlistError("its trailer gives the number \(value), beyond the \(bytes.count) bytes there are")
      }
      return Int(value)
    }
    (objectCount, topObject, tableOffset) = (counts[0], counts[1], counts[2])
    guard objectCount > 0, topObject < objectCount, tableOffset >= 8,
      objectCount <= (trailer - min(trailer, tableOffset)) / offsetSize
    else {
      throw PlistError("its table of \(objectCount) objects doesn't fit; the file is cut off or damaged")
    }
    finished = Array(repeating: nil, count: objectCount)
    isOpen = Array(repeating: false, count: objectCount)
    unclaimed = bytes.count
    weights = Array(repeating: 1, count: objectCount)
  }

  private mutating func object(_ index: Int, depth: Int) throws -> PlistNode {
    if let node = finished[index] { return node }
    guard !isOpen[index] else { throw PlistError("object \(index) contains itself") }
    guard depth < Self.maximumDepth else {
      throw PlistError("its objects nest deeper than \(Self.maximumDepth)")
    }
    isOpen[index] = true
    let offset = Int(try unsigned(at: tableOffset + index * offsetSize, size: offsetSize))
    let node = try parse(at: offset, index: index, depth: depth)
    isOpen[index] = false
    finished[index] = node
    return node
  }

  private mutating func parse(at offset: Int, index: Int, depth: Int) throws -> PlistNode {
    try check(offset, 1, "object \(index)")
    let marker = bytes[offset]
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case 0x0:
      switch low {
      case 8: return .boolean(false)
      case 9: return .boolean(true)
      default: throw PlistError("object \(index) has the unknown marker \(hex(marker))")
      }
    case 0x1:
      return try integer(at: offset, index: index).node
    case 0x2 where low == 2:
      try check(offset + 1, 4, "object \(index)")
      return .real(Double(Float(bitPattern: UInt32(try unsigned(at: offset + 1, size: 4)))))
    case 0x2 where low == 3:
      try check(offset + 1, 8, "object \(index)")
      return .real(Double(bitPattern: try unsigned(at: offset + 1, size: 8)))
    case 0x3 where low == 3:
      try check(offset + 1, 8, "object \(index)")
      return .date(Double(bitPattern: try unsigned(at: offset + 1, size: 8)))
    case 0x4:
      let (start, count) = try size(at: offset, index: index, unit: 1)
      return .data(Data(bytes[start..<(start + count)]))
    case 0x5:
      let (start, count) = try size(at: offset, index: index, unit: 1)
      return .string(String(decoding: bytes[start..<(start + count)], as: UTF8.self))
    case 0x6:
      let (start, count) = try size(at: offset, index: index, unit: 2)
      let units = (0..<count).map { UInt16(bytes[start + 2 * $0]) << 8 | UInt16(bytes[start + 2 * $0 + 1]) }
      return .string(String(decoding: units, as: UTF16.self))
    case 0x8:
      try check(offset + 1, low + 1, "object \(index)")
      guard low < 8 else { throw PlistError("object \(index) is a reference of \(low + 1) bytes") }
      let value = try unsigned(at: offset + 1, size: low + 1)
      guard value <= UInt64(Int32.max) else { throw PlistError("object \(index) refers to number \(value)") }
      return .uid(Int(value))
    case 0xA, 0xC:
      let (start, count) = try size(at: offset, index: index, unit: referenceSize)
      return .array(
        try (0..<count).map { try element(at: start + $0 * referenceSize, in: index, depth: depth) })
    case 0xD:
      let (start, count) = try size(at: offset, index: index, unit: 2 * referenceSize)
      var content: [String: PlistNode] = [:]
      for i in 0..<count {
        guard case .string(let key) = try element(at: start + i * referenceSize, in: index, depth: depth)
        else {
          throw PlistError("dictionary \(index) has a key that is not a string")
        }
        content[key] = try element(at: start + (count + i) * referenceSize, in: index, depth: depth)
      }
      return .dictionary(content)
    default:
      throw PlistError("object \(index) has the unknown marker \(hex(marker))")
    }
  }

  private mutating func element(at offset: Int, in parent: Int, depth: Int) throws -> PlistNode {
    let reference = try unsigned(at: offset, size: referenceSize)
    guard reference < UInt64(objectCount) else {
      throw PlistError("object \(parent) refers to object \(reference) of \(objectCount)")
    }
    let node = try object(Int(reference), depth: depth + 1)
    // A container in several places multiplies in a walk over the tree. Writers share leaves only.
    weights[parent] += weights[Int(reference)]
    guard weights[parent] <= 8 * bytes.count else {
      throw PlistError("its collections share members without end")
    }
    return node
  }

  /// The start and count of a sized object whose elements take `unit` bytes each.
  private mutating func size(at offset: Int, index: Int, unit: Int) throws -> (start: Int, count: Int) {
    var start = offset + 1
    var count = Int64(bytes[offset] & 0x0F)
    if count == 15 {
      try check(start, 1, "object \(index)")
      guard bytes[start] >> 4 == 0x1 else { throw PlistError("object \(index) has no size") }
      let (node, length) = try integer(at: start, index: index)
      guard case .integer(let value) = node else {
        throw PlistError("object \(index) claims too many elements")
      }
      count = value
      start += length
    }
    guard count >= 0, count <= Int64(tableOffset), start + Int(count) * unit <= tableOffset else {
      throw PlistError("object \(index) claims \(count) elements, more than the file holds")
    }
    unclaimed -= Int(count) * unit
    guard unclaimed >= 0 else { throw PlistError("its objects lie over each other") }
    return (start, Int(count))
  }

  private func integer(at offset: Int, index: Int) throws -> (node: PlistNode, length: Int) {
    let exponent = Int(bytes[offset] & 0x0F)
    guard exponent <= 4 else { throw PlistError("object \(index) is an integer of 2^\(exponent) bytes") }
    let width = 1 << exponent
    try check(offset + 1, width, "object \(index)")
    if width == 16 {
      // Apple writes numbers above Int64.max in 16 bytes; only those that still fit 64 bits occur.
      let high = try unsigned(at: offset + 1, size: 8)
      guard high == 0 || high == UInt64.max else {
        throw PlistError("object \(index) is an integer beyond 64 bits")
      }
      let low = try unsigned(at: offset + 9, size: 8)
      if high == 0, low > UInt64(Int64.max) { return (.unsigned(low), 17) }
      return (.integer(Int64(truncatingIfNeeded: low)), 17)
    }
    return (.integer(Int64(truncatingIfNeeded: try unsigned(at: offset + 1, size: width))), width + 1)
  }

  private func unsigned(at offset: Int, size: Int) throws -> UInt64 {
    try check(offset, size, "a number")
    return bytes[offset..<(offset + size)].reduce(0) { ($0 << 8) | UInt64($1) }
  }

  private func check(_ offset: Int, _ count: Int, _ what: String) throws {
    guard offset >= 0, offset <= bytes.count, count <= bytes.count - offset else {
      throw PlistError("\(what) lies outside the file; it is cut off or damaged")
    }
  }

  private func hex(_ byte: UInt8) -> String {
    "0x" + String(byte, radix: 16)
  }
}
