import CoreDataModel
import CoreDataStorage
import Foundation

// Delete rules: nullify clears the other side, cascade deletes it, deny is checked at the save, no action
// does nothing. They are applied level by level:
//
//     deleted                  folders f1 f2 f3 …
//     read                     the documents of all of them, one statement for 500 folders (`readForDeleteRules`)
//     f1, f2, f3 … in turn     their documents are told, marked and separated from the folder
//     deleted                  documents d1 d2 d3 …: the next level
//
// Cycles end because each object is propagated once.

extension NSManagedObjectContext {
  final func propagateDeletes() {
    while work.hasPendingPropagation {
      let level: [NSManagedObject] = work.removePendingPropagation()
      readForDeleteRules(of: level.filter(\.isToBePropagated))
      defer { membersOfDeleted = nil }
      for object in level where object.isToBePropagated { propagate(object) }
    }
  }

  final func propagate(_ object: NSManagedObject) {
    // An undo after the save finds no members in the store any more.
    // What can't be read is reported where it is needed.
    if isUndoRegistered { _ = collectingReadFailures { object.loadToManys() } }
    work.recordPropagation(of: object)
    propagate(object, slots: object.runtime.relationshipSlots)
  }

  private final var isUndoRegistered: Bool { undoManager?.isUndoRegistrationEnabled == true }

  /// Applies delete rules, and notes for the next save those that could not be applied. Returns why.
  @discardableResult
  final func propagate(_ object: NSManagedObject, slots: [Int]) -> [ReadFailure] {
    var failures: [ReadFailure] =
      object.needsSlowAccess ? collectingReadFailures { object.fireFault() }.failures : []
    var failed: [Int] = failures.isEmpty ? [] : slots
    if failed.isEmpty {
      for slot in slots {
        object.state?.toMany(slot)?.noteDeletion()
        let found: [ReadFailure] = collectingReadFailures { propagate(object, slot) }.failures
        if !found.isEmpty { failed.append(slot) }
        failures += found
      }
    }
    if !failures.isEmpty { unreadDeletions.append(UnreadDeletion(object: object, slots: failed)) }
    return failures
  }

  private func propagate(_ object: NSManagedObject, _ slot: Int) {
    switch object.deleteRule(slot) {
    case .nullifyDeleteRule:
      for target in nullified(object, slot) { separate(object, slot, target) }
    case .cascadeDeleteRule:
      let targets: [NSManagedObject] = targets(of: object, slot).filter { !$0.hasLeft(object, slot) }
      for target in targets where !target.flags.contains(.deleted) {
        // Loaded like an object that the program deletes, and for the same reason.
        target.fireFault()
        guard target.flags.isDisjoint(with: [.inaccessible, .fault]) else { continue }
        target.prepareForDeletion()
        markDeleted(target, isCascaded: true)
      }
      if !separate(object, slot, fromAll: targets) {
        for target in targets { separate(object, slot, target) }
      }
    default: return
    }
  }

  private func targets(of object: NSManagedObject, _ slot: Int) -> [NSManagedObject] {
    object.runtime.compactSlots[slot].role == .toMany
      ? object.members(slot).objects : object.toOneTarget(slot).map { [$0] } ?? []
  }

  /// The objects whose side changes when an object is deleted: members that keep its key. If the store keeps
  /// pairs, or a key that is no property of the members, it deletes these with the object's row.
  private func nullified(_ object: NSManagedObject, _ slot: Int) -> [NSManagedObject] {
    object.keepsNoKeyInMembers(slot) ? object.knownMembers(slot) : targets(of: object, slot)
  }

  /// Clears both sides of a relationship of a deleted object. The deleted object's own to-one values stay
  /// readable.
  private func separate(_ object: NSManagedObject, _ slot: Int, _ target: NSManagedObject) {
    let described: PropertySlot = object.runtime.layout.slots[slot]
    // One that can't be read keeps what it has: the save throws the reason.
    if described.inverseSlot != nil {
      target.fireFault()
      if target.flags.contains(.fault) { return }
    }
    if described.isToMany { object.removeMember(slot, target) }
    if let inverse = described.inverseSlot { target.unlinkReferrer(inverse, object) }
  }

