import Foundation
import Synchronization

/// Something a caller hands to the context's queue and gets back; the queue's order makes the hand-over safe.
struct Transfer<Value>: @unchecked Sendable {
  // Sendable: used by one queue at a time, as `perform` guarantees.
  let value: Value
}

/// Tells whether code runs on the main queue. That is not the same as the main thread: in a program whose `main` is async, or that
/// calls `dispatchMain()`, other threads serve the main queue.
private enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true }
}

/// The context whose block a thread is running: what `NSFetchRequest.execute()` asks.
enum CurrentContext {
  private static let key = "NSManagedObjectContext.current"

  static var value: NSManagedObjectContext? {
    Thread.current.threadDictionary[key] as? NSManagedObjectContext
  }

  static func with<T, E: Error>(_ context: NSManagedObjectContext, _ body: () throws(E) -> T) throws(E) -> T {
    let storage: NSMutableDictionary = Thread.current.threadDictionary
    let before: Any? = storage[key]
    storage[key] = context
    defer { storage[key] = before }
    return try body()
  }
}

extension NSManagedObjectContext {
  static var thisThread: UInt { UInt(bitPattern: ObjectIdentifier(Thread.current)) }

  /// Whether the calling code runs inside a block of this context (or on the main thread for a main-queue one).
  final var isOnQueue: Bool {
    if concurrencyType == .mainQueueConcurrencyType, MainQueue.isCurrent { return true }
    return owner.load(ordering: .acquiring) == Self.thisThread
  }

  /// Runs `body` as one unit of work: afterwards pending changes are processed.
  private func runUnit<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
    let before: UInt = owner.exchange(Self.thisThread, ordering: .acquiringAndReleasing)
    defer {
      processPendingChanges()
      owner.store(before, ordering: .releasing)
    }
    return try CurrentContext.with(self, body)
  }

  /// Runs a block on the context's queue, later. Blocks run one after another, in the order they were given.
  public final func perform(_ block: @escaping () -> Void) {
    let transfer = Transfer(value: block)
    queue.async { [self] in runUnit { transfer.value() } }
  }

  /// Runs a block on the context's queue and waits. Re-entrant: inside a block of the same context it runs at once. Rethrows
  /// what the block throws.
  public final func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
    if isOnQueue { return try CurrentContext.with(self, block) }
    // The closure does not outlive the call: `sync` returns after it has run.
    let result: Result<T, E> = withoutActuallyEscaping(block) { escaping in
      let transfer = Transfer(value: escaping)
      let made: Transfer<Result<T, E>> = queue.sync { [self] in
        do throws(E) {
          return Transfer(value: .success(try runUnit(transfer.value)))
        } catch {
          return Transfer(value: .failure(error))
        }
      }
      return made.value
    }
    return try result.get()
  }

  /// Runs a block on the context's queue and suspends until it has run. Returns or rethrows what the block does.
  ///
  /// Return ids or values, not managed objects, unless the caller is on the context's queue too.
  public final func perform<T, E: Error>(
    schedule: ScheduledTaskType = .immediate, isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping () throws(E) -> T
  ) async throws(E) -> T {
    if schedule == .immediate, isOnQueue { return try CurrentContext.with(self, block) }
    let transfer = Transfer(value: block)
    let result: Transfer<Result<T, E>> = await withCheckedContinuation { continuation in
      queue.async { [self] in
        do throws(E) {
          continuation.resume(returning: Transfer(value: .success(try runUnit(transfer.value))))
        } catch {
          continuation.resume(returning: Transfer(value: .failure(error)))
        }
      }
    }
    return try result.value.get()
  }
}
