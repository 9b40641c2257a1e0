import CoreDataStorage
import Foundation

/// The mementos of one event: what one action of the undo manager reverts.
///
/// If another context changes objects that are to be deleted here, their delete rules are applied again to
/// what the store has by then. That is no step of its own: it is added to the step that undoes the deletion.
final class UndoStep {
  private(set) var mementos: [ObjectMemento]

  /// The deleted objects among the mementos lead to this step from now on.
  init(_ mementos: [ObjectMemento]) {
    self.mementos = mementos
    recordDeletions(in: mementos)
  }

  /// Adds what happened after the event. It is reverted first.
  func add(later: [ObjectMemento]) {
    mementos = later + mementos
    recordDeletions(in: later)
  }

  private func recordDeletions(in mementos: [ObjectMemento]) {
    for memento in mementos where memento.life == .returns { memento.retention?.deletion = self }
  }
}

/// Changes of the current event that belong to the step of an earlier one.
struct ChangesOfEarlierStep {
  /// Their places in `ObjectState.event`.
  var places = IndexSet()
  var hasDeletion = false
}

extension NSManagedObjectContext {
  /// Runs `body`, which applies the delete rules of an object again: what it changes is undone with the
  /// deletion. If the deletion can't be undone its consequences can't be, either. Observers are notified of
  /// the changes as of all others.
  final func addToDeletion(of object: NSManagedObject, _ body: () -> Void) {
    // The deletion belongs to the current event, or nothing is undone at all.
    if undoManager == nil || object.flags.contains(.eventDeleted) { return body() }
    var counts: [ObjectIdentifier: Int] = [:]
    var deleted: Set<ObjectIdentifier> = []
    for other in work.event {
      counts[ObjectIdentifier(other)] = other.state?.event.count ?? 0
      if other.flags.contains(.eventDeleted) { deleted.insert(ObjectIdentifier(other)) }
    }
    body()
    let step: UndoStep? = undoState.deletion(of: object)
    var mementos: [ObjectMemento] = []
    for other in work.event {
      let id = ObjectIdentifier(other)
      let places: Range<Int> = (counts[id] ?? 0)..<max(counts[id] ?? 0, other.state?.event.count ?? 0)
      let isDeleted: Bool = other.flags.contains(.eventDeleted) && !deleted.contains(id)
      if places.isEmpty, !isDeleted { continue }
      undoState.recordChangesOfEarlierStep(places, isDeletion: isDeleted, of: other)
      let changes: [EventChange] = other.state?.resumeRecording(after: places) ?? []
      if step == nil { continue }
      mementos.append(
        ObjectMemento(
          object: other, life: isDeleted ? .returns : .stays, changes: changes, row: other.row,
          retention: isDeleted ? undoState.retention(of: other, in: self) : nil))
    }
    if !mementos.isEmpty { step?.add(later: mementos) }
  }
}
