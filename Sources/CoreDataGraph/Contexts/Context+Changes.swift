import CoreDataModel
import CoreDataStorage
import Foundation

// Deletion, the end of an event, and rollback.

extension NSManagedObjectContext {
  // MARK: Recording

  final func noteInsertion(of object: NSManagedObject) {
    if !object.flags.contains(.inInsertedList) { retained.record(object) }
    beginEvent(if: work.recordInsertion(of: object))
  }

  /// Called after an object's value was set.
  final func noteChange(of object: NSManagedObject) { beginEvent(if: work.recordUpdate(of: object)) }

  final func noteEvent(_ flag: ObjectFlags, of object: NSManagedObject) {
    beginEvent(if: work.recordEvent(flag, of: object))
  }

  /// Marks an object whose row no longer exists.
  final func markInaccessible(_ object: NSManagedObject) {
    beginEvent(if: work.recordMissingRow(of: object))
  }

  /// Called after the first change of an event: on the main queue, the end of the event must be scheduled.
  @inline(__always)
  final func beginEvent(if isFirst: Bool) {
    if isFirst, concurrencyType == .mainQueueConcurrencyType { scheduleEventEnd() }
  }

  // MARK: Deletion

  final func deleteObject(_ object: NSManagedObject) {
    requireQueue("delete(_:) was called")
    guard object.identityMap === identityMap else {
      if object.identityMap == nil { return }
      fatalError(
        "An NSManagedObjectContext cannot delete objects in other contexts (\(object.objectID)); use object(with:)."
      )
    }
    work.recordDeletionByProgram(of: object)
    guard !object.flags.contains(.deleted) else { return }
    // The object is loaded, because the save deletes exactly the version that was read; a row that no longer
    // exists needs no deletion.
    loadForDeletion(object)
    guard !object.flags.contains(.inaccessible) else { return }
    object.prepareForDeletion()
    markDeleted(object)
  }

  /// A row that can't be read stops no deletion: the save throws the reason, if it still can't be read then.
  private func loadForDeletion(_ object: NSManagedObject) {
    guard object.needsSlowAccess else { return }
    let failures: [ReadFailure] = collectingReadFailures { object.fireFault() }.failures
    if !failures.isEmpty { unreadDeletions.append(UnreadDeletion(object: object, slots: [])) }
  }

  final func markDeleted(_ object: NSManagedObject, isCascaded: Bool = false) {
    beginEvent(if: work.recordDeletion(of: object, isCascaded: isCascaded))
  }

  /// A relationship without inverse, or one that a delete rule leaves alone, may refer to an object that the
  /// same save deletes. The value to be written is cleared, so that no row refers to a deleted one.
  final func clearReferences(toDeletedIn changes: PendingChanges) {
    if changes.deleted.isEmpty { return }
    for object in changes.inserted + changes.updated {
      guard let state = object.state else { continue }
      for slot in object.runtime.relationshipSlots where object.isInserted || state.changed.contains(slot) {
        if let many = state.toMany(slot) {
          for member in many.added where member.isToBeDeleted { object.removeMember(slot, member) }
        } else if let target = state.values[slot].target, target.isToBeDeleted {
          object.writeToOne(slot, nil)
        }
      }
    }
  }

  // MARK: The end of an event

  /// Ends the event: applies delete rules, registers what can be undone, and notifies observers.
  ///
  /// An observer that calls this changes nothing: its changes are the next event's. An observer that *saves*
  /// ends its event, because undo needs the objects' state before the save; that event is notified at the
  /// end of the next one, so that an observer that always saves can't cause endless notifications.
  final func endEvent() {
    requireQueue("processPendingChanges() was called")
    if identityMap.observesRegistration { identityMap.registrations.post() }
    guard work.canEndEvent else { return }
    if work.hasPendingPropagation, propagatesDeletesAtEndOfEvent || work.isSaving { propagateDeletes() }
    postEndedEvents()
    guard let objects = work.beginEndOfEvent() else { return }
    defer { work.finishEndOfEvent() }
    recordEvent(of: objects)
    defer { if !work.isEndingEventInObserver { closeUndoGroup() } }
    let info: [AnyHashable: Any] = close(objects)
    if info.isEmpty { return }
    if work.isEndingEventInObserver {
      work.postponeNotification(info)
    } else {
      work.beginNotification()
      postChange(info)
    }
  }

  /// Events that ended when an observer saved. Not those that end so meanwhile.
  private func postEndedEvents() {
    for _ in 0..<work.postponedCount {
      guard let info = work.beginPostponedNotification() else { return }
      defer { work.finishEndOfEvent() }
      defer { closeUndoGroup() }
      postChange(info)
    }
  }

