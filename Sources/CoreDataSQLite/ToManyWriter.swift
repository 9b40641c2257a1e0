import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// Writes what is not in the rows themselves: pairs of many-to-many relationships, keys of to-many
/// relationships without inverse, and the order of ordered ones.
///
/// All pairs and keys of a save come first, then all orders, because both sides of an ordered many-to-many
/// relationship are stored in the same pairs.
struct ToManyWriter {
  let engine: SQLiteEngine
  let database: Database

  func run(_ edits: [ToManyEdit]) throws {
    for edit in edits { try writeMembership(edit) }
    for edit in edits {
      if let ordering = edit.ordering {
        try writeOrder(ordering, edit)
      } else if !edit.appended.isEmpty {
        try appendToOrder(edit)
      }
    }
    try appendToOtherOrders(edits)
  }

  /// The other side of a pair may be ordered without an edit of its own that names the pair: the owner is
  /// then appended there.
  private func appendToOtherOrders(_ edits: [ToManyEdit]) throws {
    var namedPairs: Set<PlacedMember>?
    for edit in edits where !edit.added.isEmpty {
      let described: PropertySlot = engine.layout.entities[Int(edit.owner.entity)].slots[edit.slot]
      guard let inverse = described.relationship?.inverseRelationship, inverse.isToMany, inverse.isOrdered,
        let slot = described.inverseSlot
      else { continue }
      let known: Set<PlacedMember> = namedPairs ?? PlacedMember.all(of: edits)
      namedPairs = known
      for member in edit.added
      where !known.contains(PlacedMember(owner: member, slot: slot, member: edit.owner)) {
        try appendToOrder(
          ToManyEdit(owner: member, slot: slot, added: [], removed: [], appended: [edit.owner]))
      }
    }
  }

  private struct PlacedMember: Hashable {
    let owner: RowID
    let slot: Int
    let member: RowID

    static func all(of edits: [ToManyEdit]) -> Set<PlacedMember> {
      Set(
        edits.flatMap { edit in
          (edit.ordering ?? edit.appended).map {
            PlacedMember(owner: edit.owner, slot: edit.slot, member: $0)
          }
        })
    }
  }

  private func run(_ sql: String, _ values: Int64...) throws {
    let statement = try RawStatement(database, sql, url: engine.url)
    for (place, value) in values.enumerated() { try statement.bind(place + 1, value) }
    try statement.run()
  }

  private func statements(_ edit: ToManyEdit) throws -> ToManyStatements {
    try engine.texts.toMany(of: Int(edit.owner.entity), slot: edit.slot, engine.saveCompiler)
  }

  private func writeMembership(_ edit: ToManyEdit) throws {
    if edit.added.isEmpty && edit.removed.isEmpty { return }
    let statements: ToManyStatements = try statements(edit)
    for member in edit.removed {
      for sql in statements.remove { try run(sql, edit.owner.key, member.key) }
    }
    for member in edit.added {
      for sql in statements.add { try run(sql, edit.owner.key, member.key) }
    }
  }

  /// Gives members the order keys after the last one; reads only that key.
  private func appendToOrder(_ edit: ToManyEdit) throws {
    let statements: ToManyStatements = try statements(edit)
    guard let place = statements.place, let lastKey = statements.lastKey else { return }
    let select = try RawStatement(database, lastKey, url: engine.url)
    defer { select.reset() }
    try select.bind(1, edit.owner.key)
    let last: Int64? = try select.step() && !select.isNull(0) ? select.integer(0) : nil
    select.reset()
    guard let keys = OrderKeys.append(edit.appended.count, after: last) else {
      // No numbers are left at the end: all members get new ones.
      let layout: EntityLayout = engine.layout.entities[Int(edit.owner.entity)]
      let stored: [RowID] =
        try engine.members(of: layout, slot: edit.slot, owner: edit.owner, database)
      let appended = Set(edit.appended)
      return try writeOrder(stored.filter { !appended.contains($0) } + edit.appended, edit)
    }
    for (member, key) in zip(edit.appended, keys) { try run(place, key, edit.owner.key, member.key) }
  }

  /// Gives every member of the ordering its order key, changing as few rows as possible.
  private func writeOrder(_ ordering: [RowID], _ edit: ToManyEdit) throws {
    let layout: EntityLayout = engine.layout.entities[Int(edit.owner.entity)]
    guard let place = try statements(edit).place else { return }
    let reading: CompiledStatement = try engine.memberStatements.statement(
      of: layout, slot: edit.slot, owners: [edit.owner.key])
    let select: RawStatement = try engine.prepared(reading, database)
    var current: [Int64: Int64?] = [:]
    while try select.step() {
      current.updateValue(select.isNull(3) ? nil : select.integer(3), forKey: select.integer(1))
    }
    select.reset()
    // A member that the store does not have as such (a merge changed its row) has no order key to set.
    let members: [Int64] = ordering.map(\.key).filter { current[$0] != nil }
    let old: [Int64?] = members.map { current[$0] ?? nil }
    let new: [Int64] = OrderKeys.assign(current: old)
    for (index, member) in members.enumerated() where old[index] != new[index] {
      try run(place, new[index], edit.owner.key, member)
    }
  }
}
