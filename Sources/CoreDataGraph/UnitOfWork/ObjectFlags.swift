/// What an object is in, as bits. Those `ofWork` are changed by `UnitOfWork` only, the object's own by
/// whoever has it.
struct ObjectFlags: OptionSet {
  let rawValue: UInt32

  // MARK: The object's own

  /// Values are not loaded yet (the row may be at hand already; it has not been looked at).
  static let fault = ObjectFlags(rawValue: 1 << 0)
  /// Changes are not recorded: the object is being awoken or restored.
  static let untracked = ObjectFlags(rawValue: 1 << 12)
  /// The row is gone from the store; all values read as nil.
  static let inaccessible = ObjectFlags(rawValue: 1 << 13)
  /// Every access is to be on the context's queue, and is checked: see `ConcurrencyDebug`.
  static let confined = ObjectFlags(rawValue: 1 << 16)
  /// The context went away while the object lived.
  static let orphaned = ObjectFlags(rawValue: 1 << 17)
  /// Reads are reported to scopes of Swift's Observation: see `NSManagedObjectContext.tracksObservation`.
  static let tracked = ObjectFlags(rawValue: 1 << 18)
  /// There are observers: `observation` is set.
  static let observed = ObjectFlags(rawValue: 1 << 19)
  /// `awakeFromInsert` was called: once in an object's life, however often it is inserted.
  static let awoken = ObjectFlags(rawValue: 1 << 20)

  // MARK: Of the unit of work

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
  /// A delete rule has deleted the object, and not the program.
  static let cascaded = ObjectFlags(rawValue: 1 << 25)
  /// Another context has deleted the row, and that was merged: there is nothing to be saved for it. Stays
  /// when the object has left.
  static let remotelyDeleted = ObjectFlags(rawValue: 1 << 23)
  /// `willSave` was called in the running save, and nothing changed since.
  static let notifiedWillSave = ObjectFlags(rawValue: 1 << 15)
  /// Validated in the running save, and not changed since.
  static let validated = ObjectFlags(rawValue: 1 << 24)
  /// An undo can bring the deleted object back, with its relationships: see `UndoRetention`.
  static let undoable = ObjectFlags(rawValue: 1 << 22)

  // MARK: Groups

  static let own: ObjectFlags = [
    .fault, .untracked, .inaccessible, .confined, .orphaned, .tracked, .observed, .awoken,
  ]
  static let ofLists: ObjectFlags = [.inInsertedList, .inUpdatedList, .inDeletedList]
  /// What a rollback takes back.
  static let ofChanges: ObjectFlags = ofLists.union([.inserted, .updated, .deleted, .propagated])
  /// What a save has done with an object before it is written.
  static let ofPreparation: ObjectFlags = [.notifiedWillSave, .validated]
  /// What lasts until the end of the event.
  static let event: ObjectFlags = [
    .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed, .eventInvalidated, .inEventList,
  ]
  static let ofWork: ObjectFlags = ofChanges.union(event).union(ofPreparation)
    .union([.cascaded, .remotelyDeleted, .undoable])
  /// Any of these, and an access has more to do than to look the value up. One test on the way of every read.
  static let attention: ObjectFlags = [.fault, .confined, .orphaned, .tracked]
}
