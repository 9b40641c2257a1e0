import CoreDataModel
import Foundation

/// A request that a context can execute.
protocol ContextRequest: NSPersistentStoreRequest {
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
  /// The results alone, from stored rows.
  func results(in context: NSManagedObjectContext) throws -> [Any]
}

extension NSManagedObjectContext {
  final func run(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    requireQueue("execute(_:) was called")
    if request is NSSaveChangesRequest {
      throw GraphError.unsupportedRequest(
        "a save request in a context", advice: "Call save(), or execute(_:with:) of the coordinator."
      )
      .asCocoaError
    }
    guard let request = request as? any ContextRequest else {
      guard let coordinator = persistentStoreCoordinator else { throw GraphError.noCoordinator.asCocoaError }
      let answers: [Any] = try coordinator.answers(to: request, for: self)
      guard answers.count == 1, let result = answers[0] as? NSPersistentStoreResult else {
        throw GraphError.unsupportedRequest(
          "a request of the class \(type(of: request)), for which the stores returned no result object,",
          advice: "Execute it with the coordinator, or return an NSPersistentStoreResult from the one store."
        ).asCocoaError
      }
      return result
    }
    return try request.run(in: self)
  }

  fileprivate static func refusal(of request: NSPersistentStoreRequest) -> CocoaError {
    GraphError.unsupportedRequest(
      "a request of the class \(type(of: request))",
      advice: "Use NSFetchRequest, NSAsynchronousFetchRequest or, with the coordinator, NSSaveChangesRequest."
    ).asCocoaError
  }
}

extension NSPersistentStoreCoordinator {
  /// Executes a request against the stores, on the context's queue, and waits for it.
  ///
  /// A fetch returns an array of its result type, from stored rows: unsaved changes don't count. A save
  /// request writes the objects it names, all or nothing in each store, and returns an empty array; it calls
  /// no methods of objects, validates nothing and posts nothing: a context's
  /// ``NSManagedObjectContext/save()`` does this around it. Requests of the program's own classes go to the
  /// stores that derive from ``NSIncrementalStore``; the result is an array of what each of them returned.
  ///
  /// Throws what ``NSManagedObjectContext/fetch(_:)`` and ``NSManagedObjectContext/save()`` throw, and 134091
  /// for other requests.
  public final func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws
    -> Any
  {
    guard context.persistentStoreCoordinator === self else {
      throw GraphError.unsupported(
        "Executing a request with a context of another coordinator",
        advice: "Use the context's own coordinator."
      ).asCocoaError
    }
    return try context.runAndWait { () throws -> [Any] in
      if let request = request as? NSSaveChangesRequest {
        try withCocoaErrors { try context.write(request, to: self) }
        return []
      }
      guard let request = request as? any ContextRequest else {
        return try answers(to: request, for: context)
      }
      return try request.results(in: context)
    }
  }

  /// What the stores that programs implement return for a request of the program's own class. Throws if there
  /// is no such store.
  fileprivate final func answers(to request: NSPersistentStoreRequest, for context: NSManagedObjectContext)
    throws -> [Any]
  {
    let stores: [NSIncrementalStore] = (request.affectedStores ?? persistentStores).compactMap {
      $0 as? NSIncrementalStore
    }
    if stores.isEmpty { throw NSManagedObjectContext.refusal(of: request) }
    return try stores.map { store in
      context.identityMap.registrations.post()
      return try store.oneAtATime { try store.execute(request, with: context) }
    }
  }
}

extension NSFetchRequest: ContextRequest {
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult(NSAsynchronousFetchRequest(fetchRequest: self), context: context)
    do {
      try result.fill(self)
    } catch {
      result.fail(error)
      throw error
    }
    return result
  }

  func results(in context: NSManagedObjectContext) throws -> [Any] {
    let stored: NSFetchRequest<ResultType> = snapshot
    stored.includesPendingChanges = false
    return try context.fetch(stored)
  }

  /// A copy of the request, which later changes do not affect.
  fileprivate var snapshot: NSFetchRequest<ResultType> {
    let made = NSFetchRequest<ResultType>()
    copyContents(into: made)
    return made
  }
}

extension NSAsynchronousFetchRequest: ContextRequest {
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult(self, context: context)
    let request: NSFetchRequest<ResultType> = snapshot
    context.enqueue { [self] in
      do { try result.fillInSteps(request) } catch { result.fail(error) }
      complete(result)
    }
    return result
  }

  func results(in context: NSManagedObjectContext) throws -> [Any] { try snapshot.results(in: context) }

  private var snapshot: NSFetchRequest<ResultType> {
    let made: NSFetchRequest<ResultType> = fetchRequest.snapshot
    if let affectedStores { made.affectedStores = affectedStores }
    return made
  }
}
