import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import Testing

@testable import CoreDataSQL

@Suite struct AppleCreationTests {
  @Test func `a fresh store has Apple's tables, columns and order`() {
    #expect(
      AppleCreation(TestModel.schema).tables() == [
        "CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPAGES INTEGER, "
          + "ZAUTHOR INTEGER, ZTITLE VARCHAR, ZGENRE VARCHAR )",
        "CREATE TABLE ZCHAPTER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBOOK INTEGER, "
          + "Z1_BOOK INTEGER, Z_FOK_BOOK INTEGER, ZTITLE VARCHAR )",
        "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, "
          + "ZISACTIVE INTEGER, ZBOSS INTEGER, ZBORN TIMESTAMP, ZSCORE FLOAT, ZFEE DECIMAL, ZNAME VARCHAR, "
          + "ZNICK VARCHAR, ZSITE VARCHAR, ZUID BLOB, ZSECRET BLOB, ZPHOTO BLOB )",
        "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z4FAVORITES INTEGER, "
          + "ZLABEL VARCHAR )",
      ])
  }

  @Test func `join tables name keys after the relationship that leads to them`() {
    #expect(
      AppleCreation(TestModel.schema).joinTables() == [
        "CREATE TABLE Z_4TAGS ( Z_4PEOPLE INTEGER, Z_5TAGS INTEGER, Z_FOK_5TAGS INTEGER, "
          + "PRIMARY KEY (Z_4PEOPLE, Z_5TAGS) )",
        "CREATE TABLE Z_4FRIENDS ( Z_4FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_4FRIENDS, REFLEXIVE) )",
      ])
  }

  @Test func `every key and every shared table has its index`() {
    #expect(
      AppleCreation(TestModel.schema).indexes() == [
        "CREATE INDEX ZBOOK_ZAUTHOR_INDEX ON ZBOOK (ZAUTHOR)",
        "CREATE INDEX ZBOOK_Z_ENT_INDEX ON ZBOOK (Z_ENT)",
        "CREATE INDEX ZCHAPTER_ZBOOK_INDEX ON ZCHAPTER (ZBOOK)",
        "CREATE INDEX ZPERSON_ZBOSS_INDEX ON ZPERSON (ZBOSS)",
        "CREATE INDEX ZTAG_Z4FAVORITES_INDEX ON ZTAG (Z4FAVORITES)",
        "CREATE INDEX Z_4TAGS_Z_5TAGS_INDEX ON Z_4TAGS (Z_5TAGS, Z_4PEOPLE)",
        "CREATE INDEX Z_4FRIENDS_REFLEXIVE_INDEX ON Z_4FRIENDS (REFLEXIVE, Z_4FRIENDS)",
      ])
  }

  @Test func `indexes of the model keep its spelling`() throws {
    let model = ModelBuilder()
    let car: NSEntityDescription = model.entity(
      "Car",
      attributes: [
        "maker": .stringAttributeType, "plate": .stringAttributeType, "year": .integer32AttributeType,
        "latitude": .doubleAttributeType, "longitude": .doubleAttributeType,
      ])
    car.attributesByName["maker"]!.isIndexed = true
    car.compoundIndexes = [["maker", "year"]]
    car.uniquenessConstraints = [["plate"]]
    let recent = NSFetchIndexDescription(
      name: "recent",
      elements: [
        NSFetchIndexElementDescription(property: car.attributesByName["year"]!, collationType: .binary)
      ])
    recent.elements[0].isAscending = false
    recent.partialIndexPredicate = try NSPredicate(
      parsing: "maker == \"O'Hara\" AND year > 1990", arguments: [])
    let place = NSFetchIndexDescription(
      name: "place",
      elements: ["latitude", "longitude"].map {
        NSFetchIndexElementDescription(property: car.attributesByName[$0]!, collationType: .rTree)
      })
    car.indexes = [recent, place]
    let indexes: [String] = AppleCreation(try StoreSchema(layout: model.layout())).indexes()
    #expect(
      indexes == [
        "CREATE INDEX Z_Car_recent ON ZCAR (ZYEAR COLLATE BINARY DESC) "
          + "WHERE (ZMAKER = 'O''Hara' AND ZYEAR > 1990)",
        "CREATE VIRTUAL TABLE Z_RT_Car_place USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, "
          + "ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)",
        "CREATE TRIGGER Z_RT_Car_place_INSERT AFTER INSERT ON ZCAR FOR EACH ROW BEGIN INSERT OR REPLACE "
          + "INTO Z_RT_Car_place (Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX) VALUES "
          + "(NEW.Z_PK, NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE) ; END",
        "CREATE TRIGGER Z_RT_Car_place_UPDATE AFTER UPDATE ON ZCAR FOR EACH ROW BEGIN "
          + "DELETE FROM Z_RT_Car_place WHERE Z_PK = NEW.Z_PK ; "
          + "INSERT INTO Z_RT_Car_place (Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX) VALUES "
          + "(NEW.Z_PK, NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE) ; END",
        "CREATE TRIGGER Z_RT_Car_place_DELETE AFTER DELETE ON ZCAR FOR EACH ROW BEGIN "
          + "DELETE FROM Z_RT_Car_place WHERE Z_PK = OLD.Z_PK ; END",
        "CREATE INDEX Z_Car_maker ON ZCAR (ZMAKER COLLATE BINARY ASC)",
        "CREATE INDEX Z_Car_maker_year ON ZCAR (ZMAKER COLLATE BINARY ASC, ZYEAR COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_Car_UNIQUE_plate ON ZCAR (ZPLATE COLLATE BINARY ASC)",
      ])
  }

  // Finding C5: the words of Apple's files (Photos' libraries, the index of visual search).
  @Test(arguments: [
    ("a != -1", "ZA <> -1"), ("a == nil", "ZA IS NULL"), ("owner != nil", "ZOWNER IS NOT NULL"),
    ("a == -1 AND b != -1", "(ZA = -1 AND ZB <> -1)"), ("a == YES", "ZA = 1"),
    ("a == nil AND b == 0 AND (a <> 0 OR b == 0)", "(ZA IS NULL AND ZB = 0 AND (ZA <> 0 OR ZB = 0))"),
    ("name == \"O'Hara\" OR a >= 2", "(ZNAME = 'O''Hara' OR ZA >= 2)"),
  ])
  func `the condition of a partial index is spelt as Apple's`(format: String, sql: String) throws {
    let model = ModelBuilder()
    let thing: NSEntityDescription = model.entity(
      "Thing",
      attributes: [
        "a": .integer32AttributeType, "b": .integer32AttributeType, "name": .stringAttributeType,
      ])
    model.entity("Owner")
    model.relationship("owner", of: "Thing", to: "Owner", toMany: false)
    let index = NSFetchIndexDescription(
      name: "some",
      elements: [
        NSFetchIndexElementDescription(property: thing.attributesByName["a"]!, collationType: .binary)
      ])
    index.partialIndexPredicate = try NSPredicate(parsing: format, arguments: [])
    thing.indexes = [index]
    let indexes: [String] = AppleCreation(try StoreSchema(layout: model.layout())).indexes()
    #expect(
      indexes.last == "CREATE INDEX Z_Thing_some ON ZTHING (ZA COLLATE BINARY ASC) WHERE \(sql)", "\(format)")
  }

  // Finding C4, C7: as Photos' libraries have them; a compound index beside a fetch index over the same says
  // nothing more.
  @Test func `computed columns are the object's own, and old forms beside fetch indexes make none`() throws {
    let model = ModelBuilder()
    let asset: NSEntityDescription = model.entity(
      "Asset", attributes: ["kind": .integer32AttributeType, "date": .dateAttributeType])
    func computed(_ text: String) throws -> NSFetchIndexElementDescription {
      let expression = NSExpressionDescription()
      expression.name = "expression1"
      expression.expression = try NSExpression(parsing: text, arguments: [])
      return NSFetchIndexElementDescription(property: expression, collationType: .binary)
    }
    func plain(_ name: String) -> NSFetchIndexElementDescription {
      NSFetchIndexElementDescription(property: asset.attributesByName[name]!, collationType: .binary)
    }
    let both = NSFetchIndexDescription(name: "both", elements: [plain("kind"), plain("date")])
    both.elements[1].isAscending = false
    asset.indexes = [
      NSFetchIndexDescription(name: "forAll", elements: [plain("date"), try computed("SELF")]),
      NSFetchIndexDescription(name: "byKind", elements: [plain("kind"), try computed("entity")]), both,
    ]
    asset.compoundIndexes = [["kind", "date"]]
    #expect(
      AppleCreation(try StoreSchema(layout: model.layout())).indexes() == [
        "CREATE INDEX Z_Asset_forAll ON ZASSET (ZDATE COLLATE BINARY ASC, Z_PK COLLATE BINARY ASC)",
        "CREATE INDEX Z_Asset_byKind ON ZASSET (ZKIND COLLATE BINARY ASC, Z_ENT COLLATE BINARY ASC)",
        "CREATE INDEX Z_Asset_both ON ZASSET (ZKIND COLLATE BINARY ASC, ZDATE COLLATE BINARY DESC)",
      ])
  }

  // Finding C3: Apple's models ask for the tree by a transient attribute whose user info names what
  // it is made of.
  @Test(arguments: ["latitude, longitude" as any Sendable, ["latitude", "longitude"] as any Sendable])
  func `a location attribute makes an R-tree with triggers`(parts: any Sendable) throws {
    let model = ModelBuilder()
    let asset: NSEntityDescription = model.entity(
      "Asset",
      attributes: [
        "latitude": .doubleAttributeType, "longitude": .doubleAttributeType, "place": .undefinedAttributeType,
      ])
    asset.attributesByName["place"]!.isTransient = true
    asset.attributesByName["place"]!.userInfo = ["_NSLocationAttributeDerivedComponents": parts]
    let sql: [String] = AppleCreation(try StoreSchema(layout: model.layout())).indexes()
    #expect(sql.count == 4)
    #expect(
      sql.first == "CREATE VIRTUAL TABLE Z_RT_Asset_place USING RTREE (Z_PK INTEGER PRIMARY KEY, "
        + "ZLATITUDE_MIN FLOAT, ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)")
  }

  @Test func `an R-tree belongs to an entity by its name, in which only ASCII letters have no case`() {
    #expect(RTree.isTree("Z_RT_Asset_place", of: "Asset"))
    #expect(RTree.isTree("z_rt_ASSET_place", of: "Asset"))
    #expect(RTree.isTree("Z_RT_STRAßE_place", of: "Straße"))
    #expect(!RTree.isTree("Z_RT_STRASSE_place", of: "Straße"))
    #expect(!RTree.isTree("Z_RT_Assets_place", of: "Asset"))
  }

  @Test func `an index said twice, or over a lone to-one, is made once`() throws {
    let model = ModelBuilder()
    let car: NSEntityDescription = model.entity("Car", attributes: ["maker": .stringAttributeType])
    model.entity("Owner")
    model.relationship("owner", of: "Car", to: "Owner", toMany: false)
    car.attributesByName["maker"]!.isIndexed = true
    car.compoundIndexes = [["maker"]]
    car.indexes = ["maker", "owner"].map { name in
      NSFetchIndexDescription(
        name: "by\(name)",
        elements: [
          NSFetchIndexElementDescription(property: car.propertiesByName[name]!, collationType: .binary)
        ])
    }
    #expect(
      AppleCreation(try StoreSchema(layout: model.layout())).indexes() == [
        "CREATE INDEX ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)",
        "CREATE INDEX Z_Car_bymaker ON ZCAR (ZMAKER COLLATE BINARY ASC)",
      ])
  }

  @Test func `each entity has a row in Z_PRIMARYKEY, sub-entities with their parent's number`() {
    let rows: [[SQLValue]] = AppleCreation(TestModel.schema).primaryKeyRows().map(\.bindings)
    #expect(
      rows == [
        [.integer(1), .text("Book"), .integer(0)], [.integer(2), .text("Novel"), .integer(1)],
        [.integer(3), .text("Chapter"), .integer(0)], [.integer(4), .text("Person"), .integer(0)],
        [.integer(5), .text("Tag"), .integer(0)],
      ])
  }

  @Test func `equal names in one table are numbered, fixed columns and bookkeeping tables stay clear`() throws
  {
    let model = ModelBuilder()
    model.entity("Note", isAbstract: true, attributes: ["_pk": .stringAttributeType])
    model.entity("A", parent: "Note", attributes: ["text": .stringAttributeType])
    model.entity("B", parent: "Note", attributes: ["text": .stringAttributeType])
    model.entity("_PrimaryKey", attributes: ["text": .stringAttributeType])
    let tables: [TableSchema] = try StoreSchema(layout: model.layout()).tables
    #expect(tables.map(\.name) == ["ZNOTE", "Z_PRIMARYKEY1"])
    #expect(tables[0].columns.map(\.name) == ["Z_PK1", "ZTEXT", "ZTEXT1"])
  }

  @Test func `names that are no plain words are quoted`() throws {
    let model = ModelBuilder()
    model.entity(
      "select", attributes: ["a\"b; DROP TABLE x": .stringAttributeType, "größe": .integer16AttributeType])
    let schema = try StoreSchema(layout: model.layout())
    #expect(
      AppleCreation(schema).tables() == [
        "CREATE TABLE ZSELECT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \"ZGRÖSSE\" INTEGER, "
          + "\"ZA\"\"B; DROP TABLE X\" VARCHAR )"
      ])
    #expect(SQLiteIdentifier.quoted("select") == "\"select\"")
    #expect(SQLiteIdentifier.quoted("1a") == "\"1a\"")
    #expect(SQLiteIdentifier.quoted("") == "\"\"")
    #expect(SQLiteIdentifier.quoted("a\0b") == "\"a\u{FFFD}b\"")
  }
}
