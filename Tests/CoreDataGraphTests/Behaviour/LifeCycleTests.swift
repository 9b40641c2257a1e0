import CoreData
import Foundation
import StackSupport
import Testing

extension Behaviour {
  /// What an object is told in its life.
  @Suite struct LifeCycle {
    @Test(.rule("LIFE-1", "NSManagedObject.awakeFromInsert()"), arguments: StoreKind.every)
    func `an object is awoken from insertion once, however often it is inserted`(kind: StoreKind) throws {
      try Witness.with(kind) { _, context, hooks in
        context.undoManager = UndoManager()
        let witness = Witness("a", context)
        context.processPendingChanges()
        context.undo()
        context.redo()
        #expect(hooks.lines.count { $0 == "awakeFromInsert" } == 1)
        context.undoManager = nil
        context.delete(witness)
        context.processPendingChanges()
        #expect(witness.managedObjectContext == nil)
        context.insert(witness)
        context.rollback()
        context.insert(witness)
        try context.save()
        #expect(hooks.lines.count { $0 == "awakeFromInsert" } == 1)
      }
    }

    @Test(.rule("LIFE-2", "NSManagedObject.awakeFromInsert()"), arguments: StoreKind.every)
    func `primitive values set in awakeFromInsert belong to the initial state, and no undo takes them back`(
      kind: StoreKind
    ) throws {
      try Witness.with(kind) { stack, context, hooks in
        let manager = UndoManager()
        context.undoManager = manager
        hooks.on = { what, witness in
          if what == "awakeFromInsert" { witness.setPrimitiveValue("initial", forKey: "name") }
        }
        let witness = Witness(context: context)
        context.processPendingChanges()
        #expect(manager.undoCount == 1, "the insertion alone")
        witness.name = "later"
        context.undo()
        #expect(witness.name == "initial")
        context.undo()
        context.redo()
        #expect(witness.name == "initial" && hooks.lines.count { $0 == "awakeFromInsert" } == 1)
        try context.save()
        try stack.withWitness("initial") { _, _ in }
      }
    }

    @Test(.rule("LIFE-3", "NSManagedObject.awakeFromInsert()"), arguments: StoreKind.every)
    func `awakeFromInsert may fetch`(kind: StoreKind) throws {
      try Witness.with(kind) { _, context, hooks in
        _ = Witness("a", context)
        try context.save()
        hooks.on = { what, witness in
          guard what == "awakeFromInsert", let context = witness.managedObjectContext else { return }
          let found: [Witness]? = try? context.all(
            Witness.self, "Witness", NSPredicate(format: "name == 'a'"))
          witness["boss"] = found?.first
        }
        let witness = Witness("b", context)
        #expect((witness["boss"] as? Witness)?.name == "a")
        try context.save()
      }
    }

    // OBS-5, finding B4.
    @Test(arguments: StoreKind.every)
    func `a fetch in awakeFromInsert does not end the event`(kind: StoreKind) throws {
      try Witness.with(kind) { _, context, hooks in
        let early = Witness("a", context)
        var counts: [Int] = []
        hooks.on = { what, witness in
          guard what == "awakeFromInsert", let context = witness.managedObjectContext else { return }
          counts.append((try? context.all(Witness.self, "Witness").count) ?? -1)
          counts.append((try? context.count(for: context.request(Witness.self, "Witness"))) ?? -1)
        }
        let told = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
        let witness = Witness("b", context)
        #expect(counts == [2, 2], "the new one is counted in")
        #expect(told.received.isEmpty)
        let late = Witness("c", context)
        context.processPendingChanges()
        #expect(told.received.count == 1 && told.objects(NSInsertedObjectsKey) == [early, witness, late])
      }
    }

    @Test(.rule("LIFE-4", "NSManagedObject.awakeFromFetch()"), arguments: StoreKind.every)
    func `awakeFromFetch is sent each time a fault is filled, and after the values are there`(kind: StoreKind)
      throws
    {
      try Witness.with(kind) { _, context, hooks in
        let witness = Witness("a", context)
        try context.save()
        var names: [String?] = []
        hooks.on = { what, witness in
          if what == "awakeFromFetch" { names.append(witness.name) }
        }
        for _ in 0..<3 {
          context.refresh(witness, mergeChanges: false)
          #expect(witness.name == "a" && witness.name == "a")
        }
        #expect(names == ["a", "a", "a"])
      }
    }

