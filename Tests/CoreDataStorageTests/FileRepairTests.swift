import CoreDataModel
import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport
import Testing

/// What can be read of XML and binary stores that are damaged, and what a repair makes of it.
@Suite struct FileRepairTests {
  private static let kinds: [AtomicKind] = [.xml, .binary]

  private static var salvaging: StoreOpeningOptions {
    var options = StoreOpeningOptions(isReadOnly: true)
    options.createsIfMissing = false
    options.checksModel = false
    options.salvages = true
    return options
  }

  private static func open(_ kind: AtomicKind, _ url: URL, _ model: NSManagedObjectModel) throws
    -> any StoreEngine
  {
    try kind.open(at: url, layout: ModelLayout(model: model), options: salvaging)
  }

  /// A store with three items, each of which has the one tag.
  private static func makeStore(_ kind: AtomicKind, at url: URL, _ model: NSManagedObjectModel) throws {
    let layout = ModelLayout(model: model)
    let engine: any StoreEngine = try kind.open(at: url, layout: layout, options: StoreOpeningOptions())
    let item: EntityLayout = try #require(layout.byName["Item"])
    let tag: EntityLayout = try #require(layout.byName["Tag"])
    func fill(
      _ slab: RowSlab, _ row: UnsafeMutableRawPointer, _ entity: EntityLayout, _ name: String, _ text: String
    ) {
      guard case .stored(.string, let word)? = entity.slot(named: name)?.role else { return }
      slab.set(
        row, word: word,
        to: Array(text.utf8).withUnsafeBytes { slab.appendTail($0.baseAddress, count: $0.count) })
    }
    var plan = SavePlan()
    let tags = RowSlab(layout: tag, family: false, rowCapacity: 1)
    let key: Int64 = plan.provisionalKey(in: tag)
    fill(tags, tags.appendRow(key: key, entity: tag.index, version: 1), tag, "label", "a")
    let items = RowSlab(layout: item, family: false, rowCapacity: 3)
    for number in 1...3 {
      let row = items.appendRow(key: plan.provisionalKey(in: item), entity: item.index, version: 1)
      fill(items, row, item, "title", "item \(number)")
      fill(items, row, item, "count", number == 2 ? "many" : "\(number)")
      guard case .stored(.toOne, let word)? = item.slot(named: "tag")?.role else { continue }
      items.set(row, word: word, toTarget: RowID(entity: tag.index, key: key))
    }
    plan.inserts = [(tag, RowBatch(slabs: [tags])), (item, RowBatch(slabs: [items]))]
    _ = try engine.save(plan)
    try engine.close()
  }

  private static func model(
    count: NSAttributeType = .stringAttributeType,
    tag: [(String, NSAttributeType)] = [("label", .stringAttributeType)],
    hasTags: Bool = true
  ) -> NSManagedObjectModel {
    let items = ModelEntity("Item", [("count", count), ("title", .stringAttributeType)])
    return makeModel(hasTags ? [items, ModelEntity("Tag", tag)] : [items]) { entities in
      guard let item = entities["Item"], let tag = entities["Tag"] else { return }
      _ = addRelationship("tag", from: item, to: tag, toMany: false)
    }
  }

