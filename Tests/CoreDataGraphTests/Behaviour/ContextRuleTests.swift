import CoreData
import Foundation
import StackSupport
import Testing

extension Behaviour {
  /// Events, saves, refreshing, merging, queues.
  @Suite struct Contexts {
    private static let names: [Notification.Name: String] = [
      .NSManagedObjectContextObjectsDidChange: "did change", .NSManagedObjectContextWillSave: "will save",
      .NSManagedObjectContextDidSave: "did save", .NSManagedObjectContextDidSaveObjectIDs: "did save ids",
    ]

    @Test(.rule("EVENT-7", "observed"), arguments: StoreKind.allCases)
    func `a save goes: notice, willSave, validation, permanent ids, didSave, notices`(kind: StoreKind) throws
    {
      try Witness.with(kind) { _, context, hooks in
        let witness = Witness("a", context)
        hooks.lines = []
        var temporary: [String] = []
        hooks.on = { what, witness in
          if witness.objectID.isTemporaryID { temporary.append(what) }
          if what == "willSave", witness["number"] as? Int != 5 { witness["number"] = 5 }
        }
        let recorder = Recorder(Array(Self.names.keys), of: context) { note in
          hooks.lines.append(Self.names[note.name] ?? "")
        }
        try context.save()
        _ = recorder
        #expect(
          hooks.lines == [
            "did change", "will save", "willSave", "willSave", "validateForInsert", "didSave", "did save",
            "did save ids",
          ]
            || hooks.lines == [
              "did change", "will save", "willSave", "did change", "willSave", "validateForInsert", "didSave",
              "did save", "did save ids",
            ])
        #expect(temporary == ["willSave", "willSave", "validateForInsert"])
        #expect(witness["number"] as? Int == 5 && !context.hasChanges)
      }
    }

    @Test(
      .rule("EVENT-3", "NSManagedObjectContextObjectsDidChange", "refreshed and invalidated objects"),
      .rule("EVENT-10", "NSManagedObjectContext.updatedObjects"), arguments: StoreKind.allCases)
    func `each object is told of under one key, and counted in one set`(kind: StoreKind) throws {
      try Witness.with(kind) { _, context, _ in
        let stored: [Witness] = ["changed", "gone", "both", "fresh"].map { Witness($0, context) }
        try context.save()
        let recorder = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
        stored[0]["number"] = 1
        context.delete(stored[1])
        stored[2]["number"] = 2
        context.delete(stored[2])
        context.refresh(stored[3], mergeChanges: true)
        let new = Witness("new", context)
        new["number"] = 3
        context.processPendingChanges()
        #expect(recorder.objects(NSUpdatedObjectsKey) == [stored[0]])
        #expect(recorder.objects(NSDeletedObjectsKey) == [stored[1], stored[2]])
        #expect(recorder.objects(NSInsertedObjectsKey) == [new])
        #expect(recorder.objects(NSRefreshedObjectsKey) == [stored[3]] && !stored[3].hasChanges)
        #expect(context.updatedObjects == [stored[0]] && context.insertedObjects == [new])
        #expect(context.deletedObjects == [stored[1], stored[2]])
        context.reset()
        #expect(recorder.received.last?.userInfo?[NSInvalidatedAllObjectsKey] != nil)
      }
    }

    @Test(.rule("EVENT-11", "NSManagedObjectContext.processPendingChanges()"), arguments: StoreKind.allCases)
    func `the end of an event passes deletions on, registers undo and tells, in this order`(kind: StoreKind)
      throws
    {
      try Witness.with(kind) { _, context, _ in
        let (boss, member): (Witness, Witness) = (Witness("boss", context), Witness("member", context))
        member["boss"] = boss
        try context.save()
        let manager = UndoManager()
        context.undoManager = manager
        nonisolated(unsafe) var atNotice: [Bool] = []
        nonisolated(unsafe) let watched: Witness = member
        let recorder = Recorder([.NSManagedObjectContextObjectsDidChange], of: context) { _ in
          atNotice = [watched.isDeleted, manager.canUndo]
        }
        context.delete(boss)
        #expect(!member.isDeleted && !manager.canUndo && recorder.received.isEmpty)
        context.processPendingChanges()
        #expect(atNotice == [true, true])
        #expect(recorder.objects(NSDeletedObjectsKey) == [boss, member])
      }
    }

