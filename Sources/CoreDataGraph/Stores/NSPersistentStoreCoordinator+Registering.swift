import Foundation

// The classes of store types.

extension NSPersistentStoreCoordinator {
  /// The store types that can be added, each with the class of its stores, as a number that is the address of
  /// the class: Foundation on Linux has no pointer values.
  ///
  /// See Apple's page
  /// [registeredStoreTypes](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/registeredstoretypes).
  public class var registeredStoreTypes: [String: NSValue] {
    StoreRegistry.all.mapValues { storeClass in
      NSNumber(value: UInt(bitPattern: unsafeBitCast(storeClass as AnyClass, to: UnsafeRawPointer.self)))
    }
  }

  /// Registers a class of the program for stores of a type, in every coordinator from now on; nil removes the
  /// type. Open stores are not affected. Built-in types can be replaced, too.
  ///
  /// Stops if the class is not a subclass of ``NSPersistentStore``.
  ///
  /// See Apple's page
  /// [registerStoreClass(_:forStoreType:)](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/registerstoreclass(_:forstoretype:)).
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    guard let storeClass else { return StoreRegistry.register(nil, for: storeType) }
    guard let known = storeClass as? NSPersistentStore.Type else {
      fatalError(
        "CoreData: \(storeClass) can't be registered for the store type '\(storeType)': make it a subclass of NSPersistentStore."
      )
    }
    StoreRegistry.register(known, for: storeType)
  }

  /// The same with a store type in the newer spelling.
  public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: storeType.rawValue)
  }
}
