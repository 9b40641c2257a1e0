import CoreDataModel
import Foundation

/// A set of slot numbers; no allocation for entities of up to 64 properties.
package struct SlotSet: Hashable, Sendable {
  package private(set) var low: UInt64 = 0
  package private(set) var high: [UInt64] = []

  package init() {}

  package init(_ slots: some Sequence<Int>) {
    for slot in slots { insert(slot) }
  }

  package mutating func insert(_ slot: Int) {
    if slot < 64 {
      low |= 1 << UInt64(slot)
      return
    }
    let place: Int = slot / 64 - 1
    while high.count <= place { high.append(0) }
    high[place] |= 1 << UInt64(slot % 64)
  }

  package mutating func remove(_ slot: Int) {
    if slot < 64 {
      low &= ~(1 << UInt64(slot))
    } else if slot / 64 - 1 < high.count {
      high[slot / 64 - 1] &= ~(1 << UInt64(slot % 64))
      while high.last == 0 { high.removeLast() }
    }
  }

  package func contains(_ slot: Int) -> Bool {
    if slot < 64 { return low >> UInt64(slot) & 1 == 1 }
    let place: Int = slot / 64 - 1
    return place < high.count && high[place] >> UInt64(slot % 64) & 1 == 1
  }

  package var isEmpty: Bool { low == 0 && high.isEmpty }

  /// Members, ascending.
  package var members: [Int] {
    var result: [Int] = []
    for (place, word) in ([low] + high).enumerated() {
      var rest: UInt64 = word
      while rest != 0 {
        result.append(place * 64 + rest.trailingZeroBitCount)
        rest &= rest - 1
      }
    }
    return result
  }
}

/// A row whose stored values changed.
package struct RowUpdate: Sendable {
  /// The whole new row; its version is `expectedVersion + 1`.
  package var row: RowRef
  /// The slots to write. May be empty: then only the version moves (a to-many of the object changed).
  package var changed: SlotSet
  /// The version the store must still hold; otherwise the save stops with a conflict.
  package var expectedVersion: Int32

  package init(row: RowRef, changed: SlotSet, expectedVersion: Int32) {
    self.row = row
    self.changed = changed
    self.expectedVersion = expectedVersion
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

/// A change of one to-many relationship of one object that rows alone do not tell.
///
/// Made for every changed to-many that is many-to-many, ordered, or without inverse. A plain one-to-many needs none:
/// the to-one word of the member's row carries it. For a many-to-many pair the graph makes the edit once, on either
/// side; each ordered side whose order changed adds an edit (with `ordering` or `appended`) of its own.
package struct ToManyEdit: Sendable {
  package var owner: RowID
  /// The relationship's slot in the owner's layout.
  package var slot: Int
  package var added: [RowID]
  package var removed: [RowID]
  /// For an ordered relationship whose members were moved: all of them in their new order.
  package var ordering: [RowID]?
  /// For an ordered relationship without `ordering`: members that go last, one after the other. They are new to this owner, or their
  /// pairs are told by the edit of the other side.
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

/// Everything one save writes to one store, decided before the store is touched. An engine executes it in one
/// transaction, all or nothing.
package struct SavePlan: Sendable {
  /// New rows, version 1, a batch per entity, in the order to insert.
  package var inserts: [(layout: EntityLayout, rows: RowBatch)] = []
  package var updates: [RowUpdate] = []
  package var deletes: [RowDelete] = []
  package var toMany: [ToManyEdit] = []
  /// Rows that are not changed and must be what was read all the same.
  package var checks: [RowDelete] = []

  package init() {}

  package var isEmpty: Bool {
    inserts.isEmpty && updates.isEmpty && deletes.isEmpty && toMany.isEmpty
  }
}
