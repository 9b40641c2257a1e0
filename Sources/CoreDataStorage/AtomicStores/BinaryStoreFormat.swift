import CoreDataArchives
import CoreDataModel
import Foundation

/// Apple's binary stores: a header (`BinaryStoreHeader`), and two keyed archives.
///
///     data       "mapData": { key: NSDictionaryMapNode, … }
///                  NSPrimaryKey64      the key again
///                  NSEntityName        as in the model
///                  NSAttributeValues   [ the values of the attributes, then NSNull for each relationship ]
///                  NSRelatedNodes      { relationship: [ keys ], … }, without empty ones
///     metadata   "metadata": { the store's metadata, UUID and type included }
///
/// Attributes have the order of slots: those of a super-entity come first, each entity's own by name. NSNull
/// stands for nil. One sequence of keys serves all entities. Both sides of a relationship are written.
/// Versions of rows are not kept.
///
/// The value of a transformable attribute is archived as an object. In a row it is an archive of its own, as
/// the attribute's transformer makes and reads it; so its objects are copied from one archive to the other,
/// and no instance of their classes is made. Data that is no archive stays data.
package struct BinaryStoreFormat: AtomicStoreFormat {
  package let type: String = "Binary"
  package let fileEndings: [String] = ["binary", "bin"]
  package let firstKey: Int64 = 1

  package init() {}

  package func recognizes(_ head: Data) -> Bool { head.starts(with: BinaryStoreHeader.mark) }

  package func check(_ layout: ModelLayout) throws {
    for entity in layout.entities {
      try check(entity.name, of: entity, nil)
      for slot in entity.slots where slot.relationship != nil { try check(slot.name, of: entity, slot.name) }
      for slot in entity.slots where slot.role == .composite {
        throw StoreError.unsupportedModel(
          entity: entity.name, property: slot.name,
          reason: "binary stores have no composite attributes; use a SQLite store")
      }
    }
  }

  /// A longer text is no name, but damage.
  static let longestNameInBytes: Int = 1023

  /// What is written must be read again.
  private func check(_ name: String, of entity: EntityLayout, _ property: String?) throws {
    guard name.utf8.count > Self.longestNameInBytes else { return }
    throw StoreError.unsupportedModel(
      entity: String(entity.name.prefix(60)), property: property.map { String($0.prefix(60)) },
      reason:
        "its name has \(name.utf8.count) bytes, and binary stores have names of at most \(Self.longestNameInBytes)"
    )
  }

  package func metadata(of file: AtomicStoreFile) throws -> StoreMetadata {
    try metadata(of: file, BinaryStoreHeader(file))
  }

  private func metadata(
    of file: AtomicStoreFile, _ header: BinaryStoreHeader, _ loader: AtomicStoreLoader? = nil
  ) throws -> StoreMetadata {
    do {
      let archive = try KeyedArchive(file.bytes[relative: header.metadata])
      var decoder = KeyedArchive.ValueDecoder(archive)
      guard let values = try decoder.value(archive.top["metadata"]) as? [String: Any] else {
        throw PlistError("there is no dictionary 'metadata' in it")
      }
      let uuid: String = values[StoreMetadata.Key.uuid] as? String ?? ""
      guard UUID(uuidString: uuid) != nil else {
        throw PlistError("its \(StoreMetadata.Key.uuid) is '\(uuid.prefix(60))', which is no UUID")
      }
      return StoreMetadata(
        type: type, uuid: uuid, values: values.filter { $0.key != StoreMetadata.Key.uuid })
    } catch let error as PlistError {
      guard file.salvages else {
        throw file.damage("Its metadata can't be read: \(error.reason).", .repairing)
      }
      loader?.note(damage: "Its metadata can't be read: \(error.reason).")
      return StoreMetadata(type: type, uuid: AtomicStoreFile.unknownUUID, values: [:])
    }
  }

  package func inspect(_ file: AtomicStoreFile) throws -> AtomicStoreHeader {
    let header = try BinaryStoreHeader(file)
    var made = AtomicStoreHeader(
      metadata: try metadata(of: file, header), highestKey: header.highestKey)
    made.counts = try BinaryStoreReader.counts(file, header)
    return made
  }

  /// Values stand in the order of the model's attributes, without their names.
  package func structure(of file: AtomicStoreFile) throws -> StoreStructure? { nil }

  package func read(_ file: AtomicStoreFile, into loader: AtomicStoreLoader) throws -> AtomicStoreHeader {
    let header = try BinaryStoreHeader(file)
    let metadata: StoreMetadata = try metadata(of: file, header, loader)
    try BinaryStoreReader.read(file, header, into: loader)
    return AtomicStoreHeader(metadata: metadata, highestKey: header.highestKey)
  }

  package func replacingMetadata(in file: AtomicStoreFile, by metadata: StoreMetadata) throws -> Data {
    let header = try BinaryStoreHeader(file)
    let data: Data = file.bytes[relative: header.data]
    let archive: Data = try self.archive(of: metadata)
    return BinaryStoreHeader(dataSize: data.count, metadataSize: archive.count, highestKey: header.highestKey)
      .bytes + data + archive
  }

  package func write(
    _ contents: AtomicStoreContents, to output: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let data: [UInt8] = try BinaryStoreWriter.data(of: contents)
    let metadata: Data = try archive(of: contents.metadata)
    let header = BinaryStoreHeader(
      dataSize: data.count, metadataSize: metadata.count, highestKey: contents.highestKey)
    try header.bytes.withUnsafeBytes(output)
    try data.withUnsafeBytes(output)
    try metadata.withUnsafeBytes(output)
  }

  /// The metadata with the classes that Apple's files have.
  private func archive(of metadata: StoreMetadata) throws -> Data {
    var writer = KeyedArchiveWriter()
    var pairs: [(key: PlistNode, value: PlistNode)] = []
    for (key, value) in metadata.values.sorted(by: { $0.key < $1.key }) where key != StoreMetadata.Key.type {
      do {
        if key == StoreMetadata.Key.hashes, let hashes = value as? [String: Any] {
          var entries: [(key: PlistNode, value: PlistNode)] = []
          for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
            entries.append((writer.string(name), try writer.value(hash, of: "the metadata")))
          }
          pairs.append((writer.string(key), writer.dictionary(entries, mutable: true)))
        } else {
          pairs.append((writer.string(key), try writer.value(value, of: "the metadata")))
        }
      } catch let error as PlistError {
        throw StoreError.unsupported(
          part: "metadata key '\(key)'", reason: error.reason,
          advice: "use strings, numbers, dates, data, arrays and dictionaries with string keys")
      }
    }
    pairs.append((writer.string(StoreMetadata.Key.type), writer.string(type)))
    let uuid: PlistNode = writer.instance(
      ["NSMutableString", "NSString", "NSObject"], ["NS.string": writer.string(metadata.uuid)])
    pairs.append((writer.string(StoreMetadata.Key.uuid), uuid))
    let root: PlistNode = writer.dictionary(pairs)
    return writer.data(root: root, name: "metadata")
  }
}

