import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB

/// Stores that lie beside one another and whose names differ only in their extension, such as `Notes.sqlite`
/// and a copy `Notes.bak`. They share one folder of large values (`ExternalData`), and the rows of a plain
/// copy refer to the same files there.
struct SharedFolder {
  private let external: ExternalData
  private static let longestWaitInSeconds: Double = 1

  init(of external: ExternalData) { self.external = external }

  /// The other stores.
  var neighbours: [URL] {
    let place: URL = external.file.deletingLastPathComponent()
    let stem: String = external.file.deletingPathExtension().lastPathComponent
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
    let identity = FileIdentity(path: external.file.path)
    return names.sorted().filter { $0 != external.file.lastPathComponent && $0.hasPrefix(stem) && isMain($0) }
      .map { place.appendingPathComponent($0) }
      .filter { url in
        guard url.deletingPathExtension().lastPathComponent == stem else { return false }
        let state = StoreFileState(url: url)
        // Another name of the same file is no other store, and a link to a store elsewhere has its files
        // there.
        return state.isHeaderValid && state.file?.identity != identity
          && ExternalData(store: url, missing: .isNil).folder == external.folder
      }
  }

  /// Whether a file may be a store: logs, their indexes and journals are not. Reading an index would release
  /// the locks that this process holds on it, which are those of the log.
  private func isMain(_ name: String) -> Bool {
    !["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
  }

  /// The names of the files that the other stores' rows refer to; nil if one of these stores can't be read,
  /// because any file may then belong to it.
  func referredNames() -> Set<String>? {
    var options = SQLiteOptions(isReadOnly: true)
    options.busyTimeoutInSeconds = Self.longestWaitInSeconds
    var result: Set<String> = []
    for url in neighbours {
      guard
        let names: Set<String> = try? StoreSnapshot(of: url, options).read({
          try ExternalLeftovers.referredNames($0, url: url)
        })
      else { return nil }
      result.formUnion(names)
    }
    return result
  }
}
