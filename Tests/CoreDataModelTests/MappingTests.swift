import CoreDataModel
import CoreDataPredicates
import Foundation
import Testing

/// Mapping models in code.
@Suite
struct MappingTests {
  private static func model(_ change: (NSEntityMapping, NSPropertyMapping) -> Void = { _, _ in })
    -> NSMappingModel
  {
    let title = NSPropertyMapping()
    title.name = "title"
    title.valueExpression = NSExpression(format: "$source.name")
    title.userInfo = ["note": 1]
    let entity = NSEntityMapping()
    entity.sourceEntityName = "Item"
    entity.destinationEntityName = "Task"
    entity.mappingType = .transformEntityMappingType
    entity.sourceEntityVersionHash = Data([1])
    entity.destinationEntityVersionHash = Data([2])
    entity.attributeMappings = [title]
    change(entity, title)
    let model = NSMappingModel()
    model.entityMappings = [entity]
    return model
  }

  private static let changes: [@Sendable (NSEntityMapping, NSPropertyMapping) -> Void] = [
    { entity, _ in entity.name = "other" },
    { entity, _ in entity.mappingType = .customEntityMappingType },
    { entity, _ in entity.sourceEntityName = "Other" },
    { entity, _ in entity.sourceEntityVersionHash = nil },
    { entity, _ in entity.destinationEntityName = "Other" },
    { entity, _ in entity.destinationEntityVersionHash = nil },
    { entity, _ in entity.entityMigrationPolicyClassName = "Policy" },
    { entity, _ in entity.sourceExpression = NSExpression(forVariable: "x") },
    { entity, _ in entity.attributeMappings = nil },
    { entity, _ in entity.relationshipMappings = [NSPropertyMapping()] },
    { entity, _ in entity.userInfo = ["a": 1] },
    { _, title in title.name = "other" },
    { _, title in title.valueExpression = nil },
    { _, title in title.userInfo = nil },
  ]

  @Test func `mapping models are equal by content`() {
    #expect(Self.model() == Self.model())
    #expect(Self.model().hash == Self.model().hash)
    let bare: NSMappingModel = Self.model { entity, _ in entity.relationshipMappings = [] }
    #expect(bare == Self.model())
  }

  @Test(arguments: changes.indices) func `each part counts for equality`(number: Int) {
    #expect(Self.model(Self.changes[number]) != Self.model())
  }

  @Test func `a mapping without a name has both entities' names`() {
    let mapping = NSEntityMapping()
    mapping.sourceEntityName = "Item"
    mapping.destinationEntityName = "Task"
    #expect(mapping.name == "Item->Task")
    mapping.name = "ItemToTask"
    #expect(mapping.name == "ItemToTask")
    mapping.name = nil
    #expect(mapping.name == "Item->Task")
  }

  @Test func `mappings are found by name, the first of each`() {
    let (first, second, third) = (NSEntityMapping(), NSEntityMapping(), NSEntityMapping())
    first.name = "A"
    second.name = "B"
    third.name = "A"
    let model = NSMappingModel()
    model.entityMappings = [first, second, third]
    #expect(model.entityMappingsByName.keys.sorted() == ["A", "B"])
    #expect(model.entityMappingsByName["A"] === first)
    model.entityMappings = nil
    #expect(model.entityMappings?.isEmpty == true)
  }

  @Test func `the raw values of mapping types are those of files`() {
    #expect(NSEntityMappingType.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    #expect(NSEntityMappingType(rawValue: 6) == nil)
  }
}
