import CoreDataModel
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a path may name other than a file with bytes.
package enum FileKind: Sendable {
  case file, folder, pipe, socket, device

  package init(_ info: stat) {
    switch info.st_mode & S_IFMT {
    case S_IFREG: self = .file
    case S_IFDIR: self = .folder
    case S_IFIFO: self = .pipe
    case S_IFSOCK: self = .socket
    default: self = .device
    }
  }

  /// Why a value can't be read from it; nil for a file.
  package var objectionToValue: String? {
    switch self {
    case .file: nil
    case .folder: "It is a folder, not a file."
    case .pipe: "It is a named pipe (FIFO), not a file."
    case .socket, .device: objection
    }
  }

  /// Why a store can't be read from it; nil for a file. Opening some of these would wait for a writer.
  package var objection: String? {
    switch self {
    case .file: nil
    case .folder: "It is a folder; name the store file inside it."
    case .pipe: "It is a named pipe (FIFO), not a file; write what it gives to a file first."
    case .socket: "It is a socket, not a file."
    case .device: "It is a device, not a file."
    }
  }
}

/// The size, times and identity of a file at one moment. Two equal stamps mean that nothing was written in
/// between, as far as the resolution of the file system's clock allows.
package struct FileStamp: Equatable, Sendable {
  package var size: Int64
  package var modifiedSeconds: Int
  package var modifiedNanoseconds: Int
  package var identity: FileIdentity
  package var kind: FileKind
  /// The permissions.
  package var mode: mode_t

  /// nil if there is no such file, or none that the process may see. Follows symbolic links.
  package init?(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    self.init(info)
  }

  package init(_ info: stat) {
    size = Int64(info.st_size)
    #if canImport(Darwin)
      modifiedSeconds = info.st_mtimespec.tv_sec
      modifiedNanoseconds = info.st_mtimespec.tv_nsec
    #else
      modifiedSeconds = info.st_mtim.tv_sec
      modifiedNanoseconds = info.st_mtim.tv_nsec
    #endif
    identity = FileIdentity(info)
    kind = FileKind(info)
    mode = info.st_mode & 0o7777
  }

  /// Whether the file changed so recently that another change might not show in the stamp.
  package var isFresh: Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let age: Double =
      Double(now.tv_sec - modifiedSeconds) + Double(now.tv_nsec - modifiedNanoseconds) / 1e9
    return age < 0.05
  }
}
