import Foundation
import Synchronization

/// A value that is passed to a context's queue and back; the order of the queue makes this safe.
struct Transfer<Value>: @unchecked Sendable {
  // Sendable: used by one queue at a time, as `perform` guarantees.
  let value: Value
}

extension Transfer<() -> Void> {
  func run(on actor: isolated any Actor) { value() }
}

/// A block that a thread is running, and those around it: `NSFetchRequest.execute()` finds its context by it,
/// and the detection of deadlocks the queues that a thread holds.
final class RunningBlock {
  let queue: WorkQueue
  let context: NSManagedObjectContext?
  private let outer: RunningBlock?
  private static let key = "NSManagedObjectContext.current"

  private init(queue: WorkQueue, context: NSManagedObjectContext?, outer: RunningBlock?) {
    self.queue = queue
    self.context = context
    self.outer = outer
  }

  private static var current: RunningBlock? { Thread.current.threadDictionary[key] as? RunningBlock }

  /// The context whose block this thread is running.
  static var context: NSManagedObjectContext? {
    var block: RunningBlock? = current
    while let running = block {
      if let context = running.context { return context }
      block = running.outer
    }
    return nil
  }

  static var queuesOfThisThread: [WorkQueue] {
    var queues: [WorkQueue] = []
    var block: RunningBlock? = current
    while let running = block {
      queues.append(running.queue)
      block = running.outer
    }
    return queues
  }

  static func run<T, E: Error>(
    in queue: WorkQueue, of context: NSManagedObjectContext?, _ body: () throws(E) -> T
  ) throws(E) -> T {
    let storage: NSMutableDictionary = Thread.current.threadDictionary
    let before: Any? = storage[key]
    storage[key] = RunningBlock(queue: queue, context: context, outer: before as? RunningBlock)
    defer { storage[key] = before }
    return try body()
  }
}

/// The scheduled end of the event that the first change of a main-queue context began: at most one at a time.
struct MainQueueEventEnd {
  private var isScheduled = false

  /// Returns false if it is already scheduled.
  mutating func schedule() -> Bool {
    if isScheduled { return false }
    isScheduled = true
    return true
  }

  mutating func begin() { isScheduled = false }
}

extension NSManagedObjectContext: WorkQueueOwner {
  final var upperQueue: WorkQueue? { parent?.queue ?? persistentStoreCoordinator?.queue }

  /// Whether the calling code runs inside a block of this context (or on the main queue for a main-queue
  /// one).
  final var isOnQueue: Bool { queue.isCurrent }

  /// The first change of an event on the main queue: the event ends after the queue's current work, as at the
  /// end of a turn of the main run loop on Apple's platforms.
  final func scheduleEventEnd() {
    // Code that is not on the main queue must not use the context; ending an event concurrently would not
    // make that any better.
    guard MainQueue.isCurrent, eventEnd.schedule() else { return }
    DispatchQueue.main.async { [weak self] in
      self?.eventEnd.begin()
      self?.endEvent()
    }
  }

  /// Runs `body` as one event: afterwards pending changes are processed.
  private func runUnit<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
    defer { endEvent() }
    return try RunningBlock.run(in: queue, of: self, body)
  }

  final func enqueue(_ block: @escaping () -> Void) {
    queue.run { [self] in runUnit(block) }
  }

  /// Runs a block on the context's queue, later, unless the context was deallocated by then: the waiting
  /// block does not retain it.
  final func performIfAlive(_ block: @escaping (NSManagedObjectContext) -> Void) {
    queue.run { [weak self] in
      if let self { runUnit { block(self) } }
    }
  }

  /// Runs a block as ``performAndWait(_:)`` does, and returns or throws what the block does.
  public final func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
    // Calls the method that can be overridden.
    var outcome: Result<T, E>?
    performAndWait { () -> Void in
      do throws(E) {
        outcome = .success(try block())
      } catch {
        outcome = .failure(error)
      }
    }
    guard let outcome else {
      fatalError("\(type(of: self)) overrides performAndWait(_:) and has not run the block; call super.")
    }
    return try outcome.get()
  }

  final func runAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
    if isOnQueue { return try RunningBlock.run(in: queue, of: self, block) }
    return try queue.runAndWait { () throws(E) -> T in try runUnit(block) }
  }

  /// Runs a block on the context's queue and suspends until it has run. Returns or rethrows what the block
  /// does.
  ///
  /// Return ids or values, not managed objects, unless the caller is on the context's queue too. The block is
  /// not isolated to the actor in whose code it is written, see ``perform(_:)``.
  @preconcurrency public final func perform<T, E: Error>(
    schedule: ScheduledTaskType = .immediate, isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable () throws(E) -> T
  ) async throws(E) -> T {
    if schedule == .immediate, isOnQueue { return try RunningBlock.run(in: queue, of: self, block) }
    return try await queue.run { [self] () throws(E) -> T in try runUnit(block) }
  }
}
