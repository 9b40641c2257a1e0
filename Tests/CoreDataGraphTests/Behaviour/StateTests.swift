import CoreData
import Foundation
import StackSupport
import Testing

extension Behaviour {
  /// Flags and dictionaries of changes.
  @Suite struct State {
    @Test(
      .rule("STATE-1", "NSManagedObject.hasChanges, hasPersistentChangedValues"),
      arguments: StoreKind.allCases)
    func `a transient value makes an object dirty, but is no persistent change`(kind: StoreKind) throws {
      try Witness.with(kind) { stack, context, _ in
        let witness = Witness("a", context)
        try context.save()
        witness["note"] = "n"
        #expect(witness.hasChanges && witness.isUpdated && context.hasChanges)
        #expect(!witness.hasPersistentChangedValues && witness.changedValues().isEmpty)
        // Nothing of it is written: another context's version of the row is still the latest.
        try stack.elsewhere { other in
          let twin: Witness = try #require(try other.all(Witness.self, "Witness").first)
          #expect(twin.name == "a")
          try context.save()
          twin.name = "b"
          try other.save()
        }
        #expect(!witness.hasChanges && witness["note"] as? String == "n")
      }
    }

    @Test(.rule("STATE-2", "NSManagedObject.isDeleted"), arguments: StoreKind.allCases)
    func `isDeleted is true from the deletion to the save`(kind: StoreKind) throws {
      try Witness.with(kind) { _, context, _ in
        let witness = Witness("a", context)
        try context.save()
        #expect(!witness.isDeleted)
        context.delete(witness)
        #expect(witness.isDeleted && !witness.isUpdated && witness.hasChanges)
        context.processPendingChanges()
        #expect(witness.isDeleted)
        try context.save()
        #expect(!witness.isDeleted && !witness.hasChanges)
      }
    }

    @Test(
      .rule("STATE-3", "NSManagedObject.changedValues()", "since the last fetch or save"),
      .rule("STATE-4", "NSManagedObject.changedValuesForCurrentEvent()", "since the last notification"),
      arguments: StoreKind.allCases)
    func `changes are counted from the last save, or from the last event`(kind: StoreKind) throws {
      try Witness.with(kind) { _, context, _ in
        let witness = Witness("a", context)
        try context.save()
        witness.name = "b"
        context.processPendingChanges()
        witness["number"] = 1
        #expect(Set(witness.changedValues().keys) == ["name", "number"])
        #expect(Set(witness.changedValuesForCurrentEvent().keys) == ["number"])
        try context.save()
        #expect(witness.changedValues().isEmpty && witness.changedValuesForCurrentEvent().isEmpty)
      }
    }

    @Test(.rule("STATE-5", "NSManagedObject.changedValues()"), arguments: StoreKind.allCases)
    func `neither tells of transient values or loads a relationship that did not change`(kind: StoreKind)
      throws
    {
      let stack = try Stack(kind)
      try stack.elsewhere { context in
        let category: Category = context.category("c")
        for title in ["a", "b"] { _ = context.item(title, category) }
        try context.save()
      }
      try stack.run { context in
        let category: Category = try #require(try context.all(Category.self, "Category").first)
        category.name = "d"
        #expect(Set(category.changedValues().keys) == ["name"])
        #expect(Set(category.changedValuesForCurrentEvent().keys) == ["name"])
        let fresh: Item = context.item("new", category)
        fresh.note = "transient"
        _ = category.changedValuesForCurrentEvent()
        #expect(
          category.hasFault(forRelationshipNamed: "items"), "a member came, the others were not looked at")
        #expect(fresh.changedValues()["note"] == nil && fresh.changedValuesForCurrentEvent()["note"] == nil)
      }
    }

    @Test(.rule("STATE-6", "NSManagedObject.committedValues(forKeys:)"), arguments: StoreKind.allCases)
    func `committed values without keys are all persistent ones, NSNull where there is none`(kind: StoreKind)
      throws
    {
      try Witness.with(kind) { _, context, _ in
        let (witness, member): (Witness, Witness) = (Witness("a", context), Witness("m", context))
        member["boss"] = witness
        try context.save()
        witness.name = "b"
        witness["note"] = "n"
        witness["members"] = NSSet()
        let committed: [String: Any] = witness.committedValues(forKeys: nil)
        #expect(Set(committed.keys) == ["name", "number", "members", "boss", "first", "second", "seen"])
        #expect(
          committed["name"] as? String == "a" && committed["boss"] is NSNull && committed["first"] is NSNull)
        #expect(committed["members"] as? NSSet == NSSet(object: member))
      }
    }

    @Test(.rule("STATE-7", "NSManagedObject.objectIDs(forRelationshipNamed:)"), arguments: StoreKind.allCases)
    func `ids of a relationship are an array, of a to-one too, and nothing is loaded for them`(
      kind: StoreKind
    ) throws {
      let stack = try Stack(kind, model: Witness.model)
      try stack.elsewhere { context in
        let boss = Witness("boss", context)
        Witness("a", context)["boss"] = boss
        try context.save()
      }
      try stack.run { context in
        let member: Witness = try #require(
          try context.all(Witness.self, "Witness", NSPredicate(format: "name == 'a'")).first)
        let ids: [NSManagedObjectID] = member.objectIDs(forRelationshipNamed: "boss")
        #expect(ids.count == 1 && member.objectIDs(forRelationshipNamed: "first").isEmpty)
        let boss: NSManagedObject = context.object(with: ids[0])
        #expect(boss.isFault)
        #expect(boss.objectIDs(forRelationshipNamed: "members") == [member.objectID])
      }
    }

    @Test(.rule("STATE-8", "NSManagedObject.hasFault(forRelationshipNamed:)"), arguments: StoreKind.allCases)
    func `asking for a relationship's fault does not fire it`(kind: StoreKind) throws {
      let stack = try Stack(kind)
      try stack.elsewhere { context in
        _ = context.item("a", context.category("c"))
        try context.save()
      }
      try stack.run { context in
        let category: Category = try #require(try context.all(Category.self, "Category").first)
        for _ in 0..<2 { #expect(category.hasFault(forRelationshipNamed: "items")) }
        #expect(category.items.count == 1 && !category.hasFault(forRelationshipNamed: "items"))
        let item: Item = try #require(category.items.first)
        _ = item.hasFault(forRelationshipNamed: "category")
        #expect(item.title == "a")
      }
    }
  }
}
