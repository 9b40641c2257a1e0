import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import TestSupport

/// The model that random predicates speak of: every type of attribute, every kind of relationship.
///
///     Thing ← Part ← Piece        a hierarchy; every attribute type on Thing
///     Thing.parent ── children    to-one and to-many        Thing.friends    reflexive many-to-many
///     Thing.steps ── Step.thing   ordered to-many           Thing.twin       reflexive one-to-one
///     Thing.tags ── Tag.things    many-to-many              Thing.picks ── Tag.pickedBy   ordered many-to-many
///     Thing.owner ── Owner.things                           Part.mentor ── Owner.pupils
///     Owner.boss ── staff
///
/// Every object has a `number`, one of its own among all of its hierarchy: stores of several kinds are
/// compared by it.
enum LawModel {
  static let shared: NSManagedObjectModel = model(keepsDecimals: true)
  /// The same with decimals that saves round.
  static let rounding: NSManagedObjectModel = model(keepsDecimals: false)

  /// What the maker of predicates needs to know, by entity.
  static let entities: [String: LawEntity] = Dictionary(
    uniqueKeysWithValues: shared.entities.map { ($0.name ?? "", LawEntity($0)) })

  private static func model(keepsDecimals: Bool) -> NSManagedObjectModel {
    let thing = World.entity("LawThing", everyType())
    let part = World.entity("LawPart", [World.attribute("extra", .integer32AttributeType)])
    let piece = World.entity("LawPiece", [World.attribute("remark", .stringAttributeType)])
    thing.subentities = [part]
    part.subentities = [piece]
    let owner = World.entity("LawOwner", ownersAttributes())
    let tag = World.entity(
      "LawTag",
      [
        World.attribute("number", .integer64AttributeType), World.attribute("name", .stringAttributeType),
        World.attribute("weight", .integer64AttributeType), World.attribute("price", .decimalAttributeType),
        World.attribute("flag", .booleanAttributeType),
      ])
    let step = World.entity(
      "LawStep",
      [
        World.attribute("number", .integer64AttributeType), World.attribute("name", .stringAttributeType),
        World.attribute("place", .integer16AttributeType), World.attribute("cost", .doubleAttributeType),
        World.attribute("at", .dateAttributeType),
      ])
    func pair(
      _ left: NSEntityDescription, _ name: String, _ side: World.Cardinality, _ right: NSEntityDescription,
      _ inverse: String, _ other: World.Cardinality
    ) {
      World.pair(left, name, side, .nullifyDeleteRule, right, inverse, other, .nullifyDeleteRule)
    }
    pair(thing, "parent", .one, thing, "children", .many)
    pair(thing, "owner", .one, owner, "things", .many)
    pair(thing, "tags", .many, tag, "things", .many)
    pair(thing, "picks", .ordered, tag, "pickedBy", .many)
    pair(thing, "steps", .ordered, step, "thing", .one)
    pair(part, "mentor", .one, owner, "pupils", .many)
    pair(owner, "boss", .one, owner, "staff", .many)
    for (name, cardinality) in [("friends", World.Cardinality.many), ("twin", .one)] {
      let reflexive = World.relationship(name, thing, cardinality, .nullifyDeleteRule)
      reflexive.inverseRelationship = reflexive
      thing.properties.append(reflexive)
    }
    let model = NSManagedObjectModel()
    model.entities = [thing, part, piece, owner, tag, step]
    // A fetch compares decimals that are rounded with what constants would be; `evaluate(with:)`
    // with the constants.
    for attribute in model.entities.flatMap(\.attributesByName.values)
    where keepsDecimals && attribute.attributeType == .decimalAttributeType {
      attribute.userInfo = [ClarusExactDecimalsKey: true]
    }
    return model
  }

  private static func everyType() -> [NSAttributeDescription] {
    [
      World.attribute("number", .integer64AttributeType), World.attribute("i16", .integer16AttributeType),
      World.attribute("i32", .integer32AttributeType), World.attribute("i64", .integer64AttributeType),
      World.attribute("double", .doubleAttributeType), World.attribute("float", .floatAttributeType),
      World.attribute("decimal", .decimalAttributeType), World.attribute("flag", .booleanAttributeType),
      World.attribute("text", .stringAttributeType), World.attribute("title", .stringAttributeType),
      World.attribute("date", .dateAttributeType), World.attribute("data", .binaryDataAttributeType),
      World.attribute("uuid", .UUIDAttributeType), World.attribute("url", .URIAttributeType),
    ]
  }

