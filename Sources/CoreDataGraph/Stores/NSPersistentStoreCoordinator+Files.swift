import CoreDataStorage
import Foundation

// Destroying and replacing whole stores: a file with its log, its journal and its folder of large values.

extension NSPersistentStoreCoordinator {
  /// Destroys the contents of a store. It need not be one of this coordinator's; if it is, it is removed from
  /// it (see ``remove(_:)``).
  ///
  /// A SQLite store is emptied under SQLite's own locks, which costs one transaction and is all or nothing,
  /// also through `kill -9`. As on Apple's systems the file itself stays, empty: adding a store there creates
  /// a new one. Files of large values are removed too. Contexts of other coordinators and processes that have
  /// the store open get errors from then on. If there was no file an empty one is created, unless its folder
  /// is missing. A large value's file stays if another store refers to it whose name differs only in the
  /// extension (a plain copy beside it).
  ///
  /// Nothing is left of a store in memory once it is removed. It is identified by its URL, or ``url(for:)``
  /// if it has none; throws if several have that.
  ///
  /// `options` are those of ``addPersistentStore(ofType:configurationName:at:options:)``, in particular
  /// `NSPersistentStoreTimeoutOption`, and `NSPersistentStoreForceDestroyOption`.
  ///
  /// Throws a `CocoaError`, having changed nothing: 134000 for a file that is no store of that type; 134090
  /// if others kept the store locked for the whole time.
  ///
  /// See Apple's page
  /// [destroyPersistentStore(at:type:options:)](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/destroypersistentstore(at:type:options:)).
  public final func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    let own: NSPersistentStore? = try store(at: url, type: storeType)
    try withCocoaErrors(url) {
      try StoreRegistry.storeClass(storeType).destroy(
        at: own?.url ?? url, type: storeType, options: StoreOpeningOptions(apple: options ?? [:]))
    }
    if let own { try remove(own) }
  }

  /// The same with a store type in the newer spelling.
  public final func destroyPersistentStore(
    at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
  }

  /// Copies a store over another one, or to a place where there is none: the way to take a backup, and to
  /// restore it.
  ///
  /// The copy has the state of one moment, including what is in the write-ahead log only and files of large
  /// values; the source may be open and written to, and stays unchanged. If the destination is one of this
  /// coordinator's stores it is removed from it (see ``remove(_:)``): add it again. Others that have it open
  /// get errors from then on. The copy has the UUID of its source, so the two can't be in one coordinator at
  /// a time. The exchange is all or nothing, also through `kill -9`. It costs reading and writing the file
  /// once, and once more for a source with a write-ahead log that is not open anywhere.
  ///
  /// Throws a `CocoaError`, with the destination unchanged: 134000 if one of the two is no store of that
  /// type; 134090 if others kept the destination locked for the whole time
  /// (`NSPersistentStoreTimeoutOption`); 134180 for errors of SQLite, such as a full disk.
  ///
  /// See Apple's page
  /// [replacePersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/replacepersistentstore(at:destinationoptions:withpersistentstorefrom:sourceoptions:type:)).
  public final func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws {
    let own: NSPersistentStore? = try store(at: destinationURL, type: storeType)
    let source: NSPersistentStore? = try store(at: sourceURL, type: storeType)
    let isItself: Bool =
      StoreRegistry.find(storeType)?.isSamePlace(destinationURL, sourceURL) ?? false
    try withCocoaErrors(destinationURL) {
      try StoreRegistry.storeClass(storeType).replace(
        at: own?.url ?? destinationURL, with: source?.url ?? sourceURL, type: storeType,
        options: StoreOpeningOptions(apple: destinationOptions ?? [:]))
    }
    if let own, !isItself { try remove(own) }
  }

  /// The same with a store type in the newer spelling.
  public final func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type sourceType: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: sourceType.rawValue)
  }

  /// The store of this coordinator that a URL leads to, by whatever name: a link, or another name of the
  /// file. Log and journal are named after the name under which the file was opened. Throws if several stores
  /// in memory have that URL.
  private final func store(at place: URL, type: String) throws -> NSPersistentStore? {
    let found: [NSPersistentStore] = persistentStores.filter {
      $0.type == type && Swift.type(of: $0).isSamePlace(url(for: $0), place)
    }
    if found.count > 1 {
      throw GraphError.unsupported(
        "Destroying or replacing one of \(found.count) stores in memory by the URL that they share (\(place.path))",
        advice: "Take the one that you mean out with remove(_:): nothing is left of it then."
      ).asCocoaError
    }
    return found.first
  }
}
