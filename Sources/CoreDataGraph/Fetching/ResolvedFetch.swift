import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A fetch resolved: entity, stores, the part that the stores evaluate and the part that is evaluated here.
///
/// A fetch goes through these stages, each a function on values; a child context's ends with its parent in
/// place of stores:
///
///     validate   the request's predicate fits the entity                      FetchParameters.validated
///     resolve    entity by name, stores that hold it                          FetchParameters.runtime, ResolvedFetch.init
///     bind       objects become references to rows of one store               FetchParameters.close
///     split      what stores cannot evaluate is evaluated by the context      ResidualPredicate.split
///     plan       one for each store                                           ResolvedFetch.plan
///     run        rows become objects of the context                           Context+Fetching
///     merge      unsaved changes are merged into them                         PendingMerge.merged
///     order      sorted and limited, if stores could not                      FetchParameters.sorted, page
///
/// A class, because a structure of so many references is expensive to copy.
final class ResolvedFetch {
  let request: FetchParameters
  let context: NSManagedObjectContext
  let runtime: EntityRuntime
  let coordinator: NSPersistentStoreCoordinator
  let stores: [NSPersistentStore]
  /// The request's predicate as a tree, validated, without free variables, and with as few alternatives as
  /// possible.
  let predicate: PredicateNode?
  /// The predicate's shape, if it is known and contains no objects.
  private let shape: PredicateShape?
  /// Whether a store keeps all digits of decimals: constants then keep theirs.
  let comparesExactly: Bool
  /// The residual predicate, after a store has refused a part.
  let residual: ResidualPredicate?
  /// nil if sorted here.
  private let order: [FetchOrder]?
  /// Unsaved objects that can change the result.
  let pending: [NSManagedObject]

  init(_ request: FetchParameters, context: NSManagedObjectContext) throws {
    guard let coordinator = context.persistentStoreCoordinator else { throw GraphError.noCoordinator }
    context.applyStoreExchanges()
    let asked: [NSPersistentStore] = try coordinator.stores(among: request.affectedStores)
    let runtime: EntityRuntime = try request.runtime(in: coordinator.runtime)
    self.request = request
    self.context = context
    self.runtime = runtime
    self.coordinator = coordinator
    stores = asked.allSatisfy { $0.holds(runtime) } ? asked : asked.filter { $0.holds(runtime) }
    comparesExactly = coordinator.keepsExactDecimals
    let validated: ValidatedPredicate? = try request.validated(for: runtime, comparesExactly: comparesExactly)
    predicate = validated?.node
    shape = validated?.shape
    residual = nil
    order = request.storeOrder
    if request.includesPendingChanges {
      if context.propagatesDeletesAtEndOfEvent { context.propagateDeletes() }
      let candidates: [NSManagedObject] = PendingMerge.concerned(
        inserted: context.work.inserted, updated: context.work.updated, deleted: context.work.deleted,
        entities: request.includesSubentities ? runtime.layout.family : runtime.index...runtime.index)
      if let affected = request.affectedStores {
        pending = candidates.filter { object in
          let home: NSPersistentStore? = try? StoreChanges.store(
            for: object, context: context, coordinator: coordinator)
          return affected.contains { $0 === home }
        }
      } else {
        pending = candidates
      }
    } else {
      pending = []
    }
  }

  /// The same fetch with another residual predicate and order.
  private init(_ other: ResolvedFetch, residual: ResidualPredicate?, order: [FetchOrder]?) {
    request = other.request
    context = other.context
    runtime = other.runtime
    coordinator = other.coordinator
    stores = other.stores
    predicate = other.predicate
    shape = other.shape
    comparesExactly = other.comparesExactly
    pending = other.pending
    self.residual = residual
    self.order = order
  }

  /// The context and request that stores are called for.
  var caller: StoreCaller { StoreCaller(context, request.origin) }

  /// Whether ids or counts of the stores are not enough for the result.
  var needsObjects: Bool {
    !pending.isEmpty || order == nil || residual != nil
      || (stores.count > 1 && (request.limit > 0 || request.offset > 0 || order?.isEmpty == false))
  }

  /// Whether the store returns objects in their final order.
  private var isInFinalOrder: Bool { pending.isEmpty && order != nil && stores.count == 1 }

  /// Whether the store, or the parent, returns objects in the order of the request: unsaved changes can be
  /// merged into it without sorting all objects.
  var isInOrder: Bool { order != nil && (stores.count == 1 || context.parent != nil) }

  /// How many of the first objects of a store contain those wanted: each pending one may be among them and
  /// not match any more. 0 for all.
  private var mergedLimit: Int {
    guard isInOrder, residual == nil, !pending.isEmpty, request.limit > 0 else { return 0 }
    let (wanted, isEndless) = request.offset.addingReportingOverflow(request.limit)
    let (most, overflow) = wanted.addingReportingOverflow(pending.count { !$0.isInserted })
    return isEndless || overflow ? 0 : most
  }