  /// The events until the changes of a save are complete are one step: what observers of the will-save
  /// notification and `willSave()` change is undone with what they saw.
  private func closeUndoGroup() {
    if !work.postponeUndoGroup() { undoManager?.closeEventGroup() }
  }

  /// Called when the changes of a save are complete, or when the save fails.
  final func finishPreparing() {
    if work.finishPreparing(), !work.isEndingEvent { undoManager?.closeEventGroup() }
  }

  /// Ends the event of each object. Returns what the notification says about them.
  private func close(_ objects: [NSManagedObject]) -> [AnyHashable: Any] {
    // Arrays first: a set that is made from an array has the right capacity at once.
    var insertedNow: [NSManagedObject] = []
    var updatedNow: [NSManagedObject] = []
    var deletedNow: [NSManagedObject] = []
    var refreshedNow: [NSManagedObject] = []
    var invalidatedNow: [NSManagedObject] = []
    var hasRemoved = false
    for object in objects {
      switch work.endEvent(of: object) {
      case .discarded:
        removeUnsaved(object)
        hasRemoved = true
        deletedNow.append(object)
      case .deleted: deletedNow.append(object)
      case .inserted: insertedNow.append(object)
      case .updated: updatedNow.append(object)
      case .invalidated: invalidatedNow.append(object)
      case .refreshed: refreshedNow.append(object)
      case .nothing: break
      }
    }
    if hasRemoved {
      work.removeObjects(outside: identityMap)
      retained.removeObjects(outside: identityMap)
    }
    let insertions: Set<NSManagedObject> = Set(spaced: insertedNow)
    let deletions: Set<NSManagedObject> = Set(spaced: deletedNow)
    let areToBeDeleted: Bool = work.isSaving && deletedNow.allSatisfy(\.isToBeDeleted)
    work.recordAnnouncement(
      UnitOfWork.Announcement(inserted: insertions, deleted: areToBeDeleted ? deletions : []))
    var info: [AnyHashable: Any] = [:]
    if !insertedNow.isEmpty { info[NSInsertedObjectsKey] = insertions }
    if !updatedNow.isEmpty { info[NSUpdatedObjectsKey] = Set(spaced: updatedNow) }
    if !deletedNow.isEmpty { info[NSDeletedObjectsKey] = deletions }
    if !refreshedNow.isEmpty { info[NSRefreshedObjectsKey] = Set(refreshedNow) }
    if !invalidatedNow.isEmpty { info[NSInvalidatedObjectsKey] = Set(invalidatedNow) }
    return info
  }

  /// A new object was deleted before it was saved: the context removes it.
  private func removeUnsaved(_ object: NSManagedObject) {
    // If deletions are propagated only at a save, other objects would still refer to it.
    if !object.flags.contains(.propagated) { propagate(object) }
    detach(object)
  }

  // MARK: Rollback

  final func performRollback() {
    requireQueue("rollback() was called")
    undoManager?.removeAllActions(withTarget: self)
    unreadDeletions = []
    let changed: [NSManagedObject] = work.beginRollback().filter { !$0.flags.contains(.remotelyDeleted) }
    var seen: Set<ObjectIdentifier> = []
    withObservedValues(of: changed) {
      for object in changed where seen.insert(ObjectIdentifier(object)).inserted { rollBack(object) }
    }
    work.unloadFilteredToManys()
    endEvent()
    for object in changed { object.releaseRelationships() }
    retained.removeObjects(outside: identityMap)
    undoState.releaseSavedDeletions()
  }

  private func rollBack(_ object: NSManagedObject) {
    let wasInserted: Bool = object.flags.contains(.inserted) || (!object.hasSource && object.key < 0)
    work.discardChanges(of: object)
    object.removeFlags(.inaccessible)
    if wasInserted {
      detach(object)
      noteRolledBack(object, removed: true)
      return
    }
    if parent != nil, object.row == nil {
      // The object is new in the parent: members that were changed here exist only here.
      object.turnIntoFault()
    } else if let base = object.state?.base {
      let state = ObjectState(values: base)
      state.base = base
      object.state = state
    } else {
      object.state = nil
    }
    object.awakeQuietly { object.awake(fromSnapshotEvents: .rollback) }
    noteRolledBack(object, removed: false)
  }

  private func noteRolledBack(_ object: NSManagedObject, removed: Bool) {
    noteEvent(removed ? .eventDeleted : .eventRefreshed, of: object)
  }
}
