/// The state of an object, as bits. Those `ofWork` are changed by `UnitOfWork` only, the others by any code
/// that uses the object.
struct ObjectFlags: OptionSet {
  let rawValue: UInt32

  // MARK: The object's own

  /// Values are not loaded yet (there may be a row already; it has not been read).
  static let fault = ObjectFlags(rawValue: 1 << 0)
  /// Changes are not recorded: the object is being awoken or restored.
  static let untracked = ObjectFlags(rawValue: 1 << 12)
  /// The row no longer exists in the store; all values read as nil.
  static let inaccessible = ObjectFlags(rawValue: 1 << 13)
  /// Every access must be on the context's queue, and is checked: see `ConcurrencyDebug`.
  static let confined = ObjectFlags(rawValue: 1 << 16)
  /// The context was deallocated before the object.
  static let orphaned = ObjectFlags(rawValue: 1 << 17)
  /// Reads are reported to scopes of Swift's Observation: see `NSManagedObjectContext.tracksObservation`.
  static let tracked = ObjectFlags(rawValue: 1 << 18)
  /// There are observers: `observation` is set.
  static let observed = ObjectFlags(rawValue: 1 << 19)
  /// `awakeFromInsert` was called: only once for an object, however often it is inserted.
  static let awoken = ObjectFlags(rawValue: 1 << 20)

  // MARK: The unit of work's

  /// New, changed, or to be deleted, since the last save.
  static let inserted = ObjectFlags(rawValue: 1 << 1)
  static let updated = ObjectFlags(rawValue: 1 << 2)
  static let deleted = ObjectFlags(rawValue: 1 << 3)
  /// Whether the list holds the object (it may stay there after the flag above is gone).
  static let inInsertedList = ObjectFlags(rawValue: 1 << 4)
  static let inUpdatedList = ObjectFlags(rawValue: 1 << 5)
  static let inDeletedList = ObjectFlags(rawValue: 1 << 6)
  /// The same since the last objects-did-change notification.
  static let eventInserted = ObjectFlags(rawValue: 1 << 7)
  static let eventUpdated = ObjectFlags(rawValue: 1 << 8)
  static let eventDeleted = ObjectFlags(rawValue: 1 << 9)
  static let eventRefreshed = ObjectFlags(rawValue: 1 << 10)
  static let eventInvalidated = ObjectFlags(rawValue: 1 << 21)
  static let inEventList = ObjectFlags(rawValue: 1 << 11)
  /// The object's delete rules have been applied.
  static let propagated = ObjectFlags(rawValue: 1 << 14)
  /// A delete rule, not the program, has deleted the object.
  static let cascaded = ObjectFlags(rawValue: 1 << 25)
  /// Another context has deleted the row, and that was merged: nothing is saved for it. The flag stays after
  /// the object has left.
  static let remotelyDeleted = ObjectFlags(rawValue: 1 << 23)
  /// `willSave` was called in the current save, and nothing changed since.
  static let notifiedWillSave = ObjectFlags(rawValue: 1 << 15)
  /// Validated in the current save, and not changed since.
  static let validated = ObjectFlags(rawValue: 1 << 24)
  /// An undo can restore the deleted object, with its relationships: see `UndoRetention`.
  static let undoable = ObjectFlags(rawValue: 1 << 22)

  // MARK: Groups

  static let own: ObjectFlags = [
    .fault, .untracked, .inaccessible, .confined, .orphaned, .tracked, .observed, .awoken,
  ]
  static let ofLists: ObjectFlags = [.inInsertedList, .inUpdatedList, .inDeletedList]
  /// The flags that a rollback removes.
  static let ofChanges: ObjectFlags = ofLists.union([.inserted, .updated, .deleted, .propagated])
  /// The steps of a save that the object has passed before it is written.
  static let ofPreparation: ObjectFlags = [.notifiedWillSave, .validated]
  /// Flags that end with the event.
  static let event: ObjectFlags = [
    .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed, .eventInvalidated, .inEventList,
  ]
  static let ofWork: ObjectFlags = ofChanges.union(event).union(ofPreparation)
    .union([.cascaded, .remotelyDeleted, .undoable])
  /// If of these the two of an insertion alone are set, setting a value takes nothing but the value.
  static let whenNewAndQuiet: ObjectFlags = [
    .inserted, .eventInserted, .fault, .confined, .orphaned, .tracked, .observed, .untracked,
  ]
  /// With any of these an access must do more than read the value. This is one test for every read.
  static let slowAccess: ObjectFlags = [.fault, .confined, .orphaned, .tracked]
}
