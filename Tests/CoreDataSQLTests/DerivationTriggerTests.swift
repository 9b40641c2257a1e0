import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import Testing

@testable import CoreDataSQL

/// The triggers of derived attributes, as text.
@Suite struct DerivationTriggerTests {
  /// The triggers of one attribute of `entity` in a library: Book.author, Book.tags (many-to-many),
  /// Novel ← Book.
  private func triggers(
    _ entity: String, _ name: String, _ expression: String, _ type: NSAttributeType
  ) throws -> [String] {
    let model = ModelBuilder()
    model.entity("Person", attributes: ["name": .stringAttributeType])
    model.entity(
      "Book",
      attributes: [
        "title": .stringAttributeType, "pages": .integer32AttributeType, "price": .doubleAttributeType,
      ])
    model.entity("Novel", parent: "Book")
    model.entity("Tag", attributes: ["label": .stringAttributeType])
    model.inverse(
      model.relationship("books", of: "Person", to: "Book", toMany: true),
      model.relationship("author", of: "Book", to: "Person", toMany: false))
    model.inverse(
      model.relationship("tags", of: "Book", to: "Tag", toMany: true),
      model.relationship("books", of: "Tag", to: "Book", toMany: true))
    let derived = NSDerivedAttributeDescription()
    derived.name = name
    derived.attributeType = type
    derived.derivationExpression = try NSExpression(parsing: expression, arguments: [])
    model.entities[entity]!.properties.append(derived)
    let layout: ModelLayout = model.layout()
    return try AppleCreation(StoreSchema(layout: layout)).triggers(layout.derivedSlots())
  }

