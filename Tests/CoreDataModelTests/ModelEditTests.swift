import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelEditing

/// Additions to sources of models.
struct ModelEditTests {
  private static func edit(_ body: String = "") throws -> ModelEdit {
    let text: String =
      #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n<model type=\"m\">\(body)</model>"
    return ModelEdit(try ModelDocument(Data(text.utf8), file: "contents"))
  }

  private static func text(_ edit: ModelEdit) -> String {
    String(decoding: edit.document.data, as: UTF8.self)
  }

  private static func side(
    _ name: String, _ change: (inout NewRelationship.Side) -> Void = { _ in }
  ) -> NewRelationship.Side {
    var side = NewRelationship.Side(name: name)
    change(&side)
    return side
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType, _ change: (inout AttributeSettings) -> Void = { _ in }
  ) -> NewAttribute {
    var attribute = NewAttribute(name: name, type: type)
    change(&attribute.settings)
    return attribute
  }

  /// The example's model was made with Xcode.
  @Test func `a model that is added part by part is the one that Xcode wrote, but for the header`() throws {
    var edit = ModelEdit(try ModelEdit.emptyModel(file: "contents"))
    // Not in the order of the file.
    try edit.add(NewEntity(name: "Item"))
    try edit.add(NewEntity(name: "Category"))
    try edit.add(Self.attribute("title", .stringAttributeType) { $0.isOptional = false }, to: "Item")
    try edit.add(
      Self.attribute("dueDate", .dateAttributeType) { $0.isIndexed = true }, to: "Item")
    try edit.add(Self.attribute("completed", .booleanAttributeType) { $0.isOptional = false }, to: "Item")
    try edit.add(Self.attribute("priority", .integer16AttributeType) { $0.isOptional = false }, to: "Item")
    try edit.add(Self.attribute("notes", .stringAttributeType), to: "Item")
    try edit.add(
      Self.attribute("name", .stringAttributeType) {
        $0.isOptional = false
        $0.defaultValue = .given("")
      }, to: "Category")
    try edit.add(
      NewRelationship(
        Self.side("category"), to: "Category", inverse: Self.side("items") { $0.isToMany = true }), to: "Item"
    )
    let file: URL = SharedFiles.package.appendingPathComponent(
      "Examples/ToDo/Sources/ToDo/ToDo.xcdatamodeld/ToDo.xcdatamodel/contents")
    func lines(_ text: String) -> [String] {
      text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("<model ") }
    }
    let expected: String = try String(contentsOf: file, encoding: .utf8)
      .replacingOccurrences(of: "byDueDate\"", with: "byDueDateIndex\"")
    #expect(lines(Self.text(edit)) == lines(expected))
    #expect(edit.warnings == [])
  }

  @Test func `each type of attribute is written as Xcode writes it`() throws {
    var edit = try Self.edit("\n    <entity name=\"A\" syncable=\"YES\"/>\n")
    for (number, known) in NewAttribute.typesByName.prefix(13).enumerated() {
      let letter: String = String(UnicodeScalar(UInt8(97 + number)))
      try edit.add(Self.attribute("x\(letter)", known.type), to: "A")
    }
    let written: [String] = Self.text(edit).split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }.filter { $0.hasPrefix("<attribute") }
    let scalar: String = "usesScalarValueType=\"YES\"/>"
    #expect(
      written == [
        "<attribute name=\"xa\" optional=\"YES\" attributeType=\"String\"/>",
        "<attribute name=\"xb\" optional=\"YES\" attributeType=\"Integer 16\" defaultValueString=\"0\" \(scalar)",
        "<attribute name=\"xc\" optional=\"YES\" attributeType=\"Integer 32\" defaultValueString=\"0\" \(scalar)",
        "<attribute name=\"xd\" optional=\"YES\" attributeType=\"Integer 64\" defaultValueString=\"0\" \(scalar)",
        "<attribute name=\"xe\" optional=\"YES\" attributeType=\"Double\" defaultValueString=\"0.0\" \(scalar)",
        "<attribute name=\"xf\" optional=\"YES\" attributeType=\"Float\" defaultValueString=\"0.0\" \(scalar)",
        "<attribute name=\"xg\" optional=\"YES\" attributeType=\"Decimal\" defaultValueString=\"0.0\"/>",
        "<attribute name=\"xh\" optional=\"YES\" attributeType=\"Boolean\" \(scalar)",
        "<attribute name=\"xi\" optional=\"YES\" attributeType=\"Date\" usesScalarValueType=\"NO\"/>",
        "<attribute name=\"xj\" optional=\"YES\" attributeType=\"Binary\"/>",
        "<attribute name=\"xk\" optional=\"YES\" attributeType=\"UUID\" usesScalarValueType=\"NO\"/>",
        "<attribute name=\"xl\" optional=\"YES\" attributeType=\"URI\"/>",
        "<attribute name=\"xm\" optional=\"YES\" attributeType=\"Transformable\" "
          + "valueTransformerName=\"NSSecureUnarchiveFromData\"/>",
      ])
  }

  @Test func `what is added has all that was said of it`() throws {
    var edit = try Self.edit("\r\n\t<entity name=\"A\" syncable=\"YES\"></entity>\r\n")
    try edit.add(
      Self.attribute("made", .dateAttributeType) {
        $0.minimum = .given("2001-01-02")
        $0.maximum = .given("2026-12-01T09:30:00Z")
        $0.defaultValue = .given("7")
        $0.renamingIdentifier = .given("old")
        $0.isUnique = true
      }, to: "A")
    try edit.add(
      Self.attribute("code", .stringAttributeType) {
        $0.pattern = .given("[<\"]+")
        $0.minimum = .given("1")
        $0.isUnique = true
        $0.isTransient = false
      }, to: "A")
    var part = NewEntity(name: "B")
    (part.parent, part.isAbstract, part.className, part.codeGeneration) = ("A", true, ".Bee", nil)
    try edit.add(part)
    #expect(
      Self.text(edit)
        == "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<model type=\"m\">\r\n"
        + "\t<entity name=\"A\" syncable=\"YES\">\r\n"
        + "\t\t<attribute name=\"code\" optional=\"YES\" attributeType=\"String\" minValueString=\"1\" "
        + "regularExpressionString=\"[&lt;&quot;]+\"/>\r\n"
        + "\t\t<attribute name=\"made\" optional=\"YES\" attributeType=\"Date\" minDateTimeInterval=\"86400\" "
        + "defaultDateTimeInterval=\"7\" maxDateTimeInterval=\"817810200\" usesScalarValueType=\"NO\" "
        + "elementID=\"old\"/>\r\n"
        + "\t\t<uniquenessConstraints>\r\n\t\t\t<uniquenessConstraint>\r\n"
        + "\t\t\t\t<constraint value=\"made\"/>\r\n\t\t\t</uniquenessConstraint>\r\n"
        + "\t\t\t<uniquenessConstraint>\r\n\t\t\t\t<constraint value=\"code\"/>\r\n"
        + "\t\t\t</uniquenessConstraint>\r\n\t\t</uniquenessConstraints>\r\n\t</entity>\r\n"
        + "\t<entity name=\"B\" representedClassName=\".Bee\" isAbstract=\"YES\" parentEntity=\"A\" "
        + "syncable=\"YES\"/>\r\n</model>")
  }

  @Test func `an inverse that is there is connected, one's own inverse is one relationship`() throws {
    var edit = try Self.edit("\n    <entity name=\"A\"/>\n    <entity name=\"B\"/>\n")
    try edit.add(NewRelationship(Self.side("bs") { $0.isToMany = true }, to: "B"), to: "A")
    #expect(edit.warnings.map(\.code) == ["no-inverse"])
    try edit.add(NewRelationship(Self.side("a"), to: "A", inverse: Self.side("bs")), to: "B")
    try edit.add(
      NewRelationship(
        Self.side("peers") { $0.isToMany = true }, to: "A", inverse: Self.side("peers") { $0.isToMany = true }
      ),
      to: "A")
    let model = try NSManagedObjectModel.load(source: edit.document.data, file: "a").model
    let (a, b) = (
      model.entitiesByName["A"]!.relationshipsByName, model.entitiesByName["B"]!.relationshipsByName
    )
    #expect(a.keys.sorted() == ["bs", "peers"] && b.keys.sorted() == ["a"])
    #expect(a["bs"]?.inverseRelationship === b["a"] && b["a"]?.inverseRelationship === a["bs"])
    #expect(a["bs"]?.isToMany == true && b["a"]?.isToMany == false)
    #expect(a["peers"]?.inverseRelationship === a["peers"])
    #expect(model.problems() == [])
  }

  // MARK: Attributes that are there

  private static let former: String = """
    <attribute name="rank" attributeType="Integer 16" minValueString="1" maxValueString="9" \
    defaultValueString="2" usesScalarValueType="YES" elementID="grade" versionHashModifier="x"><userInfo>\
    <entry key="unit" value="m"/></userInfo></attribute>
    """

  /// What an attribute becomes that takes the place of `former` and, by the same rules, what that becomes.
  struct ChangedAttribute {
    var type: NSAttributeType?
    var change: (inout AttributeSettings) -> Void = { _ in }
    /// The attributes of the element without its name, or the words of the error.
    var becomes: String
    var isRefused = false
  }

  nonisolated(unsafe) static let changes: [ChangedAttribute] = [
    ChangedAttribute(
      type: .integer16AttributeType,
      becomes: #"attributeType="Integer 16" minValueString="1" maxValueString="9" defaultValueString="2" "#
        + #"usesScalarValueType="YES" elementID="grade" versionHashModifier="x""#),
    ChangedAttribute(
      type: .doubleAttributeType, change: { ($0.isOptional, $0.maximum) = (true, .removed) },
      becomes: #"optional="YES" attributeType="Double" minValueString="1" defaultValueString="2" "#
        + #"usesScalarValueType="YES" elementID="grade" versionHashModifier="x""#),
    ChangedAttribute(
      type: .decimalAttributeType, change: { $0.defaultValue = .given("3.5") },
      becomes: #"attributeType="Decimal" minValueString="1" maxValueString="9" defaultValueString="3.5" "#
        + #"elementID="grade" versionHashModifier="x""#),
    ChangedAttribute(
      type: .stringAttributeType,
      becomes:
        "As String, 'rank' would lose the minimum '1', the maximum '9', the default value '2'. Take away what is not "
        + "to stay with --no-min, --no-max, --no-default, or give a value that fits the type.",
      isRefused: true),
    ChangedAttribute(
      type: .stringAttributeType,
      change: { ($0.minimum, $0.maximum, $0.defaultValue) = (.removed, .given("30"), .given("low")) },
      becomes: #"attributeType="String" maxValueString="30" defaultValueString="low" elementID="grade" "#
        + #"versionHashModifier="x""#),
    ChangedAttribute(
      type: .booleanAttributeType,
      change: { ($0.minimum, $0.maximum, $0.defaultValue) = (.removed, .removed, .removed) },
      becomes: #"attributeType="Boolean" usesScalarValueType="YES" elementID="grade" versionHashModifier="x""#
    ),
    ChangedAttribute(
      type: .dateAttributeType,
      change: { ($0.minimum, $0.maximum, $0.defaultValue) = (.removed, .removed, .given("2001-01-02")) },
      becomes: #"attributeType="Date" defaultDateTimeInterval="86400" usesScalarValueType="NO" "#
        + #"elementID="grade" versionHashModifier="x""#),
    ChangedAttribute(
      type: .integer16AttributeType, change: { $0.minimum = .given("10") }, becomes: "[crossed-bounds]",
      isRefused: true),
    ChangedAttribute(
      type: .integer16AttributeType, change: { $0.pattern = .given("x") },
      becomes: "is of type Integer 16, which can't have a pattern", isRefused: true),
  ]

  // Finding: `--replace` dropped whatever was not said anew.
  @Test(arguments: changes.indices, [true, false])
  func `an attribute keeps what is not said anew, or the error names what it would lose`(
    number: Int, replaces: Bool
  ) throws {
    let change: ChangedAttribute = Self.changes[number]
    let line: String = replaces ? Self.former.replacing("\"rank\"", with: "\"order\"") : Self.former
    var edit = try Self.edit("\n    <entity name=\"A\">\n        \(line)\n    </entity>\n")
    let before: Data = edit.document.data
    func run() throws {
      var settings = AttributeSettings()
      change.change(&settings)
      if replaces {
        var attribute = NewAttribute(name: "rank", type: change.type ?? .integer16AttributeType)
        settings.renamingIdentifier = .given("order")
        attribute.settings = settings
        try edit.add(attribute, to: "A", replacing: true)
      } else {
        settings.type = change.type
        try edit.set(settings, of: "rank", in: "A")
      }
    }
    if change.isRefused {
      let error: ModelFileError = try #require(throws: ModelFileError.self) { try run() }
      #expect(error.description.contains(change.becomes), "\(error)")
      #expect(edit.document.data == before)
      return
    }
    try run()
    let rest: String = String(Self.former[Self.former.range(of: "><userInfo>")!.lowerBound...])
    #expect(
      Self.text(edit).contains("<attribute name=\"rank\" \(change.becomes)\(rest)"), "\(Self.text(edit))")
  }

  @Test func `indexes, constraints, transformers and relationships are changed, and nothing beside them`()
    throws
  {
    let body: String = """

          <entity name="A">
              <attribute name="data" optional="YES" attributeType="Transformable" valueTransformerName="T"/>
              <attribute name="name" attributeType="String"/>
              <relationship name="b" maxCount="1" deletionRule="Nullify" destinationEntity="A" inverseName="b" inverseEntity="A"/>
              <fetchIndex name="byBoth"><fetchIndexElement property="name" type="Binary" order="ascending"/>\
      <fetchIndexElement property="data" type="Binary" order="ascending"/></fetchIndex>
          </entity>

      """
    var edit = try Self.edit(body)
    let before: String = Self.text(edit)
    func set(_ name: String, _ change: (inout AttributeSettings) -> Void) throws {
      var settings = AttributeSettings()
      change(&settings)
      try edit.set(settings, of: name, in: "A")
    }
    try set("name") { ($0.isIndexed, $0.isUnique) = (true, true) }
    try set("name") { ($0.isIndexed, $0.isUnique) = (true, true) }
    #expect(Self.text(edit).ranges(of: "byNameIndex").count == 1)
    #expect(Self.text(edit).ranges(of: "<constraint value=\"name\"/>").count == 1)
    try set("name") { ($0.isIndexed, $0.isUnique) = (false, false) }
    #expect(Self.text(edit) == before)
    try set("b") { $0.isOptional = true }
    #expect(Self.text(edit).contains("<relationship name=\"b\" optional=\"YES\""))
    try set("data") { $0.valueTransformer = .removed }
    #expect(Self.text(edit).contains("valueTransformerName=\"NSSecureUnarchiveFromData\""))
    for (name, change, says) in [
      ("b", { $0.minimum = .given("1") }, "A.b is a relationship: of those only"),
      ("nmae", { $0.isOptional = true }, "A has no attribute 'nmae'. Did you mean \"name\"?"),
      ("name", { $0.isIndexed = false }, "There is no index over 'name' alone."),
      ("name", { $0.isUnique = false }, "There is no constraint of 'name' alone."),
    ] as [(String, (inout AttributeSettings) -> Void, String)] {
      let error: ModelFileError = try #require(throws: ModelFileError.self) { try set(name, change) }
      #expect(error.description.contains(says), "\(error)")
    }
  }

  // MARK: Refusals

  nonisolated(unsafe) static let refusals: [(says: String, edit: (inout ModelEdit) throws -> Void)] = [
    ("an entity 'Item' already", { try $0.add(NewEntity(name: "Item")) }),
    ("case only", { try $0.add(NewEntity(name: "ITEM")) }),
    ("[entity-name]", { try $0.add(NewEntity(name: "1 Item")) }),
    ("has no name", { try $0.add(NewEntity(name: "")) }),
    (
      "Did you mean \"Item\"?",
      {
        var part = NewEntity(name: "Part")
        part.parent = "Itm"
        try $0.add(part)
      }
    ),
    ("There is no entity 'Thing'", { try $0.add(attribute("a", .stringAttributeType), to: "Thing") }),
    ("the attribute 'title' already", { try $0.add(attribute("title", .stringAttributeType), to: "Item") }),
    ("[reserved-name]", { try $0.add(attribute("objectID", .stringAttributeType), to: "Item") }),
    ("[property-name]", { try $0.add(attribute("a b", .stringAttributeType), to: "Item") }),
    ("[property-clash]", { try $0.add(attribute("Title", .stringAttributeType), to: "Item") }),
    (
      "is no whole number",
      { try $0.add(attribute("a", .integer16AttributeType) { $0.defaultValue = .given("x") }, to: "Item") }
    ),
    (
      "number from -32768 to 32767",
      {
        try $0.add(attribute("a", .integer16AttributeType) { $0.defaultValue = .given("70000") }, to: "Item")
      }
    ),
    (
      "is no date",
      { try $0.add(attribute("a", .dateAttributeType) { $0.defaultValue = .given("soon") }, to: "Item") }
    ),
    (
      "[crossed-bounds]",
      {
        try $0.add(
          attribute("a", .integer16AttributeType) { ($0.minimum, $0.maximum) = (.given("5"), .given("3")) },
          to: "Item")
      }
    ),
    (
      "There is no entity 'Tags'",
      { try $0.add(NewRelationship(side("tags"), to: "Tags"), to: "Item") }
    ),
    (
      "[count-bounds]",
      {
        try $0.add(
          NewRelationship(
            side("tags") { ($0.isToMany, $0.minimum, $0.maximum) = (true, 5, 3) }, to: "Tag"), to: "Item")
      }
    ),
    (
      "leads to 'Tag', so it can't be the inverse",
      { try $0.add(NewRelationship(side("tag"), to: "Tag", inverse: side("next")), to: "Item") }
    ),
    (
      "has the inverse 'back' already",
      { try $0.add(NewRelationship(side("other"), to: "Tag", inverse: side("next")), to: "Tag") }
    ),
  ]

  @Test(arguments: refusals.indices) func `what can't be added`(number: Int) throws {
    var edit = try Self.edit(
      """

          <entity name="Item"><attribute name="title" attributeType="String"/></entity>
          <entity name="Tag">
              <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Tag" inverseName="back" inverseEntity="Tag"/>
              <relationship name="back" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Tag" inverseName="next" inverseEntity="Tag"/>
          </entity>

      """)
    let before: Data = edit.document.data
    let error: ModelFileError = try #require(throws: ModelFileError.self) {
      try Self.refusals[number].edit(&edit)
    }
    #expect(error.description.contains(Self.refusals[number].says), "\(error)")
    #expect(edit.document.data == before)
  }

  @Test func `faults that a model has already are no obstacle, and what is doubtful is told`() throws {
    var edit = try Self.edit(
      "<entity name=\"A\"><attribute name=\"objectID\" attributeType=\"String\"/></entity>")
    try edit.add(Self.attribute("in", .stringAttributeType), to: "A")
    #expect(edit.warnings.map(\.code) == ["predicate-word"])
  }

  // MARK: Real models

  @Test(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `additions to real models change no other line`() throws {
    var (count, packages): (Int, Set<String>) = (0, [])
    for url in FixtureFolder.find(["xcdatamodel"], under: "models") {
      // One version of each package, unless there is time.
      guard Soak.isOn || packages.insert(url.deletingLastPathComponent().path).inserted else { continue }
      let file: URL = url.appendingPathComponent("contents")
      guard let data = try? Data(contentsOf: file) else { continue }
      var edit = ModelEdit(try ModelDocument(data, file: file.path))
      guard let first = edit.document.root.children("entity").first?["name"] else { continue }
      try edit.add(NewEntity(name: "MiddleOfTheList"))
      try edit.add(Self.attribute("anAttribute", .decimalAttributeType), to: first)
      try edit.add(
        NewRelationship(Self.side("newOne"), to: first, inverse: Self.side("newOnes") { $0.isToMany = true }),
        to: "MiddleOfTheList")
      var rest: [Substring] = String(decoding: data, as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false).reversed()
      var added: [Substring] = []
      for line in Self.text(edit).split(separator: "\n", omittingEmptySubsequences: false) {
        if rest.last == line { rest.removeLast() } else { added.append(line) }
      }
      #expect(rest.count <= 1, "\(FixtureFolder.relative(file)): \(rest)")
      // An entity that had no content gets an end tag.
      #expect(
        (5...6).contains(added.count + (rest.isEmpty ? 0 : -1)), "\(FixtureFolder.relative(file)): \(added)")
      count += 1
    }
    print("sources with additions: \(count)")
    #expect(Soak.isOn ? count == 208 : count == 29)
  }

  // MARK: Versions

  @Test func `the current version is replaced within its file`() throws {
    let old: String =
      "<plist version='1.0'><dict>\r\n<key>x</key><true/>"
      + "<key>_XCCurrentVersionName</key> <string>A &amp; B.xcdatamodel</string></dict></plist>"
    let new: Data = CurrentVersion(name: "A 2").data(replacing: Data(old.utf8))
    #expect(
      String(decoding: new, as: UTF8.self)
        == old.replacingOccurrences(of: "A &amp; B.xcdatamodel", with: "A 2.xcdatamodel"))
    #expect(CurrentVersion(new)?.name == "A 2")
    #expect(CurrentVersion(CurrentVersion(name: "A 2").data(replacing: nil))?.name == "A 2")
    #expect(CurrentVersion(CurrentVersion(name: "B").data(replacing: Data("x".utf8)))?.name == "B")
  }
}
