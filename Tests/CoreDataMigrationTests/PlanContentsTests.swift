import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Makes an object, and drops it again with all that is not saved.
final class ResettingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    if sInstance.value(forKey: "name") as? String == "person 1" { manager.destinationContext.reset() }
  }
}

@Suite("A plan knows what in the contents ends the migration")
struct PlanContentsTests {
  private func person(_ change: @escaping (NSEntityDescription) -> Void) -> NSManagedObjectModel {
    Versions.first { change($0.entitiesByName["Person"]!) }
  }

  @Test(
    "values that rules of the new model refuse end a copy, and are told of a migration in place",
    arguments: [StoreKind.sqlite, .xml, .binary])
  func rules(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder)
    // Ages are 0, 1, 2; names are "person 0" and so on.
    let noted = person { $0.properties.append(World.attribute("note", .stringAttributeType)) }
    let version: NSManagedObjectModel = try SourceModel.write([Versions.first(), noted], in: folder)
    for person in version.entities where person.name == "Person" {
      person.attributesByName["age"]?.setValidationPredicates(
        [NSPredicate(format: "SELF >= 1"), NSPredicate(format: "SELF <= 9")], withValidationWarnings: [])
      person.attributesByName["name"]?.setValidationPredicates(
        [NSPredicate(format: "SELF MATCHES 'person [0-1]'")], withValidationWarnings: [])
    }
    let sentences: [String] = [
      "1 object(s) have a value that the new Person.age refuses: it does not satisfy SELF >= 1.",
      "1 object(s) have a value that the new Person.name refuses: it does not satisfy SELF MATCHES",
    ]
    let plan = try MigrationPlan(forStoreAt: url, to: version)
    let isCopied: Bool = plan.steps[0].statements == nil
    #expect(isCopied == (kind != .sqlite))
    let told: [String] = isCopied ? plan.steps[0].problems : plan.warnings
    for sentence in sentences { #expect(told.contains { $0.hasPrefix(sentence) }, "\(told)") }
    #expect(told.count == 2 && (isCopied ? plan.warnings : plan.steps[0].problems) == [], "\(plan)")
    if isCopied {
      let error = errorThrown { try plan.run() }
      #expect(error?.localizedDescription.contains("2 of the objects would not be valid") == true)
    } else {
      try plan.run(verifies: true)
      #expect(try Versions.using(version, kind, url) { try Versions.people($0).count } == 3)
    }
  }

