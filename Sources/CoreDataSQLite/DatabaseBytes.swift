import Foundation
import GRDBSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bytes of a database file, read without a connection.
///
/// SQLite's locks belong to the process: closing any descriptor of a file releases all locks that the process
/// holds on it, also those that connections rely on (https://www.sqlite.org/howtocorrupt.html, 2.2). So in
/// this process only SQLite's own file layer may open and close a store's file: it keeps a descriptor until
/// no lock on the file is left. This type reads through that layer.
package final class DatabaseBytes {
  /// A system error by its number.
  package struct Unreadable: Error {
    package let code: Int32
  }

  /// `SQLITE_IOERR_SHORT_READ`, a macro that is not imported.
  private static let cutOff: Int32 = SQLITE_IOERR | (2 << 8)

  private let file: UnsafeMutablePointer<sqlite3_file>
  private let name: UnsafePointer<CChar>
  package let count: Int64

  /// Throws for a file that is missing or can't be read. Follows links.
  package init(path: String) throws(Unreadable) {
    // SQLite reports only that it can't open the file, without the system's error.
    guard faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 else { throw Unreadable(code: errno) }
    guard let system = sqlite3_vfs_find(nil), let open = system.pointee.xOpen,
      let full = Self.fullPath(path, system), let name = sqlite3_create_filename(full, "", "", 0, nil)
    else { throw Unreadable(code: ENOMEM) }
    let room = UnsafeMutableRawPointer.allocate(byteCount: Int(system.pointee.szOsFile), alignment: 16)
    room.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
    let file: UnsafeMutablePointer<sqlite3_file> = room.assumingMemoryBound(to: sqlite3_file.self)
    let code: Int32 = open(system, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, nil)
    var count: Int64 = 0
    guard code == SQLITE_OK, file.pointee.pMethods?.pointee.xFileSize?(file, &count) == SQLITE_OK else {
      Self.close(file, name)
      throw Unreadable(code: EIO)
    }
    (self.file, self.name, self.count) = (file, name, count)
  }

  deinit { Self.close(file, name) }

  /// The path without links, as the file layer requires it.
  private static func fullPath(_ path: String, _ system: UnsafeMutablePointer<sqlite3_vfs>) -> [CChar]? {
    var full = [CChar](repeating: 0, count: Int(system.pointee.mxPathname) + 1)
    let code: Int32? = system.pointee.xFullPathname?(system, path, Int32(full.count), &full)
    // The second byte of the code reports that there was a link.
    return code.map { $0 & 0xFF } == SQLITE_OK ? full : nil
  }

  private static func close(_ file: UnsafeMutablePointer<sqlite3_file>, _ name: UnsafePointer<CChar>) {
    _ = file.pointee.pMethods?.pointee.xClose?(file)
    UnsafeMutableRawPointer(file).deallocate()
    sqlite3_free_filename(name)
  }

  /// Up to `limit` bytes from an offset on; fewer at the end.
  package func read(at offset: Int64 = 0, upTo limit: Int) throws(Unreadable) -> [UInt8] {
    let length = Int(max(0, min(Int64(limit), count - offset)))
    var bytes = [UInt8](repeating: 0, count: length)
    if length == 0 { return bytes }
    let code: Int32? = bytes.withUnsafeMutableBytes {
      file.pointee.pMethods?.pointee.xRead?(file, $0.baseAddress, Int32($0.count), offset)
    }
    // A file that was truncated meanwhile reads as zeros; its stamp shows the change.
    guard code == SQLITE_OK || code == Self.cutOff else { throw Unreadable(code: EIO) }
    return bytes
  }
}
