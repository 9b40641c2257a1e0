import CoreDataArchives
import CoreDataPredicates
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// Mapping models as sources: written as they were read, and made out of mapping models.
struct MappingSourceTests {
  private static let source: NSManagedObjectModel = ModelDraft.make {
    $0.entity("Item", Draft.attribute("title"), Draft.attribute("old"))
    $0.entity("Person", Draft.attribute("name"))
    $0.relate("Item", "owner", "Person", "items")
    $0.entity("Gone", Draft.attribute("note"))
  }
  private static let destination: NSManagedObjectModel = ModelDraft.make {
    $0.entity(
      "Task", was: "Item", Draft.attribute("title"),
      Draft.attribute("rank", .integer16AttributeType, initially: 3))
    $0.entity("Person", Draft.attribute("name"), Draft.attribute("nick"))
    $0.relate("Task", "owner", "Person", "items")
    $0.entity("New", Draft.attribute("note"))
  }

  private static func data(_ mapping: NSMappingModel) throws -> Data {
    try mapping.sourceData(from: source, at: "A.xcdatamodel", to: destination, at: "B.xcdatamodel")
  }

  private static func compile(_ data: Data) throws -> NSMappingModel {
    try MappingCompiler(
      EditorMappingReader.read(data, file: "a.xml"), source: source, destination: destination, file: "a.xml"
    ).model()
  }

  private static func inferred() throws -> NSMappingModel {
    try .inferredMappingModel(forSourceModel: source, destinationModel: destination)
  }

  @Test func `an inferred mapping model is written, and compiles to an equal one`() throws {
    let mapping: NSMappingModel = try Self.inferred()
    let data: Data = try Self.data(mapping)
    let again: NSMappingModel = try Self.compile(data)
    // The removal gets the expression of its source, which has no effect: nothing is made of the objects.
    again.entityMappingsByName["IEM_Remove_Gone"]?.sourceExpression = nil
    // An inferred mapping has the properties in the order of the entity, a source has no order.
    for entity in mapping.entityMappings {
      entity.attributeMappings?.sort { ($0.name ?? "") < ($1.name ?? "") }
      entity.relationshipMappings?.sort { ($0.name ?? "") < ($1.name ?? "") }
    }
    #expect(again == mapping)
    #expect(try Self.data(mapping) == data)
    #expect(try Self.data(again) == data)
    let editor: EditorMapping = try EditorMappingReader.read(data, file: "a.xml")
    #expect(editor.sourcePath == "A.xcdatamodel" && editor.destinationPath == "B.xcdatamodel")
    #expect(editor.entities.map(\.number) == [1, 2, 3, 4])
  }

  /// A mapping model in code with everything that one can have.
  private static func rich() throws -> NSMappingModel {
    let mapping: NSMappingModel = try compile(data(inferred()))
    let task: NSEntityMapping = try #require(mapping.entityMappingsByName["IEM_Transform_Task"])
    task.name = "Tasks <new> & \"old\""
    task.sourceExpression = MappingExpressions.objects(of: "Item", where: "title < \"b\" && old != nil")
    task.entityMigrationPolicyClassName = "App.Policy"
    task.mappingType = .customEntityMappingType
    task.userInfo = ["note": "a\\b", "numbers": [1, 2.5], "on": true]
    task.attributeMappings?.first { $0.name == "title" }?.valueExpression = try NSExpression(
      parsing: "FUNCTION($entityPolicy, 'titleOf:', $source)", arguments: [])
    task.attributeMappings?.first { $0.name == "rank" }?.userInfo = ["hint": Data([1, 2])]
    task.relationshipMappings?.first?.valueExpression = nil
    let person: NSEntityMapping = try #require(mapping.entityMappingsByName["IEM_Transform_Person"])
    person.name = "PersonToPerson"
    person.relationshipMappings?.first?.valueExpression = MappingExpressions.destinations(
      of: "items", mappedBy: "IEM_Add_New")
    person.attributeMappings?.first { $0.name == "nick" }?.valueExpression = try NSExpression(
      parsing: "uppercase($source.name)", arguments: [])
    return mapping
  }

