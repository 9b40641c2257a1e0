import CoreDataModel
import CoreDataStorage
import Foundation

/// The values of one object as an incremental store has them, with their version.
///
/// A store returns nodes from ``NSIncrementalStore/newValuesForObject(with:with:)``. A store that keeps a
/// node and updates it while it executes a save gives the new version in this way, see
/// ``update(withValues:version:)``. Nodes may be used from any thread; a subclass guards what it adds.
///
/// See Apple's page
/// [NSIncrementalStoreNode](https://developer.apple.com/documentation/coredata/nsincrementalstorenode).
nonisolated open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {
  // Sendable: the values are guarded; the id is immutable.

  private struct Content {
    var values: [String: Any]
    var version: UInt64
  }
  private final let content: Guarded<Content>
  private final let id: NSManagedObjectID

  /// Creates a node.
  ///
  /// - Parameters:
  ///   - objectID: an id of the store.
  ///   - values: the values of all attributes by name; for to-one relationships the target's
  ///     `NSManagedObjectID`, or `NSNull` for none. A missing attribute is nil; for a missing to-one
  ///     relationship the store's `newValue(forRelationship:forObjectWith:with:)` is called.
  ///   - version: rises, or at least differs, with each change of the object in the store. Two contexts that
  ///     save the same object meet in a conflict by it.
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    id = objectID
    content = Guarded(Content(values: [:], version: version))
    super.init()
    content.withLock { $0.values = values }
  }

  /// The object that has these values.
  open var objectID: NSManagedObjectID { id }

  /// The version of the values.
  open var version: UInt64 { content.withLock { $0.version } }

  /// Replaces values and version by those that the store has now. Values that are not among `values` stay.
  open func update(withValues values: [String: Any], version: UInt64) {
    content.withLock { content in
      content.values.merge(values) { $1 }
      content.version = version
    }
  }

  /// The value of a property: nil if the node has none, `NSNull` for a to-one relationship without target.
  open func value(for prop: NSPropertyDescription) -> Any? {
    content.withLock { $0.values[prop.name] }
  }
}
