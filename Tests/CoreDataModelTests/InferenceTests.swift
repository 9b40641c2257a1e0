import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel

/// What is inferred of a migration, and what is not.
@Suite
struct InferenceTests {
  typealias Build = @Sendable (inout ModelDraft) -> Void

  /// A change that can be inferred: both models, the mappings in words, and what the objects must fulfil.
  struct Case: Sendable {
    let name: String
    let old: Build
    let new: Build
    let mappings: [String]
    var conditions: [String] = []
    var omissions: [String] = []
  }

  private static let title: String = "title = $source.title"

  private static let cases: [Case] = [
    Case(
      name: "nothing", old: { $0.entity("Item", Draft.attribute("title")) },
      new: { $0.entity("Item", Draft.attribute("title")) },
      mappings: ["IEM_Copy_Item: Item → Item: \(title)"]),
    Case(
      name: "entities and attributes come and go",
      old: {
        $0.entity("Item", Draft.attribute("title"), Draft.attribute("old"))
        $0.entity("Gone")
      },
      new: {
        $0.entity("Item", Draft.attribute("title"), Draft.attribute("rank", .integer16AttributeType))
        $0.entity("New", Draft.attribute("a"))
      },
      mappings: [
        "IEM_Transform_Item: Item → Item: \(title); rank", "IEM_Add_New: → New: a",
        "IEM_Remove_Gone: Gone →:",
      ]),
    Case(
      name: "renamed by identifiers", old: { $0.entity("Item", Draft.attribute("name")) },
      new: { $0.entity("Task", was: "Item", Draft.attribute("title", was: "name")) },
      mappings: ["IEM_Transform_Task: Item → Task: title = $source.name"]),
    Case(
      name: "renamed twice, from the second version",
      old: { $0.entity("Task", was: "Item", Draft.attribute("title", was: "name")) },
      new: { $0.entity("ToDo", was: "Item", Draft.attribute("text", was: "name")) },
      mappings: ["IEM_Transform_ToDo: Task → ToDo: text = $source.title"]),
    Case(
      name: "a renaming undone",
      old: { $0.entity("Task", was: "Item", Draft.attribute("title", was: "name")) },
      new: { $0.entity("Item", Draft.attribute("name")) },
      mappings: ["IEM_Transform_Item: Task → Item: name = $source.title"]),
    Case(
      name: "two attributes exchange their names",
      old: { $0.entity("Item", Draft.attribute("a"), Draft.attribute("b")) },
      new: { $0.entity("Item", Draft.attribute("a", was: "b"), Draft.attribute("b", was: "a")) },
      mappings: ["IEM_Transform_Item: Item → Item: a = $source.b; b = $source.a"]),
    Case(
      name: "a new attribute under the name of a renamed one",
      old: { $0.entity("Item", Draft.attribute("a")) },
      new: { $0.entity("Item", Draft.attribute("a"), Draft.attribute("b", was: "a")) },
      mappings: ["IEM_Transform_Item: Item → Item: a; b = $source.a"]),
    Case(
      name: "required with a default", old: { $0.entity("Item", Draft.attribute("title")) },
      new: { $0.entity("Item", Draft.attribute("title", required: true, initially: "none")) },
      mappings: [
        "IEM_Transform_Item: Item → Item: title = TERNARY($source.title == nil, \"none\", $source.title)"
      ]),
    Case(
      name: "optional", old: { $0.entity("Item", Draft.attribute("title", required: true)) },
      new: { $0.entity("Item", Draft.attribute("title")) },
      mappings: ["IEM_Transform_Item: Item → Item: \(title)"]),
    Case(
      name: "a wider type", old: { $0.entity("Item", Draft.attribute("n", .integer16AttributeType)) },
      new: { $0.entity("Item", Draft.attribute("n", .decimalAttributeType)) },
      mappings: ["IEM_Transform_Item: Item → Item: n = $source.n"]),
    Case(
      name: "to-one becomes to-many and ordered",
      old: {
        $0.entity("Item")
        $0.entity("Person")
        $0.relate("Item", "owner", "Person", "items")
      },
      new: {
        $0.entity("Item")
        $0.entity("Person")
        $0.relate("Item", "owners", "Person", "items", toMany: true)
        $0["Item"].relationshipsByName["owners"]?.renamingIdentifier = "owner"
        $0["Person"].relationshipsByName["items"]?.isOrdered = true
      },
      mappings: [
        "IEM_Transform_Item: Item → Item: owners = \(objects("owner"))",
        "IEM_Transform_Person: Person → Person: items = \(objects("items"))",
      ]),
    Case(
      name: "a required relationship",
      old: {
        $0.entity("Item")
        $0.entity("Person")
        $0.relate("Item", "owner", "Person", "items")
      },
      new: {
        $0.entity("Item")
        $0.entity("Person")
        $0.relate("Item", "owner", "Person", "items")
        $0["Item"].relationshipsByName["owner"]?.isOptional = false
        $0["Person"].relationshipsByName["items"]?.maxCount = 5
      },
      mappings: [
        "IEM_Transform_Item: Item → Item: owner = \(objects("owner"))",
        "IEM_Transform_Person: Person → Person: items = \(objects("items"))",
      ],
      conditions: [
        "Every Item must have a value of 'owner'.", "Every Person may have at most 5 of 'items'.",
      ]),
    Case(
      name: "the required other side of a known relationship",
      old: {
        $0.entity("Item")
        $0.entity("Person", Draft.to("items", toMany: true))
        $0["Person"].relationshipsByName["items"]?.destinationEntity = $0["Item"]
      },
      new: {
        $0.entity("Item")
        $0.entity("Person")
        $0.relate("Item", "owner", "Person", "items")
        $0["Item"].relationshipsByName["owner"]?.isOptional = false
      },
      mappings: [
        "IEM_Transform_Item: Item → Item: owner",
        "IEM_Transform_Person: Person → Person: items = \(objects("items"))",
      ], conditions: ["Every Item must have a value of 'owner'."]),
    Case(
      name: "a parent that takes over an attribute", old: { $0.entity("Dog", Draft.attribute("title")) },
      new: {
        $0.entity("Animal", isAbstract: true, Draft.attribute("title"))
        $0.entity("Dog", parent: "Animal")
      },
      mappings: ["IEM_Transform_Dog: Dog → Dog: \(title)"]),
    Case(
      name: "an attribute moves to the children",
      old: {
        $0.entity("Animal", isAbstract: true, Draft.attribute("title"))
        $0.entity("Dog", parent: "Animal")
      },
      new: {
        $0.entity("Animal", isAbstract: true)
        $0.entity("Dog", parent: "Animal", Draft.attribute("title"))
      },
      mappings: ["IEM_Transform_Dog: Dog → Dog: \(title)"]),
    Case(
      name: "an entity leaves its hierarchy",
      old: {
        $0.entity("Animal", Draft.attribute("title"))
        $0.entity("Dog", parent: "Animal", Draft.attribute("n"))
      },
      new: {
        $0.entity("Animal", Draft.attribute("title"))
        $0.entity("Dog", Draft.attribute("n"))
      },
      mappings: ["IEM_Copy_Animal: Animal → Animal: \(title)", "IEM_Transform_Dog: Dog → Dog: n = $source.n"]),
    Case(
      name: "a relationship to the parent of its destination",
      old: {
        $0.entity("Animal", isAbstract: true)
        $0.entity("Dog", parent: "Animal")
        $0.entity("Person", Draft.to("pet"))
        $0["Person"].relationshipsByName["pet"]?.destinationEntity = $0["Dog"]
      },
      new: {
        $0.entity("Animal", isAbstract: true)
        $0.entity("Dog", parent: "Animal")
        $0.entity("Person", Draft.to("pet"))
        $0["Person"].relationshipsByName["pet"]?.destinationEntity = $0["Animal"]
      },
      mappings: [
        "IEM_Copy_Dog: Dog → Dog:", "IEM_Transform_Person: Person → Person: pet = \(objects("pet"))",
      ]),
    Case(
      name: "a relationship to another destination",
      old: {
        $0.entity("Item", Draft.to("owner"))
        $0.entity("Person")
        $0.entity("Company")
        $0["Item"].relationshipsByName["owner"]?.destinationEntity = $0["Person"]
      },
      new: {
        $0.entity("Item", Draft.to("owner"))
        $0.entity("Person")
        $0.entity("Company")
        $0["Item"].relationshipsByName["owner"]?.destinationEntity = $0["Company"]
      },
      mappings: [
        "IEM_Copy_Company: Company → Company:", "IEM_Transform_Item: Item → Item: owner",
        "IEM_Copy_Person: Person → Person:",
      ],
      omissions: [
        "Item.owner leads to Person in the source, to Company in the destination; its former objects are left out."
      ]),
    Case(
      name: "a constraint", old: { $0.entity("Item", Draft.attribute("title")) },
      new: { $0.entity("Item", Draft.attribute("title")).uniquenessConstraints = [["title"]] },
      mappings: ["IEM_Transform_Item: Item → Item: \(title)"],
      conditions: ["No two objects of Item may have the same title."]),
    Case(
      name: "a known constraint of a renamed attribute",
      old: { $0.entity("Item", Draft.attribute("name")).uniquenessConstraints = [["name"]] },
      new: { $0.entity("Item", Draft.attribute("title", was: "name")).uniquenessConstraints = [["title"]] },
      mappings: ["IEM_Transform_Item: Item → Item: title = $source.name"]),
    Case(
      name: "an index", old: { $0.entity("Item", Draft.attribute("title")) },
      new: {
        let item: NSEntityDescription = $0.entity("Item", Draft.attribute("title"))
        let element = NSFetchIndexElementDescription(property: item.properties[0], collationType: .binary)
        item.indexes = [NSFetchIndexDescription(name: "byTitle", elements: [element])]
      }, mappings: ["IEM_Copy_Item: Item → Item: \(title)"]),
    Case(
      name: "derived attributes",
      old: {
        $0.entity("Item", Draft.attribute("title"), Draft.derived("search", "canonical:(title)"))
      },
      new: {
        $0.entity(
          "Item", Draft.attribute("title"), Draft.attribute("search"),
          Draft.derived("upper", "uppercase:(title)"))
      }, mappings: ["IEM_Transform_Item: Item → Item: \(title); search = $source.search"]),
    Case(
      name: "elements of a composite attribute",
      old: {
        $0.entity(
          "Item",
          Draft.composite("place", Draft.attribute("town"), Draft.attribute("n", .integer16AttributeType)))
      },
      new: {
        $0.entity(
          "Item",
          Draft.composite(
            "address", was: "place", Draft.attribute("city", was: "town"), Draft.attribute("street"),
            Draft.attribute("n", .integer64AttributeType)))
      },
      mappings: [
        "IEM_Transform_Item: Item → Item: address.city = $source.place.town; address.n = $source.place.n"
      ]),
    Case(
      name: "a composite attribute under another name",
      old: { $0.entity("Item", Draft.composite("place", Draft.attribute("town"))) },
      new: {
        let address: NSCompositeAttributeDescription = Draft.composite("place", Draft.attribute("town"))
        $0.entity("Item", address, Draft.attribute("x"))
      },
      mappings: ["IEM_Transform_Item: Item → Item: place = $source.place; x"]),
    Case(
      name: "a new required relationship",
      old: {
        $0.entity("Item")
        $0.entity("Person")
      },
      new: {
        $0.entity("Item")
        $0.entity("Person")
        $0.relate("Item", "owner", "Person", "items")
        $0["Item"].relationshipsByName["owner"]?.isOptional = false
        $0["Person"].relationshipsByName["items"]?.isOptional = false
      },
      mappings: ["IEM_Transform_Item: Item → Item: owner", "IEM_Transform_Person: Person → Person: items"],
      conditions: ["Every Item must have a value of 'owner'."]),
    Case(
      name: "an entity becomes abstract", old: { $0.entity("Item", Draft.attribute("a")) },
      new: { $0.entity("Item", isAbstract: true, Draft.attribute("a")) },
      mappings: ["IEM_Remove_Item: Item →:"],
      conditions: ["There may be no objects of Item itself, which is abstract in the destination."]),
    Case(
      name: "a stored attribute becomes transient and back",
      old: {
        let a: NSAttributeDescription = Draft.attribute("a")
        a.isTransient = true
        $0.entity("Item", a, Draft.attribute("b"))
      },
      new: {
        let b: NSAttributeDescription = Draft.attribute("b")
        b.isTransient = true
        $0.entity("Item", Draft.attribute("a"), b)
      }, mappings: ["IEM_Transform_Item: Item → Item: a"]),
  ]