    @Test(
      .rule("LIFE-5", "NSManagedObject.awakeFromFetch()"),
      .rule("LIFE-6", "NSManagedObject.awakeFromFetch()", "inverses are not kept there"),
      arguments: StoreKind.every)
    func `setters in awakeFromFetch change no flag, no inverse and no row`(kind: StoreKind) throws {
      try Witness.with(kind) { stack, context, hooks in
        let (witness, boss): (Witness, Witness) = (Witness("a", context), Witness("boss", context))
        try context.save()
        context.undoManager = UndoManager()
        hooks.on = { what, witness in
          guard what == "awakeFromFetch", witness !== boss else { return }
          witness["number"] = 5
          witness["boss"] = boss
        }
        context.refresh(witness, mergeChanges: false)
        #expect(witness["number"] as? Int == 5 && witness["boss"] as? Witness === boss)
        #expect(!witness.hasChanges && !boss.hasChanges && !context.hasChanges)
        #expect(witness.changedValues().isEmpty && (boss["members"] as? NSSet)?.count == 0)
        context.processPendingChanges()
        #expect(context.undoManager?.canUndo == false)
        try context.save()
        try stack.withWitness("a") { stored, _ in
          #expect(stored["number"] as? Int == 0 || stored["number"] == nil)
          #expect(stored["boss"] == nil)
        }
      }
    }

    @Test(.rule("LIFE-7", "NSManagedObject.awake(fromSnapshotEvents:)"), arguments: StoreKind.every)
    func `values that are replaced as a whole are told with their cause, and as nothing else`(kind: StoreKind)
      throws
    {
      func line(_ event: NSSnapshotEventType) -> [String] { ["awake \(event.rawValue)"] }
      try Witness.with(kind) { stack, context, hooks in
        let witness = Witness("a", context)
        try context.save()
        context.undoManager = UndoManager()
        func check(_ event: NSSnapshotEventType, _ body: () throws -> Void) rethrows {
          hooks.lines = []
          try body()
          #expect(hooks.take() == line(event))
        }
        witness["number"] = 1
        check(.undoUpdate) { context.undo() }
        check(.undoUpdate) { context.redo() }
        check(.rollback) { context.rollback() }
        witness["number"] = 2
        check(.refresh) { context.refresh(witness, mergeChanges: true) }
        try context.save()
        let fresh = Witness("b", context)
        context.processPendingChanges()
        check(.undoInsertion) { context.undo() }
        check(.undoDeletion) { context.redo() }
        try context.save()
        context.delete(fresh)
        context.processPendingChanges()
        check(.undoDeletion) { context.undo() }
        context.undoManager = nil
        context.rollback()
        // A merge policy.
        try stack.withWitness("a") { twin, _ in twin["number"] = 7 }
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        witness["number"] = 8
        hooks.lines = []
        try context.save()
        #expect(hooks.take().filter { $0.hasPrefix("awake") } == line(.mergePolicy))
        #expect(witness["number"] as? Int == 7)
      }
    }

