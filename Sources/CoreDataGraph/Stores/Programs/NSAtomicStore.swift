import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The superclass of stores that are read as a whole when they are opened, and written as a whole by each
/// save: a file in a format of the program's own.
///
/// A subclass overrides ``load()``, which adds a node for each object, and ``save()``, which writes
/// ``cacheNodes()`` and ``NSPersistentStore/metadata``. Nodes are named by *reference objects*: strings,
/// numbers, UUIDs, any hashable values. The methods for new, changed and deleted objects
/// (``newReferenceObject(for:)``, ``newCacheNode(for:)``, ``updateCacheNode(_:from:)``,
/// ``willRemoveCacheNodes(_:)``) have implementations that keep the values in the nodes.
///
/// Fetches, relationships, uniqueness constraints and conflicts are the framework's work: the objects are in
/// memory, as in an in-memory store. The methods are called on the queue of the context that saves, and by
/// one thread at a time, as Apple's coordinator calls them: a store that counts its objects needs no lock for
/// that. They may read through the saving context. They must neither save to the store itself, which throws,
/// nor wait for another thread that saves to it. Errors that ``load()`` and ``save()`` throw reach the caller
/// unchanged.
///
/// The page `stores-of-your-own.md` of the documentation lists the calls in their order. See Apple's page
/// [NSAtomicStore](https://developer.apple.com/documentation/coredata/nsatomicstore).
nonisolated open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
  // Sendable: `references`, `nodes`, `issued` and `loaded` are guarded; `turns` is a lock.

  final let references = ReferenceMap()
  final let nodes = CacheNodes()
  private final let turns: StoreCalls
  private final let issued = IssuedKeys()
  private final let loaded = Guarded<InMemoryEngine?>(nil)

  public override init(
    persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    turns = StoreCalls(of: coordinator)
    super.init(
      persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options
    )
  }

  // MARK: To override

  /// Sets the metadata, if ``load()`` does not do so. Does nothing unless it is overridden: a store without a
  /// UUID in its metadata gets one after ``load()``.
  open override func loadMetadata() throws {}

  /// Reads the store: makes a node for each object and adds it (``addCacheNodes(_:)``). A place that is empty
  /// is a new store. Override it; throw if the store can't be read. It is then not added, nor is one that
  /// adds two nodes with the same id.
  open func load() throws {
    throw StoreAnswer(self, "load()").missing("Override it, and add a node for each object there.")
  }

  /// Writes ``cacheNodes()`` and the metadata. Called at the end of each save, after the nodes of new,
  /// changed and deleted objects are up to date. Override it; if it throws, the context's save fails and
  /// keeps its changes, and the nodes are again those from before.
  open func save() throws {
    throw StoreAnswer(self, "save()").missing("Override it, and write cacheNodes() and metadata there.")
  }

  /// Returns a node for a new object, which has its permanent id. The framework adds it.
  ///
  /// The default one has the values of all attributes, and the ids of related objects.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    Self.fill(node, from: managedObject)
    return node
  }

  /// Updates the node of a changed object. The default implementation sets all values anew.
  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    Self.fill(node, from: managedObject)
  }

  /// Called before the nodes of deleted objects are removed. Does nothing unless it is overridden.
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

  /// Returns the reference object for a new object: one that no other object of its entity has or had. A UUID
  /// as text unless it is overridden. A save whose object gets that of another object throws.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

  // MARK: To call

  /// The nodes of all objects.
  open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.all) }

  /// Adds nodes while the store is loaded. Two nodes with the same id are an error, which the addition of the
  /// store throws after ``load()``; in a save the later node replaces the other one.
  open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    for node in cacheNodes { nodes.add(node) }
  }

  /// The node of an object; nil if there is none.
  open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
    objectID.store === self ? nodes[objectID.key] : nil
  }

  /// The id of the object that a reference object names: the same entity and equal reference objects give
  /// equal ids. Stops for an entity that the coordinator's model does not have.
  open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
    makeID(for: entity, reference: data, references)
  }

  /// The reference object of an id of this store. Stops for an id of another store.
  open func referenceObject(for objectID: NSManagedObjectID) -> Any { reference(of: objectID, references) }

  // MARK: For the graph

  final override var referenceMap: ReferenceMap? { references }
  final override var calls: StoreCalls? { turns }
  final override var issuedKeys: IssuedKeys? { issued }
  final override var hasUnsavedMetadata: Bool { wasMetadataSet }

  private enum Filling { case ended, began, awaitsSave }
  private final let filling = Guarded<Filling?>(nil)

  /// Whether ``save()`` is not called yet, because a migration fills the store first.
  final var isFilling: Bool { fillingState == .began }
  /// Whether ``save()`` was not called yet.
  final var awaitsFirstSave: Bool { fillingState != .ended }

  private final var fillingState: Filling {
    filling.withLock { state in
      if let state { return state }
      let isAsked: Bool = (options?[FillsBeforeWritingOption] as? NSNumber)?.boolValue ?? false
      let first: Filling = isAsked ? .began : .ended
      state = first
      return first
    }
  }

  final func endFilling() {
    if fillingState == .began { filling.withLock { $0 = .awaitsSave } }
  }

  final func noteWriting() { filling.withLock { $0 = .ended } }

  final override func completeLoading() throws {
    let memory = try InMemoryEngine(layout: runtime.layout, hasOneKeySequence: true)
    try load()
    if let twin = nodes.endLoading() {
      let reference: String = references[twin.key].map { "\($0.reference)" } ?? ""
      throw StoreAnswer(self, "load()", entity: twin.entity.name).wrong(
        "two nodes with the reference object '\(reference)'", expected: "one node for each object")
    }
    if uuid.isEmpty, (metadata?[NSStoreUUIDKey] as? String)?.isEmpty ?? true {
      identifier = UUID().uuidString
    }
    try completeMetadata()
    try memory.load(try NodeLoader(self).plan(), highestKey: references.lastKey)
    loaded.withLock { $0 = memory }
  }

  final override func operations(for caller: StoreCaller) throws -> any StoreOperations {
    guard isInCoordinator, let memory = loaded.withLock({ $0 }) else { throw StoreError.closed }
    return AtomicOperations(self, caller, memory)
  }

  final override func close() throws { try loaded.withLock { $0 }?.close() }

  final override func permanentKeys(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws
    -> [Int64]
  {
    var keys: [Int64] = []
    var seen: Set<Int64> = []
    for object in objects {
      // The store may have asked for ids itself, in the call for an object before.
      if object.store === self {
        keys.append(object.key)
        continue
      }
      let key: Int64 = try self.key(of: object)
      let root: Int = object.runtime.layout.rootIndex
      let isKnown: Bool =
        nodes[key] != nil || context.identityMap.hasObject(store: ordinal, root: root, key: key)
        || issued.contains(key, store: self, root: root)
      if isKnown || !seen.insert(key).inserted {
        let reference: String = references[key].map { entry in "\(entry.reference)" } ?? ""
        throw StoreAnswer(self, "newReferenceObject(for:)", entity: object.entity.name).wrong(
          "'\(reference)', which names another object",
          expected: "a value that no other object has or had")
      }
      keys.append(key)
    }
    return keys
  }

  private final func key(of object: NSManagedObject) throws -> Int64 {
    let reference: Any = newReferenceObject(for: object)
    guard ReferenceKey(reference) != nil else {
      throw StoreAnswer(self, "newReferenceObject(for:)", entity: object.entity.name).wrong(
        "a \(Swift.type(of: reference)), which is not hashable",
        expected: "a string, a number, a UUID or another hashable value")
    }
    return references.key(of: reference, entity: object.runtime.index)
  }

  private static func fill(_ node: NSAtomicStoreCacheNode, from object: NSManagedObject) {
    for slot in object.runtime.layout.slots where !slot.isElement && slot.role != .transient {
      switch slot.property {
      case let relationship as NSRelationshipDescription:
        let ids: [NSManagedObjectID] = object.objectIDs(forRelationshipNamed: relationship.name)
        let value: Any? =
          if !relationship.isToMany { ids.first } else if relationship.isOrdered { ids } else { Set(ids) }
        node.setValue(value, forKey: relationship.name)
      case is NSAttributeDescription:
        node.setValue(object.value(forKey: slot.name), forKey: slot.name)
      default: continue
      }
    }
  }
}

