import CoreData
import Foundation
import StackSupport
import Testing

extension Behaviour {
  /// What is loaded when, and what becomes of rows that are gone.
  @Suite struct Faults {
    /// A boss with two members, stored.
    private func filled(_ kind: StoreKind) throws -> Stack {
      let stack = try Stack(kind, model: Witness.model)
      try stack.elsewhere { context in
        let boss = Witness("boss", context)
        for name in ["a", "b"] { Witness(name, context)["boss"] = boss }
        try context.save()
      }
      return stack
    }

    private func witness(_ context: NSManagedObjectContext, _ name: String) throws -> Witness {
      try #require(try context.all(Witness.self, "Witness", NSPredicate(format: "name == %@", name)).first)
    }

    @Test(.rule("FAULT-2", "Faulting and Uniquing"), arguments: StoreKind.allCases)
    func `reading any property fires the fault, through a collection too`(kind: StoreKind) throws {
      let stack: Stack = try filled(kind)
      try stack.run { context in
        let boss: Witness = try witness(context, "boss")
        #expect(boss.isFault)
        #expect(boss["number"] == nil || boss["number"] as? Int == 0)
        #expect(!boss.isFault)
        let names: Any? = boss.value(forKeyPath: "members.name")
        #expect((names as? NSSet).map { Set($0.allObjects.compactMap { $0 as? String }) } == ["a", "b"])
        let members: Set<Witness> = try #require(boss["members"] as? Set<Witness>)
        #expect(members.allSatisfy { !$0.isFault })
      }
    }

    @Test(.rule("FAULT-5", "Faulting and Uniquing"), arguments: StoreKind.allCases)
    func `a to-many is a fault of its own, whose members are faults, and is read once`(kind: StoreKind) throws
    {
      let stack: Stack = try filled(kind)
      try stack.run { context in
        let boss: Witness = try witness(context, "boss")
        #expect(boss.name == "boss" && boss.hasFault(forRelationshipNamed: "members"))
        let members: Set<Witness> = try #require(boss["members"] as? Set<Witness>)
        #expect(members.count == 2 && members.allSatisfy(\.isFault))
        try stack.withWitness("boss") { twin, other in Witness("late", other)["boss"] = twin }
        let again: Set<Witness> = try #require(boss["members"] as? Set<Witness>)
        #expect(again == members, "the store was not asked again")
        context.refresh(boss, mergeChanges: false)
        #expect((boss["members"] as? NSSet)?.count == 3)
      }
    }

    @Test(
      .rule("FAULT-6", "NSManagedObjectContext.stalenessInterval"), arguments: StoreKind.allCases,
      [-1, 0, 3600])
    func `the staleness interval never touches loaded objects, and 0 fills faults with what is stored`(
      kind: StoreKind, interval: TimeInterval
    ) throws {
      let stack: Stack = try filled(kind)
      try stack.run { context in
        context.stalenessInterval = interval
        let (a, b): (Witness, Witness) = (try witness(context, "a"), try witness(context, "b"))
        #expect(a.name == "a" && b.name == "b")
        context.refresh(b, mergeChanges: false)
        for name in ["a", "b"] { try stack.withWitness(name) { twin, _ in twin["number"] = 9 } }
        #expect(a["number"] as? Int != 9, "a loaded object stays as it is")
        // A fault may be filled from a row at hand unless the interval forbids it.
        if interval == 0 { #expect(b["number"] as? Int == 9) }
        context.refresh(a, mergeChanges: true)
        #expect(a["number"] as? Int == 9)
      }
    }

    @Test(
      .rule("FAULT-7", "NSManagedObjectContext.shouldDeleteInaccessibleFaults"), arguments: StoreKind.allCases
    )
    func `a fault whose row is gone reads as a deleted object that no validation looks at`(kind: StoreKind)
      throws
    {
      let stack = try Stack(kind)
      try stack.run { context in
        let strict: NSManagedObject = context.make("Strict", ["name": "good", "home": context.make("Home")])
        try context.save()
        context.refresh(strict, mergeChanges: false)
        try stack.elsewhere { other in
          other.delete(try other.existingObject(with: strict.objectID))
          try other.save()
        }
        #expect(
          strict.value(forKey: "name") == nil && strict.value(forKey: "home") == nil && strict.isDeleted)
        strict.setValue("far too long", forKey: "name")
        _ = context.item("beside it")
        try context.save()
        #expect(try stack.count("Strict") == 0)
      }
    }

    private final class Asked: NSManagedObjectContext, @unchecked Sendable {
      // Sendable: as its superclass; the count is used on the context's queue.
      var count: Int = 0
      var properties: [String?] = []
      override func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID,
        triggeredByProperty property: NSPropertyDescription?
      ) -> Bool {
        count += 1
        properties.append(property?.name)
        return true
      }
    }

    @Test(
      .rule("FAULT-9", "NSManagedObjectContext.shouldHandleInaccessibleFault(_:for:triggeredByProperty:)"),
      arguments: StoreKind.allCases)
    func `nobody is asked about a missing row where an error can be thrown`(kind: StoreKind) throws {
      let stack: Stack = try filled(kind)
      let id: NSManagedObjectID = try stack.run { try witness($0, "a").objectID }
      try stack.withWitness("a") { twin, other in other.delete(twin) }
      let context = Asked(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = stack.coordinator
      context.performAndWait {
        let code: Int = codeThrown { _ = try context.existingObject(with: id) }
        #expect(code == NSManagedObjectReferentialIntegrityError && context.count == 0)
        #expect(context.object(with: id).value(forKey: "name") == nil && context.count == 1)
        #expect(context.properties == ["name"])
      }
    }

    @Test(
      .rule("FAULT-11", "NSManagedObjectContext.registeredObject(for:)"),
      .rule("FAULT-12", "NSManagedObjectContext.existingObject(with:)", "never gives a fault"),
      arguments: StoreKind.allCases)
    func `a registered object is found without the store, an existing one is loaded`(kind: StoreKind) throws {
      let stack: Stack = try filled(kind)
      let id: NSManagedObjectID = try stack.elsewhere { try witness($0, "a").objectID }
      try stack.run { context in
        #expect(context.registeredObject(for: id) == nil)
        let object: NSManagedObject = context.object(with: id)
        #expect(object.isFault && context.registeredObject(for: id) === object)
        let existing: NSManagedObject = try context.existingObject(with: id)
        #expect(existing === object && !existing.isFault)
        context.refresh(object, mergeChanges: false)
        #expect(try !context.existingObject(with: id).isFault)
      }
    }
  }
}
