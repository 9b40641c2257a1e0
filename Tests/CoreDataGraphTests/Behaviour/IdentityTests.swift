import CoreData
import Foundation
import StackSupport
import Testing

extension Behaviour {
  /// Ids, and the accessors below properties.
  @Suite struct Identity {
    @Test(.rule("ID-2", "NSManagedObjectContext.obtainPermanentIDs(for:)"), arguments: StoreKind.every)
    func `a permanent id ahead of the save comes with a store, once`(kind: StoreKind) throws {
      try Witness.with(kind) { stack, context, _ in
        let (old, new): (Witness, Witness) = (Witness("old", context), Witness("new", context))
        try context.obtainPermanentIDs(for: [old])
        let id: NSManagedObjectID = old.objectID
        #expect(new.objectID.persistentStore == nil && id.persistentStore === stack.store)
        try context.obtainPermanentIDs(for: [old, new])
        #expect(old.objectID === id && !new.objectID.isTemporaryID && old.isInserted && new.isInserted)
        try context.save()
        #expect(old.objectID == id)
      }
    }

    @Test(.rule("ID-3", "NSManagedObjectID.isTemporaryID"), arguments: StoreKind.every)
    func `a temporary id means nothing to another context`(kind: StoreKind) throws {
      try Witness.with(kind) { stack, context, _ in
        let temporary: NSManagedObjectID = Witness("a", context).objectID
        try stack.elsewhere { other in
          #expect(other.registeredObject(for: temporary) == nil)
          let code: Int = codeThrown { _ = try other.existingObject(with: temporary) }
          #expect(code == NSManagedObjectReferentialIntegrityError)
          #expect(other.object(with: temporary).value(forKey: "name") == nil)
        }
        try context.save()
        #expect(temporary.isTemporaryID, "the id of before is not changed, the object has another")
        try stack.elsewhere { other in
          let code: Int = codeThrown { _ = try other.existingObject(with: temporary) }
          #expect(code == NSManagedObjectReferentialIntegrityError)
        }
      }
    }

    @Test(
      .rule("ID-4", "NSPersistentStoreCoordinator.managedObjectID(forURIRepresentation:)"),
      arguments: StoreKind.every)
    func `a URI names the store by its UUID, and is nothing without that store`(kind: StoreKind) throws {
      try Witness.with(kind) { stack, context, _ in
        let witness = Witness("a", context)
        try context.save()
        let uri: URL = witness.objectID.uriRepresentation()
        #expect(uri.host == stack.store.identifier)
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == witness.objectID)
        try stack.coordinator.remove(stack.store)
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
      }
    }

    @Test(.rule("ID-5", "NSPersistentStoreCoordinator.managedObjectID(forURIRepresentation:)"))
    func `a copy of a file answers to the URIs of the first`() throws {
      let stack = try Stack(.sqlite, model: Witness.model)
      let uri: URL = try stack.run { context in
        let witness = Witness("a", context)
        try context.save()
        return witness.objectID.uriRepresentation()
      }
      try stack.coordinator.remove(stack.store)
      let copy: URL = stack.folder.file("Copy.sqlite")
      for suffix in ["", "-wal"] {
        let from: URL = URL(fileURLWithPath: stack.folder.file("World.sqlite").path + suffix)
        guard FileManager.default.fileExists(atPath: from.path) else { continue }
        try FileManager.default.copyItem(at: from, to: URL(fileURLWithPath: copy.path + suffix))
      }
      let second = NSPersistentStoreCoordinator(managedObjectModel: Witness.model)
      try second.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: copy)
      let id: NSManagedObjectID = try #require(second.managedObjectID(forURIRepresentation: uri))
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = second
      let name: Any? = try context.performAndWait {
        try context.existingObject(with: id).value(forKey: "name")
      }
      #expect(name as? String == "a")
    }

    @Test(.rule("ACC-1", "NSManagedObject.willAccessValue(forKey:)"), arguments: StoreKind.every)
    func `the bracket before a read fires the fault, the primitive read does not`(kind: StoreKind) throws {
      try Witness.with(kind) { _, context, _ in
        let witness = Witness("a", context)
        try context.save()
        context.refresh(witness, mergeChanges: false)
        #expect(witness.primitiveValue(forKey: "name") == nil && witness.isFault)
        witness.willAccessValue(forKey: "name")
        #expect(!witness.isFault && witness.primitiveValue(forKey: "name") as? String == "a")
        witness.didAccessValue(forKey: "name")
        context.refresh(witness, mergeChanges: false)
        witness.willAccessValue(forKey: nil)
        #expect(!witness.isFault)
      }
    }

    @Test(
      .rule("ACC-2", "NSManagedObject.willChangeValue(forKey:), setPrimitiveValue(_:forKey:)"),
      arguments: StoreKind.every)
    func `the brackets of a write record it for undo and keep the inverse; the primitive write does neither`(
      kind: StoreKind
    ) throws {
      try Witness.with(kind) { _, context, _ in
        let (witness, boss): (Witness, Witness) = (Witness("a", context), Witness("boss", context))
        try context.save()
        let manager = UndoManager()
        context.undoManager = manager
        witness.setPrimitiveValue("quiet", forKey: "name")
        witness.setPrimitiveValue(boss, forKey: "boss")
        context.processPendingChanges()
        #expect(!manager.canUndo && !witness.hasChanges && !boss.hasChanges)
        #expect((boss["members"] as? NSSet)?.count == 0)
        context.refresh(witness, mergeChanges: false)
        for (key, value) in [("name", "loud"), ("boss", boss)] as [(String, Any)] {
          witness.willChangeValue(forKey: key)
          witness.setPrimitiveValue(value, forKey: key)
          witness.didChangeValue(forKey: key)
        }
        #expect(boss["members"] as? Set<Witness> == [witness] && boss.isUpdated && witness.isUpdated)
        context.undo()
        #expect(witness.name == "a" && witness["boss"] == nil && (boss["members"] as? NSSet)?.count == 0)
        context.redo()
        #expect(witness.name == "loud" && witness["boss"] as? Witness === boss)
      }
    }
  }
}
