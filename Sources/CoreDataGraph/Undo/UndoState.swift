import Foundation

/// A context's state for undo and redo. The actions themselves are in the undo manager, as `ObjectMemento`s.
///
///     retentions              deleted object → its `UndoRetention`, weakly.
///                             Exists as long as an action that can restore the object
///     deletions               objects whose deletion was saved and can be undone, weakly. They have left the
///                             context with their relationships, which keep them alive until they are released.
///                             Until the rollback, the reset or the end of the context
///     changesOfEarlierSteps   object → those of its changes in the event that an earlier step undoes.
///                             Until the end of the event
///     isPerforming            changes are being undone or redone: nothing is recorded
///     hadRemoteDeletions      an undo has to look for objects that another context has deleted.
///                             Never reset
///     checkpoint              the observer that ends the event before the undo manager closes a group.
///                             As long as the manager is set
struct UndoState {
  private struct Weak {
    weak var retention: UndoRetention?
  }

  private var retentions: [ObjectIdentifier: Weak] = [:]
  private var deletions = WeakObjects()
  private var changesOfEarlierSteps: [ObjectIdentifier: ChangesOfEarlierStep] = [:]
  private(set) var isPerforming = false
  private(set) var hadRemoteDeletions = false
  private var checkpoint: (any NSObjectProtocol)?

  // MARK: Deleted objects

  /// The single retention of an object; a new one if no action has one.
  mutating func retention(of object: NSManagedObject, in context: NSManagedObjectContext) -> UndoRetention {
    if let known = retentions[ObjectIdentifier(object)]?.retention { return known }
    let made = UndoRetention(object, context)
    retentions[ObjectIdentifier(object)] = Weak(retention: made)
    return made
  }

  mutating func removeRetention(of object: NSManagedObject) { retentions[ObjectIdentifier(object)] = nil }

  /// The last step that restores a deleted object.
  func deletion(of object: NSManagedObject) -> UndoStep? {
    retentions[ObjectIdentifier(object)]?.retention?.deletion
  }

  func retains(_ object: NSManagedObject) -> Bool { retentions[ObjectIdentifier(object)]?.retention != nil }

  /// The deletion of objects was saved, here or by another context.
  mutating func recordSavedDeletions(_ objects: [NSManagedObject]) { deletions.append(objects) }

  var objectsWithSavedDeletion: [NSManagedObject] { deletions.objects }

  mutating func releaseSavedDeletions() { deletions.releaseRelationships() }

  mutating func recordRemoteDeletion() { hadRemoteDeletions = true }

  // MARK: Changes that belong to an earlier step

  mutating func recordChangesOfEarlierStep(
    _ places: Range<Int>, isDeletion: Bool, of object: NSManagedObject
  ) {
    changesOfEarlierSteps[ObjectIdentifier(object), default: ChangesOfEarlierStep()].places
      .insert(integersIn: places)
    if isDeletion { changesOfEarlierSteps[ObjectIdentifier(object)]?.hasDeletion = true }
  }

  /// Called at the end of an event.
  mutating func removeChangesOfEarlierSteps() -> [ObjectIdentifier: ChangesOfEarlierStep] {
    if changesOfEarlierSteps.isEmpty { return [:] }
    defer { changesOfEarlierSteps = [:] }
    return changesOfEarlierSteps
  }

  // MARK: Undo and redo

  mutating func begin() { isPerforming = true }

  mutating func end() { isPerforming = false }

  // MARK: The undo manager

  mutating func observeCheckpoints(
    of manager: UndoManager, _ endEvent: @escaping @Sendable (Notification) -> Void
  ) {
    checkpoint = NotificationCenter.default.addObserver(
      forName: .NSUndoManagerCheckpoint, object: manager, queue: nil, using: endEvent)
  }

  mutating func stopObserving() {
    if let checkpoint { NotificationCenter.default.removeObserver(checkpoint) }
    checkpoint = nil
  }
}
