import Foundation
import Synchronization

/// The owner of a work queue: a context or a coordinator.
protocol WorkQueueOwner: AnyObject {
  /// The queue that blocks of this one normally wait for: the parent's, and finally the coordinator's.
  var upperQueue: WorkQueue? { get }
  var nameInMessages: String { get }
}

/// Runs blocks one at a time, in the order of arrival: the queue of a context or a coordinator.
///
/// Dispatch's queues do that too, but it can't be found out which threads wait in them: a parent's block that
/// waits for a child and a child's block that waits for the parent would deadlock. Here the holder of a queue
/// and its waiting threads are recorded (`WaitForGraph`), so a holder that waits can grant its queue to the
/// thread it waits for (Decisions/0024). Taking a free queue and leaving it when nothing waits costs one
/// atomic operation each.
///
/// Queues of main-queue contexts are all the main queue: their blocks run only there.
final class WorkQueue: @unchecked Sendable {
  // Sendable: `state` is atomic; `entries` is guarded by the lock of `WaitForGraph`; `owner` is set before
  // any other code can use the queue.

  let isMain: Bool
  private let dispatch: DispatchQueue
  weak var owner: (any WorkQueueOwner)?

  /// The thread that runs a block, plus `contended` if others wait; 0: none; `.worker`: a block has been
  /// dispatched and not begun.
  private let state = Atomic<UInt>(0)
  private static let contended: UInt = 1
  private static let worker: UInt = 2

  /// The waiting blocks and threads, in the order of arrival.
  private enum Entry {
    case block(Transfer<() -> Void>)
    case thread(WaitingThread)
  }
  private var entries = Fifo<Entry>()

  init(label: String, isMain: Bool = false) {
    self.isMain = isMain
    dispatch = isMain ? .main : DispatchQueue(label: label)
  }

  static var thisThread: UInt { UInt(bitPattern: ObjectIdentifier(Thread.current)) }

  /// The thread that is running a block; 0 for none, and always for the main queue.
  var holder: UInt {
    let thread: UInt = state.load(ordering: .acquiring) & ~Self.contended
    return thread == Self.worker ? 0 : thread
  }

  /// Whether the calling code runs in a block of this queue, or on behalf of one: a thread that serves
  /// another has its rights.
  var isCurrent: Bool {
    if isMain, MainQueue.isCurrent { return true }
    let holder: UInt = holder
    return holder != 0 && (holder == Self.thisThread || WaitForGraph.isServing(holder))
  }

  var label: String { dispatch.label }

  /// Whether this queue's owner is below that of another: its child, a child's child, or a context of a
  /// coordinator.
  func isBelow(_ other: WorkQueue) -> Bool {
    var next: WorkQueue? = owner?.upperQueue
    while let queue = next {
      if queue === other { return true }
      next = queue.owner?.upperQueue
    }
    return false
  }

  // MARK: Running

  /// Runs a block when its turn has come.
  func run(_ block: @escaping () -> Void) {
    let transfer = Transfer(value: block)
    if isMain {
      dispatch.async { transfer.value() }
      return
    }
    WaitForGraph.lock.withLock {
      if acquireOrMarkContended(Self.worker | Self.contended) { startWorker() }
      entries.append(.block(transfer))
    }
  }

  /// Runs a block when its turn has come, and returns its result.
  func run<T, E: Error>(
    isolation: isolated (any Actor)? = #isolation, _ block: @escaping () throws(E) -> T
  ) async throws(E) -> T {
    let transfer = Transfer(value: block)
    let result: Transfer<Result<T, E>> = await withCheckedContinuation { continuation in
      run {
        do throws(E) {
          continuation.resume(returning: Transfer(value: .success(try transfer.value())))
        } catch {
          continuation.resume(returning: Transfer(value: .failure(error)))
        }
      }
    }
    return try result.value.get()
  }

