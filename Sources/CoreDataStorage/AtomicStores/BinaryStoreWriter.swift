import CoreDataArchives
import CoreDataModel
import Foundation

/// Writes the objects of a binary store (`BinaryStoreFormat`).
struct BinaryStoreWriter {
  private let contents: AtomicStoreContents
  private let entities: [BinaryStoreEntity]
  private var stream: KeyedArchiveStream
  private var keys: [Int64: KeyedArchiveStream.Object] = [:]
  private let null: KeyedArchiveStream.Object

  private typealias Object = KeyedArchiveStream.Object
  private static let posix = Locale(identifier: "en_US_POSIX")

  static func data(of contents: AtomicStoreContents) throws -> [UInt8] {
    try KeyedArchiveStream.write(top: "mapData", expectedCount: contents.objects.count * 8) { stream in
      var writer = BinaryStoreWriter(contents, stream)
      let root: KeyedArchiveStream.Object = try writer.write()
      stream = writer.stream
      return root
    }
  }

  private init(_ contents: AtomicStoreContents, _ stream: consuming KeyedArchiveStream) {
    self.contents = contents
    entities = contents.layout.entities.map(BinaryStoreEntity.init)
    var stream: KeyedArchiveStream = stream
    null = stream.instance(["NSNull", "NSObject"], [])
    self.stream = stream
  }

  private mutating func write() throws -> Object {
    var nodes: [Object] = []
    nodes.reserveCapacity(contents.objects.count)
    for row in contents.objects { nodes.append(try node(row)) }
    let keys: [Object] = contents.objects.map { key($0.key) }
    return stream.dictionary(keys, nodes)
  }

  private mutating func key(_ key: Int64) -> Object {
    if let known = keys[key] { return known }
    let made: Object = stream.integer(key)
    keys[key] = made
    return made
  }

  private mutating func node(_ row: RowRef) throws -> Object {
    let entity: BinaryStoreEntity = entities[row.entity]
    var values: [Object] = []
    values.reserveCapacity(entity.valueCount)
    for attribute in entity.attributes {
      values.append(
        row.hasValue(attribute.word) ? try value(row, attribute, of: entity) : null)
    }
    while values.count < entity.valueCount { values.append(null) }
    let valueList: Object = stream.array(values)
    var fields: [(name: String, value: KeyedArchiveStream.Field)] = []
    if let related = related(row, entity) { fields.append(("NSRelatedNodes", stream.reference(related))) }
    fields.append(("NSAttributeValues", stream.reference(valueList)))
    fields.append(("NSPrimaryKey64", stream.field(row.key)))
    fields.append(("NSEntityName", stream.reference(stream.string(entity.layout.name))))
    return stream.instance(["NSDictionaryMapNode", "NSStoreMapNode", "NSObject"], fields)
  }

  private mutating func related(_ row: RowRef, _ entity: BinaryStoreEntity) -> Object? {
    var (names, lists): ([Object], [Object]) = ([], [])
    for (name, slot) in entity.relationships {
      let members: [Int64]
      var isToOne = false
      if case .stored(_, let word) = entity.layout.slots[slot].role {
        isToOne = true
        members = row.hasValue(word) ? [row.integer(word)] : []
      } else {
        members = contents.members(of: row, slot: slot)
      }
      if members.isEmpty { continue }
      var objects: [Object] = []
      for member in members { objects.append(key(member)) }
      names.append(stream.string(name))
      lists.append(stream.array(objects, mutable: !isToOne))
    }
    return names.isEmpty ? nil : stream.dictionary(names, lists)
  }

