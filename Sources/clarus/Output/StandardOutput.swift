import Foundation

/// Where results go: standard output, in pieces of 64 KiB.
///
/// The reader may go away at any moment (`clarus fetch … | head`). Then the next write throws ``OutputClosed``, which ends
/// the command in order (files closed, temporary copies removed) and without a word.
final class StandardOutput {
  private var buffer: [UInt8] = []
  private let descriptor: Int32

  init(descriptor: Int32 = STDOUT_FILENO) {
    self.descriptor = descriptor
    buffer.reserveCapacity(1 << 16)
  }

  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= 1 << 16 { try flush() }
  }

  func writeLine(_ text: String = "") throws {
    try write(text)
    try write("\n")
  }

  func flush() throws {
    var start: Int = 0
    while start < buffer.count {
      let written: Int = buffer.withUnsafeBytes { bytes in
        systemWrite(descriptor, bytes.baseAddress! + start, bytes.count - start)
      }
      if written < 0 {
        if errno == EINTR { continue }
        let code: Int32 = errno
        buffer.removeAll()
        if code == EPIPE { throw OutputClosed() }
        throw CommandFailure("The output can't be written: \(String(cString: strerror(code))).")
      }
      start += written
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Whether people are looking; decides nothing but layout.
  var isTerminal: Bool { isatty(descriptor) == 1 }
}

/// Nobody reads the output any more.
struct OutputClosed: Error {}

/// Why a command could not do its work, in one line for people.
struct CommandFailure: Error {
  let line: String
  init(_ line: String) { self.line = line }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

/// Writes a line to standard error. If that is closed there is nobody to tell.
func writeToStandardError(_ line: String) {
  let bytes: [UInt8] = Array((line + "\n").utf8)
  var start: Int = 0
  while start < bytes.count {
    let written: Int = bytes.withUnsafeBytes {
      systemWrite(STDERR_FILENO, $0.baseAddress! + start, bytes.count - start)
    }
    if written < 0 && errno == EINTR { continue }
    if written <= 0 { return }
    start += written
  }
}
