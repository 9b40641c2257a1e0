import CoreDataStorage
import Foundation

/// A file, or a folder of files, that appears when it is complete.
enum NewFile {
  /// Calls `body` with an output into a new file.
  static func write(_ path: String, _ body: (StandardOutput) throws -> Void) throws {
    try folder(path) { temporary in try write(at: temporary, body) }
  }

  /// Calls `body` with a place at which it makes a file or a folder.
  static func folder(_ path: String, _ body: (URL) throws -> Void) throws {
    var info = stat()
    if lstat(path, &info) == 0 {
      throw CommandFailure("\(path): There is a file already. Give another name, or remove it first.")
    }
    let staged = try StagedStore(at: URL(fileURLWithPath: path))
    defer { staged.discard() }
    try body(staged.temporary)
    try Interruption.check()
    try staged.publish()
  }

  static func write(at url: URL, _ body: (StandardOutput) throws -> Void) throws {
    guard FileManager.default.createFile(atPath: url.path, contents: nil),
      let file = FileHandle(forWritingAtPath: url.path)
    else { throw CommandFailure("\(url.path): The file can't be made.") }
    defer { try? file.close() }
    let output = StandardOutput(descriptor: file.fileDescriptor)
    try body(output)
    try output.flush()
    try file.synchronize()
  }
}
