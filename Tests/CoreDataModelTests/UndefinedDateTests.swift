import CoreDataModel
import CoreDataPredicates
import Foundation
import TestSupport
import Testing

/// A date of NaN is not equal to itself: a model that has one would not be equal to what was written of it.
struct UndefinedDateTests {
  private func mapping(_ date: Date) -> NSMappingModel {
    let property = NSPropertyMapping()
    property.name = "day"
    property.valueExpression = CoreDataPredicates.NSExpression(forConstantValue: date)
    let entity = NSEntityMapping()
    entity.name = "ItemToItem"
    (entity.sourceEntityName, entity.destinationEntityName) = ("Item", "Item")
    entity.attributeMappings = [property]
    let mapping = NSMappingModel()
    mapping.entityMappings = [entity]
    return mapping
  }

  @Test func `a date that is no number in an expression is neither written nor read`() throws {
    let folder = try TemporaryFolder()
    let undefined = Date(timeIntervalSinceReferenceDate: .nan)
    let writing = #expect(throws: ModelFileError.self) { try mapping(undefined).archivedData() }
    #expect(writing?.reason.contains("a date that is no number") == true, "\(writing as Any)")
    let date = Date(timeIntervalSinceReferenceDate: 123_456_789.25)
    var data: Data = try mapping(date).archivedData()
    try data.write(to: folder.file("A.cdm"))
    #expect(try NSMappingModel.load(contentsOf: folder.file("A.cdm")) == mapping(date))
    func bytes(_ value: Double) -> Data { withUnsafeBytes(of: value.bitPattern.bigEndian) { Data($0) } }
    let place = try #require(data.range(of: bytes(date.timeIntervalSinceReferenceDate)))
    data.replaceSubrange(place, with: bytes(.nan))
    try data.write(to: folder.file("B.cdm"))
    let reading = #expect(throws: ModelFileError.self) {
      try NSMappingModel.load(contentsOf: folder.file("B.cdm"))
    }
    #expect(reading?.reason.contains("a date that is no number") == true, "\(reading as Any)")
  }
}
