import Foundation

/// Releases the references of deallocated objects, one object after another.
///
/// An object retains its relationship targets. If its deinitialiser released them, a chain of a hundred
/// thousand objects that only refer to each other would need as many nested calls and overflow the stack. So
/// a deinitialiser that runs inside another one only appends its slots to a list of its thread, and the
/// outermost one empties the list.
enum DeferredRelease {
  /// Releases the slots of an object whose deinitialiser is running.
  static func release(_ state: inout ObjectState?, of runtime: EntityRuntime) {
    guard holdsObjects(state, runtime) else { return }
    ThreadLocalState.ofThisThread.releases.release(&state)
  }

  /// The slots that a thread must still release.
  final class Queue {
    private var states: [ObjectState?] = []
    private var isBusy = false

    fileprivate func release(_ state: inout ObjectState?) {
      // Swapped, so that no variable here retains the slots longer than the list does.
      states.append(nil)
      swap(&states[states.count - 1], &state)
      if isBusy { return }
      isBusy = true
      while !states.isEmpty { releaseLast() }
      isBusy = false
    }

    /// The release may append: it must not run during an access to the list.
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
  /// Loaded relationships form cycles of objects; without their context they are of no use, so they are
  /// removed. An object that is in a context, or back in one, keeps them.
  final func releaseRelationships() {
    guard identityMap == nil, let state else { return }
    for slot in runtime.relationshipSlots { state.values[slot] = .unset }
  }
}
