import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A new store whose files appear at their place when they are complete: the store is made in a hidden folder
/// beside the place, under its own name, so that files beside it keep the names by which it finds them. The
/// store's file moves last and never replaces another.
///
/// A process that is killed leaves the hidden folder, and nothing at the place. The next one that makes a
/// store there removes that folder (`OwnedFolder`).
package struct StagedStore {
  /// The place that the store gets.
  package let url: URL
  private let owned: OwnedFolder
  private var folder: URL { owned.url }

  /// Where the store is made and examined.
  package var temporary: URL { folder.appendingPathComponent(url.lastPathComponent) }

  /// Throws `StoreError.file` or `.invalidFile` if there is something at the place already, or if its folder
  /// can't be written.
  package init(at url: URL) throws {
    self.url = url
    let parent: URL = url.deletingLastPathComponent()
    var info = stat()
    if lstat(url.path, &info) == 0 {
      throw StoreError.file(url: url, operation: "creating it", code: EEXIST)
    }
    try Self.requireNoJournal(of: url)
    do {
      owned = try OwnedFolder(in: parent, prefix: ".\(url.lastPathComponent).new")
    } catch let error as POSIXError {
      throw StoreError.file(url: url, operation: "creating it", code: error.code.rawValue)
    }
  }

  /// A log that another database has left would be applied to the new one when that is opened, and the next
  /// writer of a database would delete a store that has the name of its log.
  private static func requireNoJournal(of url: URL) throws {
    var info = stat()
    for ending in ["-wal", "-shm", "-journal"] {
      if lstat(url.path + ending, &info) == 0 {
        throw StoreError.invalidFile(
          url: url,
          reason:
            "\(url.lastPathComponent)\(ending) lies beside it, the log of a database that is not there. Remove it if "
            + "nothing needs it, or give another name.")
      }
      guard url.path.hasSuffix(ending) else { continue }
      throw StoreError.invalidFile(
        url: url, reason: "Names that end with \(ending) are those of SQLite's logs. Give another name.")
    }
  }

  /// Moves all files to the place. The store must be closed. If it throws, nothing is there.
  package func publish() throws {
    let parent: URL = url.deletingLastPathComponent()
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0 != OwnedFolder.lockName }.sorted()
    guard names.contains(url.lastPathComponent) else {
      throw StoreError.file(url: url, operation: "creating it", code: ENOENT)
    }
    var moved: [String] = []
    do {
      for name in names where name != url.lastPathComponent {
        let place: String = parent.appendingPathComponent(name).path
        var info = stat()
        if lstat(place, &info) == 0 {
          throw StoreError.invalidFile(
            url: url,
            reason:
              "Its files would lie beside those of another store, in \(place). Give a name that differs before its "
              + "ending, or another folder.")
        }
        guard rename(folder.appendingPathComponent(name).path, place) == 0 else { throw failure() }
        moved.append(name)
      }
      // Unlike a rename, a link never replaces a file. Some file systems have no links.
      if link(temporary.path, url.path) != 0 {
        let code: Int32 = errno
        var info = stat()
        guard code != EEXIST, lstat(url.path, &info) != 0, rename(temporary.path, url.path) == 0 else {
          throw StoreError.file(url: url, operation: "creating it", code: code)
        }
      }
    } catch {
      for name in moved {
        rename(parent.appendingPathComponent(name).path, folder.appendingPathComponent(name).path)
      }
      throw error
    }
    try? DurableFile.synchronize(folder: parent)
    discard()
  }

  /// Runs `body`, which works on the temporary store. Its errors name the place that the store gets.
  package func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError {
      throw error.renaming(folder.path, to: url.deletingLastPathComponent().path)
    }
  }

  private func failure() -> StoreError { .file(url: url, operation: "creating it", code: errno) }

  /// Removes what is left of the hidden folder.
  package func discard() { owned.remove() }
}
