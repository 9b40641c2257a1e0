import CoreData
import Foundation
import StackSupport
import Testing

/// Requests that contexts and coordinators execute: fetches at once and later, saves.
@Suite
struct RequestTests {
  private func stored(_ kind: StoreKind, _ titles: [String]) throws -> Stack {
    let stack = try Stack(kind)
    try stack.run { context in
      for title in titles { _ = context.item(title) }
      try context.save()
    }
    return stack
  }

  private func request(_ context: NSManagedObjectContext) -> NSFetchRequest<Item> {
    let request: NSFetchRequest<Item> = context.request(Item.self, "Item")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return request
  }

  @Test(.rule("FETCH-20", "NSManagedObjectContext.execute(_:)"), arguments: StoreKind.allCases)
  func `a context executes fetches and refuses save requests`(kind: StoreKind) throws {
    let stack: Stack = try stored(kind, ["a", "b"])
    try stack.run { context in
      let item: Item = context.item("c")
      let result = try context.execute(request(context)) as? NSAsynchronousFetchResult<Item>
      #expect(result?.finalResult?.map(\.title) == ["a", "b", "c"] && result?.operationError == nil)
      let save = NSSaveChangesRequest(inserted: [item], updated: nil, deleted: nil, locked: nil)
      let error: CocoaError = try #require(throws: CocoaError.self) { try context.execute(save) }
      #expect(error.code == .persistentStoreUnsupportedRequestType)
      #expect(error.localizedDescription.contains("save()"))
      #expect(item.isInserted)
      #expect(throws: CocoaError.self) { try context.execute(StrangeRequest()) }
      let bad: NSFetchRequest<Item> = request(context)
      bad.predicate = NSPredicate(format: "nothing == 1")
      #expect(throws: CocoaError.self) { try context.execute(bad) }
    }
  }

  private final class StrangeRequest: NSPersistentStoreRequest {
    override var requestType: NSPersistentStoreRequestType { .fetchRequestType }
  }

