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
    _ name: String, _ type: NSAttributeType, _ change: (inout PropertySettings) -> Void = { _ in }
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
    var change: (inout PropertySettings) -> Void = { _ in }
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
      var settings = PropertySettings()
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
    func set(_ name: String, _ change: (inout PropertySettings) -> Void) throws {
      var settings = PropertySettings()
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
      (
        "b", { $0.defaultValue = .given("1") },
        "A.b is a relationship, which can't have --default. Of relationships"
      ),
      ("b", { $0.minimum = .given("1") }, "A.b leads to one object at most"),
      ("b", { $0.inverse = .given("c") }, "has no relationship 'c'. Did you mean"),
      ("name", { $0.deleteRule = .denyDeleteRule }, "'name' is an attribute, which can't have --rule"),
      ("nmae", { $0.isOptional = true }, "A has no attribute or relationship 'nmae'. Did you mean \"name\"?"),
      ("name", { $0.isIndexed = false }, "There is no index over 'name' alone."),
      ("name", { $0.isUnique = false }, "There is no constraint of 'name' alone."),
    ] as [(String, (inout PropertySettings) -> Void, String)] {
      let error: ModelFileError = try #require(throws: ModelFileError.self) { try set(name, change) }
      #expect(error.description.contains(says), "\(error)")
    }
  }

  private static let library: String = """

        <entity name="Author" representedClassName=".Author" syncable="YES">
            <attribute name="bookCount" optional="YES" attributeType="Integer 32" derived="YES" derivationExpression="books.@count"/>
            <attribute name="name" attributeType="String"/>
            <attribute name="upper" optional="YES" attributeType="String" derived="YES" derivationExpression="uppercase:(name)"/>
            <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
            <fetchedProperty name="same" optional="YES"><fetchRequest name="same" entity="Book" predicateString="author.name == 'name'"/></fetchedProperty>
            <fetchIndex name="byName" partialIndexPredicate="name != nil">
                <fetchIndexElement property="name" type="Binary" order="ascending"/>
                <fetchIndexElement expression="uppercase:(name)" expressionType="String" type="Binary" order="ascending"/>
            </fetchIndex>
            <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
        </entity>
        <entity name="Book" syncable="YES">
            <attribute name="name" attributeType="String"/>
            <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
        </entity>
        <entity name="Poet" parentEntity="Author" syncable="YES">
            <fetchIndex name="byPoetName"><fetchIndexElement property="name" type="Binary" order="ascending"/></fetchIndex>
        </entity>
        <fetchRequest name="Named" entity="Book" predicateString="name == $name AND SUBQUERY(author.books, $b, $b.author.name == &quot;name&quot;).@count &gt; 0"/>
        <configuration name="C"><memberEntity name="Author"/></configuration>
        <elements><element name="Author" positionX="0" positionY="0" width="1" height="1"/></elements>

    """

  @Test func `a property is renamed with all that names it, and nothing else`() throws {
    var edit = try Self.edit(Self.library)
    let before: String = Self.text(edit)
    var settings = PropertySettings()
    settings.name = "title"
    try edit.set(settings, of: "name", in: "Author")
    var expected: String = before
    for (old, new) in [
      (
        "<attribute name=\"name\" attributeType=\"String\"/>\n        <attribute name=\"upper\"",
        "<attribute name=\"title\" attributeType=\"String\" elementID=\"name\"/>\n        <attribute name=\"upper\""
      ),
      ("uppercase:(name)", "uppercase:(title)"), ("property=\"name\"", "property=\"title\""),
      ("constraint value=\"name\"", "constraint value=\"title\""), ("author.name", "author.title"),
      ("\"name != nil\"", "\"title != nil\""),
    ] {
      #expect(expected.contains(old), "\(old)")
      expected = expected.replacing(old, with: new)
    }
    #expect(Self.text(edit) == expected)
    // And a relationship, with its inverse.
    settings.name = "works"
    try edit.set(settings, of: "books", in: "Author")
    for (old, new) in [
      ("<relationship name=\"books\"", "<relationship name=\"works\""),
      (
        "inverseName=\"author\" inverseEntity=\"Book\"",
        "inverseName=\"author\" inverseEntity=\"Book\" elementID=\"books\""
      ),
      ("inverseName=\"books\"", "inverseName=\"works\""), ("\"books.@count\"", "\"works.@count\""),
      ("author.books", "author.works"),
    ] {
      #expect(expected.contains(old), "\(old)")
      expected = expected.replacing(old, with: new)
    }
    #expect(Self.text(edit) == expected)
    // The renaming identifier is the name that other versions have; back to it there is none.
    settings.name = "name"
    try edit.set(settings, of: "title", in: "Author")
    settings.name = "books"
    try edit.set(settings, of: "works", in: "Author")
    #expect(Self.text(edit) == before)
  }

  @Test func `an entity is renamed with all that names it, and gets a parent, a class and a module`() throws {
    var edit = try Self.edit(Self.library)
    let before: String = Self.text(edit)
    func set(_ entity: String, _ change: (inout EntitySettings) -> Void) throws {
      var settings = EntitySettings()
      change(&settings)
      try edit.set(settings, of: entity)
    }
    try set("Author") { $0.name = "Writer" }
    let expected: String = before.replacing("\"Author\"", with: "\"Writer\"")
      .replacing("\".Author\"", with: "\".Writer\" elementID=\"Author\"")
    #expect(Self.text(edit) == expected)
    #expect(edit.remarks.count == 1 && edit.remarks[0].contains("--class Author"), "\(edit.remarks)")
    try set("Writer") { $0.name = "Author" }
    #expect(Self.text(edit) == before)
    for (change, line) in [
      ({ $0.isAbstract = true }, "<entity name=\"Book\" isAbstract=\"YES\" syncable"),
      ({ $0.isAbstract = false }, "<entity name=\"Book\" syncable"),
      ({ $0.className = "Volume" }, "<entity name=\"Book\" representedClassName=\"Volume\" syncable"),
      ({ $0.module = .given("current") }, "representedClassName=\".Volume\""),
      ({ $0.module = .given("Shop") }, "representedClassName=\"Shop.Volume\""),
      ({ $0.className = "Tome" }, "representedClassName=\"Shop.Tome\""),
      ({ $0.module = .removed }, "representedClassName=\"Tome\""),
      ({ $0.renamingIdentifier = .given("Text") }, "elementID=\"Text\""),
    ] as [((inout EntitySettings) -> Void, String)] {
      try set("Book", change)
      #expect(Self.text(edit).contains(line), "\(line): \(Self.text(edit))")
    }
    try edit.add(NewEntity(name: "Thing"))
    try set("Thing") { $0.parent = .given("Book") }
    #expect(Self.text(edit).contains("representedClassName=\"Thing\" parentEntity=\"Book\""))
    try set("Thing") { $0.parent = .removed }
    #expect(!Self.text(edit).contains("parentEntity=\"Book\""))
    for (entity, change, says) in [
      ("Author", { $0.name = "Book" }, "There is an entity 'Book' already"),
      ("Author", { $0.parent = .given("Author") }, "among its own ancestors"),
      ("Poet", { $0.parent = .removed }, "[index]"),
      ("Author", { $0.parent = .given("Buch") }, "There is no entity 'Buch'"),
      ("Author", { $0.renamingIdentifier = .given("Book") }, "There still is the entity 'Book'"),
      ("Author", { $0.className = "NSManagedObjectContext" }, "the name of a type of Core Data"),
      ("Author", { $0.name = "NSManagedObject" }, "for the entity."),
    ] as [(String, (inout EntitySettings) -> Void, String)] {
      let error: ModelFileError? = #expect(throws: ModelFileError.self) { try set(entity, change) }
      #expect(error?.description.contains(says) == true, "\(String(describing: error))")
    }
    // No class of its own.
    try set("Author") { $0.className = "NSManagedObject" }
  }

  @Test func `relationships are changed, and what they would lose is refused`() throws {
    var edit = try Self.edit(
      """

          <entity name="Author">
              <attribute name="bookCount" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>
              <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
          </entity>
          <entity name="Book">
              <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
          </entity>

      """)
    func set(_ path: String, _ change: (inout PropertySettings) -> Void) throws {
      let parts: [Substring] = path.split(separator: ".")
      var settings = PropertySettings()
      change(&settings)
      try edit.set(settings, of: String(parts[1]), in: String(parts[0]))
    }
    for (path, change, part) in [
      (
        "Author.books", { ($0.minimum, $0.maximum, $0.isOrdered) = (.given("0"), .given("9"), true) },
        "toMany=\"YES\" minCount=\"0\" maxCount=\"9\" deletionRule=\"Nullify\" ordered=\"YES\""
      ),
      ("Author.books", { $0.deleteRule = .cascadeDeleteRule }, "maxCount=\"9\" deletionRule=\"Cascade\""),
      (
        "Author.books",
        { ($0.isToMany, $0.minimum, $0.maximum, $0.isOrdered) = (false, .removed, .removed, false) },
        "<relationship name=\"books\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Cascade\" destinationEntity"
      ),
      (
        "Author.books", { $0.isToMany = true },
        "<relationship name=\"books\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Cascade\" destinationEntity"
      ),
      ("Author.books", { $0.inverse = .removed }, "destinationEntity=\"Book\"/>"),
      ("Author.books", { $0.inverse = .given("author") }, "inverseName=\"author\" inverseEntity=\"Book\"/>"),
    ] as [(String, (inout PropertySettings) -> Void, String)] {
      try set(path, change)
      #expect(Self.text(edit).contains(part), "\(part): \(Self.text(edit))")
    }
    #expect(Self.text(edit).contains("inverseName=\"books\" inverseEntity=\"Author\""))
    try set("Author.books") { $0.minimum = .given("2") }
    for (path, change, says) in [
      ("Author.books", { $0.isToMany = false }, "Take away what is not to stay with --no-min."),
      ("Author.books", { $0.maximum = .given("x") }, "--max: 'x' is no number of objects."),
      (
        "Author.bookCount", { $0.isOptional = false },
        "'bookCount' is derived (now()), so that the store"
      ),
      ("Author.bookCount", { $0.defaultValue = .given("1") }, "--default would mean nothing"),
    ] as [(String, (inout PropertySettings) -> Void, String)] {
      let error: ModelFileError? = #expect(throws: ModelFileError.self) { try set(path, change) }
      #expect(error?.description.contains(says) == true, "\(String(describing: error))")
    }
  }

  // Finding: the error was of the attribute that named the old one, and indexes named nothing afterwards.
  @Test func `what named a replaced attribute names the new one, or is told`() throws {
    let title: NewAttribute = Self.attribute("title", .stringAttributeType) {
      $0.renamingIdentifier = .given("name")
    }
    var edit = try Self.edit(Self.library)
    try edit.add(title, to: "Author", replacing: true)
    for part in [
      "uppercase:(title)\"/>", "partialIndexPredicate=\"title != nil", "expression=\"uppercase:(title)",
    ] {
      #expect(Self.text(edit).contains(part), "\(Self.text(edit))")
    }
    edit = try Self.edit(Self.library.replacing("author.name == 'name'", with: "$row.name == 1"))
    let before: Data = edit.document.data
    let error: ModelFileError = try #require(throws: ModelFileError.self) {
      try edit.add(title, to: "Author", replacing: true)
    }
    let says: String =
      "The predicate of the fetched property Author.same, '$row.name == 1', names 'name', and"
    #expect(error.description.contains(says), "\(error)")
    #expect(edit.document.data == before)
  }

  // Finding: a number that had been a text got the default value 0, with which stores were filled.
  // Finding: no command took a part out of a model.
  @Test func `a part is removed with what has no meaning without it, and what needs it keeps it`() throws {
    let start: ModelEdit = try Self.edit(
      """
          <entity name="Gift" representedClassName="Gift" parentEntity="Item" syncable="YES">
              <uniquenessConstraints>
                  <uniquenessConstraint>
                      <constraint value="title"/>
                      <constraint value="code"/>
                  </uniquenessConstraint>
              </uniquenessConstraints>
          </entity>
          <entity name="Item" representedClassName="Item" syncable="YES">
              <attribute name="code" optional="YES" attributeType="String"/>
              <attribute name="folded" optional="YES" attributeType="String" derived="YES" derivationExpression="canonical:(code)"/>
              <attribute name="title" optional="YES" attributeType="String"/>
              <relationship name="shop" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Shop" inverseName="items" inverseEntity="Shop"/>
              <fetchIndex name="byTitle" partialIndexPredicate="title != nil">
                  <fetchIndexElement property="title" type="Binary" order="ascending"/>
              </fetchIndex>
          </entity>
          <entity name="Shop" representedClassName="Shop" syncable="YES">
              <attribute name="name" optional="YES" attributeType="String"/>
              <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Item" inverseName="shop" inverseEntity="Item"/>
          </entity>
          <fetchRequest name="Named" entity="Item" predicateString="shop.name == $NAME"/>
          <configuration name="Some">
              <memberEntity name="Gift"/>
              <memberEntity name="Shop"/>
          </configuration>
      """)
    let before: String = Self.text(start)
    func removed(_ path: String) throws -> ModelEdit {
      var edit: ModelEdit = start
      let names: [Substring] = path.split(separator: ".")
      if names.count == 1 {
        try edit.remove(entity: path)
      } else {
        try edit.remove(String(names[1]), from: String(names[0]))
      }
      return edit
    }
    for (path, says) in [
      (
        "Item.code",
        "Item.code is needed: Item.folded names it (canonical:(code)). Change or remove that first."
      ),
      ("Shop.name", "Shop.name is needed: the fetch request 'Named' names it (shop.name == $NAME)."),
      (
        "Item",
        "Item is needed: Gift derives from it; Shop.items leads to it; the fetch request 'Named' fetches it."
      ),
      ("Gift.title", "Gift inherits 'title' from Item: change Item.title."),
      ("Item.titel", "Did you mean \"title\"?"), ("Itm", "Did you mean \"Item\"?"),
    ] {
      let error: (any Error)? = #expect(throws: (any Error).self) { _ = try removed(path) }
      #expect("\(error!)".contains(says), "\(path): \(error!)")
    }
    let title: ModelEdit = try removed("Item.title")
    #expect(
      title.remarks == [
        "The constraint (title, code) of Gift is removed with it.",
        "The fetch index 'byTitle' of Item is removed with it.",
      ])
    func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
    #expect(
      lines(Self.text(title)).difference(from: lines(before)).allSatisfy {
        if case .insert(_, let line, _) = $0 { line.contains("entity name=\"Gift\"") } else { true }
      })
    #expect(!Self.text(title).contains("title"))
    let shop: ModelEdit = try removed("Shop.items")
    #expect(Self.text(shop).contains("destinationEntity=\"Shop\"/>"))
    #expect(shop.warnings.map(\.code) == ["no-inverse"], "\(shop.warnings)")
    let gift: ModelEdit = try removed("Gift")
    #expect(!Self.text(gift).contains("Gift") && Self.text(gift).contains("memberEntity name=\"Shop\""))
  }

  @Test func `a new type brings no default value`() throws {
    for isRequired in [false, true] {
      var edit = try Self.edit(
        "\n    <entity name=\"A\"><attribute name=\"a\" attributeType=\"String\"/></entity>\n")
      var settings = PropertySettings()
      (settings.type, settings.isOptional) = (.integer32AttributeType, !isRequired)
      try edit.set(settings, of: "a", in: "A")
      #expect(!Self.text(edit).contains("default"), "\(Self.text(edit))")
    }
  }

  @Test(
    arguments: [
      ("name == 'name' AND a.name > name", "title == 'name' AND a.name > title"),
      ("SELF.name BEGINSWITH[c] \"a\\\"name\"", "SELF.title BEGINSWITH[c] \"a\\\"name\""),
      ("#name = 3.5e2 || names = name.length", "#title = 3.5e2 || names = title.length"),
      ("ANY next.next.name IN {1, 2}", "ANY next.next.title IN {1, 2}"),
      ("SUBQUERY(next, $x, $x.name = $name)[SIZE] > 1", "SUBQUERY(next, $x, $x.title = $name)[SIZE] > 1"),
      ("$row.name = 1", nil), ("FUNCTION(next, 'f').name = 1", nil), ("next[0].name = 1", nil),
      ("name:(name) = 2", "name:(title) = 2"), ("next.@max.name = 2", "next.@max.title = 2"),
    ] as [(String, String?)])
  func `key paths are renamed in texts`(text: String, becomes: String?) throws {
    let edit = try Self.edit(
      "<entity name=\"A\"><attribute name=\"name\"/><attribute name=\"a\" attributeType=\"Composite\"/>"
        + "<relationship name=\"next\" destinationEntity=\"A\"/></entity>")
    let renaming = KeyPathRenaming(edit.document.root, owner: "A", old: "name", new: "title")
    #expect(renaming.renamed(text, from: "A") == becomes)
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
    ("'NSManagedObject', which is the name of a type", { try $0.add(NewEntity(name: "NSManagedObject")) }),
    (
      "hides it in the program. Choose another name with --class.",
      {
        var part = NewEntity(name: "Part")
        part.className = "Shop.NSEntityDescription"
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
