import CoreDataStorage
import Foundation

/// How a policy resolves one conflict. Every change is made in memory; the save then writes the remaining
/// changes.
struct ConflictResolution {
  private let type: NSMergePolicyType

  init(_ type: NSMergePolicyType) { self.type = type }

  private var objectPrevails: Bool {
    type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
  }
  private var mergesByProperty: Bool {
    type == .mergeByPropertyObjectTrumpMergePolicyType || type == .mergeByPropertyStoreTrumpMergePolicyType
  }

  // MARK: Rows changed meanwhile

  func resolve(_ conflict: NSMergeConflict) throws {
    let object: NSManagedObject = conflict.sourceObject
    guard let context = object.managedObjectContext, let store = object.store else { return }
    // A conflict that the program created does not contain the row: read it.
    let stored: RowRef? =
      try conflict.stored ?? store.rows(of: object.runtime.layout, keys: [object.key], for: context).first
    switch (object.isDeleted, stored) {
    case (true, nil): context.discardRemotelyDeleted(object)
    case (true, let row?):
      if objectPrevails {
        object.row = row
      } else {
        context.reverseDeletion(of: object)
        merge(object, row, in: context)
      }
    case (false, nil):
      if objectPrevails, object.addsToRow {
        context.insertAgain(object)
      } else {
        context.discardRemotelyDeleted(object)
      }
    case (false, let row?): merge(object, row, in: context)
    }
  }

  private func merge(_ object: NSManagedObject, _ row: RowRef, in context: NSManagedObjectContext) {
    let seen: ObservedValues? = object.observedValues()
    defer { object.notifyObservers(since: seen) }
    if object.isInserted { context.noteRow(of: object) }
    switch type {
    case .rollbackMergePolicyType: object.discardValues()
    case .mergeByPropertyStoreTrumpMergePolicyType where object.row == nil: object.discardValues()
    case .overwriteMergePolicyType: object.keepAllValues()
    default: object.mergeProperties(with: row, objectPrevails: objectPrevails)
    }
    object.row = row
    object.reloadMembers()
    if !objectPrevails { reverseDeletions(ofTargets: object, in: context) }
    context.clearUpdateIfUnchanged(object)
    object.awakeQuietly { object.awake(fromSnapshotEvents: .mergePolicy) }
    context.noteEvent(.eventRefreshed, of: object)
  }

  /// An object that the store's values refer to can't be deleted.
  private func reverseDeletions(ofTargets object: NSManagedObject, in context: NSManagedObjectContext) {
    for slot in object.runtime.relationshipSlots where object.runtime.layout.slots[slot].isToOne {
      guard object.runtime.layout.slots[slot].inverseSlot != nil, let target = object.toOneTarget(slot),
        target.isToBeDeleted
      else { continue }
      context.reverseDeletion(of: target)
    }
  }

  // MARK: Uniqueness

  func resolve(_ conflict: NSConstraintConflict) throws {
    let objects: [NSManagedObject] = conflict.conflictingObjects.filter { !$0.isDeleted }
    guard let context = objects.first?.managedObjectContext else { return }
    let stored: NSManagedObject? = conflict.databaseObject.flatMap { $0.isDeleted ? nil : $0 }
    let all: [NSManagedObject] = (stored.map { [$0] } ?? []) + objects
    guard all.count > 1, let winner = objectPrevails ? all.last : all.first else { return }
    for loser in all where loser !== winner {
      if !objectPrevails, !loser.isInserted {
        // A stored object keeps its row; only the conflicting value is reverted.
        loser.revertValues(conflict.constraint)
        context.clearUpdateIfUnchanged(loser)
        continue
      }
      if mergesByProperty { winner.inherit(from: loser, attributes: objectPrevails) }
      context.deleteObject(loser)
    }
  }
}

extension NSManagedObjectContext {
  /// An object stays updated only while a stored value differs from its row.
  final func clearUpdateIfUnchanged(_ object: NSManagedObject) {
    if !object.flags.contains(.inserted), object.persistentChanges().isEmpty {
      work.discardUpdate(of: object)
    }
  }

  /// A deletion was overruled: the object is restored, together with everything that its deletion did.
  final func reverseDeletion(of object: NSManagedObject) {
    guard object.isToBeDeleted else { return }
    var reversal = DeletionReversal(self)
    reversal.perform(object)
  }

  /// The row was deleted and the object stays: it is saved as a new row under the same key, with the values
  /// set and members added here. The members that were stored were deleted with the row.
  final func insertAgain(_ object: NSManagedObject) {
    guard let row = object.row else { return }
    for slot in object.runtime.relationshipSlots {
      object.state?.toMany(slot)?.unload()
    }
    for other in objects(leadingTo: [object], { $0.leads($1) { $0 === object } }) {
      for slot in other.runtime.relationshipSlots { other.state?.toMany(slot)?.removeStored(object) }
    }
    work.discardUpdate(of: object)
    object.discardRow(row, of: object.store)
    noteInsertion(of: object)
  }

