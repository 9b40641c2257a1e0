import Foundation

extension PlistNode {
  /// Reads a property list in binary or XML form without creating instances of any class. Depth and work are
  /// limited, whatever the bytes (see ``BinaryPlistReader``, ``XMLPlistNesting``). Throws ``PlistError``.
  package static func read(_ data: Data) throws -> PlistNode {
    if data.starts(with: Array("bplist".utf8)) { return try BinaryPlistReader.read(data) }
    return try BinaryPlistReader.read(try binaryForm(ofXML: data))
  }

  /// Foundation reads an XML property list's `CF$UID` entries into an opaque class; written in binary form
  /// they are references again.
  private static func binaryForm(ofXML data: Data) throws -> Data {
    try XMLPlistNesting.check(data)
    do {
      let content = try PropertyListSerialization.propertyList(from: data, format: nil)
      return try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0)
    } catch {
      throw PlistError("it is neither a binary nor an XML property list")
    }
  }
}
