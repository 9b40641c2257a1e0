import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import Synchronization

/// A store that a coordinator has opened: one file, or one set of rows in memory.
///
/// Coordinators create stores, of the class that is registered for a store type
/// (``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``): they call
/// ``init(persistentStoreCoordinator:configurationName:at:options:)``, ``loadMetadata()`` and, after the
/// store was added, ``didAdd(to:)``. Members may be used from any thread.
///
/// See Apple's page
/// [NSPersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstore).
nonisolated open class NSPersistentStore: NSObject, @unchecked Sendable {
  // Sendable: `facts`, `reportedErrors` and `refusedMetadata` are guarded; the coordinator is a weak
  // reference; `registeredType` is set once, before any other code uses the store; everything else is
  // immutable.

  final let runtime: ModelRuntime
  /// Distinguishes the stores of a process in identity maps; 0 means no store.
  final let ordinal: Int
  /// Whether all digits of decimals are kept, whatever the attributes request.
  final let keepsExactDecimals: Bool
  /// One save at a time, so that the row cache gets saves in the order in which they were committed. While it
  /// is held, the store's transaction runs, or the copying of a migration, and no code of the program; the
  /// locks taken meanwhile are those of the row cache, of identity maps,
  /// of the coordinator's stores and of the list of contexts, under which no other is taken.
  private final let saving = NSLock()
  /// The configuration that the program passed.
  final let givenConfiguration: String?
  private final let givenOptions: [AnyHashable: Any]?
  /// The type under which the store's class was registered.
  final var registeredType: String = ""
  /// Whether the store is notified of the objects that contexts use.
  final let observesRegistration: Bool
  /// The errors of a program's store that were written to standard error.
  final let reportedErrors = Guarded<Set<String>>([])
  /// The error of the metadata that was set last: the setter can't throw.
  final let refusedMetadata = Guarded<StoreError?>(nil)

  /// How often rows were saved, or found changed: what was read before is not used as read ahead any more.
  private final let changeCount = Atomic<Int>(0)
  final var changes: Int { changeCount.load(ordering: .acquiring) }
  final func noteChanges() { changeCount.add(1, ordering: .releasing) }

  private struct Facts {
    var url: URL?
    var identifier: String = ""
    var metadata: [String: Any] = [:]
    /// Whether metadata was set that no save has written yet, in a store of the program.
    var wasMetadataSet = false
  }
  private final let facts: Guarded<Facts>

  /// The coordinator; nil after the store was removed from it.
  public final internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  /// Store ordinals are unique in the process, so that an object's key is never confused with that of another
  /// coordinator's store.
  private static let lastOrdinal = Atomic<Int>(0)

  /// Creates a store that is not opened yet. Called by coordinators; nothing is read or written.
  ///
  /// - Parameters:
  ///   - root: the coordinator that the store is for.
  ///   - name: the configuration of the model that it holds; nil for all entities.
  ///   - url: its place. For a store that was added without one: `/dev/null`.
  ///   - options: the program's options.
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
    keepsExactDecimals = ExactDecimals.isRequested(options?[ClarusExactDecimalsKey])
    observesRegistration = Self.observesRegistration
    facts = Guarded(Facts(url: url))
    super.init()
    persistentStoreCoordinator = root
  }

  /// Called by a coordinator to create a store of a class that is known at run time only: a subclass has this
  /// initialiser without declaring it.
  public required convenience init(_ new: NewPersistentStore) {
    self.init(
      persistentStoreCoordinator: new.coordinator, configurationName: new.configuration,
      at: new.url ?? URL(fileURLWithPath: "/dev/null"), options: new.options)
    registeredType = new.type
    if new.url == nil { url = nil }
  }

  /// What errors call the store.
  final var placeInMessages: String { url?.path ?? "\(type) \(uuid)" }

  // MARK: Properties

  /// The configuration of the model whose entities the store holds.
  open var configurationName: String { givenConfiguration ?? "PF_DEFAULT_CONFIGURATION_NAME" }
  /// The options that the store was added with.
  open var options: [AnyHashable: Any]? { givenOptions }

  /// The place of the store; nil for a store in memory that was added without one. Setting it changes only
  /// the URL; files stay where they are.
  open var url: URL? {
    get { facts.withLock { $0.url } }
    set { facts.withLock { $0.url = newValue } }
  }

  /// The UUID of the store in object URIs: `NSStoreUUIDKey` of its metadata. A store class sets it while it
  /// loads its metadata; existing ids keep the one they were created with.
  open var identifier: String! {
    get { uuid }
    set {
      facts.withLock {
        $0.identifier = newValue ?? ""
        $0.metadata[NSStoreUUIDKey] = newValue
        $0.wasMetadataSet = true
      }
    }
  }

  /// The same for the graph, which reads it often.
  var uuid: String { facts.withLock { $0.identifier } }

  /// The store type, one of the `NS…StoreType` constants or one of the program's own.
  open var type: String { registeredType }

  /// Whether saves to the store are refused: true if it was added with `NSReadOnlyPersistentStoreOption`.
  open var isReadOnly: Bool {
    (givenOptions?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false
  }

  /// The metadata: `NSStoreTypeKey`, `NSStoreUUIDKey`, and the program's values. A store class sets it in
  /// ``loadMetadata()`` and writes it with its saves.
  open var metadata: [String: Any]! {
    get { facts.withLock { $0.metadata } }
    set {
      facts.withLock {
        $0.metadata = newValue ?? [:]
        $0.wasMetadataSet = true
        if let uuid = newValue?[NSStoreUUIDKey] as? String { $0.identifier = uuid }
      }
    }
  }

  // MARK: For subclasses

  /// Opens the store and sets its ``metadata``, `NSStoreUUIDKey` included. A subclass overrides it and does
  /// not call `super`.
  ///
  /// Throws errors of the file or its contents; the store is then not added. In a migration, saves to the old
  /// store wait meanwhile: don't save to it from here.
  ///
  /// See Apple's page
  /// [loadMetadata()](https://developer.apple.com/documentation/coredata/nspersistentstore/loadmetadata()).
  open func loadMetadata() throws {
    throw GraphError.unsupported(
      "Opening a store of the class \(Swift.type(of: self))",
      advice: "Override loadMetadata() in it, and set the metadata there."
    ).asCocoaError
  }

  /// Called after the store was added to the coordinator. Does nothing unless it is overridden.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// Called before the store is removed from the coordinator. Does nothing unless it is overridden.
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

  /// The class of the managers that migrate stores of this class: `NSMigrationManager`, unless a store class
  /// overrides it. Stops a program that is linked without the module `CoreDataMigration`, which `CoreData`
  /// contains.
  ///
  /// See Apple's page
  /// [migrationManagerClass()](https://developer.apple.com/documentation/coredata/nspersistentstore/migrationmanagerclass()).
  open class func migrationManagerClass() -> AnyClass {
    guard let service = StoreMigrator.service else {
      preconditionFailure("Link the module CoreDataMigration: it has NSMigrationManager.")
    }
    return service.managerClass
  }

  // MARK: For the graph

  /// The operations of the store for the graph. A store implemented by the program gets the calling context
  /// and its request here.
  ///
  /// Throws for a class of the program that implements neither reading nor writing.
  func operations(for caller: StoreCaller) throws -> any StoreOperations {
    throw GraphError.unsupported(
      "Reading and saving with a store of the class \(Swift.type(of: self))",
      advice:
        "Derive it from NSIncrementalStore or NSAtomicStore: a class directly below NSPersistentStore has no rows."
    )
  }

  /// A state of the store that contexts can read while others write; nil if it keeps none.
  func snapshot() throws -> (any StoreOperations)? { nil }
  /// The reason why the store can't be written, if it is known.
  package var readOnlyReason: ReadOnlyReason? { isReadOnly ? .requested : nil }
  /// Whether metadata was set that no save has written yet.
  var hasUnsavedMetadata: Bool { false }
  /// How rows are cached between contexts.
  var rowFreshness: RowFreshness { .alwaysInMemory }
  /// The cached row for a key, if its values are complete and it is no older than `age` seconds; negative: of
  /// any age. nil: the row that was cached last, whether its values are complete or the store may have
  /// computed some since.
  func keptRow(root: Int, key: Int64, age: TimeInterval?) -> RowRef? { nil }
  /// Whether rows of some of these keys may be cached, of any age.
  func mayKeepRows(root: Int, among keys: [Int64]) -> Bool { false }
  /// Called when rows were saved or found changed: `slabs` holds the new ones, `changed` the keys of those
  /// that existed before, or are deleted.
  func replaceKeptRows(root: Int, changed: [Int64], by slabs: [RowSlab]) {}
  /// Releases the store's resources. Later operations fail with an explained error.
  func close() throws {}

  /// Uses another place from now on. Throws, with nothing changed, if the class can't.
  func move(to place: URL) throws { url = place }

  /// Runs `body` with operations that read the store at one moment, whatever is written meanwhile; and
  /// whether they allocate keys.
  func withOneState(
    for caller: StoreCaller, _ body: (any StoreOperations, _ allocatesKeys: Bool) throws -> Void
  ) throws {
    try body(try operations(for: caller), !isReadOnly && referenceMap == nil)
  }

  /// Whether the store needs the request of each call, which costs sets of objects in a save.
  var needsRequests: Bool { true }

  // MARK: For stores that programs implement

  /// The turns of the threads that call the store; nil for the built-in stores, which have their own locks.
  var calls: StoreCalls? { nil }
  /// The keys that the store has given to objects which are not saved yet.
  var issuedKeys: IssuedKeys? { nil }
  /// Whether stores of this class are notified of the objects that contexts use.
  class var observesRegistration: Bool { false }
  /// The reference objects by which a store of the program names its objects; nil if rows have no names.
  var referenceMap: ReferenceMap? { nil }
  /// Whether each fault is filled by a call of its own, and only when it fires. Such a call may fail, because
  /// of a network for instance: where nothing can be thrown the object then is inaccessible.
  var readsOneByOne: Bool { false }
  /// Called after the metadata was loaded: loads what the store's class keeps in memory.
  func completeLoading() throws {}
  /// The permanent keys of new objects, in their order, before a save. Called for stores that have a
  /// ``referenceMap``.
  func permanentKeys(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [Int64] {
    let operations: any StoreOperations = try operations(for: StoreCaller(context))
    return try objects.map { object in
      try operations.allocateKeys(
        for: runtime.layout.entities[object.runtime.layout.rootIndex], count: 1)
    }
  }
  /// Whether metadata was set since it was last saved, or loaded.
  final var wasMetadataSet: Bool { facts.withLock { $0.wasMetadataSet } }
  final func noteMetadataSaved() { facts.withLock { $0.wasMetadataSet = false } }

  /// The same as the open method, for classes that take options.
  class func metadata(at url: URL, options: StoreOpeningOptions) throws -> [String: Any] {
    try metadataForPersistentStore(with: url)
  }
  /// The same as the open method, for classes that take options.
  class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: StoreOpeningOptions) throws {
    try setMetadata(metadata, forPersistentStoreAt: url)
  }
  /// Whether two URLs lead to one store of this class.
  class func isSamePlace(_ one: URL, _ other: URL) -> Bool { one.isSamePlace(as: other) }
  /// Whether stores of this class are files.
  class var keepsFiles: Bool { true }
  /// Empties a store that need not be open.
  class func destroy(at url: URL, type: String, options: StoreOpeningOptions) throws {
    throw GraphError.unsupported(
      "Destroying a store of type \(type)",
      advice: "Its class knows no way: take it out with remove(_:), and delete its file.")
  }
  /// Replaces the contents of a store by those of another one of this class.
  class func replace(at url: URL, with source: URL, type: String, options: StoreOpeningOptions) throws {
    throw GraphError.unsupported(
      "Replacing a store of type \(type)",
      advice: "Its class knows no way: take it out with remove(_:), and copy its file.")
  }
  /// Opens a store that was created at an empty place, with the contents of another store of any class.
  func load(copying migration: StoreMigration) throws {
    try open()
    do {
      // Before the rows, whose save writes it.
      metadata = migration.metadata.merging(metadata) { $1 }
      if referenceMap != nil {
        try ObjectTransfer.run(migration, to: self)
      } else {
        try migration.transfer(to: try operations(for: migration.caller), inParts: false)
      }
    } catch {
      try? close()
      throw error
    }
  }

  // MARK: Configuration

  /// Opens the store and checks its metadata.
  final func open() throws {
    try loadMetadata()
    try completeLoading()
    // A class may override these properties with storage of its own.
    if uuid.isEmpty {
      let own: [String?] = [identifier, metadata?[NSStoreUUIDKey] as? String]
      facts.withLock { $0.identifier = own.lazy.compactMap(\.self).first { !$0.isEmpty } ?? "" }
    }
    if uuid.isEmpty {
      try? close()
      throw GraphError.unsupported(
        "Adding a store of the class \(Swift.type(of: self)) without a UUID",
        advice: "Set metadata[NSStoreUUIDKey] in loadMetadata().")
    }
  }

  /// False after the store was removed, or its coordinator was deallocated.
  final var isInCoordinator: Bool { persistentStoreCoordinator != nil }

  /// Whether the store's configuration is known to hold every entity.
  var holdsEveryEntity: Bool { false }

  /// Whether the store's configuration holds an entity.
  final func holds(_ runtime: EntityRuntime) -> Bool {
    if holdsEveryEntity { return true }
    // Asked for by its ancestors: nothing is gathered for a look-up.
    guard let entities = self.runtime.layout.model.entities(forConfigurationName: configurationName) else {
      return true
    }
    return entities.contains { entity in
      sequence(first: runtime.layout.entity, next: \.superentity).contains { $0.name == entity.name }
    }
  }

  /// Runs `body` while no other thread saves to the store. Throws for a program's store that saves to itself.
  final func withoutSaves<Result>(_ body: () throws -> Result) throws -> Result {
    try beginSave()
    defer { endSave() }
    return try body()
  }

  /// Waits until no other thread saves to the store; the same without a closure, which would keep a plan.
  final func beginSave() throws {
    if let calls { try calls.beginSave(to: self) } else { saving.lock() }
  }

  final func endSave() {
    if let calls { calls.endSave() } else { saving.unlock() }
  }

  /// Runs `body`, which calls methods of the program's class, while no other thread does so.
  final func oneAtATime<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let calls else { return try body() }
    return try calls.run(body)
  }

  open override var description: String {
    "<NSPersistentStore \(type) \(url?.path ?? "in memory") \(uuid)>"
  }
}

/// The arguments for creating a store, see ``NSPersistentStore/init(_:)``.
public struct NewPersistentStore {
  let coordinator: NSPersistentStoreCoordinator?
  let type: String
  let configuration: String?
  let url: URL?
  let options: [AnyHashable: Any]?
}

/// The context and the request that a store is called for; for stores implemented by the program. Stores that
/// only handle rows need neither.
struct StoreCaller {
  let context: NSManagedObjectContext
  /// The fetch or save request; nil for calls without a request: faults, members, keys.
  var request: NSPersistentStoreRequest?

  init(_ context: NSManagedObjectContext, _ request: NSPersistentStoreRequest? = nil) {
    self.context = context
    self.request = request
  }
}

extension NSPersistentStore {
  /// A store type, in the newer spelling.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    public static let xml = StoreType(rawValue: NSXMLStoreType)
  }
}
