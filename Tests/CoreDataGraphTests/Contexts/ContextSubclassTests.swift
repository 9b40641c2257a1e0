import CoreData
import Foundation
import StackSupport
import Testing

/// Contexts whose class overrides what Apple's users can override.
@Suite
struct ContextSubclassTests {
  @Test(arguments: StoreKind.allCases)
  func `an override sees every call of the program's, and its answer counts`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let context = LoggingContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = stack.coordinator
    let steps: [(String, (NSManagedObjectContext, Item) throws -> Void)] = [
      ("insert", { context, _ in _ = Item(context: context) }),
      ("hasChanges", { context, _ in #expect(context.hasChanges) }),
      ("object", { context, item in #expect(context.object(with: item.objectID) === item) }),
      (
        "registeredObject",
        { context, item in #expect(context.registeredObject(for: item.objectID) === item) }
      ),
      (
        "existingObject",
        { context, item in
          let found: NSManagedObject = try context.existingObject(with: item.objectID)
          #expect(found === item)
        }
      ),
      ("refresh", { context, item in context.refresh(item, mergeChanges: true) }),
      ("refreshAllObjects", { context, _ in context.refreshAllObjects() }),
      ("detectConflicts", { context, item in context.detectConflicts(for: item) }),
      (
        "assign",
        { context, _ in
          context.assign(NSManagedObject(entity: Item.entity(), insertInto: nil), to: stack.store)
        }
      ),
      ("obtainPermanentIDs", { context, item in try context.obtainPermanentIDs(for: [item]) }),
      ("processPendingChanges", { context, _ in context.processPendingChanges() }),
      ("undo", { context, _ in context.undo() }), ("redo", { context, _ in context.redo() }),
      ("execute", { context, _ in try context.execute(NSFetchRequest<Item>(entityName: "Item")) }),
      ("setQueryGenerationFrom", { context, _ in try context.setQueryGenerationFrom(nil) }),
      (
        "mergeChanges",
        { context, _ in
          context.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
        }
      ),
      ("save", { context, _ in try context.save() }), ("delete", { context, item in context.delete(item) }),
      ("rollback", { context, _ in context.rollback() }), ("reset", { context, _ in context.reset() }),
    ]
    try context.performAndWait {
      let item = Item(context: context)
      try context.save()
      for (name, step) in steps {
        context.log = []
        try step(context, item)
        #expect(context.log.filter { $0 != "insert" || name == "insert" } == [name], "\(name)")
      }
    }
    #expect(try stack.count("Item") == 2)
  }

  @Test func `blocks of all kinds go by way of the overridden method`() async throws {
    let stack = try Stack(.inMemory)
    let context = LoggingContext(.privateQueue)
    context.persistentStoreCoordinator = stack.coordinator
    let number: Int = context.performAndWait { 1 }
    #expect(number == 1)
    context.performAndWait { context.log.append("block") }
    struct Failure: Error {}
    #expect(throws: Failure.self) { try context.performAndWait { throw Failure() } }
    let log: [String] = context.performAndWait { context.log }
    #expect(log == ["performAndWait", "performAndWait", "block", "performAndWait", "performAndWait"])
    await withCheckedContinuation { continuation in context.perform { continuation.resume() } }
    #expect(context.performAndWait { context.log.contains("perform") })
  }

  @Test func `an override decides whether a save happens`() throws {
    let stack = try Stack(.inMemory)
    let context = LoggingContext(.privateQueue)
    context.persistentStoreCoordinator = stack.coordinator
    context.performAndWait {
      _ = context.item("a")
      context.mayNotSave = true
      #expect(codeThrown { try context.save() } == NSPersistentStoreSaveError)
      #expect(context.insertedObjects.count == 1)
    }
    #expect(try stack.count("Item") == 0)
  }

  @Test func `the kinds of queue are those of the older spelling`() {
    for (modern, older) in [
      (
        NSManagedObjectContext.ConcurrencyType.mainQueue,
        NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType
      ),
      (.privateQueue, .privateQueueConcurrencyType),
    ] {
      #expect(modern.rawValue == older)
      #expect(NSManagedObjectContext.ConcurrencyType(rawValue: older) == modern)
      #expect(NSManagedObjectContext(modern).concurrencyType == older)
    }
    #expect(NSUndoCloseGroupingRunLoopOrdering == 350_000)
  }
}

/// Used on its queue only.
private final class LoggingContext: NSManagedObjectContext, @unchecked Sendable {
  var log: [String] = []
  var mayNotSave = false

  override func insert(_ object: NSManagedObject) {
    log.append("insert")
    super.insert(object)
  }
  override var hasChanges: Bool {
    log.append("hasChanges")
    return super.hasChanges
  }
  override func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    log.append("object")
    return super.object(with: objectID)
  }
  override func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    log.append("registeredObject")
    return super.registeredObject(for: objectID)
  }
  override func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    log.append("existingObject")
    return try super.existingObject(with: objectID)
  }
  override func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    log.append("refresh")
    super.refresh(object, mergeChanges: flag)
  }
  override func refreshAllObjects() {
    log.append("refreshAllObjects")
    super.refreshAllObjects()
  }
  override func detectConflicts(for object: NSManagedObject) {
    log.append("detectConflicts")
    super.detectConflicts(for: object)
  }
  override func assign(_ object: Any, to store: NSPersistentStore) {
    log.append("assign")
    super.assign(object, to: store)
  }
  override func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    log.append("obtainPermanentIDs")
    try super.obtainPermanentIDs(for: objects)
  }
  override func processPendingChanges() {
    log.append("processPendingChanges")
    super.processPendingChanges()
  }
  override func undo() {
    log.append("undo")
    super.undo()
  }
  override func redo() {
    log.append("redo")
    super.redo()
  }
  override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    log.append("execute")
    return try super.execute(request)
  }
  override func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    log.append("setQueryGenerationFrom")
    try super.setQueryGenerationFrom(generation)
  }
  override func mergeChanges(fromContextDidSave notification: Notification) {
    log.append("mergeChanges")
    super.mergeChanges(fromContextDidSave: notification)
  }
  override func save() throws {
    log.append("save")
    if mayNotSave { throw CocoaError(CocoaError.Code(rawValue: NSPersistentStoreSaveError)) }
    try super.save()
  }
  override func delete(_ object: NSManagedObject) {
    log.append("delete")
    super.delete(object)
  }
  override func rollback() {
    log.append("rollback")
    super.rollback()
  }
  override func reset() {
    log.append("reset")
    super.reset()
  }
  override func perform(_ block: @escaping @Sendable () -> Void) {
    super.perform { [self] in
      log.append("perform")
      block()
    }
  }
  override func performAndWait(_ block: () -> Void) {
    super.performAndWait {
      log.append("performAndWait")
      block()
    }
  }
}
