import Foundation

// Apple's old locks of contexts and coordinators, from the time before contexts had queues. They exclude only
// threads that take them: blocks of `perform(_:)` don't.

extension NSManagedObjectContext {
  /// Takes the context's lock; waits while another thread has it. A thread may take it several times and must
  /// release it as often.
  @available(*, deprecated, message: "Use a context of a queue type and perform(_:) or performAndWait(_:).")
  public final func lock() { threadLock.lock() }

  /// Releases the context's lock.
  @available(*, deprecated, message: "Use a context of a queue type and perform(_:) or performAndWait(_:).")
  public final func unlock() { threadLock.unlock() }

  /// Takes the context's lock if no other thread has it; returns whether it did.
  @available(*, deprecated, message: "Use a context of a queue type and perform(_:) or performAndWait(_:).")
  public final func tryLock() -> Bool { threadLock.try() }
}

extension NSPersistentStoreCoordinator {
  /// Takes the coordinator's lock; waits while another thread has it. A thread may take it several times and
  /// must release it as often.
  @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:).")
  public final func lock() { threadLock.lock() }

  /// Releases the coordinator's lock.
  @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:).")
  public final func unlock() { threadLock.unlock() }

  /// Takes the coordinator's lock if no other thread has it; returns whether it did.
  @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:).")
  public final func tryLock() -> Bool { threadLock.try() }
}
