import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("Relationships that become required, or get other numbers of members")
struct MemberNumberTests {
  private static let kinds: [StoreKind] = [.sqlite, .xml, .binary]

  private func pets(_ change: @escaping (NSRelationshipDescription) -> Void) -> NSManagedObjectModel {
    Versions.first { change($0.entitiesByName["Person"]!.relationshipsByName["pets"]!) }
  }

  /// Ada has two pets, Ben has none.
  private func store(_ kind: StoreKind, in folder: TemporaryFolder, benHasPets: Bool) throws -> URL {
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(Versions.first(), kind, url) { context in
      for (name, count) in [("Ada", 2), ("Ben", benHasPets ? 1 : 0)] {
        let person = Versions.make("Person", ["name": name], context)
        person.setValue(
          NSOrderedSet(array: (0..<count).map { Versions.make("Pet", ["name": "\(name) \($0)"], context) }),
          forKey: "pets")
      }
      try context.save()
    }
    return url
  }

  // Finding: "f == nil: to-many key not allowed here" where every object had members.
  @Test("a required relationship without a minimum takes all objects", arguments: kinds)
  func noMinimum(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try store(kind, in: folder, benHasPets: false)
    let second = try SourceModel.write([Versions.first(), pets { $0.isOptional = false }], in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: second)
    #expect(plan.steps[0].problems == [] && plan.steps[0].conditions == [], "\(plan)")
    #expect((plan.steps[0].statements != nil) == (kind == .sqlite))
    try plan.run(verifies: true)
    let people = try Versions.using(second, kind, url) { try Versions.people($0) }
    #expect(people.count == 2)
  }

  @Test("a minimum is counted by the plan and kept by the migration", arguments: kinds, [false, true])
  func minimum(_ kind: StoreKind, isMet: Bool) throws {
    let folder = try TemporaryFolder()
    let url: URL = try store(kind, in: folder, benHasPets: isMet)
    let changed = pets {
      $0.isOptional = false
      $0.minCount = 1
    }
    let second = try SourceModel.write([Versions.first(), changed], in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: second)
    #expect(plan.steps[0].conditions == ["Every Person must have at least 1 of 'pets'."], "\(plan)")
    if isMet {
      #expect(plan.steps[0].problems == [])
      try plan.run(verifies: true)
      return
    }
    #expect(
      plan.steps[0].problems == [
        "1 object(s) of Person have another number of pets. Every Person must have at least 1 of 'pets'. Change them with the "
          + "version that the store has, or the limits in the new one."
      ], "\(plan)")
    let bytes: Data = try Data(contentsOf: url)
    #expect(errorThrown { try plan.run() }?.localizedDescription.contains("pets") == true)
    #expect(try Data(contentsOf: url) == bytes)
  }

  /// The new side of a relationship that had no inverse gets its objects through the other one.
  @Test("a new side that is required is counted through the other side", arguments: kinds, [false, true])
  func newSide(_ kind: StoreKind, isToMany: Bool) throws {
    let folder = try TemporaryFolder()
    func version(_ hasInverse: Bool) -> NSManagedObjectModel {
      Versions.first { model in
        let (pet, tag) = (model.entitiesByName["Pet"]!, model.entitiesByName["Tag"]!)
        World.pair(
          pet, "marks", isToMany ? .one : .many, .nullifyDeleteRule, tag, "marked", isToMany ? .many : .one,
          .nullifyDeleteRule)
        tag.relationshipsByName["marked"]!.isOptional = false
        tag.relationshipsByName["marked"]!.minCount = 1
        if hasInverse { return }
        pet.relationshipsByName["marks"]!.inverseRelationship = nil
        tag.properties.removeAll { $0.name == "marked" }
      }
    }
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(version(false), kind, url) { context in
      let pet = Versions.make("Pet", ["name": "pet"], context)
      let tag = Versions.make("Tag", ["title": "used"], context)
      _ = Versions.make("Tag", ["title": "unused"], context)
      pet.setValue(isToMany ? tag : NSSet(object: tag), forKey: "marks")
      try context.save()
    }
    let program = try SourceModel.write([version(false), version(true)], in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps[0].problems.count == 1, "\(plan)")
    #expect(plan.steps[0].problems.first?.hasPrefix("1 object(s) of Tag have") == true, "\(plan)")
    #expect(errorThrown { try plan.run() } != nil)
    try Versions.using(version(false), kind, url) { context in
      let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
      for tag in tags where tag.value(forKey: "title") as? String == "unused" { context.delete(tag) }
      try context.save()
    }
    try MigrationPlan(forStoreAt: url, to: program).run(verifies: true)
    let marked: Int = try Versions.using(program, kind, url) { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
      request.predicate = NSPredicate(format: isToMany ? "marked.@count == 1" : "marked != nil")
      return try context.count(for: request)
    }
    #expect(marked == 1)
  }

  @Test("a new required relationship without a known other side", arguments: kinds)
  func wholeNew(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try store(kind, in: folder, benHasPets: true)
    let changed = Versions.first { model in
      let (person, tag) = (model.entitiesByName["Person"]!, model.entitiesByName["Tag"]!)
      World.pair(person, "home", .one, .nullifyDeleteRule, tag, "homes", .many, .nullifyDeleteRule)
      person.relationshipsByName["home"]!.isOptional = false
    }
    let second = try SourceModel.write([Versions.first(), changed], in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: second)
    #expect(plan.steps[0].problems.count == 1, "\(plan)")
    #expect(
      plan.steps[0].problems.first?.hasPrefix("2 object(s) of Person have no value for home") == true,
      "\(plan)")
    #expect(errorThrown { try plan.run() } != nil)
  }

  @Test("a mapping model that copies to a required relationship is counted too", arguments: kinds)
  func mapped(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(Versions.first(), kind, url) { context in
      _ = Versions.make("Pet", ["name": "stray"], context)
      try context.save()
    }
    func version(isOptional: Bool) -> NSManagedObjectModel {
      Versions.first { $0.entitiesByName["Pet"]!.relationshipsByName["owner"]!.isOptional = isOptional }
    }
    let program = try SourceModel.write(
      [version(isOptional: true), version(isOptional: false)], in: folder)
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: version(isOptional: true), destinationModel: program)
    let plan = try MigrationPlan(forStoreAt: url, to: program, mapping: mapping)
    #expect(
      plan.steps[0].problems.first?.hasPrefix(
        "1 object(s) of Pet have no value of owner, from which Pet.owner is made, and the new model does not allow that"
      ) == true, "\(plan)")
    #expect(errorThrown { try plan.run() } != nil)
  }
}
