import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import Synchronization

/// A store that a coordinator has opened: one file, or one set of rows in memory.
///
/// Coordinators make stores, of the class that is registered for a store type
/// (``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``): they call
/// ``init(persistentStoreCoordinator:configurationName:at:options:)``, ``loadMetadata()`` and, when the store
/// is among theirs, ``didAdd(to:)``. Members may be used from any thread.
///
/// See Apple's page
/// [NSPersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstore).
nonisolated open class NSPersistentStore: NSObject, @unchecked Sendable {
  // Sendable: `facts` and `refusedMetadata` are guarded; the coordinator is a weak reference;
  // `registeredType` is set once, before the store is given to anybody; all else is immutable.

  final let runtime: ModelRuntime
  /// Distinguishes the stores of a process in identity maps; 0 stands for objects without a store.
  final let ordinal: Int
  /// Whether all digits of decimals are kept, whatever the attributes say.
  final let keepsExactDecimals: Bool
  /// One save at a time, so that what is kept of rows takes saves in the order in which they were committed.
  /// Under it run the store's transaction, or the copying of a migration, and nothing of the program's; the
  /// locks taken there are those of the row cache, of identity maps, of the coordinator's stores and of the
  /// list of contexts, under which no other is taken.
  final let saving = NSLock()
  /// The configuration that was asked for.
  final let givenConfiguration: String?
  private final let givenOptions: [AnyHashable: Any]?
  /// The type under which the store's class was registered.
  final var registeredType: String = ""
  /// Why the metadata that was set last could not be taken: the setter has no way to throw.
  final let refusedMetadata = Guarded<StoreError?>(nil)

  private struct Facts {
    var url: URL?
    var identifier: String = ""
    var metadata: [String: Any] = [:]
  }
  private final let facts: Guarded<Facts>

  /// The coordinator; nil when the store was removed from it.
  public final internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  /// Store ordinals are unique in the process, so that an object never meets a key of
  /// another coordinator's store.
  private static let lastOrdinal = Atomic<Int>(0)

  /// Makes a store that is not opened yet. Coordinators call it; nothing is read or written.
  ///
  /// - Parameters:
  ///   - root: the coordinator that the store is for.
  ///   - name: the configuration of the model that it holds; nil for all entities.
  ///   - url: its place. For a store that was added without one: `/dev/null`.
  ///   - options: what the program has asked for.
  ///
  /// See Apple's page
  /// [init(persistentStoreCoordinator:configurationName:at:options:)](https://developer.apple.com/documentation/coredata/nspersistentstore/init(persistentstorecoordinator:configurationname:at:options:)).
  public init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    ordinal = Self.lastOrdinal.add(1, ordering: .relaxed).newValue
    runtime = root?.runtime ?? ModelRuntime.of(NSManagedObjectModel())
    givenConfiguration = name
    givenOptions = options
    keepsExactDecimals = ExactDecimals.isAskedFor(options?[ClarusExactDecimalsKey])
    facts = Guarded(Facts(url: url))
    super.init()
    persistentStoreCoordinator = root
  }

  /// How a coordinator makes a store of a class that is known at run time only: a subclass has this
  /// initialiser without writing it.
  public required convenience init(_ new: NewPersistentStore) {
    self.init(
      persistentStoreCoordinator: new.coordinator, configurationName: new.configuration,
      at: new.url ?? URL(fileURLWithPath: "/dev/null"), options: new.options)
    registeredType = new.type
    if new.url == nil { url = nil }
  }

  // MARK: What a store is

  /// The configuration of the model whose entities the store holds.
  open var configurationName: String { givenConfiguration ?? "PF_DEFAULT_CONFIGURATION_NAME" }
  /// The options that the store was added with.
  open var options: [AnyHashable: Any]? { givenOptions }

  /// The place of the store; nil for a store in memory that was added without one. Setting it names another
  /// place; files stay where they are.
  open var url: URL? {
    get { facts.withLock { $0.url } }
    set { facts.withLock { $0.url = newValue } }
  }

  /// The UUID that object URIs name the store by: `NSStoreUUIDKey` of its metadata. A store class sets it
  /// while it loads its metadata; ids that exist keep the one they were made with.
  open var identifier: String! {
    get { uuid }
    set {
      facts.withLock {
        $0.identifier = newValue ?? ""
        $0.metadata[NSStoreUUIDKey] = newValue
      }
    }
  }

  /// The same for the graph, which asks often.
  var uuid: String { facts.withLock { $0.identifier } }

  /// The store type, one of the `NS…StoreType` constants or a program's own.
  open var type: String { registeredType }

  /// Whether saves to the store are refused: true if it was added with `NSReadOnlyPersistentStoreOption`.
  open var isReadOnly: Bool {
    (givenOptions?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false
  }

  /// The metadata: `NSStoreTypeKey`, `NSStoreUUIDKey`, and what the program adds. A store class sets it in
  /// ``loadMetadata()`` and writes it with its saves.
  open var metadata: [String: Any]! {
    get { facts.withLock { $0.metadata } }
    set {
      facts.withLock {
        $0.metadata = newValue ?? [:]
        if let uuid = newValue?[NSStoreUUIDKey] as? String { $0.identifier = uuid }
      }
    }
  }

  // MARK: For subclasses

  /// Opens the store and sets its ``metadata``, `NSStoreUUIDKey` included. A subclass overrides it and does
  /// not call `super`.
  ///
  /// Throws what is wrong with the file, or with what is in it; the store is not added then.
  ///
  /// See Apple's page
  /// [loadMetadata()](https://developer.apple.com/documentation/coredata/nspersistentstore/loadmetadata()).
  open func loadMetadata() throws {
    throw GraphError.unsupported(
      "Opening a store of the class \(Swift.type(of: self))",
      advice: "Override loadMetadata() in it, and set the metadata there."
    ).asCocoaError
  }

  /// The store is among those of the coordinator now. Does nothing unless it is overridden.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// The store is about to be removed from the coordinator. Does nothing unless it is overridden.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  /// The metadata of a store of this class, without opening it.
  ///
  /// Throws for a class that does not override it.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    throw StoreRegistry.noFile("Reading the metadata", of: self, "").asCocoaError
  }

  /// Sets the metadata of a store of this class, without opening it; nil for none.
  ///
  /// Throws for a class that does not override it.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    throw StoreRegistry.noFile(
      "Setting the metadata", of: self, " by its URL", "; set it on the store (setMetadata(_:for:))"
    ).asCocoaError
  }

  // MARK: For the graph

  /// What the graph asks of the store. A store that is a program learns here who asks, and by which request.
  ///
  /// Throws for a class of the program that says no way to read and write.
  func operations(for asker: StoreAsker) throws -> any StoreOperations {
    throw GraphError.unsupported(
      "Reading and saving with a store of the class \(Swift.type(of: self))",
      advice: "A class directly below NSPersistentStore has no rows; use a built-in store type.")
  }

  /// A state of the store that contexts may go on reading while others write; nil: it keeps none.
  func snapshot() throws -> (any StoreOperations)? { nil }
  /// Why nothing can be written, where the store knows.
  var readOnlyReason: ReadOnlyReason? { isReadOnly ? .asked : nil }
  /// Whether metadata was set that no save has written yet.
  var hasUnsavedMetadata: Bool { false }
  /// How rows are kept between contexts.
  var rowFreshness: RowFreshness { .alwaysAtHand }
  /// The row that is kept for a key and tells its values, if it is no older than `age` seconds; negative: of
  /// any age. nil: the row that was met last, whether it tells all values or the store may have
  /// computed some since.
  func keptRow(root: Int, key: Int64, age: TimeInterval?) -> RowRef? { nil }
  /// Rows were saved or found changed: `slabs` holds the new ones, `changed` the keys of those that had been
  /// there before, or are gone.
  func replaceKeptRows(root: Int, changed: [Int64], by slabs: [RowSlab]) {}
  /// Releases what the store holds. Later operations fail with an explained error.
  func close() throws {}

  /// Runs `body` with operations that see one moment of the store, whoever writes meanwhile; and whether they
  /// hand out keys.
  func withOneState(
    for asker: StoreAsker, _ body: (any StoreOperations, _ handsOutKeys: Bool) throws -> Void
  ) throws {
    try body(try operations(for: asker), !isReadOnly)
  }

  /// Whether the store wants to see the request that it is asked by, which costs sets of objects in a save.
  var takesRequests: Bool { true }

  /// The same as the open method, for classes that take options.
  class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: StoreOpeningOptions) throws {
    try setMetadata(metadata, forPersistentStoreAt: url)
  }
  /// Whether two URLs lead to one store of this class.
  class func isSamePlace(_ one: URL, _ other: URL) -> Bool {
    one.standardizedFileURL == other.standardizedFileURL
  }
  /// Whether stores of this class are files.
  class var keepsFiles: Bool { true }
  /// Empties a store that need not be open.
  class func destroy(at url: URL, type: String, options: StoreOpeningOptions) throws {
    throw GraphError.unsupported(
      "Destroying a store of type \(type)",
      advice: "Its class knows no way: take it out with remove(_:), and delete its file.")
  }
  /// Gives a store the contents of another one of this class.
  class func replace(at url: URL, with source: URL, type: String, options: StoreOpeningOptions) throws {
    throw GraphError.unsupported(
      "Replacing a store of type \(type)",
      advice: "Its class knows no way: take it out with remove(_:), and copy its file.")
  }
  /// Opens a store that was made at an empty place, with the contents of another store of any class.
  func load(copying migration: StoreMigration) throws {
    try load()
    do {
      try migration.transfer(to: try operations(for: migration.asker(of: self)))
      metadata = migration.metadata.merging(metadata) { $1 }
    } catch {
      try? close()
      throw error
    }
  }

  // MARK: Configuration

  /// Opens the store and checks what it says of itself.
  final func load() throws {
    try loadMetadata()
    if uuid.isEmpty {
      try? close()
      throw GraphError.unsupported(
        "Adding a store of the class \(Swift.type(of: self)) without a UUID",
        advice: "Set metadata[NSStoreUUIDKey] in loadMetadata().")
    }
  }

  /// False once the store was removed (or its coordinator is gone).
  final var isInCoordinator: Bool { persistentStoreCoordinator != nil }

  /// Whether the store's configuration holds an entity.
  final func holds(_ runtime: EntityRuntime) -> Bool {
    guard let entities = self.runtime.layout.model.entities(forConfigurationName: configurationName) else {
      return true
    }
    return entities.contains { $0.name == runtime.layout.name }
  }

  /// Runs `body` while no context saves to the store.
  final func withoutSaves<Result>(_ body: () throws -> Result) rethrows -> Result {
    saving.lock()
    defer { saving.unlock() }
    return try body()
  }

  open override var description: String {
    "<NSPersistentStore \(type) \(url?.path ?? "in memory") \(uuid)>"
  }
}

/// What a store is to be made of, see ``NSPersistentStore/init(_:)``.
public struct NewPersistentStore {
  let coordinator: NSPersistentStoreCoordinator?
  let type: String
  let configuration: String?
  let url: URL?
  let options: [AnyHashable: Any]?
}

/// Who asks a store, and by which request; for stores that are programs. Stores that know rows
/// only need neither.
struct StoreAsker {
  let context: NSManagedObjectContext
  /// The fetch or save request; nil for what no request has asked for: faults, members, keys.
  var request: NSPersistentStoreRequest?

  init(_ context: NSManagedObjectContext, _ request: NSPersistentStoreRequest? = nil) {
    self.context = context
    self.request = request
  }
}

extension NSPersistentStore {
  /// A store type, in the modern spelling.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    public static let xml = StoreType(rawValue: NSXMLStoreType)
  }
}
