import Foundation

/// Writes a binary property list in the form ``BinaryPlistTable`` describes. Equal strings, numbers and data
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
    var bytes = BinaryPlistBytes(referenceSize: BinaryPlistBytes.width(items.count))
    for item in items {
      switch item {
      case .leaf(let node): _ = bytes.append(leaf: node)
      case .array(let elements): _ = bytes.append(array: elements)
      case .dictionary(let keys, let values): _ = bytes.append(keys: keys, values: values)
      }
    }
    bytes.finish(top: top)
    return Data(bytes.bytes)
  }
}

extension BinaryPlistBytes {
  /// Appends anything but a collection.
  mutating func append(leaf node: PlistNode) -> Int {
    switch node {
    case .boolean(let value): return append(value)
    case .integer(let value): return append(value)
    case .unsigned(let value): return append(unsigned: value)
    case .real(let value): return append(value)
    case .date(let seconds): return append(secondsSince2001: seconds)
    case .data(let data): return data.withUnsafeBytes { append(data: $0) }
    case .string(let text):
      var text: String = text
      return text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
    case .uid(let index): return append(uid: index)
    case .array, .dictionary: preconditionFailure("collections are not leaves")
    }
  }
}
