import Foundation

/// Runs recursive work over deep trees with enough stack: on the present thread if enough is left, otherwise
/// on a new thread while the caller waits.
///
/// ```
/// levels ≤ 64          the body, nothing else: nearly every tree
/// enough stack left    the body
/// otherwise            a thread with a stack of the right size
/// ```
package enum StackGuard {
  /// Levels that fit the remaining stack of any thread.
  @usableFromInline package static let shallow: Int = 64

  /// The most stack that a level of any walk over a tree takes. Without optimisation frames are several times
  /// larger.
  private static let bytesPerLevel: Int = _isDebugAssertConfiguration() ? 4 << 10 : 1 << 10
  private static let reserve: Int = 64 << 10

  /// Runs `body`, which recurses over so many levels of a tree.
  package static func run<Value, Failure>(
    levels: Int, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if levels <= shallow { return try body() }
    return try run(bytes: levels * bytesPerLevel, body)
  }

  /// Runs `body`, which needs so much stack.
  package static func run<Value, Failure>(
    bytes: Int, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if bytes + reserve <= remaining() { return try body() }
    var result: Result<Value, Failure>?
    withoutActuallyEscaping(body) { body in
      let work: DeepWork<Value, Failure> = DeepWork(body)
      let thread: Thread = Thread { work.run() }
      thread.stackSize = bytes + 2 * reserve
      thread.start()
      result = work.wait()
    }
    guard let result else { preconditionFailure("Deep work ended without a result.") }
    return try result.get()
  }

  /// Bytes between here and the end of this thread's stack; 0 where the platform has no such information.
  private static func remaining() -> Int {
    #if canImport(Glibc) || canImport(Musl) || canImport(Android)
      var attributes: pthread_attr_t = pthread_attr_t()
      guard attributesOfThread(pthread_self(), &attributes) == 0 else { return 0 }
      defer { pthread_attr_destroy(&attributes) }
      var lowest: UnsafeMutableRawPointer?
      var size: Int = 0
      guard pthread_attr_getstack(&attributes, &lowest, &size) == 0, let lowest else { return 0 }
      return withUnsafeMutablePointer(to: &size) { max(0, UnsafeMutableRawPointer($0) - lowest) }
    #else
      return 0
    #endif
  }
}

private final class DeepWork<Value, Failure: Error>: @unchecked Sendable {
  // Only the thread touches `body` and `result` until `done` is signalled; the caller waits for that.
  private var body: (() throws(Failure) -> Value)?
  private var result: Result<Value, Failure>?
  private let done: DispatchSemaphore = .init(value: 0)

  init(_ body: @escaping () throws(Failure) -> Value) {
    self.body = body
  }

  func run() {
    do throws(Failure) {
      result = try body.map { (body) throws(Failure) in .success(try body()) }
    } catch {
      result = .failure(error)
    }
    // The closure must not outlive the call that passed it.
    body = nil
    done.signal()
  }

  func wait() -> Result<Value, Failure>? {
    done.wait()
    defer { result = nil }
    return result
  }
}

#if canImport(Glibc) || canImport(Musl) || canImport(Android)
  /// A GNU extension, which the C library's Swift module omits.
  @_silgen_name("pthread_getattr_np")
  private func attributesOfThread(
    _ thread: pthread_t, _ attributes: UnsafeMutablePointer<pthread_attr_t>
  ) -> Int32
#endif