  @Test func `a mapping model in code is written, and compiles to an equal one`() throws {
    let mapping: NSMappingModel = try Self.rich()
    let data: Data = try Self.data(mapping)
    let again: NSMappingModel = try Self.compile(data)
    for (mine, theirs) in zip(again.entityMappings, mapping.entityMappings) { #expect(mine == theirs) }
    #expect(again == mapping)
    let archives: [Data] = try [again, mapping].map { try $0.archivedData() }
    #expect(archives[0] == archives[1])
    let text = String(decoding: data, as: UTF8.self)
    // What the compiler finds by itself is left out, as by the editor.
    #expect(!text.contains(">PersonToPerson<"))
    #expect(text.contains("title \\u3c00 \"b\" \\u2600\\u2600 old != nil"))
    #expect(text.contains("<attribute name=\"sourcemappingname\" type=\"string\">IEM_Add_New</attribute>"))
    #expect(text.contains("<attribute name=\"name\" type=\"string\">Tasks \\u3c00new\\u3e00 \\u2600 \"old\""))
  }

  @Test(arguments: [
    ("of an undefined type", "has no type; set its mappingType"),
    ("without entities", "has neither a source"),
    ("of an unknown entity", "no entity Nothing"), ("of another version", "is another version"),
    ("with a nameless property", "has no name"),
    ("with two mappings of a property", "two mappings of the property"),
    ("without a value where there is one", "has no value expression"),
    ("with an object that is none of a file's", "can't be archived"),
  ])
  func `what the form can't say is an error that names it`(flaw: String, message: String) throws {
    let mapping: NSMappingModel = try Self.inferred()
    let task: NSEntityMapping = try #require(mapping.entityMappingsByName["IEM_Transform_Task"])
    switch flaw {
    case "of an undefined type": task.mappingType = .undefinedEntityMappingType
    case "without entities": (task.sourceEntityName, task.destinationEntityName) = (nil, nil)
    case "of an unknown entity": task.sourceEntityName = "Nothing"
    case "of another version": task.sourceEntityVersionHash = Data(repeating: 1, count: 32)
    case "with a nameless property": task.attributeMappings?.first?.name = nil
    case "with two mappings of a property":
      task.attributeMappings = (task.attributeMappings ?? []) + (task.attributeMappings ?? [])
    case "without a value where there is one":
      task.attributeMappings?.first { $0.name == "title" }?.valueExpression = nil
    default: task.userInfo = ["object": Thread()]
    }
    let error: ModelFileError = try #require(throws: ModelFileError.self) { try Self.data(mapping) }
    #expect(error.reason.contains(message), "\(error)")
  }

  @Test func `texts of a source are read without their escapes`() throws {
    let mapping: NSMappingModel = try Self.inferred()
    let task: NSEntityMapping = try #require(mapping.entityMappingsByName["IEM_Transform_Task"])
    task.sourceExpression = MappingExpressions.objects(of: "Item", where: "title <> 'a\\\\b' && old > title")
    let read: NSEntityMapping? = try Self.compile(Self.data(mapping)).entityMappingsByName[
      "IEM_Transform_Task"]
    #expect(read?.sourceExpression == task.sourceExpression)
  }

  // MARK: Real files

  @Test(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `every real mapping source is written as it was read, byte for byte`() throws {
    var count: Int = 0
    for file in MappingFileTests.editorFiles {
      let data = try Data(contentsOf: file.appendingPathComponent("xcmapping.xml"))
      let document: EditorDocument = try EditorXML.read(data, file: file.path, readsModels: true)
      #expect(document.data == data, "\(FixtureFolder.relative(file))")
      count += 1
    }
    print("mapping sources written as they were read: \(count)")
    #expect(count == 11)
  }

  @Test(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `every real mapping source is made out of its compiled form again`() throws {
    var counts = (models: 0, equal: 0)
    for file in MappingFileTests.editorFiles {
      guard let (source, destination) = try MappingFileTests.models(of: file),
        let model = try MappingFileTests.load(file)
      else { continue }
      let original = try Data(contentsOf: file.appendingPathComponent("xcmapping.xml"))
      var editor: EditorMapping = try EditorMappingReader.read(original, file: file.path)
      let data: Data = try model.sourceData(
        from: source, at: editor.sourcePath ?? "", to: destination, at: editor.destinationPath ?? "")
      let again: EditorMapping = try EditorMappingReader.read(data, file: file.path)
      let compiled: NSMappingModel = try MappingCompiler(
        again, source: source, destination: destination, file: file.path
      ).model()
      #expect(compiled == model, "\(FixtureFolder.relative(file))")
      #expect(try compiled.archivedData() == model.archivedData(), "\(FixtureFolder.relative(file))")
      // Editors leave gaps in the numbers of mappings, and archive expressions with shared objects in other
      // places.
      counts.models += 1
      for place in editor.entities.indices { editor.entities[place].number = place + 1 }
      if editor.entities.map(\.withoutArchives) == again.entities.map(\.withoutArchives) { counts.equal += 1 }
    }
    print("mapping sources made out of compiled ones: \(counts)")
    #expect(counts.models == 10)
  }

  @Test(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `a source made out of Apple's compiled mapping model compiles to the same`() throws {
    let models: URL = try #require(
      FixtureFolder.find(["xcdatamodeld"], under: "models").first {
        $0.lastPathComponent == "SampleModel.xcdatamodeld"
      })
    let versions: [String: LoadedModel] = try NSManagedObjectModel.loadVersions(contentsOf: models)
    let (source, destination) = (
      try #require(versions["SampleModel2"]).model, try #require(versions["SampleModel3"]).model
    )
    for file in FixtureFolder.find(["cdm"], under: "mapping") {
      let mapping: NSMappingModel = try .load(contentsOf: file)
      let data: Data
      do {
        data = try mapping.sourceData(from: source, at: "A", to: destination, at: "B")
      } catch let error as ModelFileError where error.reason.contains("is for other models") {
        // The file of the history is for versions that are not there.
        #expect(file.path.contains("_history"))
        continue
      }
      let compiled: NSMappingModel = try MappingCompiler(
        EditorMappingReader.read(data, file: "a.xml"), source: source, destination: destination, file: "a.xml"
      ).model()
      #expect(compiled == mapping)
      #expect(try ArchiveDifferences(compiled.archivedData(), Data(contentsOf: file)).found == [])
    }
  }

  @Test(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `the metadata of a new source is that of the editors' files`() throws {
    let document = try EditorXML.read(Self.data(Self.inferred()), file: "a.xml")
    let file: URL = try #require(
      MappingFileTests.editorFiles.first { $0.lastPathComponent == "V2toV3.xcmappingmodel" })
    let theirs = try EditorXML.read(
      Data(contentsOf: file.appendingPathComponent("xcmapping.xml")), file: file.path)
    func shape(_ element: EditorDocument.Element) -> [String] {
      // Their own: the store's identifier, the highest id and the framework's version.
      let isOwn: Bool =
        ["UUID", "nextObjectID"].contains(element.name) || Int(element.text).map { $0 > 1000 } == true
      return ["\(element.name) \(isOwn ? "" : element.text)"] + element.children.flatMap(shape)
    }
    #expect(shape(document.information) == shape(theirs.information))
    #expect(document.isStandalone == theirs.isStandalone)
  }
}

extension EditorMapping.Entity {
  /// By what two mappings can be compared: archives of equal expressions have other bytes.
  fileprivate var withoutArchives: EditorMapping.Entity {
    var entity: EditorMapping.Entity = self
    func bare(_ property: EditorMapping.Property) -> EditorMapping.Property {
      var property: EditorMapping.Property = property
      (property.expression, property.userInfo) = (nil, nil)
      return property
    }
    (entity.sourceExpression, entity.userInfo) = (nil, nil)
    entity.attributes = attributes.map(bare)
    entity.relationships = relationships.map(bare)
    return entity
  }
}
