import CoreDataModel
import Foundation

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
  /// The predicate or order cannot be answered by this store; `part` is the part, `advice` the way out. It
  /// can be answered over objects in memory, which is what the graph does then.
  case unsupported(part: String, reason: String, advice: String)
  /// The predicate or order can be answered for no row at all, nowhere: `part` is the part, `advice`
  /// the way out.
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
  /// The file `path` that holds the value of a property (`Entity.attribute`) of a row can't be read. `folder`
  /// is the name of the folder that goes with the store.
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
