import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("Definitions of other programs in a SQLite file don't end a migration, and are not lost silently")
struct ForeignDefinitionTests {
  /// Without `age`, and with `name` by another name.
  private let second: NSManagedObjectModel = Versions.first { model in
    let person: NSEntityDescription = model.entitiesByName["Person"]!
    person.properties.removeAll { $0.name == "age" }
    let name: NSAttributeDescription = person.attributesByName["name"]!
    name.name = "fullName"
    name.renamingIdentifier = "name"
  }

  // Findings: SQLite's own text ended the migration, after a plan without a problem; a copy lost a generated
  // column that it did not list.
  @Test(
    "what SQLite would refuse makes the migration a copy, whose losses are listed",
    arguments: [
      ("CREATE VIEW BROKEN AS SELECT GONE FROM NOWHERE", "BROKEN"),
      ("ALTER TABLE ZPERSON ADD COLUMN TWICE INTEGER AS (ZAGE * 2) VIRTUAL", "TWICE"),
      (
        "CREATE TABLE X (A); CREATE TRIGGER LATE AFTER INSERT ON X BEGIN INSERT INTO NOWHERE VALUES (1); END",
        "LATE"
      ),
    ])
  func refused(_ test: (sql: String, name: String)) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Versions.execute(url, test.sql)
    let plan = try MigrationPlan(forStoreAt: url, to: second)
    #expect(plan.steps[0].statements == nil && plan.steps[0].problems == [], "\(plan)")
    let reason: String = plan.steps[0].reasonsForCopy.joined()
    #expect(reason.contains("SQLite refuses to") && reason.contains("another program"), "\(plan)")
    #expect(plan.losses.contains { $0.contains(test.name) }, "\(plan)")
    try plan.run(verifies: true)
    let count = try Versions.using(second, .sqlite, url) { context in
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
    }
    #expect(count == 3)
  }

  @Test("what SQLite takes stays in place")
  func taken() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Versions.execute(
      url, "ALTER TABLE ZPERSON ADD COLUMN LOUD VARCHAR AS (upper(ZNAME)) VIRTUAL",
      "CREATE VIEW TAGS AS SELECT ZTITLE FROM ZTAG")
    let plan = try MigrationPlan(forStoreAt: url, to: second)
    #expect(plan.steps[0].statements != nil, "\(plan)")
    try plan.run(verifies: true)
    #expect(
      try Versions.texts(url, "SELECT LOUD FROM ZPERSON ORDER BY 1") == ["PERSON 0", "PERSON 1", "PERSON 2"])
  }

  @Test("a copy carries the classes of its model", arguments: [StoreKind.sqlite])
  func classes(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder)
    let named: NSManagedObjectModel = Versions.second()
    for entity in named.entities { entity.managedObjectClassName = "Shop.\(entity.name ?? "")" }
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: named)
    try MigrationPlan(forStoreAt: url, to: named, mapping: mapping).run(verifies: true)
    let carried: NSManagedObjectModel = try #require(
      try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url))
    #expect(
      carried.entities.map { $0.managedObjectClassName ?? "" }.sorted() == [
        "Shop.Animal", "Shop.Person", "Shop.Tag",
      ])
  }
}
