import CoreData
import CoreDataArchives
import Foundation

/// What a binary store's file holds, read without the store.
struct BinaryFile {
  /// An object of the store.
  struct Node: Equatable {
    var entity: String
    /// As text, nil for NSNull.
    var values: [String?]
    /// By name: the class of the list, and the keys.
    var related: [String: Related]
  }

  struct Related: Equatable {
    var className: String
    var keys: Set<Int64>
  }

  /// The numbers of the header that don't depend on lengths.
  private(set) var header: [UInt64] = []
  private(set) var nodes: [Int64: Node] = [:]
  private(set) var metadata: [String: String] = [:]
  /// The chains of classes, and for each class the names of its instances' fields.
  private(set) var classes: Set<[String]> = []
  private(set) var metadataClasses: Set<[String]> = []
  private(set) var fields: [String: Set<String>] = [:]
  /// The keys of the property lists and those at the top of the archives.
  private(set) var tops: [[String]] = []

  init(_ bytes: Data) throws {
    let numbers: [UInt64] = stride(from: 8, to: 64, by: 8).map { offset in
      bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
    header = [numbers[0], numbers[3], numbers[5], numbers[6]]
    let data: Data = bytes[Int(numbers[3])..<Int(numbers[3] + numbers[4])]
    let described: Data = bytes[Int(numbers[1])..<Int(numbers[1] + numbers[2])]
    let archive = try KeyedArchive(data)
    for part in [data, described] {
      // Foundation's reader is another one.
      let list: Any = try PropertyListSerialization.propertyList(from: part, format: nil)
      tops.append((list as? [String: Any] ?? [:]).keys.sorted())
    }
    tops.append(Array(archive.top.keys))
    try readNodes(archive)
    classes = Self.classes(archive)
    let second = try KeyedArchive(described)
    tops.append(Array(second.top.keys))
    metadataClasses = Self.classes(second)
    var decoder = KeyedArchive.ValueDecoder(second)
    for (key, value) in try decoder.value(second.top["metadata"]) as? [String: Any] ?? [:] {
      metadata[key] = Self.text(value)
    }
  }

  /// The same for equal property lists.
  private static func text(_ value: Any) -> String {
    if let dictionary = value as? [String: Any] {
      return "\(dictionary.mapValues(text).sorted { $0.key < $1.key })"
    }
    return (value as? Data)?.base64EncodedString() ?? "\(value)"
  }

  private mutating func readNodes(_ archive: KeyedArchive) throws {
    func record(_ node: PlistNode?) throws -> KeyedArchive.Record? {
      try archive.index(node).flatMap { try archive.record(at: $0) }
    }
    var decoder = KeyedArchive.ValueDecoder(archive)
    guard let map = try record(archive.top["mapData"]) else { return }
    for (key, value) in try archive.pairs(map) {
      guard case .integer(let key)? = try archive.resolve(key), let node = try record(value) else { continue }
      fields[node.className, default: []].formUnion(node.fields.keys)
      var made = Node(
        entity: try decoder.value(node.fields["NSEntityName"]) as? String ?? "", values: [], related: [:])
      guard node.fields["NSPrimaryKey64"] == .integer(key) else { throw PlistError("another key") }
      if let list = try record(node.fields["NSAttributeValues"]) {
        made.values = try decoder.elements(list).map { element in
          let value: Any? = try decoder.value(element)
          return value is NSNull ? nil : value.map { "\($0)" }
        }
      }
      if let related = try record(node.fields["NSRelatedNodes"]) {
        for (name, list) in try archive.pairs(related) {
          guard let list = try record(list), case .string(let name)? = try archive.resolve(name) else {
            continue
          }
          let keys: [Int64] = try decoder.elements(list).compactMap {
            if case .integer(let key)? = try archive.resolve($0) { key } else { nil }
          }
          made.related[name] = Related(className: list.className, keys: Set(keys))
        }
      }
      nodes[key] = made
    }
  }

  private static func classes(_ archive: KeyedArchive) -> Set<[String]> {
    var found: Set<[String]> = []
    for node in archive.objects {
      guard case .dictionary(let fields) = node, case .string(let name)? = fields["$classname"],
        case .array(let list)? = fields["$classes"]
      else { continue }
      found.insert([name] + list.compactMap { if case .string(let name) = $0 { name } else { nil } })
    }
    return found
  }

  /// A model that fits: attributes by their places, of types that fit the values, and relationships.
  func model() throws -> NSManagedObjectModel {
    var draft = ModelDraft()
    let entities: [String: [Node]] = Dictionary(grouping: nodes.values, by: \.entity)
    for (entity, nodes) in entities {
      var names: Set<String> = []
      for node in nodes {
        for (name, related) in node.related {
          names.insert(name)
          draft.add(entity, name, .relationship(isToOne: related.className == "NSArray"))
        }
      }
      let count: Int = (nodes.first?.values.count ?? 0) - names.count
      for place in 0..<count {
        let values: [String] = nodes.compactMap { $0.values[place] }
        let isNumber: Bool = !values.isEmpty && values.allSatisfy { Int($0) != nil }
        draft.add(
          entity, "value" + String(100 + place),
          .attribute(isNumber ? .integer64AttributeType : .stringAttributeType))
      }
    }
    return draft.model
  }
}
