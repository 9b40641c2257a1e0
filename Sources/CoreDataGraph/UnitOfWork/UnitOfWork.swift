import Foundation

/// The changes of a context's objects since its last save, and in the current event.
///
/// The flags of an object are its state (`ObjectFlags.ofWork`); the lists give the order in which objects got
/// these flags. So recording a change is O(1), and so is discarding one: a list may contain an object whose
/// flag was removed, until it is emptied. Flags of the unit of work are changed only here (`FlagKey`).
///
/// Each list, what it holds, and how long an object stays in it:
///
///     inserted             inserted objects, each once.
///                          Until the save, rollback or reset, or until they leave unsaved
///     updated              changed objects, each once.
///                          The same, or until a merge reports that another context has deleted them
///     deleted              objects that the program, a delete rule or an undo deleted, each once.
///                          The same
///     event                objects with an event flag, each once.
///                          Until the end of the event
///     pendingPropagation   deleted objects whose delete rules have not been applied.
///                          Until the end of the event or the save applies them
///     lockChecked          unchanged objects whose version the next save compares.
///                          Until that save or the reset
///     filteredToManys      loaded members without some that are to be deleted or got another owner here.
///                          Until the save, or until deletions or such changes are discarded
///     assignedStores       new object → store, from `assign(_:to:)`.
///                          Until the save, rollback or reset, or until the store is removed
///     remotelyDeleted      objects that another context has deleted, weakly.
///                          Until the save or reset, or until they are deallocated
///     announced            the inserted objects of the last event in a save, and the deleted ones.
///                          Until the did-save notification, which reuses the sets
///     delivered            object → its state before the event.
///                          While the end of the event is notified; `deliveredOutside` holds it while an
///                          observer's save ends another event
///     postponed            events that ended when an observer of a notification saved.
///                          Until they are notified, at the next end of an event, or the reset
///
/// And four states: `epoch` rises with every change, also with one whose event has ended; `isSaving` and
/// `isEndingEvent` prevent observers from starting another save or event end during one; `preparation` keeps
/// the undo group open until the changes of a save are complete.
///
/// Nothing here calls the program, a store or the context, so no operation is entered while another one runs.
/// Used on the context's queue only. `checkInvariants()` of the context checks what holds between operations.
struct UnitOfWork {
  private(set) var inserted: [NSManagedObject] = []
  private(set) var updated: [NSManagedObject] = []
  private(set) var deleted: [NSManagedObject] = []
  private(set) var event: [NSManagedObject] = []
  private(set) var pendingPropagation: [NSManagedObject] = []
  private(set) var lockChecked: [NSManagedObject] = []
  private var filteredToManys: [ToManyState] = []
  private var assignedStores: [ObjectIdentifier: NSPersistentStore] = [:]
  private var remotelyDeleted = WeakObjects()
  private(set) var announced = Announcement()
  private var delivered = DeliveredEvent()
  private var deliveredOutside = DeliveredEvent()
  private var postponed: [DeliveredEvent] = []
  private(set) var epoch: UInt64 = 0
  private(set) var isSaving = false
  private var eventEnd: EventEnd = .none
  private var savesInObserver = false
  private var preparation: Preparation = .none

  private enum EventEnd {
    case none
    /// Nobody is told yet.
    case ending
    case notifying
    /// An observer of the notification saves: its own event ends.
    case endingInObserver
  }

  /// The part of a save in which the program may change what is saved.
  private enum Preparation {
    case none
    case underWay
    /// An event has ended: the undo group is to be closed.
    case hasEndedEvent
  }

  /// Objects of the last event in a save, as its notification has them.
  struct Announcement {
    var inserted: Set<NSManagedObject> = []
    /// Empty if the notification has others than those that the save deletes.
    var deleted: Set<NSManagedObject> = []
  }

  /// Allows its owner to change flags of the unit of work; only this file can make one.
  struct FlagKey {
    fileprivate init() {}
  }

