import CoreDataModel
import Foundation

/// Copies all objects of one store into another, empty one of any kind, under the same keys and versions. A
/// store that numbers the rows of all hierarchies in one sequence gives them new keys, in the order of
/// entities and keys, unless the source does so too.
///
/// The target gets one save, for which the whole store is in memory: rows, values kept in files, members of
/// relationships. With `rowsPerSave` it gets many, each with one page of rows, unless it numbers rows in one
/// sequence, because such a store is written as a whole by each save. What a target holds after an error is
/// then a part: whoever calls removes it.
package struct StoreTransfer {
  package struct Outcome {
    /// The new keys by root entity and former key if the target has numbered the rows anew, else nothing.
    package var keys: [Int: [Int64: Int64]] = [:]
    /// References that the target does not have, since they lead to no such object, by properties; and rows
    /// of the source that stand for no object.
    package var leftOut: [StoreProblem] = []
  }

  /// The entities that the stores hold.
  private let entities: [EntityLayout]
  private let source: any StoreOperations
  private let target: any StoreOperations
  /// Whether the source can't allocate keys.
  private let isReadOnly: Bool
  private let note: (_ rows: Int) throws -> Void

  /// The number of owners whose members are read at a time.
  private static let ownersAtATime: Int = 400

  /// `note` is called with the number of rows copied since the last call; an error it throws ends the
  /// transfer.
  @discardableResult
  package static func copy(
    _ entities: [EntityLayout], from source: any StoreOperations, isReadOnly: Bool,
    to target: any StoreOperations, rowsPerSave: Int? = nil, note: (_ rows: Int) throws -> Void = { _ in }
  ) throws -> Outcome {
    try withoutActuallyEscaping(note) { note in
      let transfer = StoreTransfer(
        entities: entities.filter { !$0.isAbstract }, source: source, target: target, isReadOnly: isReadOnly,
        note: note)
      try refuseMisreadValues(
        of: transfer.entities, in: source,
        for: (target as? any StoreDescribing)?.metadata[StoreMetadata.Key.type] as? String ?? "")
      do {
        var outcome = Outcome()
        if let rowsPerSave, !target.hasOneKeySequence {
          try transfer.copyInParts(of: rowsPerSave)
        } else {
          outcome = try transfer.copyAtOnce()
        }
        outcome.leftOut += try TransferredReferences.rows(lostBy: source)
        outcome.leftOut += try TransferredReferences.pairs(lostBy: source)
        return outcome
      } catch let error as StoreError {
        guard case .uniqueness = error else { throw error }
        throw try transfer.duplicates() ?? error
      }
    }
  }

  /// The error that names the first objects of the source with values that are to be unique.
  private func duplicates() throws -> StoreError? {
    guard let source = source as? any StoreEngine else { return nil }
    guard let found = try UniqueValues.firstTwins(in: source, entities) else { return nil }
    return .duplicates(
      url: source.fileURL, entity: found.entity.name, constraint: found.names, values: found.values,
      objects: [found.first, found.second].map {
        ObjectURI.text(of: $0, in: source.layout, store: source.identifier)
      })
  }

  /// A copy of a value that reads as another would have another value, and look sound.
  package static func refuseMisreadValues(
    of entities: [EntityLayout], in source: any StoreOperations, for type: String
  ) throws {
    guard let examined = source as? any StoreExamining else { return }
    let own: Set<Int> = Set(entities.map(\.index))
    let misread = try examined.misreadValues().filter { own.contains(Int($0.key.entity)) }
      .min { ($0.key.entity, $0.key.key) < ($1.key.entity, $1.key.key) }
    guard let (row, values) = misread, let value = values.first else { return }
    throw error(for: value, of: row, in: source, type: type)
  }

  // MARK: One save

  private func copyAtOnce() throws -> Outcome {
    var plan: SavePlan = .copying
    var highestKeys: [Int: Int64] = [:]
    for entity in entities {
      var fetch = FetchPlan(entity: entity)
      fetch.includesSubentities = false
      var found: [RowRef] = []
      try source.fetch(fetch).forEach { found.append($0) }
      if found.isEmpty { continue }
      found.sort { $0.key < $1.key }
      for row in found { try check(row, entity) }
      plan.inserts.append((entity, Self.copies(of: found, entity)))
      highestKeys[entity.rootIndex] = max(highestKeys[entity.rootIndex] ?? 0, found.last?.key ?? 0)
      try note(found.count)
    }
    let renumbers: Bool = target.hasOneKeySequence && !source.hasOneKeySequence
    var references: TransferredReferences? =
      renumbers ? TransferredReferences(plan.inserts, in: source.layout) : nil
    for (entity, rows) in plan.inserts {
      references?.clear(in: rows, of: entity)
      var owners: [RowID] = []
      rows.forEach { owners.append($0.id) }
      for slot in entity.slots.indices where Self.isNeeded(entity.slots[slot]) {
        for start in stride(from: 0, to: owners.count, by: Self.ownersAtATime) {
          let page = Array(owners[start..<min(start + Self.ownersAtATime, owners.count)])
          var members: [[RowID]] = try source.members(of: entity, slot: slot, owners: page)
          if let kept = references?.kept(members, of: page, entity, slot) { members = kept }
          plan.toMany += Self.edits(of: entity, slot, page, members)
        }
        try note(0)
      }
    }
    if renumbers {
      var map: [Int: [Int64: Int64]] = plan.makeKeysProvisional(of: source.layout)
      let keys: NewKeys = try target.save(plan).keys
      for root in map.keys { map[root] = map[root]?.mapValues { keys.key($0, root: root) } }
      return Outcome(keys: map, leftOut: references?.leftOut ?? [])
    }
    try allocate(highestKeys)
    _ = try target.save(plan)
    return Outcome()
  }

  /// Refuses a value that the target can't keep, by the object's name in the source.
  private func check(_ row: RowRef, _ entity: EntityLayout) throws {
    guard let problem = target.unwritableValues(of: row).first else { return }
    throw Self.error(
      for: problem, of: row.id, in: source,
      type: (target as? any StoreDescribing)?.metadata[StoreMetadata.Key.type] as? String ?? "")
  }

  private static func error(
    for problem: UnwritableValue, of row: RowID, in source: any StoreOperations, type: String
  ) -> StoreError {
    problem.error(
      in: source.layout.entities[Int(row.entity)],
      object: ObjectURI.text(
        of: row, in: source.layout, store: (source as? any StoreDescribing)?.identifier ?? ""),
      type: type)
  }

  private func allocate(_ highestKeys: [Int: Int64]) throws {
    var highestKeys: [Int: Int64] = highestKeys
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
  }

  /// A plan's slabs belong to it; those of a read may be shared.
  private static func copies(of rows: [RowRef], _ entity: EntityLayout) -> RowBatch {
    var result = RowBatch()
    for row in rows {
      if result.slabs.last?.isFull ?? true {
        result.slabs.append(RowSlab(layout: entity, family: false, rowCapacity: 64))
      }
      _ = result.slabs.last?.appendCopy(of: row, layout: entity)
    }
    return result
  }

  // MARK: Many saves

  private func copyInParts(of rowsPerSave: Int) throws {
    let scans: [RowScan] = try entities.map { try RowScan($0, in: source) }
    var highestKeys: [Int: Int64] = [:]
    for scan in scans {
      guard let highest = scan.keys.last else { continue }
      highestKeys[scan.entity.rootIndex] = max(highestKeys[scan.entity.rootIndex] ?? 0, highest)
    }
    try allocate(highestKeys)
    for scan in scans {
      try scan.forEachPage(of: rowsPerSave) { page in
        var plan: SavePlan = .copying
        plan.inserts = [(scan.entity, Self.copies(of: try scan.rows(page), scan.entity))]
        _ = try target.save(plan)
        try note(page.count)
      }
    }
    // Pairs refer to rows of both sides, and an order to all pairs.
    try saveEdits(of: scans, \.membership)
    try saveEdits(of: scans, \.order)
  }

  private func saveEdits(of scans: [RowScan], _ part: (ToManyEdit) -> ToManyEdit?) throws {
    for scan in scans {
      for slot in scan.entity.slots.indices where Self.isNeeded(scan.entity.slots[slot]) {
        try scan.forEachPage(of: Self.ownersAtATime) { page in
          var plan = SavePlan()
          plan.toMany = try edits(of: scan.entity, slot, scan.ids(page)).compactMap(part)
          if !plan.toMany.isEmpty { _ = try target.save(plan) }
          try note(0)
        }
      }
    }
  }

  // MARK: Relationships

  /// Whether a relationship has data that is not in the rows.
  static func isNeeded(_ slot: PropertySlot) -> Bool {
    guard let relationship = slot.relationship, slot.role == .toMany else { return false }
    let inverseIsToOne: Bool = relationship.inverseRelationship.map { !$0.isToMany } ?? false
    return !inverseIsToOne || relationship.isOrdered
  }

  /// The data of a relationship that is not in the rows.
  private func edits(of entity: EntityLayout, _ slot: Int, _ owners: [RowID]) throws -> [ToManyEdit] {
    guard Self.isNeeded(entity.slots[slot]) else { return [] }
    return Self.edits(
      of: entity, slot, owners, try source.members(of: entity, slot: slot, owners: owners))
  }

  /// The same for members that were read.
  static func edits(of entity: EntityLayout, _ slot: Int, _ owners: [RowID], _ lists: [[RowID]])
    -> [ToManyEdit]
  {
    guard let relationship = entity.slots[slot].relationship else { return [] }
    let inverse: NSRelationshipDescription? = relationship.inverseRelationship
    let inverseIsToOne: Bool = inverse.map { !$0.isToMany } ?? false
    var edits: [ToManyEdit] = []
    for (owner, members) in zip(owners, lists) where !members.isEmpty {
      let added: [RowID] =
        inverseIsToOne
        ? [] : members.filter { Self.isRecorded(by: relationship, of: inverse, owner: owner, member: $0) }
      let ordering: [RowID]? = relationship.isOrdered ? members : nil
      if added.isEmpty, ordering == nil { continue }
      edits.append(
        ToManyEdit(owner: owner, slot: slot, added: added, removed: [], ordering: ordering, appended: []))
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