  /// Runs a block when its turn has come and waits for it. Not re-entrant: see `isCurrent`.
  ///
  /// The block runs on the calling thread; on the main one, if this is the main queue.
  func runAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
    if isMain { return try runOnMain(block) }
    let me: UInt = Self.thisThread
    var grantor: UInt = 0
    if !state.compareExchange(expected: 0, desired: me, ordering: .acquiringAndReleasing).exchanged {
      let waiting = WaitingThread(for: self)
      WaitForGraph.wait(waiting)
      grantor = waiting.grantor
    }
    defer { release(grantor) }
    return try block()
  }

  private func release(_ grantor: UInt) {
    if grantor != 0 {
      WaitForGraph.lock.withLock { setHolder(grantor) }
      return
    }
    if state.compareExchange(expected: Self.thisThread, desired: 0, ordering: .acquiringAndReleasing)
      .exchanged
    {
      return
    }
    WaitForGraph.lock.withLock { passToNext() }
  }

  private func runOnMain<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
    // The closure does not outlive the call: it is released before the wait ends.
    let result: Result<T, E>? = withoutActuallyEscaping(block) { escaping in
      var result: Result<T, E>?
      let waiting = WaitingThread(for: self)
      waiting.request = {
        do throws(E) { result = .success(try escaping()) } catch { result = .failure(error) }
      }
      dispatch.async { waiting.serve() }
      WaitForGraph.wait(waiting)
      return result
    }
    guard let result else { fatalError("The main queue did not run a block that it was given.") }
    return try result.get()
  }

  // MARK: Taking turns, with the lock of `WaitForGraph` held

  /// Takes the queue if it is free. Otherwise marks it, so that its holder serves the waiting threads when it
  /// leaves.
  private func acquireOrMarkContended(_ taker: UInt) -> Bool {
    var now: UInt = state.load(ordering: .acquiring)
    while true {
      let next: UInt = now == 0 ? taker : now | Self.contended
      let (done, seen) = state.compareExchange(expected: now, desired: next, ordering: .acquiringAndReleasing)
      if done { return now == 0 }
      now = seen
    }
  }

  /// Takes the queue for a waiting thread if it is free; otherwise appends the thread to the entries.
  func acquireOrEnqueue(_ waiting: WaitingThread) -> Bool {
    if acquireOrMarkContended(waiting.thread) { return true }
    entries.append(.thread(waiting))
    return false
  }

  private func setHolder(_ thread: UInt) {
    state.store(thread | (entries.isEmpty ? 0 : Self.contended), ordering: .releasing)
  }

  /// Passes the queue to the first entry.
  private func passToNext() {
    switch entries.first {
    case nil: state.store(0, ordering: .releasing)
    case .block:
      state.store(Self.worker | Self.contended, ordering: .releasing)
      startWorker()
    case .thread(let waiting):
      entries.removeFirst()
      setHolder(waiting.thread)
      waiting.resume()
    }
  }

  /// Grants the queue to a thread while its holder waits, before its turn has come.
  func grant(to waiting: WaitingThread) {
    waiting.grantor = holder
    entries.removeAll {
      if case .thread(let other) = $0 { other === waiting } else { false }
    }
    setHolder(waiting.thread)
    waiting.resume()
  }

  // MARK: Blocks without a thread of their own

  private func startWorker() {
    dispatch.async { [self] in
      while let block = WaitForGraph.lock.withLock({ dequeueBlock() }) { block.value() }
    }
  }

  private func dequeueBlock() -> Transfer<() -> Void>? {
    guard case .block(let block) = entries.first else {
      passToNext()
      return nil
    }
    entries.removeFirst()
    setHolder(Self.thisThread)
    return block
  }
}

/// Whether code runs on the main queue. That is not the same as the main thread: in a program whose `main` is
/// async, or that calls `dispatchMain()`, other threads serve the main queue.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true }
}

/// A first-in, first-out queue; removing an element takes amortised constant time.
struct Fifo<Element> {
  // Places of removed elements are nil, so that nothing they refer to stays alive.
  private var places: [Element?] = []
  private var start: Int = 0

  var isEmpty: Bool { start == places.count }
  var first: Element? { isEmpty ? nil : places[start] }

  mutating func append(_ element: Element) { places.append(element) }

  mutating func removeFirst() {
    places[start] = nil
    start += 1
    if start * 2 >= places.count { compact() }
  }

  mutating func removeAll(where isOut: (Element) -> Bool) {
    compact()
    places.removeAll { $0.map(isOut) ?? true }
  }

  private mutating func compact() {
    places.removeFirst(start)
    start = 0
  }
}