  // MARK: State

  var objectsDeletedRemotely: [NSManagedObject] { remotelyDeleted.objects }

  var hasAssignedStores: Bool { !assignedStores.isEmpty }

  func assignedStore(of object: NSManagedObject) -> NSPersistentStore? {
    assignedStores[ObjectIdentifier(object)]
  }

  // MARK: Recording changes
  // Those that return a Bool return whether the change is the first one of an event.

  mutating func recordInsertion(of object: NSManagedObject) -> Bool {
    object.change(adding: .inserted, removing: .remotelyDeleted)
    if !object.flags.contains(.inInsertedList) {
      object.change(adding: .inInsertedList)
      inserted.append(object)
    }
    return recordEvent(.eventInserted, of: object)
  }

  /// A value was set. A new object stays inserted.
  mutating func recordUpdate(of object: NSManagedObject) -> Bool {
    if !object.flags.contains(.inserted) {
      object.change(adding: .updated)
      if !object.flags.contains(.inUpdatedList) {
        object.change(adding: .inUpdatedList)
        updated.append(object)
      }
    }
    return recordEvent(.eventUpdated, of: object)
  }

  /// - Parameters:
  ///   - isCascaded: a delete rule, not the program, has deleted the object.
  ///   - isPropagated: its delete rules are not to be applied, because their changes are made elsewhere.
  mutating func recordDeletion(
    of object: NSManagedObject, isCascaded: Bool = false, isPropagated: Bool = false
  ) -> Bool {
    object.change(adding: isPropagated ? [.deleted, .propagated] : .deleted)
    if isCascaded { object.change(adding: .cascaded) }
    if !object.flags.contains(.inDeletedList) {
      object.change(adding: .inDeletedList)
      deleted.append(object)
    }
    if !object.flags.contains(.propagated) { pendingPropagation.append(object) }
    return recordEvent(.eventDeleted, of: object)
  }

  /// The program deletes an object, which a delete rule may have deleted before.
  func recordDeletionByProgram(of object: NSManagedObject) { object.change(removing: .cascaded) }

  /// The row of an object that was to be loaded no longer exists: there is nothing to delete.
  mutating func recordMissingRow(of object: NSManagedObject) -> Bool {
    object.change(adding: .deleted)
    return recordEvent(.eventInvalidated, of: object)
  }

  /// Another context has deleted the rows of objects: nothing is saved for them.
  mutating func recordRemoteDeletion(of objects: [NSManagedObject]) -> Bool {
    var isFirst = false
    for object in objects {
      // The other context has applied the delete rules.
      object.change(
        adding: [.deleted, .propagated, .remotelyDeleted],
        removing: ObjectFlags.ofLists.union(.updated))
      if recordEvent(.eventDeleted, of: object) { isFirst = true }
    }
    for list in [\UnitOfWork.inserted, \.updated, \.deleted, \.pendingPropagation, \.lockChecked] {
      self[keyPath: list].removeAll { $0.flags.contains(.remotelyDeleted) }
    }
    remotelyDeleted.append(objects)
    return isFirst
  }

  /// An object changed in this event in the way of one of the event flags.
  mutating func recordEvent(_ kind: ObjectFlags, of object: NSManagedObject) -> Bool {
    assert(kind.isSubset(of: .event))
    epoch &+= 1
    let isListed: Bool = object.flags.contains(.inEventList)
    object.change(adding: kind.union(.inEventList), removing: .ofPreparation)
    if isListed { return false }
    event.append(object)
    return event.count == 1
  }

  // MARK: Discarding changes

  /// The object has the values of its row again.
  func discardUpdate(of object: NSManagedObject) { object.change(removing: .updated) }

  /// Another context has inserted the object's row: the insertion becomes an update.
  func discardInsertion(of object: NSManagedObject) { object.change(removing: .inserted) }

