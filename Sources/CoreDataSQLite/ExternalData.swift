import CoreDataStorage
import Foundation
import GRDBSQLite

/// Large values in files beside the store.
///
/// A column whose attribute allows external storage carries a tag byte:
///
///     01 …bytes                        the value itself
///     02 36 characters of a UUID 00    the value is the file of that name in
///                                      .<Store>_SUPPORT/_EXTERNAL_DATA/ beside the store
///
/// Example: `Shop.sqlite` with the column `02 "0F3A6C1E-…-9B" 00` has its value in
/// `.Shop_SUPPORT/_EXTERNAL_DATA/0F3A6C1E-…-9B`. A value without a known tag is read as it is: it was written
/// before the option was turned on.
///
/// Order of writing: a new file is complete on disk before the transaction that refers to it commits; a file
/// that nothing refers to any more is removed after the commit. A crash in between leaves a superfluous file,
/// never a missing one; `ExternalNote` names the superfluous ones.
struct ExternalData: Sendable {
  let store: URL
  /// The location of the store's file, if its URL is a symbolic link: SQLite's companion files lie there too.
  let file: URL
  let folder: URL
  /// How a value reads whose file can't be read.
  private(set) var missing: SQLiteOptions.MissingExternalData
  /// false for a store in memory: values of any length stay inline.
  private let keepsFiles: Bool

  /// Values longer than this go to files. Apple's threshold is not documented; measurements put it
  /// near 100 kB.
  static let thresholdInBytes: Int = 100_000
  static let inlineTag: UInt8 = 1
  static let fileTag: UInt8 = 2

  init(store: URL, missing: SQLiteOptions.MissingExternalData, keepsFiles: Bool = true) {
    self.store = store
    self.missing = missing
    self.keepsFiles = keepsFiles
    file = store.followingLinks
    folder = Self.folder(of: file)
  }

  /// The store's hidden folder, which holds the folder of values.
  var support: URL { folder.deletingLastPathComponent() }

  /// The same, reading values as nil whose files can't be read: for faults, deletions and conflicts, which
  /// can't fail because of a file.
  var lenient: ExternalData {
    var copy: ExternalData = self
    if missing == .isError { copy.missing = .isNil }
    return copy
  }

  static func folder(of store: URL) -> URL {
    let name: String = store.deletingPathExtension().lastPathComponent
    return store.deletingLastPathComponent()
      .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
      .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
  }

