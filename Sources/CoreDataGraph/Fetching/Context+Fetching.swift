import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// Fetching. A request is resolved and becomes a plan for each store, and rows become objects; unsaved changes
// are merged into the result in memory.

extension NSManagedObjectContext {
  /// Executes a request. Results are objects, ids, dictionaries or counts, depending on its `resultType`.
  ///
  /// Throws a `CocoaError` that names the entity, key path or part of the predicate with the error. Cost: one
  /// statement for each store, plus one or two for each step of a prefetched key path
  /// (Documentation/paging.md).
  public final func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    requireQueue("fetch(_:) was called")
    let description = FetchParameters(request)
    // Apart from the other results: looking up the metadata of `[T]` takes a part of a fetch of one object.
    if description.resultType == .managedObjectResultType, !description.isGrouped,
      let wanted = T.self as? NSManagedObject.Type
    {
      let objects: [NSManagedObject] = try withCocoaErrors {
        let objects: [NSManagedObject] = try fetchObjects(description)
        try requireClass(wanted, of: objects, description)
        return objects
      }
      return unsafeBitCast(objects, to: [T].self)
    }
    return try withCocoaErrors {
      if description.isGrouped, description.resultType != .dictionaryResultType {
        throw GraphError.unsupported(
          "Grouping (propertiesToGroupBy, havingPredicate) with results that are no dictionaries",
          advice: "Set the request's resultType to .dictionaryResultType.")
      }
      switch description.resultType {
      case .managedObjectResultType: return try cast(fetchObjects(description))
      case .managedObjectIDResultType: return try cast(fetchedIDs(description).objectIDs)
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

  /// The number of objects a request would return. Cost: a statement for each store, and another one if
  /// objects that it may find have unsaved changes.
  public final func count<T>(for request: NSFetchRequest<T>) throws -> Int {
    try count(FetchParameters(request))
  }

  /// The same for a request whose result type nothing tells, such as that of a generic function.
  @_disfavoredOverload
  public final func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
    try count(FetchParameters(request))
  }

  private final func count(_ request: FetchParameters) throws -> Int {
    requireQueue("count(for:) was called")
    return try withCocoaErrors { try countMatches(request) }
  }

  /// Runs `body` with the whole predicate and order as the stores' part. If a store refuses a part, `body`
  /// runs again, and that part is evaluated in memory. So a fetch that stores can evaluate completely costs
  /// nothing more.
  final func withScope<Result>(
    _ request: FetchParameters, _ body: (ResolvedFetch) throws -> Result
  ) throws -> Result {
    let scope = try ResolvedFetch(request, context: self)
    do {
      return try body(scope)
    } catch let error as StoreError {
      guard case .unsupported = error, let splittingUnsupported = try scope.splittingUnsupported() else {
        throw error
      }
      return try body(splittingUnsupported)
    }
  }

  // MARK: Objects

  final func fetchObjects(_ request: FetchParameters) throws -> [NSManagedObject] {
    if let parent {
      return try fetchObjects(
        try ResolvedFetch(request, context: self).keepingClientPredicates(), from: parent)
    }
    return try withScope(request) { scope in
      let objects: [NSManagedObject] = try self.objects(scope)
      try prefetch(request.prefetchedKeyPaths, of: objects, scope.runtime)
      if !request.returnsObjectsAsFaults {
        for object in objects { try object.fulfillFault() }
      }
      return objects
    }
  }

  final func objects(_ scope: ResolvedFetch) throws -> [NSManagedObject] {
    var objects: [NSManagedObject] = []
    for store in scope.stores {
      let found: [NSManagedObject] = try storedObjects(
        scope, try store.pinnedOperations(for: scope.caller), store)
      objects = objects.isEmpty ? found : objects + found
    }
    return try scope.finish(objects)
  }

  private final func storedObjects(
    _ scope: ResolvedFetch, _ operations: any StoreOperations, _ store: NSPersistentStore
  ) throws -> [NSManagedObject] {
    let plan: FetchPlan = try scope.plan(for: store)
    if scope.residual != nil {
      if let count = scope.sufficientCount { return try first(count, scope, plan, operations, store) }
      let rows: RowBatch = try tally.counting { try operations.fetch(plan) }
      return try scope.matches(
        objects(for: rows, store: store, refresh: scope.request.refreshes), store)
    }
    if scope.request.batchSize > 0 || !scope.request.includesPropertyValues || !operations.fetchesRows {
      let found: [NSManagedObject] = objects(
        for: try tally.counting { try operations.fetchIDs(plan) }, store: store, layout: scope.runtime.layout,
        pageSize: max(1, scope.request.batchSize))
      try refresh(found, scope, operations, store)
      return found
    }
    let rows: RowBatch = try tally.counting { try operations.fetch(plan) }
    return objects(for: rows, store: store, refresh: scope.request.refreshes)
  }

  /// Replaces the values of loaded, unchanged objects by those that the stores, or the parent, have now.
  final func readAgain(_ objects: [NSManagedObject]) throws {
    let loaded: [NSManagedObject] = objects.filter { !$0.isFault && !$0.hasChanges && $0.store != nil }
    if parent != nil {
      for object in loaded { try reload(object) }
      return
    }
    for (store, all) in Self.byStore(loaded) {
      let operations: any StoreOperations = try store.pinnedOperations(for: StoreCaller(self))
      for (root, group) in Dictionary(grouping: all, by: { $0.runtime.layout.rootIndex })
        .sorted(by: { $0.key < $1.key })
      {
        try readAgain(group, store.runtime.entities[root].layout, operations, store)
      }
    }
  }

  /// What a fetch that refreshes does with objects of which it has read the ids alone.
  private final func refresh(
    _ objects: [NSManagedObject], _ scope: ResolvedFetch, _ operations: any StoreOperations,
    _ store: NSPersistentStore
  ) throws {
    if !scope.request.refreshes { return }
    try readAgain(objects.filter { !$0.isFault }, scope.runtime.layout, operations, store)
  }

  /// Replaces the rows of objects by those that the store has now.
  private final func readAgain(
    _ objects: [NSManagedObject], _ layout: EntityLayout, _ operations: any StoreOperations,
    _ store: NSPersistentStore
  ) throws {
    if objects.isEmpty { return }
    let rows: RowBatch = try tally.counting { try operations.rows(of: layout, keys: objects.map(\.key)) }
    _ = self.objects(for: rows, store: store, refresh: true)
  }

  /// The first objects that match the residual predicate: reads page after page until there are enough.
  private final func first(
    _ count: Int, _ scope: ResolvedFetch, _ plan: FetchPlan, _ operations: any StoreOperations,
    _ store: NSPersistentStore
  ) throws -> [NSManagedObject] {
    var ids: ArraySlice<RowID> = try tally.counting { try operations.fetchIDs(plan) }[...]
    var found: [NSManagedObject] = []
    let size: Int = NSManagedObjectContext.memberPageSize
    while !ids.isEmpty, found.count < count {
      let page: [NSManagedObject] = objects(
        for: Array(ids.prefix(size)), store: store, layout: scope.runtime.layout, pageSize: size)
      try refresh(page, scope, operations, store)
      found += try scope.matches(page, store)
      ids = ids.dropFirst(size)
    }
    return found
  }

  final func countMatches(_ request: FetchParameters) throws -> Int {
    if request.resultType == .dictionaryResultType {
      return try DictionaryFetch(request, context: self).count()
    }
    if let parent {
      let scope: ResolvedFetch = try ResolvedFetch(request, context: self).keepingClientPredicates()
      guard scope.pending.isEmpty, scope.residual == nil, request.includesPendingChanges else {
        return try fetchedIDs(scope, from: parent).count
      }
      return try reading(parent) { try parent.countMatches(request.withIDs()) }
    }
    return try withScope(request) { scope in
      if scope.canCountPending { return try scope.countWithPending() }
      if scope.needsObjects { return try objects(scope).count }
      return try scope.coordinator.call(scope.stores, for: scope.caller) { operations, store in
        try operations.count(try scope.plan(for: store))
      }.reduce(0, +)
    }
  }

  // MARK: Fetched properties

  /// Fetches a fetched property for its owner. `$FETCH_SOURCE` is the owner, `$FETCHED_PROPERTY` the
  /// description.
  final func fetchedProperty(_ property: NSFetchedPropertyDescription, of object: NSManagedObject) throws
    -> [NSManagedObject]
  {
    guard let template = property.fetchRequest else { return [] }
    // A request of its own: stores that programs implement get it.
    let request = NSFetchRequest<NSFetchRequestResult>(template)
    request.predicate = request.predicate?.withSubstitutionVariables([
      "FETCH_SOURCE": object, "FETCHED_PROPERTY": property,
    ])
    return try fetchObjects(FetchParameters(request))
  }

  // MARK: Casting

  final func cast<T>(_ values: [some Any]) throws -> [T] {
    try values.map { value in
      guard let value = value as? T else {
        throw GraphError.unsupported(
          "Returning \(type(of: value)) as \(T.self)",
          advice:
            "The request's resultType and its generic parameter must agree: NSFetchRequest<NSDictionary> for dictionaries, "
            + "<NSNumber> for counts, <NSManagedObjectID> for ids, <NSFetchRequestResult> for any. A request of a "
            + "class method is one of its class unless a type is written: "
            + "let request: NSFetchRequest<NSFetchRequestResult> = Item.fetchRequest()."
        )
      }
      return value
    }
  }
}

extension NSPersistentStoreRequest {
  /// The stores to fetch from; nil for all.
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

  /// Creates an object of the entity's class and inserts it. Stops if the model has no such entity.
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
    return runtime.objectClass.init(NewManagedObject(runtime.layout.entity, context))
  }
}

extension NSFetchRequest {
  /// Executes the request in the context whose block the calling thread is running.
  ///
  /// Throws outside ``NSManagedObjectContext/perform(_:)`` and the like, and what
  /// ``NSManagedObjectContext/fetch(_:)`` throws.
  public final func execute() throws -> [ResultType] {
    guard let context = RunningBlock.context else {
      throw GraphError.unsupported(
        "NSFetchRequest.execute() outside a context's block",
        advice: "Call it inside perform(_:) or performAndWait(_:), or use the context's fetch(_:)."
      ).asCocoaError
    }
    return try context.fetch(self)
  }
}
