import Foundation

/// Reads a binary property list (``BinaryPlistTable``) whole.
///
/// Objects are read once, and cycles, deep nesting and objects that share bytes are refused, so no input
/// costs more than a small multiple of its size.
package struct BinaryPlistReader {
  private let table: BinaryPlistTable
  private let size: Int
  private var finished: [PlistNode?]
  private var isOpen: [Bool]
  /// Bytes that sized objects may still use: all of them together have no more than the file.
  private var unclaimed: Int
  /// The number of nodes below each object, itself included, in a walk over the tree.
  private var weights: [Int]

  /// Real archives nest four deep; property lists in user info rarely more.
  static let maximumDepth = 128

  package static func read(_ data: Data) throws -> PlistNode {
    try data.withUnsafeBytes { bytes in
      var reader = BinaryPlistReader(try BinaryPlistTable(bytes), size: bytes.count)
      return try reader.object(reader.table.top, depth: 0)
    }
  }

  private init(_ table: BinaryPlistTable, size: Int) {
    self.table = table
    self.size = size
    finished = Array(repeating: nil, count: table.count)
    isOpen = Array(repeating: false, count: table.count)
    unclaimed = size
    weights = Array(repeating: 1, count: table.count)
  }

  private mutating func object(_ index: Int, depth: Int) throws -> PlistNode {
    if let node = finished[index] { return node }
    guard !isOpen[index] else { throw PlistError("object \(index) contains itself") }
    guard depth < Self.maximumDepth else {
      throw PlistError("its objects nest deeper than \(Self.maximumDepth)")
    }
    isOpen[index] = true
    let node = try parse(index, depth: depth)
    isOpen[index] = false
    finished[index] = node
    return node
  }

  private mutating func parse(_ index: Int, depth: Int) throws -> PlistNode {
    let entry: BinaryPlistTable.Entry = try table.entry(at: index)
    try claim(entry.size)
    switch entry {
    case .boolean(let value): return .boolean(value)
    case .integer(let value): return .integer(value)
    case .unsigned(let value): return .unsigned(value)
    case .real(let value): return .real(value)
    case .date(let seconds): return .date(seconds)
    case .data(let place): return .data(Data(table.content(place)))
    case .ascii, .utf16: return .string(table.text(entry) ?? "")
    case .uid(let number): return .uid(number)
    case .array(let members):
      try claim(table.size(members))
      return .array(
        try (0..<members.count).map { try element($0, of: members, in: index, depth: depth) })
    case .dictionary(let keys, let values):
      try claim(2 * table.size(keys))
      var content: [String: PlistNode] = [:]
      for position in 0..<keys.count {
        guard case .string(let key) = try element(position, of: keys, in: index, depth: depth) else {
          throw PlistError("dictionary \(index) has a key that is not a string")
        }
        content[key] = try element(position, of: values, in: index, depth: depth)
      }
      return .dictionary(content)
    }
  }

  private mutating func claim(_ bytes: Int) throws {
    unclaimed -= bytes
    guard unclaimed >= 0 else { throw PlistError("its objects lie over each other") }
  }

  private mutating func element(
    _ position: Int, of members: BinaryPlistTable.References, in parent: Int, depth: Int
  ) throws -> PlistNode {
    let number: Int = try table.member(position, of: members)
    let node = try object(number, depth: depth + 1)
    // A container in several places multiplies in a walk over the tree. Writers share leaves only.
    weights[parent] += weights[number]
    guard weights[parent] <= 8 * size else { throw PlistError("its collections share members without end") }
    return node
  }
}
