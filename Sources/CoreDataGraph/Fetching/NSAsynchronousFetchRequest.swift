import CoreDataModel
import CoreDataPredicates
import Foundation

/// What executing a request gives; subclasses say what that is.
///
/// See Apple's page
/// [NSPersistentStoreResult](https://developer.apple.com/documentation/coredata/nspersistentstoreresult).
nonisolated open class NSPersistentStoreResult: NSObject {}

/// The result of a request that is executed later.
///
/// See Apple's page
/// [NSPersistentStoreAsynchronousResult](https://developer.apple.com/documentation/coredata/nspersistentstoreasynchronousresult).
nonisolated open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  /// The context that executes the request; its queue is the one to use the result on.
  public final let managedObjectContext: NSManagedObjectContext
  /// Why there is no result; nil until the request was executed, and when it went well.
  public final internal(set) var operationError: (any Error)?
  /// How far the request is; a part of the current progress of the thread that asked, if there is one.
  /// Cancelling it cancels the request.
  public final let progress: Progress?

  init(context: NSManagedObjectContext, unitCount: Int) {
    managedObjectContext = context
    progress = Progress(totalUnitCount: Int64(max(1, unitCount)))
    super.init()
  }

  /// Asks not to execute the request any more. One that has not begun is not executed; the result of one that
  /// runs is thrown away. Either way the completion block is called, with `CocoaError.userCancelled`
  /// as the error.
  open func cancel() { progress?.cancel() }
}

/// A fetch that does not wait: its result comes with a block.
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
  /// Called when the fetch has ended, by a result, an error, or because it was cancelled: in the context's
  /// turn, and on the actor in whose code the request was made, if any.
  public final let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  private let isolation: (any Actor)?
  /// How many results are expected, for progress; 0 (default): unknown.
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

  /// Calls the completion block, from a block of the result's context. A block of another actor than the main
  /// one runs there, in a turn of its own of the context, as do those of the main actor for contexts
  /// of other queues.
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

/// What an asynchronous fetch gives.
///
/// See Apple's page
/// [NSAsynchronousFetchResult](https://developer.apple.com/documentation/coredata/nsasynchronousfetchresult).
nonisolated open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>:
  NSPersistentStoreAsynchronousResult
{
  public final let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// The objects, ids, dictionaries or counts; nil until the request was executed, and when it failed. For
  /// the context's queue.
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

  private final func stopIfCancelled(_ request: NSFetchRequest<ResultType>) throws {
    guard progress?.isCancelled == true else { return }
    let entity: String = request.entityName ?? request.entity?.name ?? ""
    throw ErrorMessage("The asynchronous fetch of \(entity) was cancelled.")
      .cocoaError(CocoaError.Code.userCancelled.rawValue)
  }

  /// There will be no result. Nobody is to wait for the rest of the work either, unless it was cancelled,
  /// which is told otherwise.
  final func fail(_ error: any Error) {
    operationError = error
    guard let progress, !progress.isCancelled else { return }
    progress.completedUnitCount = progress.totalUnitCount
  }
}
