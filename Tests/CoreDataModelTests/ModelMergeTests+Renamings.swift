import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelEditing

// What one side renamed, in what the other side says of it.
extension ModelMergeTests {
  /// The note of the base under another name.
  private static func renamed(_ note: String) -> String {
    note.replacing("<entity name=\"Note\"", with: "<entity name=\"Memo\"")
      .replacing("syncable=\"YES\">", with: "syncable=\"YES\" elementID=\"Note\">")
  }
  private static let noteRenamed: Edit = [
    (note, renamed(note)), ("<element name=\"Note\"", "<element name=\"Memo\""),
  ]
  private static func before(_ text: String, _ added: String) -> (String, String) { (text, added + text) }
  private static let index: String = "        <fetchIndex name"

  static let renamings: [Case] = [
    Case(
      name: "an entity, and a relationship that leads to it", ours: noteRenamed,
      theirs: [before(index, relationship("zNotes", to: "Note"))],
      merged: noteRenamed + [before(index, relationship("zNotes", to: "Memo"))]),
    Case(
      name: "an entity, and a fetch request, a configuration and a parent", ours: noteRenamed,
      theirs: [
        before("    <elements>", requested("Note")),
        (
          "    <entity name=\"Shop\" representedClassName",
          "    <entity name=\"Shop\" parentEntity=\"Note\" representedClassName"
        ),
      ],
      merged: noteRenamed + [
        before("    <elements>", requested("Memo")),
        (
          "    <entity name=\"Shop\" representedClassName",
          "    <entity name=\"Shop\" parentEntity=\"Memo\" representedClassName"
        ),
      ]),
    Case(
      name: "an attribute, and an index, a constraint and a predicate",
      ours: titleRenamed("name"),
      theirs: [indexes(of: "title", requests: "title BEGINSWITH 'title'")],
      merged: titleRenamed("name") + [indexes(of: "name", requests: "name BEGINSWITH 'title'")]),
    Case(
      name: "a relationship, and a path of a predicate",
      ours: shopRenamed, theirs: [before("    <elements>", requested("Item", "shop.name = 'x'"))],
      merged: shopRenamed + [before("    <elements>", requested("Item", "store.name = 'x'"))]),
    Case(
      name: "two attributes that exchange their names, and an index over one of them",
      ours: exchanged, theirs: [before(index, fetchIndex("title"))],
      merged: exchanged + [before(index, fetchIndex("count"))]),
    Case(
      name: "one entity by both, and a relationship that leads to it",
      ours: noteRenamed,
      theirs: [
        (
          "<entity name=\"Note\" representedClassName=\"Note\"",
          "<entity name=\"Page\" representedClassName=\"Note\" elementID=\"Note\""
        ),
        ("<element name=\"Note\"", "<element name=\"Page\""),
        before(index, relationship("zNotes", to: "Page")),
      ],
      merged: noteRenamed + [before(index, relationship("zNotes", to: "Memo"))],
      conflicts: [
        "Memo: both renamed this: it was \"Note\", ours is \"Memo\", theirs \"Page\": ours stays; to take theirs, rename "
          + "it with `clarus model set MODEL Memo --rename Page`"
      ]),
    Case(
      name: "an attribute whose name something new has, which the other side changed",
      ours: titleRenamed("name").map { old, new in
        (
          old,
          old == title
            ? "\(new)\n        <attribute name=\"title\" optional=\"YES\" attributeType=\"Date\"/>" : new
        )
      },
      theirs: [(title, title.replacing(" optional=\"YES\"", with: ""))],
      merged: titleRenamed("name").map { old, new in
        (
          old,
          old == title
            ? "\(new.replacing(" optional=\"YES\"", with: ""))\n        <attribute name=\"title\" optional=\"YES\" attributeType=\"Date\"/>"
            : new
        )
      },
      conflicts: [
        "Item.name: ours gave \"title\" the name \"name\", and its name to something new: what theirs did to \"title\" is taken for "
          + "\"name\"; to take it for the new one, make it anew"
      ]),
    Case(
      name: "an attribute, to the name of one that was removed for it, which the other side changed",
      ours: [(count, "")] + titleRenamed("count"),
      theirs: [(count, count.replacing(" optional=\"YES\"", with: ""))],
      merged: [(count, "")] + titleRenamed("count"),
      conflicts: [
        "Item.count (of the base): ours removed this, and theirs changed it: it stays removed; to take theirs, copy it "
          + "from their file"
      ]),
    Case(
      name: "an attribute, to the name of one that was removed for it, and an index over that one",
      ours: [(count, "")] + titleRenamed("count"),
      theirs: [before(index, fetchIndex("count"))], merged: [(count, "")] + titleRenamed("count"),
      conflicts: [
        "Item.added: the two edits don't go together: an index or a constraint of Item names 'count', which is not "
          + "there: theirs added this, and it is left out as in ours; to take theirs, add it anew with what it needs"
      ]),
    Case(
      name: "an attribute there, to the name of one that was removed for it",
      ours: [before(index, fetchIndex("title"))], theirs: [(count, "")] + titleRenamed("count"),
      merged: [(count, "")] + titleRenamed("count") + [before(index, fetchIndex("count"))]),
    Case(
      name: "an attribute there, to the name of one that was removed for it, which our side changed",
      ours: [(count, count.replacing(" optional=\"YES\"", with: ""))],
      theirs: [(count, "")] + titleRenamed("count"),
      merged: [(count, count.replacing(" optional=\"YES\"", with: ""))],
      conflicts: [
        "Item.title: theirs renamed this to \"count\", and ours has another part of that name: it stays \"title\" as in "
          + "ours; to take theirs, give the other one another name, then `clarus model set MODEL Item.title --rename "
          + "count`",
        "Item.count: theirs removed this, and ours changed it: ours stays; remove it to take theirs",
      ]),
    Case(
      name:
        "an attribute there, to the name of one that was removed for it; here removed, and the other changed",
      ours: [(count, count.replacing(" optional=\"YES\"", with: "")), (title, ""), (titleIndex, "")],
      theirs: [(count, "")] + titleRenamed("count"),
      merged: [(count, count.replacing(" optional=\"YES\"", with: "")), (title, ""), (titleIndex, "")],
      conflicts: [
        "Item.title: ours removed this, and theirs renamed it to \"count\": it stays removed; to take theirs, copy it from "
          + "their file",
        "Item.count: theirs removed this, and ours changed it: ours stays; remove it to take theirs",
      ]),
    Case(
      name: "an entity by both, here to the name of one that was removed for it",
      ours: [
        (note, ""), (noteLayout, ""), (shopRelationship, ""),
        (
          "<entity name=\"Shop\" representedClassName=\"Shop\" syncable=\"YES\">",
          "<entity name=\"Note\" representedClassName=\"Shop\" syncable=\"YES\" elementID=\"Shop\">"
        ), (shopItems, ""), ("<element name=\"Shop\"", "<element name=\"Note\""),
      ],
      theirs: [
        (
          "<entity name=\"Shop\" representedClassName=\"Shop\" syncable=\"YES\">",
          "<entity name=\"Store\" representedClassName=\"Shop\" syncable=\"YES\" elementID=\"Shop\">"
        ), (shopRelationship, shopRelationship.replacing("\"Shop\"", with: "\"Store\"")),
        ("<element name=\"Shop\"", "<element name=\"Store\""),
      ],
      merged: [
        (note, ""), (noteLayout, ""), (shopRelationship, ""),
        (
          "<entity name=\"Shop\" representedClassName=\"Shop\" syncable=\"YES\">",
          "<entity name=\"Note\" representedClassName=\"Shop\" syncable=\"YES\" elementID=\"Shop\">"
        ), (shopItems, ""), ("<element name=\"Shop\"", "<element name=\"Note\""),
      ],
      conflicts: [
        "Note: both renamed this: it was \"Shop\", ours is \"Note\", theirs \"Store\": ours stays; to take theirs, rename "
          + "it with `clarus model set MODEL Note --rename Store`"
      ]),
    Case(
      name: "an entity, whose new name the other side gives to a new one", ours: noteRenamed,
      theirs: [
        before(
          "    <entity name=\"Note\"",
          "    <entity name=\"Memo\" representedClassName=\"Memo\" syncable=\"YES\"/>\n")
      ],
      merged: noteRenamed + [
        before(
          "    <entity name=\"Shop\"",
          "    <entity name=\"Memo2\" representedClassName=\"Memo2\" syncable=\"YES\"/>\n")
      ],
      conflicts: [
        "Memo2: theirs added this as \"Memo\", which is the name that ours gave to \"Note\": choose its name with "
          + "`clarus model set MODEL Memo2 --rename NAME`"
      ]),
    Case(
      name: "an entity and its class, to the name of one that our side added",
      ours: [before("    <entity name=\"Note\"", added("Memo"))],
      theirs: [
        (note, renamed(note).replacing("Name=\"Note\"", with: "Name=\"Memo\"")),
        ("<element name=\"Note\"", "<element name=\"Memo\""),
        before(index, relationship("zNotes", to: "Memo")),
      ],
      merged: [
        before("    <entity name=\"Note\"", added("Memo")), before(index, relationship("zNotes", to: "Note")),
      ],
      conflicts: [
        "Note: theirs renamed this to \"Memo\", and ours has another part of that name: it stays \"Note\" as in ours; "
          + "to take theirs, give the other one another name, then `clarus model set MODEL Note --rename Memo`"
      ]),
    Case(
      name: "an attribute, to the name of a relationship that our side added",
      ours: [before(index, relationship("zLabel", to: "Note"))], theirs: titleRenamed("zLabel"),
      merged: [before(index, relationship("zLabel", to: "Note"))],
      conflicts: [
        "Item.title: theirs renamed this to \"zLabel\", and ours has another part of that name: it stays \"title\" as in "
          + "ours; to take theirs, give the other one another name, then `clarus model set MODEL Item.title --rename "
          + "zLabel`"
      ]),
    Case(
      name: "two entities to one name, one by each side", ours: noteRenamed,
      theirs: [
        (
          "<entity name=\"Shop\" representedClassName=\"Shop\" syncable=\"YES\"",
          "<entity name=\"Memo\" representedClassName=\"Shop\" syncable=\"YES\" elementID=\"Shop\""
        ),
        ("destinationEntity=\"Shop\"", "destinationEntity=\"Memo\""),
        ("inverseEntity=\"Shop\"", "inverseEntity=\"Memo\""),
        ("<element name=\"Shop\"", "<element name=\"Memo\""),
      ],
      merged: noteRenamed,
      conflicts: [
        "Shop: theirs renamed this to \"Memo\", and ours has another part of that name: it stays \"Shop\" as in ours; "
          + "to take theirs, give the other one another name, then `clarus model set MODEL Shop --rename Memo`"
      ]),
    Case(
      name: "two entities in a row, to the name of one that our side added",
      ours: [before("    <entity name=\"Note\"", added("Memo"))],
      theirs: [
        (note, renamed(note)),
        ("<element name=\"Note\"", "<element name=\"Memo\""),
        (
          "<entity name=\"Shop\" representedClassName=\"Shop\" syncable=\"YES\"",
          "<entity name=\"Note\" representedClassName=\"Shop\" syncable=\"YES\" elementID=\"Shop\""
        ),
        ("destinationEntity=\"Shop\"", "destinationEntity=\"Note\""),
        ("inverseEntity=\"Shop\"", "inverseEntity=\"Note\""),
        ("<element name=\"Shop\"", "<element name=\"Note\""),
      ],
      merged: [before("    <entity name=\"Note\"", added("Memo"))],
      conflicts: [
        "Note: theirs renamed this to \"Memo\", and ours has another part of that name: it stays \"Note\" as in ours; "
          + "to take theirs, give the other one another name, then `clarus model set MODEL Note --rename Memo`",
        "Shop: theirs renamed this to \"Note\", and that name is not free then: it stays \"Shop\" as in ours; to take "
          + "theirs, give the other one another name, then `clarus model set MODEL Shop --rename Note`",
      ]),
  ]

  private static func added(_ name: String) -> String {
    "    <entity name=\"\(name)\" representedClassName=\"\(name)\" syncable=\"YES\"/>\n"
  }

  private static func relationship(_ name: String, to entity: String) -> String {
    "        <relationship name=\"\(name)\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Nullify\" destinationEntity=\"\(entity)\"/>\n"
  }
  private static func requested(_ entity: String, _ predicate: String = "text = 'Note'") -> String {
    """
        <fetchRequest name="All" entity="\(entity)" predicateString="\(predicate)"/>
        <configuration name="Some">
            <memberEntity name="\(entity)"/>
        </configuration>

    """
  }
  private static func titleRenamed(_ name: String) -> Edit {
    [
      (title, "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"String\" elementID=\"title\"/>"),
      ("property=\"title\"", "property=\"\(name)\""),
    ]
  }
  private static func fetchIndex(_ property: String) -> String {
    """
            <fetchIndex name="added">
                <fetchIndexElement property="\(property)" type="Binary" order="ascending"/>
            </fetchIndex>

    """
  }
  private static func indexes(of property: String, requests predicate: String) -> (String, String) {
    before(
      "    <elements>",
      """
          <entity name="Item2" parentEntity="Item" syncable="YES">
              <fetchIndex name="added" partialIndexPredicate="\(property) != 'x'">
                  <fetchIndexElement property="\(property)" type="Binary" order="ascending"/>
              </fetchIndex>
              <uniquenessConstraints>
                  <uniquenessConstraint>
                      <constraint value="\(property)"/>
                  </uniquenessConstraint>
              </uniquenessConstraints>
          </entity>
          <fetchRequest name="All" entity="Item" predicateString="\(predicate)"/>

      """)
  }
  private static let shopRenamed: Edit = [
    (
      shopRelationship,
      shopRelationship.replacing("name=\"shop\"", with: "name=\"store\"")
        .replacing("inverseEntity=\"Shop\"", with: "inverseEntity=\"Shop\" elementID=\"shop\"")
    ),
    ("inverseName=\"shop\"", "inverseName=\"store\""),
  ]
  private static let exchanged: Edit = [
    (
      count + "        " + title,
      "        <attribute name=\"title\" optional=\"YES\" attributeType=\"Integer 16\" elementID=\"count\"/>\n"
        + "        <attribute name=\"count\" optional=\"YES\" attributeType=\"String\" elementID=\"title\"/>"
    ),
    ("property=\"title\"", "property=\"count\""),
  ]

  @Test(arguments: renamings)
  func `what the other side says of a renamed part follows the new name`(example: Case) throws {
    let (base, ours, theirs): (ModelDocument, ModelDocument, ModelDocument) = (
      try Self.document([]), try Self.document(example.ours), try Self.document(example.theirs)
    )
    let expected: ModelDocument = try Self.document(example.merged)
    let result = ModelMerge.merge(base: base, ours: ours, theirs: theirs)
    #expect(
      String(decoding: result.document.data, as: UTF8.self) == String(decoding: expected.data, as: UTF8.self))
    #expect(result.conflicts.map(\.description) == example.conflicts)
    // The other way around too.
    let mirrored = ModelMerge.merge(base: base, ours: theirs, theirs: ours)
    #expect(mirrored.conflicts.isEmpty == example.conflicts.isEmpty, "\(mirrored.conflicts)")
    if example.conflicts.isEmpty {
      func lines(_ document: ModelDocument) -> [String] {
        String(decoding: document.data, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
      }
      #expect(lines(mirrored.document) == lines(expected))
    }
  }

  /// One side renames parts, the other adds some: the merge is what the renaming makes of the other side.
  @Test func `renamings and additions never conflict, whoever merges`() throws {
    let seed: UInt64 = Seed.given ?? UInt64.random(in: 0...UInt64.max)
    print("renamings and additions: seed \(seed)")
    var random = SeededRandom(seed: seed)
    var merged: Int = 0
    for _ in 0..<(Soak.isOn ? 1000 : 30) {
      let base: ModelDocument = try Self.document([])
      var renaming: ModelEdit = ModelEdit(base)
      var added: ModelEdit = ModelEdit(base)
      for number in 0..<4 { Self.add(number, to: &added, &random) }
      var both: ModelEdit = ModelEdit(added.document)
      for number in 0..<3 { try Self.rename(number, in: &renaming, &both, &random) }
      let expected: NSManagedObjectModel = try Self.model(both.document)
      for isMirrored in [false, true] {
        let (ours, theirs): (ModelDocument, ModelDocument) =
          isMirrored ? (added.document, renaming.document) : (renaming.document, added.document)
        let result = ModelMerge.merge(base: base, ours: ours, theirs: theirs)
        #expect(result.conflicts == [], "\(ours.root.text)\n\(theirs.root.text)")
        let difference = ModelDifference(from: expected, to: try Self.model(result.document))
        #expect(
          difference.changes.isEmpty && difference.conflicts.isEmpty,
          "\(ours.root.text)\n\(theirs.root.text)")
        merged += 1
      }
    }
    #expect(merged > 0)
  }

  /// Both sides rename and add with the same few names: neither loses a part of the base, or one that it
  /// added.
  @Test func `no part is lost where both sides give the same names`() throws {
    let seed: UInt64 = Seed.given ?? UInt64.random(in: 0...UInt64.max)
    print("the same names: seed \(seed)")
    var random = SeededRandom(seed: seed)
    let base: ModelDocument = try Self.document([])
    let former: NSManagedObjectModel = try Self.model(base)
    var conflicts: Int = 0
    for _ in 0..<(Soak.isOn ? 3000 : 100) {
      let sides: [ModelDocument] = (0..<2).map { _ in
        var edit = ModelEdit(base)
        for _ in 0..<3 { Self.name(in: &edit, &random) }
        return edit.document
      }
      let result = ModelMerge.merge(base: base, ours: sides[0], theirs: sides[1])
      let texts: Comment = "\(sides[0].root.text)\n\(sides[1].root.text)\n\(result.document.root.text)"
      conflicts += result.conflicts.count
      let merged: NSManagedObjectModel = try Self.model(result.document)
      for earlier in [former, try Self.model(sides[0])] {
        for entity in ModelDifference(from: earlier, to: merged).entities {
          #expect(entity.source == nil || entity.destination != nil, texts)
          for property in entity.properties where entity.destination != nil {
            #expect(
              property.source == nil || property.destination != nil,
              "\(property.source?.name ?? "") \(texts)")
          }
        }
      }
    }
    #expect(conflicts > 0)
  }

  /// Renames a part, or adds one, with a name of a few.
  private static func name(in edit: inout ModelEdit, _ random: inout SeededRandom) {
    let entities: [SourceElement] = edit.document.root.children("entity")
    let entity: SourceElement = entities.randomElement(using: &random)!
    let (name, new) = (entity["name"]!, ["Thing", "Other"].randomElement(using: &random)!)
    // What can't be done is left out.
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try? edit.add(NewEntity(name: new))
    case 1: try? edit.add(NewAttribute(name: new.lowercased(), type: .stringAttributeType), to: name)
    case 2:
      // What was added just now has no former name that a store knows.
      if ["Thing", "Other"].contains(name) { return }
      var settings = EntitySettings()
      settings.name = new
      try? edit.set(settings, of: name)
    default:
      var settings = PropertySettings()
      settings.name = new.lowercased()
      let properties: [String] = entity.children.filter { ["attribute", "relationship"].contains($0.name) }
        .compactMap { $0["name"] }
      if let property = properties.randomElement(using: &random), !["thing", "other"].contains(property) {
        try? edit.set(settings, of: property, in: name)
      }
    }
  }

  private static func model(_ document: ModelDocument) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(source: document.data, file: "contents").model
  }

  /// Adds a part that names an entity or an attribute of the base.
  private static func add(_ number: Int, to edit: inout ModelEdit, _ random: inout SeededRandom) {
    let entity: String = ["Item", "Note", "Shop"].randomElement(using: &random)!
    let other: String = ["Item", "Note", "Shop"].randomElement(using: &random)!
    let attributes: [String: [String]] = ["Item": ["count", "title"], "Note": ["text"], "Shop": ["name"]]
    // One that can't be added is left out.
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      var part = NewEntity(name: "New\(number)")
      part.parent = entity
      try? edit.add(part)
    case 1:
      try? edit.add(
        NewRelationship(
          NewRelationship.Side(name: "to\(number)"), to: other,
          inverse: NewRelationship.Side(name: "back\(number)")), to: entity)
    case 2:
      var settings = PropertySettings()
      settings.isUnique = true
      try? edit.set(settings, of: attributes[entity]!.randomElement(using: &random)!, in: entity)
    default:
      var settings = EntitySettings()
      settings.parent = .given(other)
      try? edit.set(settings, of: entity)
    }
  }

  /// Renames a part of the base in two documents.
  private static func rename(
    _ number: Int, in edit: inout ModelEdit, _ other: inout ModelEdit, _ random: inout SeededRandom
  ) throws {
    let entities: [String] = edit.document.root.children("entity").compactMap { $0["name"] }
    let entity: String = entities.randomElement(using: &random)!
    let new: String = "Renamed\(number)"
    guard Bool.random(using: &random) else {
      var settings = EntitySettings()
      settings.name = new
      guard (try? edit.set(settings, of: entity)) != nil else { return }
      try other.set(settings, of: entity)
      return
    }
    let properties: [String] = edit.document.root.children("entity").first { $0["name"] == entity }!
      .children.filter { ["attribute", "relationship"].contains($0.name) }.compactMap { $0["name"] }
    var settings = PropertySettings()
    settings.name = new.lowercased()
    guard let property = properties.randomElement(using: &random),
      (try? edit.set(settings, of: property, in: entity)) != nil
    else { return }
    try other.set(settings, of: property, in: entity)
  }
}
