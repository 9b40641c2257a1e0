import Foundation

// Apple's old locks of contexts and coordinators, from the time before contexts had queues. They exclude
// threads that take them, and nobody else: blocks of `perform(_:)` don't.

extension NSManagedObjectContext {
  /// Takes the context's lock; waits while another thread has it. A thread may take it several times and
  /// gives it back as often.
  @available(*, deprecated, message: "Use a context of a queue type and perform(_:) or performAndWait(_:).")
  public final func lock() { threadLock.lock() }

  /// Gives the context's lock back.
  @available(*, deprecated, message: "Use a context of a queue type and perform(_:) or performAndWait(_:).")
  public final func unlock() { threadLock.unlock() }

  /// Takes the context's lock if no other thread has it; tells whether it did.
  @available(*, deprecated, message: "Use a context of a queue type and perform(_:) or performAndWait(_:).")
  public final func tryLock() -> Bool { threadLock.try() }
}

extension NSPersistentStoreCoordinator {
  /// Takes the coordinator's lock; waits while another thread has it. A thread may take it several times and
  /// gives it back as often.
  @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:).")
  public final func lock() { threadLock.lock() }

  /// Gives the coordinator's lock back.
  @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:).")
  public final func unlock() { threadLock.unlock() }

  /// Takes the coordinator's lock if no other thread has it; tells whether it did.
  @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:).")
  public final func tryLock() -> Bool { threadLock.try() }
}
