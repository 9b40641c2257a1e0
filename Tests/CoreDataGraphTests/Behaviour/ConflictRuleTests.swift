import CoreData
import Foundation
import StackSupport
import Testing

extension Behaviour {
  /// Conflicts as merge policies see them.
  @Suite struct Conflicts {
    private func conflicts(_ error: NSError?) -> [Any] {
      error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [Any] ?? []
    }

    @Test(
      .rule("CONF-2", "NSMergeConflict.newVersionNumber"), .rule("CONF-3", "NSMergeConflict.objectSnapshot"),
      arguments: StoreKind.every)
    func `a deleted row has version 0, and snapshots hold attributes and to-one ids`(kind: StoreKind) throws {
      try Witness.with(kind) { stack, context, _ in
        let (witness, boss): (Witness, Witness) = (Witness("a", context), Witness("boss", context))
        witness["boss"] = boss
        try context.save()
        witness["number"] = 1
        witness["note"] = "n"
        witness["boss"] = nil
        try stack.withWitness("a") { twin, other in other.delete(twin) }
        let found: [Any] = conflicts(errorThrown { try context.save() })
        let conflict: NSMergeConflict = try #require(
          found.compactMap { $0 as? NSMergeConflict }.first { $0.sourceObject === witness })
        #expect(conflict.newVersionNumber == 0 && conflict.oldVersionNumber == 1)
        #expect(conflict.persistedSnapshot == nil)
        let names: Set<String> = ["name", "number", "boss", "first", "second", "seen"]
        #expect(Set(conflict.objectSnapshot?.keys.map { $0 } ?? []) == names, "no transient, no to-many")
        #expect(Set(conflict.cachedSnapshot?.keys.map { $0 } ?? []) == names)
        #expect(conflict.cachedSnapshot?["boss"] as? NSManagedObjectID == boss.objectID)
        #expect(conflict.objectSnapshot?["boss"] is NSNull && conflict.objectSnapshot?["number"] as? Int == 1)
      }
    }

    /// People with a unique e-mail address; employees with a unique number as well.
    private static func people() -> NSManagedObjectModel {
      let person: NSEntityDescription = World.entity(
        "Human",
        [World.attribute("email", .stringAttributeType), World.attribute("age", .integer32AttributeType)])
      let staff: NSEntityDescription = World.entity("Staff", [World.attribute("badge", .stringAttributeType)])
      person.subentities = [staff]
      person.uniquenessConstraints = [["email"]]
      staff.uniquenessConstraints = [["badge"]]
      let model = NSManagedObjectModel()
      model.entities = [person, staff]
      return model
    }

    @Test(.rule("CONF-9", "NSMergePolicy.resolve(mergeConflicts:)"), arguments: StoreKind.computing)
    func `changed rows are settled before values that must be unique`(kind: StoreKind) throws {
      final class Listing: NSMergePolicy, @unchecked Sendable {
        // Sendable: used on the context's queue only.
        var seen: [String] = []
        override func resolve(mergeConflicts list: [Any]) throws {
          seen.append(list.contains { $0 is NSMergeConflict } ? "rows" : "unique")
          try super.resolve(mergeConflicts: list)
        }
      }
      let stack = try Stack(kind, model: Self.people())
      try stack.run { context in
        let person: NSManagedObject = context.make("Human", ["email": "a", "age": 1])
        _ = context.make("Human", ["email": "b"])
        try context.save()
        try stack.elsewhere { other in
          try other.existingObject(with: person.objectID).setValue(5, forKey: "age")
          try other.save()
        }
        person.setValue(2, forKey: "age")
        _ = context.make("Human", ["email": "b"])
        let error: NSError = try #require(errorThrown { try context.save() })
        #expect(error.code == NSManagedObjectMergeError)
        let policy = Listing(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        context.mergePolicy = policy
        try context.save()
        #expect(policy.seen == ["rows", "unique"])
        #expect(try stack.count("Human") == 2)
      }
    }

    @Test(.rule("UNIQ-2", "NSConstraintConflict"), arguments: StoreKind.computing)
    func `each broken constraint is one conflict, an inherited one too`(kind: StoreKind) throws {
      let stack = try Stack(kind, model: Self.people())
      try stack.run { context in
        _ = context.make("Human", ["email": "a"])
        _ = context.make("Staff", ["email": "b", "badge": "1"])
        try context.save()
        let new: NSManagedObject = context.make("Staff", ["email": "a", "badge": "1"])
        let found: [Any] = conflicts(errorThrown { try context.save() })
        let broken: [NSConstraintConflict] = found.compactMap { $0 as? NSConstraintConflict }
        #expect(Set(broken.map(\.constraint)) == [["email"], ["badge"]])
        #expect(broken.count == 2 && broken.allSatisfy { $0.conflictingObjects == [new] })
        #expect(broken.allSatisfy { $0.databaseObject != nil })
      }
    }

    @Test(.rule("UNIQ-5", "NSEntityDescription.uniquenessConstraints"))
    func `a constraint changes the version hash`() throws {
      let (with, without): (NSManagedObjectModel, NSManagedObjectModel) = (Self.people(), Self.people())
      without.entitiesByName["Human"]?.uniquenessConstraints = []
      #expect(with.entityVersionHashesByName["Human"] != without.entityVersionHashesByName["Human"])
    }
  }
}
