import CoreDataModel
import CoreDataStorage
import Foundation
import Synchronization

/// Connects a model with the stores that hold its objects, for the contexts above it.
///
/// Safe to use from any thread. The model is frozen from here on.
///
/// See Apple's page
/// [NSPersistentStoreCoordinator](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator).
nonisolated open class NSPersistentStoreCoordinator: NSObject, WorkQueueOwner, @unchecked Sendable {
  // Sendable: `stores`, `exchanges` and the name are guarded by `storesLock`; everything else is immutable or
  // does its own locking.

  final let runtime: ModelRuntime
  public final let managedObjectModel: NSManagedObjectModel
  private let storesLock = NSLock()
  /// For the obsolete `lock()`; the coordinator itself never takes it.
  final let threadLock = NSRecursiveLock()
  /// Held while a method of a program's store runs.
  final let programCalls = NSRecursiveLock()
  @exclusivity(unchecked) private var stores: [NSPersistentStore] = []
  private var removing: Set<ObjectIdentifier> = []
  @exclusivity(unchecked) private var exchanges: [ExchangedStore] = []
  private let exchangeCount = Atomic<Int>(0)
  final let contexts = ContextList()
  final let queue = WorkQueue(label: "NSPersistentStoreCoordinator")
  final var upperQueue: WorkQueue? { nil }
  /// A name for debugging.
  public final var name: String? {
    get { storesLock.withLock { storedName } }
    set { storesLock.withLock { storedName = newValue } }
  }
  private var storedName: String?

  public init(managedObjectModel model: NSManagedObjectModel) {
    managedObjectModel = model
    runtime = ModelRuntime.of(model)
    super.init()
    queue.owner = self
  }

  // MARK: Stores

  public final var persistentStores: [NSPersistentStore] { storesLock.withLock { stores } }

  /// Opens a store and adds it.
  ///
  /// Throws a `CocoaError`: 134100 if the file was written with another model (the message names the entities
  /// that differ), 134000 if it is not a store of that type, 134080 if it can't be opened. Blocks while the
  /// file is opened.
  @discardableResult
  public final func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    if let configuration, managedObjectModel.entities(forConfigurationName: configuration) == nil {
      throw GraphError.unsupported(
        "The configuration '\(configuration)'",
        advice: "The model has \(managedObjectModel.configurations.joined(separator: ", "))."
      ).asCocoaError
    }
    let store: NSPersistentStore = try withCocoaErrors(storeURL) {
      try opened(type: storeType, configuration: configuration, url: storeURL, options: options)
    }
    let twin: NSPersistentStore? = storesLock.withLock {
      if let twin = stores.first(where: { $0.uuid == store.uuid }) { return twin }
      stores.append(store)
      return nil
    }
    if let twin {
      try? store.close()
      throw GraphError.unsupported(
        "Adding the store \(storeURL?.path ?? "")",
        advice: "A store with the same UUID is open already (\(twin.url?.path ?? "in memory"))."
      ).asCocoaError
    }
    store.didAdd(to: self)
    postChange([NSAddedPersistentStoresKey: [store]])
    return store
  }

  /// A store of the class that is registered for a type, neither opened nor added yet.
  final func makeStore(
    type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    try StoreRegistry.storeClass(type).init(
      NewPersistentStore(
        coordinator: self, type: type, configuration: configuration, url: url, options: options))
  }

  @discardableResult
  public final func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
  }

  /// Opens the store of a description and calls the handler: at once, or asynchronously if the description
  /// requests that. Then the store is opened on a background queue, and the handler called on the main queue
  /// if this method was, otherwise on that background queue.
  public final func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    let add: () -> (any Error)? = { [self] in
      do {
        try addPersistentStore(
          ofType: storeDescription.type, configurationName: storeDescription.configuration,
          at: storeDescription.url, options: storeDescription.options)
        return nil
      } catch {
        return error
      }
    }
    guard storeDescription.shouldAddStoreAsynchronously else {
      block(storeDescription, add())
      return
    }
    let isOnMain: Bool = MainQueue.isCurrent
    queue.run {
      let outcome: (any Error)? = add()
      if !isOnMain { return block(storeDescription, outcome) }
      let call = Transfer(value: { block(storeDescription, outcome) })
      DispatchQueue.main.async { call.value() }
    }
  }

  /// Closes a store. Its objects in contexts become invalid: each context removes them, changes included, on
  /// its queue, and posts them as `NSInvalidatedObjectsKey`. Throws 134060 if the store is not in this
  /// coordinator, or is being removed: `willRemove(from:)` must not remove it again.
  public final func remove(_ store: NSPersistentStore) throws {
    let isRemoving: Bool = storesLock.withLock {
      guard stores.contains(where: { $0 === store }) else { return false }
      return !removing.insert(ObjectIdentifier(store)).inserted
    }
    if isRemoving {
      throw GraphError.unsupported(
        "Removing the store \(store.url?.path ?? store.uuid)", advice: "It is being removed already."
      ).asCocoaError
    }
    defer { storesLock.withLock { _ = removing.remove(ObjectIdentifier(store)) } }
    if persistentStores.contains(where: { $0 === store }) {
      store.oneAtATime { store.willRemove(from: self) }
    }
    let found: Bool = storesLock.withLock {
      guard let place = stores.firstIndex(where: { $0 === store }) else { return false }
      stores.remove(at: place)
      return true
    }
    guard found else {
      throw GraphError.unsupported(
        "Removing the store \(store.url?.path ?? store.uuid)", advice: "It is not in this coordinator."
      ).asCocoaError
    }
    store.persistentStoreCoordinator = nil
    try withCocoaErrors(store.url) { try store.close() }
    for context in contexts.all { context.onQueue { $0.removeObjects(of: store) } }
    postChange([NSRemovedPersistentStoresKey: [store]])
  }

  public final func persistentStore(for url: URL) -> NSPersistentStore? {
    persistentStores.first { $0.url?.standardizedFileURL == url.standardizedFileURL }
  }

  public final func url(for store: NSPersistentStore) -> URL {
    store.url ?? URL(fileURLWithPath: "/dev/null")
  }

  /// The store of an id, and the key that the object has there: in the store that replaced the id's own one
  /// when that was migrated. nil for an id of no store here, and of an object that was not there to be
  /// migrated.
  final func place(of id: NSManagedObjectID) -> (store: NSPersistentStore, key: Int64)? {
    storesLock.withLock {
      var identifier: String? = id.storeIdentifier
      var key: Int64 = id.key
      while let sought = identifier {
        if let store = stores.first(where: { $0.uuid == sought }) { return (store, key) }
        guard let exchange = exchanges.last(where: { $0.old.uuid == sought }) else { return nil }
        if let keys = exchange.keys {
          // The id may come from another coordinator, with another model.
          guard let entity = runtime.runtime(named: id.runtime.layout.name),
            let new = keys.key(key, root: entity.layout.rootIndex)
          else { return nil }
          key = new
        }
        identifier = exchange.new.uuid
      }
      return nil
    }
  }

  // MARK: Migrated stores

  /// Replaces a store by another one. Ids of the old one lead to the new one.
  final func exchange(_ exchange: ExchangedStore) {
    storesLock.withLock {
      guard let place = stores.firstIndex(where: { $0 === exchange.old }) else { return }
      stores[place] = exchange.new
      exchanges.append(exchange)
      exchangeCount.store(exchanges.count, ordering: .releasing)
    }
  }

  /// The exchanges after the first `count` ones, in order. Costs almost nothing if there are none.
  final func exchanges(since count: Int) -> [ExchangedStore] {
    if exchangeCount.load(ordering: .acquiring) == count { return [] }
    return storesLock.withLock { Array(exchanges.dropFirst(count)) }
  }

  /// Moves a store to another URL, see ``setURL(_:for:)``, and throws the reason if that fails. An addition
  /// of Clarus.
  ///
  /// Throws a `CocoaError`, with nothing changed: 134060 if the store is not in this coordinator, or if there
  /// is a file where the next save would create one; 134000, 134080 or 260 if there is no such SQLite store.
  public final func move(_ store: NSPersistentStore, to url: URL) throws {
    guard persistentStores.contains(where: { $0 === store }) else {
      throw GraphError.unsupported(
        "Moving the store \(store.url?.path ?? store.uuid)", advice: "It is not in this coordinator."
      ).asCocoaError
    }
    try withCocoaErrors(url) { try store.move(to: url) }
  }

  /// Changes where a store is; false, with nothing changed, if that can't be (``move(_:to:)`` throws the
  /// reason).
  ///
  /// The next save of an XML store, or of another one that is written as a whole, creates a file there, also
  /// if nothing else changed; the former file stays as it is. For a SQLite store, the file must be there
  /// already and have the same UUID (a copy, or the file itself after a move): the store opens it and closes
  /// the former one. Objects keep their values until they are refreshed. For a store class of the program,
  /// sets its `url`.
  ///
  /// See Apple's page
  /// [setURL(_:for:)](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/seturl(_:for:)).
  public final func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
    do {
      try move(store, to: url)
      return true
    } catch { return false }
  }

  // MARK: Metadata

  public final func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

  /// Sets the program's metadata; written with the next save. Type and UUID are added; a UUID among the
  /// values becomes the store's when its file is opened again.
  public final func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    store.metadata = metadata
  }

  /// The metadata of a store file, without opening it as a store and without changing it.
  public class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try withCocoaErrors(url) {
      guard let storeClass = StoreRegistry.find(storeType) else {
        throw StoreRegistry.noFile("Reading the metadata", ofType: storeType, "")
      }
      return try storeClass.metadata(at: url, options: StoreOpeningOptions(apple: options ?? [:]))
    }
  }

  public class func metadataForPersistentStore(
    type storeType: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: storeType.rawValue, at: url, options: options)
  }

  /// The metadata of a store file; of any kind of file that Clarus knows if the type is nil.
  @_disfavoredOverload
  @available(*, deprecated, message: "Use metadataForPersistentStore(ofType:at:options:).")
  public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws
    -> [String: Any]
  {
    try metadataForPersistentStore(ofType: try knownType(storeType, at: url), at: url, options: nil)
  }

  /// Sets the program's metadata of a store file; of any kind of file that Clarus knows if the type is nil.
  @_disfavoredOverload
  @available(*, deprecated, message: "Use setMetadata(_:forPersistentStoreOfType:at:options:).")
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
  ) throws {
    try setMetadata(
      metadata, forPersistentStoreOfType: try knownType(storeType, at: url), at: url, options: nil)
  }

  private class func knownType(_ given: String?, at url: URL) throws -> String {
    try given ?? withCocoaErrors(url) { try StoreRegistry.inspect(url, countsRows: false).type }
  }

  /// Sets the program's metadata of a store file, without opening it as a store; nil for none. The keys that
  /// describe the file stay unchanged. A UUID among the values becomes the store's when it is next opened;
  /// stores that have the file open then get errors, at the next save at the latest.
  ///
  /// Throws a `CocoaError` and changes nothing: 134000 if there is no store of that type, 134060 for values
  /// that a property list can't hold, 513 if the file may not be written. Costs a transaction.
  ///
  /// See Apple's page
  /// [setMetadata(_:type:at:options:)](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/setmetadata(_:type:at:options:)).
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try withCocoaErrors(url) {
      guard let storeClass = StoreRegistry.find(storeType) else {
        throw StoreRegistry.noFile(
          "Setting the metadata", ofType: storeType, " by its URL",
          "; set it on the store (setMetadata(_:for:))")
      }
      try storeClass.setMetadata(metadata, at: url, options: StoreOpeningOptions(apple: options ?? [:]))
    }
  }

  /// The same with a store type in the newer spelling.
  public class func setMetadata(
    _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: url, options: options)
  }

  /// The model that a store file carries; nil if it carries none.
  public class func cachedModelForPersistentStore(
    at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectModel? {
    try withCocoaErrors(url) { try StoreRegistry.inspect(url, countsRows: false, options: options).model }
  }

  // MARK: Ids

  /// The id for the URI of a permanent id; nil unless there is a store with that UUID and the entity here,
  /// and the URI is written as ``NSManagedObjectID/uriRepresentation()`` writes it.
  public final func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    guard url.scheme == ObjectURI.scheme,
      let host = url.host(percentEncoded: true)?.removingPercentEncoding,
      let store = persistentStores.first(where: { $0.uuid.caseInsensitiveCompare(host) == .orderedSame }
      )
    else { return nil }
    // Accepted only in the form that ids write: a mistyped row must not yield another one.
    let parts: [Substring] = url.path(percentEncoded: true).split(
      separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].isEmpty, let name = parts[1].removingPercentEncoding,
      let runtime = runtime.runtime(named: name), url.query == nil, url.fragment == nil, url.user == nil,
      url.port == nil, let key = store.key(uriComponent: parts[2], entity: runtime.index)
    else { return nil }
    return NSManagedObjectID(runtime: runtime, key: key, store: store)
  }

  /// The same for a URI as text.
  public final func managedObjectID(for string: String) -> NSManagedObjectID? {
    URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
  }

  // MARK: Queue

  /// Runs a block on the coordinator's queue, later. The block is not isolated to the actor in whose code it
  /// is written.
  @preconcurrency public final func perform(_ block: @escaping @Sendable () -> Void) {
    queue.run { [self] in RunningBlock.run(in: queue, of: nil, block) }
  }

  /// Runs a block on the coordinator's queue and suspends until it has run. Returns or rethrows what the
  /// block does.
  @preconcurrency public final func perform<T, E: Error>(
    isolation: isolated (any Actor)? = #isolation, _ block: @escaping @Sendable () throws(E) -> T
  ) async throws(E) -> T {
    try await queue.run { [self] () throws(E) -> T in try RunningBlock.run(in: queue, of: nil, block) }
  }

  /// Runs a block on the coordinator's queue and waits. Re-entrant; while a block waits for a context, the
  /// queue may run that context's blocks, see ``NSManagedObjectContext/performAndWait(_:)``.
  public final func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
    if queue.isCurrent { return try RunningBlock.run(in: queue, of: nil, block) }
    return try queue.runAndWait { () throws(E) -> T in try RunningBlock.run(in: queue, of: nil, block) }
  }

  final var nameInMessages: String {
    let address = String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)
    return "\(name.map { "\"\($0)\" " } ?? "")<\(type(of: self)): 0x\(address)>"
  }
}

