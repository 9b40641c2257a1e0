import CoreDataModel
import CoreDataStorage
import Foundation

/// Other processes that have a SQLite store open.
///
/// A connection of a database with a write-ahead log holds a lock on byte 128 of the `-shm` file for as long
/// as it is open. The kernel's list of locks is read, because asking for the lock would need a descriptor of
/// the file, and closing that one would release the locks of this process's own connections.
enum OtherUsers {
  private static let list: String = "/proc/locks"
  private static let openByte: Int = 128

  /// A process other than this one; nil if there is none, and where the system has no such list.
  static func process(of database: String) -> Int32? {
    guard let identity = FileStamp(path: database + "-shm")?.identity,
      let text = try? String(contentsOfFile: list, encoding: .utf8)
    else { return nil }
    return process(in: text, of: identity)
  }

  ///     1: POSIX  ADVISORY  READ 4192 fe:00:16518265 128 128
  private static func process(in text: String, of identity: FileIdentity) -> Int32? {
    for line in text.split(separator: "\n") {
      let words: [Substring] = line.split(separator: " ")
      guard words.count >= 8, words[1] == "POSIX", let process = Int32(words[4]), process > 0,
        process != ProcessInfo.processInfo.processIdentifier, let first = Int(words[6]), first <= openByte,
        words[7] == "EOF" || (Int(words[7]) ?? 0) >= openByte
      else { continue }
      let place: [Substring] = words[5].split(separator: ":")
      if place.count == 3, UInt64(place[2]) == UInt64(identity.inode) { return process }
    }
    return nil
  }
}
