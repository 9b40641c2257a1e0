import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// Fetching. A request becomes a description, the description a plan for each store, the rows objects; unsaved changes
// are laid over the result in memory.

extension NSManagedObjectContext {
  /// Runs a request. Results are objects, ids, dictionaries or counts, as its `resultType` says.
  ///
  /// Throws a `CocoaError` that names the entity, key path or part of the predicate at fault. Cost: one statement a store, plus
  /// one a prefetched relationship.
  public final func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    let description = FetchDescription(request)
    return try withCocoaErrors {
      if description.isGrouped, description.resultType != .dictionaryResultType {
        throw GraphError.unsupported(
          "Grouping (propertiesToGroupBy, havingPredicate) with results that are no dictionaries",
          advice: "Set the request's resultType to .dictionaryResultType.")
      }
      switch description.resultType {
      case .managedObjectResultType: return try typed(fetchObjects(description))
      case .managedObjectIDResultType: return try cast(fetchIDs(description))
      case .countResultType: return try cast([NSNumber(value: countMatches(description))])
      case .dictionaryResultType:
        return try cast(DictionaryFetch(description, context: self).run())
      default:
        throw GraphError.unsupported(
          "The result type \(description.resultType.rawValue)",
          advice: "Use one of NSFetchRequestResultType's constants.")
      }
    }
  }

  /// The number of objects a request would return.
  public final func count<T>(for request: NSFetchRequest<T>) throws -> Int {
    let description = FetchDescription(request)
    return try withCocoaErrors { try countMatches(description) }
  }

  // MARK: Objects

  final func fetchObjects(_ request: FetchDescription) throws -> [NSManagedObject] {
    let scope = try FetchScope(request, context: self)
    if let parent { return try fetchObjects(scope, from: parent) }
    var objects: [NSManagedObject] = []
    for store in scope.stores {
      let plan: FetchPlan = try scope.plan(for: store)
      let found: [NSManagedObject]
      if request.batchSize > 0 || !request.includesPropertyValues {
        found = self.objects(
          for: try store.engine.fetchIDs(plan), store: store, layout: scope.runtime.layout,
          pageSize: max(1, request.batchSize))
      } else {
        found = self.objects(for: try store.engine.fetch(plan), store: store, refresh: request.refreshes)
      }
      objects = objects.isEmpty ? found : objects + found
    }
    objects = try scope.finish(objects)
    try prefetch(request.prefetchedKeyPaths, of: objects, scope.runtime)
    if !request.returnsObjectsAsFaults {
      for object in objects { try object.fulfillFault() }
    }
    return objects
  }

  private func fetchIDs(_ request: FetchDescription) throws -> [NSManagedObjectID] {
    let scope = try FetchScope(request, context: self)
    if parent != nil { return try fetchObjects(request).map(\.objectID) }
    if scope.needsObjects { return try fetchObjects(request).map(\.objectID) }
    var ids: [NSManagedObjectID] = []
    for store in scope.stores {
      for id in try store.engine.fetchIDs(try scope.plan(for: store)) {
        ids.append(
          NSManagedObjectID(runtime: store.runtime.entities[Int(id.entity)], key: id.key, store: store))
      }
    }
    return ids
  }

  final func countMatches(_ request: FetchDescription) throws -> Int {
    if request.resultType == .dictionaryResultType {
      return try DictionaryFetch(request, context: self).count()
    }
    let scope = try FetchScope(request, context: self)
    if let parent, scope.pending.isEmpty {
      return try parent.performAndWait { try parent.countMatches(request.withIDs()) }
    }
    if scope.needsObjects { return try fetchObjects(request).count }
    return try scope.stores.reduce(0) { try $0 + $1.engine.count(try scope.plan(for: $1)) }
  }

  // MARK: Prefetching

  /// Loads the named relationships of all objects at once, one statement an entity and step of the path.
  private func prefetch(_ keyPaths: [String], of objects: [NSManagedObject], _ runtime: EntityRuntime) throws
  {
    for path in keyPaths {
      var level: [NSManagedObject] = objects
      var entity: EntityRuntime = runtime
      for name in path.split(separator: ".").map(String.init) {
        guard let slot = entity.layout.slotByName[name],
          let destination = entity.layout.slots[slot].destination
        else {
          throw GraphError.unknownKey(name, entity.layout)
        }
        level = try prefetch(slot, of: level, entity)
        entity = entity.model.entities[destination]
      }
    }
  }

  private func prefetch(_ slot: Int, of objects: [NSManagedObject], _ entity: EntityRuntime) throws
    -> [NSManagedObject]
  {
    var targets: [NSManagedObject] = []
    if entity.layout.slots[slot].isToOne {
      targets = ObjectList(objects.compactMap { $0.toOneTarget(slot) }).objects
    } else {
      let waiting: [NSManagedObject] = objects.filter {
        $0.store != nil && $0.toManyState(slot).members == nil
      }
      for (_, group) in Dictionary(grouping: waiting, by: { $0.store?.ordinal ?? 0 }).sorted(by: {
        $0.key < $1.key
      }) {
        guard let store = group[0].store else { continue }
        let destination: Int = entity.layout.slots[slot].destination ?? entity.index
        let members: [[RowID]] = try store.engine.members(
          of: entity.layout, slot: slot, owners: group.map { RowID(entity: $0.runtime.index, key: $0.key) })
        for (object, ids) in zip(group, members) {
          object.toManyState(slot).load(
            self.objects(
              for: ids, store: store, layout: store.runtime.entities[destination].layout,
              pageSize: NSManagedObjectContext.memberPageSize))
        }
      }
      targets = ObjectList(objects.flatMap { $0.members(slot).objects }).objects
    }
    let faults: [NSManagedObject] = targets.filter { $0.isFault && $0.row == nil && $0.store != nil }
    for (_, group) in Dictionary(grouping: faults, by: { $0.store?.ordinal ?? 0 }).sorted(by: {
      $0.key < $1.key
    }) {
      guard let store = group[0].store else { continue }
      let layout: EntityLayout = group[0].runtime.model.entities[group[0].runtime.layout.rootIndex].layout
      let rows: RowBatch = try store.engine.rows(of: layout, keys: group.map(\.key))
      _ = self.objects(for: rows, store: store)
    }
    return targets
  }

  // MARK: Fetched properties

  /// Runs a fetched property for its owner. `$FETCH_SOURCE` is the owner, `$FETCHED_PROPERTY` the description.
  final func fetchedProperty(_ property: NSFetchedPropertyDescription, of object: NSManagedObject) throws
    -> [NSManagedObject]
  {
    guard let request = property.fetchRequest else { return [] }
    var description = FetchDescription(request)
    description.predicate = description.predicate?.withSubstitutionVariables([
      "FETCH_SOURCE": object, "FETCHED_PROPERTY": property,
    ])
    return try fetchObjects(description)
  }

  // MARK: Typing

  /// Objects as `[T]`. One check an entity instead of one an object: a cast of a large array costs more than the fetch.
  private func typed<T>(_ objects: [NSManagedObject]) throws -> [T] {
    guard let wanted = T.self as? NSManagedObject.Type else { return try cast(objects) }
    var checked: Set<Int> = []
    for object in objects where checked.insert(object.runtime.index).inserted {
      guard object.isKind(of: wanted) else {
        throw GraphError.unsupported(
          "Returning objects of entity \(object.runtime.layout.name) (class \(object.runtime.objectClass)) as \(wanted)",
          advice: "Set the entity's class in the model, or fetch NSManagedObject.")
      }
    }
    return unsafeBitCast(objects, to: [T].self)
  }

  private func cast<T>(_ values: [some Any]) throws -> [T] {
    try values.map { value in
      guard let value = value as? T else {
        throw GraphError.unsupported(
          "Returning \(type(of: value)) as \(T.self)",
          advice:
            "The request's resultType and its generic parameter must agree, for instance NSFetchRequest<NSNumber> for counts."
        )
      }
      return value
    }
  }
}

