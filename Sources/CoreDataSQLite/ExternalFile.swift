import CoreDataStorage
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file of one large value.
struct ExternalFile {
  let path: String

  /// The reason why the value can't be read.
  struct Problem: Error {
    let path: String
    let reason: String
    /// Whether the file is there, and the process may not read it.
    var isForbidden: Bool = false
  }

  /// Why the value can't be read, as far as the file shows it without its contents; nil for nothing.
  func problem() -> Problem? {
    do {
      let (file, _): (Int32, Int) = try opened()
      close(file)
      return nil
    } catch {
      return error
    }
  }

  /// The bytes of the file. Throws `Problem`, also for something that has a value's name but is no value's
  /// file: a folder, a pipe (opening it would wait for a writer), a link (it may lead out of the store's
  /// folder), an empty file (small values stay in their rows).
  func read(fitting limit: Int) throws -> Data {
    let (file, size): (Int32, Int) = try opened()
    defer { close(file) }
    guard size < limit else { throw problem("It has \(size) bytes, more than rows can hold.") }
    var bytes = Data(count: size)
    var filled: Int = 0
    while filled < size {
      let count: Int = bytes.withUnsafeMutableBytes {
        systemRead(file, $0.baseAddress! + filled, size - filled)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw problem(count < 0 ? Self.reason(errno) : "It became shorter meanwhile.") }
      filled += count
    }
    return bytes
  }

  private func opened() throws(Problem) -> (file: Int32, size: Int) {
    let file: Int32 = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard file >= 0 else {
      let code: Int32 = errno
      throw Problem(path: path, reason: Self.reason(code), isForbidden: code == EACCES || code == EPERM)
    }
    var info = stat()
    var objection: String?
    if fstat(file, &info) != 0 {
      objection = Self.reason(errno)
    } else {
      objection =
        FileKind(info).objectionToValue ?? (info.st_size == 0 ? "It is empty, so it was cut off." : nil)
    }
    if let objection {
      close(file)
      throw problem(objection)
    }
    return (file, Int(info.st_size))
  }

  /// Copies the file to another place, unless the same bytes are there. The copy is written to the file
  /// `made` first and then renamed, so that a partial copy never has the final name.
  func copy(to other: ExternalFile, by made: ExternalFile) throws {
    let bytes: Data = try read(fitting: .max)
    if (try? other.read(fitting: .max)) == bytes { return }
    try bytes.withUnsafeBytes { try DurableFile.write($0, to: URL(fileURLWithPath: made.path)) }
    guard rename(made.path, other.path) == 0 else { throw DurableFile.failure("rename") }
  }

  /// Removes the file, if it is a file. If it can't be removed it stays, which does no harm.
  func remove() { unlink(path) }

  private func problem(_ reason: String) -> Problem { Problem(path: path, reason: reason) }

  private static func reason(_ code: Int32) -> String {
    switch code {
    case ENOENT, ENOTDIR: "There is no such file."
    case ELOOP: "It is a symbolic link, which is not followed out of the folder."
    case EACCES, EPERM: "This process may not read it (\(String(cString: strerror(code))))."
    default: "\(String(cString: strerror(code)))."
    }
  }
}

/// The system's function; inside the type above this name means the type's own.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(file, bytes, count)
}
