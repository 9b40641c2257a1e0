import CoreDataPredicates
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// What Apple's pages on NSManagedObjectModel and the descriptions promise, one operation after the other.
struct ModelOperationTests {
  private static func model(_ build: (inout ModelDraft) -> Void) -> NSManagedObjectModel {
    ModelDraft.make(build)
  }

  private static func names(_ entities: [NSEntityDescription]?) -> [String]? {
    entities?.compactMap(\.name).sorted()
  }

  // MARK: Configurations

  @Test func `a configuration is created, replaced, copied, and follows names`() throws {
    let model = Self.model { draft in for name in ["A", "B", "C"] { draft.entity(name) } }
    let (a, b) = (model.entitiesByName["A"]!, model.entitiesByName["B"]!)
    model.setEntities([a, b], forConfigurationName: "Local")
    model.setEntities([], forConfigurationName: "Empty")
    #expect(model.configurations == ["PF_DEFAULT_CONFIGURATION_NAME", "Empty", "Local"])
    #expect(Self.names(model.entities(forConfigurationName: "Local")) == ["A", "B"])
    #expect(model.entities(forConfigurationName: "Empty")?.isEmpty == true)
    #expect(model.entities(forConfigurationName: "Nothing") == nil)
    #expect(Self.names(model.entities(forConfigurationName: nil)) == ["A", "B", "C"])
    a.name = "Z"
    #expect(Self.names(model.entities(forConfigurationName: "Local")) == ["B", "Z"])
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(
      copy.entities(forConfigurationName: "Local")?.allSatisfy { $0.managedObjectModel === copy } == true)
    let read = try ModelArchiveReader.read(model.compiledData(), file: "a").model
    #expect(Self.names(read.entities(forConfigurationName: "Local")) == ["B", "Z"])
    #expect(Self.names(read.entities(forConfigurationName: "Empty")) == [])
    model.setEntities([b], forConfigurationName: "Local")
    #expect(Self.names(model.entities(forConfigurationName: "Local")) == ["B"])
    model.entities = [a]
    #expect(model.entities(forConfigurationName: "Local")?.isEmpty == true)
  }

