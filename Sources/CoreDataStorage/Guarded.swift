#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Bionic)
  import Bionic
#else
  import Darwin
#endif

/// A value that one thread at a time can access.
///
/// The lock is a pthread mutex, which ThreadSanitizer supports. Off Apple's platforms it does not detect
/// locking of `Synchronization.Mutex` and reports whatever that guards as a race, in every program that uses
/// this package.
///
/// Not re-entrant: calling `withLock` inside `withLock` deadlocks.
///
/// Public, although programs do not import this module: `package` declarations are not inlined into other
/// modules.
@frozen
public struct Guarded<Value>: @unchecked Sendable {
  // Sendable: the storage's value is accessed only while its mutex is locked.
  @usableFromInline let storage: Storage

  @usableFromInline
  final class Storage {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    // The mutex excludes overlapping accesses: within `withLock` another one deadlocks.
    @exclusivity(unchecked) @usableFromInline var value: Value

    @usableFromInline
    init(_ value: consuming sending Value) {
      mutex = .allocate(capacity: 1)
      mutex.initialize(to: pthread_mutex_t())
      let code: Int32 = pthread_mutex_init(mutex, nil)
      precondition(code == 0, "pthread_mutex_init failed with code \(code)")
      self.value = value
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }
  }

  @inlinable
  public init(_ value: consuming sending Value) { storage = Storage(value) }

  /// Runs `body` with the value, while no other thread can access it.
  @inlinable
  public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(storage.mutex)
    defer { pthread_mutex_unlock(storage.mutex) }
    return try body(&storage.value)
  }
}
