import CoreDataArchives
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Compares the objects of two stores: every value, every relationship, the order of ordered ones.
///
/// Entities and properties correspond by name, so the stores may have different models; objects by a
/// ``StoreCorrespondence``. A to-many relationship whose inverse is a to-one, and that has no order, is not
/// compared: the members' to-one relationships say the same.
///
/// Cost: linear; memory for the keys of both stores and a page of rows.
package struct StoreComparison {
  /// A value of a property, or what it refers to.
  package enum Value {
    case none
    case value(PredicateValue, ColumnKind)
    case object(RowID)
    case objects([RowID])
  }

  /// A property that differs.
  package struct Property {
    package var name: String
    package var left: Value
    package var right: Value
  }

  /// An object that only one store has, or whose properties differ.
  package struct Difference {
    package var entity: String
    package var left: RowID?
    package var right: RowID?
    package var properties: [Property] = []
  }

  /// What was compared.
  package struct Summary {
    package var objects: Int = 0
    package var values: Int = 0
    package var relationships: Int = 0
    package var differences: Int = 0
  }

  private let left: any StoreEngine
  private let right: any StoreEngine
  private let correspondence: StoreCorrespondence
  /// The objects of the left store, if its references to others are to count as none.
  private let leftObjects: ObjectDirectory?
  private let note: (_ objects: Int) throws -> Void

  package init(
    left: any StoreEngine, right: any StoreEngine, correspondence: StoreCorrespondence,
    note: @escaping (_ objects: Int) throws -> Void = { _ in }
  ) {
    self.init(left: left, right: right, correspondence: correspondence, leftObjects: nil, note: note)
  }

  init(
    left: any StoreEngine, right: any StoreEngine, correspondence: StoreCorrespondence,
    leftObjects: ObjectDirectory?, note: @escaping (_ objects: Int) throws -> Void
  ) {
    self.left = left
    self.right = right
    self.correspondence = correspondence
    self.leftObjects = leftObjects
    self.note = note
  }

  /// Calls `report` with each difference, entity by entity. Throws what the stores and `report` throw.
  package func run(_ report: (Difference) throws -> Void) throws -> Summary {
    var summary = Summary()
    var differences: Int = 0
    for entity in correspondence.entities {
      try compare(entity, &summary) { difference in
        differences += 1
        try report(difference)
      }
    }
    summary.differences = differences
    return summary
  }

  private func compare(
    _ entity: StoreCorrespondence.Entity, _ summary: inout Summary, _ report: (Difference) throws -> Void
  ) throws {
    var matched: Set<Int64> = []
    let right: RowScan? = try entity.right.map { try RowScan($0, in: self.right) }
    if let layout = entity.left {
      let left = try RowScan(layout, in: self.left)
      let pairs: [PropertyPair] = entity.right.map { PropertyPair.all(layout, $0) } ?? []
      let inRight: Set<Int64> = Set(right?.keys ?? [])
      try left.forEachPage { page in
        var couples: [(left: Int64, right: Int64)] = []
        for key in left.keys[page] {
          let other: Int64? = correspondence.right(of: RowID(entity: layout.index, key: key))
          if let other, inRight.contains(other) {
            couples.append((key, other))
            matched.insert(other)
          } else {
            try report(Difference(entity: entity.name, left: RowID(entity: layout.index, key: key)))
          }
        }
        if let right { try compare(couples, entity.name, left, right, pairs, &summary, report) }
        try note(page.count)
      }
    }
    guard let right else { return }
    for place in right.keys.indices where !matched.contains(right.keys[place]) {
      try report(Difference(entity: entity.name, right: right.id(place)))
    }
  }

  private func compare(
    _ couples: [(left: Int64, right: Int64)], _ name: String, _ left: RowScan, _ right: RowScan,
    _ pairs: [PropertyPair], _ summary: inout Summary, _ report: (Difference) throws -> Void
  ) throws {
    if couples.isEmpty { return }
    let leftRows: [Int64: RowRef] = try rows(couples.map(\.left), left.entity, self.left)
    let rightRows: [Int64: RowRef] = try rows(couples.map(\.right), right.entity, self.right)
    var properties: [[Property]] = couples.map { _ in [] }
    for (place, couple) in couples.enumerated() {
      guard let one = leftRows[couple.left], let other = rightRows[couple.right] else {
        // It was deleted since the keys were read.
        try report(
          Difference(
            entity: name, left: leftRows[couple.left]?.id, right: rightRows[couple.right]?.id))
        continue
      }
      summary.objects += 1
      for pair in pairs where !pair.isToMany {
        summary.values += 1
        if let difference = difference(pair, one, other, of: left.entity) {
          properties[place].append(difference)
        }
      }
    }
    for pair in pairs where pair.isToMany {
      let ones: [[RowID]] = try self.left.members(
        of: left.entity, slot: pair.left,
        owners: couples.map { RowID(entity: left.entity.index, key: $0.left) }
      ).map { list in list.filter { isThere($0.key, left.entity.slots[pair.left]) } }
      let others: [[RowID]] = try self.right.members(
        of: right.entity, slot: pair.right,
        owners: couples.map { RowID(entity: right.entity.index, key: $0.right) })
      for place in couples.indices {
        summary.relationships += 1
        if !isSame(ones[place], others[place], isOrdered: pair.isOrdered) {
          properties[place].append(
            Property(name: pair.name, left: .objects(ones[place]), right: .objects(others[place])))
        }
      }
    }
    for (place, couple) in couples.enumerated() where !properties[place].isEmpty {
      try report(
        Difference(
          entity: name, left: RowID(entity: left.entity.index, key: couple.left),
          right: RowID(entity: right.entity.index, key: couple.right),
          properties: properties[place].sorted { $0.name < $1.name }))
    }
  }

  private func rows(_ keys: [Int64], _ entity: EntityLayout, _ engine: any StoreEngine) throws
    -> [Int64: RowRef]
  {
    var plan = FetchPlan(
      entity: entity,
      predicate: ObjectReference.isAmong(keys.map { RowID(entity: entity.index, key: $0) }))
    plan.includesSubentities = false
    var rows: [Int64: RowRef] = [:]
    try engine.fetch(plan).forEach { rows[$0.key] = $0 }
    return rows
  }

  // MARK: Values

  /// Whether an object of the left store is one that the relationship may name.
  private func isThere(_ key: Int64, _ slot: PropertySlot) -> Bool {
    guard let leftObjects, let destination = slot.destination else { return true }
    return leftObjects.has(key, expected: left.layout.entities[destination])
  }

  private func difference(
    _ pair: PropertyPair, _ one: RowRef, _ other: RowRef, of entity: EntityLayout
  ) -> Property? {
    guard let (leftKind, leftWord) = pair.leftPlace, let (rightKind, rightWord) = pair.rightPlace else {
      return nil
    }
    func property() -> Property {
      Property(
        name: pair.name, left: Self.value(one, leftKind, leftWord),
        right: Self.value(other, rightKind, rightWord))
    }
    if leftKind != rightKind { return property() }
    let hasLeft: Bool =
      one.hasValue(leftWord)
      && (leftKind != .toOne || isThere(one.target(leftWord).key, entity.slots[pair.left]))
    switch (hasLeft, other.hasValue(rightWord)) {
    case (false, false): return nil
    case (true, true): break
    default: return property()
    }
    let isSame: Bool
    switch leftKind {
    case .toOne:
      isSame = correspondence.right(of: one.target(leftWord)) == other.target(rightWord).key
    case .double, .float, .date:
      let (left, right) = (one.double(leftWord), other.double(rightWord))
      isSame = left == right || (left.isNaN && right.isNaN)
    case .int16, .int32, .int64, .bool:
      isSame = one.word(leftWord) == other.word(rightWord)
    case .decimal:
      isSame =
        one.bytes(leftWord).elementsEqual(other.bytes(rightWord))
        || leftKind.predicateValue(one, leftWord) == rightKind.predicateValue(other, rightWord)
    case .string, .uri, .uuid, .data:
      isSame = one.bytes(leftWord).elementsEqual(other.bytes(rightWord))
    case .transformable:
      // An archive that was written again has its objects in other places.
      isSame =
        one.bytes(leftWord).elementsEqual(other.bytes(rightWord))
        || KeyedArchive.areEqual(one.data(leftWord), other.data(rightWord)) == true
    }
    return isSame ? nil : property()
  }

  private static func value(_ row: RowRef, _ kind: ColumnKind, _ word: Int) -> Value {
    guard row.hasValue(word) else { return .none }
    return kind == .toOne ? .object(row.target(word)) : .value(kind.predicateValue(row, word), kind)
  }

  private func isSame(_ one: [RowID], _ other: [RowID], isOrdered: Bool) -> Bool {
    if one.count != other.count { return false }
    let mapped: [Int64?] = one.map(correspondence.right)
    if isOrdered { return zip(mapped, other).allSatisfy { $0 == $1.key } }
    // Members of one hierarchy have one number each.
    return Set(mapped) == Set(other.map { Optional($0.key) })
  }
}

