import CoreDataModel
import CoreDataPredicates
import Foundation

/// What a store engine says of itself, and keeps beside its rows.
package protocol StoreDescribing {
  /// The store's UUID, upper case, as in object URIs.
  var identifier: String { get }
  /// Why nothing can be written; nil for a store that can be written.
  var readOnlyReason: ReadOnlyReason? { get }
  /// The metadata as of now; a property list dictionary with Apple's keys, `NSStoreType` and `NSStoreUUID`
  /// included.
  var metadata: [String: Any] { get }
  /// Replaces the application's metadata; written with the next save (or by `save` of an empty plan).
  func setMetadata(_ metadata: [String: Any]) throws
  /// Whether metadata was set that no save has written yet.
  var hasUnsavedMetadata: Bool { get }
  /// Where the properties of an entity are kept, in the order of its slots, for people who look at the store
  /// with other tools. Empty where there is nothing to look at.
  func columnPlaces(of entity: EntityLayout) throws -> [ColumnPlace]
}

extension StoreDescribing {
  package var isReadOnly: Bool { readOnlyReason != nil }
  package func columnPlaces(of entity: EntityLayout) throws -> [ColumnPlace] { [] }
}

/// States of a store.
package protocol StoreSnapshotting {
  /// An engine that goes on seeing the store as it is at this moment, whatever is written later; nil: this
  /// store has none. It holds what it needs until it is released or the store is closed. It reads only.
  func snapshot() throws -> (any StoreEngine)?
  /// Runs `body` with an engine that sees one moment of the store, whoever writes meanwhile and
  /// whatever that costs.
  func withOneState(_ body: (any StoreEngine) throws -> Void) throws
}

package protocol StoreClosing {
  /// Releases files. Later calls fail with an explained error.
  func close() throws
}

/// Rows, ids and plans in, rows and ids out: a database, or what behaves as one. Engines know neither objects
/// nor contexts.
///
/// An engine may be called from any thread, several at a time; it does its own locking. Every call that
/// returns is complete: nothing is written later.
///
/// | part | says |
/// |---|---|
/// | ``RowReading`` | fetches, counts, projections, rows by key |
/// | ``MemberReading`` | the members of to-many relationships |
/// | ``KeyAllocating`` | keys outside a save |
/// | ``PlanSaving`` | one save, one transaction; slots for other plans |
/// | ``StoreDescribing`` | identity, metadata, why it is read-only |
/// | ``StoreSnapshotting``, ``StoreClosing`` | earlier states, the end |
///
/// The graph reaches engines through one class of stores, `EngineStore`; a new engine needs a
/// ``StoreEngineKind`` beside it and a line in the graph's registry.
package protocol StoreEngine: StoreOperations, StoreDescribing, StoreSnapshotting, StoreClosing {
  /// How rows that were read once are kept between contexts.
  var rowFreshness: RowFreshness { get }
  /// Calls `listener` with rows that others have changed, from any thread, until the engine is closed. Asked
  /// of engines whose rows are `.notified`.
  func notifyChanges(_ listener: @escaping @Sendable (ChangedRows) -> Void)
}

extension StoreEngine {
  package var rowFreshness: RowFreshness { .aging }
  package func notifyChanges(_ listener: @escaping @Sendable (ChangedRows) -> Void) {}
  package func snapshot() throws -> (any StoreEngine)? { nil }
  package func withOneState(_ body: (any StoreEngine) throws -> Void) throws {
    guard let state = try snapshot() else { return try body(self) }
    defer { try? state.close() }
    try body(state)
  }
}

/// How long a row that was read may stand for the row in the store: what a row cache in front of
/// the store goes by.
package enum RowFreshness: Sendable {
  /// Reading a row by key costs as little as finding it in a cache, so there is none in front of the store.
  case alwaysAtHand
  /// Others may write to the store and nobody says so: a row gets older. A context's `stalenessInterval` says
  /// how old a row may be that its faults are filled from; a save compares versions in any case.
  case aging
  /// The store says which rows others have changed. They leave the cache, and no other row gets old, unless a
  /// context wants every row from the store (a `stalenessInterval` of 0).
  case notified
}

/// Rows of one hierarchy that are not what they were.
package struct ChangedRows: Sendable {
  /// The index of the root entity.
  package var root: Int
  package var keys: [Int64]

  package init(root: Int, keys: [Int64]) {
    self.root = root
    self.keys = keys
  }
}

/// Where a store keeps a property.
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
  /// The program wanted it so.
  case asked
  /// The process may not write the file, or not make files in its folder.
  case permission
  /// It keeps persistent history, which saves would leave gaps in.
  case history
}