  /// Another context has already inserted the object again: here it becomes a change of that row.
  final func noteRow(of object: NSManagedObject) {
    work.discardInsertion(of: object)
    object.state?.formerVersion = nil
    noteChange(of: object)
  }
}

extension NSManagedObject {
  /// Makes every stored value count as set here.
  final func keepAllValues() {
    let state: ObjectState = ensureState()
    for (number, slot) in runtime.layout.slots.enumerated() {
      guard case .stored(let kind, _) = slot.role else { continue }
      if state.values[number].isUnset {
        state.values[number] =
          kind == .toOne ? toOneTarget(number).map { .object($0) } ?? .null : slotValue(number)
      }
      state.noteChange(number)
    }
  }

  /// Whether the change is more than the removal of members from a relationship, which has no meaning after
  /// the row was deleted.
  fileprivate final var addsToRow: Bool {
    guard isUpdated else { return false }
    return persistentChanges().members.contains { slot in
      switch runtime.layout.slots[slot].role {
      case .toMany: state?.toMany(slot)?.pairs.added.isEmpty == false
      case .stored(.toOne, _): toOneTarget(slot) != nil
      default: true
      }
    }
  }

  /// Reverts stored values. Members that were added or removed here stay so, because that also changes these
  /// members.
  fileprivate final func discardValues() {
    guard let state else { return }
    for (number, slot) in runtime.layout.slots.enumerated() where slot.role != .transient {
      if let many = state.toMany(number), slot.inverseSlot != nil {
        many.discardOrder()
        continue
      }
      state.values[number] = .unset
      state.removeChange(number)
    }
  }

  /// Discards values that the store has changed; of those that both sides changed, only if the store
  /// prevails.
  final func mergeProperties(with new: RowRef, objectPrevails: Bool) {
    guard let state, let old = row else { return }
    let mine: SlotSet = persistentChanges()
    for (number, slot) in runtime.layout.slots.enumerated() {
      guard case .stored(let kind, let word) = slot.role else { continue }
      let isTheirs: Bool = !RowRef.sameValue(old, new, word: word, kind: kind)
      if mine.contains(number), objectPrevails || !isTheirs { continue }
      state.values[number] = .unset
      state.removeChange(number)
    }
  }

  /// Members are read again at the next access; those added and removed here stay so.
  final func reloadMembers() {
    guard let state else { return }
    for slot in runtime.relationshipSlots {
      guard let many = state.toMany(slot) else { continue }
      if many.isChanged { unloadMembers(slot) } else { state.values[slot] = .unset }
    }
  }

  /// Reverts properties to the values of the row.
  final func revertValues(_ names: [String]) {
    fireFault()
    guard row != nil, let state else { return }
    for name in names {
      guard let slot = runtime.layout.slotByName[name], state.changed.contains(slot) else { continue }
      let described: PropertySlot = runtime.layout.slots[slot]
      guard case .stored(let kind, let word) = described.role else { continue }
      if kind == .toOne, let row, let store, let context = identityMap?.context {
        setToOne(slot, row.hasValue(word) ? context.object(row.target(word), store: store) : nil)
      } else {
        setSlot(slot, committedSlotValue(slot))
      }
    }
  }

  /// Copies what another object has and this one lacks: relationships, and attributes that were never set
  /// here.
  final func inherit(from other: NSManagedObject, attributes: Bool) {
    for (number, slot) in runtime.layout.slots.enumerated() {
      guard let theirs = other.runtime.layout.slotByName[slot.name] else { continue }
      switch slot.role {
      case .toMany:
        for member in other.members(theirs).objects where member !== self { link(number, member) }
      case .stored(.toOne, _):
        if toOneTarget(number) == nil, let target = other.toOneTarget(theirs), target !== self {
          setToOne(number, target)
        }
      case .stored:
        guard attributes, isInserted, state?.changed.contains(number) != true else { continue }
        setSlot(number, other.slotValue(theirs))
      case .transient, .fetched, .composite: continue
      }
    }
  }
}

extension RowRef {
  /// Whether two rows of one entity hold the same value.
  static func sameValue(_ left: RowRef, _ right: RowRef, word: Int, kind: ColumnKind) -> Bool {
    guard left.hasValue(word), right.hasValue(word) else {
      return left.hasValue(word) == right.hasValue(word)
    }
    if kind == .toOne { return left.target(word).key == right.target(word).key }
    if kind.isInTail { return left.bytes(word).elementsEqual(right.bytes(word)) }
    return left.word(word) == right.word(word)
  }
}