  private static func ownersAttributes() -> [NSAttributeDescription] {
    [
      World.attribute("number", .integer64AttributeType), World.attribute("name", .stringAttributeType),
      World.attribute("age", .integer32AttributeType), World.attribute("rating", .doubleAttributeType),
      World.attribute("balance", .decimalAttributeType), World.attribute("born", .dateAttributeType),
      World.attribute("active", .booleanAttributeType), World.attribute("home", .UUIDAttributeType),
    ]
  }
}

/// Kinds of plain values, as the predicate language tells them apart.
enum LawKind: CaseIterable {
  case integer, real, decimal, flag, text, date, uuid, url, data

  init(_ type: NSAttributeType) {
    switch type {
    case .doubleAttributeType, .floatAttributeType: self = .real
    case .decimalAttributeType: self = .decimal
    case .booleanAttributeType: self = .flag
    case .stringAttributeType: self = .text
    case .dateAttributeType: self = .date
    case .UUIDAttributeType: self = .uuid
    case .URIAttributeType: self = .url
    case .binaryDataAttributeType: self = .data
    default: self = .integer
    }
  }
}

/// An entity as the maker of predicates sees it. Sorted, so that a seed means the same in every run.
struct LawEntity {
  let name: String
  /// The top of its hierarchy.
  let root: String
  let attributes: [(name: String, kind: LawKind)]
  let toOne: [(name: String, entity: String)]
  let toMany: [(name: String, entity: String, isOrdered: Bool)]

  init(_ entity: NSEntityDescription) {
    name = entity.name ?? ""
    var top: NSEntityDescription = entity
    while let parent = top.superentity { top = parent }
    root = top.name ?? ""
    attributes = entity.attributesByName.sorted { $0.key < $1.key }.map {
      ($0.key, LawKind($0.value.attributeType))
    }
    let relationships = entity.relationshipsByName.sorted { $0.key < $1.key }
    toOne = relationships.filter { !$0.value.isToMany }.map {
      ($0.key, $0.value.destinationEntity?.name ?? "")
    }
    toMany = relationships.filter { $0.value.isToMany }
      .map { ($0.key, $0.value.destinationEntity?.name ?? "", $0.value.isOrdered) }
  }
}

