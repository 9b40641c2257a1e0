import CoreDataModel
import CoreDataPredicates
import Foundation

/// The description of a store, and the metadata beside its rows.
package protocol StoreDescribing {
  /// The store's UUID, upper case, as in object URIs.
  var identifier: String { get }
  /// The store's file; nil if it has none.
  var fileURL: URL? { get }
  /// Why the store can't be written; nil if it can.
  var readOnlyReason: ReadOnlyReason? { get }
  /// The current metadata; a property list dictionary with Apple's keys, `NSStoreType` and `NSStoreUUID`
  /// included.
  var metadata: [String: Any] { get }
  /// Replaces the application's metadata; written with the next save (or by `save` of an empty plan).
  func setMetadata(_ metadata: [String: Any]) throws
  /// Whether metadata was set that no save has written yet.
  var hasUnsavedMetadata: Bool { get }
  /// The columns of an entity's properties, in the order of its slots, for users who examine the store with
  /// other tools. Empty if there are none.
  func columnPlaces(of entity: EntityLayout) throws -> [ColumnPlace]
  /// Definitions of views that show the store's tables with the names of the model, for users who examine the
  /// store with other tools; nil if there are no tables.
  func readableViews() throws -> [String]?
}

extension StoreDescribing {
  package var isReadOnly: Bool { readOnlyReason != nil }
  package var fileURL: URL? { nil }
  package func columnPlaces(of entity: EntityLayout) throws -> [ColumnPlace] { [] }
  package func readableViews() throws -> [String]? { nil }
}

/// Earlier states of a store.
package protocol StoreSnapshotting {
  /// An engine that reads the store as it is at this moment, whatever is written later; nil if the store
  /// can't do that. It holds what it needs until it is released or the store is closed. It is read-only.
  func snapshot() throws -> (any StoreEngine)?
  /// Runs `body` with an engine that reads the store at one moment, whatever is written meanwhile and
  /// whatever that costs.
  func withOneState(_ body: (any StoreEngine) throws -> Void) throws
}

package protocol StoreClosing {
  /// Releases files. Later calls fail with an explained error.
  func close() throws
}

/// Exchanges rows, ids and plans with a database, or with something that behaves like one. Engines use
/// neither objects nor contexts.
///
/// An engine may be called from any thread, also concurrently; it does its own locking. Every call that
/// returns is complete: nothing is written later.
///
/// | part | contains |
/// |---|---|
/// | ``RowReading`` | fetches, counts, projections, rows by key |
/// | ``MemberReading`` | the members of to-many relationships |
/// | ``KeyAllocating`` | keys outside a save |
/// | ``PlanSaving`` | one save, one transaction; slots for other plans |
/// | ``StoreDescribing`` | identity, metadata, why it is read-only |
/// | ``StoreSnapshotting``, ``StoreClosing`` | earlier states, closing |
/// | ``StoreExamining`` | what is wrong with the file, and what can be read of it all the same |
///
/// The graph calls engines through one class of stores, `EngineStore`; a new engine needs a
/// ``StoreEngineKind`` and a line in the graph's registry.
package protocol StoreEngine: StoreOperations, StoreDescribing, StoreSnapshotting, StoreExamining,
  StoreClosing
{
  /// How rows that were read are cached between contexts.
  var rowFreshness: RowFreshness { get }
  /// Calls `listener` with rows that others have changed, from any thread, until the engine is closed. Called
  /// for engines whose rows are `.notified`.
  func notifyChanges(_ listener: @escaping @Sendable (ChangedRows) -> Void)
  /// Lets the next save write the file, in a store that was opened with
  /// ``StoreOpeningOptions/fillsBeforeWriting``.
  func writeFromNowOn()
  /// Whether nothing has been written at the store's place yet, so that what is there is none of its own.
  var isUnwritten: Bool { get }
}

extension StoreEngine {
  package var rowFreshness: RowFreshness { .aging }
  package func notifyChanges(_ listener: @escaping @Sendable (ChangedRows) -> Void) {}
  package func writeFromNowOn() {}
  package var isUnwritten: Bool { false }
  package func snapshot() throws -> (any StoreEngine)? { nil }
  package func withOneState(_ body: (any StoreEngine) throws -> Void) throws {
    guard let state = try snapshot() else { return try body(self) }
    defer { try? state.close() }
    try body(state)
  }
}

/// How long a row that was read is valid: this decides how a row cache in front of the store works.
package enum RowFreshness: Sendable {
  /// Reading a row by key is as cheap as finding it in a cache, so the store has no row cache.
  case alwaysInMemory
  /// Others may write to the store without notification: a cached row gets older. A context's
  /// `stalenessInterval` is the greatest age of a row that fills a fault; a save compares versions in any
  /// case.
  case aging
  /// The store reports the rows that others have changed. They are removed from the cache, and no other row
  /// gets old, unless a context reads every row from the store (a `stalenessInterval` of 0).
  case notified
}

/// Rows of one hierarchy that have changed.
package struct ChangedRows: Sendable {
  /// The index of the root entity.
  package var root: Int
  package var keys: [Int64]

  package init(root: Int, keys: [Int64]) {
    self.root = root
    self.keys = keys
  }
}

/// The table and column of a property.
package struct ColumnPlace: Sendable, Equatable {
  package var property: String
  package var table: String
  package var columns: [String]

  package init(property: String, table: String, columns: [String]) {
    self.property = property
    self.table = table
    self.columns = columns
  }
}

/// Why a store is read-only.
package enum ReadOnlyReason: Sendable, CaseIterable {
  /// The program requested it.
  case requested
  /// The process may not write the file, or not create files in its folder.
  case permission
  /// It keeps persistent history, which saves would leave incomplete.
  case history
}