  /// The object will be read again, and nothing of it saved; a new one stays new.
  func discardUpdateAndDeletion(of object: NSManagedObject) {
    object.change(removing: [.updated, .deleted, .propagated])
  }

  /// A new object that was deleted is inserted again.
  func discardDeletion(ofUnsaved object: NSManagedObject) { object.change(removing: .deleted) }

  /// An undo reverts a deletion.
  func undoDeletion(of object: NSManagedObject) {
    object.change(removing: [.deleted, .propagated, .remotelyDeleted])
  }

  /// A merge policy reverts a deletion: no notification is posted.
  mutating func reverseDeletion(of object: NSManagedObject) {
    announced.deleted = []
    object.change(removing: [.deleted, .propagated, .cascaded, .eventDeleted])
  }

  /// A row exists again under the id of one that another context deleted.
  func reverseRemoteDeletion(of object: NSManagedObject) {
    object.change(removing: [.remotelyDeleted, .deleted, .propagated, .updated])
  }

  /// An object returns to its snapshot: neither new nor changed nor deleted.
  func discardChanges(of object: NSManagedObject) { object.change(removing: .ofChanges) }

  /// An object leaves the context.
  func discard(_ object: NSManagedObject) { object.change(removing: .ofChanges.union(.event)) }

  /// Empties the lists for a rollback. Returns the objects that were in a list of changes, in the order of
  /// the lists; some may be in several.
  mutating func beginRollback() -> [NSManagedObject] {
    let pending: [NSManagedObject] = inserted + updated + deleted
    // Also for those that keep their flags; objects that are restored are listed again.
    for object in pending { object.change(removing: .ofLists) }
    for object in event { object.change(removing: .event) }
    inserted = []
    updated = []
    deleted = []
    pendingPropagation = []
    event = []
    assignedStores = [:]
    return pending
  }

  /// Removes everything. The objects have left the context (`discard`).
  mutating func reset() {
    inserted = []
    updated = []
    deleted = []
    event = []
    pendingPropagation = []
    lockChecked = []
    filteredToManys = []
    assignedStores = [:]
    remotelyDeleted = WeakObjects()
    announced = Announcement()
    postponed = []
  }

  /// Called after a change of many objects at once.
  mutating func advanceEpoch() { epoch &+= 1 }

  /// Removes objects from all lists that are no longer in the context: inserted again, they would be in a
  /// list twice.
  mutating func removeObjects(outside identityMap: IdentityMap) {
    for list in [
      \UnitOfWork.inserted, \.updated, \.deleted, \.event, \.pendingPropagation, \.lockChecked,
    ] {
      self[keyPath: list].removeAll { $0.identityMap !== identityMap }
    }
  }

  // MARK: Delete propagation

  var hasPendingPropagation: Bool { !pendingPropagation.isEmpty }

  /// Removes and returns the objects whose delete rules are to be applied, and those whose deletion was
  /// reverted since. Applying them may record more.
  mutating func removePendingPropagation() -> [NSManagedObject] {
    defer { pendingPropagation = [] }
    return pendingPropagation
  }

  /// An object's delete rules are being applied.
  func recordPropagation(of object: NSManagedObject) { object.change(adding: .propagated) }

  /// An object's delete rules must be applied again, to members that the store has by now; Deny is checked
  /// again.
  mutating func repeatPropagation(of object: NSManagedObject) {
    object.change(removing: [.propagated, .validated])
    pendingPropagation.append(object)
  }

  // MARK: The end of an event

  /// The set of the notification that contains an object. The first that fits counts.
  enum Outcome {
    /// New and deleted: it leaves the context and is notified as deleted, also within one event, because a
    /// fetch may have returned it.
    case discarded
    case deleted, inserted, updated, invalidated, refreshed
    case nothing
  }

  /// Whether an event is being ended, or notified.
  var isEndingEvent: Bool { eventEnd != .none }

