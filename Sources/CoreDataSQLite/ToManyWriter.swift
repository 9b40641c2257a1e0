import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// Writes what rows alone do not tell: pairs of many-to-many relationships, keys of to-many relationships without
/// inverse, and the order of ordered ones.
///
/// All pairs and keys of a save come first, then all orders, because the two sides of an ordered many-to-many relationship
/// speak about the same pairs.
struct ToManyWriter {
  let engine: SQLiteEngine
  let database: Database

  func run(_ edits: [ToManyEdit]) throws {
    for edit in edits { try writeMembership(edit) }
    for edit in edits {
      if let ordering = edit.ordering { try writeOrder(ordering, edit) }
    }
  }

  private func quoted(_ name: String) -> String { SQLIdentifier.quoted(name) }

  private func statement(_ sql: String, _ values: [Int64]) throws -> RawStatement {
    let statement = try RawStatement(database, sql, url: engine.url)
    for (place, value) in values.enumerated() { try statement.bind(place + 1, value) }
    return statement
  }

  private func run(_ sql: String, _ values: Int64...) throws { try statement(sql, values).run() }

  // MARK: Membership

  private func writeMembership(_ edit: ToManyEdit) throws {
    let owner: Int64 = edit.owner.key
    switch engine.schema.storage(of: Int(edit.owner.entity), slot: edit.slot) {
    case .toMany(.joinTable(let join)):
      let table: String = quoted(join.table)
      let (ownerColumn, memberColumn) = (quoted(join.owner), quoted(join.member))
      for member in edit.removed {
        try run("DELETE FROM \(table) WHERE \(ownerColumn) = ? AND \(memberColumn) = ?", owner, member.key)
        if join.isReflexive {
          try run("DELETE FROM \(table) WHERE \(ownerColumn) = ? AND \(memberColumn) = ?", member.key, owner)
        }
      }
      for member in edit.added {
        let insert: String = "INSERT OR IGNORE INTO \(table) (\(ownerColumn), \(memberColumn)) VALUES (?, ?)"
        try run(insert, owner, member.key)
        if join.isReflexive { try run(insert, member.key, owner) }
      }
    case .toMany(.foreignKey(let key)) where key.isHidden:
      let table: String = quoted(key.table)
      let order: String = key.order.map { ", \(quoted($0)) = NULL" } ?? ""
      for member in edit.removed {
        try run(
          "UPDATE \(table) SET \(quoted(key.key)) = NULL\(order) WHERE Z_PK = ? AND \(quoted(key.key)) = ?",
          member.key, owner)
      }
      for member in edit.added {
        try run("UPDATE \(table) SET \(quoted(key.key)) = ?\(order) WHERE Z_PK = ?", owner, member.key)
      }
    case .toMany(.foreignKey), .none, .attribute, .toOne: break
    }
  }

  // MARK: Order

  private func writeOrder(_ ordering: [RowID], _ edit: ToManyEdit) throws {
    let owner: Int64 = edit.owner.key
    switch engine.schema.storage(of: Int(edit.owner.entity), slot: edit.slot) {
    case .toMany(.joinTable(let join)):
      guard let order = join.order else { return }
      let table: String = quoted(join.table)
      try assign(
        ordering,
        select:
          "SELECT \(quoted(join.member)), \(quoted(order)) FROM \(table) WHERE \(quoted(join.owner)) = ?",
        owner: owner,
        update: "UPDATE \(table) SET \(quoted(order)) = ? WHERE \(quoted(join.member)) = ? AND "
          + "\(quoted(join.owner)) = \(owner)")
    case .toMany(.foreignKey(let key)):
      guard let order = key.order else { return }
      let table: String = quoted(key.table)
      try assign(
        ordering, select: "SELECT Z_PK, \(quoted(order)) FROM \(table) WHERE \(quoted(key.key)) = ?",
        owner: owner, update: "UPDATE \(table) SET \(quoted(order)) = ? WHERE Z_PK = ?")
    case .none, .attribute, .toOne: break
    }
  }

  /// Gives every member of the ordering its order key, touching as few rows as possible.
  private func assign(_ ordering: [RowID], select: String, owner: Int64, update: String) throws {
    var current: [Int64: Int64?] = [:]
    let reading: RawStatement = try statement(select, [owner])
    while try reading.step() {
      current.updateValue(reading.isNull(1) ? nil : reading.integer(1), forKey: reading.integer(0))
    }
    reading.reset()
    // A member that is no member in the store (its row was changed by a merge) has no place to be ordered.
    let members: [Int64] = ordering.map(\.key).filter { current[$0] != nil }
    let old: [Int64?] = members.map { current[$0] ?? nil }
    let new: [Int64] = OrderKeys.assign(current: old)
    for (place, member) in members.enumerated() where old[place] != new[place] {
      try run(update, new[place], member)
    }
  }
}
