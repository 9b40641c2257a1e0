import Foundation

/// Releases what dead objects held, one object after another.
///
/// An object keeps its relationship targets alive. Were they released by its deinitialiser, a chain of a
/// hundred thousand objects that only hold each other would need as many nested calls, which no stack has. So
/// a deinitialiser that runs inside another one only puts its slots on a list of its thread, and the
/// outermost one empties the list.
enum DeferredRelease {
  /// Releases the slots of an object whose deinitialiser runs.
  static func release(_ state: inout ObjectState?, of runtime: EntityRuntime) {
    guard holdsObjects(state, runtime) else { return }
    ThreadLocalState.ofThisThread.releases.release(&state)
  }

  /// The slots that a thread has still to release.
  final class Queue {
    private var states: [ObjectState?] = []
    private var isBusy = false

    fileprivate func release(_ state: inout ObjectState?) {
      // Swapped, so that no variable here holds the slots any longer than the list does.
      states.append(nil)
      swap(&states[states.count - 1], &state)
      if isBusy { return }
      isBusy = true
      while !states.isEmpty { releaseLast() }
      isBusy = false
    }

    /// The release may append: it must not happen inside an access to the list.
    private func releaseLast() {
      var last: ObjectState?
      swap(&last, &states[states.count - 1])
      states.removeLast()
      last = nil
    }
  }

  private static func holdsObjects(_ state: ObjectState?, _ runtime: EntityRuntime) -> Bool {
    guard let state else { return false }
    return runtime.relationshipSlots.contains { slot in
      if case .object = state.values[slot] { return true }
      return false
    }
  }
}

extension NSManagedObject {
  /// Loaded relationships make cycles of objects; without their context they are of no use, so they are cut.
  /// An object that is in a context, or back in one, keeps them.
  final func releaseRelationships() {
    guard identityMap == nil, let state else { return }
    for slot in runtime.relationshipSlots { state.values[slot] = .unset }
  }
}
