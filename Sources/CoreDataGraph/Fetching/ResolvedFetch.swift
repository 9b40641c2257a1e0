import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A fetch made concrete: entity, stores, what can be left to them and what is done here.
struct ResolvedFetch {
  let request: FetchParameters
  let context: NSManagedObjectContext
  let runtime: EntityRuntime
  let stores: [NSPersistentStore]
  /// The request's predicate as a tree, without mistakes and free variables, and with as few choices as it can do with.
  let predicate: PredicateNode?
  /// Whether a store keeps all digits of decimals: constants keep theirs then.
  let comparesExactly: Bool
  /// What the stores leave of the predicate, once one of them has refused it.
  private(set) var residual: ResidualPredicate?
  /// nil: sorted here.
  private var order: [FetchOrder]?
  /// Unsaved objects that can change the result.
  let pending: [NSManagedObject]

  init(_ request: FetchParameters, context: NSManagedObjectContext) throws {
    guard let coordinator = context.persistentStoreCoordinator else { throw GraphError.noCoordinator }
    context.takeExchanges()
    let all: [NSPersistentStore] = coordinator.persistentStores
    if all.isEmpty { throw GraphError.noStores }
    let runtime: EntityRuntime = try request.runtime(in: coordinator.runtime)
    try request.checkEvaluationAllowed()
    self.request = request
    self.context = context
    self.runtime = runtime
    stores = (request.affectedStores ?? all).filter { $0.holds(runtime) }
    let given: PredicateNode? = try request.checkedPredicate(for: runtime)?.resolvingFetches().simplified
    comparesExactly = coordinator.keepsExactDecimals
    predicate = comparesExactly ? given : given?.comparingRounded(from: runtime)
    order = request.storeOrder
    if request.includesPendingChanges {
      if context.propagatesDeletesAtEndOfEvent { context.propagateDeletes() }
      let family: ClosedRange<Int> =
        request.includesSubentities ? runtime.layout.family : runtime.index...runtime.index
      let candidates: [NSManagedObject] =
        (context.work.inserted + context.work.updated + context.work.deleted).filter {
          $0.hasChanges && family.contains($0.runtime.index)
        }
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

  /// Whether the result can't be had from ids or counts of the stores.
  var needsObjects: Bool {
    !pending.isEmpty || order == nil || residual != nil
      || (stores.count > 1 && (request.limit > 0 || request.offset > 0 || order?.isEmpty == false))
  }

  /// Whether what the store gives is in its final order.
  private var comesInOrder: Bool { pending.isEmpty && order != nil && stores.count == 1 }

  /// How many objects of a store will do; nil for all of them.
  var sufficientCount: Int? {
    comesInOrder && request.limit > 0 ? request.offset + request.limit : nil
  }

  func plan(for store: NSPersistentStore) throws -> FetchPlan {
    var plan: FetchPlan = try request.plan(
      runtime, predicate: residual.map(\.stored) ?? predicate, store: store)
    plan.order = order ?? []
    if !needsObjects {
      plan.limit = request.limit
      plan.offset = request.offset
    }
    return plan
  }

  /// The same fetch with everything left out of the stores' part that one of them can't do; nil if they can do all of it.
  func splittingUnsupported() throws -> ResolvedFetch? {
    var result: ResolvedFetch = self
    let conjuncts: [PredicateNode] = predicate?.conjuncts ?? []
    let refusals: [ResidualPredicate.Reason?] = try conjuncts.map { conjunct in
      try refusal { try request.plan(runtime, predicate: conjunct, store: $0) }
    }
    if refusals.contains(where: { $0 != nil }) { result.residual = ResidualPredicate(conjuncts, refusals) }
    if let order, !order.isEmpty {
      let reason: ResidualPredicate.Reason? = try refusal { store in
        var plan: FetchPlan = try request.plan(runtime, predicate: nil, store: store)
        plan.order = order
        return plan
      }
      if reason != nil { result.order = nil }
    }
    return result.residual == nil && (order == nil) == (result.order == nil) ? nil : result
  }

  /// The same fetch for a parent context, which has objects of its own: code of the program must see this context's.
  func keepingClientPredicates() -> ResolvedFetch {
    var result: ResolvedFetch = self
    let conjuncts: [PredicateNode] = predicate?.conjuncts ?? []
    let reasons: [ResidualPredicate.Reason?] = conjuncts.map { conjunct in
      conjunct.firstProgramCode.map {
        ResidualPredicate.Reason(part: $0, reason: "it is code of the program")
      }
    }
    if reasons.contains(where: { $0 != nil }) { result.residual = ResidualPredicate(conjuncts, reasons) }
    return result
  }

  /// Why one of the stores can't do a plan; nil if all can.
  private func refusal(_ plan: (NSPersistentStore) throws -> FetchPlan) throws -> ResidualPredicate.Reason? {
    for store in stores {
      do {
        try store.engine.check(plan(store))
      } catch StoreError.unsupported(let part, let reason, _) {
        return ResidualPredicate.Reason(part: part, reason: reason)
      }
    }
    return nil
  }

  /// Those of a store's objects for which the rest of the predicate holds, in order.
  func matches(_ stored: [NSManagedObject], _ store: NSPersistentStore) throws -> [NSManagedObject] {
    guard let residual, !request.includesPendingChanges, context.hasUnsavedChanges else {
      return try matches(stored)
    }
    let paths: [String] = residual.relationshipPaths(from: runtime)
    // What the store holds is asked for, and the objects here may say something else.
    let reader: NSManagedObjectContext = try context.makeReader()
    let twins: [NSManagedObject] = reader.objects(
      for: stored.map { RowID(entity: $0.runtime.index, key: $0.key) }, store: store, layout: runtime.layout,
      pageSize: NSManagedObjectContext.memberPageSize)
    try reader.prefetch(paths, of: twins, runtime)
    let test: PersistedValueTest = storedTest(residual.evaluated, in: reader)
    return try zip(stored, twins).filter { try test.evaluate($1) }.map(\.0)
  }

  /// Those of objects of the context for which the rest of the predicate holds, in order.
  func matches(_ objects: [NSManagedObject]) throws -> [NSManagedObject] {
    guard let residual else { return objects }
    try context.prefetch(residual.relationshipPaths(from: runtime), of: objects, runtime)
    return try storedTest(residual.evaluated, in: context).filter(objects)
  }

  /// A predicate for objects of a context, under the rules of stores.
  private func storedTest(_ node: PredicateNode, in context: NSManagedObjectContext) -> PersistedValueTest {
    PersistedValueTest(
      FetchParameters.bind(node, to: context, namesIDs: !runtime.model.hasObjectIDs),
      readsOtherwise: runtime.model.readsOtherwise)
  }

  /// Lays unsaved changes over what the stores gave, sorts and cuts where they could not.
  func finish(_ stored: [NSManagedObject]) throws -> [NSManagedObject] {
    guard needsObjects else { return stored }
    var objects: [NSManagedObject] = stored
    if !pending.isEmpty {
      var changed: Set<ObjectIdentifier> = []
      var matches: [NSManagedObject] = []
      let test: PersistedValueTest? = predicate.map { storedTest($0, in: context) }
      for object in pending where changed.insert(ObjectIdentifier(object)).inserted {
        if object.isDeleted { continue }
        guard try test?.evaluate(object) ?? true else { continue }
        matches.append(object)
      }
      // Those that the store gave keep their places, which decide between objects that the order leaves equal.
      var found: Set<ObjectIdentifier> = Set(matches.map(ObjectIdentifier.init))
      objects = objects.filter {
        let id = ObjectIdentifier($0)
        return !changed.contains(id) || found.remove(id) != nil
      }
      objects += matches.filter { found.contains(ObjectIdentifier($0)) }
    }
    if !request.sortDescriptors.isEmpty, !comesInOrder {
      let order = PersistedValueOrder(request.sortDescriptors, in: context)
      objects = try objects.sorted { try order.compare($0, $1) == .orderedAscending }
    }
    let rest: ArraySlice<NSManagedObject> = objects.dropFirst(request.offset)
    return Array(request.limit > 0 ? rest.prefix(request.limit) : rest)
  }
}