  private static func rows(_ engine: any StoreEngine, _ name: String) throws -> [RowRef] {
    var rows: [RowRef] = []
    try engine.fetch(FetchPlan(entity: try #require(engine.layout.byName[name]))).forEach { rows.append($0) }
    return rows.sorted { $0.key < $1.key }
  }

  @Test(arguments: kinds.indices)
  func `a value that can't be read becomes nil, and all else is read`(number: Int) throws {
    let (kind, folder) = (Self.kinds[number], try TemporaryFolder())
    let url: URL = folder.file("Shop")
    try Self.makeStore(kind, at: url, Self.model())
    let model: NSManagedObjectModel = Self.model(count: .integer32AttributeType)
    var strict: StoreOpeningOptions = Self.salvaging
    strict.salvages = false
    #expect(throws: StoreError.self) {
      try kind.open(at: url, layout: ModelLayout(model: model), options: strict)
    }
    let engine: any StoreEngine = try Self.open(kind, url, model)
    defer { try? engine.close() }
    let rows: [RowRef] = try Self.rows(engine, "Item")
    #expect(rows.count == 3)
    let entity: EntityLayout = try #require(engine.layout.byName["Item"])
    guard case .stored(_, let title)? = entity.slot(named: "title")?.role,
      case .stored(_, let count)? = entity.slot(named: "count")?.role
    else { return }
    #expect(rows.map { $0.string(title) } == ["item 1", "item 2", "item 3"])
    #expect(!rows[1].hasValue(count))
    let problems: [StoreProblem] = engine.partsLeftOut().problems
    let named: [StoreProblem] = problems.filter { $0.objects == [rows[1].id] }
    #expect(named.map(\.kind) == [.value] && named.first?.property == "count")
    #expect(named.first?.message.contains("and became nil") == true, "\(problems)")
  }

  @Test(arguments: kinds.indices)
  func `a repair saves what can be read, and counts the objects that it lost`(number: Int) throws {
    let (kind, folder) = (Self.kinds[number], try TemporaryFolder())
    let url: URL = folder.file("Shop")
    try Self.makeStore(kind, at: url, Self.model())
    var model: NSManagedObjectModel = Self.model()
    if number == 0 {
      let text = try String(contentsOf: url, encoding: .utf8)
      try text.replacing("type=\"TAG\" id=\"z", with: "type=\"TAG\" id=\"y")
        .write(to: url, atomically: true, encoding: .utf8)
    } else {
      // Values without names: one too few.
      model = Self.model(tag: [("label", .stringAttributeType), ("more", .stringAttributeType)])
    }
    let engine: any StoreEngine = try Self.open(kind, url, model)
    defer { try? engine.close() }
    let outcome: StoreRepair.Outcome = try StoreRepair(of: engine, entityNames: nil)
      .run(to: folder.file("New"), kind: kind)
    #expect(outcome.entities.map(\.name) == ["Item", "Tag"])
    #expect(outcome.entities.map(\.saved) == [3, 0])
    if number == 1 { #expect(outcome.entities[1].lost.count == 1) }
    #expect(outcome.changes.contains { $0.kind == .row && $0.entity == "Tag" }, "\(outcome.changes)")
    #expect(outcome.changes.contains { $0.kind == .dangling && $0.count == 3 }, "\(outcome.changes)")
    let new: any StoreEngine = try kind.open(
      at: folder.file("New"), layout: ModelLayout(model: model),
      options: StoreOpeningOptions(isReadOnly: true))
    #expect(try Self.rows(new, "Item").count == 3)
    try new.close()
  }

  @Test(arguments: kinds.indices)
  func `objects of an entity that the model does not have are left out, and named`(number: Int) throws {
    let (kind, folder) = (Self.kinds[number], try TemporaryFolder())
    try Self.makeStore(kind, at: folder.file("Shop"), Self.model())
    // The relationship goes with its entity: a binary store's items have one value too many then.
    let engine: any StoreEngine = try Self.open(kind, folder.file("Shop"), Self.model(hasTags: false))
    defer { try? engine.close() }
    let problems: [StoreProblem] = engine.partsLeftOut().problems
    #expect(problems.contains { $0.kind == .entity && $0.count == 1 }, "\(problems)")
    #expect(try Self.rows(engine, "Item").count == (number == 0 ? 3 : 0))
  }

  // MARK: Documents

  /// A way to damage a document, the titles that are read then, and what is said.
  struct Case: Sendable, CustomTestStringConvertible {
    var old: String
    var new: String
    var titles: [String] = ["item 1", "item 2", "item 3"]
    var says: String
    var testDescription: String { "\(old) → \(new)" }
  }

  static let cases: [Case] = [
    Case(
      old: "<attribute name=\"title\" type=\"string\">item 2", new: "<attri\" bute>item 2",
      titles: ["item 1", "item 3"],
      says: ", within the object. Nothing was read of title, which may have stood there."),
    Case(
      old: "<attribute name=\"title\" type=\"string\">item 2",
      new: "<attribute name=\"title\" type=\"st<ring\">item 2", titles: ["item 1", "item 3"],
      says: "Item.title could not be read (the XML is damaged at line "),
    Case(
      old: "item 2</attribute>", new: "item 2<attribute>", titles: ["item 1", "item 3"],
      says: "Item.title could not be read (the XML is damaged"),
    Case(
      old: "item 2</attribute>", new: "item & 2</attribute>", titles: ["item 1", "item 3"],
      says: "Item.title could not be read (the XML is damaged"),
    Case(
      old: "</attribute>\n        <relationship name=\"tag\"", new: "<\n        <relationship name=\"tag\"",
      says: "Item.count could not be read (the XML is damaged"),
    Case(
      old: "</object>\n    <object type=\"ITEM\" id=\"z104\"", new: "</obj<object type=\"ITEM\" id=\"z104\"",
      says: "Item was read in part: the XML "),
    Case(
      old: "<object type=\"ITEM\" id=\"z103\"", new: "<object type=ITEM id=\"z103\"",
      titles: ["item 1", "item 3"],
      says: "Its XML is damaged at line "),
    Case(
      old: "id=\"z103\"", new: "id=\"z102\"", titles: ["item 1", "item 3"],
      says: "It has two objects with the id 102, of Item and Item. The object was left out."),
    Case(
      old: "id=\"z103\"", new: "id=\"103\"", titles: ["item 1", "item 3"],
      says: "An object 'ITEM' has the id '103'; z and a number were expected. The object was left out."),
    Case(
      old: "item 2</", new: "item \u{1}2</", titles: ["item 1", "item \u{FFFD}2", "item 3"],
      says: "It has bytes that are no text of XML; U+FFFD stands in their places"),
    Case(
      old: "item 2</", new: "item \u{1}2</", titles: ["item 1", "item \u{FFFD}2", "item 3"],
      says: "Item.title had bytes that are no text of XML; U+FFFD stands in their places."),
    Case(
      old: "idrefs=\"z105\"", new: "idrefs=\"105\"", says: "Item.tag named '105', which is no object."),
    Case(
      old: "idrefs=\"z105\"", new: "idrefs=\"z105 z102\"",
      says: "Item.tag could not be read (it has 2 objects and is to one), and became nil."),
    Case(
      old: "idrefs=\"z105\"", new: "idrefs=\"z103\"",
      says: "Item.tag named an object that is no Tag, and became nil."),
    Case(old: "<UUID>", new: "<UUID>x", says: "which is no UUID"),
    Case(old: "<version>1", new: "<version>2", says: "The version of the format is 234481920"),
    Case(
      old: "name=\"title\" type=\"string\">item 3", new: "name=\"colour\" type=\"string\">item 3",
      titles: ["item 1", "item 2"], says: "Item has 'colour', which the model does not have; it was left out."
    ),
  ]

  @Test(arguments: cases)
  func `of a damaged document every other object is read`(test: Case) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop.xml")
    try Self.makeStore(.xml, at: url, Self.model())
    let text = try String(contentsOf: url, encoding: .utf8)
    let place = try #require(text.range(of: test.old), "\(text)")
    let damaged: String = text.replacingCharacters(in: place, with: test.new)
    try damaged.write(to: url, atomically: true, encoding: .utf8)
    let engine: any StoreEngine = try Self.open(.xml, url, Self.model())
    defer { try? engine.close() }
    #expect(try AtomicKind.xml.inspect(url, options: Self.salvaging).type == "XML")
    guard case .stored(_, let word)? = engine.layout.byName["Item"]?.slot(named: "title")?.role else {
      return
    }
    let titles: [String] = try Self.rows(engine, "Item").compactMap {
      $0.hasValue(word) ? $0.string(word) : nil
    }
    #expect(titles == test.titles, "\(engine.partsLeftOut().problems)\n\(damaged)")
    let said: [String] = engine.partsLeftOut().problems.map(\.message)
    #expect(said.contains { $0.contains(test.says) }, "\(said)")
    // What follows the damage in its object is read too.
    guard case .stored(_, let count)? = engine.layout.byName["Item"]?.slot(named: "count")?.role,
      case .stored(_, let tag)? = engine.layout.byName["Item"]?.slot(named: "tag")?.role
    else { return }
    let rows: [RowRef] = try Self.rows(engine, "Item")
    if !test.says.contains("count") { #expect(rows.allSatisfy { $0.hasValue(count) }, "\(said)") }
    if !test.old.contains("idrefs") { #expect(rows.allSatisfy { $0.hasValue(tag) }, "\(said)") }
  }

  @Test func `of a document that is cut off what precedes the end is read`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop.xml")
    try Self.makeStore(.xml, at: url, Self.model())
    let bytes = try Data(contentsOf: url)
    let third: Data.Index = try #require(bytes.range(of: Data("item 3".utf8))).lowerBound
    try bytes[..<third].write(to: url)
    let engine: any StoreEngine = try Self.open(.xml, url, Self.model())
    defer { try? engine.close() }
    #expect(try Self.rows(engine, "Item").count == 3)
    let said: [String] = engine.partsLeftOut().problems.map(\.message)
    #expect(said.count == 3, "\(said)")
    #expect(said.contains { $0.hasPrefix("It is cut off at line ") }, "\(said)")
    #expect(engine.partsLeftOut().isCutOff)
    #expect(said.contains { $0.hasPrefix("Item was read in part: the XML ends early") }, "\(said)")
    #expect(said.contains { $0.hasPrefix("Item.title could not be read") }, "\(said)")
  }

  // MARK: Values that read as others

  /// Types of an attribute, and texts that are no value of them: most of them read as another value.
  static let wrongTexts: [(type: NSAttributeType, texts: [String])] = [
    (.doubleAttributeType, ["1e999", "-1e400", "1e-400", "1 2"]),
    (.floatAttributeType, ["1e39", "1e-60", "x"]), (.dateAttributeType, ["1e999", "today"]),
    (.integer16AttributeType, ["40000", "1.5", "1e3"]), (.integer64AttributeType, ["9223372036854775808"]),
    (.booleanAttributeType, ["2", "maybe"]),
    (
      .decimalAttributeType,
      [
        String(repeating: "1234567890", count: 6), "0.1234567890123456789012345678901234567890123", "1e200",
        "12x",
      ]
    ),
    (.binaryDataAttributeType, ["QUJ", "QU*JD", "QUJDRR==", "Q=UJD", "QUJD=="]),
    (.UUIDAttributeType, ["1234"]),
  ]

  private static func replaceCount(in url: URL, by text: String, _ name: String) throws {
    let document = try String(contentsOf: url, encoding: .utf8)
    try document.replacing(">many<", with: ">\(text)<")
      .replacing(/<attribute name="count" type="string">[13]<\/attribute>/, with: "")
      .write(
        to: url.deletingLastPathComponent().appendingPathComponent(name), atomically: true, encoding: .utf8)
  }

  @Test(arguments: wrongTexts)
  func `a text that would read as another value is an error, and nil in a repair`(
    type: NSAttributeType, texts: [String]
  ) throws {
    let folder = try TemporaryFolder()
    try Self.makeStore(.xml, at: folder.file("Whole.xml"), Self.model())
    let model: NSManagedObjectModel = Self.model(count: type)
    let url: URL = folder.file("Shop.xml")
    var reading: StoreOpeningOptions = Self.salvaging
    reading.salvages = false
    for text in texts {
      try Self.replaceCount(in: folder.file("Whole.xml"), by: text, "Shop.xml")
      let error: StoreError? = #expect(throws: StoreError.self, "\(text)") {
        try AtomicKind.xml.open(at: url, layout: ModelLayout(model: model), options: reading)
      }
      let said: String = error?.message().description ?? ""
      for word in [url.path, "Item.count", "z103", "'\(text)'", "clarus check STORE --repair OUT"] {
        #expect(said.contains(word), "\(text): \(said)")
      }
      let engine: any StoreEngine = try Self.open(.xml, url, model)
      defer { try? engine.close() }
      guard case .stored(_, let word)? = engine.layout.byName["Item"]?.slot(named: "count")?.role else {
        return
      }
      #expect(try Self.rows(engine, "Item").allSatisfy { !$0.hasValue(word) }, "\(text)")
      let noted: [StoreProblem] = engine.partsLeftOut().problems
      #expect(
        noted.count == 1 && noted[0].property == "count" && noted[0].message.contains("'\(text)'"),
        "\(noted)")
    }
  }

