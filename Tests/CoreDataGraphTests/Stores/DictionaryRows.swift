import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Rows in dictionaries, by nothing but what the graph asks of every store. Slow and obvious.
final class DictionaryRows: StoreOperations, @unchecked Sendable {
  // Sendable: `state`, `plans` and `isClosed` are reached under `lock` only.

  struct Node: Hashable {
    let root: Int
    let key: Int64
  }

  struct List: Hashable {
    let owner: Node
    let slot: Int
  }

  /// A value: readers go on with the one they took.
  struct State {
    var rows: [Node: RowRef] = [:]
    /// The members that rows do not tell, and the order of those of ordered relationships.
    var lists: [List: [Node]] = [:]
    var lastKeys: [Int: Int64] = [:]
  }

  let layout: ModelLayout
  private let lock = NSLock()
  private var state = State()
  private var isClosed = false

  private var plans: [SavePlan] = []
  /// The plans that were executed, in order.
  var saved: [SavePlan] { lock.withLock { plans } }

  init(layout: ModelLayout) { self.layout = layout }

  func close() { lock.withLock { isClosed = true } }

  func current() throws -> State { try lock.withLock { try open() } }

  private func open() throws -> State {
    if isClosed { throw StoreError.closed }
    return state
  }

  func node(_ id: RowID) -> Node {
    Node(root: layout.entities[Int(id.entity)].rootIndex, key: id.key)
  }

  // MARK: Reading

  func fetch(_ plan: FetchPlan) throws -> RowBatch {
    batch(try DictionaryQuery(plan, self, current()).run(), of: plan.entity)
  }

  func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows {
    try DictionaryQuery(plan.rows, self, current()).run(plan)
  }

  func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch {
    let state: State = try current()
    return batch(keys.compactMap { state.rows[Node(root: layout.rootIndex, key: $0)] }, of: layout)
  }

  private func batch(_ rows: [RowRef], of entity: EntityLayout) -> RowBatch {
    if rows.isEmpty { return RowBatch() }
    let root: EntityLayout = layout.entities[entity.rootIndex]
    let slab = RowSlab(layout: root, family: true, rowCapacity: rows.count)
    for row in rows { _ = slab.appendCopy(of: row, layout: layout.entities[row.entity]) }
    return RowBatch(slabs: [slab])
  }

