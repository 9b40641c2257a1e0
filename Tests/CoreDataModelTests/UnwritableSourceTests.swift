import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel

@Suite("A model whose source would not read back is refused, with the part")
struct UnwritableSourceTests {
  private static func model(_ change: (NSManagedObjectModel, NSAttributeDescription) -> Void)
    -> NSManagedObjectModel
  {
    let attribute = NSAttributeDescription()
    attribute.name = "title"
    attribute.attributeType = .stringAttributeType
    let entity = NSEntityDescription()
    entity.name = "Item"
    entity.properties = [attribute]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    change(model, attribute)
    return model
  }

  private static let cases:
    [(name: String, change: @Sendable (NSManagedObjectModel, NSAttributeDescription) -> Void, says: String)] =
      [
        ("a control character in a default", { $1.defaultValue = "a\u{1}b" }, "name=\"title\""),
        ("a zero byte in user info", { $1.userInfo = ["a": "\0"] }, "zero byte"),
        (
          "an infinite date",
          {
            $1.attributeType = .dateAttributeType
            $1.defaultValue = Date(timeIntervalSinceReferenceDate: .infinity)
          }, "title"
        ),
        (
          "a request of an entity that the model does not have",
          { model, _ in model.setFetchRequestTemplate(NSFetchRequest(entityName: "Other"), forName: "All") },
          "Other"
        ),
      ]

  @Test(arguments: cases.indices) func `what can't be read back`(number: Int) throws {
    let example = Self.cases[number]
    let error: ModelFileError = try #require(throws: ModelFileError.self) {
      try Self.model(example.change).sourceData()
    }
    #expect(error.reason.contains(example.says), "\(example.name): \(error.reason)")
  }

  @Test func `what can be read is written, with a localization dictionary too`() throws {
    let model: NSManagedObjectModel = Self.model { model, attribute in
      attribute.defaultValue = "a\t\"b\"\n<&>"
      model.localizationDictionary = ["Entity/Item": "Thing"]
      let next = NSRelationshipDescription()
      next.name = "next"
      next.maxCount = 1
      next.destinationEntity = model.entities[0]
      next.isIndexedBySpotlight = true
      next.isStoredInExternalRecord = true
      model.entities[0].properties.append(next)
    }
    let read = try ModelSourceReader.read(try model.sourceData(), file: "contents").model
    let next = try #require(read.entitiesByName["Item"]?.relationshipsByName["next"])
    #expect(next.isIndexedBySpotlight && next.isStoredInExternalRecord)
    #expect(
      read.entitiesByName["Item"]?.attributesByName["title"]?.defaultValue as? String == "a\t\"b\"\n<&>")
  }

  /// Decisions/0130. Names of indexes, and which attributes are marked as indexed.
  @Test(arguments: [
    (["byTitle": ["title"]], false), (["byTitle": ["title"]], true), (["title": ["title"]], false),
    (["title": ["title"]], true), ([:], true), (["both": ["title", "code"]], false),
  ])
  func `indexes read back as they are`(indexes: [String: [String]], isMarked: Bool) throws {
    let model: NSManagedObjectModel = Self.model { model, attribute in
      let code = NSAttributeDescription()
      (code.name, code.attributeType) = ("code", .stringAttributeType)
      model.entities[0].properties.append(code)
      attribute.isIndexed = isMarked
      // A marked attribute has an index of its own, as in compiled models.
      let implied: [String: [String]] = isMarked ? ["title": ["title"]] : [:]
      model.entities[0].indexes = indexes.merging(implied) { $1 }.sorted { $0.key < $1.key }.map {
        name, columns in
        NSFetchIndexDescription(
          name: name,
          elements: columns.map {
            NSFetchIndexElementDescription(
              property: model.entities[0].propertiesByName[$0]!, collationType: .binary)
          })
      }
    }
    let read = try ModelSourceReader.read(try model.sourceData(), file: "contents").model
    #expect(ModelDifference(from: model, to: read).changes.isEmpty)
    let item = try #require(read.entitiesByName["Item"])
    #expect(item.indexes.map(\.name).sorted() == model.entities[0].indexes.map(\.name).sorted())
    #expect(item.propertiesByName["title"]?.isIndexed == isMarked)
  }

  /// So are models of Apple's own stores, which no compiler of Xcode has written. Decisions/0130.
  @Test func `a marked attribute with an index of another name alone gets no index more`() throws {
    let model: NSManagedObjectModel = Self.model { model, attribute in
      attribute.isIndexed = true
      model.entities[0].indexes = [
        NSFetchIndexDescription(
          name: "byTitle",
          elements: [NSFetchIndexElementDescription(property: attribute, collationType: .binary)])
      ]
    }
    let read = try ModelSourceReader.read(try model.sourceData(), file: "contents").model
    #expect(ModelDifference(from: model, to: read).changes.isEmpty)
    #expect(read.entitiesByName["Item"]?.indexes.map(\.name) == ["byTitle"])
  }
}
