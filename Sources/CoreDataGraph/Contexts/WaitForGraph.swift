import Foundation
import Synchronization

/// A thread that waits for a queue.
final class WaitingThread: @unchecked Sendable {
  // Sendable: everything but the immutable part and the semaphore is guarded by the lock of `WaitForGraph`;
  // only the thread that takes `request` first uses it.

  let thread: UInt = WorkQueue.thisThread
  let wanted: WorkQueue
  /// The queues whose blocks the thread is running.
  let held: [WorkQueue] = RunningBlock.queuesOfThisThread
  let isOnMain: Bool = MainQueue.isCurrent

  /// For the main queue: the request to run there.
  var request: (() -> Void)?
  fileprivate private(set) var isClaimed = false
  /// The thread that has granted the queue while it waits itself, and gets it back; 0 if the queue was free.
  var grantor: UInt = 0
  fileprivate var mayResume = false
  /// Requests of other threads that this thread runs while it waits, as holder of the main queue.
  fileprivate var requests = Fifo<WaitingThread>()
  fileprivate let semaphore = DispatchSemaphore(value: 0)

  init(for queue: WorkQueue) { wanted = queue }

  /// Ends the wait. Call it with the lock held.
  func resume() {
    mayResume = true
    WaitForGraph.remove(self)
    semaphore.signal()
  }

  /// Runs the request, on the main queue, unless another thread has taken it.
  func serve() {
    if let service = WaitForGraph.lock.withLock({ claim() }) { serve(service) }
  }

  /// Takes the request, for the calling thread to run; nil if another thread has taken it. Call it with the
  /// lock held.
  fileprivate func claim() -> Service? {
    if isClaimed { return nil }
    isClaimed = true
    return WaitForGraph.beginServing(thread)
  }

  fileprivate func serve(_ service: Service) {
    runRequest()
    WaitForGraph.lock.withLock {
      resume()
      WaitForGraph.end(service)
    }
  }

  /// A separate function, so that nothing of the request is retained when the wait ends.
  @inline(never)
  private func runRequest() {
    request?()
    request = nil
  }

  /// The waiting thread that holds the wanted queue; nil if its holder is running, or about to run a request,
  /// so that the wait may end.
  fileprivate var holder: WaitingThread? {
    let holder: WaitingThread? = wanted.isMain ? WaitForGraph.onMain : WaitForGraph.all[wanted.holder]
    return holder?.requests.isEmpty == true ? holder : nil
  }

  /// Whether this thread wants a queue that blocks of its own queues depend on: that of a parent or of the
  /// coordinator. `known` is a queue that it holds although no block of it is running, as the main thread
  /// holds main-queue contexts.
  fileprivate func wantsUpperQueue(holding known: WorkQueue) -> Bool {
    known.isBelow(wanted) || held.contains { $0.isBelow(wanted) }
  }

  fileprivate var inWords: String {
    let name: String = wanted.owner?.nameInMessages ?? "a context"
    return "  thread 0x\(String(thread, radix: 16))\(isOnMain ? " (the main queue's)" : "") waits for \(name)"
  }
}

/// The state of a thread before it ran a request for another one.
private struct Service {
  let thread: UInt
  /// The thread for which it ran a request.
  let served: UInt?
  /// What it waited for.
  let waiting: WaitingThread?
}

/// The wait-for graph: the threads that wait for queues, in the whole process.
///
/// A wait that closes a cycle is a deadlock. The cycle is broken at a thread that wants a queue above its
/// own: a child's save, fault or fetch uses the parent's queue, and a parent that waits for its child must
/// allow that. The thread that holds the parent's queue only waits, so the child's thread may use the queue
/// until it is done: the holder grants it. A cycle without such a place is an error of the program, and is
/// reported.
enum WaitForGraph {
  static let lock = NSLock()
  // Guarded by `lock`.
  nonisolated(unsafe) fileprivate static var all: [UInt: WaitingThread] = [:]
  nonisolated(unsafe) fileprivate static var onMain: WaitingThread?
  /// By threads that run requests of others on the main queue: the thread for which they run it.
  nonisolated(unsafe) private static var served: [UInt: UInt] = [:]
  private static let servedCount = Atomic<Int>(0)