  static let rightTexts: [(type: NSAttributeType, texts: [String])] = [
    (.doubleAttributeType, ["inf", "-0", "nan", "0.0", "4.9e-324", "1e-310"]),
    (.decimalAttributeType, ["1.50", "-0", "1e3", "12345678901234567890123456789012345678", "NaN"]),
    (.binaryDataAttributeType, ["", "QUJD", "QU\n\t JD", "QQ=="]),
    (.floatAttributeType, ["0.1", "3.4028235e+38", "1e-45"]),
  ]

  @Test(arguments: rightTexts)
  func `a text that is a value is read`(type: NSAttributeType, texts: [String]) throws {
    let folder = try TemporaryFolder()
    try Self.makeStore(.xml, at: folder.file("Whole.xml"), Self.model())
    for text in texts {
      try Self.replaceCount(in: folder.file("Whole.xml"), by: text, "Shop.xml")
      let engine: any StoreEngine = try Self.open(.xml, folder.file("Shop.xml"), Self.model(count: type))
      defer { try? engine.close() }
      #expect(engine.partsLeftOut().problems.isEmpty, "\(text) \(engine.partsLeftOut().problems)")
    }
  }

  @Test(arguments: [
    ("version>", "has no <version>"), ("nextObjectID>", "has no <nextObjectID>"),
    ("metadata>", "has no <metadata>"), ("plist", "<metadata> has no dictionary"),
  ])
  func `parts of the beginning that are missing are told`(part: String, says: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop.xml")
    try Self.makeStore(.xml, at: url, Self.model())
    let text = try String(contentsOf: url, encoding: .utf8)
    let begin = try #require(text.range(of: "<\(part)")?.lowerBound)
    let end = try #require(text.range(of: "</\(part)")?.upperBound)
    let rest: Substring = text[end...].drop { $0 == ">" }
    try (text[..<begin] + rest).write(to: url, atomically: true, encoding: .utf8)
    var reading: StoreOpeningOptions = Self.salvaging
    for salvages in [true, false] {
      reading.salvages = salvages
      let engine: any StoreEngine = try AtomicKind.xml.open(
        at: url, layout: ModelLayout(model: Self.model()), options: reading)
      defer { try? engine.close() }
      let said: [String] = engine.partsLeftOut().problems.map(\.message)
      #expect(said.contains { $0.contains(says) }, "\(said)")
      #expect(try Self.rows(engine, "Item").count == 3)
    }
  }