  private mutating func value(
    _ row: RowRef, _ attribute: BinaryStoreEntity.Attribute, of entity: BinaryStoreEntity
  ) throws -> Object {
    let word: Int = attribute.word
    switch attribute.kind {
    case .int16, .int32, .int64, .bool, .toOne: return stream.integer(row.integer(word))
    case .double, .float: return stream.real(row.double(word))
    case .date:
      let seconds: KeyedArchiveStream.Field = stream.field(row.double(word))
      return stream.instance(["NSDate", "NSObject"], [("NS.time", seconds)])
    case .string: return stream.text(row.bytes(word))
    case .data: return stream.data(row.bytes(word))
    case .uuid:
      let bytes: KeyedArchiveStream.Field = stream.field(data: row.bytes(word))
      return stream.instance(["NSUUID", "NSObject"], [("NS.uuidbytes", bytes)])
    case .uri:
      let base: KeyedArchiveStream.Field = stream.reference(.null)
      let text: KeyedArchiveStream.Field = stream.reference(stream.text(row.bytes(word)))
      return stream.instance(["NSURL", "NSObject"], [("NS.base", base), ("NS.relative", text)])
    case .decimal:
      let text: String = row.string(word)
      guard let decimal = text == "NaN" ? Decimal.nan : Decimal(string: text, locale: Self.posix) else {
        throw refusal(row, attribute, entity, "'\(text)' is no decimal number")
      }
      return try copy { writer in writer.decimal(decimal) }
    case .transformable:
      let bytes: Data = row.data(word)
      if let copied = try transformed(bytes, attribute) { return copied }
      if attribute.isArchived {
        throw refusal(row, attribute, entity, "its data is no keyed archive, though the model says so")
      }
      return stream.data(row.bytes(word))
    }
  }

  private func refusal(
    _ row: RowRef, _ attribute: BinaryStoreEntity.Attribute, _ entity: BinaryStoreEntity, _ reason: String
  ) -> StoreError {
    .unsupported(
      part: "\(attribute.name) of the \(entity.layout.name) \(row.key) in a binary store", reason: reason,
      advice: "set another value, or use a SQLite store")
  }

  /// The objects of a transformer's archive; nil if the data is none, or if it would be read as data.
  private mutating func transformed(_ bytes: Data, _ attribute: BinaryStoreEntity.Attribute) throws -> Object?
  {
    guard bytes.starts(with: Data("bplist".utf8)), let archive = try? KeyedArchive(bytes),
      archive.top.count == 1, let root = archive.top["root"]
    else { return nil }
    if !attribute.isArchived {
      guard case .dictionary? = try? archive.resolve(root) else { return nil }
    }
    return try? stream.copy(archive, root: root)
  }

  /// Copies what the writer of small archives makes.
  private mutating func copy(_ make: (inout KeyedArchiveWriter) -> PlistNode) throws -> Object {
    var writer = KeyedArchiveWriter()
    let root: PlistNode = make(&writer)
    return try stream.copy(writer.archive(root: root), root: root)
  }
}

/// How a binary store keeps the properties of an entity.
struct BinaryStoreEntity {
  struct Attribute {
    let name: String
    let kind: ColumnKind
    let word: Int
    /// Whether the attribute's transformer makes keyed archives.
    let isArchived: Bool
  }

  let layout: EntityLayout
  let attributes: [Attribute]
  let relationships: [(name: String, slot: Int)]
  /// The number of values in the file: those of attributes, and one place for each relationship.
  var valueCount: Int { attributes.count + relationships.count }

  init(_ layout: EntityLayout) {
    self.layout = layout
    var attributes: [Attribute] = []
    var relationships: [(name: String, slot: Int)] = []
    for (number, slot) in layout.slots.enumerated() {
      switch slot.role {
      case .stored(let kind, let word) where kind != .toOne:
        attributes.append(
          Attribute(
            name: slot.name, kind: kind, word: word,
            isArchived: kind == .transformable && slot.attribute?.isTransformedToArchive == true))
      case .stored, .toMany: relationships.append((slot.name, number))
      case .transient, .fetched, .composite: continue
      }
    }
    self.attributes = attributes
    self.relationships = relationships
  }
}
