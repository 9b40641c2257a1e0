import Dispatch
import Foundation

/// What stores did for one context: the statements that read, the rows they returned, and the time.
///
/// The context enters its tally for the time of a call to a store, on the calling thread; an engine adds to
/// the tally of the thread that it runs on. Counting costs two readings of the clock and a few accesses
/// to thread-local storage for each call.
package final class StoreTally: @unchecked Sendable {
  // Sendable: used on the context's queue only, by the thread that has entered it.

  package struct Counts: Sendable, Equatable {
    /// SQL statements that read; calls, of stores that run none.
    package var statements: Int = 0
    /// The rows, ids or members that they returned.
    package var rows: Int = 0
    /// The time of the calls.
    package var nanoseconds: UInt64 = 0

    package init() {}

    package static func - (left: Counts, right: Counts) -> Counts {
      var result: Counts = left
      result.statements -= right.statements
      result.rows -= right.rows
      result.nanoseconds &-= right.nanoseconds
      return result
    }

    package static func += (left: inout Counts, right: Counts) {
      left.statements += right.statements
      left.rows += right.rows
      left.nanoseconds &+= right.nanoseconds
    }
  }

  @exclusivity(unchecked) package var counts = Counts()
  /// Whether what the context waits for is not wanted any more; nil if that can't happen. Called now and then
  /// while a statement runs.
  @exclusivity(unchecked) package var isCancelled: (() -> Bool)?

  package init() {}

  /// Runs a call to a store, counted here. A call within a call is counted with the outer one's time.
  @inline(__always)
  package func counting<Result>(_ body: () throws -> Result) rethrows -> Result {
    let outer: UnsafeMutableRawPointer? = Self.entered
    let own: UnsafeMutableRawPointer = Unmanaged.passUnretained(self).toOpaque()
    if outer == own { return try body() }
    let start: UInt64 = Self.now
    Self.entered = own
    defer {
      Self.entered = outer
      counts.nanoseconds &+= Self.now &- start
    }
    return try body()
  }

  /// Adds a statement, or a call of a store without statements, to the tally of this thread, if there is one.
  @inline(__always)
  package static func note(statements: Int = 1, rows: Int) {
    guard let entered else { return }
    let tally: StoreTally = Unmanaged<StoreTally>.fromOpaque(entered).takeUnretainedValue()
    tally.counts.statements &+= statements
    tally.counts.rows &+= rows
  }

  /// Whether the call that runs on this thread can be cancelled, and whether it was.
  package static var canBeCancelled: Bool { current?.isCancelled != nil }
  package static var wasCancelled: Bool { current?.isCancelled?() ?? false }

  private static var current: StoreTally? {
    entered.map { Unmanaged<StoreTally>.fromOpaque($0).takeUnretainedValue() }
  }

  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  // MARK: The tally of a thread, not retained: the caller of `counting` holds it.

  #if os(Windows)
    private static var entered: UnsafeMutableRawPointer? {
      get {
        (Thread.current.threadDictionary["clarus.tally"] as? UInt).flatMap { .init(bitPattern: $0) }
      }
      set { Thread.current.threadDictionary["clarus.tally"] = UInt(bitPattern: newValue) }
    }
  #else
    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      let result: Int32 = pthread_key_create(&key, nil)
      precondition(result == 0, "No thread-specific data left (pthread_key_create gave \(result)).")
      return key
    }()

    private static var entered: UnsafeMutableRawPointer? {
      get { pthread_getspecific(key) }
      set { pthread_setspecific(key, newValue) }
    }
  #endif
}
