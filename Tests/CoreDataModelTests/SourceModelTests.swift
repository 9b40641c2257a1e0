import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel

/// The shipped model `Shop`, whose second version uses every element and attribute of model files.
struct SourceModelTests {
  static let shop = OwnFixtures.file("Shop.xcdatamodeld")

  @Test func `a package opens at the version its file of the current version names`() throws {
    let loaded = try NSManagedObjectModel.load(contentsOf: Self.shop)
    #expect(loaded.warnings == [])
    #expect(loaded.model.versionIdentifiers == ["2"])
    #expect(Set(loaded.model.entitiesByName.keys) == ["Thing", "Product", "Review"])
    #expect(try NSManagedObjectModel.loadVersions(contentsOf: Self.shop).keys.sorted() == ["Shop", "Shop 2"])
    let old = Self.shop.appendingPathComponent("Shop.xcdatamodel")
    #expect(try NSManagedObjectModel.load(contentsOf: old).model.entitiesByName.keys.sorted() == ["Article"])
    let contents = old.appendingPathComponent("contents")
    #expect(
      try NSManagedObjectModel.load(contentsOf: contents).model.entitiesByName.keys.sorted() == ["Article"])
  }

  @Test func `every setting of an entity arrives`() throws {
    let model = try NSManagedObjectModel.load(contentsOf: Self.shop).model
    let product = try #require(model.entitiesByName["Product"])
    let thing = try #require(model.entitiesByName["Thing"])
    #expect(thing.isAbstract)
    #expect(thing.managedObjectClassName == "NSManagedObject")
    #expect(thing.uniquenessConstraintNames == [["key"]])
    #expect(product.managedObjectClassName == ".Product")
    #expect(product.superentity === thing)
    #expect(thing.subentities == [product])
    #expect(product.renamingIdentifier == "Article")
    #expect(product.versionHashModifier == "b")
    #expect(product.codeGenerationType == "class")
    #expect(product.userInfo as? [String: String] == ["table": "products"])
    #expect(product.compoundIndexNames == [["title", "code"], ["title", "count16"]])
    #expect(product.indexes.map(\.name) == ["title_code", "byTitle"])
    #expect(product.indexes[1].elements.map(\.propertyName) == ["title", "count16"])
    #expect(product.indexes[1].elements.map(\.isAscending) == [true, false])
    #expect(product.indexes[1].elements[0].property === product.attributesByName["title"])
    #expect(product.indexes[1].elements[0].indexDescription === product.indexes[1])
    #expect(product.propertiesByName.keys.contains("created"))
    #expect(!product.ownProperties.contains { $0.name == "created" })
    #expect(model.entities(forConfigurationName: "Local")?.map(\.name) == ["Review"])
    #expect(model.configurations == ["PF_DEFAULT_CONFIGURATION_NAME", "Local"])
    #expect(model.entities(forConfigurationName: "Cloud") == nil)
    #expect(model.entitiesInStoreOrder.map(\.name) == ["Review", "Thing", "Product"])
  }

  @Test func `every attribute has its type and a default of that type`() throws {
    let product = try #require(
      NSManagedObjectModel.load(contentsOf: Self.shop).model.entitiesByName["Product"])
    let attributes = product.attributesByName
    func type(_ name: String) -> NSAttributeType? { attributes[name]?.attributeType }
    #expect(type("active") == .booleanAttributeType)
    #expect(attributes["active"]?.defaultValue as? Bool == true)
    #expect(type("count16") == .integer16AttributeType)
    #expect(attributes["count16"]?.defaultValue as? Int == 3)
    #expect(attributes["count32"]?.defaultValue as? Int == -70000)
    #expect(attributes["count64"]?.defaultValue as? Int64 == 9_007_199_254_740_993)
    #expect(attributes["price"]?.type == .decimal)
    #expect(
      (attributes["price"]?.defaultValue as? NSDecimalNumber)?.decimalValue
        == Decimal(string: "-12345678901234567890.12345"))
    #expect(attributes["price"]?.versionHashModifier == "m")
    #expect(attributes["ratio"]?.defaultValue as? Double == 0.25)
    #expect(attributes["weight"]?.defaultValue as? Double == 1.5)
    #expect(attributes["created"]?.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 0))
    #expect(attributes["title"]?.defaultValue as? String == "Neu & schön")
    #expect(attributes["title"]?.renamingIdentifier == "name")
    #expect(attributes["title"]?.userInfo as? [String: String] == ["hint": "shown in lists"])
    #expect(attributes["link"]?.defaultValue as? URL == URL(string: "https://example.com/a?b=c"))
    #expect(attributes["key"]?.attributeValueClassName == "NSUUID")
    #expect(attributes["image"]?.allowsExternalBinaryDataStorage == true)
    #expect(attributes["image"]?.preservesValueInHistoryOnDeletion == true)
    #expect(attributes["colors"]?.valueTransformerName == "NSSecureUnarchiveFromDataTransformer")
    #expect(attributes["colors"]?.attributeValueClassName == "[String]")
    #expect(attributes["scratch"]?.isTransient == true)
    #expect(type("scratch") == .undefinedAttributeType)
    let place = try #require(attributes["place"] as? NSCompositeAttributeDescription)
    #expect(place.elements.map(\.name) == ["latitude", "longitude"])
    let derived = try #require(attributes["reviewCount"] as? NSDerivedAttributeDescription)
    #expect(derived.derivationExpression?.expressionNode() == .keyPath("reviews.@count"))
  }

  @Test func `bounds and patterns become validation predicates with Apple's codes`() throws {
    let product = try #require(
      NSManagedObjectModel.load(contentsOf: Self.shop).model.entitiesByName["Product"])
    func rules(_ name: String) -> [String] {
      product.attributesByName[name]?.validationPredicates.map(\.formatText) ?? []
    }
    func codes(_ name: String) -> [Int] {
      product.attributesByName[name]?.validationWarnings.compactMap { $0 as? Int } ?? []
    }
    #expect(rules("count16") == ["SELF >= 1", "SELF <= 5"])
    #expect(codes("count16") == [1620, 1610])
    #expect(rules("title") == ["length >= 3", "length <= 50"])
    #expect(codes("title") == [1670, 1660])
    #expect(rules("code") == [#"SELF MATCHES "[A-Z]{3}-\\d+""#])
    #expect(codes("code") == [1680])
    #expect(rules("price") == ["SELF >= 0.01"])
    #expect(rules("ratio") == ["SELF <= 0.5"])
    #expect(codes("created") == [1640, 1630])
    let dates = try #require(product.attributesByName["created"]?.validationPredicates)
    #expect(dates.allSatisfy { $0.evaluate(with: Date(timeIntervalSinceReferenceDate: 900_000_000.5)) })
    #expect(!dates[0].evaluate(with: Date(timeIntervalSinceReferenceDate: -1000.1)))
    #expect(!dates[1].evaluate(with: Date(timeIntervalSinceReferenceDate: 900_000_001)))
  }

  @Test func `relationships meet their destinations and inverses`() throws {
    let model = try NSManagedObjectModel.load(contentsOf: Self.shop).model
    let product = try #require(model.entitiesByName["Product"])
    let review = try #require(model.entitiesByName["Review"])
    let reviews = try #require(product.relationshipsByName["reviews"])
    let back = try #require(review.relationshipsByName["product"])
    #expect(reviews.destinationEntity === review)
    #expect(reviews.inverseRelationship === back)
    #expect(back.inverseRelationship === reviews)
    #expect(reviews.isToMany && reviews.isOrdered)
    #expect(reviews.minCount == 1 && reviews.maxCount == 10)
    #expect(reviews.deleteRule == .cascadeDeleteRule)
    #expect(!back.isToMany && !back.isOptional)
    #expect(back.deleteRule == .denyDeleteRule)
    let related = try #require(product.relationshipsByName["related"])
    #expect(related.inverseRelationship === related)
    #expect(related.maxCount == 0)
    #expect(review.relationshipsByName["reply"]?.inverseRelationship == nil)
    #expect(product.relationships(forDestination: review) == [reviews])
  }

  @Test func `a template gives requests with values for its variables`() throws {
    let model = try NSManagedObjectModel.load(contentsOf: Self.shop).model
    let template = try #require(model.fetchRequestTemplate(forName: "expensive"))
    #expect(template.entityName == "Product")
    #expect(template.fetchLimit == 20 && template.fetchBatchSize == 5)
    #expect(
      !template.includesSubentities && !template.returnsObjectsAsFaults && template.returnsDistinctResults)
    #expect(template.resultType == .dictionaryResultType)
    let request = try #require(
      model.fetchRequestFromTemplate(
        withName: "expensive", substitutionVariables: ["limit": 3, "start": "N"]))
    #expect(request.predicate?.formatText == #"price > 3 AND title BEGINSWITH[cd] "N""#)
    #expect(template.predicate?.formatText == "price > $limit AND title BEGINSWITH[cd] $start")
    #expect(model.fetchRequestFromTemplate(withName: "cheap", substitutionVariables: [:]) == nil)
    let fetched = try #require(
      model.entitiesByName["Product"]?.propertiesByName["goodReviews"] as? NSFetchedPropertyDescription)
    #expect(fetched.isTransient)
    #expect(fetched.fetchRequest?.predicate?.formatText == "product == $FETCH_SOURCE AND stars >= 4")
  }

  // MARK: What is unknown or broken

  private func read(_ body: String) throws -> (model: NSManagedObjectModel, warnings: [ModelWarning]) {
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      \(body)
      </model>
      """
    return try ModelSourceReader.read(Data(text.utf8), file: "Broken/contents")
  }

  @Test func `unknown elements and attributes are warnings with their line`() throws {
    let (model, warnings) = try read(
      """
      <entity name="A" color="red">
        <attribute name="x" attributeType="String" shiny="YES"/>
        <trigger name="t"/>
      </entity>
      """)
    #expect(model.entitiesByName["A"]?.attributesByName["x"] != nil)
    #expect(
      warnings.map(\.description).sorted() == [
        "Broken/contents:3: warning: <entity> has the unknown attribute 'color'; what it says is ignored",
        "Broken/contents:4: warning: <attribute> has the unknown attribute 'shiny'; what it says is ignored",
        "Broken/contents:5: warning: <entity> contains the unknown element <trigger>; what it says is ignored",
      ])
  }

  @Test func `constraints and indexes over what is not there are warnings`() throws {
    let (_, warnings) = try read(
      """
      <entity name="A" isAbstract="YES"><attribute name="x" attributeType="String"/></entity>
      <entity name="B" parentEntity="A">
        <attribute name="y" attributeType="String"/>
        <fetchIndex name="i"><fetchIndexElement property="y" type="Binary"/>
          <fetchIndexElement property="isbn" type="Binary"/></fetchIndex>
        <uniquenessConstraints><uniquenessConstraint><constraint value="x"/>
          <constraint value="code"/></uniquenessConstraint></uniquenessConstraints>
      </entity>
      """)
    #expect(
      warnings.map(\.description).sorted() == [
        "Broken/contents:7: warning: the index 'i' of entity 'B' names 'isbn', which the entity does not have",
        "Broken/contents:9: warning: a uniqueness constraint of entity 'B' names 'code', which the entity does not have",
      ])
  }

  struct Broken: Sendable, CustomTestStringConvertible {
    var body: String
    var line: Int
    var says: [String]
    var testDescription: String { says.joined(separator: " … ") }
  }

  static let broken: [Broken] = [
    Broken(body: #"<entity/>"#, line: 3, says: ["<entity> has no name"]),
    Broken(body: "<entity name=\"A\"/>\n<entity name=\"A\"/>", line: 4, says: ["two entities named 'A'"]),
    Broken(
      body: #"<entity name="A" parentEntity="b"/><entity name="B"/>"#, line: 3,
      says: ["'b'", "did you mean 'B'?"]),
    Broken(
      body: "<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/>", line: 3,
      says: ["'A' is among its own ancestors"]),
    Broken(body: #"<entity name="A" parentEntity="A"/>"#, line: 3, says: ["'A' is among its own ancestors"]),
    Broken(
      body:
        "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\"/>\n<attribute name=\"x\" attributeType=\"Date\"/>\n</entity>",
      line: 5, says: ["two properties named 'x'", "line 4"]),
    Broken(
      body: #"<entity name="A"><attribute name="x" attributeType="Integer 128"/></entity>"#, line: 3,
      says: ["'Integer 128'", "Integer 64"]),
    Broken(
      body:
        #"<entity name="A"><attribute name="x" attributeType="Integer 16" defaultValueString="40000"/></entity>"#,
      line: 3, says: ["'40000'", "-32768 to 32767"]),
    Broken(
      body:
        #"<entity name="A"><attribute name="x" attributeType="Integer 16" defaultValueString="many"/></entity>"#,
      line: 3, says: ["'many'", "whole number"]),
    Broken(
      body: #"<entity name="A"><attribute name="x" attributeType="UUID" defaultValueString="1-2"/></entity>"#,
      line: 3, says: ["'1-2'", "UUID"]),
    Broken(
      body: #"<entity name="A"><attribute name="x" optional="MAYBE" attributeType="String"/></entity>"#,
      line: 3,
      says: ["MAYBE", "neither YES nor NO"]),
    Broken(
      body: #"<entity name="A"><attribute name="x" attributeType="String" minValueString="-1"/></entity>"#,
      line: 3,
      says: ["minValueString", "length"]),
    Broken(
      body: #"<entity name="A"><attribute name="x" attributeType="Composite" composite="P"/></entity>"#,
      line: 3,
      says: ["composite 'P'", "not in the model"]),
    Broken(
      body:
        "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"P\"/></entity>\n<composite name=\"P\"><attribute name=\"y\" attributeType=\"Composite\" composite=\"P\"/></composite>",
      line: 4, says: ["'P' contains itself"]),
    Broken(
      body:
        #"<entity name="A"><attribute name="x" attributeType="Double" derived="YES" derivationExpression="a +"/></entity>"#,
      line: 3, says: ["derivation of attribute 'x'"]),
    Broken(
      body:
        #"<entity name="A"><relationship name="r" destinationEntity="B" deletionRule="Nullify"/></entity>"#,
      line: 3,
      says: ["'r' of entity 'A'", "'B'", "not in the model"]),
    Broken(
      body: #"<entity name="A"><relationship name="r"/></entity>"#, line: 3, says: ["no destinationEntity"]),
    Broken(
      body:
        #"<entity name="A"><relationship name="r" destinationEntity="A" deletionRule="Explode"/></entity>"#,
      line: 3,
      says: ["'Explode'", "Nullify, Cascade, Deny and No Action"]),
    Broken(
      body: #"<entity name="A"><relationship name="r" destinationEntity="A" inverseName="s"/></entity>"#,
      line: 3,
      says: ["the inverse 's'", "entity 'A' has no relationship"]),
    Broken(
      body:
        #"<entity name="A"><relationship name="r" destinationEntity="A" inverseName="s" inverseEntity="C"/></entity>"#,
      line: 3, says: ["in 'C'", "not in the model"]),
    Broken(
      body:
        #"<entity name="A"><relationship name="r" destinationEntity="A" maxCount="99999999999999999999"/></entity>"#,
      line: 3, says: ["maxCount", "whole number"]),
    Broken(
      body:
        #"<entity name="A"><fetchIndex name="i"><fetchIndexElement property="x" type="Hash"/></fetchIndex></entity>"#,
      line: 3, says: ["'Hash'", "Binary and RTree"]),
    Broken(
      body: #"<entity name="A"/><fetchRequest name="f" entity="A" predicateString="x =="/>"#, line: 3,
      says: ["predicate of fetch request 'f'"]),
    Broken(body: #"<fetchRequest name="f" entity="Z"/>"#, line: 3, says: ["fetches 'Z'"]),
    Broken(
      body: #"<configuration name="c"><memberEntity name="Z"/></configuration>"#, line: 3,
      says: ["member 'Z'"]),
    Broken(body: #"<entity name="A">"#, line: 4, says: ["not well-formed"]),
    Broken(body: #"<entity name="A" name="B"/>"#, line: 3, says: ["not well-formed", "twice"]),
    Broken(body: "<entity name=\"A\"/>\n<entity name=B/>", line: 4, says: ["not well-formed", "not closed"]),
    Broken(body: #"<entity name="&undefined;"/>"#, line: 3, says: ["not well-formed"]),
  ]

  @Test(arguments: broken) func `a broken file is an error with file, line and reason`(sample: Broken) throws
  {
    let error = try #require(throws: ModelFileError.self) { try read(sample.body) }
    #expect(error.file == "Broken/contents")
    #expect(error.line == sample.line, "\(error)")
    for word in sample.says { #expect(error.reason.contains(word), "\(error)") }
  }

  @Test func `files that are no models explain themselves`() throws {
    func reason(_ text: String) throws -> String {
      try #require(throws: ModelFileError.self) { try ModelSourceReader.read(Data(text.utf8), file: "f") }
        .reason
    }
    #expect(try reason("").contains("empty"))
    #expect(try reason("hello").contains("not well-formed"))
    #expect(try reason("<svg/>").contains("<svg>"))
    #expect(try reason(String(repeating: "<a>", count: 100_000)).contains("nest deeper"))
    let many = (0..<2000).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 + 1)\"/>" }.joined()
    #expect(try reason("<model>\(many)<entity name=\"E2000\"/></model>").contains("more than 200 ancestors"))
  }

  @Test func `paths that lead to no model explain themselves`() throws {
    func reason(_ url: URL) throws -> String {
      try #require(throws: ModelFileError.self) { try NSManagedObjectModel.load(contentsOf: url) }.reason
    }
    #expect(try reason(OwnFixtures.file("Xcode3.xcdatamodel")).contains("Xcode 3"))
    #expect(try reason(OwnFixtures.file("Absent.momd")).contains("nothing here"))
    #expect(try reason(OwnFixtures.file("Absent.mom")).contains("nothing here"))
    #expect(try reason(OwnFixtures.url).contains("none of them"))
    #expect(NSManagedObjectModel(contentsOf: OwnFixtures.file("Absent.momd")) == nil)

    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).xcdatamodeld")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(try reason(folder).contains("no .xcdatamodel inside"))
    for name in ["A", "B"] {
      let version = folder.appendingPathComponent("\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    }
    #expect(try reason(folder).contains("(A, B) and none is marked as current"))
    let current = folder.appendingPathComponent(".xccurrentversion")
    try Data("garbage".utf8).write(to: current)
    #expect(try reason(folder).contains("not a readable property list"))
    let plist = try PropertyListSerialization.data(
      fromPropertyList: ["_XCCurrentVersionName": "C.xcdatamodel"], format: .xml, options: 0)
    try plist.write(to: current)
    #expect(try reason(folder).contains("current version is 'C'"))
    try PropertyListSerialization.data(
      fromPropertyList: ["_XCCurrentVersionName": "B.xcdatamodel"], format: .xml, options: 0
    ).write(to: current)
    #expect(try reason(folder).contains("no file 'contents'"))
  }
}
