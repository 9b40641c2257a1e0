import CoreDataModel
import CoreDataStorage
import Foundation
import TestSupport
import Testing

@testable import CoreDataSQLite

/// Random changes of random models: what a migration in place makes of a store's objects is what a slow copy,
/// object by object, makes of them, and its file is built as a fresh one.
@Suite struct MigrationLawTests {
  static let seeds: [UInt64] =
    Seed.given.map { [$0] } ?? Array(Soak.isOn ? 0..<10_000 : 0..<60)

  @Test func `a migration in place gives the objects that a copy gives`() throws {
    var inPlace: Int = 0
    var back: Int = 0
    for seed in Self.seeds {
      let folder: TemporaryFolder = try TemporaryFolder()
      var random = SeededRandom(seed: seed)
      let before = ModelSketch.random(&random)
      var after: ModelSketch = before.changed { _ in }
      var changes: [String] = []
      for _ in 0..<(1 + random.next() % 4) { changes.append(after.mutate(&random)) }
      let note: Comment = "seed \(seed): \(changes.joined(separator: "; "))"
      let url: URL = folder.file("store.sqlite")
      let (source, target) = (before.layout(), after.layout())
      let plan = SchemaPlan(source: source, target: target)
      let old: StoreDump = try Migrating.make(url, source, seed: seed, count: 5)
      let planned: PlannedMigration = try SQLiteKind().migrationPlan(
        at: url, plan: plan, options: StoreOpeningOptions())
      guard planned.canRunInPlace, planned.problems.isEmpty else {
        #expect(throws: StoreError.self, note) { try Migrating.migrate(url, plan) }
        #expect(try Migrating.dump(url, source) == old, note)
        continue
      }
      inPlace += 1
      do {
        let outcome = try Migrating.migrate(url, plan).outcome
        let found: StoreDump = try Migrating.dump(url, target)
        let result: StoreDump = found.withoutKeys.withoutNewOrders(plan)
        let expected: StoreDump = old.migrated(plan).withoutKeys.withoutNewOrders(plan)
        Self.expectEqual(result, expected, note.rawValue)
        if outcome == .migrated { try MigrationCaseTests.expectFresh(url, target, folder) }
        if try goBack(plan, from: found, to: old, at: url, note) { back += 1 }
      } catch {
        Issue.record(error, note)
      }
    }
    #expect(inPlace * 2 > Self.seeds.count || Seed.given != nil, "only \(inPlace) could be done in place")
    #expect(back * 10 > Self.seeds.count || Seed.given != nil, "only \(back) lost nothing and could go back")
  }

  /// The migration down: as a slow copy makes it, and, where the way up lost nothing, with the values of
  /// before. Returns whether it was such a way.
  private func goBack(
    _ plan: SchemaPlan, from found: StoreDump, to old: StoreDump, at url: URL, _ note: Comment
  ) throws -> Bool {
    let difference = ModelDifference(from: plan.source.model, to: plan.target.model)
    guard difference.conflicts.isEmpty, MappingInference(difference.inverse).refusals.isEmpty else {
      return false
    }
    let down = SchemaPlan(
      source: plan.target, target: plan.source, ModelCorrespondence(difference.inverse))
    let planned: PlannedMigration = try SQLiteKind().migrationPlan(
      at: url, plan: down, options: StoreOpeningOptions())
    guard planned.canRunInPlace, planned.problems.isEmpty else { return false }
    try Migrating.migrate(url, down)
    let after: StoreDump = try Migrating.dump(url, plan.source)
    let copied: StoreDump = found.migrated(down).withoutKeys.withoutNewOrders(down)
    let result: StoreDump = after.withoutKeys.withoutNewOrders(down)
    Self.expectEqual(result, copied, "\(note.rawValue), back")
    guard plan.keepsEverything else { return false }
    Self.expectEqual(after.withoutKeys, old.withoutKeys, "\(note.rawValue), down after up")
    return true
  }

  /// Tells the differences only: two whole stores are more than a log holds.
  private static func expectEqual(_ result: StoreDump, _ expected: StoreDump, _ note: String) {
    let isEqual: Bool = result == expected
    #expect(isEqual, "\(note)\n\(result.differences(from: expected))")
  }
}

extension SchemaPlan {
  /// Whether each value of the source has a place in the target, and no missing one is filled.
  fileprivate var keepsEverything: Bool {
    source.entities.allSatisfy { entity in
      if entity.isAbstract { return true }
      guard let heir = entities.firstIndex(where: { $0.entity == entity.index }) else { return false }
      return entity.slots.indices.allSatisfy { slot in
        if entity.slots[slot].isDerived { return true }
        guard let place = entities[heir].slots.firstIndex(of: .slot(slot, whenNil: nil)) else { return false }
        let (former, new): (NSPropertyDescription, NSPropertyDescription) = (
          entity.slots[slot].property, target.entities[heir].slots[place].property
        )
        guard let old = former as? NSRelationshipDescription, let now = new as? NSRelationshipDescription
        else { return former is NSAttributeDescription == new is NSAttributeDescription }
        // Members of another entity than the new one's destination are left out.
        let formerly: Int? = entities[target.entities[heir].slots[place].destination!].entity
        return old.isToMany == now.isToMany && old.isOrdered == now.isOrdered
          && formerly == entity.slots[slot].destination
      }
    }
  }
}