/// The first 64 bytes of a binary store, numbers big-endian.
///
/// | offset | size | content |
/// |---|---|---|
/// | 0 | 8 | `CoreData` |
/// | 8 | 4 | 1 |
/// | 12 | 4 | 134481920, as in XML stores |
/// | 16, 24 | 8, 8 | offset and length of the metadata |
/// | 32, 40 | 8, 8 | offset and length of the data: 64, and directly before the metadata |
/// | 48 | 8 | the highest key |
/// | 56 | 8 | 0 |
struct BinaryStoreHeader {
  static let mark = Data("CoreData\0\0\0".utf8)
  static let size: Int = 64
  private static let version: UInt64 = 1 << 32 | UInt64(XMLStoreFormat.version)

  let metadata: Range<Int>
  let data: Range<Int>
  let highestKey: Int64
  /// Whether the file ends before the objects do, which precede the metadata.
  let isCutOff: Bool

  init(dataSize: Int, metadataSize: Int, highestKey: Int64) {
    data = Self.size..<Self.size + dataSize
    metadata = data.upperBound..<data.upperBound + metadataSize
    self.highestKey = highestKey
    isCutOff = false
  }

  init(_ file: AtomicStoreFile) throws {
    let bytes: Data = file.bytes
    guard bytes.count >= Self.size else {
      throw file.damage(
        "The file is cut off: it has \(bytes.count) bytes, and ends within its header.", .restoring)
    }
    func number(_ offset: Int) -> UInt64 {
      bytes[relative: offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard number(8) == Self.version else {
      throw file.damage(
        "The version of the format is \(number(8) >> 32), \(number(8) & 0xFFFF_FFFF), not 1, \(XMLStoreFormat.version)."
      )
    }
    isCutOff = number(16) >= UInt64(Self.size) && number(16) < 1 << 40 && number(16) > UInt64(bytes.count)
    let (endOfObjects, isTooLarge): (UInt64, Bool) = number(32).addingReportingOverflow(number(40))
    let hasAllObjects: Bool = !isTooLarge && endOfObjects <= UInt64(bytes.count)
    func part(_ what: String, at offset: Int) throws -> Range<Int> {
      let (start, length): (UInt64, UInt64) = (number(offset), number(offset + 8))
      guard start >= UInt64(Self.size), start <= UInt64(bytes.count), length <= UInt64(bytes.count) - start
      else {
        let (end, isBeyond): (UInt64, Bool) = start.addingReportingOverflow(length)
        // A length that no file has is damage of the header.
        if start >= UInt64(Self.size), !isBeyond, end < 1 << 40 {
          throw file.damage(
            "The file is cut off: it has \(bytes.count) bytes, and by its header the \(what) end at \(end).",
            // Where each object stands is told at their end.
            hasAllObjects ? .repairing : .restoring)
        }
        throw file.damage(
          "Its header places \(length) bytes of \(what) at \(start), but the file has \(bytes.count) bytes; it is damaged.",
          .repairing)
      }
      return Int(start)..<Int(start + length)
    }
    do {
      metadata = try part("metadata", at: 16)
    } catch  where file.salvages {
      // It stands behind the objects, which may be whole. Nothing can be read from it, which is told then.
      metadata = 0..<0
    }
    do {
      data = try part("data", at: 32)
    } catch {
      // It begins behind the header, and its size is that of an archive that can be read.
      guard file.salvages, let found = Self.archive(in: bytes, before: metadata) else { throw error }
      data = found
    }
    if let highest = Int64(exactly: number(48)), highest <= AtomicStoreLoader.highestKey {
      highestKey = highest
    } else {
      // The keys of the objects tell it, but for those that were deleted.
      guard file.salvages else {
        throw file.damage("Its header gives the highest key \(number(48)).", .repairing)
      }
      highestKey = 0
    }
  }

  /// The archive that begins behind the header: all up to that of the metadata, or to the end.
  private static func archive(in bytes: Data, before metadata: Range<Int>) -> Range<Int>? {
    let mark = Data("bplist00".utf8)
    let start: Int = bytes.startIndex + size
    guard bytes[start...].starts(with: mark) else { return nil }
    if metadata.lowerBound > size { return size..<metadata.lowerBound }
    let last: Int? =
      bytes.range(of: mark, options: .backwards, in: start + mark.count..<bytes.endIndex)?.lowerBound
    return size..<(last ?? bytes.endIndex) - bytes.startIndex
  }

  var bytes: Data {
    var bytes: Data = Data("CoreData".utf8)
    let numbers: [UInt64] = [
      Self.version, UInt64(metadata.lowerBound), UInt64(metadata.count), UInt64(data.lowerBound),
      UInt64(data.count), UInt64(highestKey), 0,
    ]
    for number in numbers { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
    return bytes
  }
}

extension Data {
  /// A part by offsets from the start.
  fileprivate subscript(relative range: Range<Int>) -> Data {
    self[startIndex + range.lowerBound..<startIndex + range.upperBound]
  }
}
