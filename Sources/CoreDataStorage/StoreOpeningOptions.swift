import Foundation

/// How a store is opened, whatever its kind; each kind uses the options that apply to it. The graph makes it
/// from Apple's options.
package struct StoreOpeningOptions: Sendable {
  /// Never write.
  package var isReadOnly: Bool = false
  /// Create a store if there is none. Otherwise that is an error.
  package var createsIfMissing: Bool = true
  /// Whether a store of another model is refused.
  package var checksModel: Bool = true
  /// `NSPersistentHistoryTrackingKey`.
  package var tracksHistory: Bool = false
  /// How long to wait for a lock that others hold; nil for the kind's default.
  package var timeoutInSeconds: Double?
  /// `NSSQLitePragmasOption`.
  package var pragmas: [String: String] = [:]
  /// `NSValidateXMLStoreOption`: refuse a document whose elements are not those of a store.
  package var validates: Bool = false
  /// `NSSQLiteManualVacuumOption`: rebuild the file when it is opened, without the space of deleted rows.
  package var compacts: Bool = false
  /// `NSSQLiteAnalyzeOption`: collect statistics for the choice of indexes when the store is opened.
  package var analyzes: Bool = false
  /// `NSPersistentStoreConnectionPoolMaxSizeKey`: how many connections read at the same time; nil for the
  /// kind's default.
  package var connectionLimit: Int?
  /// The names of the entities that the store holds, for a store of one configuration; nil for all.
  package var entityNames: Set<String>?
  /// `NSPersistentStoreForceDestroyOption`.
  package var isForced: Bool = false
  /// Whether a value whose file is missing reads as nil, for examining copies, or is an error.
  package var readsMissingFilesAsNil: Bool = false
  /// Whether a warning on standard error names files of values that read as nil because the process may not
  /// read them. An examination lists them itself.
  package var warnsOfForbiddenFiles: Bool = true
  /// Whether a save does all that it does, and is then undone: it ends with ``SaveRehearsed``.
  package var rehearsesSaves: Bool = false
  /// Whether saves of a store that is one file stay in memory until ``StoreEngine/writeFromNowOn()`` is
  /// called: for a store that is filled in parts, and whose file is to appear when it has everything.
  package var fillsBeforeWriting: Bool = false

  /// `NSBinaryStoreSecureDecodingClasses`, with those of property lists: the classes that objects in the
  /// file may have; nil for all, since none of them is made.
  package var valueClasses: [AnyClass]?

  /// Whether as much as possible is to be read from a damaged file. Only with `isReadOnly`.
  package var salvages: Bool = false

  /// Whether the store is opened to be examined or repaired: where the two sides of a relationship in its
  /// file disagree is noted, and objects with the same values of a uniqueness constraint are no error.
  package var examines: Bool = false

  /// Whether the entity of a reference's object is taken from that object's row, whatever stands beside the
  /// reference. Costs a statement more for each page of rows with such references.
  package var looksTargetsUp: Bool = false

  /// Whether an inspection or a plan counts rows and what else takes a pass over all of them.
  package var countsRows: Bool = true

  package init(isReadOnly: Bool = false) { self.isReadOnly = isReadOnly }
}

/// The end of a save that would have succeeded, in a store that was opened with
/// ``StoreOpeningOptions/rehearsesSaves``: nothing was changed.
package struct SaveRehearsed: Error {
  package init() {}
}