extension ModelSketch {
  private static let types: [NSAttributeType] = [
    .integer16AttributeType, .integer64AttributeType, .doubleAttributeType, .stringAttributeType,
    .dateAttributeType, .booleanAttributeType, .binaryDataAttributeType, .decimalAttributeType,
    .UUIDAttributeType, .floatAttributeType,
  ]

  static func random(_ random: inout SeededRandom) -> ModelSketch {
    var sketch = ModelSketch()
    let names: [String] = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"].shuffled(using: &random)
    for name in names.prefix(Int(2 + random.next() % 3)) {
      sketch.entities.append(Entity(name: name))
      if sketch.entities.count > 1, random.next() % 3 == 0 {
        sketch.entities[sketch.entities.count - 1].parent = sketch.entities[0].name
      }
      for _ in 0..<(1 + random.next() % 3) { sketch.addAttribute(name, &random) }
    }
    for _ in 0..<(1 + random.next() % 4) { _ = sketch.addRelation(&random) }
    return sketch
  }

  private func isFree(_ property: String) -> Bool {
    !entities.contains { entity in
      entity.attributes.contains { $0.name == property } || entity.relations.contains { $0.name == property }
    }
  }

  /// Mostly a name that no entity uses; sometimes one that another hierarchy uses.
  private func name(_ stem: String, _ entity: String, _ random: inout SeededRandom) -> String {
    var number: Int = 0
    func root(_ name: String) -> String { self[name].parent.map(root) ?? name }
    let mayShare: Bool = random.next() % 3 == 0
    while true {
      number += 1
      let candidate = "\(stem)\(number)"
      if isFree(candidate) { return candidate }
      let users: [String] = entities.filter { user in
        user.attributes.contains { $0.name == candidate } || user.relations.contains { $0.name == candidate }
      }.map(\.name)
      if mayShare, users.allSatisfy({ root($0) != root(entity) }) { return candidate }
    }
  }

  private mutating func addAttribute(_ entity: String, _ random: inout SeededRandom) {
    let type: NSAttributeType = Self.types.randomElement(using: &random)!
    var made = Attribute(name: name("a", entity, &random), type: type)
    made.isExternal = type == .binaryDataAttributeType && random.next() % 2 == 0
    self[entity].attributes.append(made)
  }

  private mutating func addRelation(_ random: inout SeededRandom) -> String {
    let from: String = entities.randomElement(using: &random)!.name
    let to: String = entities.randomElement(using: &random)!.name
    var one = Relation(name: name("r", from, &random), to: to, isMany: random.next() % 2 == 0)
    one.isOrdered = one.isMany && random.next() % 3 == 0
    switch random.next() % 4 {
    case 0:
      self[from].relations.append(one)
    case 1 where from == to:
      one.inverse = one.name
      one.isMany = true
      one.isOrdered = false
      self[from].relations.append(one)
    default:
      self[from].relations.append(one)
      var other = Relation(name: name("r", to, &random), to: from, isMany: random.next() % 2 == 0)
      other.isOrdered = other.isMany && random.next() % 3 == 0
      other.inverse = one.name
      self[from].relations[self[from].relations.count - 1].inverse = other.name
      self[to].relations.append(other)
    }
    return "\(from).\(one.name) to \(to)"
  }

