import CoreDataPredicates
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// What Xcode's compiler adds to a mapping model of the editor.
@Suite
struct EditorMappingTests {
  private static let source: NSManagedObjectModel = ModelDraft.make {
    $0.entity("Item", Draft.attribute("title"), Draft.attribute("old"))
    $0.entity("Person")
    $0.relate("Item", "owner", "Person", "items")
    $0.entity("Animal")
    $0.entity("Dog", parent: "Animal")
    $0.relate("Person", "pet", "Animal", "holder")
  }
  private static let destination: NSManagedObjectModel = ModelDraft.make {
    $0.entity("Task", Draft.attribute("title"), Draft.attribute("rank", .integer16AttributeType))
    $0.entity("Person")
    $0.relate("Task", "owner", "Person", "items")
    $0.entity("Animal")
    $0.entity("Dog", parent: "Animal")
    $0.relate("Person", "pet", "Animal", "holder")
    $0.entity("New")
  }

  /// An entity mapping with its properties, as the editor's store holds them.
  private static func entity(_ id: String, _ values: String, _ properties: String = "") -> String {
    """
    <object type="XDDEVENTITYMAPPING" id="\(id)">\(values)\
    <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="m"></relationship></object>
    \(properties)
    """
  }

  private static func value(_ name: String, _ text: String) -> String {
    "<attribute name=\"\(name)\" type=\"string\">\(text)</attribute>"
  }

  private static func property(_ kind: String, _ owner: String, _ name: String, _ more: String = "") -> String
  {
    """
    <object type="XDDEV\(kind)MAPPING" id="\(owner)-\(name)">\(value("name", name))\(more)\
    <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="\(owner)"></relationship></object>
    """
  }

  private static func document(_ objects: String, paths: String = "") -> Data {
    Data(
      """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
      <database><databaseInfo><version>134481920</version></databaseInfo>
      <object type="XDDEVMAPPINGMODEL" id="m">\(paths)</object>
      \(objects)</database>
      """.utf8)
  }

  private static let objects: String = [
    entity(
      "e1",
      value("sourcename", "Item") + value("destinationname", "Task") + value("mappingnumber", "2")
        + value("sourcefilterpredicatestring", "title != nil"),
      property("ATTRIBUTE", "e1", "title") + property("ATTRIBUTE", "e1", "rank")
        + property("RELATIONSHIP", "e1", "owner", value("autogenerateexpression", "1"))),
    entity(
      "e2",
      value("sourcename", "Person") + value("destinationname", "Person") + value("mappingnumber", "1")
        + value("name", "People"),
      property("RELATIONSHIP", "e2", "items", value("sourcemappingname", "Other"))
        + property("RELATIONSHIP", "e2", "pet", value("sourcekeypath", "$source.pet"))
        + property("RELATIONSHIP", "e2", "bare", value("autogenerateexpression", "0"))
        + property(
          "RELATIONSHIP", "e2", "pets",
          value("sourcekeypath", "$source.items.@distinctUnionOfObjects.owner.pet")
            + value("sourcemappingname", "AnimalToAnimal"))),
    entity(
      "e3", value("sourcename", "Animal") + value("destinationname", "Animal") + value("mappingnumber", "3")),
    entity("e4", value("sourcename", "Dog") + value("destinationname", "Dog") + value("mappingnumber", "4")),
    entity("e5", value("destinationname", "New") + value("mappingnumber", "5")),
    entity("e6", value("sourcename", "Item") + value("mappingnumber", "6")),
    entity(
      "e7",
      value("sourcename", "Item") + value("destinationname", "New") + value("mappingnumber", "7")
        + value("migrationpolicyclassname", "App.Policy")),
    property("ATTRIBUTE", "gone", "left behind"),
  ].joined()

  private static func compile(_ data: Data) throws -> NSMappingModel {
    try MappingCompiler(
      EditorMappingReader.read(data, file: "a.xml"), source: source, destination: destination, file: "a.xml"
    ).model()
  }

