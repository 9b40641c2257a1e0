import CoreDataModel
import Foundation

/// Examines all objects of a store: references to objects that are not there, relationships whose sides
/// disagree, properties that the model requires; then the file, as its kind can.
///
/// Cost: reads every row and relationship, and the whole file; 16 bytes of memory a row, and a page of rows.
package struct StoreCheck {
  private let engine: any StoreEngine
  private let entities: [EntityLayout]
  private let note: (_ objects: Int) throws -> Void
  private let writable: WritableValues

  /// `engine` reads values in missing files as nil. An error that `note` throws ends the check.
  package init(
    of engine: any StoreEngine, entityNames: Set<String>? = nil,
    note: @escaping (_ objects: Int) throws -> Void = { _ in }
  ) {
    self.engine = engine
    writable = WritableValues(engine.layout)
    entities = engine.layout.entities
      .filter { !$0.isAbstract && entityNames?.contains($0.name) ?? true }
    self.note = note
  }

  package func run() throws -> [StoreProblem] {
    var problems = StoreProblems()
    for problem in try engine.ownProblems() { problems.add(problem) }
    let scans: [RowScan] = try entities.map { try RowScan($0, in: engine) }
    let directory = ObjectDirectory(scans)
    var sides = RelationshipSides()
    var unique = UniqueValues(engine)
    for scan in scans {
      try scan.forEachPage { page in
        try unique.check(scan.rows(page), &problems)
        try check(scan, page, directory, &sides, &problems)
        try note(page.count)
      }
    }
    for (relationship, isSame) in sides.compared() where !isSame {
      problems.add(
        StoreProblem(
          .inverse, entity: relationship.entity, property: relationship.name,
          "\(relationship.entity).\(relationship.name) and its inverse \(relationship.inverse) name different pairs of objects."
        ))
    }
    return problems.all
  }

  private func check(
    _ scan: RowScan, _ page: Range<Int>, _ directory: ObjectDirectory, _ sides: inout RelationshipSides,
    _ problems: inout StoreProblems
  ) throws {
    let entity: EntityLayout = scan.entity
    let rows: [RowRef] = try scan.rows(page)
    for row in rows {
      for value in writable.problems(of: row) {
        problems.add(
          problem(.value, entity, entity.slots[value.slot], row.id, "can't be read: \(value.reason)."))
      }
    }
    for (number, slot) in entity.slots.enumerated() {
      switch slot.role {
      case .stored(.toOne, let word):
        try checkTargets(entity, number, word, rows, directory, &sides, &problems)
      case .stored(_, let word):
        // A composite's elements and derived values are the store's own.
        guard !slot.property.isOptional, !slot.isElement, !slot.isDerived else { continue }
        for row in rows where !row.hasValue(word) {
          problems.add(problem(.required, entity, slot, row.id, "is nil, and the model requires a value."))
        }
      case .toMany: try checkMembers(scan, page, number, directory, &sides, &problems)
      case .transient, .fetched, .composite: continue
      }
    }
  }

  private func problem(
    _ kind: StoreProblem.Kind, _ entity: EntityLayout, _ slot: PropertySlot, _ id: RowID, _ text: String
  ) -> StoreProblem {
    StoreProblem(
      kind, entity: entity.name, property: slot.name, objects: [id], "\(entity.name).\(slot.name) \(text)")
  }

  private func checkTargets(
    _ entity: EntityLayout, _ number: Int, _ word: Int, _ rows: [RowRef], _ directory: ObjectDirectory,
    _ sides: inout RelationshipSides, _ problems: inout StoreProblems
  ) throws {
    let slot: PropertySlot = entity.slots[number]
    guard let destination = slot.destination.map({ engine.layout.entities[$0] }) else { return }
    var sound: [(owner: RowID, target: RowID)] = []
    for row in rows {
      guard row.hasValue(word) else {
        if !slot.property.isOptional {
          problems.add(problem(.required, entity, slot, row.id, "is nil, and the model requires an object."))
        }
        continue
      }
      switch directory.find(row.target(word).key, expected: destination) {
      case .missing:
        problems.add(problem(.dangling, entity, slot, row.id, "names an object that does not exist."))
      case .wrongEntity:
        problems.add(
          problem(.dangling, entity, slot, row.id, "names an object that is no \(destination.name)."))
      case .found(let id):
        sound.append((row.id, id))
        sides.add(owner: row.id, entity, slot, member: id, engine.layout)
      }
    }
    guard let inverse = slot.inverseSlot, case .stored(.toOne, let back) = destination.slots[inverse].role
    else { return }
    var partners: [Int64: Int64] = [:]
    try engine.rows(of: destination, keys: Array(Set(sound.map(\.target.key)))).forEach { row in
      if row.hasValue(back) { partners[row.key] = row.target(back).key }
    }
    for (owner, target) in sound where partners[target.key] != owner.key {
      problems.add(
        problem(
          .inverse, entity, slot, owner,
          "names an object whose \(destination.slots[inverse].name) does not name it in turn."))
    }
  }

  private func checkMembers(
    _ scan: RowScan, _ page: Range<Int>, _ number: Int, _ directory: ObjectDirectory,
    _ sides: inout RelationshipSides, _ problems: inout StoreProblems
  ) throws {
    let entity: EntityLayout = scan.entity
    let slot: PropertySlot = entity.slots[number]
    guard let relationship = slot.relationship,
      let destination = slot.destination.map({ engine.layout.entities[$0] })
    else { return }
    let allowed = MemberCounts(of: relationship)
    for (owner, members) in zip(scan.ids(page), try scan.members(page, slot: number)) {
      for member in members {
        if case .found(let id) = directory.find(member.key, expected: destination) {
          sides.add(owner: owner, entity, slot, member: id, engine.layout)
        } else {
          problems.add(
            problem(
              .dangling, entity, slot, owner,
              "names an object that is no \(destination.name), or does not exist."))
        }
      }
      if Set(members).count != members.count {
        problems.add(problem(.inverse, entity, slot, owner, "has the same object twice."))
      }
      if !allowed.allow(members.count) {
        let words: String =
          members.count < relationship.minCount
          ? "has fewer objects than the model requires." : "has more objects than the model allows."
        problems.add(problem(.required, entity, slot, owner, words))
      }
    }
  }
}