    @Test(
      .rule("LIFE-7", "NSManagedObject.awake(fromSnapshotEvents:)", "in child contexts"),
      arguments: StoreKind.every, [false, true])
    func `a child's objects are told the same, be the parent's saved or not`(
      kind: StoreKind, isSaved: Bool
    ) throws {
      try Witness.with(kind) { stack, context, hooks in
        let boss = Witness("boss", context)
        let original = Witness("a", context)
        original["number"] = 1
        original["boss"] = boss
        if isSaved { try context.save() } else { context.processPendingChanges() }
        let (id, bossID): (NSManagedObjectID, NSManagedObjectID) = (original.objectID, boss.objectID)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        child.userInfo["hooks"] = hooks
        try child.performAndWait {
          child.undoManager = UndoManager()
          let witness = try #require(try child.existingObject(with: id) as? Witness)
          let theirBoss = try #require(try child.existingObject(with: bossID) as? Witness)
          func check(_ event: NSSnapshotEventType, _ body: () throws -> Void) rethrows {
            hooks.lines = []
            try body()
            let told: [String] = hooks.take().filter { $0.hasPrefix("awake") }
            #expect(told == ["awake \(event.rawValue)"], "isSaved \(isSaved)")
          }
          witness["number"] = 2
          check(.undoUpdate) { child.undo() }
          check(.undoUpdate) { child.redo() }
          check(.rollback) { child.rollback() }
          #expect(witness["number"] as? Int == 1 && witness["boss"] as? Witness === theirBoss)
          witness["boss"] = nil
          _ = theirBoss["members"]
          child.rollback()
          #expect(witness["boss"] as? Witness === theirBoss)
          #expect(theirBoss["members"] as? Set<Witness> == [witness] && !child.hasChanges)
          child.delete(witness)
          child.processPendingChanges()
          #expect((theirBoss["members"] as? Set<Witness>)?.isEmpty == true)
          child.rollback()
          #expect(!witness.isDeleted && witness["number"] as? Int == 1 && !child.hasChanges)
          #expect(theirBoss["members"] as? Set<Witness> == [witness])
          witness["number"] = 3
          check(.refresh) { child.refresh(witness, mergeChanges: true) }
          #expect(witness["number"] as? Int == 3)
          child.processPendingChanges()
          let fresh = Witness("b", child)
          child.processPendingChanges()
          check(.undoInsertion) { child.undo() }
          check(.undoDeletion) { child.redo() }
          #expect(fresh.isInserted)
          try child.save()
        }
        #expect(original["number"] as? Int == 3)
        try context.save()
      }
    }

    @Test(.rule("LIFE-8", "NSManagedObject.prepareForDeletion()"), arguments: StoreKind.every)
    func `prepareForDeletion comes at once, before anything is passed on; for members, while it is passed on`(
      kind: StoreKind
    ) throws {
      try Witness.with(kind) { _, context, hooks in
        let boss = Witness("boss", context)
        let member = Witness("member", context)
        let below = Witness("below", context)
        member["boss"] = boss
        below["boss"] = member
        try context.save()
        var seen: [String] = []
        hooks.on = { what, witness in
          guard what == "prepareForDeletion" else { return }
          let members: Int = (witness["members"] as? NSSet)?.count ?? 0
          seen.append("\(witness.name ?? "") \(members)")
        }
        context.delete(boss)
        #expect(seen == ["boss 1"] && member["boss"] as? Witness === boss && !member.isDeleted)
        context.processPendingChanges()
        #expect(seen == ["boss 1", "member 1", "below 0"] && below.isDeleted)
        try context.save()
        #expect(seen.count == 3)
      }
    }

    @Test(.rule("LIFE-9", "NSManagedObject.willSave()"), arguments: StoreKind.every)
    func `willSave comes before the write, to deleted objects as well`(kind: StoreKind) throws {
      try Witness.with(kind) { stack, context, hooks in
        let gone = Witness("gone", context)
        let changed = Witness("changed", context)
        try context.save()
        context.delete(gone)
        changed["number"] = 1
        _ = Witness("new", context)
        var seen: Set<String> = []
        hooks.on = { what, witness in
          guard what == "willSave" else { return }
          let state = witness.isDeleted ? "deleted" : witness.isInserted ? "inserted" : "updated"
          let stored: Int? = try? stack.count("Witness")
          seen.insert("\(witness.name ?? "") \(state) \(stored ?? -1)")
        }
        try context.save()
        #expect(seen == ["gone deleted 2", "changed updated 2", "new inserted 2"])
      }
    }

