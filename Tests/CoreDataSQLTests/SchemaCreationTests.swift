import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import Testing

@testable import CoreDataSQL

@Suite struct SchemaCreationTests {
  @Test func `a fresh store has Apple's tables, columns and order`() {
    #expect(
      SchemaCreation(TestModel.schema).tables() == [
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
      SchemaCreation(TestModel.schema).joinTables() == [
        "CREATE TABLE Z_4TAGS ( Z_4PEOPLE INTEGER, Z_5TAGS INTEGER, Z_FOK_5TAGS INTEGER, "
          + "PRIMARY KEY (Z_4PEOPLE, Z_5TAGS) )",
        "CREATE TABLE Z_4FRIENDS ( Z_4FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_4FRIENDS, REFLEXIVE) )",
      ])
  }

  @Test func `every key and every shared table has its index`() {
    #expect(
      SchemaCreation(TestModel.schema).indexes() == [
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
    let indexes: [String] = SchemaCreation(try StoreSchema(layout: model.layout())).indexes()
    #expect(
      indexes == [
        "CREATE INDEX Z_Car_recent ON ZCAR (ZYEAR COLLATE BINARY DESC) WHERE ZMAKER = 'O''Hara' AND ZYEAR > 1990",
        "CREATE VIRTUAL TABLE Z_RT_Car_place USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, "
          + "ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)",
        "CREATE TRIGGER Z_RT_Car_place_INSERT AFTER INSERT ON ZCAR FOR EACH ROW BEGIN INSERT OR REPLACE INTO "
          + "Z_RT_Car_place SELECT NEW.Z_PK, NEW.ZLATITUDE, NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE WHERE "
          + "NEW.Z_ENT IN (1) AND NEW.ZLATITUDE IS NOT NULL AND NEW.ZLONGITUDE IS NOT NULL; END",
        "CREATE TRIGGER Z_RT_Car_place_UPDATE AFTER UPDATE OF ZLATITUDE, ZLONGITUDE ON ZCAR FOR EACH ROW BEGIN "
          + "DELETE FROM Z_RT_Car_place WHERE Z_PK = OLD.Z_PK; INSERT OR REPLACE INTO Z_RT_Car_place SELECT NEW.Z_PK, "
          + "NEW.ZLATITUDE, NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE WHERE NEW.Z_ENT IN (1) AND NEW.ZLATITUDE IS "
          + "NOT NULL AND NEW.ZLONGITUDE IS NOT NULL; END",
        "CREATE TRIGGER Z_RT_Car_place_DELETE AFTER DELETE ON ZCAR FOR EACH ROW BEGIN DELETE FROM Z_RT_Car_place "
          + "WHERE Z_PK = OLD.Z_PK; END",
        "CREATE INDEX Z_Car_maker ON ZCAR (ZMAKER COLLATE BINARY ASC)",
        "CREATE INDEX Z_Car_maker_year ON ZCAR (ZMAKER COLLATE BINARY ASC, ZYEAR COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_Car_UNIQUE_plate ON ZCAR (ZPLATE COLLATE BINARY ASC)",
      ])
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
      SchemaCreation(try StoreSchema(layout: model.layout())).indexes() == [
        "CREATE INDEX ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)",
        "CREATE INDEX Z_Car_bymaker ON ZCAR (ZMAKER COLLATE BINARY ASC)",
      ])
  }

  @Test func `each entity has a row in Z_PRIMARYKEY, sub-entities with their parent's number`() {
    let rows: [[SQLValue]] = SchemaCreation(TestModel.schema).primaryKeyRows().map(\.bindings)
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
      SchemaCreation(schema).tables() == [
        "CREATE TABLE ZSELECT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \"ZGRÖSSE\" INTEGER, "
          + "\"ZA\"\"B; DROP TABLE X\" VARCHAR )"
      ])
    #expect(SQLIdentifier.quoted("select") == "\"select\"")
    #expect(SQLIdentifier.quoted("1a") == "\"1a\"")
    #expect(SQLIdentifier.quoted("") == "\"\"")
    #expect(SQLIdentifier.quoted("a\0b") == "\"a\u{FFFD}b\"")
  }
}
