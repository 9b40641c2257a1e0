import Foundation

/// How to open a store: type, place, configuration, options.
///
/// See Apple's page
/// [NSPersistentStoreDescription](https://developer.apple.com/documentation/coredata/nspersistentstoredescription).
nonisolated open class NSPersistentStoreDescription: NSObject, NSCopying {
  open var type: String = NSSQLiteStoreType
  open var configuration: String?
  /// `/dev/null` unless set, as Apple's: a store in memory. So is one at any name below it
  /// (`/dev/null/Shop.sqlite`).
  open var url: URL? = URL(fileURLWithPath: "/dev/null")
  open var shouldAddStoreAsynchronously: Bool = false
  open private(set) var options: [String: NSObject] = [
    NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
    NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
  ]

  public override init() { super.init() }

  /// A SQLite store at a file URL.
  public init(url: URL) {
    self.url = url
    super.init()
  }

  /// The folder that must exist before the store is created; nil if none is needed.
  package var folderOfNewStore: URL? {
    guard let url, !isReadOnly, createsStoreIfMissing, StoreRegistry.needsFolder(type, at: url) else {
      return nil
    }
    return url.deletingLastPathComponent()
  }

  open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

  open var isReadOnly: Bool {
    get { (options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false }
    set { options[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
  }

  /// Whether adding the store creates one if there is none at the URL; true unless set. If false, that is an
  /// error which names the file: for tools, and for programs whose data must be there. An addition of Clarus;
  /// Apple's framework always creates.
  open var createsStoreIfMissing: Bool {
    get { (options[CreatesStoreIfMissingOption] as? NSNumber)?.boolValue ?? true }
    set { options[CreatesStoreIfMissingOption] = NSNumber(value: newValue) }
  }

  /// Seconds to wait for a locked store; 240 unless set, as Apple's.
  open var timeout: TimeInterval {
    get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
  }

  open var shouldMigrateStoreAutomatically: Bool {
    get { (options[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber)?.boolValue ?? false }
    set { options[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: newValue) }
  }

  open var shouldInferMappingModelAutomatically: Bool {
    get { (options[NSInferMappingModelAutomaticallyOption] as? NSNumber)?.boolValue ?? false }
    set { options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
  }

  private var pragmas: [String: NSObject] = [:]

  open var sqlitePragmas: [String: NSObject] { pragmas }

  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    pragmas[name] = value
    options[NSSQLitePragmasOption] = NSDictionary(dictionary: pragmas)
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let other = NSPersistentStoreDescription()
    other.type = type
    other.configuration = configuration
    other.url = url
    other.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    other.options = options
    other.pragmas = pragmas
    return other
  }

  open override func copy() -> Any { copy(with: nil) }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPersistentStoreDescription else { return false }
    return type == other.type && configuration == other.configuration && url == other.url
      && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously
      && NSDictionary(dictionary: options).isEqual(NSDictionary(dictionary: other.options))
  }

  open override var hash: Int { type.hashValue ^ (url?.hashValue ?? 0) }

  open override var description: String {
    "<NSPersistentStoreDescription \(type) \(url?.path ?? "no url")>"
  }
}
