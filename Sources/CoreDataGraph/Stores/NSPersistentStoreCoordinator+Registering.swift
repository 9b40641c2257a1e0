import Foundation

// Which classes make stores of which types.

extension NSPersistentStoreCoordinator {
  /// The store types that can be added, each with the class that makes its stores, as a number that is the
  /// address of the class: Foundation on Linux has no values of pointers.
  ///
  /// See Apple's page
  /// [registeredStoreTypes](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/registeredstoretypes).
  public class var registeredStoreTypes: [String: NSValue] {
    StoreRegistry.all.mapValues { storeClass in
      NSNumber(value: UInt(bitPattern: unsafeBitCast(storeClass as AnyClass, to: UnsafeRawPointer.self)))
    }
  }

  /// Makes stores of a type stores of a class of the program's, in every coordinator from now on; nil: there
  /// are no stores of that type any more. Stores that are open stay what they are. Built-in types can be
  /// replaced, too.
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

  /// The same with a store type in the modern spelling.
  public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: storeType.rawValue)
  }
}