  /// False while an event is being ended, unless an observer of its notification saves.
  var canEndEvent: Bool { eventEnd == .none || (eventEnd == .notifying && savesInObserver) }

  /// Whether the event that is being ended is that of an observer that saves.
  var isEndingEventInObserver: Bool { eventEnd == .endingInObserver }

  /// Begins to end the event. Returns its objects; nil if there are none, or if an event is being ended.
  mutating func beginEndOfEvent() -> [NSManagedObject]? {
    guard canEndEvent, !event.isEmpty else { return nil }
    eventEnd = eventEnd == .notifying ? .endingInObserver : .ending
    deliveredOutside = delivered
    delivered = DeliveredEvent()
    defer { event = [] }
    return event
  }

  mutating func beginNotification() { eventEnd = .notifying }

  /// The event that is being ended is notified later.
  mutating func postponeNotification(_ info: [AnyHashable: Any]) {
    delivered.info = info
    postponed.append(delivered)
  }

  var postponedCount: Int { postponed.count }

  /// Begins to notify the first event that was postponed. Returns what the notification says; nil if there
  /// is none, or if another one is being notified.
  mutating func beginPostponedNotification() -> [AnyHashable: Any]? {
    if isEndingEvent || postponed.isEmpty { return nil }
    eventEnd = .notifying
    delivered = postponed.removeFirst()
    return delivered.info
  }

  /// Ends the event for one object.
  func endEvent(of object: NSManagedObject) -> Outcome {
    let flags: ObjectFlags = object.flags
    object.change(removing: .event)
    if flags.isSuperset(of: [.inserted, .deleted]) { return .discarded }
    if flags.contains(.eventDeleted) { return .deleted }
    if flags.contains(.eventInserted) { return .inserted }
    if flags.contains(.eventUpdated) { return .updated }
    if flags.contains(.eventInvalidated) { return .invalidated }
    if flags.contains(.eventRefreshed) { return .refreshed }
    return .nothing
  }

  /// The event's inserted and deleted objects are notified.
  mutating func recordAnnouncement(_ sets: Announcement) { announced = isSaving ? sets : Announcement() }

  /// The state of an object before the event that ends.
  mutating func recordDelivery(of object: NSManagedObject, _ changes: [EventChange]) {
    delivered.append(object, changes)
  }

  /// Changes whose event has ended, and whose notification is being posted or will be.
  mutating func deliveredChanges(of object: NSManagedObject) -> [EventChange] {
    var changes: [EventChange] = delivered.changes(of: object)
    for place in postponed.indices { changes += postponed[place].changes(of: object) }
    return changes
  }

  mutating func finishEndOfEvent() {
    eventEnd = eventEnd == .endingInObserver ? .notifying : .none
    delivered = deliveredOutside
    deliveredOutside = DeliveredEvent()
  }

  // MARK: Saving

  /// False if a save is in progress.
  mutating func beginSave() -> Bool {
    if isSaving { return false }
    isSaving = true
    preparation = .underWay
    savesInObserver = eventEnd == .notifying
    return true
  }

  /// Whether the undo group is closed later, because the changes of a save are not complete yet.
  mutating func postponeUndoGroup() -> Bool {
    if preparation == .none { return false }
    preparation = .hasEndedEvent
    return true
  }

  /// The changes of a save are complete. Returns whether an undo group is to be closed.
  mutating func finishPreparing() -> Bool {
    defer { preparation = .none }
    return preparation == .hasEndedEvent
  }

  /// `willSave` is called; a change of the object requires another call.
  func recordWillSave(of object: NSManagedObject) { object.change(adding: .notifiedWillSave) }

  /// The object is validated; a change of it requires that again.
  func recordValidation(of object: NSManagedObject) { object.change(adding: .validated) }

  func finishPreparation(of objects: [NSManagedObject]) {
    for object in objects { object.change(removing: .ofPreparation) }
  }

