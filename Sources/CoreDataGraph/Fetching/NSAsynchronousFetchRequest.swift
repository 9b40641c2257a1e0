import CoreDataModel
import CoreDataPredicates
import Foundation

/// The result of executing a request; subclasses define its contents.
///
/// See Apple's page
/// [NSPersistentStoreResult](https://developer.apple.com/documentation/coredata/nspersistentstoreresult).
nonisolated open class NSPersistentStoreResult: NSObject {}

/// The result of a request that is executed later.
///
/// See Apple's page
/// [NSPersistentStoreAsynchronousResult](https://developer.apple.com/documentation/coredata/nspersistentstoreasynchronousresult).
nonisolated open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  /// The context that executes the request; use the result on its queue.
  public final let managedObjectContext: NSManagedObjectContext
  /// The error; nil until the request was executed, and if it succeeded.
  public final internal(set) var operationError: (any Error)?
  /// The progress of the request; a child of the current progress of the calling thread, if there is one.
  /// Cancelling it cancels the request.
  public final let progress: Progress?

  init(context: NSManagedObjectContext, unitCount: Int) {
    managedObjectContext = context
    progress = Progress(totalUnitCount: Int64(max(1, unitCount)))
    super.init()
  }

  /// Cancels the request. If it has not begun it is not executed; if it is running its result is discarded.
  /// Either way the completion block is called, with `CocoaError.userCancelled` as the error.
  open func cancel() { progress?.cancel() }
}

/// A fetch that does not wait: its result is passed to a block.
///
/// ```swift
/// let request = NSAsynchronousFetchRequest(fetchRequest: Item.fetchRequest()) { result in
///   show(result.finalResult ?? [])
/// }
/// try context.execute(request)
/// ```
///
/// See Apple's page
/// [NSAsynchronousFetchRequest](https://developer.apple.com/documentation/coredata/nsasynchronousfetchrequest).
nonisolated open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest
{
  public final let fetchRequest: NSFetchRequest<ResultType>
  /// Called when the fetch has ended, by a result, an error, or cancellation: on the context's queue, and on
  /// the actor in whose code the request was made, if any.
  public final let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  private let isolation: (any Actor)?
  /// The expected number of results, for progress; 0 (default): unknown.
  open var estimatedResultCount: Int = 0

  public init(
    isolation: isolated (any Actor)? = #isolation, fetchRequest request: NSFetchRequest<ResultType>,
    completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    fetchRequest = request
    completionBlock = blk
    self.isolation = isolation
    super.init()
  }

  private init(copying other: NSAsynchronousFetchRequest<ResultType>) {
    fetchRequest = other.fetchRequest
    completionBlock = other.completionBlock
    isolation = other.isolation
    estimatedResultCount = other.estimatedResultCount
    super.init()
    affectedStores = other.affectedStores
  }

  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any { NSAsynchronousFetchRequest(copying: self) }

  /// Calls the completion block, from a block of the result's context. A block isolated to an actor other
  /// than the main one runs there, in a separate block of the context, as do blocks of the main actor for
  /// contexts of other queues.
  final func complete(_ result: NSAsynchronousFetchResult<ResultType>) {
    guard let completionBlock else { return }
    let context: NSManagedObjectContext = result.managedObjectContext
    guard let isolation, !(isolation === MainActor.shared && MainQueue.isCurrent) else {
      return completionBlock(result)
    }
    let call = Transfer(value: { context.performAndWait { completionBlock(result) } })
    Task { await call.run(on: isolation) }
  }
}

/// The result of an asynchronous fetch.
///
/// See Apple's page
/// [NSAsynchronousFetchResult](https://developer.apple.com/documentation/coredata/nsasynchronousfetchresult).
nonisolated open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>:
  NSPersistentStoreAsynchronousResult
{
  public final let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// The objects, ids, dictionaries or counts; nil until the request was executed, and if it failed. Use it
  /// on the context's queue.
  public final internal(set) var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext) {
    fetchRequest = request
    super.init(context: context, unitCount: request.estimatedResultCount)
  }

  /// Executes the request, on the context's queue.
  final func fill(_ request: NSFetchRequest<ResultType>) throws {
    try stopIfCancelled(request)
    let found: [ResultType] = try managedObjectContext.fetch(request)
    try stopIfCancelled(request)
    finalResult = found
    progress?.totalUnitCount = Int64(max(1, found.count))
    progress?.completedUnitCount = Int64(max(1, found.count))
  }

  /// The same in steps, of an asynchronous request: a cancellation stops a statement that is running (of a
  /// child it takes effect between two statements), and objects are loaded in batches after their ids,
  /// between which the progress is updated. An object that others delete between is in the result as deleted.
  final func fillInSteps(_ request: NSFetchRequest<ResultType>) throws {
    let context: NSManagedObjectContext = managedObjectContext
    let progress: Progress? = self.progress
    context.tally.isCancelled = { progress?.isCancelled == true }
    defer { context.tally.isCancelled = nil }
    do {
      let parameters = FetchParameters(request)
      guard hasSteps(parameters) else { return try fill(request) }
      try stopIfCancelled(request)
      let found: [ResultType] = try withCocoaErrors {
        let objects: [NSManagedObject] = try fetchInSteps(request, parameters)
        guard let wanted = ResultType.self as? NSManagedObject.Type else { return try context.cast(objects) }
        try context.requireClass(wanted, of: objects, parameters)
        return unsafeBitCast(objects, to: [ResultType].self)
      }
      finalResult = found
    } catch {
      try stopIfCancelled(request)
      throw error
    }
  }

  /// Whether a fetch gives the same objects in the same state if it reads the ids first: none that are
  /// loaded need be read again, and no store is called for each object.
  private final func hasSteps(_ request: FetchParameters) -> Bool {
    guard request.resultType == .managedObjectResultType, !request.isGrouped, request.batchSize == 0,
      request.includesPropertyValues, !request.refreshes,
      let coordinator = managedObjectContext.persistentStoreCoordinator
    else { return false }
    return coordinator.persistentStores.allSatisfy { !$0.readsOneByOne }
  }

  private final func fetchInSteps(_ request: NSFetchRequest<ResultType>, _ parameters: FetchParameters) throws
    -> [NSManagedObject]
  {
    let size: Int = 1000
    let list: PagedObjects = try managedObjectContext.pagedObjects(parameters, pageSize: size)
    let count: Int = list.ids.count
    progress?.totalUnitCount = Int64(max(1, count))
    var objects: [NSManagedObject] = []
    objects.reserveCapacity(count)
    for start in stride(from: 0, to: count, by: size) {
      try stopIfCancelled(request)
      objects += try list.loadedObjects(start..<min(count, start + size))
      progress?.completedUnitCount = Int64(objects.count)
    }
    try stopIfCancelled(request)
    progress?.completedUnitCount = Int64(max(1, count))
    return objects
  }

  private final func stopIfCancelled(_ request: NSFetchRequest<ResultType>) throws {
    guard progress?.isCancelled == true else { return }
    let entity: String = request.entityName ?? request.entity?.name ?? ""
    throw ErrorMessage("The asynchronous fetch of \(entity) was cancelled.")
      .cocoaError(CocoaError.Code.userCancelled.rawValue)
  }

  /// Records that there is no result. Also cancels the progress, unless the request was cancelled, which is
  /// reported differently.
  final func fail(_ error: any Error) {
    operationError = error
    guard let progress, !progress.isCancelled else { return }
    progress.completedUnitCount = progress.totalUnitCount
  }
}
