import CoreDataModel

// Changes of hierarchies, relationships and what hangs on columns.

extension MigrationCase {
  private typealias Attribute = ModelSketch.Attribute
  private typealias Relation = ModelSketch.Relation
  private typealias Entity = ModelSketch.Entity

  private static func from(
    _ before: ModelSketch, _ name: String, movesKeys: Bool = false, _ sql: [String],
    _ change: (inout ModelSketch) -> Void
  ) -> MigrationCase {
    MigrationCase(
      name: name, before: before, after: before.changed(change), sql: sql, movesKeys: movesKeys)
  }

  private static let family = ModelSketch(
    Entity(name: "Animal", attributes: [Attribute(name: "name")]),
    Entity(
      name: "Cat", parent: "Animal", attributes: [Attribute(name: "lives", type: .integer16AttributeType)]),
    Entity(
      name: "Dog", parent: "Animal", attributes: [Attribute(name: "weight", type: .doubleAttributeType)]),
    Entity(
      name: "Owner", attributes: [Attribute(name: "name")],
      relations: [Relation(name: "pet", to: "Animal"), Relation(name: "cat", to: "Cat")]))

  private static let pair = ModelSketch(
    Entity(
      name: "Author", attributes: [Attribute(name: "name")],
      relations: [
        Relation(name: "books", to: "Book", isMany: true, inverse: "authors"),
        Relation(name: "first", to: "Book"),
        Relation(name: "drafts", to: "Draft", isMany: true),
      ]),
    Entity(
      name: "Book", attributes: [Attribute(name: "title")],
      relations: [Relation(name: "authors", to: "Author", isMany: true, inverse: "books")]),
    Entity(name: "Draft", attributes: [Attribute(name: "text")]))

  private static let places = ModelSketch(
    Entity(
      name: "Place",
      attributes: [
        Attribute(name: "x", type: .doubleAttributeType), Attribute(name: "y", type: .doubleAttributeType),
        Attribute(name: "code", isOptional: false, standard: "c"),
        Attribute(name: "photo", type: .binaryDataAttributeType),
      ], relations: [Relation(name: "visits", to: "Visit", isMany: true, inverse: "place")],
      boxes: [["x", "y"]]),
    Entity(
      name: "Visit", attributes: [Attribute(name: "cost", type: .integer32AttributeType)],
      relations: [Relation(name: "place", to: "Place", inverse: "visits")]))

  private static let hand = ModelSketch(
    Entity(
      name: "Card", attributes: [Attribute(name: "code")],
      relations: [Relation(name: "deck", to: "Deck", inverse: "cards")]),
    Entity(
      name: "Deck", attributes: [Attribute(name: "title")],
      relations: [
        Relation(name: "cards", to: "Card", isMany: true, isOrdered: true, inverse: "deck"),
        Relation(name: "top", to: "Card", inverse: nil),
      ]))

