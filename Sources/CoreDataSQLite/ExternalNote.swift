import CoreDataStorage
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The names of the files that one save adds or drops, on disk until the save is over. They identify the
/// files of a process that was killed meanwhile (Decisions/0035).
///
///     .Shop_SUPPORT/clarus-save-<store>-<UUID>      the names, one a line
///
/// `<store>` is a hash of the store's file name: stores whose names differ only in their extension share the
/// folder.
///
/// A name is noted before its file is created, and before the commit after which its row no longer refers to
/// it. Notes are written under the store's write lock only: a connection that holds the lock sees only notes
/// of saves that are over or whose process has died.
final class ExternalNote {
  private let path: String
  /// -1 until there is a name to note.
  private var file: Int32 = -1

  init(of external: ExternalData) {
    path = external.support.appendingPathComponent(Self.prefix(external) + UUID().uuidString).path
  }

  deinit { if file >= 0 { close(file) } }

  func add(_ name: String) throws {
    if file < 0 {
      file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
      guard file >= 0 else { throw DurableFile.failure("open") }
    }
    try Data((name + "\n").utf8).withUnsafeBytes { try DurableFile.write($0, file) }
  }

  func remove() { if file >= 0 { unlink(path) } }

  /// FNV-1a, which is the same in every process.
  private static func prefix(_ external: ExternalData) -> String {
    let hash: UInt64 = external.file.lastPathComponent.utf8.reduce(0xcbf2_9ce4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return "clarus-save-\(String(hash, radix: 16))-"
  }

  // MARK: Notes of earlier saves

  /// The notes of a store.
  static func paths(of external: ExternalData) -> [String] {
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: external.support.path)) ?? []
    let prefix: String = prefix(external)
    return names.filter { $0.hasPrefix(prefix) }.map { external.support.appendingPathComponent($0).path }
  }

  /// The names in a note. The last line may be incomplete; lines that are no names are skipped.
  static func names(at path: String) -> [String] {
    guard let data = try? ExternalFile(path: path).read(fitting: .max) else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter(ExternalData.isFileName)
  }
}