  // MARK: What the new store lacks

  @Test(arguments: kinds.indices)
  func `what the model requires and a repair has no value for is listed with its objects`(number: Int) throws
  {
    let (kind, folder) = (Self.kinds[number], try TemporaryFolder())
    let url: URL = folder.file("Shop")
    try Self.makeStore(kind, at: url, Self.model())
    let model: NSManagedObjectModel = Self.model(count: .integer32AttributeType)
    model.entitiesByName["Item"]?.attributesByName["count"]?.isOptional = false
    let engine: any StoreEngine = try Self.open(kind, url, model)
    defer { try? engine.close() }
    let outcome: StoreRepair.Outcome = try StoreRepair(of: engine, entityNames: nil)
      .run(to: folder.file("New"), kind: kind)
    let ids: [RowID] = try Self.rows(engine, "Item").map(\.id)
    // A binary store has texts as texts.
    #expect(outcome.invalid.map(\.objects) == [number == 0 ? [ids[1]] : ids], "\(outcome.invalid)")
    #expect(
      outcome.invalid.first?.message
        == "Item.count is nil, and the model requires a value: the store opens, but these objects can't be saved "
        + "until that is set.")
  }

  @Test func `objects without an id of the model are counted by entity`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop.xml")
    try Self.makeStore(.xml, at: url, Self.model())
    let text = try String(contentsOf: url, encoding: .utf8)
    try text.replacing("type=\"TAG\" id=\"z", with: "type=\"TOG\" id=\"z")
      .replacing("id=\"z103\"", with: "id=\"103\"")
      .replacing("type=\"ITEM\" id=\"z104\"", with: "type=\"ITEM id=\"z104\"")
      .write(to: url, atomically: true, encoding: .utf8)
    let engine: any StoreEngine = try Self.open(.xml, url, Self.model())
    defer { try? engine.close() }
    let outcome: StoreRepair.Outcome = try StoreRepair(of: engine, entityNames: nil)
      .run(to: folder.file("New.xml"), kind: AtomicKind.xml)
    let lost: [String] = outcome.entities.map { "\($0.name) \($0.saved) \($0.lost) \($0.lostWithoutKey)" }
    #expect(lost == ["Item 1 [] 2", "Tag 0 [] 0", "TOG 0 [105] 0"])
  }

  // MARK: Sides and equal values

  private static func pairedModel() -> NSManagedObjectModel {
    makeModel([ModelEntity("Item", [("title", .stringAttributeType)]), ModelEntity("Tag")]) { entities in
      guard let item = entities["Item"], let tag = entities["Tag"] else { return }
      let one = addRelationship("tag", from: item, to: tag, toMany: false)
      let many = addRelationship("items", from: tag, to: item, toMany: true)
      one.inverseRelationship = many
      many.inverseRelationship = one
    }
  }

  /// A document with items that have titles and name tags, and tags that list items.
  private static func document(
    items: [(key: Int, title: String, tag: String)], tags: [(key: Int, items: String)]
  ) -> String {
    func relationship(_ name: String, _ counts: String, _ destination: String, _ ids: String) -> String {
      "<relationship name=\"\(name)\" type=\"\(counts)\" destination=\"\(destination)\" idrefs=\"\(ids)\"></relationship>"
    }
    let objects: [String] =
      items.map { key, title, tag in
        "<object type=\"ITEM\" id=\"z\(key)\"><attribute name=\"title\" type=\"string\">\(title)</attribute>"
          + relationship("tag", "0/1", "TAG", tag) + "</object>"
      }
      + tags.map { key, items in
        "<object type=\"TAG\" id=\"z\(key)\">" + relationship("items", "0/0", "ITEM", items) + "</object>"
      }
    return """
      <?xml version="1.0"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
      <database><databaseInfo><version>134481920</version><UUID>B4FC79D0-E654-43EF-9020-A5273B3F104A</UUID>
      <nextObjectID>200</nextObjectID><metadata><plist version="1.0"><dict></dict></plist></metadata></databaseInfo>
      \(objects.joined(separator: "\n"))</database>
      """
  }

  /// What an item has as its tag, what two tags list, and what is said.
  struct SidesCase: Sendable {
    var tag: String
    var first: String
    var second: String = ""
    var says: [String] = []
  }

  private static let taken =
    "Tag.items names an object whose tag did not name it in turn, and was taken to do so."

  static let sides: [SidesCase] = [
    SidesCase(tag: "z110", first: "z101"), SidesCase(tag: "", first: "z101", says: [taken]),
    SidesCase(
      tag: "z110", first: "",
      says: ["Item.tag names an object whose items did not name it in turn, and was taken to do so."]),
    SidesCase(
      tag: "z110", first: "z101", second: "z101",
      says: ["Tag.items named an object whose tag names another one, and which was left out."]),
    SidesCase(tag: "z110", first: "z101 z101", says: ["Tag.items names an object twice; it counts once."]),
    SidesCase(
      tag: "101", first: "z101", says: ["Item.tag named '101', which is no object.", taken]),
    SidesCase(
      tag: "z120 z110", first: "z101",
      says: [
        "Item.tag could not be read (it has 2 objects and is to one), and is the object whose list has it.",
        taken,
      ]),
  ]

  @Test(arguments: sides)
  func `pairs that only one side of a relationship names are told, with what is made of them`(test: SidesCase)
    throws
  {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop.xml")
    try Self.document(items: [(101, "a", test.tag)], tags: [(110, test.first), (120, test.second)])
      .write(to: url, atomically: true, encoding: .utf8)
    var options: StoreOpeningOptions = Self.salvaging
    options.examines = true
    let engine: any StoreEngine = try AtomicKind.xml.open(
      at: url, layout: ModelLayout(model: Self.pairedModel()), options: options)
    defer { try? engine.close() }
    #expect(engine.partsLeftOut().problems.map(\.message) == test.says)
    guard case .stored(_, let word)? = engine.layout.byName["Item"]?.slot(named: "tag")?.role else { return }
    #expect(try Self.rows(engine, "Item").map { $0.hasValue(word) ? $0.target(word).key : 0 } == [110])
  }

  @Test func `equal values that are to be unique are named at opening, by a check and by a repair`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop.xml")
    try Self.document(items: [(101, "a", ""), (102, "b", ""), (103, "a", "")], tags: [])
      .write(to: url, atomically: true, encoding: .utf8)
    let model: NSManagedObjectModel = Self.pairedModel()
    model.entitiesByName["Item"]?.uniquenessConstraints = [["title"]]
    let layout = ModelLayout(model: model)
    var options: StoreOpeningOptions = Self.salvaging
    options.salvages = false
    let error: StoreError? = #expect(throws: StoreError.self) {
      try AtomicKind.xml.open(at: url, layout: layout, options: options)
    }
    let said: String = error?.message().description ?? ""
    for word in [url.path, "title \"a\"", "/Item/p101", "/Item/p103", "--repair OUT"] {
      #expect(said.contains(word), "\(said)")
    }
    options.examines = true
    let read: any StoreEngine = try AtomicKind.xml.open(at: url, layout: layout, options: options)
    let found: [StoreProblem] = try StoreCheck(of: read).run()
    #expect(found.map(\.kind) == [.unique] && found.first?.objects.map(\.key) == [101, 103], "\(found)")
    #expect(found.first?.message.contains("(title \"a\")") == true, "\(found)")
    try read.close()
    options.salvages = true
    let engine: any StoreEngine = try AtomicKind.xml.open(at: url, layout: layout, options: options)
    defer { try? engine.close() }
    let outcome: StoreRepair.Outcome = try StoreRepair(of: engine, entityNames: nil)
      .run(to: folder.file("New.xml"), kind: AtomicKind.xml)
    #expect(outcome.entities.first?.saved == 2 && outcome.entities.first?.lost == [103])
    let change: StoreProblem? = outcome.changes.first { $0.kind == .unique }
    #expect(
      change?.message.contains("the same values (title \"a\") as Item/p101") == true
        && change?.objects.map(\.key) == [103], "\(outcome.changes)")
  }

  // MARK: What is passed over

  /// What a whole document has that no store has, and what a check says of it; what a repair makes of the
  /// titles.
  static let oddities: [Case] = [
    Case(
      old: "item 2</", new: "item <x>7</x>2</", titles: ["item 1", "item 3"],
      says: "Item has <x> in <attribute>, which is no part of an XML store"),
    Case(
      old: "item 2</attribute>",
      new: "item 2</attribute>\n<object type=\"TAG\" id=\"z990\"></object>",
      says: "Item has <object>, which is no part of an XML store"),
    Case(
      old: "item 2</attribute>", new: "item 2</attribute> words ",
      says: "Item has text between its properties, which is no part of an XML store"),
    Case(
      old: "item 2</attribute>",
      new: "item 2</attribute>\n<attribute name=\"title\" type=\"string\">again</attribute>",
      titles: ["item 1", "again", "item 3"], says: "Item.title stands twice in it; the last value counts."),
  ]

  @Test(arguments: oddities)
  func `what a document has that no store has is told by a check and by a repair`(test: Case) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop.xml")
    try Self.makeStore(.xml, at: url, Self.model())
    let text = try String(contentsOf: url, encoding: .utf8)
    let place = try #require(text.range(of: test.old), "\(text)")
    try text.replacingCharacters(in: place, with: test.new).write(to: url, atomically: true, encoding: .utf8)
    var reading: StoreOpeningOptions = Self.salvaging
    reading.salvages = false
    let read = try AtomicKind.xml.open(
      at: url, layout: ModelLayout(model: Self.model()), options: reading)
    let found: [StoreProblem] = try StoreCheck(of: read).run()
    #expect(found.contains { $0.kind == .damage && $0.message.contains(test.says) }, "\(found)")
    try read.close()
    let salvaged: any StoreEngine = try Self.open(.xml, url, Self.model())
    defer { try? salvaged.close() }
    let said: [String] = salvaged.partsLeftOut().problems.map(\.message)
    #expect(said.contains { $0.contains(test.says) }, "\(said)")
    guard case .stored(_, let word)? = salvaged.layout.byName["Item"]?.slot(named: "title")?.role else {
      return
    }
    let titles: [String] = try Self.rows(salvaged, "Item").compactMap {
      $0.hasValue(word) ? $0.string(word) : nil
    }
    #expect(titles == test.titles)
  }

  @Test func `a document that is damaged in a thousand places loses what stands there`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop.xml")
    try Self.makeStore(.xml, at: url, Self.model())
    let text = try String(contentsOf: url, encoding: .utf8)
    let begin = try #require(text.range(of: "<object type=\"TAG\"")?.lowerBound)
    let end = try #require(text.range(of: "</object>", range: begin..<text.endIndex)?.upperBound)
    let more: String = (0..<2000).map { number in
      "<object type=\"TAG\" id=\"z\(1000 + number)\"><attribute name=\"label\" type=\"string\">"
        + "\(number % 2 == 0 ? "a & b" : "whole")</attribute></object>\n"
    }.joined()
    try text.replacingCharacters(in: end..<end, with: "\n" + more).write(
      to: url, atomically: true, encoding: .utf8)
    let engine: any StoreEngine = try Self.open(.xml, url, Self.model())
    defer { try? engine.close() }
    guard case .stored(_, let word)? = engine.layout.byName["Tag"]?.slot(named: "label")?.role else { return }
    let tags: [RowRef] = try Self.rows(engine, "Tag")
    #expect(tags.count == 2001)
    #expect(tags.count { $0.hasValue(word) && $0.string(word) == "whole" } == 1000)
    #expect(engine.partsLeftOut().problems.count == 1000)
    #expect(try Self.rows(engine, "Item").count == 3)
  }

  @Test func `a binary store that lacks its metadata has its objects`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop")
    try Self.makeStore(.binary, at: url, Self.model())
    try Data(contentsOf: url).dropLast(1).write(to: url)
    let engine: any StoreEngine = try Self.open(.binary, url, Self.model())
    defer { try? engine.close() }
    #expect(try Self.rows(engine, "Item").count == 3)
    let said: [String] = engine.partsLeftOut().problems.map(\.message)
    #expect(said.count == 1 && said[0].hasPrefix("Its metadata can't be read"), "\(said)")
  }

  @Test(arguments: ["mapData", "$objects", "$top", "header"])
  func `a binary store whose list of objects is damaged has its objects`(part: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop")
    try Self.makeStore(.binary, at: url, Self.model())
    var bytes = try Data(contentsOf: url)
    if part == "header" {
      bytes[bytes.startIndex + 40] = 0x7F
    } else {
      let place = try #require(bytes.range(of: Data(part.utf8))).lowerBound
      bytes[place + 2] = UInt8(ascii: "X")
    }
    try bytes.write(to: url)
    var reading: StoreOpeningOptions = Self.salvaging
    reading.salvages = false
    #expect(throws: StoreError.self) {
      try AtomicKind.binary.open(at: url, layout: ModelLayout(model: Self.model()), options: reading)
    }
    let engine: any StoreEngine = try Self.open(.binary, url, Self.model())
    defer { try? engine.close() }
    let said: [String] = engine.partsLeftOut().problems.map(\.message)
    guard case .stored(_, let title)? = engine.layout.byName["Item"]?.slot(named: "title")?.role,
      case .stored(_, let tag)? = engine.layout.byName["Item"]?.slot(named: "tag")?.role
    else { return }
    let rows: [RowRef] = try Self.rows(engine, "Item")
    #expect(rows.map { $0.string(title) } == ["item 1", "item 2", "item 3"], "\(said)")
    #expect(rows.allSatisfy { $0.hasValue(tag) })
    #expect(said.count == (part == "header" ? 0 : 1), "\(said)")
    #expect(said.allSatisfy { $0.hasPrefix("Its list of objects can't be read") }, "\(said)")
  }

  @Test func `members that are not there are found by a check and listed by a copy, until a save`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Shop.xml")
    let model = makeModel([
      ModelEntity("Item", [("title", .stringAttributeType)]), ModelEntity("Tag"),
    ]) { entities in
      guard let item = entities["Item"], let tag = entities["Tag"] else { return }
      _ = addRelationship("tags", from: item, to: tag, toMany: true)
    }
    let layout = ModelLayout(model: model)
    let item: EntityLayout = try #require(layout.byName["Item"])
    func insert(into engine: any StoreEngine) throws {
      var plan = SavePlan()
      let slab = RowSlab(layout: item, family: false, rowCapacity: 1)
      _ = slab.appendRow(key: plan.provisionalKey(in: item), entity: item.index, version: 1)
      plan.inserts = [(item, RowBatch(slabs: [slab]))]
      _ = try engine.save(plan)
    }
    var engine: any StoreEngine = try AtomicKind.xml.open(
      at: url, layout: layout, options: StoreOpeningOptions())
    try insert(into: engine)
    try engine.close()
    let text = try String(contentsOf: url, encoding: .utf8)
    let place = try #require(text.range(of: "destination=\"TAG\""), "\(text)")
    try text.replacingCharacters(in: place, with: "destination=\"TAG\" idrefs=\"z998 z999\"")
      .write(to: url, atomically: true, encoding: .utf8)
    engine = try AtomicKind.xml.open(at: url, layout: layout, options: StoreOpeningOptions())
    let found: [StoreProblem] = try StoreCheck(of: engine).run()
    #expect(found.map(\.kind) == [.dangling] && found.first?.count == 2, "\(found)")
    #expect(try engine.lostReferences().map(\.count) == [2])
    let copy = try InMemoryEngine(layout: layout)
    let outcome = try StoreTransfer.copy(layout.entities, from: engine, isReadOnly: false, to: copy)
    #expect(outcome.leftOut.map(\.count) == [2] && outcome.leftOut.first?.property == "tags")
    try insert(into: engine)
    #expect(try engine.lostReferences().isEmpty)
    try engine.close()
  }
}