  /// One change that a program might make. Returns it in words.
  mutating func mutate(_ random: inout SeededRandom) -> String {
    let entity: String = entities.randomElement(using: &random)!.name
    let attributes: Int = self[entity].attributes.count
    let place: Int = attributes == 0 ? 0 : Int(random.next() % UInt64(attributes))
    switch random.next() % 17 {
    case 0:
      addAttribute(entity, &random)
      return "add an attribute to \(entity)"
    case 1:
      self[entity].attributes.append(
        Attribute(
          name: name("d", entity, &random), type: .integer32AttributeType, isOptional: false, standard: 7))
      return "add a required attribute to \(entity)"
    case 2 where attributes > 0:
      let old = self[entity].attributes.remove(at: place)
      dropUses(entity, old.name)
      return "remove \(entity).\(old.name)"
    case 3 where attributes > 0:
      let old: String = self[entity].attributes[place].name
      self[entity].attributes[place].was = self[entity].attributes[place].was ?? old
      self[entity].attributes[place].name = name("n", entity, &random)
      dropUses(entity, old)
      return "rename \(entity).\(old)"
    case 4 where attributes > 0:
      let wider: [NSAttributeType: NSAttributeType] = [
        .integer16AttributeType: .integer64AttributeType, .booleanAttributeType: .integer16AttributeType,
        .floatAttributeType: .doubleAttributeType, .integer64AttributeType: .decimalAttributeType,
      ]
      guard let type = wider[self[entity].attributes[place].type] else { return "nothing" }
      self[entity].attributes[place].type = type
      return "widen \(entity).\(self[entity].attributes[place].name)"
    case 5 where attributes > 0 && self[entity].attributes[place].type == .stringAttributeType:
      self[entity].attributes[place].isOptional = false
      self[entity].attributes[place].standard = "none"
      return "require \(entity).\(self[entity].attributes[place].name)"
    case 6 where attributes > 0 && self[entity].attributes[place].type == .binaryDataAttributeType:
      self[entity].attributes[place].isExternal.toggle()
      return "keep \(entity).\(self[entity].attributes[place].name) elsewhere"
    case 7:
      guard entities.allSatisfy({ $0.name != "Zeta" }) else { return "nothing" }
      renameEntity(entity, "Zeta")
      return "rename \(entity)"
    case 8:
      let new: String = ["Aaa", "Mmm", "Zzz"].randomElement(using: &random)!
      if entities.contains(where: { $0.name == new }) { return "nothing" }
      entities.append(Entity(name: new, attributes: [Attribute(name: "own\(new)")]))
      return "add \(new)"
    case 9:
      guard entities.count > 1, !entities.contains(where: { $0.parent == entity }) else { return "nothing" }
      entities.removeAll { $0.name == entity }
      for other in entities.indices {
        entities[other].relations.removeAll { $0.to == entity }
      }
      return "remove \(entity)"
    case 10:
      let parents: [Entity] = entities.filter {
        $0.name != entity && $0.parent == nil && !shares($0.name, entity)
      }
      guard let parent = parents.randomElement(using: &random), self[entity].parent == nil,
        !entities.contains(where: { $0.parent == entity })
      else { return "nothing" }
      self[entity].parent = parent.name
      return "\(entity) becomes a child of \(parent.name)"
    case 11 where self[entity].parent != nil:
      self[entity].parent = nil
      return "\(entity) becomes a root"
    case 12:
      return "add " + addRelation(&random)
    case 13 where !self[entity].relations.isEmpty:
      let old = self[entity].relations.randomElement(using: &random)!
      removeRelation(entity, old)
      return "remove \(entity).\(old.name)"
    case 14 where !self[entity].relations.isEmpty:
      let number: Int = Int(random.next() % UInt64(self[entity].relations.count))
      let relation = self[entity].relations[number]
      self[entity].relations[number].isMany.toggle()
      if relation.inverse == relation.name { self[entity].relations[number].isMany = true }
      self[entity].relations[number].isOrdered = false
      return "\(entity).\(relation.name) leads to \(relation.isMany ? "one" : "many")"
    case 15 where !self[entity].relations.isEmpty:
      let number: Int = Int(random.next() % UInt64(self[entity].relations.count))
      let relation = self[entity].relations[number]
      guard relation.isMany, relation.inverse != relation.name else { return "nothing" }
      self[entity].relations[number].isOrdered.toggle()
      return "order \(entity).\(relation.name)"
    case 16 where attributes > 0 && !self[entity].attributes[place].isExternal:
      self[entity].indexed.append([self[entity].attributes[place].name])
      return "index \(entity).\(self[entity].attributes[place].name)"
    default: return "nothing"
    }
  }

  private func shares(_ one: String, _ other: String) -> Bool {
    func names(_ entity: Entity) -> [String] {
      entity.attributes.map(\.name) + entity.relations.map(\.name)
    }
    let family: [Entity] = entities.filter { $0.name == one || $0.parent == one }
    return !Set(family.flatMap(names)).isDisjoint(with: names(self[other]))
  }

  private mutating func dropUses(_ entity: String, _ attribute: String) {
    self[entity].indexed.removeAll { $0.contains(attribute) }
    self[entity].unique.removeAll { $0.contains(attribute) }
  }

  mutating func removeRelation(_ entity: String, _ relation: Relation) {
    self[entity].relations.removeAll { $0.name == relation.name }
    guard let inverse = relation.inverse else { return }
    self[relation.to].relations.removeAll { $0.name == inverse && $0.to == entity }
  }

  mutating func renameEntity(_ entity: String, _ name: String) {
    self[entity].was = self[entity].was ?? entity
    self[entity].name = name
    for other in entities.indices {
      if entities[other].parent == entity { entities[other].parent = name }
      for relation in entities[other].relations.indices where entities[other].relations[relation].to == entity
      {
        entities[other].relations[relation].to = name
      }
    }
  }
}
