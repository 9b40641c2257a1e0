import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// One call of a context to an incremental store: plans become requests, and the store's answers become ids
/// and rows.
///
/// A fetch returns ids only; a row is read when its fault fires, with one call of the store.
final class IncrementalOperations: StoreOperations, @unchecked Sendable {
  // Sendable: used by one call, on the calling context's queue.

  let store: NSIncrementalStore
  let caller: StoreCaller
  private let cache: RowCache
  /// The objects that the store has returned, with the rows that it may have read for them: alive until the
  /// context has its own references.
  private var returned: [Any] = []

  init(_ store: NSIncrementalStore, _ caller: StoreCaller, _ cache: RowCache) {
    self.store = store
    self.caller = caller
    self.cache = cache
    caller.context.identityMap.registrations.post()
  }

  var layout: ModelLayout { store.runtime.layout }
  var context: NSManagedObjectContext { caller.context }
  var fetchesRows: Bool { false }
  var hasOneKeySequence: Bool { true }

  // MARK: Fetching

  func fetchIDs(_ plan: FetchPlan) throws -> [RowID] {
    let wantsIDs: Bool =
      (caller.request as? any AnyFetchRequest)?.resultType == .managedObjectIDResultType
    try check(plan)
    let type: NSFetchRequestResultType = wantsIDs ? .managedObjectIDResultType : .managedObjectResultType
    let result: Any = try execute(request(plan, type))
    let answer = StoreAnswer(store, "execute(_:with:)", entity: plan.entity.name)
    guard let members = Self.array(result) else {
      throw answer.wrong("\(Swift.type(of: result))", expected: "an array of managed objects or their ids")
    }
    returned = members
    let family: ClosedRange<Int> =
      plan.includesSubentities ? plan.entity.family : plan.entity.index...plan.entity.index
    return try members.map { member in
      let id: NSManagedObjectID
      switch member {
      case let object as NSManagedObject: id = object.objectID
      case let given as NSManagedObjectID: id = given
      default:
        throw answer.wrong(
          "\(Swift.type(of: member)) in its result", expected: "an array of managed objects or their ids")
      }
      return try store.rowID(of: id, in: family, store.references, answer)
    }
  }

  func fetch(_ plan: FetchPlan) throws -> RowBatch {
    try rows(try fetchIDs(plan), of: layout.entities[plan.entity.rootIndex])
  }

  func count(_ plan: FetchPlan) throws -> Int {
    try check(plan)
    let result: Any = try execute(request(plan, .countResultType))
    let number: Any? = Self.array(result).map { $0.count == 1 ? $0[0] : nil } ?? result
    // A store may answer with the objects, as one that ignores the result type does.
    if let members = Self.array(result), !(number is NSNumber) {
      let areObjects: Bool = members.allSatisfy { $0 is NSManagedObject || $0 is NSManagedObjectID }
      if areObjects { return members.count }
    }
    guard let count = number as? Int, count >= 0 else {
      throw StoreAnswer(store, "execute(_:with:)", entity: plan.entity.name).wrong(
        "\(Swift.type(of: result))",
        expected: "an array of one NSNumber, because the request asks for a count")
    }
    return count
  }

  /// A program's store evaluates predicates in its own way: only a fetch shows what it can't. Keys to sort by
  /// that name no stored property are refused here, because a store that sorts objects would stop at them.
  func check(_ plan: FetchPlan) throws {
    let paths = KeyPathCheck(layout: layout, entity: plan.entity)
    for term in plan.order { try paths.check(term.keyPath) }
  }

  func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows {
    throw StoreError.unsupported(
      part: "a projection of \(plan.rows.entity.name)",
      reason: "a program's store computes dictionaries only for a request",
      advice: "fetch dictionaries with a context")
  }

  /// The store's own dictionaries for the caller's request.
  func dictionaries(_ plan: FetchPlan) throws -> [NSDictionary] {
    let result: Any = try execute(request(plan, .dictionaryResultType))
    let answer = StoreAnswer(store, "execute(_:with:)", entity: plan.entity.name)
    let expected = "an array of dictionaries, because the request asks for them"
    guard let members = Self.array(result) else {
      throw answer.wrong("\(Swift.type(of: result))", expected: expected)
    }
    return try members.map { member in
      if let dictionary = member as? NSDictionary { return dictionary }
      guard let values = member as? [String: Any] else {
        throw answer.wrong("\(Swift.type(of: member)) in its result", expected: expected)
      }
      return NSDictionary(dictionary: values)
    }
  }

  private func execute(_ request: NSPersistentStoreRequest) throws -> Any {
    try store.oneAtATime { try store.execute(request, with: context) }
  }

  static func array(_ result: Any) -> [Any]? {
    if let array = result as? [Any] { return array }
    return (result as? NSArray).map { Array($0) }
  }

