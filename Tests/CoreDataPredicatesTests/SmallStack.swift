import Foundation

/// Runs the body on a thread with half a megabyte of stack, which is what threads besides the main one often
/// have, and waits for it.
func onSmallStack(_ body: @escaping @Sendable () -> String?) -> String? {
  let result: ResultBox = ResultBox()
  let thread: Thread = Thread {
    result.value = body()
    result.done.signal()
  }
  thread.stackSize = 512 * 1024
  thread.start()
  result.done.wait()
  return result.value
}

private final class ResultBox: @unchecked Sendable {
  // `value` is written before `done` is signalled and read after.
  var value: String?
  let done: DispatchSemaphore = .init(value: 0)
}
