import CoreDataArchives
import CoreDataPredicates
import Foundation

/// The contents of a property list or a keyed archive, for display: no class is instantiated, and the tree
/// stays small for any bytes.
indirect enum DataTree {
  case value(PredicateValue)
  /// An array or a set.
  case list(String, [DataTree])
  case dictionary([(key: String, value: DataTree)])
  /// An archived instance of a class: its name and fields.
  case instance(String, [(key: String, value: DataTree)])
  /// An omitted part, and the reason.
  case note(String)
}

/// Decodes blobs that are property lists or keyed archives, also those inside of them.
struct DataTreeReader {
  enum Form: String {
    case propertyList = "property list"
    case keyedArchive = "keyed archive"
  }

  private static let depthLimit: Int = 40
  /// Bytes beyond which nothing is decoded.
  private static let sizeLimit: Int = 16 << 20

  /// Nodes that may still be made.
  private var remaining: Int = 10_000

  /// nil: the bytes are neither; a tree that is a note: they begin like one, but can't be read.
  static func read(_ data: Data) -> (form: Form, tree: DataTree)? {
    var reader = DataTreeReader()
    return reader.read(data, depth: 0)
  }

  private static func looksLikePropertyList(_ data: Data) -> Bool {
    if data.starts(with: Array("bplist0".utf8)) { return true }
    guard data.first == UInt8(ascii: "<") || data.starts(with: [0xEF, 0xBB, 0xBF]) else { return false }
    return String(decoding: data.prefix(400), as: UTF8.self).contains("<plist")
  }

  private mutating func read(_ data: Data, depth: Int) -> (form: Form, tree: DataTree)? {
    guard Self.looksLikePropertyList(data) else { return nil }
    guard data.count <= Self.sizeLimit else {
      return (.propertyList, .note("more than \(Self.sizeLimit >> 20) MiB, not decoded"))
    }
    do {
      let root: PlistNode = try PlistNode.read(data)
      guard let archive = try? KeyedArchive(root) else { return (.propertyList, node(root, nil, depth)) }
      // Nearly every archive has one object at its top, under "root".
      if archive.top.count == 1, let object = archive.top.values.first {
        return (.keyedArchive, node(object, archive, depth))
      }
      return (.keyedArchive, .dictionary(entries(archive.top, archive, depth)))
    } catch {
      return (.propertyList, .note("it can't be read: \((error as? PlistError)?.reason ?? "\(error)")"))
    }
  }

  private mutating func node(_ node: PlistNode, _ archive: KeyedArchive?, _ depth: Int) -> DataTree {
    remaining -= 1
    if remaining < 0 { return .note("…") }
    if depth > Self.depthLimit { return .note("deeper than \(Self.depthLimit) levels, or in a circle") }
    switch node {
    case .boolean(let value): return .value(.bool(value))
    case .integer(let value): return .value(.integer(value))
    case .unsigned(let value): return .value(.unsigned(value))
    case .real(let value): return .value(.double(value))
    case .date(let seconds): return .value(.date(Date(timeIntervalSinceReferenceDate: seconds)))
    case .string(let text): return .value(.string(text))
    case .data(let data): return read(data, depth: depth + 1)?.tree ?? .value(.data(data))
    case .array(let elements): return .list("array", members(elements, archive, depth))
    case .dictionary(let content): return .dictionary(entries(content, archive, depth))
    case .uid(let index):
      guard let archive else { return .note("a reference to object \(index)") }
      return object(index, archive, depth)
    }
  }

  private mutating func entries(
    _ content: [String: PlistNode], _ archive: KeyedArchive?, _ depth: Int
  ) -> [(key: String, value: DataTree)] {
    content.sorted { $0.key < $1.key }.prefix(max(0, remaining)).map {
      ($0.key, node($0.value, archive, depth + 1))
    }
  }

  /// An object of an archive's table: a plain value, one of Foundation's values, or an instance with its
  /// fields.
  private mutating func object(_ index: Int, _ archive: KeyedArchive, _ depth: Int) -> DataTree {
    do {
      if index == 0 { return .value(.null) }
      guard let record = try archive.record(at: index) else {
        guard let plain = try archive.resolve(.uid(index)) else { return .value(.null) }
        if case .uid = plain { return .note("a reference to a reference") }
        return node(plain, archive, depth)
      }
      return try instance(record, archive, depth)
    } catch {
      return .note((error as? PlistError)?.reason ?? "\(error)")
    }
  }

  private mutating func instance(
    _ record: KeyedArchive.Record, _ archive: KeyedArchive, _ depth: Int
  ) throws -> DataTree {
    switch record.className {
    case "NSArray", "NSMutableArray": return list("array", record, archive, depth)
    case "NSSet", "NSMutableSet": return list("set", record, archive, depth)
    case "NSOrderedSet", "NSMutableOrderedSet": return list("ordered set", record, archive, depth)
    case "NSDictionary", "NSMutableDictionary", "NSKnownKeysDictionary1":
      let pairs: [(key: PlistNode, value: PlistNode)] = try archive.pairs(record)
      return .dictionary(
        pairs.prefix(max(0, remaining)).map {
          (key(of: $0.key, archive, depth), node($0.value, archive, depth + 1))
        })
    case "NSData", "NSMutableData", "NSString", "NSMutableString", "NSDate", "NSUUID", "NSURL", "NSNull",
      "NSDecimalNumber", "NSDecimalNumberPlaceholder":
      var decoder = KeyedArchive.ValueDecoder(archive)
      let value: PredicateValue = try decoder.predicateValue(.uid(record.index))
      if case .data(let data) = value { return read(data, depth: depth + 1)?.tree ?? .value(value) }
      return .value(value)
    default:
      let fields: [String: PlistNode] = record.fields.filter { $0.key != "$class" }
      return .instance(record.className, entries(fields, archive, depth))
    }
  }

  private mutating func list(
    _ name: String, _ record: KeyedArchive.Record, _ archive: KeyedArchive, _ depth: Int
  ) -> DataTree {
    let field: PlistNode? = record.fields["NS.objects"] ?? record.fields["NSOrderedSet.objects"]
    guard case .array(let elements)? = try? archive.resolve(field) else {
      return .note("a \(name) without elements")
    }
    return .list(name, members(elements, archive, depth))
  }

  /// Keys are strings nearly always; another value is printed.
  private mutating func key(of node: PlistNode, _ archive: KeyedArchive, _ depth: Int) -> String {
    switch self.node(node, archive, depth + 1) {
    case .value(.string(let text)): text
    case .value(let value): TreeText.scalar(value)
    case .list, .dictionary, .instance, .note: "?"
    }
  }

  /// The members as far as they may be made.
  private mutating func members(
    _ elements: [PlistNode], _ archive: KeyedArchive?, _ depth: Int
  ) -> [DataTree] {
    let count: Int = min(elements.count, max(0, remaining))
    let trees: [DataTree] = elements.prefix(count).map { node($0, archive, depth + 1) }
    return count < elements.count ? trees + [.note("and \(elements.count - count) more")] : trees
  }
}