  /// The caller's request, with what the plan has in place of it, and always of one type: a cast of a request
  /// to another type of results never succeeds off Apple's platforms.
  private func request(_ plan: FetchPlan, _ type: NSFetchRequestResultType) throws
    -> NSFetchRequest<NSFetchRequestResult>
  {
    let request = NSFetchRequest<NSFetchRequestResult>()
    if let origin = caller.request as? any AnyFetchRequest {
      origin.copyContents(into: request)
      // What the store can't sort by, the context sorts.
      if plan.order.isEmpty { request.sortDescriptors = [] }
    } else {
      request.predicate = plan.predicate.map { NSPredicate.makePredicate($0) }
      request.sortDescriptors = plan.order.map {
        .makeSortDescriptor(SortTerm(key: $0.keyPath, ascending: $0.ascending, comparison: $0.comparison))
      }
    }
    request.entity = plan.entity.entity
    request.includesSubentities = plan.includesSubentities
    request.fetchLimit = plan.limit
    request.fetchOffset = plan.offset
    request.resultType = type
    request.affectedStores = [store]
    return request
  }

  // MARK: Rows

  func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch {
    let root: EntityLayout = self.layout.entities[layout.rootIndex]
    let ids: [RowID] = keys.compactMap { key in
      guard let entity = store.references[key]?.entity, root.family.contains(entity) else { return nil }
      return RowID(entity: entity, key: key)
    }
    return try cache.listing(root.index) { try rows(ids, of: root) }
  }

  private func rows(_ ids: [RowID], of root: EntityLayout) throws -> RowBatch {
    if ids.isEmpty { return RowBatch() }
    let slab = RowSlab(layout: root, family: true, rowCapacity: ids.count)
    for id in ids { try read(id, into: slab) }
    return RowBatch(slabs: [slab])
  }

  /// The present row of an object; nil if the store says that there is none.
  func row(_ id: RowID) throws -> RowRef? {
    let slab = RowSlab(layout: layout.entities[Int(id.entity)], family: false, rowCapacity: 1)
    return try read(id, into: slab) ? slab.row(0) : nil
  }

  /// Returns false if the store says that there is no such object.
  @discardableResult
  private func read(_ id: RowID, into slab: RowSlab) throws -> Bool {
    let objectID: NSManagedObjectID = store.objectID(id)
    let node: NSIncrementalStoreNode
    do {
      node = try store.oneAtATime { try store.newValuesForObject(with: objectID, with: context) }
    } catch let error as NSError
      where error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectReferentialIntegrityError
    {
      return false
    }
    let runtime: EntityRuntime = store.runtime.entities[Int(id.entity)]
    let answer = StoreAnswer(store, "newValuesForObject(with:with:)", entity: runtime.layout.name)
    guard node.objectID.store === store, node.objectID.key == id.key else {
      throw answer.wrong("a node of \(node.objectID) for \(objectID)", expected: "a node of that id")
    }
    let values = NodeValues(
      runtime: runtime, answer: answer, keepsExactDecimals: store.keepsExactDecimals
    ) { name in
      runtime.layout.slot(named: name).flatMap { node.value(for: $0.property) }
    }
    // All values before the row is begun: what they call may read other rows.
    var made: [(word: Int, value: SlotValue)] = []
    var targets: [(word: Int, target: RowID)] = []
    for (number, slot) in runtime.layout.slots.enumerated() {
      guard case .stored(let kind, let word) = slot.role else { continue }
      if kind != .toOne {
        made.append((word, try values.attribute(number)))
      } else if let target = try target(slot, node, objectID) {
        targets.append((word, target))
      }
    }
    let row = slab.appendRow(
      key: id.key, entity: runtime.index, version: store.versions.number(of: node, key: id.key))
    for entry in made { slab.set(row, word: entry.word, value: entry.value) }
    for entry in targets { slab.set(row, word: entry.word, toTarget: entry.target) }
    return true
  }

  /// The target of a to-one relationship: the node's, or else the store's own answer.
  private func target(_ slot: PropertySlot, _ node: NSIncrementalStoreNode, _ id: NSManagedObjectID) throws
    -> RowID?
  {
    guard let relationship = slot.relationship, let destination = slot.destination else { return nil }
    let (given, method): (Any, String) =
      if let value = node.value(for: relationship) {
        (value, "newValuesForObject(with:with:)")
      } else {
        (
          try store.oneAtATime {
            try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
          },
          "newValue(forRelationship:forObjectWith:with:)"
        )
      }
    guard let value = SlotValue.unwrapped(given) else { return nil }
    let answer = StoreAnswer(store, method, entity: id.entity.name)
    let target: NSManagedObjectID? = (value as? NSManagedObjectID) ?? (value as? NSManagedObject)?.objectID
    guard let target else {
      throw answer.wrong(
        "\(Swift.type(of: value)) for the to-one relationship '\(slot.name)'",
        expected: "the target's NSManagedObjectID, or NSNull")
    }
    return try store.rowID(of: target, in: layout.entities[destination].family, store.references, answer)
  }