  static let structural: [MigrationCase] = [
    from(
      hand, "one to many in an order becomes many to many",
      [
        "DROP INDEX ZCARD_ZDECK_INDEX",
        "CREATE TABLE Z_1DECK ( Z_1CARDS INTEGER, Z_2DECK INTEGER, Z_FOK_1CARDS INTEGER, PRIMARY "
          + "KEY (Z_1CARDS, Z_2DECK) )",
        "INSERT OR IGNORE INTO Z_1DECK (Z_1CARDS, Z_2DECK, Z_FOK_1CARDS) SELECT Z_PK, ZDECK, "
          + "Z_FOK_DECK FROM ZCARD WHERE ZDECK IS NOT NULL AND Z_ENT = 1",
        "ALTER TABLE ZCARD DROP COLUMN ZDECK",
        "ALTER TABLE ZCARD DROP COLUMN Z_FOK_DECK",
        "CREATE INDEX Z_1DECK_Z_2DECK_INDEX ON Z_1DECK (Z_2DECK, Z_1CARDS)",
      ]
    ) {
      $0["Card"].relations[0].isMany = true
    },
    from(
      hand, "one to many loses its order",
      [
        "ALTER TABLE ZCARD DROP COLUMN Z_FOK_DECK"
      ]
    ) { $0["Deck"].relations[0].isOrdered = false },
    from(
      hand, "a relationship leads to another entity",
      [
        "DROP INDEX ZDECK_ZTOP_INDEX",
        "ALTER TABLE ZDECK RENAME COLUMN ZTOP TO Z_FORMER_1",
        "CREATE TABLE ZJOKER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCODE VARCHAR )",
        "ALTER TABLE ZDECK ADD COLUMN ZTOP INTEGER",
        "ALTER TABLE ZDECK DROP COLUMN Z_FORMER_1",
        "CREATE INDEX ZDECK_ZTOP_INDEX ON ZDECK (ZTOP)",
      ]
    ) { sketch in
      sketch.entities.append(Entity(name: "Joker", attributes: [Attribute(name: "code")]))
      sketch["Deck"].relations[1].to = "Joker"
    },
    from(
      family, "a child becomes a root",
      [
        "CREATE TABLE ZDOG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZWEIGHT FLOAT )",
        "INSERT INTO ZDOG (Z_PK, Z_ENT, Z_OPT, ZWEIGHT) SELECT Z_PK, Z_ENT, Z_OPT, ZWEIGHT FROM "
          + "ZANIMAL WHERE Z_ENT = 3",
        "DELETE FROM ZANIMAL WHERE Z_ENT = 3",
        "ALTER TABLE ZANIMAL DROP COLUMN ZWEIGHT",
        "UPDATE ZOWNER SET ZPET = NULL, Z1_PET = NULL WHERE ZPET IS NOT NULL AND NOT EXISTS "
          + "(SELECT 1 FROM ZANIMAL target WHERE target.Z_PK = ZOWNER.ZPET)",
      ]
    ) { $0["Dog"].parent = nil },
    from(
      family, "a root becomes a child", movesKeys: true,
      [
        "ALTER TABLE ZANIMAL RENAME TO Z_FORMER_TABLE_1",
        "CREATE TABLE ZANIMAL ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLIVES "
          + "INTEGER, ZCAT INTEGER, ZPET INTEGER, Z1_PET INTEGER, ZWEIGHT FLOAT, ZNAME VARCHAR )",
        "INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZLIVES, ZWEIGHT, ZNAME) SELECT Z_PK, Z_ENT, "
          + "Z_OPT, ZLIVES, ZWEIGHT, ZNAME FROM Z_FORMER_TABLE_1",
        "INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZCAT, ZPET, Z1_PET, ZNAME) SELECT Z_PK + 21, "
          + "Z_ENT, Z_OPT, ZCAT, ZPET, Z1_PET, ZNAME FROM ZOWNER",
        "DROP TABLE Z_FORMER_TABLE_1",
        "DROP TABLE ZOWNER",
        "CREATE INDEX ZANIMAL_ZCAT_INDEX ON ZANIMAL (ZCAT)",
        "CREATE INDEX ZANIMAL_ZPET_INDEX ON ZANIMAL (ZPET)",
        "CREATE INDEX ZANIMAL_Z_ENT_INDEX ON ZANIMAL (Z_ENT)",
      ]
    ) {
      $0["Owner"].parent = "Animal"
      $0["Owner"].attributes = []
    },
    from(family, "an attribute goes up to the parent", []) {
      $0["Cat"].attributes = []
      $0["Animal"].attributes.append(Attribute(name: "lives", type: .integer16AttributeType))
    },
    from(
      family, "an attribute goes down to a child",
      [
        "UPDATE ZANIMAL SET ZNAME = NULL WHERE Z_ENT IN (1, 2)"
      ]
    ) {
      $0["Animal"].attributes = []
      $0["Dog"].attributes.append(Attribute(name: "name"))
    },
    from(
      family, "a new parent joins two tables", movesKeys: true,
      [
        "CREATE TABLE ZBEING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLIVES "
          + "INTEGER, ZCAT INTEGER, ZPET INTEGER, Z2_PET INTEGER, ZWEIGHT FLOAT, ZNAME VARCHAR )",
        "INSERT INTO ZBEING (Z_PK, Z_ENT, Z_OPT, ZLIVES, ZWEIGHT, ZNAME) SELECT Z_PK, Z_ENT + 1, "
          + "Z_OPT, ZLIVES, ZWEIGHT, ZNAME FROM ZANIMAL",
        "INSERT INTO ZBEING (Z_PK, Z_ENT, Z_OPT, ZCAT, ZPET, Z2_PET, ZNAME) SELECT Z_PK + 21, "
          + "Z_ENT + 1, Z_OPT, ZCAT, ZPET, Z1_PET + 1, ZNAME FROM ZOWNER",
        "DROP TABLE ZANIMAL",
        "DROP TABLE ZOWNER",
        "CREATE INDEX ZBEING_ZCAT_INDEX ON ZBEING (ZCAT)",
        "CREATE INDEX ZBEING_ZPET_INDEX ON ZBEING (ZPET)",
        "CREATE INDEX ZBEING_Z_ENT_INDEX ON ZBEING (Z_ENT)",
      ]
    ) { sketch in
      sketch.entities.append(Entity(name: "Being", isAbstract: true, attributes: [Attribute(name: "name")]))
      sketch["Animal"].parent = "Being"
      sketch["Animal"].attributes = []
      sketch["Owner"].parent = "Being"
      sketch["Owner"].attributes = []
    },
    from(
      family, "the children of a destination are removed",
      [
        "DROP INDEX ZANIMAL_Z_ENT_INDEX",
        "DROP INDEX ZOWNER_ZCAT_INDEX",
        "DELETE FROM ZANIMAL WHERE Z_ENT IN (2, 3)",
        "UPDATE ZOWNER SET Z_ENT = Z_ENT - 2",
        "ALTER TABLE ZANIMAL DROP COLUMN ZLIVES",
        "ALTER TABLE ZANIMAL DROP COLUMN ZWEIGHT",
        "ALTER TABLE ZOWNER DROP COLUMN ZCAT",
        "ALTER TABLE ZOWNER DROP COLUMN Z1_PET",
        "UPDATE ZOWNER SET ZPET = NULL WHERE ZPET IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
          + "ZANIMAL target WHERE target.Z_PK = ZOWNER.ZPET)",
      ]
    ) { sketch in
      sketch.entities.removeAll { $0.name == "Cat" || $0.name == "Dog" }
      sketch["Owner"].relations.remove(at: 1)
    },
    from(
      family, "a destination gets its first child",
      [
        "UPDATE ZANIMAL SET Z_ENT = CASE WHEN Z_ENT = 3 THEN Z_ENT + 1 ELSE Z_ENT END",
        "ALTER TABLE ZOWNER ADD COLUMN Z2_CAT INTEGER",
        "UPDATE ZOWNER SET Z1_PET = CASE WHEN Z1_PET = 3 THEN Z1_PET + 1 ELSE Z1_PET END, Z_ENT = "
          + "Z_ENT + 1",
        "UPDATE ZOWNER SET Z2_CAT = (SELECT target.Z_ENT FROM ZANIMAL target WHERE target.Z_PK = "
          + "ZOWNER.ZCAT) WHERE ZCAT IS NOT NULL AND Z2_CAT IS NULL",
      ]
    ) { sketch in
      sketch.entities.append(Entity(name: "Kitten", parent: "Cat"))
    },
    from(
      family, "an entity in the middle is renamed",
      [
        "ALTER TABLE ZANIMAL RENAME TO ZCREATURE"
      ]
    ) { $0.renameEntity("Animal", "Creature") },
    from(
      pair, "both sides of many to many are renamed",
      [
        "ALTER TABLE Z_1BOOKS RENAME TO Z_1WORKS",
        "ALTER TABLE Z_1WORKS RENAME COLUMN Z_1AUTHORS TO Z_1WRITERS",
        "ALTER TABLE Z_1WORKS RENAME COLUMN Z_2BOOKS TO Z_2WORKS",
      ]
    ) { sketch in
      sketch["Author"].relations[0] = Relation(
        name: "works", to: "Book", isMany: true, inverse: "writers", was: "books")
      sketch["Book"].relations[0] = Relation(
        name: "writers", to: "Author", isMany: true, inverse: "works", was: "authors")
    },
    from(
      pair, "a side of many to many gets an order",
      [
        "ALTER TABLE Z_1BOOKS RENAME TO Z_FORMER_TABLE_1",
        "CREATE TABLE Z_1BOOKS ( Z_1AUTHORS INTEGER, Z_2BOOKS INTEGER, Z_FOK_2BOOKS INTEGER, "
          + "PRIMARY KEY (Z_1AUTHORS, Z_2BOOKS) )",
        "INSERT OR IGNORE INTO Z_1BOOKS (Z_1AUTHORS, Z_2BOOKS) SELECT Z_1AUTHORS, Z_2BOOKS FROM "
          + "Z_FORMER_TABLE_1 WHERE Z_1AUTHORS IS NOT NULL AND Z_2BOOKS IS NOT NULL",
        "DROP TABLE Z_FORMER_TABLE_1",
        "UPDATE Z_1BOOKS SET Z_FOK_2BOOKS = fresh.place FROM (SELECT rowid AS row, 1024 + 1024 * "
          + "row_number() OVER (PARTITION BY Z_1AUTHORS ORDER BY Z_2BOOKS) AS place FROM Z_1BOOKS "
          + "WHERE Z_1AUTHORS IS NOT NULL) AS fresh WHERE fresh.row = Z_1BOOKS.rowid AND Z_FOK_2BOOKS "
          + "IS NULL",
        "CREATE INDEX Z_1BOOKS_Z_2BOOKS_INDEX ON Z_1BOOKS (Z_2BOOKS, Z_1AUTHORS)",
      ]
    ) { $0["Author"].relations[0].isOrdered = true },
    from(
      pair, "a new first entity changes all numbers",
      [
        "ALTER TABLE Z_1BOOKS RENAME TO Z_2BOOKS",
        "ALTER TABLE ZDRAFT RENAME COLUMN Z1DRAFTS TO Z2DRAFTS",
        "ALTER TABLE Z_2BOOKS RENAME COLUMN Z_1AUTHORS TO Z_2AUTHORS",
        "ALTER TABLE Z_2BOOKS RENAME COLUMN Z_2BOOKS TO Z_3BOOKS",
        "CREATE TABLE ZAA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
        "UPDATE ZAUTHOR SET Z_ENT = Z_ENT + 1",
        "UPDATE ZBOOK SET Z_ENT = Z_ENT + 1",
        "UPDATE ZDRAFT SET Z_ENT = Z_ENT + 1",
      ]
    ) { $0.entities.append(Entity(name: "Aa")) },
    from(
      pair, "a reference to one becomes many to many",
      [
        "DROP INDEX ZAUTHOR_ZFIRST_INDEX",
        "CREATE TABLE Z_1FIRST ( Z_1FIRSTOF INTEGER, Z_2FIRST INTEGER, PRIMARY KEY (Z_1FIRSTOF, "
          + "Z_2FIRST) )",
        "INSERT OR IGNORE INTO Z_1FIRST (Z_1FIRSTOF, Z_2FIRST) SELECT Z_PK, ZFIRST FROM ZAUTHOR "
          + "WHERE ZFIRST IS NOT NULL AND Z_ENT = 1",
        "ALTER TABLE ZAUTHOR DROP COLUMN ZFIRST",
        "CREATE INDEX Z_1FIRST_Z_2FIRST_INDEX ON Z_1FIRST (Z_2FIRST, Z_1FIRSTOF)",
      ]
    ) { sketch in
      sketch["Author"].relations[1] = Relation(
        name: "first", to: "Book", isMany: true, inverse: "firstOf")
      sketch["Book"].relations.append(
        Relation(name: "firstOf", to: "Author", isMany: true, inverse: "first"))
    },
    from(
      pair, "a relationship to many gets an inverse",
      [
        "ALTER TABLE ZDRAFT RENAME COLUMN Z1DRAFTS TO ZAUTHOR"
      ]
    ) { sketch in
      sketch["Author"].relations[2].inverse = "author"
      sketch["Draft"].relations = [Relation(name: "author", to: "Author", inverse: "drafts")]
    },
    from(
      pair, "a relationship to many gets an inverse to many",
      [
        "DROP INDEX ZDRAFT_Z1DRAFTS_INDEX",
        "ALTER TABLE Z_1BOOKS RENAME COLUMN Z_1AUTHORS TO Z_1AUTHORS1",
        "CREATE TABLE Z_1DRAFTS ( Z_1AUTHORS INTEGER, Z_3DRAFTS INTEGER, PRIMARY KEY (Z_1AUTHORS, "
          + "Z_3DRAFTS) )",
        "INSERT OR IGNORE INTO Z_1DRAFTS (Z_1AUTHORS, Z_3DRAFTS) SELECT Z1DRAFTS, Z_PK FROM ZDRAFT "
          + "WHERE Z1DRAFTS IS NOT NULL",
        "ALTER TABLE ZDRAFT DROP COLUMN Z1DRAFTS",
        "CREATE INDEX Z_1DRAFTS_Z_3DRAFTS_INDEX ON Z_1DRAFTS (Z_3DRAFTS, Z_1AUTHORS)",
      ]
    ) { sketch in
      sketch["Author"].relations[2].inverse = "authors"
      sketch["Draft"].relations = [
        Relation(name: "authors", to: "Author", isMany: true, inverse: "drafts")
      ]
    },
    from(
      pair, "a hidden order",
      [
        "ALTER TABLE ZDRAFT ADD COLUMN Z_FOK_1DRAFTS INTEGER",
        "UPDATE ZDRAFT SET Z_FOK_1DRAFTS = fresh.place FROM (SELECT rowid AS row, 1024 + 1024 * "
          + "row_number() OVER (PARTITION BY Z1DRAFTS ORDER BY Z_PK) AS place FROM ZDRAFT WHERE "
          + "Z1DRAFTS IS NOT NULL) AS fresh WHERE fresh.row = ZDRAFT.rowid AND Z_FOK_1DRAFTS IS NULL",
      ]
    ) { $0["Author"].relations[2].isOrdered = true },
    from(
      pair, "a relationship is removed",
      [
        "DROP TABLE Z_1BOOKS"
      ]
    ) { sketch in
      sketch.removeRelation("Author", sketch["Author"].relations[0])
    },
    from(
      places, "one to many gets an order",
      [
        "ALTER TABLE ZVISIT ADD COLUMN Z_FOK_PLACE INTEGER",
        "UPDATE ZVISIT SET Z_FOK_PLACE = fresh.place FROM (SELECT rowid AS row, 1024 + 1024 * "
          + "row_number() OVER (PARTITION BY ZPLACE ORDER BY Z_PK) AS place FROM ZVISIT WHERE ZPLACE "
          + "IS NOT NULL) AS fresh WHERE fresh.row = ZVISIT.rowid AND Z_FOK_PLACE IS NULL",
      ]
    ) { $0["Place"].relations[0].isOrdered = true },
    from(
      places, "a column of an R-tree is renamed",
      [
        "DROP TABLE Z_RT_Place_byxAndy",
        "ALTER TABLE ZPLACE RENAME COLUMN ZX TO ZLONGITUDE",
        "CREATE VIRTUAL TABLE Z_RT_Place_bylongitudeAndy USING RTREE (Z_PK INTEGER PRIMARY KEY, "
          + "ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT, ZY_MIN FLOAT, ZY_MAX FLOAT)",
        "INSERT INTO Z_RT_Place_bylongitudeAndy (Z_PK, ZLONGITUDE_MIN, ZLONGITUDE_MAX, ZY_MIN, "
          + "ZY_MAX) SELECT Z_PK, ZLONGITUDE, ZLONGITUDE, ZY, ZY FROM ZPLACE",
      ]
    ) { sketch in
      sketch["Place"].attributes[0].was = "x"
      sketch["Place"].attributes[0].name = "longitude"
      sketch["Place"].boxes = [["longitude", "y"]]
    },
    from(
      places, "an R-tree is added",
      [
        "CREATE VIRTUAL TABLE Z_RT_Visit_bycost USING RTREE (Z_PK INTEGER PRIMARY KEY, ZCOST_MIN "
          + "FLOAT, ZCOST_MAX FLOAT)",
        "INSERT INTO Z_RT_Visit_bycost (Z_PK, ZCOST_MIN, ZCOST_MAX) SELECT Z_PK, ZCOST, ZCOST FROM ZVISIT",
      ]
    ) { $0["Visit"].boxes = [["cost"]] },
    from(
      places, "derived attributes are added",
      [
        "ALTER TABLE ZPLACE ADD COLUMN ZCOUNT INTEGER",
        "ALTER TABLE ZPLACE ADD COLUMN ZTOTAL INTEGER",
        "ALTER TABLE ZPLACE ADD COLUMN ZLOW VARCHAR",
        "ALTER TABLE ZVISIT ADD COLUMN ZWHERE VARCHAR",
        "UPDATE ZPLACE SET ZCOUNT = (SELECT COUNT(*) FROM ZVISIT member WHERE member.ZPLACE = "
          + "ZPLACE.Z_PK)",
        "UPDATE ZPLACE SET ZLOW = CLARUS_LOWERCASE(ZCODE)",
        "UPDATE ZPLACE SET ZTOTAL = (SELECT IFNULL(SUM(member.ZCOST), 0) FROM ZVISIT member WHERE "
          + "member.ZPLACE = ZPLACE.Z_PK)",
        "UPDATE ZVISIT SET ZWHERE = (SELECT p0.ZCODE FROM ZPLACE p0 WHERE p0.Z_PK = ZVISIT.ZPLACE)",
      ]
    ) { sketch in
      sketch["Place"].attributes += [
        Attribute(name: "count", type: .integer64AttributeType, derivation: "visits.@count"),
        Attribute(name: "total", type: .integer64AttributeType, derivation: "visits.cost.@sum"),
        Attribute(name: "low", derivation: "lowercase:(code)"),
      ]
      sketch["Visit"].attributes.append(Attribute(name: "where", derivation: "place.code"))
    },
    from(
      places, "an index is added and a name is swapped",
      [
        "DROP TABLE Z_RT_Place_byxAndy",
        "ALTER TABLE ZPLACE RENAME COLUMN ZY TO Z_FORMER_1",
        "ALTER TABLE ZPLACE RENAME COLUMN ZX TO Z_FORMER_2",
        "ALTER TABLE ZPLACE RENAME COLUMN Z_FORMER_1 TO ZX",
        "ALTER TABLE ZPLACE RENAME COLUMN Z_FORMER_2 TO ZY",
        "CREATE INDEX Z_Place_bycode ON ZPLACE (ZCODE COLLATE BINARY ASC)",
        "CREATE VIRTUAL TABLE Z_RT_Place_byxAndy USING RTREE (Z_PK INTEGER PRIMARY KEY, ZX_MIN "
          + "FLOAT, ZX_MAX FLOAT, ZY_MIN FLOAT, ZY_MAX FLOAT)",
        "INSERT INTO Z_RT_Place_byxAndy (Z_PK, ZX_MIN, ZX_MAX, ZY_MIN, ZY_MAX) SELECT Z_PK, ZX, "
          + "ZX, ZY, ZY FROM ZPLACE",
      ]
    ) { sketch in
      sketch["Place"].attributes[0].was = "y"
      sketch["Place"].attributes[1].was = "x"
      sketch["Place"].indexed = [["code"]]
    },
    from(
      places, "large values may go to files",
      [
        "UPDATE ZPLACE SET ZPHOTO = CLARUS_TAGGED(ZPHOTO)"
      ]
    ) { $0["Place"].attributes[3].isExternal = true },
    from(
      places, "many columns are removed",
      [
        "DROP TABLE Z_RT_Place_byxAndy",
        "ALTER TABLE ZPLACE RENAME TO Z_FORMER_TABLE_1",
        "CREATE TABLE ZPLACE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPHOTO BLOB )",
        "INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZPHOTO) SELECT Z_PK, Z_ENT, Z_OPT, ZPHOTO FROM "
          + "Z_FORMER_TABLE_1",
        "DROP TABLE Z_FORMER_TABLE_1",
      ]
    ) { sketch in
      sketch["Place"].boxes = []
      sketch["Place"].attributes.removeFirst(3)
    },
  ]
}
