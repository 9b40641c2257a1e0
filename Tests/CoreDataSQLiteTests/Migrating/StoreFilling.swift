import CoreDataModel
import CoreDataStorage
import Foundation
import TestSupport

@testable import CoreDataSQLite

extension SQLiteEngine {
  /// Fills an empty store with objects of all entities, and relates them.
  func fill(_ count: Int, _ random: inout SeededRandom, largestValue: Int = 40) throws {
    var ids: [[RowID]] = layout.entities.map { _ in [] }
    for entity in layout.entities where !entity.isAbstract {
      let rows: [[String: Value]] = (0..<count).map { number in
        var values: [String: Value] = [:]
        for slot in entity.slots {
          guard case .stored(let kind, _) = slot.role, kind != .toOne, !slot.isDerived else { continue }
          if slot.property.isOptional, random.next() % 4 == 0 { continue }
          values[slot.name] = .random(kind, number, &random, largestValue)
        }
        return values
      }
      if rows.isEmpty { continue }
      try insert(entity.name, rows)
      let found: [RowRef] = try fetch(FetchPlan(entity: entity)).rows
      ids[entity.index] = found.map(\.id).filter { Int($0.entity) == entity.index }.sorted { $0.key < $1.key }
    }
    try relate(ids, &random)
  }

  private func relate(_ ids: [[RowID]], _ random: inout SeededRandom) throws {
    var targets: [RowID: [String: Value?]] = [:]
    var edits: [ToManyEdit] = []
    for entity in layout.entities {
      for (number, slot) in entity.slots.enumerated() where slot.declaringEntity == entity.index {
        guard let relationship = slot.relationship, slot.role != .transient,
          let destination = slot.destination
        else { continue }
        let owners: [RowID] = entity.family.flatMap { ids[$0] }
        let members: [RowID] = layout.entities[destination].family.flatMap { ids[$0] }
        let inverse: NSRelationshipDescription? = relationship.inverseRelationship
        if members.isEmpty { continue }
        if !relationship.isToMany {
          // The other side of one to one, or of an ordered one to many, is related from there.
          if let inverse, inverse.isOrdered { continue }
          if let inverse, !inverse.isToMany {
            let isLater: Bool = (destination, slot.inverseSlot ?? 0) < (entity.index, number)
            if isLater { continue }
            for (owner, member) in zip(owners, members.shuffled(using: &random))
            where owner != member && random.next() % 3 != 0 {
              if inverse === relationship { continue }
              if targets[member]?[inverse.name] != nil { continue }
              targets[owner, default: [:]][slot.name] = .target(member)
              targets[member, default: [:]][inverse.name] = .target(owner)
            }
            continue
          }
          for owner in owners where random.next() % 3 != 0 {
            targets[owner, default: [:]][slot.name] = .target(members.randomElement(using: &random)!)
          }
          continue
        }
        if let inverse, !inverse.isToMany {
          guard relationship.isOrdered else { continue }
          var free: ArraySlice<RowID> = members.shuffled(using: &random)[...]
          for owner in owners {
            let own = Array(free.prefix(Int(random.next() % 4)))
            free = free.dropFirst(own.count)
            for member in own { targets[member, default: [:]][inverse.name] = .target(owner) }
            if !own.isEmpty { edits.append(ToManyEdit(owner: owner, slot: number, added: own, removed: [])) }
          }
          continue
        }
        if inverse == nil {
          var free: ArraySlice<RowID> = members.shuffled(using: &random)[...]
          for owner in owners {
            let own = Array(free.prefix(Int(random.next() % 4)))
            free = free.dropFirst(own.count)
            if !own.isEmpty { edits.append(ToManyEdit(owner: owner, slot: number, added: own, removed: [])) }
          }
          continue
        }
        guard let inverse, let back = slot.inverseSlot else { continue }
        if inverse !== relationship, (destination, back) < (entity.index, number) { continue }
        var backEdits: [RowID: [RowID]] = [:]
        var paired: Set<[RowID]> = []
        for owner in owners {
          let own: [RowID] = Array(members.shuffled(using: &random).prefix(Int(random.next() % 3))).filter {
            // A relationship that is its own inverse has each pair once.
            inverse !== relationship
              || ($0 != owner && paired.insert([$0, owner].sorted { $0.key < $1.key }).inserted)
          }
          if own.isEmpty { continue }
          edits.append(ToManyEdit(owner: owner, slot: number, added: own, removed: []))
          for member in own { backEdits[member, default: []].append(owner) }
        }
        guard inverse.isOrdered, inverse !== relationship else { continue }
        for (member, owners) in backEdits.sorted(by: { $0.key.key < $1.key.key }) {
          edits.append(ToManyEdit(owner: member, slot: back, added: [], removed: [], appended: owners))
        }
      }
    }
    try save { plan in
      plan.updates = try targets.sorted { ($0.key.entity, $0.key.key) < ($1.key.entity, $1.key.key) }.map {
        try update($0.key, $0.value)
      }
      plan.toMany = edits
    }
  }
}

extension Value {
  static func random(
    _ kind: ColumnKind, _ number: Int, _ random: inout SeededRandom, _ largest: Int
  ) -> Value {
    switch kind {
    case .bool: .integer(Int64(random.next() % 2))
    case .int16, .int32, .int64, .toOne: .integer(Int64(random.next() % 30_000) - 15_000)
    case .double: .real(Double(random.next() % 100_000) / 7)
    case .float: .real(Double(Float(random.next() % 1000) / 8))
    case .date: .real(Double(random.next() % 1_000_000_000))
    case .decimal: .text("\(random.next() % 1000).\(random.next() % 9 + 1)")
    case .string: .text("text \(number) \(random.next() % 100)'é")
    case .uri: .text("https://example.org/\(random.next() % 100)")
    case .uuid: .bytes((0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    case .data, .transformable:
      .bytes((0..<Int(random.next() % UInt64(largest))).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }
  }
}
