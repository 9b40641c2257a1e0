import Foundation

/// How far long work is: a line on standard error that is written over, on a terminal only.
final class ProgressLine {
  private let isShown: Bool
  private var title: String = ""
  private var done: Int = 0
  private var total: Int = 0
  private var shown: ContinuousClock.Instant = .now
  private var isVisible: Bool = false

  private static let pause: Duration = .milliseconds(100)

  /// `beside`: an output that is written meanwhile; on the same terminal the line would stand between its.
  init(beside output: StandardOutput? = nil) {
    isShown = isatty(STDERR_FILENO) == 1 && output?.isTerminal != true
  }

  /// Begins a step with so many parts; 0: nobody knows.
  func begin(_ title: String, total: Int) {
    (self.title, self.total, done) = (title, total, 0)
  }

  /// Must be called at every step of long work: throws if the user has asked to stop.
  func advance(by count: Int) throws {
    try Interruption.check()
    done += count
    guard isShown, shown.duration(to: .now) > Self.pause else { return }
    shown = .now
    isVisible = true
    let share: String = total > 0 ? " of \(total) (\(min(100, done * 100 / total)) %)" : ""
    FileHandle.standardError.write(Data("\r\u{1B}[K\(title): \(done)\(share)".utf8))
  }

  /// Removes the line.
  func end() {
    if isVisible { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    isVisible = false
  }

  deinit { end() }
}
