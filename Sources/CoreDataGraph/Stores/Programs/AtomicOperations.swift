import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// One call of a context to an atomic store: reads are those of the store in memory; a save brings the nodes
/// up to date and lets the store write them, before readers see what was saved.
final class AtomicOperations: StoreOperations, @unchecked Sendable {
  // Sendable: used by one call, on the calling context's queue; the engine does its own locking.

  private let store: NSAtomicStore
  private let caller: StoreCaller
  private let memory: InMemoryEngine

  init(_ store: NSAtomicStore, _ caller: StoreCaller, _ memory: InMemoryEngine) {
    self.store = store
    self.caller = caller
    self.memory = memory
  }

  var layout: ModelLayout { store.runtime.layout }
  var hasOneKeySequence: Bool { true }

  // MARK: Reading

  func fetch(_ plan: FetchPlan) throws -> RowBatch { try memory.fetch(plan) }
  func fetchIDs(_ plan: FetchPlan) throws -> [RowID] { try memory.fetchIDs(plan) }
  func count(_ plan: FetchPlan) throws -> Int { try memory.count(plan) }
  func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows { try memory.fetch(plan) }
  func explain(_ plan: FetchPlan) throws -> ExplainedStatement? { try memory.explain(plan) }

  func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch {
    try memory.rows(of: layout, keys: keys)
  }

  func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]] {
    try memory.members(of: layout, slot: slot, owners: owners)
  }

  func members(of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [RowID]) throws -> [RowID]
  {
    try memory.members(of: layout, slot: slot, owner: owner, among: candidates)
  }

  // MARK: Saving

  func allocateKeys(for root: EntityLayout, count: Int) throws -> Int64 {
    throw StoreError.unsupported(
      part: "keys of \(root.name)", reason: "a program's store names its objects itself",
      advice: "insert objects into a context, and save it")
  }

  func checkWritable() throws {
    if store.isReadOnly { throw StoreError.readOnly(url: store.url, .requested) }
    try memory.checkWritable()
  }

  func save(_ plan: consuming SavePlan) throws -> SaveOutcome {
    let plan: SavePlan = plan
    try checkWritable()
    guard let request = caller.request as? NSSaveChangesRequest else {
      throw StoreError.unsupported(
        part: "saving rows without objects", reason: "a program's store saves managed objects",
        advice: "insert objects into a context, and save it")
    }
    try request.checkTransformed()
    let writes: Bool = !store.isFilling
    if writes { store.noteWriting() }
    let outcome: SaveOutcome = try memory.save(plan, before: { try update(request, thenSaving: writes) })
    if writes { store.noteMetadataSaved() }
    return outcome
  }

  /// Brings the nodes up to date and saves the store. If that fails, the nodes are those from before.
  private func update(_ request: NSSaveChangesRequest, thenSaving savesStore: Bool) throws {
    let before: [Int64: NSAtomicStoreCacheNode] = store.nodes.state
    let updated: [NSManagedObject] = inOrder(request.updatedObjects)
    let values: [(node: NSAtomicStoreCacheNode, values: Any?)] = updated.compactMap { object in
      store.nodes[object.key].map { ($0, $0.propertyCache?.mutableCopy()) }
    }
    do {
      for object in inOrder(request.insertedObjects) { try add(object) }
      for object in updated {
        guard let node = store.nodes[object.key] else { continue }
        store.updateCacheNode(node, from: object)
      }
      let deleted: [NSManagedObject] = inOrder(request.deletedObjects)
      let removed: [NSAtomicStoreCacheNode] = deleted.compactMap { store.nodes[$0.key] }
      if !removed.isEmpty { store.willRemoveCacheNodes(Set(removed)) }
      store.nodes.remove(deleted.map(\.key))
      if savesStore { try store.save() }
    } catch {
      store.nodes.state = before
      for entry in values { entry.node.propertyCache = entry.values as? NSMutableDictionary }
      throw error
    }
  }

  private func add(_ object: NSManagedObject) throws {
    let node: NSAtomicStoreCacheNode = store.newCacheNode(for: object)
    guard node.objectID.store === store, node.objectID.key == object.key else {
      throw StoreAnswer(store, "newCacheNode(for:)", entity: object.entity.name).wrong(
        "a node of \(node.objectID) for \(object.objectID)", expected: "a node with the object's own id")
    }
    // Another one may have got the same reference object, by a URI for instance.
    if let other = store.nodes[object.key], other !== node {
      let reference: String = store.references[object.key].map { "\($0.reference)" } ?? ""
      throw StoreAnswer(store, "newReferenceObject(for:)", entity: object.entity.name).wrong(
        "'\(reference)', which names another object", expected: "a value that no other object has or had")
    }
    store.addCacheNodes([node])
    store.nodes.add(node)
  }

  /// In the order of keys, so that a store that writes as it is called writes the same file each time.
  private func inOrder(_ objects: Set<NSManagedObject>?) -> [NSManagedObject] {
    (objects ?? []).sorted { $0.key < $1.key }
  }
}