  private static func objects(_ name: String) -> String {
    "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\" , \"\(name)\", "
      + "$source.\(name))"
  }

  private static func words(_ mapping: NSEntityMapping) -> String {
    let properties: [String] = ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])).map
    {
      ($0.name ?? "") + ($0.valueExpression.map { " = \($0)" } ?? "")
    }
    let names: [String] = [mapping.sourceEntityName, "→", mapping.destinationEntityName].compactMap(\.self)
    let head: String = "\(mapping.name ?? ""): \(names.joined(separator: " ")):"
    return properties.isEmpty ? head : "\(head) \(properties.joined(separator: "; "))"
  }

  @Test(arguments: cases.indices) func `a mapping is inferred`(number: Int) throws {
    let test: Case = Self.cases[number]
    let (old, new) = (ModelDraft.make(test.old), ModelDraft.make(test.new))
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: old, destinationModel: new)
    #expect(mapping.entityMappings.map(Self.words) == test.mappings, "\(test.name)")
    let inference = MappingInference(from: old, to: new)
    #expect(inference.conditions.map(\.description) == test.conditions, "\(test.name)")
    #expect(inference.omissions == test.omissions, "\(test.name)")
    for entity in mapping.entityMappings {
      #expect(
        entity.sourceEntityVersionHash == old.entitiesByName[entity.sourceEntityName ?? ""]?.versionHash)
      #expect(
        entity.destinationEntityVersionHash
          == new.entitiesByName[entity.destinationEntityName ?? ""]?.versionHash)
    }
  }

  @Test func `objects are fetched from the source's context`() throws {
    let model: NSManagedObjectModel = ModelDraft.make { $0.entity("Item") }
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: model, destinationModel: model)
    let wanted: CoreDataPredicates.NSExpression = try NSExpression(
      parsing: """
        FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Item", \
        "TRUEPREDICATE"), $manager.sourceContext, NO)
        """)
    #expect(mapping.entityMappings[0].sourceExpression == wanted)
  }

  @Test func `the user info of a mapping names its properties, as Apple's does`() throws {
    let old: NSManagedObjectModel = ModelDraft.make {
      $0.entity("Item", Draft.attribute("same"), Draft.attribute("gone"), Draft.attribute("old"))
    }
    let new: NSManagedObjectModel = ModelDraft.make {
      $0.entity(
        "Item", Draft.attribute("same"), Draft.attribute("added"), Draft.attribute("new", was: "old"))
    }
    let mapping: NSMappingModel = try .inferredMappingModel(forSourceModel: old, destinationModel: new)
    let names = try #require(mapping.entityMappings[0].userInfo as? [String: Set<String>])
    #expect(
      names == [
        "mappedProperties": ["same", "new"], "addedProperties": ["added"], "removedProperties": ["gone"],
      ])
    #expect(try MappingArchive.read(mapping.archivedData(), file: "twin") == mapping)
  }

  // MARK: Refusals

  private static let refusals: [(name: String, old: Build, new: Build, reasons: [String])] = [
    (
      "a type of other values", { $0.entity("Item", Draft.attribute("n", .integer32AttributeType)) },
      { $0.entity("Item", Draft.attribute("n", .booleanAttributeType)) },
      [
        "Item.n is Integer 32 in the source, Boolean in the destination, which does not hold every value of Integer 32."
      ]
    ),
    (
      "required without default",
      { $0.entity("Item", Draft.attribute("a")) },
      { $0.entity("Item", Draft.attribute("a", required: true), Draft.attribute("b", required: true)) },
      [
        "Item.a is optional in the source, required in the destination, and has no default value for objects without one.",
        "Item.b is new and required and has no default value, so that existing objects have none.",
      ]
    ),
    (
      "to-one from to-many",
      { draft in
        draft.entity("Item")
        draft.entity("Person")
        draft.relate("Item", "owners", "Person", "items", toMany: true)
      },
      { draft in
        draft.entity("Item")
        draft.entity("Person")
        draft.relate("Item", "owners", "Person", "items")
      },
      [
        "Item.owners is a to-many relationship in the source, a to-one relationship in the destination, and only one of several objects could stay."
      ]
    ),
    (
      "a required relationship to another destination",
      { draft in
        draft.entity("Item", Draft.to("owner", required: true))
        draft.entity("Person")
        draft.entity("Company")
        draft["Item"].relationshipsByName["owner"]?.destinationEntity = draft["Person"]
      },
      { draft in
        draft.entity("Item", Draft.to("owner", required: true))
        draft.entity("Person")
        draft.entity("Company")
        draft["Item"].relationshipsByName["owner"]?.destinationEntity = draft["Company"]
      },
      [
        "Item.owner leads to Person in the source, to Company in the destination, and is required, so that existing objects have nothing at its other end."
      ]
    ),
    (
      "a relationship to a part of its former objects",
      { draft in
        draft.entity("Animal")
        draft.entity("Dog", parent: "Animal")
        draft.entity("Item", Draft.to("owner"))
        draft["Item"].relationshipsByName["owner"]?.destinationEntity = draft["Animal"]
      },
      { draft in
        draft.entity("Animal")
        draft.entity("Dog", parent: "Animal")
        draft.entity("Item", Draft.to("owner"))
        draft["Item"].relationshipsByName["owner"]?.destinationEntity = draft["Dog"]
      },
      [
        "Item.owner leads to Animal in the source, to Dog in the destination, and objects of Animal do not become such."
      ]
    ),
    (
      "a new to-many relationship with a minimum",
      { draft in
        draft.entity("Item")
        draft.entity("Person")
      },
      { draft in
        draft.entity("Item")
        draft.entity("Person")
        draft.relate("Item", "owner", "Person", "items")
        draft["Person"].relationshipsByName["items"]?.isOptional = false
        draft["Person"].relationshipsByName["items"]?.minCount = 2
      },
      [
        "Person.items is new and must have at least 2, so that existing objects have nothing at its other end."
      ]
    ),
    (
      "a relationship in the place of an attribute", { $0.entity("Item", Draft.attribute("a")) },
      { draft in
        draft.entity("Item", Draft.to("a"))
        draft["Item"].relationshipsByName["a"]?.destinationEntity = draft["Item"]
      },
      [
        "Item.a is String in the source, a to-one relationship in the destination, and the values of one are none of the other."
      ]
    ),
    (
      "hierarchies merge",
      { draft in
        draft.entity("Cat")
        draft.entity("Dog")
      },
      { draft in
        draft.entity("Animal", isAbstract: true)
        draft.entity("Cat", parent: "Animal")
        draft.entity("Dog", parent: "Animal")
      },
      [
        "Cat and Dog have no common parent in the source and have Animal in the destination; hierarchies can't be merged."
      ]
    ),
    (
      "an identifier is given twice", { $0.entity("Item", Draft.attribute("a")) },
      { $0.entity("Item", Draft.attribute("b", was: "a"), Draft.attribute("c", was: "a")) },
      ["Item.a of the source is claimed by Item.b and Item.c of the destination."]
    ),
    (
      "an identifier is out of date", { $0.entity("Item", Draft.attribute("a"), Draft.attribute("b")) },
      { $0.entity("Item", Draft.attribute("a"), Draft.attribute("b", was: "a")) },
      ["Item.a of the source is claimed by Item.b and Item.a of the destination."]
    ),
    (
      "a required element of a composite attribute",
      { $0.entity("Item", Draft.composite("place", Draft.attribute("town"))) },
      { $0.entity("Item", Draft.composite("place", Draft.attribute("zip", required: true))) },
      [
        "Item.place.zip is new and required and has no default value, so that existing objects have none."
      ]
    ),
  ]

  @Test(
    arguments: [
      (.integer32AttributeType, .integer16AttributeType, "Integer 16 can be (-32768 to 32767)."),
      (.doubleAttributeType, .integer64AttributeType, "Integer 64 can be (\(Int64.min) to \(Int64.max))."),
      (.decimalAttributeType, .floatAttributeType, "Float can be without rounding."),
      (.doubleAttributeType, .decimalAttributeType, "Decimal can be without rounding."),
    ] as [(NSAttributeType, NSAttributeType, String)])
  func `a change among the types of numbers is a condition`(
    _ old: NSAttributeType, _ new: NSAttributeType, _ words: String
  ) throws {
    let inference = MappingInference(
      from: ModelDraft.make { $0.entity("Item", Draft.attribute("n", old)) },
      to: ModelDraft.make { $0.entity("Item", Draft.attribute("n", new)) })
    #expect(inference.refusals.isEmpty)
    #expect(
      inference.conditions.map(\.description) == [
        "The 'n' of every Item must be a number that a value of type " + words
      ])
  }

  @Test(arguments: refusals.indices) func `a refusal says which property and why`(number: Int) throws {
    let (name, old, new, reasons) = Self.refusals[number]
    let inference = MappingInference(from: ModelDraft.make(old), to: ModelDraft.make(new))
    #expect(inference.refusals.map(\.reason) == reasons, "\(name)")
    #expect(inference.refusals.allSatisfy { !$0.advice.isEmpty })
    let error: CocoaError = try #require(throws: CocoaError.self) { try inference.mappingModel() }
    #expect(error.code.rawValue == 134_190)
    for reason in reasons { #expect(error.localizedDescription.contains(reason), "\(name)") }
    #expect(error.userInfo["entity"] as? String == inference.refusals[0].entity)
    #expect(error.userInfo["property"] as? String == inference.refusals[0].property)
    #expect((error.userInfo["NSDetailedErrors"] as? [any Error])?.count == (reasons.count > 1 ? 2 : nil))
  }

  @Test func `a refusal of an inherited property is named once`() {
    let old: NSManagedObjectModel = ModelDraft.make {
      $0.entity("Animal", Draft.attribute("n", .stringAttributeType))
      $0.entity("Dog", parent: "Animal")
    }
    let new: NSManagedObjectModel = ModelDraft.make {
      $0.entity("Animal", Draft.attribute("n", .dateAttributeType))
      $0.entity("Dog", parent: "Animal")
    }
    #expect(MappingInference(from: old, to: new).refusals.map(\.property) == ["n"])
  }

  @Test func `a type holds the values of narrower ones`() {
    let types: [NSAttributeType] = [
      .booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      .floatAttributeType, .doubleAttributeType, .decimalAttributeType, .stringAttributeType,
    ]
    let table: [[Int]] = types.map { narrow in types.map { $0.holdsEveryValue(of: narrow) ? 1 : 0 } }
    #expect(
      table == [
        [1, 1, 1, 1, 1, 1, 1, 0], [0, 1, 1, 1, 1, 1, 1, 0], [0, 0, 1, 1, 0, 1, 1, 0],
        [0, 0, 0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 0, 1],
      ])
  }
}