/// The values that attributes and constants are drawn from: few, so that they meet, and awkward.
enum LawValues {
  static let texts: [String] = [
    "", "a", "A", "b", "ab", "AB", "abc", "Abc", "cab", "é", "e\u{301}", "E", "e", "è", "Ångström",
    "ångstrom", "ß",
    "SS", "ss", "İ", "i", "I", "ı", "ﬁ", "fi", "👩‍👩‍👧", "👩", "🇩🇪", "a b", " a", "a*b", "a?b", "100%", "a_b", "[a]",
    "\\", "'",
    "\"", "a\nb", "a\u{0}b", "10", "9", "-3.5", "1e3", "日本", "Ω", "ω", "naïve", "2020-01-02T03:04:05Z",
  ]
  static let dates: [Double] = [0, 1, -1, 0.5, 86_400, 599_529_600, 631_152_000.25, -978_307_200, 1e10]
  static let uuids: [UUID] = (0..<5).map {
    UUID(uuid: (UInt8($0 * 60), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
  }
  static let urls: [URL] = [
    "https://a.example/x?y=1", "https://a.example/", "file:///a/b.txt", "mailto:x@y.example",
  ]
  .map { StackSupport.url($0) }
  static let data: [Data] = [
    Data(), Data([0]), Data([0, 255]), Data("abc".utf8), Data(repeating: 7, count: 20),
  ]
  /// Small integers and quarters add up exactly in any order; the rest test limits.
  static let integers: [Int64] = Array(-3...12) + [100, 1000]
  static let reals: [Double] = (-6...20).map { Double($0) / 4 } + [0.1, 1e300, -1e-300, -0.0, 1e15]
  static let decimals: [String] = [
    "0", "1", "2.5", "-3", "0.1", "0.2", "0.3", "12.10", "100", "-0.01", "100000000000000000000",
    "12345678901234567890.12345678", "12345678901234567890.12345679",
  ]
  static let awkward: [Int64] = [.max, .min, 1 << 53 + 1, -(1 << 53) - 1, .max - 1]

  static func constant(_ kind: LawKind, _ random: inout SeededRandom) -> PredicateValue {
    switch kind {
    case .integer: .integer(integer(&random))
    case .real: .double(reals.randomElement(using: &random) ?? 0)
    case .decimal: .decimal(decimal(&random))
    case .flag: .bool(.random(using: &random))
    case .text: .string(texts.randomElement(using: &random) ?? "")
    case .date: .date(Date(timeIntervalSinceReferenceDate: dates.randomElement(using: &random) ?? 0))
    case .uuid: .uuid(uuids.randomElement(using: &random) ?? UUID())
    case .url: .url(urls.randomElement(using: &random) ?? urls[0])
    case .data: .data(data.randomElement(using: &random) ?? Data())
    }
  }

  static func integer(_ random: inout SeededRandom) -> Int64 {
    let pool: [Int64] = Int.random(in: 0..<20, using: &random) == 0 ? awkward : integers
    return pool.randomElement(using: &random) ?? 0
  }

  static func decimal(_ random: inout SeededRandom) -> Decimal {
    Decimal(string: decimals.randomElement(using: &random) ?? "0") ?? 0
  }

  /// A value for an attribute, nil now and then.
  static func value(_ type: NSAttributeType, _ random: inout SeededRandom) -> Any? {
    if Int.random(in: 0..<6, using: &random) == 0 { return nil }
    switch type {
    case .integer16AttributeType:
      return Int.random(in: 0..<20, using: &random) == 0 ? Int16.min : Int16(clamping: integer(&random))
    case .integer32AttributeType: return Int32(clamping: integer(&random))
    case .floatAttributeType: return Float(clampedTo: reals.randomElement(using: &random) ?? 0)
    default: return constant(LawKind(type), &random).anyValue
    }
  }
}

extension Float {
  fileprivate init(clampedTo value: Double) {
    self = abs(value) > 1e30 ? 1e30 : Float(value)
  }
}

/// Objects with random values and relationships; the same for the same seed, whatever the store.
struct LawPopulation {
  let seed: UInt64
  private static let sizes: [(entity: String, count: Int)] = [
    ("LawThing", 15), ("LawPart", 9), ("LawPiece", 8), ("LawOwner", 7), ("LawTag", 8), ("LawStep", 22),
  ]

  /// Inserts and saves.
  func fill(_ context: NSManagedObjectContext) throws {
    insert(into: context)
    try context.save()
  }

  func insert(into context: NSManagedObjectContext) {
    var random = SeededRandom(seed: seed)
    var objects: [String: [NSManagedObject]] = [:]
    for (name, count) in Self.sizes {
      for _ in 0..<count {
        let object: NSManagedObject = context.make(name)
        let root: String = LawModel.entities[name]?.root ?? name
        for (key, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key }) {
          if key == "number" { continue }
          if let value = LawValues.value(attribute.attributeType, &random) {
            object.setValue(value, forKey: key)
          }
        }
        object.setValue(objects[root]?.count ?? 0, forKey: "number")
        objects[root, default: []].append(object)
      }
    }
    for root in objects.keys.sorted() {
      for object in objects[root] ?? [] { relate(object, objects, &random) }
    }
  }

  private func relate(
    _ object: NSManagedObject, _ objects: [String: [NSManagedObject]], _ random: inout SeededRandom
  ) {
    for (key, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
      // One side of each pair is enough, and the to-one side gives every shape of tree.
      if relationship.isToMany, relationship.inverseRelationship?.isToMany == false, !relationship.isOrdered {
        continue
      }
      let target: LawEntity? = LawModel.entities[relationship.destinationEntity?.name ?? ""]
      guard let candidates = objects[target?.root ?? ""], Int.random(in: 0..<4, using: &random) > 0 else {
        continue
      }
      if !relationship.isToMany {
        object.setValue(candidates.randomElement(using: &random), forKey: key)
        continue
      }
      let count: Int = .random(in: 0...4, using: &random)
      var members: [NSManagedObject] = []
      for _ in 0..<count {
        if let member = candidates.randomElement(using: &random), !members.contains(member) {
          members.append(member)
        }
      }
      object.setValue(
        relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: key)
    }
  }
}