  @Test(.rule("STORE-10", "NSPersistentStoreCoordinator.execute(_:with:)"), arguments: StoreKind.allCases)
  func `a coordinator gives what is stored as one flat array, and an empty one for saves`(kind: StoreKind)
    throws
  {
    let stack: Stack = try stored(kind, ["a", "b"])
    try stack.run { context in
      let coordinator: NSPersistentStoreCoordinator = stack.coordinator
      let items: [Item] = try context.fetch(request(context))
      items[0].title = "a2"
      context.delete(items[1])
      let new: Item = context.item("c")
      context.processPendingChanges()
      let ids: NSFetchRequest<NSManagedObjectID> = NSFetchRequest(entityName: "Item")
      ids.resultType = .managedObjectIDResultType
      let found = try coordinator.execute(ids, with: context) as? [NSManagedObjectID]
      #expect(Set(found ?? []) == Set(items.map(\.objectID)), "unsaved changes don't count")
      let counts: NSFetchRequest<NSNumber> = NSFetchRequest(entityName: "Item")
      counts.resultType = .countResultType
      let number = try coordinator.execute(counts, with: context) as? [NSNumber]
      #expect(number == [2])
      let recorder = Recorder([.NSManagedObjectContextDidSave], of: context)
      let save = NSSaveChangesRequest(
        inserted: [new], updated: [items[0]], deleted: [items[1]], locked: nil)
      let nothing = try coordinator.execute(save, with: context) as? [Any]
      #expect(nothing?.isEmpty == true && recorder.received.isEmpty)
      #expect(!context.hasChanges && !new.objectID.isTemporaryID)
      #expect(try context.fetch(request(context)).map(\.title) == ["a2", "c"])
      #expect(throws: CocoaError.self) { try coordinator.execute(StrangeRequest(), with: context) }
    }
    #expect(try stack.titles() == ["a2", "c"])
    let foreign = try Stack(kind)
    _ = try foreign.run { context in
      #expect(throws: CocoaError.self) { try stack.coordinator.execute(request(context), with: context) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a save request fails when a locked object was changed by others, and writes nothing`(kind: StoreKind)
    throws
  {
    let stack: Stack = try stored(kind, ["a", "b"])
    try stack.run { context in
      let items: [Item] = try context.fetch(request(context))
      #expect(items.map(\.price) == [0, 0])
      try stack.elsewhere { other in
        let theirs = try other.fetch(request(other))
        theirs[1].price = 5
        try other.save()
      }
      items[0].price = 1
      let save = NSSaveChangesRequest(inserted: nil, updated: [items[0]], deleted: nil, locked: [items[1]])
      let error: CocoaError = try #require(throws: CocoaError.self) {
        try stack.coordinator.execute(save, with: context)
      }
      #expect(error.code == .managedObjectMerge && items[0].isUpdated)
    }
    try stack.elsewhere { other in
      let prices: [Double] = try other.fetch(request(other)).map(\.price)
      #expect(prices == [0, 5])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an asynchronous fetch calls its block with the result on the context's queue`(kind: StoreKind)
    async throws
  {
    let stack: Stack = try stored(kind, ["a", "b"])
    let context: NSManagedObjectContext = stack.context
    let (titles, end) = AsyncStream.makeStream(of: [String?].self)
    try await context.perform {
      let parent = Progress(totalUnitCount: 1)
      parent.becomeCurrent(withPendingUnitCount: 1)
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request(context)) { result in
        #expect(result.managedObjectContext === context && result.operationError == nil)
        #expect(result.progress?.isFinished == true)
        _ = context.updatedObjects
        end.yield(result.finalResult?.map(\.title) ?? [])
      }
      asynchronous.estimatedResultCount = 2
      let result = try #require(try context.execute(asynchronous) as? NSAsynchronousFetchResult<Item>)
      parent.resignCurrent()
      #expect(result.finalResult == nil && result.progress?.totalUnitCount == 2)
      #expect(result.fetchRequest === asynchronous)
    }
    let found = await titles.first { _ in true }
    #expect(found == ["a", "b"])
  }

  @Test func `a cancelled fetch has no result and says so; a wrong one has an error`() async throws {
    let stack: Stack = try stored(.sqlite, ["a"])
    let context: NSManagedObjectContext = stack.context
    let (ends, end) = AsyncStream.makeStream(of: CocoaError.Code?.self)
    try await context.perform {
      for format in ["title == 'a'", "nothing == 1"] {
        let wanted: NSFetchRequest<Item> = request(context)
        wanted.predicate = NSPredicate(format: format)
        let asynchronous = NSAsynchronousFetchRequest(fetchRequest: wanted) { result in
          #expect(result.finalResult == nil)
          let ended: [Bool?] = [result.progress?.isFinished, result.progress?.isCancelled]
          #expect(ended == (format.hasPrefix("title") ? [false, true] : [true, false]))
          end.yield((result.operationError as? CocoaError)?.code)
        }
        let result = try #require(
          try context.execute(asynchronous) as? NSPersistentStoreAsynchronousResult)
        if format.hasPrefix("title") { result.cancel() }
      }
    }
    var codes: [CocoaError.Code?] = []
    for await code in ends {
      codes.append(code)
      if codes.count == 2 { break }
    }
    #expect(codes == [.userCancelled, .coreData])
  }

  @Test func `errors give their details with types`() throws {
    let stack = try Stack(.inMemory)
    try stack.run { context in
      let strict: NSManagedObject = context.make("Strict", ["name": "x"])
      let error: CocoaError = try #require(throws: CocoaError.self) { try strict.validateForInsert() }
      let details: [CocoaError] =
        error.code == .validationMultipleErrors
        ? (error.userInfo[NSDetailedErrorsKey] as? [Any] ?? []).compactMap { $0 as? CocoaError } : [error]
      let one: CocoaError = try #require(details.first { $0.validationKey == "name" })
      #expect(one.validationObject as? NSManagedObject === strict)
      #expect(one.validationValue as? String == "x")
      let gone = CocoaError(.managedObjectMerge, userInfo: [NSAffectedObjectsErrorKey: [strict]])
      #expect(gone.affectedObjects?.first === strict && gone.affectedStores == nil)
      let held = CocoaError(
        .managedObjectValidation,
        userInfo: [
          NSValidationPredicateErrorKey: NSPredicate(value: true), NSAffectedStoresErrorKey: [stack.store],
        ])
      #expect(held.validationPredicate != nil && held.affectedStores?.first === stack.store)
    }
  }
}
