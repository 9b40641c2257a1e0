import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelEditing

/// Three-way merges of sources of models.
struct ModelMergeTests {
  /// Replacements in the base that make a side.
  typealias Edit = [(String, String)]

  static let base: String = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="9000" systemVersion="1" userDefinedModelVersionIdentifier="">
        <entity name="Item" representedClassName="Item" syncable="YES">
            <attribute name="count" optional="YES" attributeType="Integer 16"/>
            <attribute name="title" optional="YES" attributeType="String"/>
            <relationship name="shop" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Shop" inverseName="items" inverseEntity="Shop"/>
            <fetchIndex name="byTitle">
                <fetchIndexElement property="title" type="Binary" order="ascending"/>
            </fetchIndex>
            <userInfo>
                <entry key="a" value="1"/>
            </userInfo>
        </entity>
        <entity name="Note" representedClassName="Note" syncable="YES">
            <attribute name="text" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Shop" representedClassName="Shop" syncable="YES">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Item" inverseName="shop" inverseEntity="Item"/>
        </entity>
        <elements>
            <element name="Item" positionX="0" positionY="0" width="128" height="58"/>
            <element name="Note" positionX="9" positionY="0" width="128" height="58"/>
            <element name="Shop" positionX="0" positionY="9" width="128" height="58"/>
        </elements>
    </model>
    """

  static let note: String = """
        <entity name="Note" representedClassName="Note" syncable="YES">
            <attribute name="text" optional="YES" attributeType="String"/>
        </entity>

    """
  static let title: String = #"<attribute name="title" optional="YES" attributeType="String"/>"#
  static let noteLayout: String =
    "        <element name=\"Note\" positionX=\"9\" positionY=\"0\" width=\"128\" height=\"58\"/>\n"

  static let count: String =
    "        <attribute name=\"count\" optional=\"YES\" attributeType=\"Integer 16\"/>\n"
  static let shop: String = """
        <entity name="Shop" representedClassName="Shop" syncable="YES">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Item" inverseName="shop" inverseEntity="Item"/>
        </entity>

    """
  static let shopRelationship: String =
    "        <relationship name=\"shop\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\" destinationEntity=\"Shop\" inverseName=\"items\" inverseEntity=\"Shop\"/>\n"
  static let titleIndex: String = """
            <fetchIndex name="byTitle">
                <fetchIndexElement property="title" type="Binary" order="ascending"/>
            </fetchIndex>