  @Test func `names, types, hashes and expressions are completed`() throws {
    let model: NSMappingModel = try Self.compile(Self.document(Self.objects))
    #expect(
      model.entityMappings.map { "\($0.name ?? "") \($0.mappingType.rawValue)" } == [
        "People 4", "ItemToTask 5", "AnimalToAnimal 4", "DogToDog 4", "New 2", "Item 3", "ItemToNew 1",
      ])
    let byName: [String: NSEntityMapping] = model.entityMappingsByName
    let task = try #require(byName["ItemToTask"])
    #expect(task.sourceEntityVersionHash == Self.source.entitiesByName["Item"]?.versionHash)
    #expect(task.destinationEntityVersionHash == Self.destination.entitiesByName["Task"]?.versionHash)
    #expect(task.sourceExpression?.description.contains("\"title != nil\"") == true)
    #expect(
      ((task.attributeMappings ?? []) + (task.relationshipMappings ?? [])).map(\.description) == [
        "rank ← default", "title ← $source.title",
        "owner ← FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\" , \"People\", $source.owner)",
      ])
    let people = try #require(byName["People"])
    #expect(
      people.relationshipMappings?.map(\.description) == [
        "bare ← default",
        "items ← FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\" , \"Other\", $source.items)",
        "pet ← FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\" , \"pet\", $source.pet)",
        "pets ← FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\" , \"AnimalToAnimal\", $source.items.@distinctUnionOfObjects.owner.pet)",
      ])
    #expect(byName["ItemToNew"]?.entityMigrationPolicyClassName == "App.Policy")
    #expect(byName["New"]?.sourceExpression == nil)
  }

  private static let damaged: [(String, Data, String)] = [
    ("nothing", Data(), "no mapping model"),
    ("no XML", Data("hello".utf8), "malformed"),
    ("cut off", document(objects).prefix(900), "malformed"),
    ("another document", Data("<model/>".utf8), "no mapping model"),
    ("no mapping model", Data("<database></database>".utf8), "0 mapping models"),
    ("bytes that are not UTF-8", Data([0x3C, 0xFF, 0xFE]), "UTF-8"),
    (
      "an entity declaration", Data("<!DOCTYPE a [<!ENTITY b \"c\">]><database>&b;</database>".utf8),
      "declares entities"
    ),
    ("deep nesting", Data(String(repeating: "<database>", count: 100).utf8), "nest deeper"),
    ("no names", document(entity("e1", "")), "neither a source nor a destination"),
    (
      "an unknown entity", document(entity("e1", value("sourcename", "Itme"))),
      "'Itme' names the entity Itme, which the source model does not have"
    ),
    (
      "a damaged expression",
      document(
        entity(
          "e1", value("sourcename", "Item"),
          property("ATTRIBUTE", "e1", "title", value("valueexpressiondata", "AAAA")))),
      "The expression of 'title' in 'Item' can't be read"
    ),
  ]

  @Test(arguments: damaged.indices) func `a damaged file is an explained error`(number: Int) throws {
    let (name, data, reason) = Self.damaged[number]
    let error: ModelFileError = try #require(throws: ModelFileError.self) { try Self.compile(data) }
    #expect(error.reason.contains(reason), "\(name): \(error.reason)")
    #expect(error.file == "a.xml")
  }

  @Test func `an archive keeps a mapping model as it is`() throws {
    let model: NSMappingModel = try Self.compile(Self.document(Self.objects))
    model.entityMappings[0].userInfo = ["note": "x", "number": 1]
    model.entityMappings[1].attributeMappings?[0].userInfo = ["a": ["b"]]
    #expect(try MappingArchive.read(model.archivedData(), file: "a.cdm") == model)
    let inferred: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Self.source, destinationModel: Self.source)
    #expect(try MappingArchive.read(inferred.archivedData(), file: "a.cdm") == inferred)
  }

  @Test func `a file that is no mapping model is an explained error`() throws {
    let folder = try TemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder.url) }
    let file: URL = folder.url.appendingPathComponent("a.cdm")
    #expect(throws: ModelFileError.self) { try NSMappingModel.load(contentsOf: file) }
    try Data("x".utf8).write(to: file)
    let error: ModelFileError = try #require(throws: ModelFileError.self) {
      try NSMappingModel.load(contentsOf: file)
    }
    #expect(error.reason.contains("compiled mapping model"))
    #expect(NSMappingModel(contentsOf: file) == nil)
    #expect(NSMappingModel(contentsOf: nil) == nil)
    #expect(NSMappingModel(from: [], forSourceModel: Self.source, destinationModel: nil) == nil)
  }
}
