import CoreDataModel
import CoreDataSQLite
import CoreDataStorage
import Foundation

/// Making a store with the contents of another one (Decisions/0049).
///
/// A SQLite file becomes another one page by page, with all that is in it. All other ways go row by row through memory.
struct StoreMigration {
  let source: NSPersistentStore
  let type: String
  let url: URL
  let options: [AnyHashable: Any]
  private let layout: ModelLayout

  init(of source: NSPersistentStore, type: String, url: URL, options: [AnyHashable: Any]) {
    self.source = source
    self.type = type
    self.url = url
    self.options = options
    layout = source.runtime.layout
  }

  /// The engine of the new store. Throws with nothing left behind.
  func run() throws -> any StoreEngine {
    guard type == NSSQLiteStoreType, !SQLiteStoreFile.isNowhere(url) else {
      return try transferred(into: try open(url))
    }
    let place: StoreExchange = StoreOpening.exchange(at: try StoreOpening.requireFile(url), options)
    let wasThere: Bool = try place.requireVacancy()
    var identifier: String?
    do {
      guard let file = fileToCopy else {
        let target: any StoreEngine = try open(url)
        identifier = target.identifier
        return try transferred(into: target)
      }
      let made: String = UUID().uuidString
      var metadata: [String: Any] = source.engine.metadata
      metadata[NSStoreUUIDKey] = nil
      try place.replace(with: file, as: StoreExchange.Identity(uuid: made, metadata: metadata))
      identifier = made
      return try open(url)
    } catch {
      place.withdraw(identifier, leavingFile: wasThere)
      throw error
    }
  }

  private func open(_ url: URL) throws -> any StoreEngine {
    try StoreOpening.open(
      type: type, url: url, layout: layout, configuration: source.givenConfiguration, options: options)
  }

  /// The source's file, if all that is in it may be in the new one. Of persistent history that can't be: a store with it can't be
  /// written to (Decisions/0036).
  private var fileToCopy: URL? {
    guard let engine = source.engine as? SQLiteEngine, !engine.hasHistory,
      !SQLiteStoreFile.isNowhere(engine.url)
    else { return nil }
    return engine.url
  }

  private func transferred(into target: any StoreEngine) throws -> any StoreEngine {
    do {
      let entities: [EntityLayout] = source.runtime.entities.filter(source.holds).map(\.layout)
      try reading { try StoreTransfer.copy(entities, from: $0, to: target) }
      var metadata: [String: Any] = source.engine.metadata
      for key in [NSStoreUUIDKey, NSStoreTypeKey] { metadata[key] = nil }
      try target.setMetadata(metadata)
      _ = try target.save(SavePlan())
      return target
    } catch {
      try? target.close()
      throw error
    }
  }

  /// Runs `body` with the source at one moment: other coordinators and processes may be writing.
  private func reading(_ body: (any StoreEngine) throws -> Void) throws {
    if let state = try source.engine.snapshot() {
      defer { try? state.close() }
      return try body(state)
    }
    guard let file = (source.engine as? SQLiteEngine)?.url, !SQLiteStoreFile.isNowhere(file) else {
      return try body(source.engine)
    }
    let folder: URL = FileManager.default.temporaryDirectory
      .appendingPathComponent("clarus-migrate-\(UUID().uuidString)", isDirectory: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let copy: URL = folder.appendingPathComponent("store.sqlite")
    try StoreOpening.exchange(at: copy, options).replace(with: file)
    let engine: any StoreEngine = try StoreOpening.open(
      type: NSSQLiteStoreType, url: copy, layout: layout, configuration: source.givenConfiguration,
      options: [NSReadOnlyPersistentStoreOption: true])
    defer { try? engine.close() }
    try body(engine)
  }
}
