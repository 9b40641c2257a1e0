import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("A plan tells what the expressions of a mapping model do, and which of them fail")
struct PlanExpressionTests {
  private let first: NSManagedObjectModel = Versions.first()
  private let second: NSManagedObjectModel = Versions.first {
    $0.entitiesByName["Person"]?.properties.append(World.attribute("code", .integer32AttributeType))
  }

  private func mapping(_ expressions: [String: String]) throws -> NSMappingModel {
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: first, destinationModel: second)
    let person = try #require(mapping.entityMappings?.first { $0.destinationEntityName == "Person" })
    for property in (person.attributeMappings ?? []) + (person.relationshipMappings ?? []) {
      guard let text = expressions[property.name ?? ""] else { continue }
      property.valueExpression = NSExpression(format: text)
    }
    return mapping
  }

  @Test("computed values are listed, and copied ones are not")
  func changes() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let plan = try MigrationPlan(
      forStoreAt: url, to: second,
      mapping: try mapping([
        "age": "$source.age * 2", "name": "uppercase:($source.name)", "code": "$source.age",
      ]))
    #expect(plan.steps[0].problems == [], "\(plan)")
    let person = try #require(plan.steps[0].entities.first { $0.destination == "Person" })
    #expect(
      Set(person.changes).isSuperset(of: [
        "age = $source.age * 2", "name = uppercase:($source.name)", "code from age",
      ]), "\(person.changes)")
    #expect(!person.changes.contains { $0.hasPrefix("pets") || $0.hasPrefix("photo") }, "\(person.changes)")
    try plan.run(verifies: true)
    let names: [String] = try Versions.using(second, .sqlite, url) { try Versions.people($0) }
    #expect(names.first?.hasPrefix("PERSON 0 0") == true && names.last?.hasPrefix("PERSON 2 4") == true)
  }

  // Finding: the plan had no problem, and the migration ended with an error.
  @Test(
    "an expression that must fail is a problem, as the migration's error says it",
    arguments: [
      ("code", "$source.agee", "agee"), ("code", "$source.name", "takes"),
      ("code", "uppercase:($source.name)", "takes"), ("age", "$source.age * 100000", "takes an integer from"),
      ("name", "FUNCTION($entityPolicy, \"code:\", $source)", "code:"),
      (
        "pets",
        "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"IEM_Copy_Pets\", $source.pets)",
        "IEM_Copy_Pets"
      ),
    ], [StoreKind.sqlite, .xml])
  func failures(_ test: (property: String, expression: String, says: String), _ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder)
    let program = try SourceModel.write([first, second], in: folder)
    let plan = try MigrationPlan(
      forStoreAt: url, to: program, mapping: try mapping([test.property: test.expression]))
    #expect(plan.steps[0].problems.count == 1, "\(plan)")
    let problem: String = plan.steps[0].problems.first ?? ""
    #expect(problem.contains(test.property) && problem.contains(test.says), "\(problem)")
    let error: String = errorThrown { try plan.run() }?.localizedDescription ?? ""
    #expect(error.contains(test.says), "\(error)")
  }

  @Test("values of which an expression makes none are told")
  func lost() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Versions.using(first, .sqlite, url) { context in
      _ = Versions.make("Person", ["name": "12"], context)
      try context.save()
    }
    let plan = try MigrationPlan(
      forStoreAt: url, to: second, mapping: try mapping(["code": "CAST($source.name, \"NSNumber\")"]))
    #expect(plan.steps[0].problems == [], "\(plan)")
    let sentence: String =
      "3 object(s) of Person have a value of name, of which CAST($source.name, \"NSNumber\") makes none for Person.code."
    #expect(plan.losses == [sentence] && !plan.warnings.contains(sentence), "\(plan)")
  }

  // Finding: plan and migration had exit status 0, and nothing said that values were cut off.
  @Test(
    "numbers that their attribute cuts off are told",
    arguments: [
      (
        "code", "$source.age / 2.0", "2 object(s) of Person: Person.code, of type Integer 32, cuts off",
        "0.5 to 0"
      ),
      ("flag", "$source.age", "1 object(s) of Person: Person.flag, of type Boolean, cuts off", "2 to yes"),
      (
        "flag", "$source.age * 1", "1 object(s) of Person: Person.flag, of type Boolean, cuts off", "2 to yes"
      ),
      (
        "ratio", "$source.age + 9007199254740992",
        "1 object(s) of Person: Person.ratio, of type Double, cuts off",
        "9007199254740993 to 9007199254740992"
      ),
      (
        "ratio", "CAST(\"0.1234567890123456789\", \"NSDecimalNumber\")",
        "3 object(s) of Person: Person.ratio, of type Double, cuts off",
        "0.1234567890123456789 to 0.12345678901234568"
      ),
      (
        "short", "$source.age + 16777216.5", "3 object(s) of Person: Person.short, of type Float, cuts off",
        "16777216.5 to 16777216"
      ),
    ], [StoreKind.sqlite, .xml])
  func cutOff(
    _ test: (property: String, expression: String, says: String, example: String), _ kind: StoreKind
  ) throws {
    let folder = try TemporaryFolder()
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(first, kind, url) { context in
      for age in [0, 1, 2, 3] where test.property == "code" || age < 3 {
        _ = Versions.make("Person", ["name": "\(age)", "age": age], context)
      }
      try context.save()
    }
    let flagged = try SourceModel.write(
      [
        first,
        Versions.first {
          $0.entitiesByName["Person"]?.properties += [
            World.attribute("code", .integer32AttributeType), World.attribute("flag", .booleanAttributeType),
            World.attribute("ratio", .doubleAttributeType), World.attribute("short", .floatAttributeType),
          ]
        },
      ], in: folder)
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: first, destinationModel: flagged)
    let person = try #require(mapping.entityMappings?.first { $0.destinationEntityName == "Person" })
    try #require(person.attributeMappings?.first { $0.name == test.property }).valueExpression =
      NSExpression(format: test.expression)
    let plan = try MigrationPlan(forStoreAt: url, to: flagged, mapping: mapping)
    #expect(plan.steps[0].problems == [], "\(plan)")
    let told: [String] = plan.losses.filter { $0.hasPrefix(test.says) }
    #expect(told.count == 1 && told.first?.contains(test.example) == true, "\(plan)")
    #expect(errorThrown { try plan.run(verifies: true) } != nil, "Verification compares what was computed.")
    try plan.run()
  }

  @Test("what an expression reads in a condition only is not lost")
  func condition() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let small = Versions.first {
      $0.entitiesByName["Person"]?.properties.removeAll { $0.name == "age" }
    }
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: first, destinationModel: small)
    let person = try #require(mapping.entityMappings?.first { $0.destinationEntityName == "Person" })
    #expect(try MigrationPlan(forStoreAt: url, to: small, mapping: mapping).losses == ["Person.age"])
    try #require(person.attributeMappings?.first { $0.name == "name" }).valueExpression =
      NSExpression(format: "TERNARY($source.age > 1, $source.name, \"young\")")
    #expect(try MigrationPlan(forStoreAt: url, to: small, mapping: mapping).losses == [])
  }

  // Finding: the verification evaluated the expression once more, and found another value.
  @Test("verification takes expressions that yield other values each time")
  func unrepeatable() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let dated = Versions.first {
      $0.entitiesByName["Person"]?.properties += [
        World.attribute("code", .integer32AttributeType), World.attribute("day", .dateAttributeType),
      ]
    }
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: first, destinationModel: dated)
    let person = try #require(mapping.entityMappings?.first { $0.destinationEntityName == "Person" })
    for (name, text) in [("code", "randomn:(1000000)"), ("day", "now()")] {
      try #require(person.attributeMappings?.first { $0.name == name }).valueExpression =
        NSExpression(format: text)
    }
    try MigrationPlan(forStoreAt: url, to: dated, mapping: mapping).run(verifies: true)
    let count: Int = try Versions.using(dated, .sqlite, url) { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "day != nil AND code != nil")
      return try context.count(for: request)
    }
    #expect(count == 3)
  }

  // Finding: the mapping model was passed over, and the plan said that the store has this model already.
  @Test("a mapping model between versions of equal hashes is refused", arguments: [StoreKind.sqlite, .xml])
  func equalHashes(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder)
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: first, destinationModel: first)
    let person = try #require(mapping.entityMappings?.first { $0.destinationEntityName == "Person" })
    try #require(person.attributeMappings?.first { $0.name == "name" }).valueExpression =
      NSExpression(format: "uppercase:($source.name)")
    let error: String =
      errorThrown { _ = try MigrationPlan(forStoreAt: url, to: first, mapping: mapping) }?
      .localizedDescription
      ?? ""
    #expect(error.contains("has the version hashes") && error.contains("hash modifier"), "\(error)")
    // One that leads to the version from another one was used already.
    let other: NSMappingModel = try .inferredMappingModel(forSourceModel: second, destinationModel: first)
    #expect(try !MigrationPlan(forStoreAt: url, to: first, mapping: other).isNeeded)
  }

  @Test("of two mapping models for the same versions the plan names both")
  func rivals() throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([first, second], in: folder)
    for name in ["A", "B"] {
      try Versions.writeCoding(name, from: first, to: second, uncoded: first, in: folder)
    }
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    func rivals(_ plan: MigrationPlan) -> [String] {
      plan.warnings.filter { $0.contains("Several mapping models") }
    }
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(rivals(plan).count == 1, "\(plan)")
    #expect(rivals(plan).first?.contains("A.cdm is taken") == true, "\(plan)")
    #expect(
      rivals(plan).first?.contains("B.cdm. ") == true
        && rivals(plan).first?.hasPrefix("Several mapping models lead from Shop 1 to Shop 2: ") == true,
      "\(plan)")
    let given = NSMappingModel(contentsOf: folder.file("B.cdm"))
    #expect(rivals(try MigrationPlan(forStoreAt: url, to: program, mapping: given)) == [])
  }

  // Finding: the mapping model was passed over without its name, and the step was inferred.
  @Test(
    "a mapping model beside the model that can't be read is named",
    arguments: ["Broken.cdm", "Broken.xcmappingmodel"])
  func unreadable(_ name: String) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([first, second], in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Data("broken".utf8).write(to: folder.file(name))
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps[0].isInferred && plan.steps[0].problems == [], "\(plan)")
    #expect(plan.warnings.count { $0.contains("is passed over") && $0.contains(name) } == 1, "\(plan)")
  }

  @Test("a copy that loses tables of other programs is no way back with all values")
  func wayBack() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Versions.execute(url, "CREATE TABLE OTHER (A)")
    let plan = try MigrationPlan(forStoreAt: url, to: second, mapping: try mapping([:]))
    #expect(plan.losses.contains { $0.contains("OTHER") })
    #expect(plan.obstaclesToReturn.contains { $0.contains("OTHER") } && !"\(plan)".contains("Way back:"))
  }
}
