import CoreDataModel
import CoreDataStorage
import Foundation
import GRDBSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A database file and its companion files, examined without opening it as a database.
///
///     header  0  16  "SQLite format 3\0"      18  1  write version: 1 rollback journal, 2 WAL
///            16   2  page size                 19  1  read version        103  2  tables and indexes, if they fit
///            24   4  changes                   28  4  pages                92  4  changes when the pages were counted
///     <file>-wal      pages newer than the file's, WAL mode
///     <file>-journal  pages older than the file's; not empty and not zeroed at the start: a crashed writer's ("hot")
package struct StoreFileState: Sendable, Equatable {
  let url: URL
  /// The path of the file itself, if the URL is a link to it: its companions lie beside it.
  let path: String
  let file: FileStamp?
  let wal: FileStamp?
  let journal: FileStamp?
  let isHeaderValid: Bool
  /// The file ends within the header of a database.
  private let isHeaderCutOff: Bool
  package let isWALMode: Bool
  package let pageSizeInBytes: Int
  let isJournalHot: Bool
  /// The first page of the file holds no table. Pages in a WAL or a journal may hold some.
  let isFirstPageBlank: Bool
  /// The bytes that the file has by its header; 0 if that does not say.
  private let countedBytes: Int64
  /// Why the file can't be examined; nil if it can, or if it does not exist.
  private let obstacle: String?

  package init(url: URL) {
    self.url = url
    file = FileStamp(path: url.path)
    let absence: Int32 = errno
    path = url.isLink ? url.followingLinks.path : url.path
    wal = FileStamp(path: path + "-wal")
    journal = FileStamp(path: path + "-journal")
    let (header, failure): ([UInt8], Int32) =
      file == nil ? ([], absence) : file?.kind == .file ? Self.firstBytes(of: path, count: 108) : ([], 0)
    obstacle = failure == 0 || failure == ENOENT ? nil : Self.obstacle(failure, isSeen: file != nil)
    isHeaderValid = header.count >= 100 && header.starts(with: Self.beginning)
    isHeaderCutOff = header.count < 100 && Self.isBeginning(header)
    isWALMode = isHeaderValid && (header[18] == 2 || header[19] == 2)
    let raw: Int = isHeaderValid ? Int(header[16]) << 8 | Int(header[17]) : 0
    pageSizeInBytes = raw == 1 ? 65536 : raw
    // Page 1 begins with the 100 bytes above; the b-tree page header after it has the number of
    // cells at offset 3.
    isFirstPageBlank = isHeaderValid && header.count == 108 && header[103] == 0 && header[104] == 0
    let isCounted: Bool = isHeaderValid && header[24..<28].elementsEqual(header[92..<96])
    let pages: Int64 = isCounted ? header[28..<32].reduce(0) { $0 << 8 | Int64($1) } : 0
    countedBytes = pages * Int64(pageSizeInBytes)
    isJournalHot =
      (journal?.size ?? 0) > 0 && journal?.kind == .file
      && (Self.firstBytes(of: path + "-journal", count: 1).bytes.first ?? 0) != 0
  }

  private static let beginning: [UInt8] = Array("SQLite format 3\0".utf8)

  /// Whether the first bytes of a file, or all that it has, are those of a database. Fewer than thirteen,
  /// `SQLite format`, may be any text.
  static func isBeginning(_ head: some Collection<UInt8>) -> Bool {
    head.count >= 13 && head.prefix(beginning.count).elementsEqual(beginning.prefix(head.count))
  }

  /// Whether there are pages in a WAL file. They may have any content, even an empty database.
  package var hasWAL: Bool { (wal?.size ?? 0) > 0 }

  /// The numbers that change when the WAL begins anew; none if there is no WAL.
  var walHeader: [UInt8] { hasWAL ? Self.firstBytes(of: path + "-wal", count: 32).bytes : [] }

  /// Whether nothing was written since a former state but frames at the end of the WAL.
  func isSame(as former: StoreFileState, walHeader header: [UInt8]) -> Bool {
    if header.isEmpty { return self == former }
    guard file == former.file, journal == former.journal, let wal, let before = former.wal,
      wal.identity == before.identity, wal.size >= before.size
    else { return false }
    return walHeader == header
  }

  /// Whether a crashed writer's journal must be rolled back before the file can be read.
  package var hasHotJournal: Bool { isJournalHot }
  package var exists: Bool { file != nil }
  package var sizeInBytes: Int64 { file?.size ?? 0 }

  /// That the file is shorter than its header says, as a sentence; nil if it is not, or other files may have
  /// the rest.
  var shortage: String? {
    if hasWAL || isJournalHot || sizeInBytes >= countedBytes { return nil }
    return
      "The file is cut off: it has \(sizeInBytes) of the \(countedBytes) bytes that its header gives. What stood in the "
      + "rest is lost, and nothing tells what that was; values on the last page may lack their ends."
  }

  /// Throws if a file is shorter than its header says. SQLite itself takes a last page that is cut off for
  /// whole, and reads zeros for the rest of it.
  func requireWhole() throws {
    var shortage: String? = shortage
    // Without a journal another process may be about to write the rest.
    for _ in 0..<5 where shortage != nil {
      Thread.sleep(forTimeInterval: 0.02)
      shortage = StoreFileState(url: url).shortage
    }
    if let shortage { throw StoreError.invalidFile(url: url, reason: shortage, cure: .repairing) }
  }

  /// A database that was created and not written to: its one page holds no table.
  var isBlank: Bool { isFirstPageBlank && sizeInBytes <= Int64(pageSizeInBytes) && !hasWAL }
  /// Why there can't be a store at the path, whether it exists or is to be created; nil if there can.
  package var placeObjection: String? { obstacle ?? file?.kind.objection }

  /// Why this can't be opened as a database, nil if it might.
  var objection: String? {
    if let obstacle { return obstacle }
    guard let file else { return "There is no file." }
    if let objection = file.kind.objection ?? companionObjection { return objection }
    if file.size == 0 { return "The file is empty." }
    if isHeaderCutOff {
      return
        "The file is cut off: it has \(file.size) bytes, and the header of an SQLite database alone has 100, so "
        + "that nothing of it can be read. Restore a copy."
    }
    if file.size < 100 || !isHeaderValid {
      return "It is not an SQLite database: the file does not begin with \"SQLite format 3\". "
        + "XML and binary stores must be opened with their own store type; encrypted databases can't be opened."
    }
    return nil
  }

  /// SQLite would wait for a pipe, or read a device.
  private var companionObjection: String? {
    for (ending, companion) in [("-wal", wal), ("-journal", journal)] {
      guard let objection = companion?.kind.objection else { continue }
      return "SQLite uses the file \(path)\(ending) beside it, which can't be used: \(objection)"
    }
    return nil
  }

  private static func obstacle(_ code: Int32, isSeen: Bool) -> String {
    let reason = String(cString: strerror(code))
    switch code {
    case EACCES, EPERM:
      return isSeen
        ? "This process may not read the file (\(reason)); change its permissions or its owner."
        : "This process may not look into the folder (\(reason)); change the folder's permissions or owner."
    case ENOTDIR: return "A part of its path is a file, not a folder."
    case ELOOP: return "Its symbolic links lead round in a circle."
    default: return "It can't be read: \(reason)."
    }
  }

  /// The first bytes of the file, and the number of the error that prevented reading them; 0 for none.
  private static func firstBytes(of path: String, count: Int) -> (bytes: [UInt8], failure: Int32) {
    do throws(DatabaseBytes.Unreadable) {
      return (try DatabaseBytes(path: path).read(upTo: count), 0)
    } catch {
      return ([], error.code)
    }
  }
}
