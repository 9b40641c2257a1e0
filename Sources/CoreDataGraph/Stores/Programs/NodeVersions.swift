import CoreDataStorage
import Foundation

/// The versions of the nodes that an incremental store has returned, and the versions of rows by which the
/// graph finds conflicts: a row gets a higher number whenever a node comes with another version.
///
///     node version   7    7    9          (saved here)   12
///     row version    1    1    2          3              3
///
/// A store does not say which version a save gave an object: the next node that is read does, or the node
/// that it returned before, if it still keeps that one and has updated it during the save. Until then changes
/// by others, which came after this save and before that node, are not distinguished from it.
final class NodeVersions: Sendable {
  private struct Known {
    var number: Int32
    /// nil after a save.
    var version: UInt64?
    weak var node: NSIncrementalStoreNode?
  }

  private let known = Guarded<[Int64: Known]>([:])

  /// The version of the row with a node's values. Reads the node's version, which may be code of the program,
  /// before the lock is taken.
  func number(of node: NSIncrementalStoreNode, key: Int64) -> Int32 {
    let version: UInt64 = node.version
    return known.withLock { all in
      guard var entry = all[key] else {
        all[key] = Known(number: 1, version: version, node: node)
        return 1
      }
      if let last = entry.version, last != version { entry.number &+= 1 }
      entry.version = version
      entry.node = node
      all[key] = entry
      return entry.number
    }
  }

  /// The version of the newest row; nil if there was none.
  func number(of key: Int64) -> Int32? { known.withLock { $0[key]?.number } }

  /// Called after a save of a row with that version.
  func save(_ key: Int64, number: Int32) {
    let (before, node) = known.withLock { all in (all[key]?.version, all[key]?.node) }
    let version: UInt64? = node?.version
    known.withLock { all in
      all[key] = Known(number: number, version: version == before ? nil : version, node: node)
    }
  }

  func delete(_ key: Int64) { known.withLock { $0[key] = nil } }
}
