import CoreDataArchives
import CoreDataModel
import Foundation

/// Apple's XML stores.
///
///     <database>
///         <databaseInfo> version, UUID, the highest id, metadata as a property list </databaseInfo>
///         <object type="ITEM" id="z102">
///             <attribute name="title" type="string">Milk</attribute>
///             <relationship name="tags" type="0/0" destination="TAG" idrefs="z103 z104"></relationship>
///         </object>
///     </database>
///
/// Names of entities are in upper case, those of properties in lower case. One sequence of ids serves all
/// entities. Both sides of a relationship are written; a nil attribute is not. Versions of rows are not kept.
package struct XMLStoreFormat: AtomicStoreFormat {
  package let type: String = "XML"
  package let fileEndings: [String] = ["xml"]
  static let version: Int = 134_481_920
  package let firstKey: Int64 = 102

  package init() {}

  package func recognizes(_ head: Data) -> Bool {
    var text = Substring(String(decoding: head.prefix(2048), as: UTF8.self))
    if text.first == "\u{FEFF}" { text.removeFirst() }
    text = text.drop { $0.isWhitespace }
    guard text.hasPrefix("<") else { return false }
    return text.contains("<!DOCTYPE database") || text.contains("<database>")
  }

  package func check(_ layout: ModelLayout) throws { _ = try XMLStoreNames(layout) }

  package func metadata(of file: AtomicStoreFile) throws -> StoreMetadata {
    try XMLStoreReader(file, loader: nil, readsOnlyInfo: true).read().metadata
  }

  package func inspect(_ file: AtomicStoreFile) throws -> AtomicStoreHeader {
    try XMLStoreReader(file, loader: nil).read()
  }

  package func structure(of file: AtomicStoreFile) throws -> StoreStructure? {
    let reader = try XMLStoreReader(file, loader: nil)
    _ = try reader.read()
    return reader.structure
  }

  package func read(_ file: AtomicStoreFile, into loader: AtomicStoreLoader) throws -> AtomicStoreHeader {
    try XMLStoreReader(file, loader: loader).read()
  }

  /// Replaces what precedes the objects. Their text has no `<` that is not markup, so the first tag is found
  /// by its bytes; documents with comments or CDATA sections, which no store has, are refused.
  package func replacingMetadata(in file: AtomicStoreFile, by metadata: StoreMetadata) throws -> Data {
    let header: AtomicStoreHeader = try inspect(file)
    for markup in ["<!--", "<![CDATA["] where file.bytes.range(of: Data(markup.utf8)) != nil {
      throw file.damage(
        "It has '\(markup)', so its metadata can't be replaced without a model; save it once.")
    }
    let bytes: Data = file.bytes
    let start: Data.Index? =
      bytes.range(of: Data("<object ".utf8))?.lowerBound
      ?? bytes.range(of: Data("</database>".utf8))?.lowerBound
    guard let start else { throw file.damage("It has no objects and no end.") }
    var result = Data(try self.header(metadata, highestKey: header.highestKey).utf8)
    if bytes[start...].starts(with: Data("<object".utf8)) { result += Data("    ".utf8) }
    return result + bytes[start...]
  }

  // MARK: Writing

  package func write(
    _ contents: AtomicStoreContents, to output: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var text: [UInt8] = Array(try header(contents).utf8)
    let names: [EntityNames] = contents.layout.entities.map(EntityNames.init)
    for row in contents.objects {
      try append(row, names[row.entity], contents, to: &text)
      if text.count < 1 << 20 { continue }
      try text.withUnsafeBytes(output)
      text.removeAll(keepingCapacity: true)
    }
    text += Array("</database>".utf8)
    try text.withUnsafeBytes(output)
  }

  private func header(_ contents: AtomicStoreContents) throws -> String {
    try header(contents.metadata, highestKey: contents.highestKey)
  }

  private func header(_ metadata: StoreMetadata, highestKey: Int64) throws -> String {
    var values: [String: Any] = metadata.values
    for key in [StoreMetadata.Key.type, StoreMetadata.Key.uuid] { values[key] = nil }
    return """
      <?xml version="1.0" standalone="no"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

      <database>
          <databaseInfo>
              <version>\(Self.version)</version>
              <UUID>\(metadata.uuid)</UUID>
              <nextObjectID>\(max(highestKey, firstKey - 1))</nextObjectID>
              <metadata>
                  <plist version="1.0">
      \(try XMLStorePlist.text(values, depth: 4))
                  </plist>
              </metadata>
          </databaseInfo>

      """
  }

  /// The texts around an entity's values, the same in all of its objects.
  private struct EntityNames {
    var start: String
    var attributes: [(word: Int, kind: ColumnKind, start: String)] = []
    var relationships: [(slot: Int, start: String)] = []

    init(_ entity: EntityLayout) {
      start = "    <object type=\"\(entity.name.uppercased())\" id=\"z"
      // The order in which Apple's framework writes: the object's own entity first, names backwards.
      let order: [Int] = entity.slots.indices.sorted {
        let (left, right): (PropertySlot, PropertySlot) = (entity.slots[$0], entity.slots[$1])
        return (-left.declaringEntity, right.name) < (-right.declaringEntity, left.name)
      }
      for slot in order {
        let described: PropertySlot = entity.slots[slot]
        let name: String = described.name.lowercased()
        switch described.role {
        case .stored(let kind, let word) where kind != .toOne:
          let type: String = XMLStoreValue.typeName(kind)
          attributes.append((word, kind, "        <attribute name=\"\(name)\" type=\"\(type)\">"))
        case .stored, .toMany:
          guard let relationship = described.relationship else { continue }
          let counts: String =
            "\(relationship.minCount)/\(relationship.isToMany ? relationship.maxCount : 1)"
          let destination: String = (relationship.destinationEntity?.name ?? "").uppercased()
          relationships.append(
            (slot, "        <relationship name=\"\(name)\" type=\"\(counts)\" destination=\"\(destination)\"")
          )
        case .transient, .fetched, .composite: continue
        }
      }
      relationships.reverse()
    }
  }

  private func append(
    _ row: RowRef, _ names: EntityNames, _ contents: AtomicStoreContents, to text: inout [UInt8]
  ) throws {
    text += Array("\(names.start)\(row.key)\">\n".utf8)
    for (word, kind, start) in names.attributes where row.hasValue(word) {
      text += Array(start.utf8)
      XMLStoreValue.append(row, kind, word, to: &text)
      text += Array("</attribute>\n".utf8)
    }
    let slots: [PropertySlot] = contents.layout.entities[row.entity].slots
    for (slot, start) in names.relationships {
      text += Array(start.utf8)
      let keys: [Int64]
      if case .stored(_, let word) = slots[slot].role {
        keys = row.hasValue(word) ? [row.integer(word)] : []
      } else {
        keys = contents.members(of: row, slot: slot)
      }
      if !keys.isEmpty {
        let list: [UInt8] = Array(keys.map { "z\($0)" }.joined(separator: " ").utf8)
        if list.count > XMLBytes.longestAttribute {
          let entity: String = contents.layout.entities[row.entity].name
          throw StoreError.unsupported(
            part: "\(entity).\(slots[slot].name) of the object \(row.key) with \(keys.count) members",
            reason: "an XML document can't hold a list of that length", advice: "use a SQLite store")
        }
        text += Array(" idrefs=\"".utf8) + list + Array("\"".utf8)
      }
      text += Array("></relationship>\n".utf8)
    }
    text += Array("    </object>\n".utf8)
  }
}
