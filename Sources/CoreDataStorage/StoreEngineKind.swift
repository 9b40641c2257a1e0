import CoreDataModel
import Foundation

/// A kind of store engine: creates, opens, inspects, destroys, replaces and copies stores of one type.
///
/// The requirements about files have defaults that throw: a kind without files implements `open` alone.
package protocol StoreEngineKind: Sendable {
  /// The store type: `SQLite`, `InMemory`.
  var type: String { get }
  /// Endings of file names, in lower case, by which the command line takes a new store for one of the kind.
  var fileEndings: [String] { get }
  /// Whether a store is a file with a URL that outlives the process.
  var keepsFiles: Bool { get }
  /// Whether a file that begins with these bytes is a store of the kind.
  func recognizes(_ head: Data) -> Bool
  /// Whether two URLs lead to one store.
  func isSamePlace(_ one: URL, _ other: URL) -> Bool
  /// Whether a store at the URL leaves no file behind.
  func namesNoFile(_ url: URL) -> Bool

  /// Opens a store, or creates it if there is none. `url` is a file URL if the kind keeps files.
  func open(at url: URL?, layout: ModelLayout, options: StoreOpeningOptions) throws -> any StoreEngine
  /// The sizes of the files that have values of a store, by their names; none if it keeps all in its own.
  func valueFiles(of url: URL) -> [String: Int64]
  /// Examines a file without its model, and changes nothing about it.
  func inspect(_ url: URL, options: StoreOpeningOptions) throws -> StoreInspection
  /// The names and types that the objects of a file have; nil for a kind whose files don't name them.
  func structure(at url: URL, options: StoreOpeningOptions) throws -> StoreStructure?
  /// What of a store's tables is not as a model has it, a clause each; none if they are those of the model,
  /// and nil for a kind without tables. `entities`: those that the store has.
  func misfits(
    of layout: ModelLayout, entities: Set<String>, at url: URL, options: StoreOpeningOptions
  ) throws -> [String]?
  /// Sets the program's metadata of a store that need not be open.
  func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOpeningOptions) throws
  /// Removes the contents of the store.
  func destroy(at url: URL, options: StoreOpeningOptions) throws
  /// Replaces the contents of a store by those of another one of the same kind.
  func replace(at url: URL, with source: URL, options: StoreOpeningOptions) throws
  /// Begins a replacement of the present contents of a store, which fails if others save meanwhile.
  func beginReplacement(at url: URL, options: StoreOpeningOptions) throws -> any StoreReplacement
  /// The engine of an open store that is at another URL from now on: the store that is there, which must have
  /// the same UUID, or, for stores that are written as wholes, the same contents, which the next save writes
  /// there. The former engine stays open unless it is the result.
  func move(_ engine: any StoreEngine, to url: URL, layout: ModelLayout, options: StoreOpeningOptions) throws
    -> any StoreEngine
  /// Creates a store at a place where there is none, with the contents of another one of any kind: in a way
  /// of the kind's own, or by opening an empty store and calling `transfer`. Leaves nothing behind if it
  /// throws. `source` is nil for a store that is no engine.
  func makeStore(
    at url: URL, layout: ModelLayout, options: StoreOpeningOptions, copying source: (any StoreEngine)?,
    transfer: (any StoreEngine) throws -> Void
  ) throws -> any StoreEngine
  /// Where the structure of a store differs from that of the model that it was written with. Reads only.
  func drift(at url: URL, layout: ModelLayout, options: StoreOpeningOptions) throws -> [StoreDrift]
  /// What a migration of the store in place would do. Reads only. A kind that can't do it says so in the
  /// result.
  func migrationPlan(at url: URL, plan: SchemaPlan, options: StoreOpeningOptions) throws -> PlannedMigration
  /// Migrates a store that is not open here in place, in one transaction: it is as it was before, also after
  /// a crash, unless all was done. Throws `StoreError.migration` with the reason. `progress` is called before
  /// each step, and about every tenth of a second during a long one; an error that it throws cancels the
  /// migration, and is thrown on.
  func migrate(
    at url: URL, plan: SchemaPlan, options: StoreOpeningOptions, verification: MigrationVerification,
    progress: (MigrationProgress) throws -> Void
  ) throws -> MigrationReport
}

extension StoreEngineKind {
  package var fileEndings: [String] { keepsFiles ? [type.lowercased()] : [] }
  package var keepsFiles: Bool { false }
  package func recognizes(_ head: Data) -> Bool { false }
  package func valueFiles(of url: URL) -> [String: Int64] { [:] }
  package func isSamePlace(_ one: URL, _ other: URL) -> Bool { one.isSamePlace(as: other) }
  package func namesNoFile(_ url: URL) -> Bool { !keepsFiles }

