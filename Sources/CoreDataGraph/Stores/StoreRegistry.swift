import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The classes of store types. Built-in types are registered like a program's own, and can be replaced by
/// them.
package enum StoreRegistry {
  private static let classes = Guarded<[String: NSPersistentStore.Type]>([
    NSSQLiteStoreType: SQLiteStore.self, NSInMemoryStoreType: InMemoryStore.self,
    NSXMLStoreType: XMLStore.self, NSBinaryStoreType: BinaryStore.self,
  ])

  static func register(_ storeClass: NSPersistentStore.Type?, for type: String) {
    classes.withLock { $0[type] = storeClass }
  }

  static var all: [String: NSPersistentStore.Type] { classes.withLock { $0 } }

  /// The class for a type; nil if none is registered.
  static func find(_ type: String) -> NSPersistentStore.Type? { classes.withLock { $0[type] } }

  /// The class for a type. Throws if none is registered.
  static func storeClass(_ type: String) throws -> NSPersistentStore.Type {
    if let found = find(type) { return found }
    throw GraphError.unsupported(
      "The store type '\(type)'",
      advice: "Use NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType or NSInMemoryStoreType.")
  }

  /// The type that a class was registered for.
  static func type(of storeClass: NSPersistentStore.Type) -> String {
    if let engineClass = storeClass as? EngineStore.Type { return engineClass.kind.type }
    return all.filter { $0.value == storeClass }.keys.sorted().first ?? "\(storeClass)"
  }

  static func noFile(
    _ what: String, of storeClass: NSPersistentStore.Type, _ how: String, _ advice: String = ""
  ) -> GraphError {
    noFile(what, ofType: type(of: storeClass), how, advice)
  }

  static func noFile(_ what: String, ofType type: String, _ how: String, _ advice: String = "") -> GraphError
  {
    .unsupported(
      "\(what) of a store of type \(type)\(how)", advice: "Only SQLite stores have files so far\(advice).")
  }

  // MARK: Engines, for tools that read stores without a graph

  /// The kinds of engines whose stores are files, in the order of their types' names.
  package static var fileKinds: [any StoreEngineKind] {
    all.sorted { $0.key < $1.key }.compactMap { ($0.value as? EngineStore.Type)?.kind }.filter(\.keepsFiles)
  }

  /// The kind of a store type whose stores are files; nil for other types, and for a program's own.
  package static func fileKind(ofType type: String) -> (any StoreEngineKind)? {
    fileKinds.first { $0.type == type }
  }

  /// The kind of a file that begins with these bytes; nil if it is no store of a supported kind.
  package static func kind(ofFileThatBegins head: Data) -> (any StoreEngineKind)? {
    fileKinds.first { $0.recognizes(head) }
  }

  /// Examines the file at a URL, whatever its kind. For a file of no supported kind, throws the error of the
  /// SQLite kind.
  ///
  /// `countsRows`: otherwise the counts of entities may be 0, and a large file takes no longer than a small
  /// one where its kind can do that. `options`: those with which a coordinator would add the store.
  package static func inspect(
    _ url: URL, countsRows: Bool = true, options: [AnyHashable: Any]? = nil
  ) throws -> StoreInspection {
    var opening = StoreOpeningOptions(apple: options ?? [:])
    opening.countsRows = countsRows
    return try kind(ofFileAt: url).inspect(url, options: opening)
  }

  package static func kind(ofFileAt url: URL) -> any StoreEngineKind { kindAndCertainty(ofFileAt: url).0 }

  /// The kind of a file, and whether it is a store at all, by the first bytes. SQLite for what is no such
  /// file, because its errors tell what it is instead.
  static func kindAndCertainty(ofFileAt url: URL) -> (any StoreEngineKind, isStore: Bool) {
    // Opening a pipe would wait for its writer, and closing a file that is open as a SQLite store would
    // release the locks of that.
    guard url.isFileURL else { return (SQLiteStore.kind, false) }
    if StoreFileMark.isSet(path: url.path) { return (SQLiteStore.kind, true) }
    guard FileStamp(path: url.path)?.kind == .file, let file = try? FileHandle(forReadingFrom: url)
    else { return (SQLiteStore.kind, false) }
    defer { try? file.close() }
    let head: Data = (try? file.read(upToCount: 4096)) ?? Data()
    if let kind = kind(ofFileThatBegins: head) { return (kind, true) }
    return (SQLiteStore.kind, false)
  }

  /// Whether a store of a type, at a URL, needs an existing folder.
  static func needsFolder(_ type: String, at url: URL) -> Bool {
    guard url.isFileURL else { return false }
    guard let storeClass = find(type) else { return true }
    guard let engineClass = storeClass as? EngineStore.Type else { return storeClass.keepsFiles }
    return !engineClass.kind.namesNoFile(url)
  }
}

extension StoreOpeningOptions {
  /// Converts the options of
  /// ``NSPersistentStoreCoordinator/addPersistentStore(ofType:configurationName:at:options:)``.
  package init(apple options: [AnyHashable: Any]) {
    func flag(_ key: String) -> Bool? { (options[key] as? NSNumber)?.boolValue }
    self.init(isReadOnly: flag(NSReadOnlyPersistentStoreOption) ?? false)
    checksModel = flag(NSIgnorePersistentStoreVersioningOption) != true
    tracksHistory = flag(NSPersistentHistoryTrackingKey) ?? false
    isForced = flag(NSPersistentStoreForceDestroyOption) ?? false
    createsIfMissing = flag(CreatesStoreIfMissingOption) ?? true
    rehearsesSaves = flag(RehearsesSavesOption) ?? false
    fillsBeforeWriting = flag(FillsBeforeWritingOption) ?? false
    validates = flag(NSValidateXMLStoreOption) ?? false
    compacts = flag(NSSQLiteManualVacuumOption) ?? false
    analyzes = flag(NSSQLiteAnalyzeOption) ?? false
    connectionLimit = (options[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber)?.intValue
    timeoutInSeconds = (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue
    valueClasses = BinaryStoreClasses.allowed(by: options)
    if let given = options[NSSQLitePragmasOption] as? [String: Any] { pragmas = given.mapValues { "\($0)" } }
  }
}

/// The classes that a binary store's file may have in the values of transformable attributes.
enum BinaryStoreClasses {
  /// Those of the option and of property lists; nil without the option.
  static func allowed(by options: [AnyHashable: Any]) -> [AnyClass]? {
    if (options[NSBinaryStoreInsecureDecodingCompatibilityOption] as? NSNumber)?.boolValue == true {
      return nil
    }
    let given: [Any]
    switch options[NSBinaryStoreSecureDecodingClasses] {
    case nil: return nil
    case let classes as [Any]: given = classes
    case let classes as NSSet: given = classes.allObjects
    case let one?: given = [one]
    }
    return NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses + given.compactMap { $0 as? AnyClass }
  }
}
