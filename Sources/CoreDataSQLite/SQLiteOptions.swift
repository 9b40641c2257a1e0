import CoreDataStorage
import Foundation

/// How a SQLite store is opened.
package struct SQLiteOptions: Sendable {
  /// Never write: neither the file nor its companions. See ``ReadOnlyAccess`` for what a reader sees.
  package var isReadOnly: Bool = false
  /// Create a store if there is no file, or an empty one. Otherwise a missing file is an error.
  package var createsIfMissing: Bool = true
  /// `NSSQLitePragmasOption`: pragma names and values, as text. `journal_mode` sets the journal; WAL if
  /// absent.
  package var pragmas: [String: String] = [:]
  /// How long a statement waits for another connection's lock.
  package var busyTimeoutInSeconds: Double = 60
  /// The names of the entities this store holds, for a store of one configuration; nil for all.
  package var entityNames: Set<String>?
  /// How a value reads whose external data file is missing.
  package var missingExternalData: MissingExternalData = .isError
  /// `NSPersistentHistoryTrackingKey`: the program requests persistent history (Decisions/0036).
  package var tracksHistory: Bool = false
  /// Rebuild the file when it is opened to be written.
  package var compacts: Bool = false
  /// Collect statistics for the choice of indexes when the file is opened to be written.
  package var analyzes: Bool = false
  /// How many connections read at the same time, beside one that writes.
  package var connectionLimit: Int = max(4, ProcessInfo.processInfo.activeProcessorCount)
  /// Whether a store whose hashes differ from the model's is refused. Only a migration turns it off.
  package var checksModel: Bool = true
  /// How many shapes of fetches keep their statements.
  package var statementLimit: Int = 256

  /// Whether a save is undone at its end, and throws `SaveRehearsed`.
  package var rehearsesSaves: Bool = false

  /// Whether a file is read although its size and its header disagree, as those of a file that was cut off.
  package var salvages: Bool = false

  /// Whether the file is opened to be examined, so that damage is told in place of being an error.
  package var examines: Bool = false

  /// Whether the entity of a reference's object is taken from that object's row, whatever stands beside the
  /// reference.
  package var looksTargetsUp: Bool = false

  package enum MissingExternalData: Sendable {
    /// Reading the row throws, naming the file.
    case isError
    /// The value reads as nil: for examining copies that lack their support folder. A file that the process
    /// may not read is named in a warning.
    case isNil
    /// The same without a warning, for whoever lists such files.
    case isQuietlyNil
  }

  package init() {}

  package init(isReadOnly: Bool) { self.isReadOnly = isReadOnly }

  package init(_ options: StoreOpeningOptions) {
    isReadOnly = options.isReadOnly
    createsIfMissing = options.createsIfMissing
    pragmas = options.pragmas
    if let timeout = options.timeoutInSeconds { busyTimeoutInSeconds = timeout }
    entityNames = options.entityNames
    compacts = options.compacts
    analyzes = options.analyzes
    if let limit = options.connectionLimit { connectionLimit = limit }
    missingExternalData =
      !options.readsMissingFilesAsNil ? .isError : options.warnsOfForbiddenFiles ? .isNil : .isQuietlyNil
    rehearsesSaves = options.rehearsesSaves
    tracksHistory = options.tracksHistory
    checksModel = options.checksModel
    salvages = options.salvages && options.isReadOnly
    (examines, looksTargetsUp) = (options.examines, options.looksTargetsUp)
  }
}