/// The nodes of an atomic store, by the keys of their ids.
final class CacheNodes: Sendable {
  private struct Content {
    var nodes: [Int64: NSAtomicStoreCacheNode] = [:]
    var isLoading = true
    /// The id of which two nodes were added first, while the store was loaded.
    var twin: NSManagedObjectID?
  }
  private let content = Guarded(Content())

  var all: [NSAtomicStoreCacheNode] { content.withLock { Array($0.nodes.values) } }
  subscript(key: Int64) -> NSAtomicStoreCacheNode? { content.withLock { $0.nodes[key] } }

  func add(_ node: NSAtomicStoreCacheNode) {
    let id: NSManagedObjectID = node.objectID
    content.withLock { content in
      let other: NSAtomicStoreCacheNode? = content.nodes.updateValue(node, forKey: id.key)
      if content.isLoading, let other, other !== node, content.twin == nil { content.twin = id }
    }
  }

  /// The id of which the store has loaded two nodes; nil if each is different.
  func endLoading() -> NSManagedObjectID? {
    content.withLock { content in
      content.isLoading = false
      return content.twin
    }
  }

  func remove(_ keys: some Sequence<Int64>) {
    content.withLock { content in
      for key in keys { content.nodes[key] = nil }
    }
  }

  /// All nodes, to be restored if a save fails.
  var state: [Int64: NSAtomicStoreCacheNode] {
    get { content.withLock { $0.nodes } }
    set { content.withLock { $0.nodes = newValue } }
  }
}