  /// The same for all members of an unordered one-to-many relationship at once. Returns false, and has
  /// changed nothing, unless they are its members and nobody has changed or observes them.
  private func separate(_ object: NSManagedObject, _ slot: Int, fromAll targets: [NSManagedObject]) -> Bool {
    guard targets.count > 1, object.runtime.compactSlots[slot].role == .toMany,
      let inverse: Int = object.runtime.layout.slots[slot].inverseSlot,
      object.flags.isDisjoint(with: ObjectFlags.slowAccess.union([.observed, .untracked])),
      targets.allSatisfy({ $0.refersPlainly(to: object, inverse) }),
      let many: ToManyState = object.state?.toMany(slot)
    else { return false }
    let mark: ToManyVersion = many.mark
    guard many.removeAll(targets) else { return false }
    if object.isRecorded {
      let place = MemberPlace(before: nil, isStored: true)
      for target in targets { object.state?.event.append(.removed(slot, target, place, mark)) }
    }
    object.markChanged(slot)
    for target in targets { target.clearPlainReference(to: object, inverse) }
    return true
  }
}

extension NSManagedObject {
  fileprivate final var isToBePropagated: Bool {
    flags.contains(.deleted) && !flags.contains(.propagated)
  }

  /// nil for a property that is no relationship.
  fileprivate final func deleteRule(_ slot: Int) -> NSDeleteRule? {
    runtime.layout.slots[slot].relationship?.deleteRule
  }

  /// Whether the members of a relationship have no to-one that leads back.
  fileprivate final func keepsNoKeyInMembers(_ slot: Int) -> Bool {
    runtime.compactSlots[slot].role == .toMany
      && runtime.layout.slots[slot].relationship?.inverseRelationship?.isToMany != false
  }

  // MARK: A to-one as it was read

  /// Whether a to-one leads to another object by the object's row, was not changed, and nobody observes it.
  fileprivate final func refersPlainly(to owner: NSManagedObject, _ slot: Int) -> Bool {
    guard flags.isDisjoint(with: ObjectFlags.slowAccess.union([.observed, .untracked, .eventInserted])),
      compactSlot(slot).role == .toOne, let row, row.hasValue(Int(compactSlot(slot).word)),
      row.target(Int(compactSlot(slot).word)).key == owner.key, owner.home.store === home.store,
      owner.home.identityMap === home.identityMap
    else { return false }
    guard let state else { return true }
    return !state.changed.contains(slot)
      && (state.values[slot].isUnset || state.values[slot].target === owner)
  }

  /// Sets such a to-one to nil: what `writeToOne` does.
  fileprivate final func clearPlainReference(to owner: NSManagedObject, _ slot: Int) {
    let state: ObjectState = ensureState()
    // An undo restores the object, also after the row is gone.
    state.values[slot] = .object(owner)
    if isRecorded { state.recordOldValue(slot) }
    state.values[slot] = .null
    markChanged(slot)
  }
}

// MARK: Reading for many objects

/// The ids of members that were read for many deleted objects by one statement, for a relationship each.
struct MembersOfDeleted {
  private struct Place: Hashable {
    let store: ObjectIdentifier
    let entity: Int
    let slot: Int
  }

  private struct Lists {
    var members: [Int64: [RowID]]
    /// The store's number of changes before they were read.
    var changes: Int
  }

  private var lists: [Place: Lists] = [:]

  mutating func keep(
    _ members: [[RowID]], of owners: [NSManagedObject], slot: Int, in store: NSPersistentStore, changes: Int
  ) {
    guard let first = owners.first else { return }
    let place = Place(
      store: ObjectIdentifier(store), entity: first.runtime.layout.slots[slot].declaringEntity, slot: slot)
    var known: Lists = lists[place] ?? Lists(members: [:], changes: changes)
    if known.changes != changes { known = Lists(members: [:], changes: changes) }
    for (owner, ids) in zip(owners, members) { known.members[owner.key] = ids }
    lists[place] = known
  }

