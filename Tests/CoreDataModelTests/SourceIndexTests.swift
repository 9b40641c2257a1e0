import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel

/// Which indexes a model file stands for. Finding C7; the rules hold for all 3,000 fetch indexes of Apple's
/// cached models.
@Suite struct SourceIndexTests {
  private func entity(_ content: String) throws -> NSEntityDescription {
    let text: String = """
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Car">
          <attribute name="maker" attributeType="String" optional="YES"/>
          <attribute name="plate" attributeType="String" optional="YES"/>
          <attribute name="year" attributeType="Integer 16" optional="YES" indexed="YES"/>
          <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Owner"/>
          \(content)
        </entity>
        <entity name="Owner"/>
      </model>
      """
    let read = try ModelSourceReader.read(Data(text.utf8), file: "test")
    #expect(read.warnings == [])
    return try #require(read.model.entitiesByName["Car"])
  }

  private func index(_ name: String, _ elements: (String, String)..., partial: String? = nil) -> String {
    let parts: String = elements.map {
      "<fetchIndexElement property=\"\($0.0)\" type=\"Binary\" order=\"\($0.1)\"/>"
    }.joined()
    let condition: String = partial.map { " partialIndexPredicate=\"\($0)\"" } ?? ""
    return "<fetchIndex name=\"\(name)\"\(condition)>\(parts)</fetchIndex>"
  }

  private func indexed(_ entity: NSEntityDescription) -> [String] {
    entity.ownProperties.filter(\.isIndexed).map(\.name).sorted()
  }

  @Test func `an ascending fetch index over one attribute marks it, which is an index of its own`() throws {
    let car = try entity(index("byPlate", ("plate", "ascending")))
    #expect(indexed(car) == ["plate", "year"])
    #expect(car.indexes.map(\.name) == ["plate", "year", "byPlate"])
    #expect(car.compoundIndexNames == [])
  }

  @Test func `a partial one marks it too; one that descends, or is over a relationship, does not`() throws {
    let car = try entity(
      index("byPlate", ("plate", "ascending"), partial: "plate != nil")
        + index("byMaker", ("maker", "descending")) + index("byOwner", ("owner", "ascending")))
    #expect(indexed(car) == ["plate", "year"])
    #expect(car.indexes.map(\.name) == ["plate", "year", "byPlate", "byMaker", "byOwner"])
  }

  @Test func `a fetch index over several attributes is a compound index, however they are sorted`() throws {
    let car = try entity(
      index("a", ("maker", "ascending"), ("plate", "descending"))
        + index("b", ("maker", "ascending"), ("owner", "ascending")))
    #expect(indexed(car) == ["year"])
    #expect(car.compoundIndexNames == [["maker", "plate"]])
    #expect(car.indexes.map(\.name) == ["year", "a", "b"])
  }

  @Test func `an old compound index is a fetch index named after its columns`() throws {
    let car = try entity(
      "<compoundIndexes><compoundIndex><index value=\"maker\"/><index value=\"plate\"/></compoundIndex></compoundIndexes>"
    )
    #expect(car.compoundIndexNames == [["maker", "plate"]])
    #expect(car.indexes.map(\.name) == ["year", "maker_plate"])
    #expect(car.indexes[1].elements.map(\.propertyName) == ["maker", "plate"])
  }

  @Test func `an index that has an attribute's name already stays alone`() throws {
    #expect(try entity(index("year", ("year", "ascending"))).indexes.map(\.name) == ["year"])
  }

  // Finding: the writer looked at all indexes and all properties for each attribute, so that a file of 200 kB
  // took it half a minute.
  @Test func `thousands of indexed attributes are written and read again`() throws {
    let content: [String] = (0..<3000).map { number in
      let name: String = "a\(number)"
      let mark: String = ["", " indexed=\"YES\"", " indexed=\"NO\""][number % 3]
      return "<attribute name=\"\(name)\" attributeType=\"String\" optional=\"YES\"\(mark)/>"
        + (number.isMultiple(of: 2) ? index("by\(name)", (name, "ascending")) : "")
    }
    let car: NSEntityDescription = try entity(content.joined())
    let model: NSManagedObjectModel = try #require(car.model)
    let again: NSManagedObjectModel = try ModelSourceReader.read(model.sourceData(), file: "again").model
    let other: NSEntityDescription = try #require(again.entitiesByName["Car"])
    #expect(indexed(other) == indexed(car) && indexed(car).count > 1000)
    #expect(other.indexes.map(\.name).sorted() == car.indexes.map(\.name).sorted())
    #expect(again.versionChecksum == model.versionChecksum)
  }

  @Test func `a computed column is an expression, numbered through the model`() throws {
    let car = try entity(
      "<fetchIndex name=\"all\"><fetchIndexElement property=\"maker\" type=\"Binary\" order=\"ascending\"/>"
        + "<fetchIndexElement expression=\"self\" expressionType=\"ObjectID\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"
    )
    let element: NSFetchIndexElementDescription = try #require(car.indexes.last?.elements.last)
    #expect(element.propertyName == "expression1")
    #expect(element.expressionDescription?.expression?.expressionNode() == .evaluatedObject)
    #expect(element.expressionDescription?.expressionResultType == .objectIDAttributeType)
    #expect(car.compoundIndexNames == [])
  }
}