/// Which objects there are.
struct ObjectDirectory {
  enum Finding {
    case found(RowID)
    case wrongEntity
    case missing
  }

  /// By index of the root entity: entity indexes by keys.
  private var entities: [Int: Int64HashMap] = [:]

  init(_ scans: [RowScan]) {
    for scan in scans {
      let root: Int = scan.entity.rootIndex
      var map: Int64HashMap = entities.removeValue(forKey: root) ?? Int64HashMap()
      map.reserve(more: scan.count)
      for key in scan.keys { map.insert(key, UInt64(scan.entity.index)) }
      entities[root] = map
    }
  }

  init(rows: [(layout: EntityLayout, rows: RowBatch)]) {
    for (layout, batch) in rows {
      var map: Int64HashMap = entities.removeValue(forKey: layout.rootIndex) ?? Int64HashMap()
      map.reserve(more: batch.count)
      batch.forEach { map.insert($0.key, UInt64($0.entity)) }
      entities[layout.rootIndex] = map
    }
  }

  func find(_ key: Int64, expected: EntityLayout) -> Finding {
    guard let found = entities[expected.rootIndex]?.find(key) else { return .missing }
    return expected.family.contains(Int(found)) ? .found(RowID(entity: Int(found), key: key)) : .wrongEntity
  }

  /// Whether there is such an object.
  func has(_ key: Int64, expected: EntityLayout) -> Bool {
    if case .found = find(key, expected: expected) { true } else { false }
  }
}

/// The pairs that each side of a relationship names, added up so that two sides with the same pairs have the
/// same sum, however many they are.
private struct RelationshipSides {
  struct Relationship {
    var entity: String
    var name: String
    var inverse: String
  }

  private struct Sums {
    var relationship: Relationship
    var one: UInt64 = 0
    var other: UInt64 = 0
  }

  /// By the relationship of a pair of inverses that has the lower identity.
  private var sums: [ObjectIdentifier: Sums] = [:]

  /// To-one relationships whose inverse is to one are compared object by object.
  mutating func add(
    owner: RowID, _ entity: EntityLayout, _ slot: PropertySlot, member: RowID, _ layout: ModelLayout
  ) {
    guard let relationship = slot.relationship, let inverse = relationship.inverseRelationship,
      relationship.isToMany || inverse.isToMany
    else { return }
    let ids: [ObjectIdentifier] = [ObjectIdentifier(relationship), ObjectIdentifier(inverse)]
    var isOne: Bool = ids[0] < ids[1]
    if ids[0] == ids[1] {
      // Its own inverse: each pair is there in both directions, but for an object that names itself.
      if owner.key == member.key { return }
      isOne = owner.key < member.key
    }
    let new = Sums(
      relationship: Relationship(
        entity: layout.entities[slot.declaringEntity].name, name: slot.name, inverse: inverse.name))
    if isOne {
      sums[ids.min() ?? ids[0], default: new].one &+= Self.hash(owner.key, member.key)
    } else {
      sums[ids.min() ?? ids[0], default: new].other &+= Self.hash(member.key, owner.key)
    }
  }

  private static func hash(_ one: Int64, _ other: Int64) -> UInt64 {
    var value: UInt64 = UInt64(bitPattern: one) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(bitPattern: other)
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// Each relationship, and whether both sides name the same pairs.
  func compared() -> [(Relationship, Bool)] {
    sums.values.map { ($0.relationship, $0.one == $0.other) }
      .sorted { ($0.0.entity, $0.0.name) < ($1.0.entity, $1.0.name) }
  }
}
