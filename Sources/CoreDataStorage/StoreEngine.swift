import CoreDataModel
import Foundation

/// A store as the coordinator sees it: rows, ids and plans in, rows and ids out. Engines know neither objects nor contexts.
///
/// An engine may be called from any thread, several at a time; it does its own locking. Every call that returns is
/// complete: nothing is written later.
package protocol StoreEngine: AnyObject, Sendable {
  var layout: ModelLayout { get }
  /// The store's UUID, upper case, as in `Z_METADATA` and in object URIs.
  var identifier: String { get }
  var isReadOnly: Bool { get }
  /// Why nothing can be written; nil for a store that can be written, or that need not say.
  var readOnlyReason: ReadOnlyReason? { get }
  /// Whether reading a row by key costs as little as finding it in a cache: then nobody keeps one in front of the engine.
  var needsNoRowCache: Bool { get }

  /// The metadata as of now; a property list dictionary with Apple's keys, `NSStoreType` and `NSStoreUUID` included.
  var metadata: [String: Any] { get }
  /// Replaces the application's metadata; written with the next save (or by `save` of an empty plan).
  func setMetadata(_ metadata: [String: Any]) throws
  /// Whether metadata was set that no save has written yet.
  var hasUnsavedMetadata: Bool { get }

  /// Rows in the plan's order. Throws `StoreError.missingValue` where a value is kept in a file that can't be read.
  func fetch(_ plan: FetchPlan) throws -> RowBatch
  /// Ids in the plan's order; cheaper than rows.
  func fetchIDs(_ plan: FetchPlan) throws -> [RowID]
  func count(_ plan: FetchPlan) throws -> Int
  /// Throws what a fetch of the plan would throw for its predicate and order, reading as little as the engine can. Asked part by part
  /// after a fetch has failed with `StoreError.unsupported`, to find out which parts the graph has to do.
  func check(_ plan: FetchPlan) throws
  /// The rows of a table: columns, grouped rows, functions over rows. Numbers of whole-number columns come as `.integer`,
  /// of Booleans as `.bool`, objects as `ObjectReference`; bytes of a transformable attribute as they are stored.
  func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows
  /// The rows with these keys in the hierarchy of `layout`, in no particular order; keys without a row are left out. Values in files
  /// that can't be read are nil: faults and deletions ask here, which have to go on without them.
  func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch
  /// The members of a to-many relationship for several owners at once, in the owners' order; ordered relationships in
  /// their order, others by key. All owners are of `layout` or its sub-entities; `slot` is a to-many slot of `layout`.
  func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]]
  /// Those of `candidates` that are members of one owner's to-many relationship, in no particular order. Reads nothing of the others.
  func members(of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [RowID]) throws -> [RowID]
  /// The member that follows `member` in an owner's ordered relationship, those of `leftOut` not counted; nil: it is the last one, or
  /// no member. Makes no list of the members.
  func member(of layout: EntityLayout, slot: Int, owner: RowID, after member: RowID, leftOut: Set<RowID>)
    throws
    -> RowID?

  /// Hands out permanent keys outside a save.
  func allocateKeys(for root: EntityLayout, count: Int) throws -> Int64
  /// Executes a plan in one transaction, and writes metadata that was set. Nothing that the program has a say in runs
  /// meanwhile: the plan is complete, but for the keys of its new rows.
  ///
  /// Throws `StoreError.conflicts` or `.uniqueness` when the plan does not fit the store any more. Whatever it throws,
  /// nothing has changed and no key is used up.
  func save(_ plan: consuming SavePlan) throws -> SaveOutcome
  /// Throws what would stop any save now: a store that is closed, read-only, or locked by others.
  func checkWritable() throws

  /// The statement a fetch would run, for engines that have one.
  func explain(_ plan: FetchPlan) throws -> ExplainedStatement?
  func explain(_ plan: ProjectionPlan) throws -> ExplainedStatement?

  /// A reader that goes on seeing the store as it is at this moment, whatever is written later; nil: this store has none. It holds what
  /// it needs until it is released or the engine is closed. It reads only.
  func snapshot() throws -> (any StoreEngine)?

  /// Releases files. Later calls fail with an explained error.
  func close() throws
}

extension StoreEngine {
  package var needsNoRowCache: Bool { false }
  package var readOnlyReason: ReadOnlyReason? { nil }
  package func snapshot() throws -> (any StoreEngine)? { nil }
}

/// Why a store is read-only.
package enum ReadOnlyReason: Sendable, CaseIterable {
  /// The program wanted it so.
  case asked
  /// The process may not write the file, or not make files in its folder.
  case permission
  /// It keeps persistent history, which saves would leave gaps in.
  case history
}

/// A row that is no longer what the saver had read.
package struct RowConflict: Sendable {
  package var id: RowID
  package var expectedVersion: Int32
  /// The row in the store now, nil if it was deleted.
  package var stored: RowRef?

  package init(id: RowID, expectedVersion: Int32, stored: RowRef?) {
    self.id = id
    self.expectedVersion = expectedVersion
    self.stored = stored
  }
}

/// What can go wrong in a store, as facts; the graph turns them into Apple's domain, code and user info.
package enum StoreError: Error {
  /// Optimistic locking failed for these rows; the save changed nothing.
  case conflicts([RowConflict])
  /// A uniqueness constraint would be broken; the save changed nothing.
  case uniqueness(entity: String, constraint: [String], row: RowID?, database: String)
  /// The predicate or order cannot be answered by this store; `part` is the part, `advice` the way out. It can be answered over objects
  /// in memory, which is what the graph does then.
  case unsupported(part: String, reason: String, advice: String)
  /// The predicate or order can be answered for no row at all, nowhere: `part` is the part, `advice` the way out.
  case invalid(part: String, reason: String, advice: String)
  /// The key path names no property of the entity.
  case unknownKeyPath(String, entity: String, advice: String)
  /// The file is not a store of this kind, or is damaged.
  case invalidFile(url: URL, reason: String)
  /// The store's model is another one: entities that differ, are missing, or are unknown to the model.
  case incompatibleModel(url: URL, differing: [String], missing: [String], unknown: [String])
  case readOnly(url: URL?, ReadOnlyReason)
  /// A store that keeps persistent history was to be opened for writing with history.
  case historyKept(url: URL)
  /// A file of the store was taken away or exchanged while it was open; `path` names the one.
  case fileChanged(url: URL, path: String)
  /// The file `path` that holds the value of a property (`Entity.attribute`) of a row can't be read. `folder` is the name of the folder
  /// that goes with the store.
  case missingValue(url: URL, property: String?, row: RowID?, path: String, reason: String, folder: String)
  /// Others kept a store locked that was to be destroyed or replaced.
  case inUse(url: URL)
  /// A feature of the model the store kind can't hold.
  case unsupportedModel(entity: String, property: String?, reason: String)
  /// An error of the database, with the statement that met it.
  case database(code: Int32, message: String, sql: String?, url: URL?)
  /// The engine was closed.
  case closed
}
