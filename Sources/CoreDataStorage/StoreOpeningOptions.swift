import Foundation

/// How a store is opened, whatever its kind; each kind takes what concerns it. The graph makes it
/// of Apple's options.
package struct StoreOpeningOptions: Sendable {
  /// Never write.
  package var isReadOnly: Bool = false
  /// Make a store where there is none. Otherwise that is an error.
  package var createsIfMissing: Bool = true
  /// Whether a store of another model is refused.
  package var checksModel: Bool = true
  /// `NSPersistentHistoryTrackingKey`.
  package var tracksHistory: Bool = false
  /// How long to wait for others who keep the store locked; nil: as long as the kind finds right.
  package var timeoutInSeconds: Double?
  /// `NSSQLitePragmasOption`.
  package var pragmas: [String: String] = [:]
  /// The names of the entities that the store holds, for a store of one configuration; nil for all.
  package var entityNames: Set<String>?
  /// `NSPersistentStoreForceDestroyOption`.
  package var isForced: Bool = false
  /// Whether a value whose file is gone reads as nil, for looking into copies, or is an error.
  package var readsMissingFilesAsNil: Bool = false

  package init(isReadOnly: Bool = false) { self.isReadOnly = isReadOnly }
}