  /// Whether the calling thread runs a request for another thread, which waits for it.
  static func isServing(_ thread: UInt) -> Bool {
    guard servedCount.load(ordering: .acquiring) > 0 else { return false }
    return lock.withLock { served[WorkQueue.thisThread] == thread }
  }

  /// Returns when the thread has the queue, or, for the main queue, when its request has been run.
  static func wait(_ waiting: WaitingThread) {
    let isDone: Bool = lock.withLock {
      // The main queue may already have run the request.
      if waiting.wanted.isMain ? waiting.mayResume : waiting.wanted.acquireOrEnqueue(waiting) { return true }
      begin(waiting)
      return false
    }
    if isDone { return }
    while true {
      waiting.semaphore.wait()
      // One step under the lock: between taking a request and serving it the thread would appear to be only
      // waiting.
      let (isDone, next) = lock.withLock { () -> (Bool, (request: WaitingThread, service: Service)?) in
        while let request = waiting.requests.first {
          waiting.requests.removeFirst()
          if let service = request.claim() { return (false, (request, service)) }
        }
        resolveCycle(of: waiting)
        return (waiting.mayResume, nil)
      }
      if isDone { return }
      if let next { next.request.serve(next.service) }
    }
  }

  private static func begin(_ waiting: WaitingThread) {
    all[waiting.thread] = waiting
    if waiting.isOnMain { onMain = waiting }
    resolveCycle(of: waiting)
  }

  fileprivate static func remove(_ waiting: WaitingThread) {
    if all[waiting.thread] === waiting { all[waiting.thread] = nil }
    if onMain === waiting { onMain = nil }
  }

  // MARK: Serving

  /// The calling thread serves another one, so it does not count as waiting meanwhile.
  fileprivate static func beginServing(_ thread: UInt) -> Service {
    let me: UInt = WorkQueue.thisThread
    let service = Service(thread: me, served: served[me], waiting: all[me])
    service.waiting.map(remove)
    served[me] = thread
    servedCount.add(1, ordering: .acquiringAndReleasing)
    return service
  }

  /// The thread waits again, which may close a cycle.
  fileprivate static func end(_ service: Service) {
    served[service.thread] = service.served
    servedCount.subtract(1, ordering: .acquiringAndReleasing)
    guard let waiting = service.waiting, !waiting.mayResume else { return }
    begin(waiting)
  }

  // MARK: Cycles

  /// Checks whether a thread's wait closes a cycle, and breaks it.
  private static func resolveCycle(of waiting: WaitingThread) {
    guard all[waiting.thread] === waiting else { return }
    var cycle: [WaitingThread] = [waiting]
    while let holder = cycle[cycle.count - 1].holder {
      if holder === waiting { return breakCycle(cycle) }
      // This thread only leads to the cycle and is no part of it.
      if cycle.contains(where: { $0 === holder }) { return }
      cycle.append(holder)
    }
  }

  /// Each member wants what the next one holds, the last what the first one holds.
  private static func breakCycle(_ cycle: [WaitingThread]) {
    for (place, member) in cycle.enumerated() {
      let before: WaitingThread = cycle[place == 0 ? cycle.count - 1 : place - 1]
      guard member.wantsUpperQueue(holding: before.wanted) else { continue }
      guard member.wanted.isMain else { return member.wanted.grant(to: member) }
      // If its request is being run, the cycle is already broken.
      if member.isClaimed { continue }
      let holder: WaitingThread = cycle[place == cycle.count - 1 ? 0 : place + 1]
      holder.requests.append(member)
      holder.semaphore.signal()
      return
    }
    fatalError(
      """
      CoreData deadlock: blocks wait for each other, and none of them can go on.
      \(inWords(cycle))
      A context may wait for its parent and for its children, for no other context that may wait for it. Let one of the blocks use \
      perform(_:), which does not wait, or hand ids over and end the block first.
      """)
  }

  private static func inWords(_ cycle: [WaitingThread]) -> String {
    cycle.enumerated().map { place, member in
      let before: WaitingThread = cycle[place == 0 ? cycle.count - 1 : place - 1]
      return member.inWords + ", in a block of \(before.wanted.owner?.nameInMessages ?? "a context")"
    }.joined(separator: "\n")
  }
}
