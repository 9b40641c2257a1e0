import CoreDataPredicates
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// The words for why a store does not fit a model.
@Suite
struct ModelDifferenceTests {
  /// What a developer does to an entity `Item`, and what is said of it.
  private static let deeds: [(String, @Sendable (NSEntityDescription) -> Void, [String])] = [
    ("nothing", { _ in }, []),
    (
      "what no store depends on",
      {
        $0.userInfo = ["a": "b"]
        title($0).defaultValue = "x"
      }, []
    ),
    ("a transient", { $0.properties.append(attribute("t", .stringAttributeType, isTransient: true)) }, []),
    (
      "another type", { title($0).attributeType = .integer16AttributeType },
      ["Item.title is String in the store, Integer 16 in the model"]
    ),
    (
      "required", { title($0).isOptional = false },
      ["Item.title is optional in the store, required in the model"]
    ),
    (
      "removed", { $0.properties = [] },
      ["Item.part is only in the store", "Item.title is only in the store"]
    ),
    (
      "added", { $0.properties.append(attribute("age", .integer64AttributeType)) },
      ["Item.age is only in the model"]
    ),
    (
      "to-many", { part($0).maxCount = 0 },
      [
        "Item.part is a to-one relationship in the store, a to-many relationship in the model",
        "Item.part is for 0 to 1 objects in the store, for 0 to any number of objects in the model",
      ]
    ),
    (
      "ordered", { part($0).isOrdered = true },
      ["Item.part is not ordered in the store, ordered in the model"]
    ),
    ("abstract", { $0.isAbstract = true }, ["Item is not abstract in the store, abstract in the model"]),
    (
      "unique", { $0.uniquenessConstraints = [["title"]] },
      ["Item is without constraints in the store, unique by title in the model"]
    ),
    (
      "hash modifier", { title($0).versionHashModifier = "2" },
      ["Item.title is without hash modifier in the store, of hash modifier '2' in the model"]
    ),
    (
      "a relationship in the place of an attribute",
      { item in
        let other = NSRelationshipDescription()
        other.name = "title"
        other.destinationEntity = item
        other.maxCount = 1
        item.properties = [other, part(item)]
      },
      ["Item.title is String in the store, a to-one relationship in the model"]
    ),
  ]

  private static func attribute(_ name: String, _ type: NSAttributeType, isTransient: Bool = false)
    -> NSAttributeDescription
  {
    let made = NSAttributeDescription()
    made.name = name
    made.attributeType = type
    made.isTransient = isTransient
    return made
  }

  private static func title(_ item: NSEntityDescription) -> NSAttributeDescription {
    item.attributesByName["title"]!
  }
  private static func part(_ item: NSEntityDescription) -> NSRelationshipDescription {
    item.relationshipsByName["part"]!
  }

  private static func item() -> NSEntityDescription {
    let item = NSEntityDescription()
    item.name = "Item"
    let part = NSRelationshipDescription()
    part.name = "part"
    part.destinationEntity = item
    part.maxCount = 1
    item.properties = [attribute("title", .stringAttributeType), part]
    return item
  }

  @Test(arguments: deeds.indices)
  func `each difference is named, and only what changes the version hash`(number: Int) {
    let (name, change, wanted) = Self.deeds[number]
    let (store, model): (NSEntityDescription, NSEntityDescription) = (Self.item(), Self.item())
    change(model)
    let difference = ModelDifference(from: Self.model(store), to: Self.model(model))
    let sentences: [String] = difference.changes.filter(\.changesVersionHash).map {
      $0.sentence(source: "the store", destination: "the model")
    }
    #expect(sentences == wanted, "\(name)")
    #expect((store.versionHash == model.versionHash) == wanted.isEmpty, "\(name)")
    #expect(difference.changesVersionHashes != wanted.isEmpty, "\(name)")
  }

  // Findings: dates were told as seconds since 2001, and names as `Optional("Item")`.
  @Test func `dates are told as dates, and names as they are`() throws {
    func model(_ seconds: Int, _ name: String) throws -> NSManagedObjectModel {
      let text: String = """
        <model><entity name="Item" representedClassName="\(name)"><attribute name="made" attributeType="Date" \
        minDateTimeInterval="\(seconds)" defaultDateTimeInterval="\(seconds)"/></entity></model>
        """
      return try NSManagedObjectModel.load(source: Data(text.utf8), file: "contents").model
    }
    let (old, new) = (try model(0, "One"), try model(86400, "Two"))
    let sentences: [String] = ModelDifference(from: old, to: new).changes.map {
      $0.sentence(source: "the store", destination: "the model")
    }
    for says in [
      "validated by SELF >= 2001-01-01T00:00:00Z in the store, validated by SELF >= 2001-01-02T00:00:00Z in",
      "of the default 2001-01-01T00:00:00Z in the store",
    ] {
      #expect(sentences.contains { $0.contains(says) }, "\(sentences)")
    }
    let differences: [String] = ModelComparison.differences(old, new)
    #expect(differences.contains { $0.hasSuffix("class is One here, Two there") }, "\(differences)")
  }

  private static func model(_ item: NSEntityDescription) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }
}
