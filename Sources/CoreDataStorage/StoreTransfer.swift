import CoreDataModel
import Foundation

/// Copies all objects of one store into another, empty one of any kind, under the same keys and versions. A
/// store that numbers the rows of all hierarchies in one sequence gives them new keys, unless the source does
/// so too.
///
/// The whole store is in memory meanwhile: rows, values kept in files, members of relationships. The target
/// gets one save.
package enum StoreTransfer {
  /// The number of owners whose members are read at a time.
  private static let ownersAtATime: Int = 400

  /// `entities` are those that the stores hold; `isReadOnly`: whether the source can't allocate keys. Throws
  /// what the stores throw.
  package static func copy(
    _ entities: [EntityLayout], from source: any StoreOperations, isReadOnly: Bool,
    to target: any StoreOperations
  ) throws {
    var plan = SavePlan()
    var highestKeys: [Int: Int64] = [:]
    for entity in entities where !entity.isAbstract {
      var fetch = FetchPlan(entity: entity)
      fetch.includesSubentities = false
      let rows: RowBatch = copies(of: try source.fetch(fetch), entity)
      if rows.isEmpty { continue }
      var owners: [RowID] = []
      rows.forEach { owners.append($0.id) }
      let highest: Int64 = owners.reduce(0) { max($0, $1.key) }
      highestKeys[entity.rootIndex] = max(highestKeys[entity.rootIndex] ?? 0, highest)
      plan.inserts.append((entity, rows))
      for slot in entity.slots.indices where entity.slots[slot].isToMany {
        plan.toMany += try edits(of: entity, slot, owners, source)
      }
    }
    if target.hasOneKeySequence, !source.hasOneKeySequence {
      plan.makeKeysProvisional(of: source.layout)
      _ = try target.save(plan)
      return
    }
    if target.hasOneKeySequence {
      // The one of any hierarchy.
      let highest: Int64 = highestKeys.values.max() ?? 0
      highestKeys = source.layout.entities.first.map { [$0.rootIndex: highest] } ?? [:]
    }
    for (root, highest) in highestKeys.sorted(by: { $0.key < $1.key }) {
      let layout: EntityLayout = source.layout.entities[root]
      // Keys that were allocated and have no row may belong to objects that are not saved yet.
      let last: Int64 =
        isReadOnly ? highest : max(highest, try source.allocateKeys(for: layout, count: 1))
      _ = try target.allocateKeys(for: layout, count: Int(last))
    }
    _ = try target.save(plan)
  }

  /// A plan's slabs belong to it; those of a read may be shared.
  private static func copies(of rows: RowBatch, _ entity: EntityLayout) -> RowBatch {
    var result = RowBatch()
    rows.forEach { row in
      if result.slabs.last?.isFull ?? true {
        result.slabs.append(RowSlab(layout: entity, family: false, rowCapacity: 64))
      }
      _ = result.slabs.last?.appendCopy(of: row, layout: entity)
    }
    return result
  }

  /// The data of a relationship that is not in the rows.
  private static func edits(
    of entity: EntityLayout, _ slot: Int, _ owners: [RowID], _ source: any StoreOperations
  ) throws -> [ToManyEdit] {
    guard let relationship = entity.slots[slot].relationship else { return [] }
    let inverse: NSRelationshipDescription? = relationship.inverseRelationship
    let inverseIsToOne: Bool = inverse.map { !$0.isToMany } ?? false
    if inverseIsToOne, !relationship.isOrdered { return [] }
    var edits: [ToManyEdit] = []
    for start in stride(from: 0, to: owners.count, by: ownersAtATime) {
      let some = Array(owners[start..<min(start + ownersAtATime, owners.count)])
      for (owner, members) in zip(some, try source.members(of: entity, slot: slot, owners: some))
      where !members.isEmpty {
        let added: [RowID] =
          inverseIsToOne
          ? [] : members.filter { isRecorded(by: relationship, of: inverse, owner: owner, member: $0) }
        let ordering: [RowID]? = relationship.isOrdered ? members : nil
        if added.isEmpty, ordering == nil { continue }
        edits.append(
          ToManyEdit(
            owner: owner, slot: slot, added: added, removed: [], ordering: ordering, appended: []))
      }
    }
    return edits
  }

  /// Both sides of a pair hold it; only one of them makes the edit.
  private static func isRecorded(
    by relationship: NSRelationshipDescription, of inverse: NSRelationshipDescription?, owner: RowID,
    member: RowID
  ) -> Bool {
    guard let inverse else { return true }
    if inverse === relationship { return owner.key <= member.key }
    return ObjectIdentifier(relationship) < ObjectIdentifier(inverse)
  }
}