extension NSManagedObject {
  fileprivate func isKind(of wanted: NSManagedObject.Type) -> Bool {
    var current: AnyClass? = type(of: self)
    while let candidate = current {
      if candidate == wanted { return true }
      current = _getSuperclass(candidate)
    }
    return false
  }
}

/// A fetch made concrete: entity, stores, what can be left to them and what is done here.
struct FetchScope {
  let request: FetchDescription
  let context: NSManagedObjectContext
  let runtime: EntityRuntime
  let stores: [NSPersistentStore]
  /// nil: a comparator sorts here.
  private let order: [FetchOrder]?
  /// Unsaved objects that can change the result.
  let pending: [NSManagedObject]

  init(_ request: FetchDescription, context: NSManagedObjectContext) throws {
    guard let coordinator = context.persistentStoreCoordinator else { throw GraphError.noCoordinator }
    let all: [NSPersistentStore] = coordinator.persistentStores
    if all.isEmpty { throw GraphError.noStores }
    let runtime: EntityRuntime = try request.runtime(in: coordinator.runtime)
    try request.checkPredicate(for: runtime)
    self.request = request
    self.context = context
    self.runtime = runtime
    stores = (request.affectedStores ?? all).filter { $0.holds(runtime) }
    order = request.storeOrder
    if request.includesPendingChanges {
      if context.propagatesDeletesAtEndOfEvent { context.propagateDeletes() }
      let family: ClosedRange<Int> =
        request.includesSubentities ? runtime.layout.family : runtime.index...runtime.index
      let candidates: [NSManagedObject] = (context.inserted + context.updated + context.deleted).filter {
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
    !pending.isEmpty || order == nil
      || (stores.count > 1 && (request.limit > 0 || request.offset > 0 || order?.isEmpty == false))
  }

  func plan(for store: NSPersistentStore) throws -> FetchPlan {
    var plan: FetchPlan = try request.plan(runtime, store: store)
    plan.order = order ?? []
    if !needsObjects {
      plan.limit = request.limit
      plan.offset = request.offset
    }
    return plan
  }

  /// Lays unsaved changes over what the stores gave, sorts and cuts where they could not.
  func finish(_ stored: [NSManagedObject]) throws -> [NSManagedObject] {
    guard needsObjects else { return stored }
    var objects: [NSManagedObject] = stored
    if !pending.isEmpty {
      var changed: Set<ObjectIdentifier> = []
      var matches: [NSManagedObject] = []
      // In memory an id stands for its object, as it does in a store.
      let predicate: NSPredicate? = request.predicate.map { given in
        makePredicate(given.predicateNode().mapConstants { FetchDescription.objects(for: $0, in: context) })
      }
      for object in pending where changed.insert(ObjectIdentifier(object)).inserted {
        if object.isDeleted { continue }
        if try predicate?.evaluateThrowing(with: object) ?? true { matches.append(object) }
      }
      objects = objects.filter { !changed.contains(ObjectIdentifier($0)) } + matches
    }
    if !request.sortDescriptors.isEmpty {
      objects = try objects.sortedThrowing(using: request.sortDescriptors)
    }
    let rest: ArraySlice<NSManagedObject> = objects.dropFirst(request.offset)
    return Array(request.limit > 0 ? rest.prefix(request.limit) : rest)
  }
}

extension NSPersistentStoreRequest {
  /// The stores to ask; nil for all.
  public var affectedStores: [NSPersistentStore]? {
    get { affectedStoresStorage as? [NSPersistentStore] }
    set { affectedStoresStorage = newValue }
  }
}

extension NSEntityDescription {
  /// The entity of that name in a context's model; nil without coordinator or entity.
  public class func entity(forEntityName entityName: String, in context: NSManagedObjectContext)
    -> NSEntityDescription?
  {
    context.persistentStoreCoordinator?.runtime.runtime(named: entityName)?.layout.entity
  }

  /// Makes an object of the entity's class and inserts it. Stops when the model has no such entity.
  public class func insertNewObject(forEntityName entityName: String, into context: NSManagedObjectContext)
    -> NSManagedObject
  {
    guard let coordinator = context.persistentStoreCoordinator else {
      fatalError(GraphError.noCoordinator.description)
    }
    guard let runtime = coordinator.runtime.runtime(named: entityName) else {
      fatalError(
        GraphError.unknownEntity(entityName, coordinator.runtime.layout.entities.map(\.name)).description)
    }
    return runtime.objectClass.init(entity: runtime.layout.entity, insertInto: context)
  }
}

/// The statement a fetch would run, for people who look into performance.
public struct FetchExplanation: Sendable, CustomStringConvertible {
  public let store: String
  public let sql: String
  /// The bound values, printed.
  public let bindings: [String]
  /// The database's own plan.
  public let queryPlan: [String]

  public var description: String {
    ([sql] + (bindings.isEmpty ? [] : ["-- bound: " + bindings.joined(separator: ", ")])
      + queryPlan.map { "-- " + $0 })
      .joined(separator: "\n")
  }
}

extension NSFetchRequest {
  /// Runs the request in the context whose block the calling thread is running.
  ///
  /// Throws outside ``NSManagedObjectContext/perform(_:)`` and its kin, and what ``NSManagedObjectContext/fetch(_:)`` throws.
  public final func execute() throws -> [ResultType] {
    guard let context = CurrentContext.value else {
      throw GraphError.unsupported(
        "NSFetchRequest.execute() outside a context's block",
        advice: "Call it inside perform(_:) or performAndWait(_:), or use the context's fetch(_:)."
      ).asCocoaError
    }
    return try context.fetch(self)
  }

  /// The statement each store would run for this request. Stores without statements (in memory) are left out.
  public func explain(in context: NSManagedObjectContext) throws -> [FetchExplanation] {
    let description = FetchDescription(self)
    return try withCocoaErrors {
      let scope = try FetchScope(description, context: context)
      let table: DictionaryFetch? =
        description.resultType == .dictionaryResultType
        ? try DictionaryFetch(description, context: context) : nil
      return try scope.stores.compactMap { store in
        let explained: ExplainedStatement? =
          if let table {
            try store.engine.explain(try table.plan(for: store))
          } else {
            try store.engine.explain(try scope.plan(for: store))
          }
        return explained.map {
          FetchExplanation(
            store: store.identifier, sql: $0.sql, bindings: $0.bindings, queryPlan: $0.queryPlan)
        }
      }
    }
  }
}
