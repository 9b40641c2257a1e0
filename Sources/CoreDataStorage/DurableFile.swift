import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes files that are on the disk, not only in its cache, when a call returns.
package enum DurableFile {
  /// Creates a new file; never replaces one.
  package static func write(_ bytes: UnsafeRawBufferPointer, to url: URL) throws {
    let file: Int32 = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw failure("open") }
    defer { close(file) }
    try write(bytes, file)
    guard fsync(file) == 0 else { throw failure("fsync") }
  }

  /// Writes all of the bytes to an open file. They need not be on the disk when this returns.
  package static func write(_ bytes: UnsafeRawBufferPointer, _ file: Int32) throws {
    var rest = bytes
    while !rest.isEmpty {
      let count: Int = systemWrite(file, rest.baseAddress!, rest.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw failure("write")
      }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  /// Makes the names of new files in a folder durable.
  package static func synchronize(folder: URL) throws {
    let file: Int32 = open(folder.path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure("open") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw failure("fsync") }
  }

  /// The system's code in an error of this type's functions, or of Foundation's file manager.
  package static func code(of error: any Error) -> Int32 {
    let error = error as NSError
    if error.domain == NSPOSIXErrorDomain { return Int32(error.code) }
    return (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { code(of: $0) } ?? EIO
  }

  package static func failure(_ call: String) -> NSError {
    let code: Int32 = errno
    return NSError(
      domain: NSPOSIXErrorDomain, code: Int(code),
      userInfo: [NSLocalizedDescriptionKey: "\(call): \(String(cString: strerror(code)))"])
  }
}

/// The system's function; inside the type above this name means the type's own.
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  write(file, bytes, count)
}
