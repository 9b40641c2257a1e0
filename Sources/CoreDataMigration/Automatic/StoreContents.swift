import CoreDataModel
import CoreDataStorage
import Foundation

/// The contents of a store's file as a digest, which is the same as long as nothing has been saved. Cost:
/// reads the file once, a megabyte at a time.
///
/// A SQLite file counts its changes in its header, and a migration that was killed while it exchanged the
/// contents has changed these counters alone: they are left out.
enum StoreContents {
  private static let chunk: Int = 1 << 20
  /// In a SQLite file's header: the file change counter, the schema's version, the version that the size is
  /// valid for.
  private static let counters: [Range<Int>] = [24..<28, 40..<44, 92..<96]

  /// Sizes and times of a store's file and its log: equal as long as nothing has been written, as far as the
  /// resolution of the file system's clock allows.
  struct Stamp: Equatable {
    private let files: [FileStamp?]

    init(of url: URL) {
      let path: String = url.followingLinks.path
      // Opening and closing a file creates and removes an empty log.
      files = ["", "-wal", "-journal"].map { ending in
        FileStamp(path: path + ending).flatMap { $0.size > 0 ? $0 : nil }
      }
    }

    /// A stamp in which every further write will show: waits, for a fraction of a second, after a write that
    /// was made just now. nil if the writing does not end.
    static func settled(_ url: URL) -> Stamp? {
      for _ in 0..<50 {
        let stamp = Stamp(of: url)
        if !stamp.files.contains(where: { $0?.isFresh ?? false }) { return stamp }
        Thread.sleep(forTimeInterval: 0.01)
      }
      return nil
    }
  }

  /// Of a file that this process has open as a SQLite store nothing is read, because closing it again would
  /// release that store's locks: its digest is another one each time.
  static func digest(of url: URL) throws -> Data {
    let path: String = url.followingLinks.path
    if StoreFileMark.isSet(path: path) { return Data(UUID().uuidString.utf8) }
    do {
      var parts: Data = try parts(of: path)
      // What is not in the file itself yet, or has to be undone in it.
      for log in ["-wal", "-journal"] where size(path + log) > 0 { parts += try self.parts(of: path + log) }
      return Data(SHA2.sha256(parts))
    } catch {
      let code: Int32 = (error as? CocoaError)?.code == .fileReadNoSuchFile ? ENOENT : EIO
      throw StoreError.file(url: url, operation: "reading it to migrate it", code: code)
    }
  }

  /// Whether a log or a journal of SQLite lies beside the file, with contents.
  static func hasLog(_ url: URL) -> Bool {
    let path: String = url.followingLinks.path
    return size(path + "-wal") > 0 || size(path + "-journal") > 0
  }

  private static func size(_ path: String) -> Int64 { FileStamp(path: path)?.size ?? 0 }

  private static func parts(of path: String) throws -> Data {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    var digests = Data()
    // Checksums of pieces, because a hash that also withstands deceit costs ten times as much.
    while var bytes = try file.read(upToCount: chunk), !bytes.isEmpty {
      if digests.isEmpty, bytes.starts(with: Data("SQLite format 3\0".utf8)), bytes.count >= 100 {
        for counter in counters {
          for place in counter { bytes[bytes.startIndex + place] = 0 }
        }
      }
      withUnsafeBytes(of: ContentsChecksum.of(bytes)) { digests.append(contentsOf: $0) }
    }
    return digests
  }
}

/// Digests of several values, as text.
enum Digest {
  /// The parts one by one, so that their borders count.
  static func of(_ parts: [Data]) -> String {
    let all: [UInt8] = parts.flatMap { SHA2.sha256($0) }
    return Data(SHA2.sha256(all)).base64EncodedString()
  }
}

/// The file of the running program.
enum ProgramFile {
  /// Another one after the program was built anew.
  static let stamp: String = {
    guard let path = Bundle.main.executableURL?.path, let stamp = FileStamp(path: path) else {
      return UUID().uuidString
    }
    return "\(path) \(stamp.size) \(stamp.modifiedSeconds) \(stamp.modifiedNanoseconds)"
  }()
}
