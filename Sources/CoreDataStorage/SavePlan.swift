import CoreDataModel
import Foundation

/// A row whose stored values changed.
package struct RowUpdate: Sendable {
  /// The whole new row; its version is `expectedVersion + 1`.
  package var row: RowRef
  /// The slots to write. If empty, only the version rises (a to-many of the object changed).
  package var changed: SlotSet
  /// The version that the store must still have; otherwise the save stops with a conflict.
  package var expectedVersion: Int32

  package init(row: RowRef, changed: SlotSet, expectedVersion: Int32) {
    self.row = row
    self.changed = changed
    self.expectedVersion = expectedVersion
  }
}

/// Values of a deleted row that a store with history keeps there: those of attributes with
/// `preservesValueInHistoryOnDeletion`.
package struct RowTombstone: Sendable {
  /// The row as it was last read.
  package var row: RowRef
  /// The slots to keep.
  package var slots: SlotSet

  package init(row: RowRef, slots: SlotSet) {
    self.row = row
    self.slots = slots
  }
}

/// A row to remove (or to check), with the version it must still have.
package struct RowDelete: Sendable {
  package var id: RowID
  package var expectedVersion: Int32

  package init(id: RowID, expectedVersion: Int32) {
    self.id = id
    self.expectedVersion = expectedVersion
  }
}

/// A change of one to-many relationship of one object that is not in the rows themselves.
///
/// Made for every changed to-many that is many-to-many, ordered, or without inverse. A plain one-to-many
/// needs none: it is stored in the to-one word of the member's row. For a many-to-many pair the graph makes
/// the edit once, on either side; each ordered side whose order changed adds an edit (with `ordering` or
/// `appended`) of its own.
package struct ToManyEdit: Sendable {
  package var owner: RowID
  /// The relationship's slot in the owner's layout.
  package var slot: Int
  package var added: [RowID]
  package var removed: [RowID]
  /// For an ordered relationship whose members were moved: all of them in their new order.
  package var ordering: [RowID]?
  /// For an ordered relationship without `ordering`: members that are appended, in this order. They are new
  /// to this owner, or the edit of the other side contains their pairs.
  package var appended: [RowID]

  package init(
    owner: RowID, slot: Int, added: [RowID], removed: [RowID], ordering: [RowID]? = nil,
    appended: [RowID]? = nil
  ) {
    self.owner = owner
    self.slot = slot
    self.added = added
    self.removed = removed
    self.ordering = ordering
    self.appended = appended ?? added
  }
}

/// Everything that one save writes to one store, as a value: complete before the store is accessed, and
/// consisting of rows and ids only. An engine executes it in one transaction, all or nothing.
///
/// New rows have provisional keys: -1, -2, -3 … in each hierarchy, in the order in which they are to be
/// numbered (`provisionalKey(in:)` allocates them). They are used wherever the row is named: in its header,
/// in to-one words, as owner or member of an edit. Inside its transaction the engine allocates as many
/// consecutive keys as each hierarchy needs, and replaces the provisional ones by arithmetic:
///
///     hierarchy   provisional   first allocated key    keys
///     Item        -1 -2 -3      41                     41 42 43     key = first - 1 - provisional
///
/// A new row may have a key that was allocated before (`StoreEngine.allocateKeys`), or that of a deleted row.
///
/// The slabs of `inserts` and `updates` belong to the plan until it is executed, which writes the keys into
/// them in place. So a plan is executed once.
package struct SavePlan: Sendable {
  /// New rows, version 1, a batch per entity, in the order to insert.
  package var inserts: [(layout: EntityLayout, rows: RowBatch)] = []
  package var updates: [RowUpdate] = []
  package var deletes: [RowDelete] = []
  package var toMany: [ToManyEdit] = []
  /// Rows that the save does not change but that must still be as they were read.
  package var checks: [RowDelete] = []
  /// Rows that the plan refers to and neither writes nor checks: they must exist.
  package var targets: [RowID] = []
  /// By index of the root entity: how many new rows need a key. Empty if none does.
  package private(set) var newKeys: [Int] = []
  /// The author of the save.
  package var author = SaveAuthor()
  /// What a history keeps of the rows of `deletes`, for entities that have something to keep. For updates a
  /// history uses `updates` (the slots that changed) and `toMany`.
  package var tombstones: [RowTombstone] = []
  /// Whether the new rows are copies of another store's: attributes derived by `now()`, whose values nothing
  /// can compute again, keep those that the rows have. Rows of objects have none.
  package var keepsTimes: Bool = false

  package init() {}

  /// A plan whose new rows are copies of another store's.
  static var copying: SavePlan {
    var plan = SavePlan()
    plan.keepsTimes = true
    return plan
  }

  package var isEmpty: Bool {
    inserts.isEmpty && updates.isEmpty && deletes.isEmpty && toMany.isEmpty
  }

  /// The provisional key of the next new row of a hierarchy.
  package mutating func provisionalKey(in entity: EntityLayout) -> Int64 {
    let root: Int = entity.rootIndex
    while newKeys.count <= root { newKeys.append(0) }
    newKeys[root] += 1
    return -Int64(newKeys[root])
  }

  /// Gives all new rows provisional keys in place of their own, so that a store numbers them anew. References
  /// to objects that are not among the rows are left out: their keys would be those of others.
  ///
  /// Returns the provisional keys by root entity and former key.
  mutating func makeKeysProvisional(of model: ModelLayout) -> [Int: [Int64: Int64]] {
    var map: [Int: [Int64: Int64]] = [:]
    for (layout, batch) in inserts {
      for slab in batch.slabs {
        for position in 0..<slab.count {
          let row: RowRef = slab.row(position)
          let key: Int64 = provisionalKey(in: layout)
          map[layout.rootIndex, default: [:]][row.key] = key
          slab.setKey(row.base, to: key)
        }
      }
    }
    func new(_ key: Int64, _ root: Int) -> Int64? { map[root]?[key] }
    for (layout, batch) in inserts {
      let words: [ToOneWord] = model.toOneWords(of: layout)
      batch.forEach { row in
        for word in words where row.hasValue(word.word) {
          if let key = new(row.integer(word.word), word.root) {
            row.slab.set(row.base, word: word.word, toInteger: key)
          } else {
            row.slab.clear(row.base, word: word.word)
          }
        }
      }
    }
    for place in toMany.indices {
      toMany[place].mapKeys { id in new(id.key, model.entities[Int(id.entity)].rootIndex) }
    }
    return map
  }

  /// Replaces the provisional keys by the allocated ones: in rows, in place, and in edits.
  package mutating func assignKeys(_ keys: NewKeys, of model: ModelLayout) {
    if keys.isEmpty { return }
    for (layout, batch) in inserts {
      let words: [ToOneWord] = model.toOneWords(of: layout)
      for slab in batch.slabs {
        for position in 0..<slab.count { keys.put(into: slab.row(position), root: layout.rootIndex, words) }
      }
    }
    var last: (entity: Int, words: [ToOneWord]) = (-1, [])
    for update in updates {
      let entity: Int = update.row.entity
      if last.entity != entity { last = (entity, model.toOneWords(of: model.entities[entity])) }
      keys.put(into: update.row, root: model.entities[entity].rootIndex, last.words)
    }
    for place in toMany.indices { toMany[place].assignKeys(keys, of: model) }
  }
}

