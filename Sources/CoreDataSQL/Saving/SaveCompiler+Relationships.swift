import CoreDataStorage

/// How an engine carries out the edits of one to-many relationship. Parameters are listed in the order of the question
/// marks.
package struct ToManyStatements: Sendable, Hashable {
  /// (owner key, member key): ties a member to an owner. nil where the member's own row does it. Several for a reflexive relationship,
  /// each with the same parameters.
  package var add: [String] = []
  /// (owner key, member key): unties them.
  package var remove: [String] = []
  /// (order key, owner key, member key): places a member. nil for an unordered relationship.
  package var place: String?
  /// (owner key): the highest order key among the members. nil for an unordered relationship.
  package var lastKey: String?
  /// (owner key): unties all members; run it when an owner is deleted.
  package var clear: [String] = []
}

extension SaveCompiler {
  /// The statements of a to-many slot; all empty for a plain one-to-many without order.
  package func toMany(of entity: EntityLayout, slot: Int) throws -> ToManyStatements {
    let property: PropertySlot = entity.slots[slot]
    guard case .toMany(let storage) = schema.storage(of: entity.index, slot: slot),
      let destination = property.destination
    else {
      throw StoreError.unsupported(
        part: "\(entity.name).\(property.name)", reason: "the store keeps no members of it",
        advice: "check that the relationship is to-many and its inverse is not transient")
    }
    switch storage {
    case .foreignKey(let members): return foreignKey(members, try schema.table(of: destination))
    case .joinTable(let members): return joinTable(members)
    }
  }

  // The numbered marks let one parameter stand in two places, and parameters keep the documented order.

  private func foreignKey(_ members: ForeignKeyMembers, _ table: TableSchema) -> ToManyStatements {
    var result = ToManyStatements()
    let target: String = name(members.table)
    let owner: String = name(members.key)
    let member: String = name(table.key)
    if let order = members.order {
      result.place =
        "UPDATE \(target) SET \(name(order)) = ?1 WHERE \(owner) = ?2 AND \(member) = ?3"
      result.lastKey = "SELECT MAX(\(name(order))) FROM \(target) WHERE \(owner) = ?1"
    }
    guard members.isHidden else { return result }
    let noOrder: String = members.order.map { ", \(name($0)) = NULL" } ?? ""
    result.add = ["UPDATE \(target) SET \(owner) = ?1\(noOrder) WHERE \(member) = ?2"]
    result.remove = [
      "UPDATE \(target) SET \(owner) = NULL\(noOrder) WHERE \(owner) = ?1 AND \(member) = ?2"
    ]
    result.clear = ["UPDATE \(target) SET \(owner) = NULL\(noOrder) WHERE \(owner) = ?1"]
    return result
  }

  private func joinTable(_ members: JoinTableMembers) -> ToManyStatements {
    var result = ToManyStatements()
    let table: String = name(members.table)
    let owner: String = name(members.owner)
    let member: String = name(members.member)
    result.add = ["INSERT OR IGNORE INTO \(table)(\(owner), \(member)) VALUES(?1, ?2)"]
    result.remove = ["DELETE FROM \(table) WHERE \(owner) = ?1 AND \(member) = ?2"]
    result.clear = ["DELETE FROM \(table) WHERE \(owner) = ?1"]
    if members.isReflexive {
      result.add.append("INSERT OR IGNORE INTO \(table)(\(owner), \(member)) VALUES(?2, ?1)")
      result.remove.append("DELETE FROM \(table) WHERE \(owner) = ?2 AND \(member) = ?1")
      result.clear.append("DELETE FROM \(table) WHERE \(member) = ?1")
    }
    if let order = members.order {
      result.place = "UPDATE \(table) SET \(name(order)) = ?1 WHERE \(owner) = ?2 AND \(member) = ?3"
      result.lastKey = "SELECT MAX(\(name(order))) FROM \(table) WHERE \(owner) = ?1"
    }
    return result
  }

  // MARK: Key sequences

  /// Parameter: (root's entity number). The highest key handed out in a hierarchy.
  package var readMaxKey: String { "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?1" }
  /// Parameters: (new maximum, root's entity number).
  package var writeMaxKey: String { "UPDATE Z_PRIMARYKEY SET Z_MAX = ?1 WHERE Z_ENT = ?2" }

  /// The number under which a hierarchy's keys are counted.
  package func keySequence(of entity: EntityLayout) -> Int { schema.entityNumbers[entity.rootIndex] }
}