  @Test func `a count goes up and down with each member, and is taken once for a new owner`() throws {
    let triggers: [String] = try triggers("Person", "bookCount", "books.@count", .integer32AttributeType)
    let told =
      "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZPERSON', Z_ENT, Z_PK, 'bookCount', ZBOOKCOUNT) "
      + "FROM ZPERSON WHERE Z_PK = "
    #expect(
      triggers == [
        "CREATE TRIGGER Z_DA_ZBOOK_Person_bookCount_PARAMETER_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW "
          + "WHEN (NEW.ZAUTHOR NOT NULL) BEGIN UPDATE ZPERSON SET ZBOOKCOUNT = IFNULL(ZBOOKCOUNT, 0) + 1 "
          + "WHERE Z_PK = NEW.ZAUTHOR; \(told)NEW.ZAUTHOR; END",
        "CREATE TRIGGER Z_DA_ZBOOK_Person_bookCount_PARAMETER_UPDATE_INCREMENT AFTER UPDATE OF ZAUTHOR ON ZBOOK "
          + "FOR EACH ROW WHEN (NEW.ZAUTHOR NOT NULL) BEGIN UPDATE ZPERSON SET ZBOOKCOUNT = ZBOOKCOUNT + 1 "
          + "WHERE Z_PK = NEW.ZAUTHOR; \(told)NEW.ZAUTHOR; END",
        "CREATE TRIGGER Z_DA_ZBOOK_Person_bookCount_PARAMETER_UPDATE_DECREMENT AFTER UPDATE OF ZAUTHOR ON ZBOOK "
          + "FOR EACH ROW WHEN (OLD.ZAUTHOR NOT NULL) BEGIN UPDATE ZPERSON SET ZBOOKCOUNT = ZBOOKCOUNT - 1 "
          + "WHERE Z_PK = OLD.ZAUTHOR; \(told)OLD.ZAUTHOR; END",
        "CREATE TRIGGER Z_DA_ZBOOK_Person_bookCount_PARAMETER_DELETE AFTER DELETE ON ZBOOK FOR EACH ROW "
          + "WHEN (OLD.ZAUTHOR NOT NULL) BEGIN UPDATE ZPERSON SET ZBOOKCOUNT = ZBOOKCOUNT - 1 "
          + "WHERE Z_PK = OLD.ZAUTHOR; \(told)OLD.ZAUTHOR; END",
        "CREATE TRIGGER Z_DA_ZPERSON_Person_bookCount_SOURCE_INSERT AFTER INSERT ON ZPERSON FOR EACH ROW BEGIN "
          + "UPDATE ZPERSON SET ZBOOKCOUNT = (SELECT IFNULL(COUNT(ZAUTHOR), 0) FROM ZBOOK "
          + "WHERE ZAUTHOR = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; "
          + "SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZPERSON', Z_ENT, Z_PK, 'bookCount', "
          + "ZBOOKCOUNT) FROM ZPERSON WHERE Z_PK = NEW.Z_PK; END",
      ])
  }

  /// What a trigger does to the column, by the trigger's name without its stem.
  private func updates(_ triggers: [String]) throws -> [String: String] {
    let form = /CREATE TRIGGER Z_DA_(?<name>\w+) AFTER .* BEGIN UPDATE (?<update>.*?); SELECT/
    return try Dictionary(
      uniqueKeysWithValues: triggers.map { trigger in
        let match = try #require(trigger.firstMatch(of: form))
        return (String(match.output.name), String(match.output.update))
      })
  }

  @Test func `now() follows the object's version`() throws {
    let triggers: [String] = try triggers("Person", "saved", "now()", .dateAttributeType)
    #expect(
      triggers.count == 2 && triggers[1].contains("Z_DA_ZPERSON_Person_saved_UPDATE AFTER UPDATE OF Z_OPT"))
    #expect(
      try updates(triggers)["ZPERSON_Person_saved_UPDATE"]
        == "ZPERSON SET ZSAVED = NSCoreDataNow() WHERE Z_PK = NEW.Z_PK")
  }

  @Test func `a copy follows the row it reads and the relationship that leads there`() throws {
    let found: [String: String] = try updates(
      triggers("Book", "who", "uppercase:(author.name)", .stringAttributeType))
    let name: String = "(SELECT CLARUS_UPPERCASE(ZNAME) FROM ZPERSON WHERE Z_PK = NEW.ZAUTHOR)"
    #expect(
      found == [
        "ZBOOK_Book_who_SOURCE_INSERT": "ZBOOK SET ZWHO = \(name) WHERE Z_PK = NEW.Z_PK",
        "ZBOOK_Book_who_SOURCE_UPDATE": "ZBOOK SET ZWHO = \(name) WHERE Z_PK = NEW.Z_PK",
        "ZPERSON_Book_who_PARAMETER_INSERT":
          "ZBOOK SET ZWHO = CLARUS_UPPERCASE(NEW.ZNAME) WHERE ZAUTHOR = NEW.Z_PK",
        "ZPERSON_Book_who_PARAMETER_UPDATE":
          "ZBOOK SET ZWHO = CLARUS_UPPERCASE(NEW.ZNAME) WHERE ZAUTHOR = NEW.Z_PK",
      ])
  }

  // Finding C6: the texts of Photos' libraries, GraphNode.primaryLabelCode = primaryLabel.code.
  @Test func `a copy over a to-one has Apple's triggers`() throws {
    let triggers: [String] = try triggers("Book", "who", "author.name", .stringAttributeType)
    func call(_ function: String, _ rows: String) -> String {
      "SELECT NSCoreDataDATrigger\(function)AffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'who', ZWHO) "
        + "FROM ZBOOK WHERE \(rows); END"
    }
    let found: String = "(SELECT ZNAME FROM ZPERSON WHERE Z_PK = NEW.ZAUTHOR)"
    #expect(
      triggers == [
        "CREATE TRIGGER Z_DA_ZBOOK_Book_who_SOURCE_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW BEGIN UPDATE ZBOOK SET "
          + "ZWHO = \(found) WHERE Z_PK = NEW.Z_PK; " + call("InsertUpdated", "Z_PK = NEW.Z_PK"),
        "CREATE TRIGGER Z_DA_ZBOOK_Book_who_SOURCE_UPDATE AFTER UPDATE OF ZAUTHOR ON ZBOOK FOR EACH ROW BEGIN "
          + "UPDATE ZBOOK SET ZWHO = \(found) WHERE Z_PK = NEW.Z_PK; " + call("Updated", "Z_PK = NEW.Z_PK"),
        "CREATE TRIGGER Z_DA_ZPERSON_Book_who_PARAMETER_INSERT AFTER INSERT ON ZPERSON FOR EACH ROW BEGIN UPDATE ZBOOK "
          + "SET ZWHO = NEW.ZNAME WHERE ZAUTHOR = NEW.Z_PK; " + call("InsertUpdated", "ZAUTHOR = NEW.Z_PK"),
        "CREATE TRIGGER Z_DA_ZPERSON_Book_who_PARAMETER_UPDATE AFTER UPDATE OF ZNAME ON ZPERSON FOR EACH ROW BEGIN UPDATE "
          + "ZBOOK SET ZWHO = NEW.ZNAME WHERE ZAUTHOR = NEW.Z_PK; " + call("Updated", "ZAUTHOR = NEW.Z_PK"),
      ])
  }

  @Test func `whole numbers are added and taken away; sums of real numbers are only added to`() throws {
    let whole: [String: String] = try updates(
      triggers("Person", "total", "books.@sum.pages", .integer64AttributeType))
    #expect(
      whole["ZBOOK_Person_total_PARAMETER_UPDATE_DECREMENT"]
        == "ZPERSON SET ZTOTAL = ZTOTAL - IFNULL(OLD.ZPAGES, 0) WHERE Z_PK = OLD.ZAUTHOR")
    let real: [String: String] = try updates(
      triggers("Person", "total", "books.@sum.price", .doubleAttributeType))
    #expect(
      real["ZBOOK_Person_total_PARAMETER_INSERT"]
        == "ZPERSON SET ZTOTAL = IFNULL(ZTOTAL, 0) + IFNULL(NEW.ZPRICE, 0) WHERE Z_PK = NEW.ZAUTHOR")
    #expect(
      real["ZBOOK_Person_total_PARAMETER_DELETE"]
        == "ZPERSON SET ZTOTAL = (SELECT IFNULL(SUM(ZPRICE), 0) FROM ZBOOK WHERE ZAUTHOR = OLD.ZAUTHOR) "
        + "WHERE Z_PK = OLD.ZAUTHOR")
  }

  @Test func `a many-to-many relationship's pairs are counted, and only the sub-entity's rows are touched`()
    throws
  {
    let found: [String: String] = try updates(
      triggers("Novel", "tagCount", "tags.@count", .integer16AttributeType))
    #expect(
      found["Z_1TAGS_Novel_tagCount_PARAMETER_INSERT"]
        == "ZBOOK SET ZTAGCOUNT = IFNULL(ZTAGCOUNT, 0) + 1 WHERE Z_PK = NEW.Z_1BOOKS AND Z_ENT = 2")
    #expect(
      found["Z_1TAGS_Novel_tagCount_PARAMETER_DELETE"]
        == "ZBOOK SET ZTAGCOUNT = ZTAGCOUNT - 1 WHERE Z_PK = OLD.Z_1BOOKS AND Z_ENT = 2")
  }
}