/// The contexts of a coordinator or a parent context, referenced weakly, so that saves reach those that merge
/// automatically.
final class ContextList: @unchecked Sendable {
  // Sendable: guarded by `lock`.
  private struct Weak { weak var context: NSManagedObjectContext? }
  private let lock = NSLock()
  private var list: [Weak] = []

  func add(_ context: NSManagedObjectContext) { change { $0.append(context) } }

  func remove(_ context: NSManagedObjectContext) { change { $0.removeAll { $0 === context } } }

  /// Reading a weak reference retains the context. Others may release their last references meanwhile, and
  /// this one then deallocates the context: so what was read is released after the lock, because the
  /// deinitialisers of contexts, of their objects and of the program's values with them may call this code
  /// again.
  private func change(_ body: (inout [NSManagedObjectContext]) -> Void) {
    let before: [NSManagedObjectContext] = lock.withLock {
      let alive: [NSManagedObjectContext] = list.compactMap(\.context)
      var changed: [NSManagedObjectContext] = alive
      body(&changed)
      list = changed.map { Weak(context: $0) }
      return alive
    }
    withExtendedLifetime(before) {}
  }

  var isEmpty: Bool { all.isEmpty }

  var all: [NSManagedObjectContext] { lock.withLock { list.compactMap(\.context) } }
}