  @Test func `a configuration of an entity that the model doesn't have stops`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let entity = NSEntityDescription()
      entity.name = "Stray"
      NSManagedObjectModel().setEntities([entity], forConfigurationName: "Local")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Entity 'Stray' can't be in configuration 'Local'"))
  }

  // MARK: Merging

  @Test func `a merge has everything of both models, and changes neither`() throws {
    let first = Self.model { draft in
      draft.entity("A", Draft.attribute("x"))
      draft.entity("Shared", Draft.attribute("s"))
    }
    let second = Self.model { draft in
      draft.entity("B", Draft.attribute("y"))
      draft.entity("Shared", Draft.attribute("s"))
      draft.entity("Child", parent: "B", Draft.attribute("z"))
    }
    first.versionIdentifiers = ["one"]
    second.versionIdentifiers = ["two", 2]
    first.setEntities([first.entitiesByName["A"]!], forConfigurationName: "Local")
    second.setEntities([second.entitiesByName["B"]!], forConfigurationName: "Local")
    first.localizationDictionary = ["Entity/A": "Eh", "Entity/B": "wrong"]
    second.localizationDictionary = ["Entity/B": "Bee"]
    let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "B")
    second.setFetchRequestTemplate(template, forName: "all")
    let before: [NSManagedObjectModel] = [first, second].map { $0.copy() as! NSManagedObjectModel }
    let merged = try #require(NSManagedObjectModel(byMerging: [first, second]))
    #expect(Self.names(merged.entities) == ["A", "B", "Child", "Shared"])
    #expect(merged.entitiesByName["Child"]?.superentity === merged.entitiesByName["B"])
    #expect(merged.entitiesByName["B"]?.subentities.map(\.name) == ["Child"])
    #expect(merged.versionIdentifiers == ["one", "two", 2])
    #expect(Self.names(merged.entities(forConfigurationName: "Local")) == ["A", "B"])
    #expect(merged.localizationDictionary == ["Entity/A": "Eh", "Entity/B": "wrong"])
    #expect(merged.fetchRequestTemplate(forName: "all")?.entity === merged.entitiesByName["B"])
    #expect([first, second] == before)
    #expect(merged.entities.allSatisfy { $0.managedObjectModel === merged })
    for (name, hash) in first.entityVersionHashesByName.merging(
      second.entityVersionHashesByName, uniquingKeysWith: { $1 })
    {
      #expect(merged.entityVersionHashesByName[name] == hash)
    }
    #expect(NSManagedObjectModel(byMerging: nil) == nil)
    #expect(NSManagedObjectModel(byMerging: [])?.entities.isEmpty == true)
  }

  @Test func `a merge for a store takes the version of each entity that the store has`() throws {
    let old = Self.model { draft in
      draft.entity("A", Draft.attribute("x"))
      draft.entity("B", Draft.attribute("y"))
    }
    let new = Self.model { draft in
      draft.entity("A", Draft.attribute("x"), Draft.attribute("more"))
      draft.entity("B", Draft.attribute("y"))
      draft.entity("C")
    }
    func merge(_ hashes: [String: Data]) -> NSManagedObjectModel? {
      NSManagedObjectModel(
        byMerging: [old, new], forStoreMetadata: ["NSStoreModelVersionHashes": hashes])
    }
    #expect(merge(old.entityVersionHashesByName) == old)
    #expect(merge(new.entityVersionHashesByName) == new)
    var mixed: [String: Data] = new.entityVersionHashesByName
    mixed["A"] = old.entityVersionHashesByName["A"]
    #expect(merge(mixed)?.entitiesByName["A"]?.attributesByName.keys.sorted() == ["x"])
    #expect(Self.names(merge(mixed)?.entities) == ["A", "B", "C"])
    mixed["A"] = Data(repeating: 1, count: 32)
    #expect(merge(mixed) == nil)
    mixed["A"] = nil
    mixed["D"] = new.entityVersionHashesByName["C"]
    #expect(merge(mixed) == nil)
    #expect(NSManagedObjectModel(byMerging: [old], forStoreMetadata: [:]) == nil)
  }

  // MARK: Copies

  @Test func `a copy has everything, and nothing of the original`() throws {
    let model = Self.model { draft in
      draft.entity(
        "Part", was: "Piece", Draft.attribute("name", was: "title"),
        Draft.composite("size", Draft.attribute("width")))
      draft.entity("Whole", parent: "Part", Draft.derived("upper", "uppercase:(name)"))
      draft.relate("Whole", "parts", "Part", "whole", toMany: true, backToMany: false)
    }
    let part: NSEntityDescription = model.entitiesByName["Part"]!
    part.userInfo = ["list": [1, 2]]
    part.uniquenessConstraints = [["name"]]
    part.indexes = [
      NSFetchIndexDescription(
        name: "byName",
        elements: [
          NSFetchIndexElementDescription(property: part.attributesByName["name"]!, collationType: .binary)
        ])
    ]
    model.localizationDictionary = ["Entity/Part": "Teil"]
    model.versionIdentifiers = ["1"]
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy == model && copy.localizationDictionary == model.localizationDictionary)
    let twin: NSEntityDescription = try #require(copy.entitiesByName["Part"])
    #expect(
      twin.renamingIdentifier == "Piece" && twin.attributesByName["name"]?.renamingIdentifier == "title")
    #expect(
      copy.entitiesByName["Whole"]?.superentity === twin
        && twin.subentities == [copy.entitiesByName["Whole"]!])
    let parts: NSRelationshipDescription = try #require(
      copy.entitiesByName["Whole"]?.relationshipsByName["parts"])
    #expect(
      parts.destinationEntity === twin && parts.inverseRelationship === twin.relationshipsByName["whole"])
    #expect(twin.indexes.first?.elements.first?.property === twin.attributesByName["name"])
    #expect(twin.indexes.first?.entity === twin)
    let size = try #require(twin.attributesByName["size"] as? NSCompositeAttributeDescription)
    let own = try #require(part.attributesByName["size"] as? NSCompositeAttributeDescription)
    #expect(size.elements == own.elements && size.elements.first !== own.elements.first)
    #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
    size.elements.first?.name = "other"
    twin.userInfo?["list"] = nil
    copy.localizationDictionary = nil
    #expect(own.elements.first?.name == "width" && part.userInfo?["list"] as? [Int] == [1, 2])
    #expect(model.localizationDictionary != nil)
  }

  // MARK: Templates

  @Test func `a template is substituted in a copy`() throws {
    let model = Self.model { $0.entity("A", Draft.attribute("x")) }
    let template = NSFetchRequest<any NSFetchRequestResult>()
    template.entity = model.entities[0]
    template.predicate = try NSPredicate(parsing: "x == $x OR x IN $list", arguments: [])
    template.fetchLimit = 7
    model.setFetchRequestTemplate(template, forName: "t")
    let request = try #require(
      model.fetchRequestFromTemplate(
        withName: "t", substitutionVariables: ["x": "b", "list": ["a"], "more": 1]))
    let substituted: NSPredicate = try NSPredicate(parsing: "x == 'b' OR x IN {'a'}", arguments: [])
    let original: NSPredicate = try NSPredicate(parsing: "x == $x OR x IN $list", arguments: [])
    // The list is a constant in one and an aggregate of constants in the other.
    #expect(request.predicate?.description == substituted.description)
    #expect(request !== template && request.fetchLimit == 7 && request.entity === model.entities[0])
    #expect(template.predicate == original)
    #expect(model.fetchRequestFromTemplate(withName: "none", substitutionVariables: [:]) == nil)
    #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["t"])
    model.setFetchRequestTemplate(nil, forName: "t")
    #expect(model.fetchRequestTemplate(forName: "t") == nil && model.fetchRequestTemplatesByName.isEmpty)
  }

  // MARK: Immutability

  @Test func `every part of a model in use says which it is, and what to do`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let entity = NSEntityDescription()
      entity.name = "A"
      let model = NSManagedObjectModel()
      model.entities = [entity]
      model.freeze()
      model.setEntities([entity], forConfigurationName: "Local")
    }
    #expect(
      Self.text(result).contains(
        "The model itself belongs to a model that a persistent store coordinator uses"))
    let second = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let entity = NSEntityDescription()
      entity.name = "A"
      let model = NSManagedObjectModel()
      model.entities = [entity]
      model.freeze()
      entity.name = "B"
    }
    #expect(Self.text(second).contains("Entity 'A' belongs to a model"))
    let third = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let model = NSManagedObjectModel()
      let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "A")
      model.setFetchRequestTemplate(template, forName: "all")
      model.freeze()
      template.fetchLimit = 1
    }
    #expect(Self.text(third).contains("Can't modify an immutable model."))
  }

  private static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  // MARK: Localization

  /// A folder of resources with the shipped model, and strings files.
  private static func bundle(_ files: [String: Data]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let manager = FileManager.default
    try manager.copyItem(at: SourceModelTests.shop, to: folder.file("Shop.xcdatamodeld"))
    try ModelCompilation(of: SourceModelTests.shop).write(to: folder.file("Shop.momd"))
    for (name, data) in files {
      try manager.createDirectory(
        at: folder.file(name).deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: folder.file(name))
    }
    return folder
  }

  private static let words = """
    /* The names of the model's parts. */
    "Entity/Product" = "Artikel";
    "Property/name/Entity/Product" = "Bezeichnung"; // of a product
    "ErrorString/is too long" = "ist zu \\"lang\\"\\n\\U00e4";
    """
  private static let read: [String: String] = [
    "Entity/Product": "Artikel", "Property/name/Entity/Product": "Bezeichnung",
    "ErrorString/is too long": "ist zu \"lang\"\n\u{e4}",
  ]

  @Test(arguments: [
    "Shop.momd", "Shop.momd/Shop.mom", "Shop.xcdatamodeld", "Shop.xcdatamodeld/Shop.xcdatamodel",
  ])
  func `the words of a model are those of the strings file beside it`(path: String) throws {
    let folder = try Self.bundle(["ShopModel.strings": Data(Self.words.utf8)])
    let model: NSManagedObjectModel = try .load(contentsOf: folder.file(path)).model
    #expect(model.localizationDictionary == Self.read)
    #expect((model.copy() as? NSManagedObjectModel)?.localizationDictionary == Self.read)
    #expect(NSManagedObjectModel(contentsOf: folder.file(path))?.localizationDictionary == Self.read)
    #expect(NSManagedObjectModel(byMerging: [model])?.localizationDictionary == Self.read)
    model.freeze()
    #expect(model.localizationDictionary == Self.read)
    // They are no part of the model.
    let again = try ModelArchiveReader.read(model.compiledData(), file: "a").model
    #expect(again == model && again.localizationDictionary == nil)
  }

  @Test func `words that were set replace those of a file`() throws {
    let folder = try Self.bundle(["ShopModel.strings": Data(Self.words.utf8)])
    let model: NSManagedObjectModel = try .load(contentsOf: folder.file("Shop.momd")).model
    model.localizationDictionary = ["Entity/Product": "Product"]
    #expect(model.localizationDictionary == ["Entity/Product": "Product"])
    model.localizationDictionary = nil
    #expect(model.localizationDictionary == Self.read)
  }

  @Test func `the words are those of a folder of the language`() throws {
    let folder = try Self.bundle(["en.lproj/ShopModel.strings": Data(Self.words.utf8)])
    let model: NSManagedObjectModel = try .load(contentsOf: folder.file("Shop.momd")).model
    #expect(model.localizationDictionary == Self.read)
    let bare = try Self.bundle([:])
    #expect(
      try NSManagedObjectModel.load(contentsOf: bare.file("Shop.momd")).model.localizationDictionary == nil)
    #expect(NSManagedObjectModel().localizationDictionary == nil)
  }

  @Test func `strings files are read in every form that Xcode makes`() throws {
    let text: String = Self.words
    #expect(StringsFile.read(Data(text.utf8)) == Self.read)
    #expect(StringsFile.read(Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8)) == Self.read)
    for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
      let mark: [UInt8] = encoding == .utf16LittleEndian ? [0xFF, 0xFE] : [0xFE, 0xFF]
      let data: Data = try #require(text.data(using: encoding))
      #expect(StringsFile.read(Data(mark) + data) == Self.read)
    }
    for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
      let data: Data = try PropertyListSerialization.data(
        fromPropertyList: Self.read, format: format, options: 0)
      #expect(StringsFile.read(data) == Self.read)
    }
    #expect(StringsFile.read(Data("a.b = c; 'x y' = \"\\U1F60\"; key;".utf8))?["key"] == "key")
    #expect(StringsFile.read(Data()) == [:])
    for damaged in [
      "\"a\"", "\"a\" = ", "\"a\" = \"b\"", "\"a\" \"b\";", "/* \"a\" = \"b\";", "{ a = b; }", "\u{0}",
    ] {
      #expect(StringsFile.read(Data(damaged.utf8)) == nil, "\(damaged)")
    }
    #expect(StringsFile.read(Data([0xC3, 0x28])) == nil)
    let random = Data(text.utf8)
    for length in 0..<random.count { _ = StringsFile.read(random.prefix(length)) }
  }
}