/// A property that two entities have, by its name.
private struct PropertyPair {
  let name: String
  let left: Int
  let right: Int
  let leftPlace: (ColumnKind, Int)?
  let rightPlace: (ColumnKind, Int)?
  let isToMany: Bool
  let isOrdered: Bool

  /// Only properties that both have; a model's difference is no difference of every object.
  static func all(_ left: EntityLayout, _ right: EntityLayout) -> [PropertyPair] {
    left.slots.enumerated().compactMap { number, slot in
      guard let other = right.slotByName[slot.name] else { return nil }
      let otherSlot: PropertySlot = right.slots[other]
      if slot.role == .toMany {
        guard otherSlot.role == .toMany, let relationship = slot.relationship else { return nil }
        let isOrdered: Bool = relationship.isOrdered && otherSlot.relationship?.isOrdered == true
        let isTold: Bool = relationship.inverseRelationship.map { !$0.isToMany } ?? false
        if isTold, !isOrdered { return nil }
        return PropertyPair(
          name: slot.name, left: number, right: other, leftPlace: nil, rightPlace: nil, isToMany: true,
          isOrdered: isOrdered)
      }
      guard case .stored(let kind, let word) = slot.role,
        case .stored(let otherKind, let otherWord) = otherSlot.role
      else { return nil }
      return PropertyPair(
        name: slot.name, left: number, right: other, leftPlace: (kind, word),
        rightPlace: (otherKind, otherWord), isToMany: false, isOrdered: false)
    }
  }
}