/// A to-one relationship in the rows of an entity.
private struct ToOneWord {
  let word: Int
  /// The index of the root entity of its destination.
  let root: Int
}

extension ModelLayout {
  fileprivate func toOneWords(of entity: EntityLayout) -> [ToOneWord] {
    entity.slots.compactMap { slot in
      guard case .stored(.toOne, let word) = slot.role, let destination = slot.destination else { return nil }
      return ToOneWord(word: word, root: entities[destination].rootIndex)
    }
  }
}

extension ToManyEdit {
  fileprivate mutating func assignKeys(_ keys: NewKeys, of model: ModelLayout) {
    mapKeys { id in
      id.key < 0 ? keys.key(id.key, root: model.entities[Int(id.entity)].rootIndex) : id.key
    }
  }

  /// Members without a new key are left out.
  fileprivate mutating func mapKeys(_ new: (RowID) -> Int64?) {
    func map(_ ids: [RowID]) -> [RowID] {
      ids.compactMap { id in new(id).map { RowID(entity: Int(id.entity), key: $0) } }
    }
    owner.key = new(owner) ?? owner.key
    added = map(added)
    removed = map(removed)
    appended = map(appended)
    ordering = ordering.map(map)
  }
}

/// The keys allocated for the new rows of one save: consecutive in each hierarchy.
package struct NewKeys: Sendable {
  /// By index of the root entity; 0 if none was needed.
  private var first: [Int64] = []
  private var counts: [Int] = []

  /// Allocates the keys that the plan needs, hierarchy by hierarchy.
  package init(for plan: borrowing SavePlan, allocating: (_ root: Int, _ count: Int) throws -> Int64) rethrows
  {
    guard plan.newKeys.contains(where: { $0 > 0 }) else { return }
    counts = plan.newKeys
    first = try counts.enumerated().map { root, count in count > 0 ? try allocating(root, count) : 0 }
  }

  package var isEmpty: Bool { counts.isEmpty }

  /// The key for a provisional one; any other unchanged.
  package func key(_ key: Int64, root: Int) -> Int64 { key < 0 ? first[root] - 1 - key : key }

  /// Whether a key is one of those allocated.
  package func holds(_ key: Int64, root: Int) -> Bool {
    root < counts.count && key >= first[root] && key < first[root] + Int64(counts[root])
  }

  fileprivate func put(into row: RowRef, root: Int, _ words: [ToOneWord]) {
    if row.key < 0 { row.slab.setKey(row.base, to: key(row.key, root: root)) }
    for word in words where row.hasValue(word.word) {
      let target: Int64 = row.integer(word.word)
      if target < 0 { row.slab.set(row.base, word: word.word, toInteger: key(target, root: word.root)) }
    }
  }
}

/// The result of a save.
package struct SaveOutcome: Sendable {
  /// The plan, with the final keys of its new rows.
  package let written: SavePlan
  package let keys: NewKeys

  package init(written: consuming SavePlan, keys: NewKeys) {
    self.written = written
    self.keys = keys
  }
}