  /// The members of an owner; nil if they were not read, or may be others by now.
  func members(of owner: NSManagedObject, slot: Int, in store: NSPersistentStore) -> [RowID]? {
    let place = Place(
      store: ObjectIdentifier(store), entity: owner.runtime.layout.slots[slot].declaringEntity, slot: slot)
    guard let known = lists[place], known.changes == store.changes else { return nil }
    return known.members[owner.key]
  }
}

extension NSManagedObjectContext {
  /// Reads what the delete rules of many objects need: of each relationship all at once. What is not read
  /// here, or can't be, is read where it is needed, object by object, and its failure reported there.
  fileprivate final func readForDeleteRules(of objects: [NSManagedObject]) {
    if objects.count < 2 { return }
    for (entity, group) in Self.byEntity(objects) {
      for slot in entity.relationshipSlots { try? readForDeleteRule(of: slot, group, entity) }
    }
  }

  /// Stores that programs implement are asked object by object.
  private static func byEntity(_ objects: [NSManagedObject]) -> [(EntityRuntime, [NSManagedObject])] {
    var groups: [(EntityRuntime, [NSManagedObject])] = []
    var places: [ObjectIdentifier: Int] = [:]
    var last: (entity: EntityRuntime, place: Int)?
    for object in objects where object.store?.readsOneByOne == false && !object.flags.contains(.fault) {
      let entity: EntityRuntime = object.runtime
      if last?.entity !== entity {
        let place: Int = places[ObjectIdentifier(entity)] ?? groups.count
        if place == groups.count { groups.append((entity, [])) }
        places[ObjectIdentifier(entity)] = place
        last = (entity, place)
      }
      if let last { groups[last.place].1.append(object) }
    }
    return groups
  }

  private final func readForDeleteRule(of slot: Int, _ objects: [NSManagedObject], _ entity: EntityRuntime)
    throws
  {
    let hasInverse: Bool = entity.compactSlots[slot].hasInverse
    let rule: NSDeleteRule? = objects[0].deleteRule(slot)
    let isToOne: Bool = entity.compactSlots[slot].role == .toOne
    switch rule {
    case .cascadeDeleteRule where isToOne, .nullifyDeleteRule where isToOne && hasInverse:
      try loadFaults(objects.compactMap { $0.toOneTarget(slot) })
    case .cascadeDeleteRule: try loadMembers(slot, of: objects, entity, withRows: true)
    case .nullifyDeleteRule where !objects[0].keepsNoKeyInMembers(slot):
      try loadMembers(slot, of: objects, entity, withRows: true)
    case .nullifyDeleteRule where !isUndoRegistered && parent == nil:
      try readMemberIDs(slot, of: objects.filter { $0.mayKnowMembers(slot) })
    default:
      if isUndoRegistered, entity.compactSlots[slot].role == .toMany {
        try loadMembers(slot, of: objects, entity, withRows: false)
      }
    }
  }

  /// Reads the ids that Deny rules of objects need, before the rules are checked one by one.
  final func readForDenyRules(of objects: [NSManagedObject]) {
    if parent != nil || objects.count < 2 { return }
    for (entity, group) in Self.byEntity(objects) {
      for slot in entity.denySlots where entity.compactSlots[slot].role == .toMany {
        try? readMemberIDs(slot, of: group)
      }
    }
  }

  /// The ids of the members of relationships that are not loaded.
  private final func readMemberIDs(_ slot: Int, of objects: [NSManagedObject]) throws {
    let waiting: [NSManagedObject] = objects.filter {
      $0.rowBase != nil && $0.state?.toMany(slot)?.members == nil
    }
    for (store, owners) in Self.byStore(waiting) where owners.count > 1 {
      let changes: Int = store.changes
      let entity: EntityRuntime = owners[0].runtime
      let members: [[RowID]] = try tally.counting {
        try store.pinnedOperations(for: StoreCaller(self)).members(
          of: entity.layout, slot: slot, owners: owners.map { RowID(entity: $0.runtime.index, key: $0.key) })
      }
      var known: MembersOfDeleted = membersOfDeleted ?? MembersOfDeleted()
      known.keep(members, of: owners, slot: slot, in: store, changes: changes)
      membersOfDeleted = known
    }
  }
}