  /// How many objects of a store are enough; nil for all of them.
  var sufficientCount: Int? {
    guard isInFinalOrder, request.limit > 0 else { return nil }
    let (count, isEndless) = request.offset.addingReportingOverflow(request.limit)
    return isEndless ? nil : count
  }

  func plan(for store: NSPersistentStore) throws -> FetchPlan {
    let isWhole: Bool = !needsObjects
    return try request.plan(
      runtime, predicate: residual.map(\.stored) ?? predicate, shape: residual == nil ? shape : nil,
      order: order ?? [], limit: isWhole ? request.limit : mergedLimit, offset: isWhole ? request.offset : 0,
      store: store)
  }

  /// The same fetch without the parts that one of the stores can't evaluate; nil if they can evaluate all of
  /// it.
  func splittingUnsupported() throws -> ResolvedFetch? {
    let residual: ResidualPredicate? = try ResidualPredicate.split(predicate) { conjunct in
      try refusal { try request.plan(runtime, predicate: conjunct, store: $0) }
    }
    var order: [FetchOrder]? = self.order
    if let given = order, !given.isEmpty {
      let reason: ResidualPredicate.Reason? = try refusal { store in
        var plan: FetchPlan = try request.plan(runtime, predicate: nil, store: store)
        plan.order = given
        return plan
      }
      if reason != nil { order = nil }
    }
    if residual == nil, (order == nil) == (self.order == nil) { return nil }
    return ResolvedFetch(self, residual: residual, order: order)
  }

  /// The same fetch for a parent context, which has objects of its own: code of the program must be called
  /// with this context's.
  func keepingClientPredicates() -> ResolvedFetch {
    let residual: ResidualPredicate? = ResidualPredicate.split(predicate) { conjunct in
      conjunct.firstProgramCode.map {
        ResidualPredicate.Reason(part: $0, reason: "it is code of the program")
      }
    }
    return ResolvedFetch(self, residual: residual, order: order)
  }

  /// Why one of the stores can't execute a plan; nil if all can.
  private func refusal(_ plan: (NSPersistentStore) throws -> FetchPlan) throws -> ResidualPredicate.Reason? {
    do {
      _ = try coordinator.call(stores, for: caller) { try $0.check(plan($1)) }
    } catch StoreError.unsupported(let part, let reason, _) {
      return ResidualPredicate.Reason(part: part, reason: reason)
    }
    return nil
  }

  /// Those of a store's objects that match the residual predicate, in order.
  func matches(_ stored: [NSManagedObject], _ store: NSPersistentStore) throws -> [NSManagedObject] {
    guard let residual, !request.includesPendingChanges, context.hasUnsavedChanges else {
      return try matches(stored)
    }
    let paths: [String] = residual.relationshipPaths(from: runtime)
    // The stored values count, and the objects here may have other values.
    let reader: NSManagedObjectContext = try context.makeReader()
    let ids: [RowID] = stored.map { RowID(entity: $0.runtime.index, key: $0.key) }
    // Conditions may be code of the program, which is called on the queue of the objects' context.
    let areMatches: [Bool] = try reader.performAndWait {
      let twins: [NSManagedObject] = reader.objects(
        for: ids, store: store, layout: runtime.layout, pageSize: NSManagedObjectContext.memberPageSize)
      try reader.prefetch(paths, of: twins, runtime)
      let test: PersistedValueTest = storedTest(residual.evaluated, in: reader)
      return try twins.map { try test.evaluate($0) }
    }
    return zip(stored, areMatches).filter(\.1).map(\.0)
  }

  /// Those of the context's objects that match the residual predicate, in order.
  func matches(_ objects: [NSManagedObject]) throws -> [NSManagedObject] {
    guard let residual else { return objects }
    return try context.exemptFromPolicy {
      try context.prefetch(residual.relationshipPaths(from: runtime), of: objects, runtime)
      return try storedTest(residual.evaluated, in: context).filter(objects)
    }
  }

  /// A predicate for objects of a context, with the semantics of stores.
  private func storedTest(_ node: PredicateNode, in context: NSManagedObjectContext) -> PersistedValueTest {
    PersistedValueTest(
      FetchParameters.bind(node, to: context, namesIDs: !runtime.model.hasObjectIDs),
      readsMayDiffer: runtime.model.readsMayDiffer)
  }

  /// Merges unsaved changes into the stores' results, sorts and limits them if the stores could not.
  func finish(_ stored: [NSManagedObject]) throws -> [NSManagedObject] {
    guard needsObjects else { return stored }
    return try context.exemptFromPolicy {
      // What the store could not sort, or several stores have sorted, is sorted here as a whole.
      let merged: [NSManagedObject] = try PendingMerge.merged(
        stored, with: pending, in: PersistedValueOrder(isInOrder ? request.sortDescriptors : [], in: context),
        where: pendingTest)
      return request.page(of: isInOrder ? merged : try request.sorted(merged, in: context))
    }
  }

  /// Whether a pending object belongs to the result.
  private var pendingTest: (NSManagedObject) throws -> Bool {
    guard !pending.isEmpty, let predicate else { return { _ in true } }
    let test: PersistedValueTest = storedTest(predicate, in: context)
    return { try test.evaluate($0) }
  }