    @Test(.rule("REF-1", "NSManagedObjectContext.refresh(_:mergeChanges:)"), arguments: StoreKind.allCases)
    func `a refreshed object lets go of the objects it pointed at`(kind: StoreKind) throws {
      try Witness.with(kind) { _, context, _ in
        weak var weakMember: Witness?
        let boss = Witness("boss", context)
        do {
          let member = Witness("member", context)
          member["boss"] = boss
          weakMember = member
        }
        try context.save()
        #expect(weakMember != nil, "the boss holds it")
        weakMember.map { context.refresh($0, mergeChanges: false) }
        context.refresh(boss, mergeChanges: false)
        context.processPendingChanges()
        #expect(weakMember == nil)
        #expect((boss["members"] as? NSSet)?.count == 1)
      }
    }

    @Test(.rule("REF-4", "NSManagedObjectContext.rollback()"), arguments: StoreKind.allCases)
    func `rollback does not go to the store`(kind: StoreKind) throws {
      try Witness.with(kind) { stack, context, _ in
        let (changed, deleted): (Witness, Witness) = (Witness("a", context), Witness("b", context))
        try context.save()
        changed["number"] = 1
        context.delete(deleted)
        for name in ["a", "b"] { try stack.withWitness(name) { twin, _ in twin["number"] = 9 } }
        context.rollback()
        #expect(changed["number"] as? Int != 9 && changed["number"] as? Int != 1)
        #expect(!deleted.isDeleted && deleted["number"] as? Int != 9 && deleted.name == "b")
        #expect(!context.hasChanges)
      }
    }

    @Test(
      .rule("MERGE-2", "NSManagedObjectContext.mergeChanges(fromContextDidSave:)", "inserted objects"),
      .rule("MERGE-3", "NSManagedObjectContext.mergeChanges(fromContextDidSave:)", "deleted objects"),
      arguments: StoreKind.allCases)
    func `merging registers what was inserted and deletes what was deleted, without changes of its own`(
      kind: StoreKind
    ) throws {
      try Witness.with(kind) { stack, context, _ in
        let (boss, gone): (Witness, Witness) = (Witness("boss", context), Witness("gone", context))
        gone["boss"] = boss
        try context.save()
        #expect((boss["members"] as? NSSet)?.count == 1)
        let other: NSManagedObjectContext = stack.other()
        nonisolated(unsafe) var notification: Notification?
        let saves = Recorder([.NSManagedObjectContextDidSave], of: other) { notification = $0 }
        let new: NSManagedObjectID = try other.performAndWait {
          let new = Witness("new", other)
          other.delete(try other.existingObject(with: gone.objectID))
          try other.save()
          return new.objectID
        }
        _ = saves
        let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
        context.mergeChanges(fromContextDidSave: try #require(notification))
        let told: (String) -> Set<NSManagedObject> = { key in
          changes.received.indices.reduce(into: []) { $0.formUnion(changes.objects(key, at: $1)) }
        }
        #expect(told(NSInsertedObjectsKey).map(\.objectID) == [new])
        #expect(context.registeredObject(for: new) != nil, "the notification holds it")
        #expect(told(NSDeletedObjectsKey) == [gone])
        #expect(gone.isDeleted && context.deletedObjects == [gone] && (boss["members"] as? NSSet)?.count == 0)
        #expect(!context.hasChanges)
        try context.save()
        #expect(gone.managedObjectContext == nil && !gone.isDeleted && context.deletedObjects.isEmpty)
      }
    }

    @Test(.rule("MERGE-7", "observed"))
    func `contexts that a container makes do not merge by themselves`() {
      let container = NSPersistentContainer(name: "None", managedObjectModel: Witness.model)
      #expect(!container.newBackgroundContext().automaticallyMergesChangesFromParent)
      #expect(!container.viewContext.automaticallyMergesChangesFromParent)
      #expect(container.newBackgroundContext().concurrencyType == .privateQueueConcurrencyType)
    }

    @Test(.rule("MERGE-12", "NSManagedObjectContext.parent"))
    func `a confined context can't be a parent`() async {
      let result: ExitTest.Result? = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
      }
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("queue"), "\(text)")
    }

    @Test(.rule("QUEUE-3", "NSManagedObjectContext.perform(schedule:_:)"), .timeLimit(.minutes(10)))
    @MainActor
    func `an immediate block runs at once on the right queue, an enqueued one after those that wait`()
      async throws
    {
      let stack = try Stack(.inMemory)
      let context = NSManagedObjectContext(.mainQueue)
      context.persistentStoreCoordinator = stack.coordinator
      nonisolated(unsafe) var order: [String] = []
      context.performAndWait { context.perform { order.append("waiting") } }
      await context.perform(schedule: .immediate) { order.append("immediate") }
      #expect(order.first == "immediate")
      await context.perform(schedule: .enqueued) { order.append("enqueued") }
      #expect(order == ["immediate", "waiting", "enqueued"])
    }
  }
}