  private func noFile(_ url: URL) -> StoreError {
    .invalidFile(url: url, reason: "A store of type \(type) has no file.")
  }

  package func inspect(_ url: URL, options: StoreOpeningOptions) throws -> StoreInspection {
    throw noFile(url)
  }
  package func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOpeningOptions) throws {
    throw noFile(url)
  }
  /// A store without a file leaves nothing behind when it is closed.
  package func destroy(at url: URL, options: StoreOpeningOptions) throws {}
  package func replace(at url: URL, with source: URL, options: StoreOpeningOptions) throws {
    throw noFile(url)
  }
  package func beginReplacement(at url: URL, options: StoreOpeningOptions) throws -> any StoreReplacement {
    throw noFile(url)
  }

  package func move(
    _ engine: any StoreEngine, to url: URL, layout: ModelLayout, options: StoreOpeningOptions
  ) throws -> any StoreEngine {
    var options: StoreOpeningOptions = options
    options.createsIfMissing = false
    let found: any StoreEngine = try open(at: url, layout: layout, options: options)
    if found.identifier == engine.identifier { return found }
    try? found.close()
    throw StoreError.invalidFile(
      url: url,
      reason: "It is another store: its UUID is \(found.identifier), not \(engine.identifier). Add it with "
        + "addPersistentStore, or copy the store there first.")
  }

  package func makeStore(
    at url: URL, layout: ModelLayout, options: StoreOpeningOptions, copying source: (any StoreEngine)?,
    transfer: (any StoreEngine) throws -> Void
  ) throws -> any StoreEngine {
    try filled(try open(at: url, layout: layout, options: options), by: transfer)
  }

  /// A store after `transfer` has filled it. Closes it if that throws.
  package func filled(
    _ target: any StoreEngine, by transfer: (any StoreEngine) throws -> Void
  ) throws -> any StoreEngine {
    do {
      try transfer(target)
    } catch {
      try? target.close()
      throw error
    }
    return target
  }
}

/// The kind of stores in memory.
package struct InMemoryKind: StoreEngineKind {
  package let type: String = "InMemory"

  package init() {}

  package func open(at url: URL?, layout: ModelLayout, options: StoreOpeningOptions) throws -> any StoreEngine
  {
    try InMemoryEngine(layout: layout, entityNames: options.entityNames)
  }
}

/// A store file examined without its model, for tools and for finding the model that fits.
package struct StoreInspection: @unchecked Sendable {
  // Sendable: immutable once made; the model is frozen before.

  package var type: String
  package var uuid: String
  /// A property list with Apple's keys, `NSStoreType` and `NSStoreUUID` included.
  package var metadata: [String: Any]
  /// The versions of the entities, nil if the metadata has no version hashes.
  package var versions: EntityVersions?
  /// Why the metadata is incomplete, nil if it is not.
  package var metadataProblem: String?
  /// The model that the store carries; nil if it carries none that can be read.
  package var model: NSManagedObjectModel?
  /// Why `model` is nil.
  package var modelProblem: String?
  /// That the file lacks its end, as a sentence; nil if it does not.
  package var shortage: String?
  /// The build of Apple's framework that last saved.
  package var frameworkVersion: Int?
  package var hasHistory: Bool = false
  /// The entities of the store, each with the number of its own rows.
  package var entities: [EntityCount] = []
  /// The journal beside the file; nil for files that are written as wholes.
  package var journal: StoreJournal?
  /// Of the file, its journal and the files of its values.
  package var byteCount: Int64 = 0
  /// Of these, the bytes of the files of large values.
  package var externalByteCount: Int64 = 0
  /// A process that has the store open, as far as the store's kind shows it.
  package var otherProcess: Int32?

  package init(type: String, uuid: String, metadata: [String: Any]) {
    self.type = type
    self.uuid = uuid
    self.metadata = metadata
  }

  package struct EntityCount: Sendable {
    package var number: Int
    package var name: String
    package var superNumber: Int
    package var rows: Int

    package init(number: Int, name: String, superNumber: Int, rows: Int) {
      self.number = number
      self.name = name
      self.superNumber = superNumber
      self.rows = rows
    }
  }
}

/// The journal of a store file.
package struct StoreJournal: Sendable {
  package var isWriteAheadLog: Bool
  /// A save was interrupted; what is read does not contain it.
  package var hasInterruptedSave: Bool
  /// Bytes that are not yet in the file itself.
  package var pendingBytes: Int64

  package init(isWriteAheadLog: Bool, hasInterruptedSave: Bool, pendingBytes: Int64) {
    self.isWriteAheadLog = isWriteAheadLog
    self.hasInterruptedSave = hasInterruptedSave
    self.pendingBytes = pendingBytes
  }
}