    """
  static let shopItems: String =
    "        <relationship name=\"items\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Nullify\" destinationEntity=\"Item\" inverseName=\"shop\" inverseEntity=\"Item\"/>\n"
  private static let shopLayout: String =
    "        <element name=\"Shop\" positionX=\"0\" positionY=\"9\" width=\"128\" height=\"58\"/>\n"

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var ours: Edit
    var theirs: Edit
    /// What becomes of our side.
    var merged: Edit
    var conflicts: [String] = []
    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(name: "nothing", ours: [], theirs: [], merged: []),
    Case(
      name: "two attributes of one attribute",
      ours: [(title, #"<attribute name="title" attributeType="String"/>"#)],
      theirs: [
        (
          title,
          #"<attribute name="title" optional="YES" attributeType="String" defaultValueString="x &amp; y"/>"#
        )
      ],
      merged: [(title, #"<attribute name="title" attributeType="String" defaultValueString="x &amp; y"/>"#)]),
    Case(
      name: "an attribute each, and one the same",
      ours: [
        (
          title,
          "<attribute name=\"same\" attributeType=\"UUID\"/>\n        \(title)\n        <attribute name=\"year\" attributeType=\"Date\"/>"
        )
      ],
      theirs: [
        (
          title,
          "<attribute name=\"maker\" attributeType=\"String\"/>\n        <attribute name=\"same\" attributeType=\"UUID\"/>\n        \(title)"
        )
      ],
      merged: [
        (
          title,
          "<attribute name=\"maker\" attributeType=\"String\"/>\n        <attribute name=\"same\" attributeType=\"UUID\"/>\n        \(title)\n        <attribute name=\"year\" attributeType=\"Date\"/>"
        )
      ]),
    Case(
      name: "an entity removed with its place in the diagram, another edited",
      ours: [(title, title.replacingOccurrences(of: "YES", with: "NO"))],
      theirs: [(note, ""), (noteLayout, "")],
      merged: [(title, title.replacingOccurrences(of: "YES", with: "NO")), (note, ""), (noteLayout, "")]),
    Case(
      name: "a moved entity in the diagram",
      ours: [("positionX=\"9\"", "positionX=\"1\"")], theirs: [("positionX=\"9\"", "positionX=\"2\"")],
      merged: [("positionX=\"9\"", "positionX=\"1\"")]),
    Case(
      name: "versions of the editor",
      ours: [("Version=\"9000\"", "Version=\"9100\"")], theirs: [("Version=\"9000\"", "Version=\"22758\"")],
      merged: [("Version=\"9000\"", "Version=\"22758\"")]),
    Case(
      name: "one attribute changed twice",
      ours: [(title, title.replacingOccurrences(of: "String", with: "Date"))],
      theirs: [(title, title.replacingOccurrences(of: "String", with: "URI"))],
      merged: [(title, title.replacingOccurrences(of: "String", with: "Date"))],
      conflicts: [
        "Item.title: both changed attributeType: it was \"String\", ours is \"Date\", theirs \"URI\": "
          + "ours stays; to take theirs, write attributeType=\"URI\""
      ]),
    Case(
      name: "a type here, a limit and a default value for the type before there",
      ours: [(count, count.replacing("Integer 16", with: "String"))],
      theirs: [(count, count.replacing("optional=", with: "defaultValueString=\"3\" optional="))],
      merged: [(count, count.replacing("Integer 16", with: "String"))],
      conflicts: [
        "Item.count: defaultValueString depends on the type, which is \"String\" in ours, \"Integer 16\" in theirs: it was "
          + "not set, ours is not set, theirs \"3\": ours stays; to take theirs, write defaultValueString=\"3\""
      ]),
    Case(
      name: "a type there, a scalar here, and what does not depend on it",
      ours: [(count, count.replacing("/>", with: " usesScalarValueType=\"YES\"/>"))],
      theirs: [
        (count, count.replacing("Integer 16", with: "String").replacing("optional=\"YES\" ", with: ""))
      ],
      merged: [
        (
          count,
          count.replacing("optional=\"YES\" ", with: "").replacing(
            "/>", with: " usesScalarValueType=\"YES\"/>")
        )
      ],
      conflicts: [
        "Item.count: theirs changed the type, and ours what depends on it: it was \"Integer 16\", ours is \"Integer 16\", "
          + "theirs \"String\": ours stays; to take theirs, write attributeType=\"String\""
      ]),
    Case(
      name: "removed and changed", ours: [(note, ""), (noteLayout, "")],
      theirs: [("name=\"text\" optional=\"YES\"", "name=\"text\"")],
      merged: [(note, ""), (noteLayout, "")],
      conflicts: [
        "Note: ours removed this, and theirs changed it: it stays removed; to take theirs, copy it from their file"
      ]),
    Case(
      name: "changed and removed", ours: [("name=\"text\" optional=\"YES\"", "name=\"text\"")],
      theirs: [(note, ""), (noteLayout, "")],
      merged: [("name=\"text\" optional=\"YES\"", "name=\"text\"")],
      conflicts: [
        "Note: theirs removed this, and ours changed it: ours stays; remove it to take theirs"
      ]),
    Case(
      name: "renamed here, changed there",
      ours: [
        (title, #"<attribute name="name" optional="YES" attributeType="String" elementID="title"/>"#),
        ("property=\"title\"", "property=\"name\""),
      ],
      theirs: [(title, title.replacingOccurrences(of: " optional=\"YES\"", with: ""))],
      merged: [
        (title, #"<attribute name="name" attributeType="String" elementID="title"/>"#),
        ("property=\"title\"", "property=\"name\""),
      ]),
    Case(
      name: "renamed twice",
      ours: [
        (
          "name=\"text\" optional=\"YES\" attributeType=\"String\"",
          "name=\"a\" attributeType=\"String\" elementID=\"text\""
        )
      ],
      theirs: [
        (
          "name=\"text\" optional=\"YES\" attributeType=\"String\"",
          "name=\"b\" attributeType=\"String\" elementID=\"text\""
        )
      ],
      merged: [
        (
          "name=\"text\" optional=\"YES\" attributeType=\"String\"",
          "name=\"a\" attributeType=\"String\" elementID=\"text\""
        )
      ],
      conflicts: [
        "Note.a: both renamed this: it was \"text\", ours is \"a\", theirs \"b\": ours stays; to take theirs, rename it "
          + "with `clarus model set MODEL Note.a --rename b`"
      ]),
    Case(
      name: "one index changed twice",
      ours: [("order=\"ascending\"", "order=\"descending\"")],
      theirs: [("property=\"title\"", "property=\"count\"")],
      merged: [("order=\"ascending\"", "order=\"descending\"")],
      conflicts: [
        "Item.fetch index 'byTitle': both changed this fetch index: ours is (title descending), theirs (count): "
          + "ours stays; to take theirs, copy it from their file"
      ]),
    Case(
      name: "two added under one name",
      ours: [(title, "\(title)\n        <attribute name=\"x\" attributeType=\"Date\"/>")],
      theirs: [(title, "\(title)\n        <attribute name=\"x\" attributeType=\"UUID\"/>")],
      merged: [(title, "\(title)\n        <attribute name=\"x\" attributeType=\"Date\"/>")],
      conflicts: [
        "Item.x: both changed attributeType: ours is \"Date\", theirs \"UUID\": ours stays; to take "
          + "theirs, write attributeType=\"UUID\""
      ]),
    Case(
      name: "user info",
      ours: [("value=\"1\"/>", "value=\"1\"/>\n            <entry key=\"b\" value=\"2\"/>")],
      theirs: [("value=\"1\"", "value=\"3\"")],
      merged: [("value=\"1\"/>", "value=\"3\"/>\n            <entry key=\"b\" value=\"2\"/>")]),
    Case(
      name: "edits that don't go together", ours: [(note, ""), (noteLayout, "")],
      theirs: [
        (
          "        <fetchIndex name",
          "        <relationship name=\"zNotes\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Nullify\" destinationEntity=\"Note\"/>\n        <fetchIndex name"
        )
      ],
      merged: [(note, ""), (noteLayout, "")],
      conflicts: [
        "Item.zNotes: the two edits don't go together: Item.zNotes leads to Note, which is not there: theirs added this, "
          + "and it is left out as in ours; to take theirs, add it anew with what it needs"
      ]),
    // Findings: the result could not be compiled.
    Case(
      name: "an entity removed there with what leads to it, changed here",
      ours: [("name=\"name\" optional=\"YES\"", "name=\"name\"")],
      theirs: [(shop, ""), (shopRelationship, ""), (shopLayout, "")],
      merged: [("name=\"name\" optional=\"YES\"", "name=\"name\"")],
      conflicts: [
        "Shop: theirs removed this, and ours changed it: ours stays; remove it to take theirs",
        "Item.shop: the two edits don't go together: Shop.items has the inverse Item.shop, which is not there: theirs "
          + "removed this, and it stays as in ours; to take theirs, remove what needs it too",
      ]),
    Case(
      name: "an entity removed here with what leads to it, changed there",
      ours: [(shop, ""), (shopRelationship, ""), (shopLayout, "")],
      theirs: [("name=\"name\" optional=\"YES\"", "name=\"name\"")],
      merged: [(shop, ""), (shopRelationship, ""), (shopLayout, "")],
      conflicts: [
        "Shop: ours removed this, and theirs changed it: it stays removed; to take theirs, copy it from their file"
      ]),
    Case(
      name: "an entity removed here, one that derives from it added there",
      ours: [(note, ""), (noteLayout, "")],
      theirs: [(note, "\(note)    <entity name=\"Poem\" parentEntity=\"Note\" syncable=\"YES\"/>\n")],
      merged: [(note, ""), (noteLayout, "")],
      conflicts: [
        "Poem: the two edits don't go together: Poem derives from Note, which is not there: theirs added this, and it "
          + "is left out as in ours; to take theirs, add it anew with what it needs"
      ]),
    Case(
      name: "an attribute removed here, an index over it added there",
      ours: [(count, "")],
      theirs: [
        (
          "        <fetchIndex name",
          "        <fetchIndex name=\"byCount\">\n            <fetchIndexElement property=\"count\" type=\"Binary\" order=\"ascending\"/>\n        </fetchIndex>\n        <fetchIndex name"
        )
      ],
      merged: [(count, "")],
      conflicts: [
        "Item.byCount: the two edits don't go together: an index or a constraint of Item names 'count', which is not "
          + "there: theirs added this, and it is left out as in ours; to take theirs, add it anew with what it needs"
      ]),
    Case(
      name: "an entity renamed there, one that derives from it added here",
      ours: [(note, "\(note)    <entity name=\"Poem\" parentEntity=\"Note\" syncable=\"YES\"/>\n")],
      theirs: [
        (
          "<entity name=\"Note\" representedClassName=\"Note\"",
          "<entity name=\"Memo\" representedClassName=\"Note\" elementID=\"Note\""
        ),
        ("<element name=\"Note\"", "<element name=\"Memo\""),
      ],
      merged: [
        (
          note,
          note.replacing(
            "<entity name=\"Note\" representedClassName=\"Note\"",
            with: "<entity name=\"Memo\" representedClassName=\"Note\" elementID=\"Note\"")
            + "    <entity name=\"Poem\" parentEntity=\"Memo\" syncable=\"YES\"/>\n"
        ), ("<element name=\"Note\"", "<element name=\"Memo\""),
      ]),
    Case(
      name: "dates",
      ours: [
        (title, #"<attribute name="title" optional="YES" attributeType="Date" minDateTimeInterval="86400"/>"#)
      ],
      theirs: [
        (
          title,
          #"<attribute name="title" optional="YES" attributeType="Date" minDateTimeInterval="172800"/>"#
        )
      ],
      merged: [
        (title, #"<attribute name="title" optional="YES" attributeType="Date" minDateTimeInterval="86400"/>"#)
      ],
      conflicts: [
        "Item.title: both changed minDateTimeInterval: it was not set, ours is \"2001-01-02T00:00:00Z\", theirs "
          + "\"2001-01-03T00:00:00Z\": ours stays; to take theirs, write minDateTimeInterval=\"172800\""
      ]),
  ]

  static func document(_ edit: Edit) throws -> ModelDocument {
    var text: String = base
    for (old, new) in edit {
      let count: Int = text.components(separatedBy: old).count - 1
      try #require(count == 1, "\(count) times: \(old)")
      text = text.replacingOccurrences(of: old, with: new)
    }
    return try ModelDocument(Data(text.utf8), file: "contents")
  }

  // Finding: the part was gone, with exit status 0, where it had a renaming identifier of an earlier name.
  @Test(arguments: [true, false])
  func `a part that one side renames again and the other removes is a conflict`(_ isOurs: Bool) throws {
    func document(_ old: String, _ new: String) throws -> ModelDocument {
      let former: String = Self.count.replacing("/>", with: " elementID=\"amount\"/>")
      let text: String = Self.base.replacing(Self.count, with: former)
      return try ModelDocument(Data(text.replacing(old, with: new).utf8), file: "contents")
    }
    let renamed = try document("name=\"count\"", "name=\"number\"")
    let removed = try document(Self.count.replacing("/>", with: " elementID=\"amount\"/>"), "")
    let result = ModelMerge.merge(
      base: try document("", ""), ours: isOurs ? renamed : removed, theirs: isOurs ? removed : renamed)
    #expect(
      result.conflicts.map(\.description) == [
        isOurs
          ? "Item.number: theirs removed this, and ours changed it: ours stays; remove it to take theirs"
          : "Item.number: ours removed this, and theirs changed it: it stays removed; to take theirs, copy it from their file"
      ])
    #expect(result.document.data == (isOurs ? renamed : removed).data)
  }

  @Test(arguments: cases)
  func `edits are merged part by part`(example: Case) throws {
    let (ours, theirs) = (try Self.document(example.ours), try Self.document(example.theirs))
    let result = ModelMerge.merge(base: try Self.document([]), ours: ours, theirs: theirs)
    let expected: ModelDocument = try Self.document(example.merged)
    #expect(
      String(decoding: result.document.data, as: UTF8.self) == String(decoding: expected.data, as: UTF8.self))
    #expect(result.conflicts.map(\.description) == example.conflicts)
  }

  // MARK: Without a base

  @Test func `without a base what differs is a conflict`() throws {
    let theirs: ModelDocument = try Self.document([
      (Self.title, "\(Self.title)\n        <attribute name=\"x\" attributeType=\"UUID\"/>"),
      ("representedClassName=\"Note\"", "representedClassName=\"Memo\""),
    ])
    let result = ModelMerge.merge(base: nil, ours: try Self.document([]), theirs: theirs)
    #expect(
      result.conflicts.map(\.description) == [
        "Note: both changed representedClassName: ours is \"Note\", theirs \"Memo\": ours stays; to take theirs, "
          + "write representedClassName=\"Memo\"",
        "Item.x: theirs alone has this attribute, and there is no version that both began with: it is added; remove it "
          + "if ours took it out on purpose",
      ])
    #expect(String(decoding: result.document.data, as: UTF8.self).contains("name=\"x\""))
  }

  /// Random edits of two sides: what is merged has every edit of either side, and a merge with the base gives
  /// the other side.
  @Test func `edits of different parts never conflict`() throws {
    let seed: UInt64 = UInt64.random(in: 0...UInt64.max)
    print("edits of different parts: seed \(seed)")
    var random = SeededRandom(seed: seed)
    let base: ModelDocument = try Self.document([])
    for _ in 0..<60 {
      var (ours, theirs) = (base, base)
      var expected: Set<String> = []
      for number in 0..<6 {
        let name: String = "p\(number)\(Int.random(in: 0..<100, using: &random))"
        let entity: String = ["Item", "Note", "Shop"].randomElement(using: &random)!
        let isOurs: Bool = .random(using: &random)
        var side: ModelDocument = isOurs ? ours : theirs
        let place: Int = try #require(side.root.place("entity", named: entity))
        side.root[at: place].insert(
          SourceElement("attribute", ["name": name, "attributeType": "Date"]), side.style, depth: 2)
        expected.insert("\(entity).\(name)")
        if isOurs { ours = side } else { theirs = side }
      }
      let result = ModelMerge.merge(base: base, ours: ours, theirs: theirs)
      #expect(result.conflicts == [])
      let found: Set<String> = Set(
        result.document.root.children("entity").flatMap { entity in
          entity.children("attribute").map { "\(entity["name"]!).\($0["name"]!)" }
        })
      #expect(found == expected.union(["Item.count", "Item.title", "Note.text", "Shop.name"]))
      // The same parts, whoever merges.
      let mirrored: Data = ModelMerge.merge(base: base, ours: theirs, theirs: ours).document.data
      #expect(mirrored.count == result.document.data.count)
      #expect(ModelMerge.merge(base: base, ours: ours, theirs: base).document.data == ours.data)
      #expect(ModelMerge.merge(base: base, ours: base, theirs: theirs).document.data == theirs.data)
    }
  }

  // MARK: Results that can be used

  private static func errors(of document: ModelDocument) -> Set<String> {
    do {
      return Set(
        try NSManagedObjectModel.load(source: document.data, file: "contents").model.problems()
          .filter { $0.severity == .error }.map(\.description))
    } catch {
      return ["\(error)"]
    }
  }

  /// One edit that leaves a model that can be used; nil where it would not.
  private static func edited(_ document: ModelDocument, _ random: inout SeededRandom) -> ModelDocument? {
    var edit = ModelEdit(document)
    let entities: [String] = document.root.children("entity").compactMap { $0["name"] }
    guard let entity = entities.randomElement(using: &random),
      let other = entities.randomElement(using: &random),
      let place = document.root.place("entity", named: entity)
    else { return nil }
    let name = "p\(Int.random(in: 0..<6, using: &random))"
    let properties: [String] = document.root[at: place].children.filter {
      ["attribute", "relationship"].contains($0.name)
    }.compactMap { $0["name"] }
    do {
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        var part = NewEntity(name: "E\(name)")
        part.parent = Bool.random(using: &random) ? entity : nil
        try edit.add(part)
      case 1:
        try edit.add(NewAttribute(name: name, type: .integer16AttributeType), to: entity)
      case 2:
        try edit.add(
          NewRelationship(
            NewRelationship.Side(name: name), to: other, inverse: NewRelationship.Side(name: "\(name)Back")),
          to: entity)
      case 3:
        var settings = EntitySettings()
        settings.parent = other == entity ? .removed : .given(other)
        try edit.set(settings, of: entity)
      case 4:
        var settings = EntitySettings()
        settings.name = "E\(name)"
        try edit.set(settings, of: entity)
      case 5:
        guard let property = properties.randomElement(using: &random) else { return nil }
        var settings = PropertySettings()
        (settings.name, settings.isOptional) = (name, .random(using: &random))
        try edit.set(settings, of: property, in: entity)
      case 6:
        guard let property = properties.randomElement(using: &random) else { return nil }
        var settings = PropertySettings()
        settings.isUnique = true
        try edit.set(settings, of: property, in: entity)
      default:
        // An entity goes with all that leads to it.
        var result: ModelDocument = document
        result.root.remove(at: place)
        for index in result.root.content.indices {
          guard var element = result.root.content[index].element, element.name == "entity" else { continue }
          while let inner = element.content.firstIndex(where: {
            $0.element?["destinationEntity"] == entity
          }) {
            element.remove(at: inner)
          }
          result.root.content[index] = .element(element)
        }
        return errors(of: result).isEmpty ? result : nil
      }
    } catch {
      return nil
    }
    return edit.document
  }

  /// Whatever the two sides did: the result can be used, and what was not taken from theirs is told.
  @Test func `what is merged of two models that can be used can be used`() throws {
    let seed: UInt64 = Seed.given ?? UInt64.random(in: 0...UInt64.max)
    print("merges that can be used: seed \(seed)")
    var random = SeededRandom(seed: seed)
    var whole: Int = 0
    for _ in 0..<(Soak.isOn ? 3000 : 40) {
      let base: ModelDocument = try Self.document([])
      var sides: [ModelDocument] = [base, base]
      for side in sides.indices {
        for _ in 0..<5 { sides[side] = Self.edited(sides[side], &random) ?? sides[side] }
      }
      let result = ModelMerge.merge(base: base, ours: sides[0], theirs: sides[1])
      let found: Set<String> = Self.errors(of: result.document)
      #expect(found == [], "ours \(sides[0].root.text)\ntheirs \(sides[1].root.text)")
      let isWhole: Bool = result.conflicts.contains { $0.reason.contains("the whole model is ours") }
      whole += isWhole ? 1 : 0
    }
    print("merges that are wholly ours: \(whole)")
  }

  @Test func `the current version of one side prevails, and two are a conflict`() {
    let (one, two, three) = (
      CurrentVersion(name: "A"), CurrentVersion(name: "A 2"), CurrentVersion(name: "A & 3")
    )
    for version in [one, two, three] { #expect(CurrentVersion(version.data)?.name == version.name) }
    #expect(CurrentVersion(Data("<plist/>".utf8)) == nil && CurrentVersion(Data()) == nil)
    for (base, ours, theirs, name, conflicts) in [
      (one, one, two, "A 2", 0), (one, two, one, "A 2", 0), (one, two, two, "A 2", 0),
      (one, two, three, "A 2", 1),
    ] {
      let result = CurrentVersion.merge(base: base, ours: ours, theirs: theirs)
      #expect(result.version.name == name && result.conflicts.count == conflicts)
    }
  }
}
