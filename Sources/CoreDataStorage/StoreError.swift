import CoreDataModel
import Foundation

/// A row that has changed since the saving context read it.
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

/// The errors of a store, as facts; the graph turns them into Apple's domain, code and user info.
package enum StoreError: Error {
  /// Optimistic locking failed for these rows; the save changed nothing.
  case conflicts([RowConflict])
  /// A uniqueness constraint would be violated; the save changed nothing.
  case uniqueness(entity: String, constraint: [String], row: RowID?, database: String)
  /// Objects of a store that is copied have the same values of a uniqueness constraint; `values` as texts,
  /// `objects` by their URIs.
  case duplicates(
    url: URL?, entity: String, constraint: [String], values: [String], objects: [String])
  /// The store can't evaluate the predicate or order; `part` is the part, `advice` what to do instead. It can
  /// be evaluated over objects in memory, which the graph then does.
  case unsupported(part: String, reason: String, advice: String)
  /// The predicate or order can't be evaluated for any row, by any store: `part` is the part, `advice` what
  /// to do instead.
  case invalid(part: String, reason: String, advice: String)
  /// The key path names no property of the entity.
  case unknownKeyPath(String, entity: String, advice: String)
  /// The file is not a store of this kind, or is damaged.
  case invalidFile(url: URL, reason: String, cure: FileCure = .none)
  /// The store was made with another model.
  case incompatibleModel(url: URL, ModelMismatch)
  case readOnly(url: URL?, ReadOnlyReason)
  /// A store that keeps persistent history can't be opened for writing with history.
  case historyKept(url: URL)
  /// A file of the store was removed or exchanged while it was open; `path` names the file.
  case fileChanged(url: URL, path: String)
  /// Another process, or another coordinator, has saved a store that is written as a whole since this one
  /// read it, or has put another file in its place.
  case savedByOthers(url: URL)
  /// The file `path` that holds the value of a property (`Entity.attribute`) of a row can't be read. `folder`
  /// is the name of the folder of the store's values.
  case missingValue(
    url: URL, property: String?, row: RowID?, path: String, reason: String, folder: String,
    isForbidden: Bool = false)
  /// A store of this type can't keep the value of a property (`Entity.attribute`) of an object, which is
  /// named by its URI.
  case unwritableValue(property: String, object: String, type: String, reason: String)
  /// A store that was to be destroyed or replaced was locked by others.
  case inUse(url: URL)
  /// The system refuses an operation on a file that is read and written as a whole.
  case file(url: URL, operation: String, code: Int32)
  /// A feature of the model that this kind of store does not support.
  case unsupportedModel(entity: String, property: String?, reason: String)
  /// A migration in place was not done.
  case migration(url: URL, MigrationProblem)
  /// An error of the database, with the statement that caused it.
  case database(code: Int32, message: String, sql: String?, url: URL?)
  /// The engine was closed.
  case closed
}

/// What helps a file that can't be opened as a store.
package enum FileCure: Sendable {
  /// Nothing but what the reason says.
  case none
  /// The file is damaged, and written as a whole.
  case restoring
  /// The file is damaged, and parts of it can be read.
  case repairing
  /// The same, where the program wanted to destroy it.
  case destroying

  package var advice: String? {
    switch self {
    case .none: nil
    case .restoring: "Restore a copy of the file."
    case .repairing: "Restore a copy, or save what can be read with `clarus check STORE --repair OUT`."
    case .destroying:
      "Restore a copy, or save what can be read with `clarus check STORE --repair OUT`. To destroy it all the same set "
        + "NSPersistentStoreForceDestroyOption."
    }
  }
}

/// Who reads the text of an error, and can do what it advises.
package enum ErrorReader: Sendable {
  /// Somebody who writes a program.
  case developer
  /// Somebody at a command line.
  case commandLine

  /// The reader of the texts of this process. Set before other threads exist, and never again.
  package nonisolated(unsafe) static var ofProcess: ErrorReader = .developer
}