    @Test(.rule("LIFE-12", "NSManagedObject.didSave()"), arguments: StoreKind.every)
    func `what didSave changes is a change of the next event, for saving and for undo`(kind: StoreKind) throws
    {
      try Witness.with(kind) { stack, context, hooks in
        let manager = UndoManager()
        context.undoManager = manager
        let witness = Witness("a", context)
        hooks.on = { what, witness in
          if what == "didSave" { witness["number"] = 3 }
        }
        try context.save()
        hooks.on = nil
        #expect(witness.isUpdated && context.hasChanges)
        let before: Int = manager.undoCount
        context.processPendingChanges()
        #expect(manager.undoCount == before + 1)
        context.undo()
        #expect(witness["number"] as? Int != 3)
        context.redo()
        #expect(witness["number"] as? Int == 3)
        try context.save()
        try stack.withWitness("a") { stored, _ in #expect(stored["number"] as? Int == 3) }
      }
    }

    @Test(.rule("LIFE-13", "NSManagedObject.didSave()"), arguments: StoreKind.every)
    func `didSave can't bring a deleted object back`(kind: StoreKind) throws {
      try Witness.with(kind) { stack, context, hooks in
        let witness = Witness("a", context)
        try context.save()
        hooks.on = { what, witness in
          if what == "didSave" { witness.name = "alive" }
        }
        context.delete(witness)
        try context.save()
        hooks.on = nil
        #expect(!context.hasChanges && context.updatedObjects.isEmpty)
        context.processPendingChanges()
        try context.save()
        #expect(witness.managedObjectContext == nil)
        let left: Int = try stack.count("Witness")
        #expect(left == 0)
      }
    }

    @Test(
      .rule("LIFE-14", "NSManagedObject.willTurnIntoFault(), didTurnIntoFault()"),
      arguments: StoreKind.every)
    func `values can be read before the object becomes a fault, transient ones not after`(kind: StoreKind)
      throws
    {
      try Witness.with(kind) { _, context, hooks in
        let witness = Witness("a", context)
        try context.save()
        witness["note"] = "n"
        var seen: [String] = []
        hooks.on = { what, witness in
          guard what.hasSuffix("TurnIntoFault") else { return }
          let name: Any? = witness.primitiveValue(forKey: "name")
          let note: Any? = witness.primitiveValue(forKey: "note")
          seen.append("\(what) \(witness.isFault) \(name ?? "-") \(note ?? "-")")
        }
        context.refresh(witness, mergeChanges: false)
        #expect(seen.first == "willTurnIntoFault false a n")
        #expect(seen.count == 2 && seen.last?.hasPrefix("didTurnIntoFault true") == true)
        #expect(seen.last?.hasSuffix(" -") == true, "the transient value is gone")
      }
    }

    @Test(.rule("LIFE-15", "NSManagedObject, subclassing notes"))
    func `what subclasses must call on super can be called at any time`() throws {
      try Witness.with(.inMemory) { _, context, _ in
        let witness = Witness("a", context)
        witness.awakeFromInsert()
        witness.awakeFromFetch()
        witness.awake(fromSnapshotEvents: [])
        try witness.validateForInsert()
        try witness.validateForUpdate()
        try witness.validateForDelete()
        #expect(witness.name == "a" && witness.isInserted)
      }
    }

    private static func twoEntitiesOfOneClass() -> NSManagedObjectModel {
      let entities: [NSEntityDescription] = ["Witness", "Twin"].map {
        let entity: NSEntityDescription = World.entity($0, [World.attribute("name", .stringAttributeType)])
        entity.managedObjectClassName = "CoreDataGraphTests.Witness"
        return entity
      }
      let model = NSManagedObjectModel()
      model.entities = entities
      return model
    }

    @Test(.rule("LIFE-17", "NSManagedObject.init(context:), entity()"))
    func `a class that stands for two entities must be given the entity`() async throws {
      let result: ExitTest.Result? = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let stack = try Stack(.inMemory, model: LifeCycle.twoEntitiesOfOneClass())
        try stack.run { _ = Witness(context: $0) }
      }
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("Twin") && text.contains("init(entity:insertInto:)"), "\(text)")
      let stack = try Stack(.inMemory, model: Self.twoEntitiesOfOneClass())
      try stack.run { context in
        let twin: NSManagedObject = context.make("Twin", ["name": "t"])
        #expect(twin is Witness && twin.entity.name == "Twin")
      }
    }
  }
}