  @Test("what both models require and an object lacks ends a copy", arguments: [true, false])
  func lacking(isAttribute: Bool) throws {
    let folder = try TemporaryFolder()
    let first = Versions.first { $0.entitiesByName["Pet"]?.relationshipsByName["owner"]?.isOptional = false }
    let url: URL = folder.file("store.sqlite")
    try Versions.using(first, .sqlite, url) { context in
      let person = Versions.make("Person", ["name": "person"], context)
      Versions.make("Pet", ["name": "pet"], context).setValue(person, forKey: "owner")
      try context.save()
    }
    try Versions.execute(
      url, isAttribute ? "UPDATE ZPERSON SET ZNAME = NULL" : "UPDATE ZPET SET ZOWNER = NULL")
    let second = Versions.first {
      $0.entitiesByName["Pet"]?.relationshipsByName["owner"]?.isOptional = false
      $0.entitiesByName["Tag"]?.versionHashModifier = "2"
    }
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: first, destinationModel: second)
    let plan = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
    let place: String = isAttribute ? "Person have no value of name" : "Pet have no value of owner"
    #expect(plan.steps[0].problems.contains { $0.hasPrefix("1 object(s) of \(place)") }, "\(plan)")
    #expect(errorThrown { try plan.run() } != nil)
    // In place nothing is validated.
    let inPlace = try MigrationPlan(forStoreAt: url, to: second)
    #expect(inPlace.steps[0].statements != nil && inPlace.steps[0].problems == [])
    try inPlace.run()
  }

  // Finding: the plan said nothing, and the migration ended with SQLite's own text.
  @Test("several objects without a unique value can't all get the default one", arguments: [false, true])
  func defaults(isCopied: Bool) throws {
    let folder = try TemporaryFolder()
    func version(isOptional: Bool) -> NSManagedObjectModel {
      person { person in
        person.uniquenessConstraints = [["age"]]
        person.attributesByName["age"]?.isOptional = isOptional
        person.attributesByName["age"]?.defaultValue = isOptional ? nil : 7
      }
    }
    let url: URL = folder.file("store.sqlite")
    try Versions.using(version(isOptional: true), .sqlite, url) { context in
      for name in ["a", "b"] { _ = Versions.make("Person", ["name": name], context) }
      try context.save()
    }
    let second: NSManagedObjectModel = version(isOptional: false)
    let mapping: NSMappingModel? =
      isCopied
      ? try .inferredMappingModel(forSourceModel: version(isOptional: true), destinationModel: second) : nil
    let plan = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
    #expect(isCopied == (plan.steps[0].statements == nil))
    #expect(plan.steps[0].problems.count == 1)
    #expect(plan.steps[0].problems.first?.contains("Person") == true, "\(plan)")
    let text: String = errorThrown { try plan.run() }?.localizedDescription ?? ""
    #expect(text.contains("age") && !text.contains("UNIQUE"), "\(text)")
  }

  @Test("a column of another program that has the name of a new one makes the migration a copy")
  func foreignColumn() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Versions.execute(url, "ALTER TABLE ZPERSON ADD COLUMN ZNOTE VARCHAR")
    let version = person { $0.properties.append(World.attribute("note", .stringAttributeType)) }
    let plan = try MigrationPlan(forStoreAt: url, to: version)
    #expect(plan.steps[0].reasonsForCopy.joined().contains("has a column ZNOTE"), "\(plan)")
    #expect(plan.losses.joined().contains("ZNOTE"), "\(plan)")
    try plan.run(verifies: true)
    #expect(try Versions.using(version, .sqlite, url) { try Versions.people($0).count } == 3)
  }

  @Test("bytes that are no text, and data in place of a text, end a copy", arguments: [true, false])
  func texts(isText: Bool) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Versions.execute(
      url, "UPDATE ZPERSON SET ZNAME = \(isText ? "CAST(x'61FF' AS TEXT)" : "x'6162'") WHERE ZAGE = 1")
    let version = person { $0.versionHashModifier = "2" }
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: version)
    let plan = try MigrationPlan(forStoreAt: url, to: version, mapping: mapping)
    let reason: String = isText ? "bytes that are not UTF-8 text" : "2 bytes, which is none of its type"
    #expect(plan.steps[0].problems.contains { $0.contains("name") && $0.contains(reason) }, "\(plan)")
    let text: String = errorThrown { try plan.run() }?.localizedDescription ?? ""
    #expect(text.contains(reason), "\(text)")
    // In place the bytes stay.
    try MigrationPlan(forStoreAt: url, to: version).run(verifies: true)
    #expect(
      try Versions.texts(url, "SELECT count(*) FROM ZPERSON WHERE hex(ZNAME) IN ('61FF', '6162')") == ["1"])
  }

  // Finding: the errors named objects by temporary ids, and an internal mapping.
  @Test(
    "the error of a copy names store, entity and values", arguments: [StoreKind.xml, .binary], [false, true])
  func names(_ kind: StoreKind, isAbstract: Bool) throws {
    let folder = try TemporaryFolder()
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(Versions.first(), kind, url) { context in
      for title in ["x", "x", "y"] { _ = Versions.make("Tag", ["title": title], context) }
      try context.save()
    }
    let program = try SourceModel.write([Versions.first(), Versions.first()], in: folder)
    for tag in program.entities where tag.name == "Tag" {
      tag.isAbstract = isAbstract
      tag.uniquenessConstraints = isAbstract ? [] : [["title"]]
      tag.versionHashModifier = "2"
    }
    let text: String =
      errorThrown { try MigrationPlan(forStoreAt: url, to: program).run() }?.localizedDescription ?? ""
    #expect(text.hasPrefix("The store \(url.path) "), "\(text)")
    #expect(
      text.contains(
        isAbstract
          ? "Tag is abstract in the new model, but the store has 3 object(s) of it."
          : "several objects of Tag would have the same title (title = x), which is to be unique."), "\(text)"
    )
    #expect(!text.contains("/t1") && !text.contains("IEM_"), "\(text)")
  }

  @Test("a policy that resets the destination context can't lose objects")
  func reset() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let version = person { $0.versionHashModifier = "2" }
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: version)
    let person = try #require(mapping.entityMappings?.first { $0.sourceEntityName == "Person" })
    person.mappingType = .customEntityMappingType
    person.entityMigrationPolicyClassName = "CoreDataMigrationTests.ResettingPolicy"
    let bytes: Data = try Data(contentsOf: url)
    let error = errorThrown { try MigrationPlan(forStoreAt: url, to: version, mapping: mapping).run() }
    #expect(error?.localizedDescription.contains("has reset the destination context") == true)
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test("files of a migration that was killed at its very end are removed by the next one")
  func leftovers() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let name: String = url.lastPathComponent
    let staging: URL = folder.file(".\(name).migration")
    try FileManager.default.createDirectory(at: staging, withIntermediateDirectories: false)
    try Data("left".utf8).write(to: staging.appendingPathComponent("1"))
    try Data().write(to: folder.file(".\(name).migrating"))
    let plan = try MigrationPlan(forStoreAt: url, to: Versions.first())
    #expect(!plan.isNeeded)
    try plan.run()
    let left: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(!left.contains { $0.contains(".migrati") }, "\(left)")
  }
}
