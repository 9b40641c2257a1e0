import CoreDataStorage
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file, or a folder of files, that appears when it is complete.
enum NewFile {
  /// Calls `body` with an output into a new file.
  static func write(_ path: String, _ body: (StandardOutput) throws -> Void) throws {
    try folder(path) { temporary in try write(at: temporary, body) }
  }

  /// Calls `body` with a place at which it makes a file or a folder. Its failures name the place that is
  /// meant.
  static func folder(_ path: String, _ body: (URL) throws -> Void) throws {
    var info = stat()
    if lstat(path, &info) == 0 {
      throw CommandFailure("\(path): There is a file already. Give another name, or remove it first.")
    }
    let parent: String = (path as NSString).deletingLastPathComponent
    if !parent.isEmpty, stat(parent, &info) != 0, errno == ENOENT {
      throw CommandFailure("\(path): There is no folder \(parent). Make it first: mkdir -p '\(parent)'")
    }
    let staged = try StagedStore(at: URL(fileURLWithPath: path))
    defer { staged.discard() }
    try naming(staged) { try body(staged.temporary) }
    try Interruption.check()
    try staged.publish()
  }

  /// Runs `body`, which works in the hidden folder. Its failures name the place that is meant.
  static func naming<Result>(_ staged: StagedStore, _ body: () throws -> Result) throws -> Result {
    do {
      return try staged.naming(body)
    } catch let failure as CommandFailure {
      throw CommandFailure(staged.meant(failure.line), status: failure.status)
    }
  }

  static func makeFolder(at url: URL) throws {
    guard mkdir(url.path, 0o755) == 0 else {
      throw CommandFailure("\(url.path) can't be made: \(String(cString: strerror(errno))).")
    }
  }

  static func write(at url: URL, _ body: (StandardOutput) throws -> Void) throws {
    let file: Int32 = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw CommandFailure("\(url.path) can't be made: \(String(cString: strerror(errno))).")
    }
    defer { close(file) }
    let output = StandardOutput(descriptor: file, path: url.path)
    try body(output)
    try output.flush()
    guard fsync(file) == 0 else {
      throw CommandFailure("\(url.path) can't be written: \(String(cString: strerror(errno))).")
    }
  }
}
