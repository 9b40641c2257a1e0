import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Random changes; after each save every stored derived value is what its expression gives over the objects.
@Suite
struct DerivedLawTests {
  private static let seeds: [UInt64] = {
    if let given = Seed.given { return [given] }
    return Array(1...(ProcessInfo.processInfo.environment["CLARUS_SOAK"] == "1" ? 300 : 8))
  }()

  @Test(arguments: StoreKind.allCases, seeds)
  func `stored derived values are those computed from scratch, after every save`(
    kind: StoreKind, seed: UInt64
  )
    throws
  {
    var walk = DerivedWalk(random: SeededRandom(seed: seed))
    let stack = try Stack(kind, model: Depot.model)
    for save in 1...12 {
      try stack.run { context in
        for _ in 0..<Int.random(in: 1...12, using: &walk.random) { try walk.step(context) }
        try context.save()
      }
      let differences: [String] = try stack.elsewhere { try Depot.differences($0) }
      if !differences.isEmpty {
        Issue.record(
          """
          seed \(seed), \(kind.rawValue), save \(save): \(differences.prefix(5).joined(separator: "; "))
          \(walk.log.suffix(30).joined(separator: "\n"))
          """)
        return
      }
    }
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `both stores derive the same`(seed: UInt64) throws {
    let told: [[String]] = try StoreKind.allCases.map { kind in
      var walk = DerivedWalk(random: SeededRandom(seed: seed))
      let stack = try Stack(kind, model: Depot.model)
      var lines: [String] = []
      for _ in 1...6 {
        try stack.run { context in
          for _ in 0..<8 { try walk.step(context) }
          try context.save()
        }
        lines += try stack.elsewhere { try Self.values($0) }
      }
      return lines
    }
    #expect(told[0] == told[1], "seed \(seed)")
  }

  private static func values(_ context: NSManagedObjectContext) throws -> [String] {
    try Depot.model.entities.sorted { $0.name ?? "" < $1.name ?? "" }.flatMap { entity in
      let derived: [String] = entity.attributesByName.values
        .filter { $0 is NSDerivedAttributeDescription && $0.attributeType != .dateAttributeType }
        .map(\.name).sorted()
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      return try context.fetch(request).map { object in
        derived.map { "\($0)=\(object.value(forKey: $0).map { "\($0)" } ?? "nil")" }.joined(separator: " ")
      }.sorted()
    }
  }
}

/// One random walk over the depot's objects.
struct DerivedWalk {
  var random: SeededRandom
  private(set) var log: [String] = []

  init(random: SeededRandom) { self.random = random }

  private static let entities: [String] = [
    "Author", "Book", "Box", "Chapter", "Label", "Node", "Note", "Novel", "Region", "Thing",
  ]

  mutating func step(_ context: NSManagedObjectContext) throws {
    let entity: String = Self.entities[Int.random(in: 0..<Self.entities.count, using: &random)]
    let objects: [NSManagedObject] = try pool(entity, context)
    guard let object = objects.randomElement(using: &random), Int.random(in: 0..<10, using: &random) > 2
    else {
      let made: NSManagedObject = context.make(entity)
      log.append("insert \(entity)")
      setAttributes(made)
      return try setRelationship(made, context)
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      log.append("delete \(entity)")
      context.delete(object)
    case 1...4:
      log.append("set \(entity)")
      setAttributes(object)
    default: try setRelationship(object, context)
    }
  }

  /// In an order that does not depend on the store.
  private func pool(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.includesPendingChanges = false
    request.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
    return try context.fetch(request).filter { !$0.isDeleted }
  }

  private mutating func setAttributes(_ object: NSManagedObject) {
    for attribute in object.entity.attributesByName.values.sorted(by: { $0.name < $1.name }) {
      if attribute is NSDerivedAttributeDescription || Bool.random(using: &random) { continue }
      let number = Int.random(in: -3...9, using: &random)
      let isNil: Bool = Int.random(in: 0..<6, using: &random) == 0
      let value: Any?
      switch attribute.attributeType {
      case .stringAttributeType:
        value = ["Äda \(number)", "Bob", "", "Straße", "IJ \(number)"][abs(number) % 5]
      case .doubleAttributeType: value = Double(number) / 4
      case .decimalAttributeType: value = NSDecimalNumber(value: number).dividing(by: 4)
      default: value = number
      }
      object.setValue(isNil ? nil : value, forKey: attribute.name)
    }
  }

  private mutating func setRelationship(_ object: NSManagedObject, _ context: NSManagedObjectContext) throws {
    let all: [NSRelationshipDescription] = object.entity.relationshipsByName.values.sorted {
      $0.name < $1.name
    }
    guard let relationship = all.randomElement(using: &random),
      let destination = relationship.destinationEntity
    else { return }
    let pool: [NSManagedObject] = try pool(destination.name ?? "", context)
    log.append("\(object.entity.name ?? "").\(relationship.name)")
    guard relationship.isToMany else {
      let target: NSManagedObject? =
        Int.random(in: 0..<5, using: &random) == 0 ? nil : pool.randomElement(using: &random)
      object.setValue(target, forKey: relationship.name)
      return
    }
    let members: [NSManagedObject] = pool.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    object.setValue(
      relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: relationship.name
    )
  }
}