  /// The sizes of the files of a store's values, by their names.
  static func files(of store: URL) -> [String: Int64] {
    let folder: URL = folder(of: store)
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return Dictionary(
      names.map { ($0, FileStamp(path: folder.path + "/" + $0)?.size ?? 0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Copies a tagged column of the current row into a slab's tail; nil for NULL. Throws
  /// `ExternalFile.Problem`.
  func read(_ handle: OpaquePointer, _ column: Int32, into slab: RowSlab) throws -> UInt64? {
    guard let bytes = sqlite3_column_blob(handle, column) else {
      return sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : slab.appendTail(nil, count: 0)
    }
    let value = UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
    switch Self.contents(value) {
    case .inline(let own): return slab.appendTail(own.baseAddress, count: own.count)
    case .file(let name):
      guard let data = try file(name, fitting: Int(UInt32.max) - slab.tailCount) else { return nil }
      return data.withUnsafeBytes { slab.appendTail($0.baseAddress, count: $0.count) }
    }
  }

  /// A tagged column of the current row; nil for NULL. Throws `ExternalFile.Problem`.
  func data(_ handle: OpaquePointer, _ column: Int32) throws -> Data? {
    guard let bytes = sqlite3_column_blob(handle, column) else {
      return sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : Data()
    }
    return try data(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
  }

  /// The value of tagged bytes; nil for one whose file is missing and reads as nil.
  func data(_ value: UnsafeRawBufferPointer) throws -> Data? {
    if value.isEmpty { return Data() }
    switch Self.contents(value) {
    case .inline(let own): return Data(own)
    case .file(let name): return try file(name, fitting: .max)
    }
  }

  private enum Contents {
    case inline(UnsafeRawBufferPointer)
    case file(String)
  }

  private static func contents(_ value: UnsafeRawBufferPointer) -> Contents {
    if value[0] == inlineTag { return .inline(UnsafeRawBufferPointer(rebasing: value.dropFirst())) }
    if value[0] == fileTag, let name = fileName(value) { return .file(name) }
    return .inline(value)
  }

  private func file(_ name: String, fitting limit: Int) throws -> Data? {
    do {
      return try file(name).read(fitting: limit)
    } catch let problem as ExternalFile.Problem where missing != .isError {
      // It reads as nil, and nobody else says that it is none.
      if problem.isForbidden, missing == .isNil { ForbiddenFiles.warn(problem) }
      return nil
    }
  }

  /// The file with a name that `fileName` has returned.
  func file(_ name: String) -> ExternalFile {
    ExternalFile(path: folder.appendingPathComponent(name).path)
  }

  /// The error for a value whose file can't be read. `property` is `Entity.attribute`.
  func error(for problem: ExternalFile.Problem, property: String?, row: RowID?) -> StoreError {
    .missingValue(
      url: store, property: property, row: row, path: problem.path, reason: problem.reason,
      folder: support.lastPathComponent, isForbidden: problem.isForbidden)
  }

  /// The bytes needed to recognise a file's name: the tag, the name, a zero byte, and one byte more, which no
  /// reference has.
  static let longestReferenceInBytes: Int64 = 39

  /// The file's name if the tagged bytes are a reference: exactly a UUID, so that no value can point outside
  /// the folder.
  static func fileName(_ value: UnsafeRawBufferPointer) -> String? {
    guard value.count == 38 || value.count == 37, value[0] == fileTag else { return nil }
    if value.count == 38, value[37] != 0 { return nil }
    let text = String(decoding: value[1..<37], as: UTF8.self)
    return isFileName(text) ? text : nil
  }

  static func isFileName(_ text: String) -> Bool { text.utf8.count == 36 && UUID(uuidString: text) != nil }

  /// Whether a value of that length is stored in a file.
  func goesToFile(_ sizeInBytes: Int) -> Bool { keepsFiles && sizeInBytes > Self.thresholdInBytes }

  /// The bytes to keep in the column for a value that stays inline.
  static func inline(_ value: UnsafeRawBufferPointer) -> Data {
    var data = Data(capacity: value.count + 1)
    data.append(inlineTag)
    data.append(contentsOf: value)
    return data
  }
}

/// The files that one save writes and those that it makes superfluous.
final class ExternalDataChanges {
  private let external: ExternalData
  private var written: [ExternalFile] = []
  private var replaced: [String] = []
  private var note: ExternalNote?

  init(external: ExternalData) { self.external = external }

  /// The value of the column: the bytes themselves with a tag, or the name of a file that now holds them.
  func columnValue(of value: UnsafeRawBufferPointer) throws -> Data {
    if !external.goesToFile(value.count) { return ExternalData.inline(value) }
    let name: String = UUID().uuidString
    let file: ExternalFile = external.file(name)
    do {
      try FileManager.default.createDirectory(at: external.folder, withIntermediateDirectories: true)
      try noted(name)
      written.append(file)
      try DurableFile.write(value, to: URL(fileURLWithPath: file.path))
      try DurableFile.synchronize(folder: external.folder)
    } catch {
      throw StoreError.file(
        url: external.store,
        operation:
          "writing a value of \(value.count) bytes into its folder \(external.support.lastPathComponent)",
        code: DurableFile.code(of: error))
    }
    var data = Data([ExternalData.fileTag])
    data.append(contentsOf: name.utf8)
    data.append(0)
    return data
  }

  /// Records the column value that a save replaces or deletes.
  func willReplace(_ old: Data?) {
    guard let old, let name = old.withUnsafeBytes({ ExternalData.fileName($0) }) else { return }
    replaced.append(name)
    // Without a folder there is no file to remove either.
    try? noted(name)
  }

  private func noted(_ name: String) throws {
    let note: ExternalNote = self.note ?? ExternalNote(of: external)
    self.note = note
    try note.add(name)
  }

  /// After the commit: removes the files that nothing refers to any more. A file that can't be removed stays,
  /// which does no harm. If another store has the same folder, its rows may refer to the files: the note
  /// stays, and the next opening checks them.
  func finish() {
    if !replaced.isEmpty, !SharedFolder(of: external).neighbours.isEmpty { return }
    for name in replaced { external.file(name).remove() }
    note?.remove()
  }

  /// After a failed save: removes the files that it had written.
  func undo() {
    for file in written { file.remove() }
    note?.remove()
  }
}
