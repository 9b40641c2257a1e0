import CoreDataModel
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
    if url.isTaken {
      throw StoreError.file(url: url, operation: "creating it", code: EEXIST)
    }
    try Self.requireNoJournal(of: url)
    Self.takeBack(from: parent, of: url)
    do {
      owned = try OwnedFolder(in: parent, prefix: Self.prefix(of: url))
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

  /// Moves all files to the place. The store must be closed. If it throws, nothing is there. Returns the
  /// names of the files beside the store's own.
  @discardableResult
  package func publish() throws -> [String] {
    let names: [String] = try naming {
      try self.names(in: folder) { $0 != OwnedFolder.lockName && $0 != Self.listName }
    }
    guard names.contains(url.lastPathComponent) else {
      throw StoreError.file(url: url, operation: "creating it", code: ENOENT)
    }
    let others: [String] = names.filter { $0 != url.lastPathComponent }
    if !others.isEmpty { try note(others) }
    var moved: [String] = []
    do {
      for name in others {
        let place: URL = parent.appendingPathComponent(name)
        if place.isTaken {
          throw StoreError.invalidFile(
            url: url,
            reason:
              "Its files would lie beside those of another store, in \(place.path). Give a name that differs before its "
              + "ending, or another folder.")
        }
        guard rename(folder.appendingPathComponent(name).path, place.path) == 0 else { throw failure() }
        moved.append(name)
      }
      // Unlike a rename, a link never replaces a file. Some file systems have no links.
      if link(temporary.path, url.path) != 0 {
        let code: Int32 = errno
        guard code != EEXIST, !url.isTaken else {
          throw StoreError.file(url: url, operation: "creating it", code: code)
        }
        guard rename(temporary.path, url.path) == 0 else { throw failure() }
      }
      unlink(temporary.path)
    } catch {
      moveBack(moved)
      throw error
    }
    try? DurableFile.synchronize(folder: parent)
    return moved
  }

  /// Takes a published store away again, which could not be opened at its place: its files, those beside it
  /// that `publish` has returned, and the log that the attempt has made.
  package func withdraw(_ names: [String]) {
    let own: String = url.lastPathComponent
    moveBack([own, own + "-wal", own + "-shm"] + names)
  }

  /// What can't be moved back, because the disk is full, is removed: nothing refers to it.
  ///
  /// A rename between two names of one file does nothing, so the hidden one goes first; the file has the
  /// other then until it is moved.
  private func moveBack(_ names: [String]) {
    for name in names {
      let place: URL = parent.appendingPathComponent(name)
      let hidden: String = folder.appendingPathComponent(name).path
      if FileIdentity(path: hidden) != nil, FileIdentity(path: hidden) == FileIdentity(path: place.path) {
        unlink(hidden)
      }
      if rename(place.path, hidden) != 0 {
        try? FileManager.default.removeItem(at: place)
      }
    }
  }

  /// Lists what is to be moved before the store's own file.
  private func note(_ names: [String]) throws {
    do {
      try Array(names.joined(separator: "\n").utf8).withUnsafeBytes {
        try DurableFile.write($0, to: folder.appendingPathComponent(Self.listName))
      }
    } catch {
      throw StoreError.file(url: url, operation: "creating it", code: DurableFile.code(of: error))
    }
  }

  private var parent: URL { url.deletingLastPathComponent() }

  private func names(in folder: URL, _ isWanted: (String) -> Bool) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter(isWanted).sorted()
  }

  /// The names of the files that are moved before the store's own.
  private static let listName: String = ".published"

  /// Removes what processes have moved to the place and were killed before the store followed.
  private static func takeBack(from parent: URL, of url: URL) {
    let base: String = url.deletingPathExtension().lastPathComponent
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    // A store whose name differs only in its ending has its values in the same folder.
    if names.contains(where: { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent == base }) {
      return
    }
    OwnedFolder.forEachAbandoned(in: parent, prefix: prefix(of: url)) { folder in
      guard let list = try? String(contentsOf: folder.appendingPathComponent(listName), encoding: .utf8)
      else {
        return
      }
      for name in list.split(separator: "\n").map(String.init)
      where name.hasPrefix(".") && !name.contains("/") && !name.contains("..") {
        try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
      }
    }
  }

  private static func prefix(of url: URL) -> String { ".\(url.lastPathComponent).new" }

  /// Runs `body`, which works on the temporary store. Its errors name the place that the store gets.
  package func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw ErrorRenaming.renamed(error, meant)
    }
  }

  /// A text without the hidden folder in its paths, however these are written: with links resolved, or as a
  /// URL. The folder's name is found nowhere else.
  package func meant(_ text: String) -> String {
    let name: String = folder.lastPathComponent
    let names: [String] = [
      name, name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name,
    ]
    return names.reduce(text) { $0.replacingOccurrences(of: "/\($1)", with: "") }
  }

  private func failure() -> StoreError { .file(url: url, operation: "creating it", code: errno) }

  /// Removes what is left of the hidden folder.
  package func discard() { owned.remove() }
}

extension URL {
  /// Whether there is something at the place, be it a link that leads nowhere.
  package var isTaken: Bool {
    var info = stat()
    return lstat(path, &info) == 0
  }
}
