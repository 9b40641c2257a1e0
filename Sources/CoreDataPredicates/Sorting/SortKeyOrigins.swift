import Foundation

/// The original key path and comparison of a path to a sort key.
package enum SortKeyOrigins {
  struct Origin {
    let keyPath: AnyKeyPath
    let comparison: StringComparison
  }

  private static let table: Table = .init()

  private final class Table: @unchecked Sendable {
    // `lock` guards `origins`, which has one entry for each property that is sorted by.
    let lock: NSLock = .init()
    var origins: [AnyKeyPath: Origin] = [:]
  }

  package static func register(_ path: AnyKeyPath, from keyPath: AnyKeyPath, _ comparison: StringComparison) {
    table.lock.withLock { table.origins[path] = Origin(keyPath: keyPath, comparison: comparison) }
  }

  /// The path itself if it was not registered.
  static func origin(of path: AnyKeyPath) -> Origin {
    table.lock.withLock { table.origins[path] } ?? Origin(keyPath: path, comparison: .plain)
  }
}