  // MARK: Members

  func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]] {
    try owners.map { try members(of: $0, slot) }
  }

  private func members(of owner: RowID, _ slot: Int) throws -> [RowID] {
    let entity: EntityLayout = layout.entities[Int(owner.entity)]
    let described: PropertySlot = entity.slots[slot]
    guard let relationship = described.relationship, let destination = described.destination else {
      return []
    }
    let result: Any = try store.oneAtATime {
      try store.newValue(
        forRelationship: relationship, forObjectWith: store.objectID(owner), with: context)
    }
    let answer = StoreAnswer(
      store, "newValue(forRelationship:forObjectWith:with:)", entity: entity.name)
    guard let value = SlotValue.unwrapped(result) else { return [] }
    guard let members = Self.collection(value) else {
      throw answer.wrong(
        "\(Swift.type(of: value)) for the to-many relationship '\(described.name)'",
        expected: "an array or a set of NSManagedObjectIDs")
    }
    let family: ClosedRange<Int> = self.layout.entities[destination].family
    var seen: Set<Int64> = []
    let ids: [RowID] = try members.compactMap { member in
      let id: NSManagedObjectID? = (member as? NSManagedObjectID) ?? (member as? NSManagedObject)?.objectID
      guard let id else {
        throw answer.wrong(
          "\(Swift.type(of: member)) among the members of '\(described.name)'",
          expected: "an array or a set of NSManagedObjectIDs")
      }
      let row: RowID = try store.rowID(of: id, in: family, store.references, answer)
      return seen.insert(row.key).inserted ? row : nil
    }
    return relationship.isOrdered ? ids : ids.sorted { $0.key < $1.key }
  }

  static func collection(_ value: Any) -> [Any]? {
    switch value {
    case let set as NSSet: set.allObjects
    case let set as NSOrderedSet: set.array
    case let set as Set<AnyHashable>: set.map(\.base)
    default: array(value)
    }
  }

  // MARK: Saving

  func allocateKeys(for root: EntityLayout, count: Int) throws -> Int64 {
    throw StoreError.unsupported(
      part: "keys of \(root.name)", reason: "a program's store names its objects itself",
      advice: "insert objects into a context, and save it")
  }

  func checkWritable() throws {
    if store.isReadOnly { throw StoreError.readOnly(url: store.url, .requested) }
  }

  /// The store's objects have their ids already. Changed objects, and those whose version is to be checked,
  /// are read again first; then the store executes the request.
  func save(_ plan: consuming SavePlan) throws -> SaveOutcome {
    let plan: SavePlan = plan
    try checkWritable()
    guard let request = caller.request as? NSSaveChangesRequest else {
      throw StoreError.unsupported(
        part: "saving rows without objects", reason: "a program's store saves managed objects",
        advice: "insert objects into a context, and save it")
    }
    try request.checkTransformed()
    try checkVersions(plan)
    _ = try execute(request)
    for (_, batch) in plan.inserts {
      batch.forEach { row in store.versions.save(row.key, number: row.version) }
    }
    for update in plan.updates { store.versions.save(update.row.key, number: update.row.version) }
    for delete in plan.deletes { store.versions.delete(delete.id.key) }
    store.noteMetadataSaved()
    return SaveOutcome(written: plan, keys: NewKeys(for: plan) { _, _ in 0 })
  }

  private func checkVersions(_ plan: SavePlan) throws {
    var conflicts: [RowConflict] = []
    for (id, expected) in plan.updates.map({ ($0.row.id, $0.expectedVersion) })
      + plan.checks.map({ ($0.id, $0.expectedVersion) })
    {
      let stored: RowRef? = try row(id)
      if stored?.version != expected {
        conflicts.append(RowConflict(id: id, expectedVersion: expected, stored: stored))
      }
    }
    // Objects that are written anew after somebody deleted them: another context may have done so before.
    for (_, batch) in plan.inserts {
      try batch.forEach { inserted in
        guard store.versions.number(of: inserted.key) != nil, let stored = try row(inserted.id) else {
          return
        }
        conflicts.append(RowConflict(id: inserted.id, expectedVersion: 0, stored: stored))
      }
    }
    for delete in plan.deletes {
      // Not read again: what is to be deleted needs no values. Saves of other contexts are known.
      guard delete.expectedVersion != 0, let newest = store.versions.number(of: delete.id.key),
        newest != delete.expectedVersion
      else { continue }
      conflicts.append(
        RowConflict(id: delete.id, expectedVersion: delete.expectedVersion, stored: try row(delete.id)))
    }
    if !conflicts.isEmpty { throw StoreError.conflicts(conflicts) }
  }
}
