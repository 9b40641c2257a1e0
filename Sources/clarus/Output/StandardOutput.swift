import Foundation

/// The output of results: standard output, in pieces of 64 KiB.
///
/// The reader may close the pipe at any moment (`clarus fetch … | head`). Then the next write throws
/// ``OutputClosed``, which ends the command in order (files closed, temporary copies removed) and without a
/// message.
final class StandardOutput {
  private var buffer: [UInt8] = []
  private let descriptor: Int32
  /// What failures call the output.
  private let name: String

  /// `path`: that of the file, if it is one that the command makes.
  init(descriptor: Int32 = STDOUT_FILENO, path: String? = nil) {
    self.descriptor = descriptor
    name = path ?? "The output"
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
        throw CommandFailure("\(name) can't be written: \(String(cString: strerror(code))).")
      }
      start += written
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Whether the output is a terminal; affects only the layout.
  var isTerminal: Bool { isatty(descriptor) == 1 }
}

/// The reader has closed the output.
struct OutputClosed: Error {}

/// Why a command failed, in one line of text.
struct CommandFailure: Error {
  let line: String
  /// The exit status.
  let status: Int32

  init(_ line: String, status: Int32 = 1) {
    self.line = line
    self.status = status
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

/// Writes a line to standard error. If that is closed the line is lost.
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
