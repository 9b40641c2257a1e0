import CoreDataModel
import Foundation

/// A kind of stores that are one file.
package struct AtomicKind: StoreEngineKind {
  private let format: any AtomicStoreFormat
  package var type: String { format.type }
  package let keepsFiles: Bool = true

  package init(_ format: any AtomicStoreFormat) { self.format = format }

  package static let xml = AtomicKind(XMLStoreFormat())
  package static let binary = AtomicKind(BinaryStoreFormat())

  package var fileEndings: [String] { format.fileEndings }
  package func recognizes(_ head: Data) -> Bool { format.recognizes(head) }
  package func namesNoFile(_ url: URL) -> Bool { false }

  private func file(_ url: URL?, _ options: StoreOpeningOptions) throws -> AtomicFile {
    guard let url, url.isFileURL else {
      throw StoreError.unsupported(
        part: "A store of type \(type)", reason: "it needs a file URL", advice: "Pass URL(fileURLWithPath:).")
    }
    return AtomicFile(url, timeoutInSeconds: options.timeoutInSeconds)
  }

  package func open(at url: URL?, layout: ModelLayout, options: StoreOpeningOptions) throws -> any StoreEngine
  {
    try AtomicEngine(format, at: try file(url, options).url, layout: layout, options: options)
  }

  private func content(_ url: URL, _ options: StoreOpeningOptions) throws -> (AtomicStoreFile, FileStamp) {
    let (bytes, stamp) = try file(url, options).read()
    let content = AtomicStoreFile(bytes: bytes, url: url, salvages: options.salvages)
    guard format.recognizes(bytes.prefix(4096)) else {
      throw content.damage("It is no store of type \(type).")
    }
    return (content, stamp)
  }

  package func inspect(_ url: URL, options: StoreOpeningOptions) throws -> StoreInspection {
    let (content, stamp): (AtomicStoreFile, FileStamp) = try content(url, options)
    let header: AtomicStoreHeader = try format.inspect(content)
    let metadata: StoreMetadata = header.metadata
    var made = StoreInspection(type: type, uuid: metadata.uuid, metadata: metadata.published)
    if !metadata.hashes.isEmpty { made.versions = EntityVersions(hashes: metadata.hashes, structures: [:]) }
    made.byteCount = stamp.size
    made.modelProblem = "Stores of type \(type) carry no model."
    made.frameworkVersion = metadata.values[StoreMetadata.Key.framework] as? Int
    // The hashes tell the names as the model spells them.
    let spellings: [String: String] = Dictionary(
      metadata.hashes.keys.map { (XMLStoreNames.caseless($0), $0) }, uniquingKeysWith: { first, _ in first })
    made.entities = header.counts.map { (spellings[XMLStoreNames.caseless($0.key)] ?? $0.key, $0.value) }
      .sorted { $0.0 < $1.0 }
      .enumerated().map { number, entity in
        StoreInspection.EntityCount(number: number + 1, name: entity.0, superNumber: 0, rows: entity.1)
      }
    return made
  }

  package func structure(at url: URL, options: StoreOpeningOptions) throws -> StoreStructure? {
    try format.structure(of: try content(url, options).0)
  }

  package func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOpeningOptions) throws {
    if options.isReadOnly { throw StoreError.readOnly(url: url, .requested) }
    let place: AtomicFile = try file(url, options)
    if place.stamp == nil { throw StoreError.file(url: url, operation: "reading it", code: ENOENT) }
    guard place.isWritable else { throw StoreError.readOnly(url: url, .permission) }
    let (content, stamp) = try content(url, options)
    let current: StoreMetadata = try format.metadata(of: content)
    try StoreMetadata.check(metadata.filter { $0.key != StoreMetadata.Key.uuid })
    try StoreMetadata.checkIdentifier(in: metadata, of: current.uuid)
    let bytes: Data = try format.replacingMetadata(in: content, by: current.replacing(with: metadata))
    _ = try place.replace(stamp) { output in try bytes.withUnsafeBytes(output) }
  }

  package func destroy(at url: URL, options: StoreOpeningOptions) throws {
    let place: AtomicFile = try file(url, options)
    guard let stamp = place.stamp else { return }
    if let objection = place.objection { throw StoreError.invalidFile(url: url, reason: objection) }
    if stamp.size > 0 { _ = try content(url, options) }
    try place.remove()
  }

  package func replace(at url: URL, with source: URL, options: StoreOpeningOptions) throws {
    let place: AtomicFile = try file(url, options)
    let bytes: Data = try examined(source, options)
    if place.url.isSamePlace(as: source) { return }
    guard let stamp = place.stamp else {
      _ = try place.create { output in try bytes.withUnsafeBytes(output) }
      return
    }
    if let objection = place.objection { throw StoreError.invalidFile(url: url, reason: objection) }
    // Another program's file, or a store of another kind, must not be lost.
    if stamp.size > 0 { _ = try self.content(url, options) }
    _ = try place.replace(stamp) { output in try bytes.withUnsafeBytes(output) }
  }

  /// The bytes of a file that is a store.
  private func examined(_ url: URL, _ options: StoreOpeningOptions) throws -> Data {
    let (content, _) = try content(url, options)
    _ = try format.inspect(content)
    return content.bytes
  }

  package func beginReplacement(at url: URL, options: StoreOpeningOptions) throws -> any StoreReplacement {
    let place: AtomicFile = try file(url, options)
    let (_, stamp) = try content(url, options)
    return Replacement(place: place, stamp: stamp) { try examined($0, options) }
  }

  /// A save makes another file, so that its stamp tells whether there was one.
  private final class Replacement: StoreReplacement {
    private let place: AtomicFile
    private let stamp: FileStamp
    private let read: (URL) throws -> Data

    init(place: AtomicFile, stamp: FileStamp, read: @escaping (URL) throws -> Data) {
      (self.place, self.stamp, self.read) = (place, stamp, read)
    }

    func complete(with source: URL) throws {
      let bytes: Data = try read(source)
      _ = try place.replace(stamp) { output in try bytes.withUnsafeBytes(output) }
    }

    func requireUnchanged() throws { try place.requireStamp(stamp) }

    func end() {}
  }

  package func move(
    _ engine: any StoreEngine, to url: URL, layout: ModelLayout, options: StoreOpeningOptions
  ) throws -> any StoreEngine {
    guard let engine = engine as? AtomicEngine else { preconditionFailure("an engine of another kind") }
    try engine.move(to: try file(url, options))
    return engine
  }

  package func makeStore(
    at url: URL, layout: ModelLayout, options: StoreOpeningOptions, copying source: (any StoreEngine)?,
    transfer: (any StoreEngine) throws -> Void
  ) throws -> any StoreEngine {
    let place: AtomicFile = try file(url, options)
    if let stamp = place.stamp, stamp.size > 0 {
      throw StoreError.invalidFile(
        url: url,
        reason: place.objection ?? "There is a file already; destroy it first, or give another URL.")
    }
    // A process that is killed meanwhile leaves no store, in place of an empty one that looks complete; and
    // an error finds nothing to remove.
    var options: StoreOpeningOptions = options
    options.fillsBeforeWriting = true
    return try filled(try open(at: url, layout: layout, options: options)) { target in
      try transfer(target)
      target.writeFromNowOn()
      _ = try target.save(SavePlan())
    }
  }
}
