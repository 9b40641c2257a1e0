import CoreDataModelChecking
import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel

/// What a derived attribute may be derived from, and what is said of anything else.
@Suite struct DerivationTests {
  /// Order ── items ── Item.price, weight, note, secret (transient), total (derived), file (external);  Order.buyer → Person.name
  private static func model(
    _ expression: String?, _ type: NSAttributeType, predicate: NSPredicate? = nil
  ) throws -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    func relationship(_ name: String, _ to: NSEntityDescription, many: Bool) -> NSRelationshipDescription {
      let relationship = NSRelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = to
      relationship.maxCount = many ? 0 : 1
      return relationship
    }
    let (order, item, person) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (order.name, item.name, person.name) = ("Order", "Item", "Person")
    let secret: NSAttributeDescription = attribute("secret", .integer16AttributeType)
    secret.isTransient = true
    let file: NSAttributeDescription = attribute("file", .binaryDataAttributeType)
    file.allowsExternalBinaryDataStorage = true
    let total = NSDerivedAttributeDescription()
    total.name = "total"
    total.attributeType = .integer64AttributeType
    total.derivationExpression = try NSExpression(parsing: "weight", arguments: [])
    item.properties = [
      attribute("price", .doubleAttributeType), attribute("weight", .integer32AttributeType),
      attribute("note", .stringAttributeType), secret, total,
    ]
    person.properties = [attribute("name", .stringAttributeType), relationship("orders", order, many: true)]
    let derived = NSDerivedAttributeDescription()
    derived.name = "derived"
    derived.attributeType = type
    derived.derivationExpression = try expression.map { try NSExpression(parsing: $0, arguments: []) }
    derived.filteringPredicate = predicate
    order.properties = [
      derived, attribute("number", .integer16AttributeType), attribute("title", .stringAttributeType), file,
      attribute("shape", .transformableAttributeType), relationship("items", item, many: true),
      relationship("buyer", person, many: false),
    ]
    let model = NSManagedObjectModel()
    model.entities = [order, item, person]
    return model
  }

  @Test(arguments: [
    (
      "title", NSAttributeType.stringAttributeType,
      Derivation.value(path: [], attribute: "title", function: nil)
    ),
    ("number", .integer64AttributeType, .value(path: [], attribute: "number", function: nil)),
    ("buyer.name", .stringAttributeType, .value(path: ["buyer"], attribute: "name", function: nil)),
    (
      "canonical:(buyer.name)", .stringAttributeType,
      .value(path: ["buyer"], attribute: "name", function: .canonical)
    ),
    ("lowercase:(title)", .stringAttributeType, .value(path: [], attribute: "title", function: .lowercase)),
    ("uppercase:(title)", .stringAttributeType, .value(path: [], attribute: "title", function: .uppercase)),
    ("items.@count", .integer16AttributeType, .count(relationship: "items")),
    ("items.@sum.price", .doubleAttributeType, .sum(relationship: "items", attribute: "price")),
    ("items.price.@sum", .decimalAttributeType, .sum(relationship: "items", attribute: "price")),
    ("items.@sum.weight", .integer64AttributeType, .sum(relationship: "items", attribute: "weight")),
    ("count:(items)", .integer32AttributeType, .count(relationship: "items")),
    ("sum:(items.weight)", .integer32AttributeType, .sum(relationship: "items", attribute: "weight")),
    ("now()", .dateAttributeType, .now),
  ])
  func `what stores can derive is taken, and is no problem`(
    text: String, type: NSAttributeType, expected: Derivation
  ) throws {
    let model: NSManagedObjectModel = try Self.model(text, type)
    let order: NSEntityDescription = try #require(model.entitiesByName["Order"])
    let derived = try #require(order.attributesByName["derived"] as? NSDerivedAttributeDescription)
    #expect(try Derivation.of(derived, in: order) == expected)
    #expect(!model.problems().contains { $0.part == "derived" })
  }

  @Test(
    arguments: [
      (nil, NSAttributeType.stringAttributeType, ["no expression"]),
      ("titel", .stringAttributeType, ["titel", "Order", "\"title\""]),
      ("buyer.nam", .stringAttributeType, ["nam", "Person", "\"name\""]),
      ("title.length", .integer16AttributeType, ["behind the attribute 'title'"]),
      ("buyer", .stringAttributeType, ["ends with the relationship 'buyer'"]),
      ("items", .integer16AttributeType, ["items", "@count"]),
      ("items.price", .doubleAttributeType, ["items", "@sum"]),
      ("items.@max.price", .doubleAttributeType, ["@max.price"]),
      ("items.@sum.cost", .doubleAttributeType, ["cost", "Item"]),
      ("count:(title)", .integer16AttributeType, ["behind the attribute 'title'"]),
      ("sum:(items)", .integer16AttributeType, ["@sum"]),
      ("count:(1)", .integer16AttributeType, ["counts something"]),
      ("items.@sum.note", .doubleAttributeType, ["note", "no number"]),
      ("items.@sum.secret", .integer64AttributeType, ["secret", "transient"]),
      ("items.@sum.total", .integer64AttributeType, ["total", "derived itself"]),
      ("items.@sum.price", .integer64AttributeType, ["Double", "Integer 64"]),
      ("items.@count", .stringAttributeType, ["a number", "String"]),
      ("buyer.orders.@count", .integer16AttributeType, ["to-one relationship to the to-many 'orders'"]),
      ("canonical:(number)", .stringAttributeType, ["number", "no text"]),
      ("canonical:(items)", .stringAttributeType, ["many values"]),
      ("canonical:(title)", .integer16AttributeType, ["text", "Integer 16"]),
      ("file", .binaryDataAttributeType, ["file of its own"]),
      ("shape", .transformableAttributeType, ["shape"]),
      ("number", .stringAttributeType, ["Integer 16", "String"]),
      ("derived", .stringAttributeType, ["derived itself"]),
      ("now()", .stringAttributeType, ["a date"]),
      ("number + 1", .integer16AttributeType, ["add:to:"]),
      ("'constant'", .stringAttributeType, ["neither"]),
      ("SELF", .stringAttributeType, ["neither"]),
      ("sqrt:(number)", .doubleAttributeType, ["sqrt:"]),
    ] as [(String?, NSAttributeType, [String])])
  func `all else is refused with what is wrong and what is allowed`(
    text: String?, type: NSAttributeType, says: [String]
  ) throws {
    let model: NSManagedObjectModel = try Self.model(text, type)
    let found: [ModelProblem] = model.problems().filter {
      $0.part == "derived" && $0.severity == .error
    }
    #expect(found.map(\.entity) == ["Order"] && found.map(\.severity) == [.error])
    let message: String = found.first?.message ?? ""
    for part in says + ["pages.@count"]
      + (text.map { ["'\(try! NSExpression(parsing: $0, arguments: []))'"] } ?? [])
    {
      #expect(message.contains(part), "\(message)")
    }
  }

  @Test func `a predicate that limits an aggregate is refused, and so is a transient one`() throws {
    let limited = try Self.model("items.@count", .integer16AttributeType, predicate: NSPredicate(value: true))
    #expect(limited.problems().contains { $0.part == "derived" && $0.message.contains("predicate") })
    let transient = try Self.model("items.@count", .integer16AttributeType)
    transient.entitiesByName["Order"]?.attributesByName["derived"]?.isTransient = true
    #expect(transient.problems().contains { $0.part == "derived" && $0.message.contains("transient") })
  }
}
