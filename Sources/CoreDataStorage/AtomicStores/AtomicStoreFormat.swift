import CoreDataModel
import Foundation

/// The bytes of stores that are one file, read and written as a whole. Everything else about such a store
/// (its rows, files, locks) is in `AtomicEngine`, the same for all formats.
package protocol AtomicStoreFormat: Sendable {
  /// The store type: `XML`, `Binary`.
  var type: String { get }
  /// The endings that files of the format have, in lower case.
  var fileEndings: [String] { get }
  /// The key of the first object of a new store.
  var firstKey: Int64 { get }
  /// Whether a file that begins with these bytes has the format.
  func recognizes(_ head: Data) -> Bool
  /// Throws `StoreError.unsupportedModel` for a model that the format can't keep.
  func check(_ layout: ModelLayout) throws
  /// Reads the metadata, and nothing behind it. Throws `StoreError.invalidFile`.
  func metadata(of file: AtomicStoreFile) throws -> StoreMetadata
  /// Reads what a file says about itself, without a model. Throws `StoreError.invalidFile`.
  func inspect(_ file: AtomicStoreFile) throws -> AtomicStoreHeader
  /// The names and types that the objects have; nil if the format does not write them.
  func structure(of file: AtomicStoreFile) throws -> StoreStructure?
  /// Reads all objects. Throws `StoreError.invalidFile` that says where and what is wrong.
  func read(_ file: AtomicStoreFile, into loader: AtomicStoreLoader) throws -> AtomicStoreHeader
  /// The bytes of a file with other metadata, UUID included.
  func replacingMetadata(in file: AtomicStoreFile, by metadata: StoreMetadata) throws -> Data
  /// Writes a whole file, a piece at a time.
  func write(_ contents: AtomicStoreContents, to output: (UnsafeRawBufferPointer) throws -> Void) throws
}

/// The bytes of a file, and its place for messages.
package struct AtomicStoreFile: Sendable {
  package let bytes: Data
  package let url: URL
  /// Whether as much as possible is to be read, though the file is damaged.
  package var salvages: Bool = false
  /// The UUID of a damaged store that has none any more.
  static let unknownUUID: String = "00000000-0000-0000-0000-000000000000"

  func damage(_ what: String, _ cure: FileCure = .none) -> StoreError {
    .invalidFile(url: url, reason: what, cure: cure)
  }
}

/// What a file says beside its objects.
package struct AtomicStoreHeader: @unchecked Sendable {
  // Sendable: a value; the metadata is a property list.
  package var metadata: StoreMetadata
  /// The highest key that was given to an object.
  package var highestKey: Int64
  /// The entities by their names in the file, each with the number of its own objects. Only of `inspect`.
  package var counts: [String: Int] = [:]
}

/// What is written: the objects of one state of a store, in the order of their keys.
package struct AtomicStoreContents {
  package let metadata: StoreMetadata
  package let highestKey: Int64
  let state: InMemoryState
  let objects: [RowRef]

  init(_ state: InMemoryState, metadata: StoreMetadata) {
    self.state = state
    self.metadata = metadata
    highestKey = state.highestKey
    var objects: [RowRef] = []
    for table in state.tables { table?.forEach { objects.append($0) } }
    self.objects = objects.sorted { $0.key < $1.key }
  }

  var layout: ModelLayout { state.schema.layout }

  /// The keys of the members of a to-many relationship, in order if it is ordered.
  func members(of row: RowRef, slot: Int) -> [Int64] { state.members(of: row.id, slot: slot).map(\.key) }
}
