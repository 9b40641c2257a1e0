import CoreData
import CoreDataMigration
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("A plan copies the objects on trial, and finds what ends the migration")
struct DryRunTests {
  private static let kinds: [StoreKind] = [.sqlite, .xml, .binary]

  /// `A` and `B`, with a name each.
  private func version(
    and further: [NSEntityDescription] = [],
    _ change: (_ a: NSEntityDescription, _ b: NSEntityDescription) -> Void
  ) -> NSManagedObjectModel {
    let a = World.entity("A", [World.attribute("name", .stringAttributeType)])
    let b = World.entity("B", [World.attribute("name", .stringAttributeType)])
    change(a, b)
    let model = NSManagedObjectModel()
    model.entities = [a, b] + further
    for entity in model.entities { entity.managedObjectClassName = nil }
    return model
  }

  private func pair(
    _ first: (NSEntityDescription, String), _ second: (NSEntityDescription, String), isOneToOne: Bool = true
  ) {
    World.pair(
      first.0, first.1, .one, .nullifyDeleteRule, second.0, second.1, isOneToOne ? .one : .many,
      .nullifyDeleteRule)
  }

  /// Plans and runs; whatever the plan says, the migration does, and a refused one leaves the file.
  private func expectAgreement(
    _ url: URL, to model: NSManagedObjectModel, mapping: NSMappingModel? = nil, says text: String,
    errorSays: String? = nil
  ) throws {
    let bytes: Data = try Data(contentsOf: url)
    let plan = try MigrationPlan(forStoreAt: url, to: model, mapping: mapping)
    #expect(plan.steps[0].problems.count == 1, "\(plan)")
    #expect(plan.steps[0].problems.first?.contains(text) == true, "\(plan)")
    let error: String = errorThrown { try plan.run() }?.localizedDescription ?? ""
    #expect(
      error.contains(errorSays ?? text) && (mapping != nil || !error.contains("expression")), "\(error)")
    #expect(try Data(contentsOf: url) == bytes)
  }

  // Finding: the plan had no problem, and the migration blamed a value expression of an inferred mapping.
  @Test(
    "an object that several have can't have a new inverse to one", arguments: kinds,
    [(false, false), (false, true), (true, false), (true, true)])
  func sharedObject(_ kind: StoreKind, _ test: (hadInverse: Bool, isRequired: Bool)) throws {
    let folder = try TemporaryFolder()
    let first = version { a, b in
      pair((a, "b"), (b, "all"), isOneToOne: false)
      if test.hadInverse { return }
      a.relationshipsByName["b"]!.inverseRelationship = nil
      b.properties.removeAll { $0.name == "all" }
    }
    let second = version { a, b in
      pair((a, "b"), (b, "only"))
      b.relationshipsByName["only"]!.isOptional = !test.isRequired
    }
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(first, kind, url) { context in
      let shared = Versions.make("B", ["name": "shared"], context)
      for name in ["one", "two"] { _ = Versions.make("A", ["name": name, "b": shared], context) }
      try context.save()
    }
    let program = try SourceModel.write([first, second], in: folder)
    try expectAgreement(
      url, to: program, says: "1 object(s) of B are at the end of b of several objects",
      errorSays: "A.b can't be set for")
  }

  // Finding: "has the inverse … in place of …" was among what is lost, and nothing was.
  @Test(
    "a relationship that moves to the parent keeps its objects, and is not told as lost", arguments: kinds)
  func movedToParent(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    func model(movesUp: Bool) -> NSManagedObjectModel {
      let parent = World.entity("Parent", [World.attribute("title", .stringAttributeType)])
      return version(and: [parent]) { a, b in
        parent.subentities = [a]
        pair((movesUp ? parent : a, "b"), (b, "all"), isOneToOne: false)
      }
    }
    let (first, second) = (model(movesUp: false), model(movesUp: true))
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(first, kind, url) { context in
      let b = Versions.make("B", ["name": "b"], context)
      for name in ["one", "two"] { _ = Versions.make("A", ["name": name, "b": b], context) }
      try context.save()
    }
    let program = try SourceModel.write([first, second], in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.losses == [] && plan.steps[0].problems == [], "\(plan)")
    try plan.run(verifies: true)
    let counts: [Int] = try Versions.using(program, kind, url) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "B")).map {
        $0.mutableSetValue(forKey: "all").count
      }
    }
    #expect(counts == [2])
  }

  @Test("inverses that are exchanged", arguments: kinds)
  func exchangedInverses(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let first = version { a, b in
      pair((a, "x"), (b, "p"))
      pair((a, "y"), (b, "q"))
    }
    let second = version { a, b in
      pair((a, "x"), (b, "q"))
      pair((a, "y"), (b, "p"))
    }
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(first, kind, url) { context in
      let objects = (0..<2).map { Versions.make("B", ["name": "b \($0)"], context) }
      _ = Versions.make("A", ["name": "a", "x": objects[0], "y": objects[1]], context)
      try context.save()
    }
    let program = try SourceModel.write([first, second], in: folder)
    try expectAgreement(url, to: program, says: "A.x can't be set for")
  }

  private static let computed:
    [(expression: String, change: @Sendable (NSAttributeDescription) -> Void, says: String)] = [
      (
        "TERNARY($source.age > 0, $source.age, nil)", { $0.isOptional = false },
        "code is required, and 1 object"
      ),
      (
        "$source.age * 100",
        { $0.setValidationPredicates([NSPredicate(format: "SELF <= 100")], withValidationWarnings: ["x"]) },
        "code"
      ),
      ("TERNARY($source.age > 0, 7, 8)", { $0.entity.uniquenessConstraints = [["code"]] }, "code"),
    ]

  @Test("computed values that the new model does not allow", arguments: 0..<3, kinds)
  func computedValues(_ number: Int, _ kind: StoreKind) throws {
    let test = Self.computed[number]
    let folder = try TemporaryFolder()
    let first: NSManagedObjectModel = Versions.first()
    let optional = Versions.first {
      $0.entitiesByName["Person"]!.properties.append(World.attribute("code", .integer32AttributeType))
    }
    let second: NSManagedObjectModel = try SourceModel.write([first, optional], in: folder)
    test.change(try #require(second.entitiesByName["Person"]?.attributesByName["code"]))
    let url: URL = try Versions.makeStore(kind, in: folder)
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: first, destinationModel: optional)
    let person = try #require(mapping.entityMappings?.first { $0.destinationEntityName == "Person" })
    person.destinationEntityVersionHash = second.entityVersionHashesByName["Person"]
    let code = try #require(person.attributeMappings?.first { $0.name == "code" })
    code.valueExpression = NSExpression(format: test.expression)
    try expectAgreement(url, to: second, mapping: mapping, says: test.says)
  }
}
