import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The superclass of stores that load and save objects one by one, on request: a web service, a database of
/// another kind, a protocol.
///
/// A subclass names its objects by *reference objects* (strings, numbers, UUIDs, any hashable values) and
/// turns them into ids with ``newObjectID(for:referenceObject:)``. It overrides ``loadMetadata()``,
/// ``execute(_:with:)``, ``newValuesForObject(with:with:)``,
/// ``newValue(forRelationship:forObjectWith:with:)`` and ``obtainPermanentIDs(for:)``.
///
/// The methods are called on the queue of the context that reads or saves, and by one thread at a time, as
/// Apple's coordinator calls them: other contexts wait meanwhile, for a slow service too, so a store that can
/// answer from what it has should do so. A method may read through the context that it gets. It must neither
/// save to the store itself, which throws, nor wait for another thread or context that uses the store.
///
/// Errors that they throw reach the caller unchanged, except where a property is read, which can't
/// throw: an object that could not be loaded then reads as deleted, if the context's
/// `shouldDeleteInaccessibleFaults` is true.
///
/// The page `stores-of-your-own.md` of the documentation lists the calls in their order. See Apple's page
/// [NSIncrementalStore](https://developer.apple.com/documentation/coredata/nsincrementalstore).
nonisolated open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
  // Sendable: `references`, `versions` and `issued` are guarded; `turns` is a lock; the cache does its own
  // locking.

  final let references = ReferenceMap()
  final let versions = NodeVersions()
  private final let turns: StoreCalls
  private final let issued = IssuedKeys()
  private final let cache: RowCache

  public override init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    turns = StoreCalls(of: root)
    cache = RowCache(layout: root?.runtime.layout ?? ModelLayout(model: NSManagedObjectModel()))
    super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
  }

  // MARK: To override

  /// Opens the store: sets ``NSPersistentStore/metadata`` with `NSStoreTypeKey` and `NSStoreUUIDKey`. Without
  /// a UUID there the store gets the identifier that ``identifierForNewStore(at:)`` returns.
  ///
  /// Override it; throw if the store can't be opened. It is then not added.
  open override func loadMetadata() throws {
    throw StoreAnswer(self, "loadMetadata()").missing(
      "Override it, and set metadata with NSStoreTypeKey and NSStoreUUIDKey there.")
  }

  /// Executes a request.
  ///
  /// | request | returns |
  /// |---|---|
  /// | `NSFetchRequest<NSFetchRequestResult>` for objects | `[NSManagedObject]` from `context.object(with:)`, or `[NSManagedObjectID]` |
  /// | … for ids | `[NSManagedObjectID]` |
  /// | … for counts | `[NSNumber]` with one number, or the number |
  /// | … for dictionaries | `[NSDictionary]` or `[[String: Any]]` |
  /// | `NSSaveChangesRequest` | an empty array. New objects have their permanent ids. All of its sets are nil if only metadata is to be saved |
  /// | any other class | what the program that executes it expects |
  ///
  /// A fetch has to apply the predicate, the sort descriptors, limit and offset of the request. Its entity is
  /// set. The context merges its unsaved changes into the result. Throw for requests that you don't know.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any
  {
    throw StoreAnswer(self, "execute(_:with:)").missing(
      "Override it to execute fetch and save requests.")
  }

  /// Returns the values of one object. Called when a fault fires that no other context has filled, and before
  /// a save for each changed object, to compare versions.
  ///
  /// Throw if there is no such object, or it can't be loaded.
  open func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
    -> NSIncrementalStoreNode
  {
    throw StoreAnswer(self, "newValuesForObject(with:with:)", entity: objectID.entity.name).missing(
      "Override it to return a node with the object's values.")
  }

  /// Returns the target of a to-one relationship, as an `NSManagedObjectID` or `NSNull`, or the members of a
  /// to-many relationship, as an array or a set of `NSManagedObjectID`s; an array for ordered ones. Called
  /// for to-many relationships when they are first read, and for to-one relationships that a node lacks.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    throw StoreAnswer(
      self, "newValue(forRelationship:forObjectWith:with:)", entity: objectID.entity.name
    ).missing("Override it to return the ids of '\(relationship.name)'.")
  }

  /// The identifier of a store that has none in its metadata: a UUID unless it is overridden.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  /// Returns permanent ids for new objects, in the order of the array. Called before a save request that has
  /// new objects, and for `obtainPermanentIDs(for:)` of a context.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    throw StoreAnswer(self, "obtainPermanentIDs(for:)", entity: array.first?.entity.name).missing(
      "Override it, and make an id for each object with newObjectID(for:referenceObject:).")
  }

  /// Called when a context has come to use objects with these ids. Does nothing unless it is overridden.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Called when a context no longer uses objects with these ids. Does nothing unless it is overridden.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  // MARK: To call

  /// The id of the object that a reference object names. The same entity and equal reference objects give
  /// equal ids.
  ///
  /// URIs of ids contain strings, numbers, UUIDs, URLs and data; other reference objects have URIs that are
  /// valid as long as the store is open. Don't override it. Stops for an entity that the coordinator's model
  /// does not have.
  open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
    makeID(for: entity, reference: data, references)
  }

  /// The reference object of an id of this store. Don't override it. Stops for an id of another store.
  open func referenceObject(for objectID: NSManagedObjectID) -> Any { reference(of: objectID, references) }

  // MARK: For the graph

  final override var referenceMap: ReferenceMap? { references }
  final override var calls: StoreCalls? { turns }
  final override var issuedKeys: IssuedKeys? { issued }
  final override var rowFreshness: RowFreshness { .aging }
  final override var hasUnsavedMetadata: Bool { wasMetadataSet }
  final override class var observesRegistration: Bool { true }
  final override var readsOneByOne: Bool { true }

  final override func completeLoading() throws {
    if uuid.isEmpty, (metadata?[NSStoreUUIDKey] as? String)?.isEmpty ?? true {
      let place: URL = url ?? URL(fileURLWithPath: "/dev/null")
      identifier = "\(Swift.type(of: self).identifierForNewStore(at: place))"
    }
    try completeMetadata()
  }

  final override func operations(for caller: StoreCaller) throws -> any StoreOperations {
    guard isInCoordinator else { throw StoreError.closed }
    return IncrementalOperations(self, caller, cache)
  }

  final override func keptRow(root: Int, key: Int64, age: TimeInterval?) -> RowRef? {
    age.map { cache.row(root: root, key: key, age: $0) } ?? cache.row(root: root, key: key)
  }

  final override func replaceKeptRows(root: Int, changed: [Int64], by slabs: [RowSlab]) {
    cache.replace(root: root, changed: changed, by: slabs)
  }

  final override func permanentKeys(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws
    -> [Int64]
  {
    let ids: [NSManagedObjectID] = try oneAtATime { try obtainPermanentIDs(for: objects) }
    func answer(_ object: NSManagedObject?) -> StoreAnswer {
      StoreAnswer(self, "obtainPermanentIDs(for:)", entity: object?.entity.name)
    }
    guard ids.count == objects.count else {
      throw answer(objects.first).wrong(
        "\(ids.count) ids for \(objects.count) objects", expected: "an id for each object, in their order")
    }
    var seen: Set<Int64> = []
    return try zip(objects, ids).map { object, id in
      let index: Int = object.runtime.index
      let row: RowID = try rowID(of: id, in: index...index, references, answer(object))
      let root: Int = object.runtime.layout.rootIndex
      guard seen.insert(row.key).inserted, !isUsed(row, by: context),
        !issued.contains(row.key, store: self, root: root)
      else {
        throw answer(object).wrong(
          "the id \(id), which another object has", expected: "an id of its own for each object")
      }
      return row.key
    }
  }

  private func isUsed(_ row: RowID, by context: NSManagedObjectContext) -> Bool {
    let root: Int = runtime.layout.entities[Int(row.entity)].rootIndex
    guard let known = context.identityMap.object(store: ordinal, root: root, key: row.key) else {
      return false
    }
    return !known.isDeleted
  }
}
