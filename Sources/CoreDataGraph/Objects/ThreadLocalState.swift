import Foundation

/// What a thread is in the middle of, for code that is called again from within. Kept by thread and not as
/// task-local values: what an accessor of the program starts with `Task { … }` is no longer within it, and a
/// task-local value costs an allocation each time it is set.
final class ThreadLocalState {
  /// The accessors that run, each for one object.
  var running: Set<RunningAccessor> = []
  /// Property names go to slots, past accessors, and decimals are rounded: a fetch compares what is stored.
  var readsPersistedValues = false
  /// Those who can throw what `value(forUndefinedKey:)` refuses, innermost last: nil as long as
  /// nothing was refused.
  var refusals: [(any Error)?] = []
  /// The class that is being asked for its accessors.
  var asked: NSManagedObject.Type?
  /// A class is asked for its entity, but only the name counts.
  var needsNameOnly = false
  /// What dead objects held and is still to be released.
  let releases = DeferredRelease.Queue()

  #if os(Windows)
    static var ofThisThread: ThreadLocalState {
      let storage: NSMutableDictionary = Thread.current.threadDictionary
      if let known = storage["clarus.notes"] as? ThreadLocalState { return known }
      let made = ThreadLocalState()
      storage["clarus.notes"] = made
      return made
    }
  #else
    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      let result: Int32 = pthread_key_create(&key) { pointer in
        // Darwin imports the parameter as not optional.
        let pointer: UnsafeMutableRawPointer? = pointer
        if let pointer { Unmanaged<ThreadLocalState>.fromOpaque(pointer).release() }
      }
      precondition(result == 0, "No thread-specific data left (pthread_key_create gave \(result)).")
      return key
    }()

    static var ofThisThread: ThreadLocalState {
      if let known = pthread_getspecific(key) {
        return Unmanaged<ThreadLocalState>.fromOpaque(known).takeUnretainedValue()
      }
      let made = ThreadLocalState()
      pthread_setspecific(key, Unmanaged.passRetained(made).toOpaque())
      return made
    }
  #endif

  /// Runs a body with one note set, and puts it back.
  func with<Value, Result>(
    _ note: ReferenceWritableKeyPath<ThreadLocalState, Value>, _ value: Value, _ body: () throws -> Result
  ) rethrows -> Result {
    let before: Value = self[keyPath: note]
    self[keyPath: note] = value
    defer { self[keyPath: note] = before }
    return try body()
  }
}

/// An accessor that runs for an object, or is about to.
struct RunningAccessor: Hashable {
  let accessor: ObjectIdentifier
  let object: ObjectIdentifier
  let isWriting: Bool
}