  /// Whether the stores' numbers tell how many results there are, although objects have unsaved changes. A
  /// store that is called for each object (`NSIncrementalStore`) may not know conditions over ids.
  var canCountPending: Bool {
    residual == nil && !pending.isEmpty && stores.allSatisfy { !$0.readsOneByOne }
  }

  /// The number of results, from the stores' numbers: without the pending objects that they count, with those
  /// that match now.
  func countWithPending() throws -> Int {
    var count: Int = 0
    for store in stores {
      var plan: FetchPlan = try plan(for: store)
      (plan.limit, plan.offset) = (0, 0)
      let stored: [PredicateValue] = pending.filter { $0.store === store && $0.key > 0 && !$0.isInserted }.map
      {
        .object(ObjectBox(ObjectReference(id: RowID(entity: $0.runtime.index, key: $0.key))))
      }
      var counted: FetchPlan = plan
      if !stored.isEmpty {
        let isPending = PredicateNode.comparison(
          ComparisonNode(left: .evaluatedObject, right: .constant(.array(stored)), comparison: .in))
        counted.predicate = plan.predicate.map { .all([$0, isPending]) } ?? isPending
      }
      count += try context.tally.counting {
        let operations: any StoreOperations = try store.pinnedOperations(for: caller)
        let all: Int = try operations.count(plan)
        return stored.isEmpty ? all : all - (try operations.count(counted))
      }
    }
    var seen: Set<ObjectIdentifier> = []
    let test: (NSManagedObject) throws -> Bool = pendingTest
    try context.exemptFromPolicy {
      for object in pending where !object.isDeleted && seen.insert(ObjectIdentifier(object)).inserted {
        if try test(object) { count += 1 }
      }
    }
    let rest: Int = max(0, count - request.offset)
    return request.limit > 0 ? min(rest, request.limit) : rest
  }

  // MARK: Ids

  /// The same for ids that a store, or the parent, has returned in the final order but for the pending
  /// objects: loads a logarithmic number of objects.
  func finish(_ ids: FetchedIDs) throws -> FetchedIDs {
    guard !pending.isEmpty else { return ids }
    let order = PersistedValueOrder(request.sortDescriptors, in: context)
    let places: [ObjectIdentifier: Int] = ids.places(of: pending)
    // An object that was loaded to be compared is compared with the others too.
    var loaded: [Int: NSManagedObject] = [:]
    let members: [PendingMerge.Member] = try context.exemptFromPolicy {
      try PendingMerge.merged(
        count: ids.count, with: pending, in: order, position: { places[ObjectIdentifier($0)] },
        where: pendingTest,
        compare: { object, place in
          let other: NSManagedObject = loaded[place] ?? context.object(ids, place)
          loaded[place] = other
          return try order.compare(object, other)
        })
    }
    var result = FetchedIDs()
    for member in request.page(of: members) {
      switch member {
      case .stored(let place): result.append(ids, place)
      case .pending(let object): result.append(object)
      }
    }
    return result
  }

  /// Those of the ids whose objects match the residual predicate, in order; loads them page by page, and no
  /// more than are wanted.
  func matches(_ ids: FetchedIDs, in store: NSPersistentStore?) throws -> FetchedIDs {
    if residual == nil { return ids }
    let enough: Int = sufficientCount ?? Int.max
    var result = FetchedIDs()
    let size: Int = NSManagedObjectContext.memberPageSize
    for start in stride(from: 0, to: ids.count, by: size) where result.count < enough {
      let page: [NSManagedObject] = context.objects(ids, start..<min(ids.count, start + size))
      let found: [NSManagedObject] = try context.exemptFromPolicy {
        guard let store else { return try matches(page) }
        return try matches(page, store)
      }
      let kept = Set(found.map { ObjectIdentifier($0) })
      for (offset, object) in page.enumerated() where kept.contains(ObjectIdentifier(object)) {
        result.append(ids, start + offset)
      }
    }
    return result
  }

  /// The wanted part of ids after the last stage but for the pending objects.
  func pageOfIDs(_ ids: FetchedIDs) throws -> FetchedIDs {
    if !pending.isEmpty { return try finish(ids) }
    guard residual != nil else { return ids }
    var result = FetchedIDs()
    for place in request.page(of: Array(0..<ids.count)) { result.append(ids, place) }
    return result
  }

  /// The request for the parent, whose unsaved changes it includes: ids in place of objects, and limits only
  /// if nothing here changes the result.
  func requestForParent() -> FetchParameters {
    let request: FetchParameters = self.request.withIDs()
    request.resultType = .managedObjectResultType
    request.prefetchedKeyPaths = []
    if !pending.isEmpty || residual != nil {
      (request.limit, request.offset) = (mergedLimit, 0)
    }
    if let residual {
      request.predicate = residual.stored.map { makePredicate($0.mapConstants(FetchParameters.ids)) }
    }
    return request
  }

}