  /// An inserted or updated object is saved to the store, or to the parent.
  func recordSave(of object: NSManagedObject) {
    object.change(removing: [.inserted, .updated, .inInsertedList, .inUpdatedList])
  }

  /// A store has saved its part of the changes and a later one has refused: removes objects without pending
  /// changes from the lists.
  mutating func removeSaved() {
    Self.removeUnflagged(&inserted, .inserted, .inInsertedList)
    Self.removeUnflagged(&updated, .updated, .inUpdatedList)
    Self.removeUnflagged(&deleted, .deleted, .inDeletedList)
  }

  private static func removeUnflagged(
    _ list: inout [NSManagedObject], _ flag: ObjectFlags, _ mark: ObjectFlags
  ) {
    for object in list where !object.flags.contains(flag) { object.change(removing: mark) }
    list.removeAll { !$0.flags.contains(flag) }
  }

  /// Everything is saved: nothing is left to save.
  mutating func finishSave() {
    assignedStores = [:]
    lockChecked = []
    filteredToManys = []
    // Objects that were in a list and had nothing to save (undone, merged) are removed too.
    for object in inserted { object.change(removing: .inInsertedList) }
    for object in updated { object.change(removing: .inUpdatedList) }
    for object in deleted where !object.flags.contains(.deleted) { object.change(removing: .inDeletedList) }
    inserted = []
    updated = []
    deleted = []
  }

  /// The row of a deleted object was deleted; until its observers are notified (`finishDeletion`) it still
  /// reads as deleted.
  func recordSavedDeletion(of object: NSManagedObject) {
    object.change(removing: [.inDeletedList, .propagated, .updated, .inUpdatedList])
  }

  func finishDeletion(of object: NSManagedObject) { object.change(removing: .deleted) }

  /// Ends a save, successful or not. What it has not saved stays pending.
  mutating func endSave() {
    isSaving = false
    savesInObserver = false
  }

  /// Called after the did-save notification was posted.
  mutating func removeAnnouncement() { announced = Announcement() }

  /// Removes and returns the objects that other contexts have deleted: they leave after a save.
  mutating func removeRemotelyDeleted() -> [NSManagedObject] {
    defer { remotelyDeleted = WeakObjects() }
    return remotelyDeleted.objects
  }

  // MARK: Further data for a save

  mutating func checkLock(of object: NSManagedObject) { lockChecked.append(object) }

  /// For a save request, which names the objects to be checked. Returns those that the context's own save
  /// checks.
  mutating func replaceLockChecked(by objects: [NSManagedObject]) -> [NSManagedObject] {
    defer { lockChecked = objects }
    return lockChecked
  }

  mutating func assign(_ object: NSManagedObject, to store: NSPersistentStore) {
    assignedStores[ObjectIdentifier(object)] = store
  }

  mutating func replaceAssignments(to old: NSPersistentStore, by new: NSPersistentStore) {
    assignedStores = assignedStores.mapValues { $0 === old ? new : $0 }
  }

  // MARK: Members without those that have left

  mutating func recordFiltering(of many: ToManyState) { filteredToManys.append(many) }

  /// Deletions or to-ones are reverted: members that were loaded without the objects must be loaded again.
  mutating func unloadFilteredToManys() {
    for many in filteredToManys where many.members != nil { many.unload() }
    filteredToManys = []
  }

  // MARK: Undo

  /// An undo, or a redo, can restore the object: see `UndoRetention`.
  static func setUndoable(_ object: NSManagedObject, _ isUndoable: Bool) {
    if isUndoable { object.change(adding: .undoable) } else { object.change(removing: .undoable) }
  }
}

extension NSManagedObject {
  @inline(__always)
  fileprivate final func change(adding new: ObjectFlags = [], removing old: ObjectFlags = []) {
    changeWorkFlags(adding: new, removing: old, UnitOfWork.FlagKey())
  }
}
