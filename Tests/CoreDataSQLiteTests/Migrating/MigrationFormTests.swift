import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

/// Files that differ from what Clarus writes: of other times, of one configuration, in other modes.
@Suite struct MigrationFormTests {
  private typealias Attribute = ModelSketch.Attribute
  private typealias Relation = ModelSketch.Relation
  private typealias Entity = ModelSketch.Entity

  private static let before = ModelSketch(
    Entity(
      name: "Card", attributes: [Attribute(name: "code"), Attribute(name: "suit")],
      relations: [Relation(name: "deck", to: "Deck", inverse: "cards")], unique: [["code"]]),
    Entity(
      name: "Deck", attributes: [Attribute(name: "title")],
      relations: [Relation(name: "cards", to: "Card", isMany: true, isOrdered: true, inverse: "deck")]))

  private static let after: ModelSketch = before.changed {
    $0["Card"].attributes.append(Attribute(name: "color", isOptional: false, standard: "red"))
  }

  private func change(_ url: URL, _ sql: String) throws {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
  }

  /// Migrates a file that was changed after it was filled, and compares the objects.
  private func check(
    _ before: ModelSketch, _ after: ModelSketch, _ sql: String = "",
    options: StoreOpeningOptions = StoreOpeningOptions(), isFresh: Bool = true
  ) throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let plan = SchemaPlan(source: before.layout(), target: after.layout())
    let old: StoreDump = try Migrating.make(url, plan.source, seed: 8)
    if !sql.isEmpty { try change(url, sql) }
    try Migrating.migrate(url, plan, options)
    let found: StoreDump = try Migrating.dump(url, plan.target)
    let expected: StoreDump = old.migrated(plan)
    #expect(found == expected, "\(found.differences(from: expected))")
    if isFresh { try MigrationCaseTests.expectFresh(url, plan.target, folder) }
  }

  @Test func `a table with a constraint in its definition, as in 2015, is made anew`() throws {
    try check(
      Self.before, Self.after,
      """
      ALTER TABLE ZCARD RENAME TO OLD;
      CREATE TABLE ZCARD ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDECK INTEGER, \
      Z_FOK_DECK INTEGER, ZCODE VARCHAR, ZSUIT VARCHAR, CONSTRAINT ZCODE UNIQUE (ZCODE));
      INSERT INTO ZCARD SELECT Z_PK, Z_ENT, Z_OPT, ZDECK, Z_FOK_DECK, ZCODE, ZSUIT FROM OLD;
      DROP TABLE OLD;
      CREATE INDEX ZCARD_ZDECK_INDEX ON ZCARD (ZDECK);
      """)
  }

  @Test func `indexes of former names and quoted names stay`() throws {
    try check(
      Self.before, Self.after,
      """
      DROP INDEX ZCARD_ZDECK_INDEX; CREATE INDEX ZOLD_ZDECK_INDEX ON "ZCARD" (ZDECK);
      """)
  }

  @Test func `a store without a model of its own, and one with a rollback journal`() throws {
    try check(Self.before, Self.after, "DROP TABLE Z_MODELCACHE", isFresh: false)
    try check(Self.before, Self.after, "PRAGMA journal_mode = DELETE")
  }

  @Test func `the list of entities keeps the highest keys, and new objects get others`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let after: ModelSketch = Self.after.changed { $0.entities.append(Entity(name: "Aaa")) }
    let plan = SchemaPlan(source: Self.before.layout(), target: after.layout())
    try Migrating.engine(url, plan.source).close()
    try change(url, "UPDATE Z_PRIMARYKEY SET Z_MAX = 500 WHERE Z_NAME = 'Deck'")
    try Migrating.migrate(url, plan)
    let engine: SQLiteEngine = try Migrating.engine(url, plan.target)
    defer { try? engine.close() }
    let deck: RowID = try #require(try engine.insert("Deck", [[:]]).first)
    #expect(try engine.number("SELECT max(Z_PK) FROM ZDECK") == 501, "\(deck)")
  }

  @Test func `references to objects that are gone are counted, and lead to no other object`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let before = ModelSketch(
      Entity(name: "Box", attributes: [Attribute(name: "a")], relations: [Relation(name: "next", to: "Box")]),
      Entity(name: "Cup", attributes: [Attribute(name: "b")]))
    let after: ModelSketch = before.changed {
      $0.entities.append(Entity(name: "Thing", isAbstract: true))
      $0["Box"].parent = "Thing"
      $0["Cup"].parent = "Thing"
    }
    let plan = SchemaPlan(source: before.layout(), target: after.layout())
    let engine: SQLiteEngine = try Migrating.engine(url, plan.source)
    try engine.insert("Box", Array(repeating: [:], count: 9))
    try engine.insert("Cup", Array(repeating: [:], count: 9))
    try engine.close()
    try change(url, "UPDATE ZBOX SET ZNEXT = Z_PK; DELETE FROM ZBOX WHERE Z_PK % 3 > 0")
    try change(url, "UPDATE ZBOX SET ZNEXT = 8 WHERE Z_PK = 3")
    let planned: PlannedMigration = try SQLiteKind().migrationPlan(
      at: url, plan: plan, options: StoreOpeningOptions())
    #expect(
      planned.notes == ["1 reference(s) of Box.next lead to objects that are not in the store."])
    try Migrating.migrate(url, plan)
    let migrated: SQLiteEngine = try Migrating.engine(url, plan.target)
    defer { try? migrated.close() }
    #expect(try migrated.number("SELECT count(*) FROM ZTHING a JOIN ZTHING b ON a.ZNEXT = b.Z_PK") == 2)
    #expect(try migrated.number("SELECT count(*) FROM ZTHING WHERE ZNEXT = 8") == 1)
    #expect(try migrated.number("SELECT min(Z_PK) FROM ZTHING WHERE Z_ENT = 3") == 10)
  }

  @Test func `a store of one configuration gets its entities only`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let before = ModelSketch(
      Entity(name: "Here", attributes: [Attribute(name: "a")]),
      Entity(name: "There", attributes: [Attribute(name: "b")]))
    let after: ModelSketch = before.changed {
      $0["Here"].attributes[0] = Attribute(name: "c", was: "a")
      $0["There"].attributes.append(Attribute(name: "d"))
    }
    let plan = SchemaPlan(source: before.layout(), target: after.layout())
    var own = SQLiteOptions()
    own.entityNames = ["Here"]
    let engine: SQLiteEngine = try SQLiteEngine.open(url: url, layout: plan.source, options: own)
    try engine.insert("Here", [["a": .text("x")]])
    try engine.close()
    var options = StoreOpeningOptions()
    options.entityNames = ["Here"]
    try Migrating.migrate(url, plan, options)
    let migrated: SQLiteEngine = try SQLiteEngine.open(url: url, layout: plan.target, options: own)
    defer { try? migrated.close() }
    #expect(
      try migrated.fetch(FetchPlan(entity: migrated.entity("Here"))).rows.map {
        $0.values(migrated.entity("Here"))
      } == [["c": .text("x")]])
    #expect(try migrated.number("SELECT count(*) FROM sqlite_master WHERE name = 'ZTHERE'") == 0)
  }

  @Test func `the parts of a composite attribute are columns like others`() throws {
    func model(_ names: [(name: String, was: String?)], _ composite: String) -> ModelLayout {
      let address = NSCompositeAttributeDescription()
      address.name = composite
      if composite != "address" { address.renamingIdentifier = "address" }
      address.elements = names.map { name, was in
        let element: NSAttributeDescription = attribute(name, .stringAttributeType)
        if let was { element.renamingIdentifier = was }
        return element
      }
      let person: NSEntityDescription = entity("Person")
      person.properties = [attribute("name", .stringAttributeType), address]
      let model = NSManagedObjectModel()
      model.entities = [person]
      return ModelLayout(model: model)
    }
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let plan = SchemaPlan(
      source: model([("city", nil), ("street", nil)], "address"),
      target: model([("town", "city"), ("street", nil), ("zip", nil)], "home"))
    let engine: SQLiteEngine = try Migrating.engine(url, plan.source)
    try engine.insert(
      "Person", [["name": .text("A"), "address.city": .text("Bonn"), "address.street": .text("S 1")]])
    try engine.close()
    try Migrating.migrate(url, plan)
    try MigrationCaseTests.expectFresh(url, plan.target, folder)
    let migrated: SQLiteEngine = try Migrating.engine(url, plan.target)
    defer { try? migrated.close() }
    let person: EntityLayout = migrated.entity("Person")
    #expect(
      try migrated.fetch(FetchPlan(entity: person)).rows.map { $0.values(person) } == [
        ["name": .text("A"), "home.town": .text("Bonn"), "home.street": .text("S 1")]
      ])
  }

  /// Changes that would lose values or make relationships whose sides differ: the caller copies instead.
  private static let refused: [(String, @Sendable (inout ModelSketch) -> Void)] = [
    (
      "one side of one to one comes from one to many",
      { sketch in
        sketch.removeRelation("Deck", sketch["Deck"].relations[0])
        sketch["Deck"].relations = [Relation(name: "only", to: "Card", inverse: "deck")]
        sketch["Card"].relations = [Relation(name: "deck", to: "Deck", inverse: "only")]
      }
    ),
    ("many become one", { $0["Deck"].relations[0].isMany = false }),
    (
      "the inverse of one to many is another one",
      { sketch in
        sketch["Card"].relations = [Relation(name: "stack", to: "Deck", inverse: "cards")]
        sketch["Deck"].relations[0].inverse = "stack"
      }
    ),
    ("text becomes a date", { $0["Card"].attributes[0].type = .dateAttributeType }),
    (
      "an attribute becomes a relationship",
      { sketch in
        sketch["Card"].attributes.remove(at: 1)
        sketch["Card"].relations.append(Relation(name: "suit", to: "Deck"))
      }
    ),
  ]

  @Test(arguments: refused.indices)
  func `what can't be done in place is said before, and nothing is done`(_ number: Int) throws {
    let (name, change) = Self.refused[number]
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let plan = SchemaPlan(source: Self.before.layout(), target: Self.before.changed(change).layout())
    let old: StoreDump = try Migrating.make(url, plan.source, seed: 1)
    let planned: PlannedMigration = try SQLiteKind().migrationPlan(
      at: url, plan: plan, options: StoreOpeningOptions())
    #expect(!planned.canRunInPlace, "\(name): \(planned.obstacles)")
    #expect(throws: StoreError.self, "\(name)") { try Migrating.migrate(url, plan) }
    #expect(try Migrating.dump(url, plan.source) == old, "\(name)")
  }

  @Test func `a store that is read only, of another model, or none is an explained error`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let plan = SchemaPlan(source: Self.before.layout(), target: Self.after.layout())
    let other: ModelLayout = ModelSketch(Entity(name: "Other")).layout()
    #expect(throws: StoreError.self) { try Migrating.migrate(url, plan) }
    try Migrating.engine(url, other).close()
    #expect {
      try Migrating.migrate(url, plan)
    } throws: { error in
      if case .incompatibleModel? = error as? StoreError { return true }
      return false
    }
    let kind: any StoreEngineKind = InMemoryKind()
    let planned: PlannedMigration = try kind.migrationPlan(
      at: url, plan: plan, options: StoreOpeningOptions())
    #expect(!planned.canRunInPlace)
    #expect(throws: StoreError.self) {
      try kind.migrate(
        at: url, plan: plan, options: StoreOpeningOptions(), verification: .rows, progress: { _ in })
    }
    #expect(throws: StoreError.self) {
      try Migrating.migrate(url, plan, StoreOpeningOptions(isReadOnly: true))
    }
  }

  @Test func `what a plan prints`() throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    let plan = SchemaPlan(source: Self.before.layout(), target: Self.after.layout())
    _ = try Migrating.make(url, plan.source, seed: 2, count: 3)
    let planned: PlannedMigration = try SQLiteKind().migrationPlan(
      at: url, plan: plan, options: StoreOpeningOptions())
    #expect(
      planned.description == """
        add column ZCOLOR to ZCARD (0 rows)
          ALTER TABLE ZCARD ADD COLUMN ZCOLOR VARCHAR
        fill Card.color (3 rows)
          UPDATE ZCARD SET ZCOLOR = 'red'
        write the versions of the new model's entities (1 rows)
          UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ?
        replace the model that the store carries (1 rows)
          INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)

        """)
    let narrow: ModelSketch = Self.before.changed { $0["Card"].attributes[0].type = .dateAttributeType }
    let refused: PlannedMigration = try SQLiteKind().migrationPlan(
      at: url, plan: SchemaPlan(source: plan.source, target: narrow.layout()),
      options: StoreOpeningOptions())
    #expect(
      refused.description == """
        can't be done in place:
          Card.code changes its type, and not every value fits the new one.

        """)
  }
}
