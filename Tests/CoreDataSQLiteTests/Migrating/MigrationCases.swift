import CoreDataModel

extension MigrationCase {
  private typealias Attribute = ModelSketch.Attribute
  private typealias Relation = ModelSketch.Relation
  private typealias Entity = ModelSketch.Entity

  private static let shop = ModelSketch(
    Entity(
      name: "Item",
      attributes: [Attribute(name: "name"), Attribute(name: "price", type: .integer32AttributeType)],
      relations: [Relation(name: "shelf", to: "Shelf", inverse: "items")]),
    Entity(
      name: "Shelf", attributes: [Attribute(name: "label")],
      relations: [Relation(name: "items", to: "Item", isMany: true, inverse: "shelf")]))

  private static func shop(
    _ name: String, _ sql: [String], movesKeys: Bool = false, _ change: (inout ModelSketch) -> Void
  ) -> MigrationCase {
    MigrationCase(name: name, before: shop, after: shop.changed(change), sql: sql, movesKeys: movesKeys)
  }

  static let all: [MigrationCase] = [
    shop("add an attribute", ["ALTER TABLE ZITEM ADD COLUMN ZCOLOR VARCHAR"]) {
      $0["Item"].attributes.append(Attribute(name: "color"))
    },
    shop(
      "add a required attribute with a default value",
      [
        "ALTER TABLE ZITEM ADD COLUMN ZCOLOR VARCHAR",
        "UPDATE ZITEM SET ZCOLOR = 'red'",
      ]
    ) { $0["Item"].attributes.append(Attribute(name: "color", isOptional: false, standard: "red")) },
    shop("remove an attribute", ["ALTER TABLE ZITEM DROP COLUMN ZPRICE"]) {
      $0["Item"].attributes.remove(at: 1)
    },
    shop("rename an attribute", ["ALTER TABLE ZITEM RENAME COLUMN ZNAME TO ZTITLE"]) {
      $0["Item"].attributes[0] = Attribute(name: "title", was: "name")
    },
    shop("require an attribute", ["UPDATE ZITEM SET ZNAME = '?' WHERE ZNAME IS NULL"]) {
      $0["Item"].attributes[0] = Attribute(name: "name", isOptional: false, standard: "?")
    },
    shop(
      "widen an attribute",
      [
        "ALTER TABLE ZITEM RENAME COLUMN ZPRICE TO Z_FORMER_1",
        "ALTER TABLE ZITEM ADD COLUMN ZPRICE FLOAT",
        "UPDATE ZITEM SET ZPRICE = Z_FORMER_1",
        "ALTER TABLE ZITEM DROP COLUMN Z_FORMER_1",
      ]
    ) { $0["Item"].attributes[1].type = .doubleAttributeType },
    shop("rename an entity", ["ALTER TABLE ZSHELF RENAME TO ZSTAND"]) {
      $0["Shelf"].was = "Shelf"
      $0["Shelf"].name = "Stand"
      $0["Item"].relations[0].to = "Stand"
    },
    shop(
      "add an entity before the others",
      [
        "CREATE TABLE ZAISLE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "UPDATE ZITEM SET Z_ENT = Z_ENT + 1",
        "UPDATE ZSHELF SET Z_ENT = Z_ENT + 1",
      ]
    ) { $0.entities.append(Entity(name: "Aisle", attributes: [Attribute(name: "name")])) },
    shop(
      "remove an entity",
      [
        "DROP INDEX ZITEM_ZSHELF_INDEX", "ALTER TABLE ZITEM DROP COLUMN ZSHELF", "DROP TABLE ZSHELF",
      ]
    ) {
      $0.entities.removeAll { $0.name == "Shelf" }
      $0["Item"].relations = []
    },
  ]
}
