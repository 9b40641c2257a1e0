import Foundation

/// The kind of a request. The raw values are Apple's.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  case fetchRequestType = 1
  case saveRequestType = 2
  case batchInsertRequestType = 5
  case batchUpdateRequestType = 6
  case batchDeleteRequestType = 7
}

/// A request to a persistent store; subclasses define the kind.
nonisolated open class NSPersistentStoreRequest: NSObject, NSCopying {
  /// The stores to ask, nil for all; typed where the store class is known.
  package final var affectedStoresStorage: [AnyObject]?

  public override init() {
    super.init()
  }

  open var requestType: NSPersistentStoreRequestType {
    preconditionFailure(
      "\(Swift.type(of: self)) must override requestType; use one of its ready-made subclasses.")
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let other = NSPersistentStoreRequest()
    other.affectedStoresStorage = affectedStoresStorage
    return other
  }

  open override func copy() -> Any {
    copy(with: nil)
  }
}
