import CoreDataStorage
import Foundation

/// One relationship of objects that were read together: the rows of one slab.
///
///     products  p1 p2 p3 p4 …       one slab
///     maker     │  │  └──┴── …      read by the statement that the fault of p2's maker needs
///               │  └ the second fault
///               └ the first fault: a statement for this one
///
/// Whoever reads a relationship of two of these objects is about to read it of the others, so the second
/// fault reads ahead: the rows of the other objects' targets, or the ids of their members and then the
/// members' rows (Decisions/0150). Used on the context's queue.
///
/// It is the `FaultBatch` of the targets of a to-one, which are loaded one by one until there is a second.
final class RelationshipBatch: FaultBatch {
  /// The entity that declares the relationship, and its slot.
  let entity: EntityRuntime
  let slot: Int
  /// Where the objects' rows are. Not retained: without these objects there is nothing to read ahead.
  private(set) weak var slab: RowSlab?

  override var relationship: RelationshipBatch? { self }

  /// The to-many faults, and the faults of targets or members, that took a statement.
  var relationshipFaults: Int = 0
  var rowFaults: Int = 0
  /// The rows of targets or members that were read ahead last.
  var rows: HeldRows?
  /// The keys that were read ahead since the store last changed: what was not found is not asked for again.
  private var asked: (keys: Set<Int64>, changes: Int) = ([], 0)

  /// The members that were read ahead and not asked for, by the owner's key.
  private var members: [Int64: [RowID]] = [:]
  private var changes: Int = 0
  private var time: ContinuousClock.Instant = .now
  /// The members of the owners that were read last, in their order: what is read ahead next.
  private(set) var memberKeys: [Int64] = []
  private var ownerCount: Int = 0
  private var memberCount: Int = 0

  /// The most rows, or owners of members, that one statement reads ahead.
  static let size: Int = 500
  /// The most members whose ids are read ahead.
  private static let mostMembers: Int = 20_000

  init(_ entity: EntityRuntime, _ slot: Int, _ slab: RowSlab, _ store: NSPersistentStore) {
    self.entity = entity
    self.slot = slot
    self.slab = slab
    let destination: Int = entity.layout.slots[slot].destination ?? entity.index
    super.init(layout: entity.model.entities[destination].layout, store: store, keys: [])
  }

  /// `Product.maker`.
  var name: String { "\(entity.layout.name).\(entity.layout.slots[slot].name)" }

  /// The number of objects that were read together.
  var objectCount: Int { slab?.count ?? 0 }

  func isOf(_ slab: RowSlab, _ store: NSPersistentStore) -> Bool {
    self.slab === slab && self.store === store
  }

  // MARK: Members

  /// The members of an owner that were read ahead, once.
  func takeMembers(of owner: Int64, age: TimeInterval) -> [RowID]? {
    guard let found = members.removeValue(forKey: owner) else { return nil }
    if store.changes == changes, HeldRows.isYoung(time, age) { return found }
    members = [:]
    return nil
  }

  /// Keeps what was read of some owners. `changes` and `time` are those before it was read.
  func keep(_ lists: [[RowID]], of owners: [RowID], changes: Int, time: ContinuousClock.Instant) {
    (self.changes, self.time) = (changes, time)
    members = Dictionary(zip(owners.map(\.key), lists), uniquingKeysWith: { first, _ in first })
    memberKeys = lists.flatMap { $0.map(\.key) }
    ownerCount += owners.count
    memberCount += memberKeys.count
  }

  /// Called for the members of one owner, which were read alone.
  func note(_ ids: [RowID]) {
    memberKeys = ids.map(\.key)
    ownerCount += 1
    memberCount += ids.count
  }

  /// How many owners' members to read: fewer, if those read so far have many.
  var ownerLimit: Int {
    min(Self.size, max(2, Self.mostMembers * max(1, ownerCount) / max(1, memberCount)))
  }

  // MARK: Rows

  func wasAsked(_ key: Int64) -> Bool { asked.changes == store.changes && asked.keys.contains(key) }

  func noteAsked(_ keys: [Int64]) {
    if asked.changes != store.changes { asked = ([], store.changes) }
    asked.keys.formUnion(keys)
  }

  /// The owner's row and those that follow it, then those before it; only of objects that have the
  /// relationship.
  func owners(from key: Int64) -> [RowID] {
    rows(from: { $0.key == key }).map(\.id)
  }

  /// The keys of the targets of the rows in the same order, beginning after the one that leads to `key`, each
  /// once.
  func targetKeys(after key: Int64) -> [Int64] {
    guard case .stored(.toOne, let word) = entity.layout.slots[slot].role else {
      return Self.rotated(memberKeys, after: key)
    }
    var seen: Set<Int64> = [key]
    return rows(from: { $0.hasValue(word) && $0.target(word).key == key }).compactMap { row in
      guard row.hasValue(word) else { return nil }
      let target: Int64 = row.target(word).key
      return seen.insert(target).inserted ? target : nil
    }
  }

  private func rows(from isFirst: (RowRef) -> Bool) -> [RowRef] {
    guard let slab else { return [] }
    let rows: [RowRef] = (0..<slab.count).map { slab.row($0) }
      .filter { entity.layout.family.contains($0.entity) }
    guard let start = rows.firstIndex(where: isFirst) else { return rows }
    return Array(rows[start...] + rows[..<start])
  }

  private static func rotated(_ keys: [Int64], after key: Int64) -> [Int64] {
    guard let place = keys.firstIndex(of: key) else { return keys }
    return Array(keys[(place + 1)...] + keys[..<place])
  }
}
