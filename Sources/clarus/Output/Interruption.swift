import Foundation

/// Ctrl-C, and a request to end, while a command writes: it stops at its next step, in order, and leaves
/// nothing half done. A second one ends the process at once.
enum Interruption {
  /// Set by the handler of signals, which may do nothing else.
  nonisolated(unsafe) private static var isRequested: sig_atomic_t = 0

  /// From now on signals are noted. Called by commands that write.
  static func watch() {
    let note: @convention(c) (Int32) -> Void = { number in
      Interruption.isRequested = 1
      signal(number, SIG_DFL)
    }
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, note) }
  }

  /// Throws if the user has asked to stop.
  static func check() throws {
    if isRequested != 0 { throw CommandFailure("Interrupted; nothing was written.") }
  }
}
