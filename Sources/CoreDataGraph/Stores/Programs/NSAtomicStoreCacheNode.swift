import CoreDataStorage
import Foundation

/// One object of an atomic store: its id and its values by name.
///
/// Values of attributes are those that key-value coding of objects returns. A to-one relationship is the node
/// of the target or its `NSManagedObjectID`; a to-many relationship a set of these, or an array for an
/// ordered one. The framework reads nodes once, after ``NSAtomicStore/load()``, on the thread that adds the
/// store.
///
/// A subclass may keep the values elsewhere: it overrides ``value(forKey:)`` and ``setValue(_:forKey:)``.
///
/// See Apple's page
/// [NSAtomicStoreCacheNode](https://developer.apple.com/documentation/coredata/nsatomicstorecachenode).
nonisolated open class NSAtomicStoreCacheNode: NSObject, @unchecked Sendable {
  // Sendable: the id is immutable; `cache` is guarded. Its dictionary belongs to the store, which changes it
  // while it loads or saves, one at a time.

  private final let id: NSManagedObjectID
  private final let cache = Guarded<NSMutableDictionary?>(nil)

  /// Creates a node for an id of the store (``NSAtomicStore/objectID(for:withReferenceObject:)``).
  public init(objectID moid: NSManagedObjectID) {
    id = moid
    super.init()
  }

  /// The object that has these values.
  open var objectID: NSManagedObjectID { id }

  /// The values by name; nil until one is set.
  open var propertyCache: NSMutableDictionary? {
    get { cache.withLock { $0 } }
    set { cache.withLock { $0 = newValue } }
  }

  /// The value of a property; nil if there is none.
  open func value(forKey key: String) -> Any? { propertyCache?.object(forKey: key) }

  /// Sets the value of a property; nil removes it.
  open func setValue(_ value: Any?, forKey key: String) {
    let values: NSMutableDictionary = propertyCache ?? NSMutableDictionary()
    if propertyCache == nil { propertyCache = values }
    if let value = SlotValue.unwrapped(value) {
      values.setObject(value, forKey: key as NSString)
    } else {
      values.removeObject(forKey: key)
    }
  }
}