  func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]] {
    let state: State = try current()
    return owners.map { members(of: $0, slot, state) }
  }

  func members(of owner: RowID, _ slot: Int, _ state: State) -> [RowID] {
    let property: PropertySlot = layout.entities[Int(owner.entity)].slots[slot]
    guard let destination = property.destination else { return [] }
    let family: ClosedRange<Int> = layout.entities[destination].family
    let listed: [Node] = state.lists[List(owner: node(owner), slot: slot)] ?? []
    var members: [RowRef] = []
    if let inverse = property.inverseSlot, layout.entities[destination].slots[inverse].isToOne {
      members = state.rows.values.filter { row in
        guard family.contains(row.entity),
          case .stored(_, let word) = layout.entities[row.entity].slots[inverse].role
        else { return false }
        return row.hasValue(word) && node(row.target(word)) == node(owner)
      }
    } else {
      members = listed.compactMap { state.rows[$0] }.filter { family.contains($0.entity) }
    }
    members.sort { $0.key < $1.key }
    if property.relationship?.isOrdered == true {
      func place(_ row: RowRef) -> Int { listed.firstIndex(of: node(row.id)) ?? listed.count }
      members = members.enumerated().sorted {
        (place($0.element), $0.offset) < (place($1.element), $1.offset)
      }
      .map(\.element)
    }
    return members.map(\.id)
  }

  // MARK: Saving

  func allocateKeys(for root: EntityLayout, count: Int) throws -> Int64 {
    try lock.withLock {
      _ = try open()
      return Self.allocate(root.rootIndex, count, &state)
    }
  }

  private static func allocate(_ root: Int, _ count: Int, _ state: inout State) -> Int64 {
    defer { state.lastKeys[root, default: 0] += Int64(count) }
    return state.lastKeys[root, default: 0] + 1
  }

  func checkWritable() throws { _ = try current() }

  func save(_ plan: consuming SavePlan) throws -> SaveOutcome {
    var plan: SavePlan = plan
    let keys: NewKeys = try lock.withLock {
      var new: State = try open()
      try check(plan, new)
      let keys = NewKeys(for: plan) { root, count in Self.allocate(root, count, &new) }
      plan.assignKeys(keys, of: layout)
      apply(plan, &new)
      state = new
      plans.append(plan)
      return keys
    }
    return SaveOutcome(written: plan, keys: keys)
  }

  private func check(_ plan: SavePlan, _ state: State) throws {
    var conflicts: [RowConflict] = []
    func check(_ id: RowID, _ version: Int32) {
      let stored: RowRef? = state.rows[node(id)]
      if stored?.version != version || stored?.id != id {
        conflicts.append(RowConflict(id: id, expectedVersion: version, stored: stored))
      }
    }
    for update in plan.updates { check(update.row.id, update.expectedVersion) }
    for row in plan.deletes + plan.checks { check(row.id, row.expectedVersion) }
    for id in plan.targets where state.rows[node(id)] == nil {
      conflicts.append(RowConflict(id: id, expectedVersion: 0, stored: nil))
    }
    if !conflicts.isEmpty { throw StoreError.conflicts(conflicts) }
    try checkUniqueness(plan, state)
  }

  private func checkUniqueness(_ plan: SavePlan, _ state: State) throws {
    var others: [Node: RowRef] = state.rows
    for delete in plan.deletes { others[node(delete.id)] = nil }
    for update in plan.updates { others[node(update.row.id)] = nil }
    var new: [RowRef] = plan.updates.map(\.row)
    for insert in plan.inserts { insert.rows.forEach { new.append($0) } }
    for entity in layout.entities {
      for names in entity.entity.uniquenessConstraintNames {
        func values(_ row: RowRef) -> [PredicateValue]? {
          guard entity.family.contains(row.entity) else { return nil }
          let values: [PredicateValue] = names.map { DictionaryQuery.value($0, row, entity) }
          return values.contains(.null) ? nil : values
        }
        var taken: [[PredicateValue]: RowID?] = [:]
        for row in others.values { if let values = values(row) { taken[values] = row.id } }
        for row in new {
          guard let values = values(row) else { continue }
          if let other = taken.updateValue(nil, forKey: values) {
            throw StoreError.uniqueness(
              entity: entity.name, constraint: names, row: other, database: "the dictionary")
          }
        }
      }
    }
  }

  private func apply(_ plan: SavePlan, _ state: inout State) {
    for delete in plan.deletes {
      let gone: Node = node(delete.id)
      state.rows[gone] = nil
      state.lists = state.lists.filter { $0.key.owner != gone }.mapValues { $0.filter { $0 != gone } }
    }
    func put(_ row: RowRef) {
      let entity: EntityLayout = layout.entities[row.entity]
      let slab = RowSlab(layout: entity, family: false, rowCapacity: 1)
      _ = slab.appendCopy(of: row, layout: entity)
      let root: Int = entity.rootIndex
      state.rows[Node(root: root, key: row.key)] = slab.row(0)
      state.lastKeys[root] = max(state.lastKeys[root] ?? 0, row.key)
    }
    for update in plan.updates { put(update.row) }
    for insert in plan.inserts { insert.rows.forEach(put) }
    for edit in plan.toMany { apply(edit, &state) }
    for edit in plan.toMany where isOrdered(edit.owner, edit.slot) {
      let list = List(owner: node(edit.owner), slot: edit.slot)
      if let ordering = edit.ordering {
        state.lists[list] = ordering.map(node)
      } else {
        let last: [Node] = edit.appended.map(node)
        state.lists[list, default: []].removeAll { last.contains($0) }
        state.lists[list, default: []] += last
      }
    }
  }

  private func isOrdered(_ owner: RowID, _ slot: Int) -> Bool {
    layout.entities[Int(owner.entity)].slots[slot].relationship?.isOrdered == true
  }

  private func apply(_ edit: ToManyEdit, _ state: inout State) {
    let property: PropertySlot = layout.entities[Int(edit.owner.entity)].slots[edit.slot]
    guard let destination = property.destination else { return }
    let inverse: PropertySlot? = property.inverseSlot.map { layout.entities[destination].slots[$0] }
    // Rows tell these.
    if inverse?.isToOne == true { return }
    let list = List(owner: node(edit.owner), slot: edit.slot)
    func change(_ list: List, _ member: Node, isAddition: Bool) {
      if !isAddition {
        state.lists[list]?.removeAll { $0 == member }
      } else if state.lists[list]?.contains(member) != true {
        state.lists[list, default: []].append(member)
      }
    }
    for (members, isAddition) in [(edit.removed, false), (edit.added, true)] {
      for member in members.map(node) {
        if let other = property.inverseSlot {
          change(List(owner: member, slot: other), list.owner, isAddition: isAddition)
        } else if isAddition {
          // Without an inverse a row is the member of one owner.
          for known in state.lists.keys where known.slot == edit.slot && known.owner.root == list.owner.root {
            state.lists[known]?.removeAll { $0 == member }
          }
        }
        change(list, member, isAddition: isAddition)
      }
    }
  }
}
