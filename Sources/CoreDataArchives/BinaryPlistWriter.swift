import Foundation

/// Writes a binary property list in the form ``BinaryPlistReader`` describes. Equal strings, numbers and data
/// are written once and dictionaries by key, so equal input gives equal bytes.
package struct BinaryPlistWriter {
  private enum Item {
    case leaf(PlistNode)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
  }

  private var items: [Item] = []
  private var leaves: [PlistNode: Int] = [:]
  /// By their bytes: equal texts may be spelled in different code points.
  private var strings: [[UInt8]: Int] = [:]

  package static func write(_ root: PlistNode) -> Data {
    var writer = BinaryPlistWriter()
    let top = writer.add(root)
    return writer.render(top: top)
  }

  private mutating func add(_ node: PlistNode) -> Int {
    switch node {
    case .array(let elements):
      let index = reserve()
      items[index] = .array(elements.map { add($0) })
      return index
    case .dictionary(let content):
      let index = reserve()
      let ordered = content.sorted { $0.key < $1.key }
      let keys = ordered.map { add(.string($0.key)) }
      items[index] = .dictionary(keys: keys, values: ordered.map { add($0.value) })
      return index
    case .string(let text):
      if let index = strings[Array(text.utf8)] { return index }
      strings[Array(text.utf8)] = items.count
      items.append(.leaf(node))
      return items.count - 1
    default:
      if let index = leaves[node] { return index }
      leaves[node] = items.count
      items.append(.leaf(node))
      return items.count - 1
    }
  }

  private mutating func reserve() -> Int {
    items.append(.array([]))
    return items.count - 1
  }

  private func render(top: Int) -> Data {
    let referenceSize = width(items.count)
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for item in items {
      offsets.append(bytes.count)
      switch item {
      case .leaf(let node): append(node, to: &bytes)
      case .array(let elements):
        appendSize(0xA0, elements.count, to: &bytes)
        for element in elements { append(element, size: referenceSize, to: &bytes) }
      case .dictionary(let keys, let values):
        appendSize(0xD0, keys.count, to: &bytes)
        for element in keys + values { append(element, size: referenceSize, to: &bytes) }
      }
    }
    let tableOffset = bytes.count
    let offsetSize = width(tableOffset)
    for offset in offsets { append(offset, size: offsetSize, to: &bytes) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for number in [items.count, top, tableOffset] { append(number, size: 8, to: &bytes) }
    return Data(bytes)
  }

  private func append(_ node: PlistNode, to bytes: inout [UInt8]) {
    switch node {
    case .boolean(let value): bytes.append(value ? 9 : 8)
    case .integer(let value): appendInteger(value, to: &bytes)
    case .unsigned(let value):
      bytes.append(0x14)
      append(UInt64(0), to: &bytes)
      append(value, to: &bytes)
    case .real(let value):
      bytes.append(0x23)
      append(value.bitPattern, to: &bytes)
    case .date(let seconds):
      bytes.append(0x33)
      append(seconds.bitPattern, to: &bytes)
    case .data(let data):
      appendSize(0x40, data.count, to: &bytes)
      bytes += data
    case .string(let text):
      if text.utf8.allSatisfy({ $0 < 0x80 }) {
        appendSize(0x50, text.utf8.count, to: &bytes)
        bytes += Array(text.utf8)
      } else {
        let units = Array(text.utf16)
        appendSize(0x60, units.count, to: &bytes)
        for unit in units { append(Int(unit), size: 2, to: &bytes) }
      }
    case .uid(let index):
      let size = width(index)
      bytes.append(0x80 | UInt8(size - 1))
      append(index, size: size, to: &bytes)
    case .array, .dictionary:
      preconditionFailure("containers are not leaves")
    }
  }

  private func appendInteger(_ value: Int64, to bytes: inout [UInt8]) {
    if value < 0 {
      bytes.append(0x13)
      append(UInt64(bitPattern: value), to: &bytes)
      return
    }
    let size = width(Int(value))
    bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
    append(Int(value), size: size, to: &bytes)
  }

  private func appendSize(_ marker: UInt8, _ count: Int, to bytes: inout [UInt8]) {
    if count < 15 {
      bytes.append(marker | UInt8(count))
    } else {
      bytes.append(marker | 0x0F)
      appendInteger(Int64(count), to: &bytes)
    }
  }

  private func append(_ value: UInt64, to bytes: inout [UInt8]) {
    append(Int(bitPattern: UInt(value)), size: 8, to: &bytes)
  }

  private func append(_ value: Int, size: Int, to bytes: inout [UInt8]) {
    for i in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * i))) }
  }

  /// The fewest bytes, a power of two, that hold `value`.
  private func width(_ value: Int) -> Int {
    switch value {
    case 0...0xFF: 1
    case 0...0xFFFF: 2
    case 0...0xFFFF_FFFF: 4
    default: 8
    }
  }
}
