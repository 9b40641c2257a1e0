import Foundation

/// What a thread is executing, for code that may be called recursively. Kept for each thread and not as
/// task-local values: a `Task { … }` that an accessor of the program starts no longer runs within the
/// accessor, and setting a task-local value allocates each time.
final class ThreadLocalState {
  /// The running accessors, each for one object.
  var running: Set<RunningAccessor> = []
  /// Property names refer to slots, without accessors, and decimals are rounded: a fetch compares stored
  /// values.
  var readsPersistedValues = false
  /// One entry for each caller that can throw the error of `value(forUndefinedKey:)`, innermost last: nil
  /// until there is an error.
  var refusals: [(any Error)?] = []
  /// The class whose accessors are being read.
  var listingClass: NSManagedObject.Type?
  /// Whether `entity()` of a class is called only for the name.
  var needsNameOnly = false
  /// References of deallocated objects that must still be released.
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

  /// Runs a body with one property set, and restores it.
  func with<Value, Result>(
    _ note: ReferenceWritableKeyPath<ThreadLocalState, Value>, _ value: Value, _ body: () throws -> Result
  ) rethrows -> Result {
    let before: Value = self[keyPath: note]
    self[keyPath: note] = value
    defer { self[keyPath: note] = before }
    return try body()
  }
}

/// An accessor that is running for an object, or is about to.
struct RunningAccessor: Hashable {
  let accessor: ObjectIdentifier
  let object: ObjectIdentifier
  let isWriting: Bool
}
