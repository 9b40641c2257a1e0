import Foundation
import GRDBSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What one file looked like at one moment. Two equal stamps mean that nobody wrote in between, as far as the file
/// system's clock tells.
struct FileStamp: Equatable, Sendable {
  var size: Int64
  var modifiedSeconds: Int
  var modifiedNanoseconds: Int
  var inode: UInt64
  var isFolder: Bool

  /// nil if there is no such file. Follows symbolic links.
  init?(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    size = Int64(info.st_size)
    #if canImport(Darwin)
      modifiedSeconds = info.st_mtimespec.tv_sec
      modifiedNanoseconds = info.st_mtimespec.tv_nsec
    #else
      modifiedSeconds = info.st_mtim.tv_sec
      modifiedNanoseconds = info.st_mtim.tv_nsec
    #endif
    inode = UInt64(info.st_ino)
    isFolder = info.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether the file changed so short ago that one more change need not show in the stamp.
  var isFresh: Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let age: Double =
      Double(now.tv_sec - modifiedSeconds) + Double(now.tv_nsec - modifiedNanoseconds) / 1e9
    return age < 0.05
  }
}

/// A database file with what lies beside it, seen without opening it as a database.
///
///     header  0  16  "SQLite format 3\0"      18  1  write version: 1 rollback journal, 2 WAL
///            16   2  page size                 19  1  read version        103  2  tables and indexes, if they fit
///     <file>-wal      pages newer than the file's, WAL mode
///     <file>-journal  pages older than the file's; not empty and not zeroed at the start: a crashed writer's ("hot")
package struct StoreFileState: Sendable, Equatable {
  let url: URL
  let file: FileStamp?
  let wal: FileStamp?
  let journal: FileStamp?
  let isHeaderValid: Bool
  package let isWALMode: Bool
  package let pageSizeInBytes: Int
  let isJournalHot: Bool
  /// A database that somebody has begun and not written anything to: its one page holds no table.
  let isBlank: Bool

  init(url: URL) {
    self.url = url
    let path: String = url.path
    file = FileStamp(path: path)
    wal = FileStamp(path: path + "-wal")
    journal = FileStamp(path: path + "-journal")
    let header: [UInt8] = Self.firstBytes(of: path, count: 108)
    isHeaderValid = header.count >= 100 && header.starts(with: Array("SQLite format 3\0".utf8))
    isWALMode = isHeaderValid && (header[18] == 2 || header[19] == 2)
    let raw: Int = isHeaderValid ? Int(header[16]) << 8 | Int(header[17]) : 0
    pageSizeInBytes = raw == 1 ? 65536 : raw
    // Page 1 begins with the 100 bytes above; the b-tree page header after it has the number of cells at offset 3.
    isBlank =
      isHeaderValid && header.count == 108 && header[103] == 0 && header[104] == 0
      && (file?.size ?? 0) <= Int64(pageSizeInBytes) && (wal?.size ?? 0) == 0
    isJournalHot =
      (journal?.size ?? 0) > 0 && (Self.firstBytes(of: path + "-journal", count: 1).first ?? 0) != 0
  }

  /// Whether there are pages in a WAL file.
  package var hasWAL: Bool { (wal?.size ?? 0) > 0 }
  /// Whether a crashed writer's journal must be played back before the file can be read.
  package var hasHotJournal: Bool { isJournalHot }
  package var exists: Bool { file != nil }
  package var sizeInBytes: Int64 { file?.size ?? 0 }

  /// Why this can't be opened as a database, nil if it might.
  var objection: String? {
    guard let file else { return "There is no file." }
    if file.isFolder { return "It is a folder; name the store file inside it." }
    if file.size == 0 { return "The file is empty." }
    if file.size < 100 || !isHeaderValid {
      return "It is not an SQLite database: the file does not begin with \"SQLite format 3\". "
        + "XML and binary stores must be opened with their own store type; encrypted databases can't be opened."
    }
    return nil
  }

  private static func firstBytes(of path: String, count: Int) -> [UInt8] {
    let file: Int32 = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    let got: Int = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, count) }
    return Array(bytes.prefix(max(0, got)))
  }
}
