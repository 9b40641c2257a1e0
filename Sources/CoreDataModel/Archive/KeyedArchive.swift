import Foundation

/// The object table of a keyed archive, read without making any class's instances.
///
/// ```
/// { "$archiver": "NSKeyedArchiver", "$version": 100000,
///   "$top":     { "root": uid },
///   "$objects": [ "$null", { "$class": uid, key: value or uid, … }, …, { "$classname": …, "$classes": […] } ] }
/// ```
///
/// Object 0 is "$null" and stands for nil. Objects may refer to each other in cycles.
struct KeyedArchive {
  let objects: [PlistNode]
  let top: [String: PlistNode]

  /// An archived instance: its class and its fields.
  struct Record {
    var index: Int
    var className: String
    var classes: [String]
    var fields: [String: PlistNode]

    /// Whether the class or an ancestor has that name.
    func isKind(of name: String) -> Bool {
      className == name || classes.contains(name)
    }
  }

  init(_ data: Data) throws {
    let root: PlistNode
    if data.starts(with: Array("bplist".utf8)) {
      root = try BinaryPlistReader.read(data)
    } else {
      root = try BinaryPlistReader.read(try KeyedArchive.binaryForm(ofXML: data))
    }
    guard case .dictionary(let content) = root, case .array(let objects) = content["$objects"],
      case .dictionary(let top) = content["$top"]
    else { throw PlistError("it is a property list, but not a keyed archive: $objects or $top is missing") }
    self.objects = objects
    self.top = top
  }

  /// Foundation reads an XML property list's `CF$UID` entries into an opaque class; written in binary form they are
  /// references again.
  private static func binaryForm(ofXML data: Data) throws -> Data {
    try refuseDeepXML(data)
    do {
      let content = try PropertyListSerialization.propertyList(from: data, format: nil)
      return try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0)
    } catch {
      throw PlistError("it is neither a binary nor an XML property list")
    }
  }

  /// Foundation's parser recurses, so nesting is bounded before it runs.
  static func refuseDeepXML(_ data: Data, limit: Int = 128) throws {
    var depth = 0
    let bytes = Array(data)
    for (i, byte) in bytes.enumerated() where byte == UInt8(ascii: "<") && i + 1 < bytes.count {
      let next = bytes[i + 1]
      if next == UInt8(ascii: "d") || next == UInt8(ascii: "a") {
        let isContainer =
          bytes[(i + 1)...].starts(with: Array("dict>".utf8))
          || bytes[(i + 1)...].starts(with: Array("array>".utf8))
        if isContainer { depth += 1 }
      } else if next == UInt8(ascii: "/"), i + 2 < bytes.count {
        let isContainer =
          bytes[(i + 2)...].starts(with: Array("dict>".utf8))
          || bytes[(i + 2)...].starts(with: Array("array>".utf8))
        if isContainer { depth -= 1 }
      }
      guard depth <= limit else { throw PlistError("its elements nest deeper than \(limit)") }
    }
  }

  /// The object a field refers to, or the field itself where values are inline; nil for absent and for "$null".
  func resolve(_ node: PlistNode?) throws -> PlistNode? {
    guard let node else { return nil }
    guard case .uid(let index) = node else { return node }
    guard objects.indices.contains(index) else {
      throw PlistError("a reference to object \(index) of \(objects.count)")
    }
    return index == 0 ? nil : objects[index]
  }

  /// The index a field refers to; nil for absent and for "$null".
  func index(_ node: PlistNode?) throws -> Int? {
    guard case .uid(let index) = node, index != 0 else { return nil }
    guard objects.indices.contains(index) else {
      throw PlistError("a reference to object \(index) of \(objects.count)")
    }
    return index
  }

  /// The instance at `index`, nil if a plain value is there.
  func record(at index: Int) throws -> Record? {
    guard objects.indices.contains(index), case .dictionary(let fields) = objects[index],
      case .uid(let classIndex) = fields["$class"]
    else { return nil }
    guard objects.indices.contains(classIndex), case .dictionary(let description) = objects[classIndex],
      case .string(let name) = description["$classname"]
    else { throw PlistError("object \(index) has no class description") }
    var classes: [String] = []
    if case .array(let list) = description["$classes"] {
      classes = list.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }
    return Record(index: index, className: name, classes: classes, fields: fields)
  }
}
