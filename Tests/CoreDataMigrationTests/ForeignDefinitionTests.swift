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

  // Finding: the index could not be read any more, and the plan named it as not of the model only.
  @Test(
    "the plan warns of a full-text index that reads what gets another name",
    arguments: ["fts4(content=\"ZPERSON\", ZNAME)", "fts5(ZNAME, content=ZPERSON, content_rowid=Z_PK)"])
  func fullText(_ module: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Versions.execute(
      url, "CREATE VIRTUAL TABLE WORDS USING \(module)", "CREATE VIRTUAL TABLE OTHER USING fts5(A)",
      "INSERT INTO WORDS(WORDS) VALUES ('rebuild')")
    func warnings(_ plan: MigrationPlan) -> [String] { plan.warnings.filter { $0.contains("afterwards") } }
    let plan = try MigrationPlan(forStoreAt: url, to: second)
    #expect(plan.steps[0].statements != nil && plan.steps[0].problems == [], "\(plan)")
    #expect(warnings(plan).count == 1, "\(plan)")
    #expect(
      warnings(plan).first?.hasPrefix("The full-text index WORDS of another program can't be read") == true)
    let other = Versions.first { $0.entitiesByName["Person"]!.properties.removeAll { $0.name == "age" } }
    #expect(warnings(try MigrationPlan(forStoreAt: url, to: other)) == [])
  }

  // Finding: "Please report it, with both models."
  @Test("a trigger that changes rows during the migration is named")
  func trigger() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Versions.execute(
      url, "CREATE TRIGGER CLEANER AFTER UPDATE ON Z_METADATA BEGIN DELETE FROM ZTAG; END")
    let plan = try MigrationPlan(forStoreAt: url, to: second)
    let error: String = errorThrown { try plan.run(verifies: true) }?.localizedDescription ?? ""
    #expect(error.contains("drop CLEANER") && !error.contains("report"), "\(error)")
    #expect(try Versions.texts(url, "SELECT ZTITLE FROM ZTAG").count == 3)
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
