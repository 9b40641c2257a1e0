import CoreDataStorage
import Foundation

/// The data to revert one object to its state before an event.
struct ObjectMemento {
  enum Life {
    case stays
    /// The object was inserted in this event: undoing that removes it.
    case leaves
    /// The object was deleted in this event: undoing that restores it.
    case returns
  }

  let object: NSManagedObject
  let life: Life
  /// In the order in which they were made.
  let changes: [EventChange]
  /// The row with the values of unset entries in `changes`.
  let row: RowRef?
  /// The store of the row, which may have been migrated since.
  let store: NSPersistentStore?
  /// For an object that was deleted: retained as long as an undo can restore it.
  var retention: UndoRetention?

  init(
    object: NSManagedObject, life: Life, changes: [EventChange], row: RowRef?, retention: UndoRetention? = nil
  ) {
    self.object = object
    self.life = life
    self.changes = changes
    self.row = row
    store = object.store
    self.retention = retention
  }
}

/// Lets a deleted object keep its relationships while an undo may restore it. When no action retains this any
/// more, the object, if it has left its context for good, releases them: deleted objects that refer to each
/// other would otherwise never be deallocated.
///
/// There is one for an object at a time, shared by all actions: discarding the first of them must not release
/// the relationships while another one needs them.
final class UndoRetention {
  private let object: NSManagedObject
  private weak var context: NSManagedObjectContext?
  /// The last step that restores the object.
  weak var deletion: UndoStep?

  /// Called by `UndoState` only, which keeps the existing one.
  init(_ object: NSManagedObject, _ context: NSManagedObjectContext) {
    self.object = object
    self.context = context
    UnitOfWork.setUndoable(object, true)
  }

  deinit {
    context?.undoState.removeRetention(of: object)
    UnitOfWork.setUndoable(object, false)
    object.releaseRelationships()
  }
}

extension NSManagedObject {
  /// Reverts changes, the last one first. Returns the opposite changes.
  final func revert(_ memento: ObjectMemento) -> [EventChange] {
    let state: ObjectState = ensureState()
    return memento.changes.reversed().compactMap { change in
      switch change {
      case .value(let slot, let old):
        let now: SlotValue = state.values[slot]
        restore(slot, old, of: memento, state)
        return .value(slot, now)
      case .added(let slot, let member, let place, let mark):
        return revertAddition(member, slot, from: place, mark)
      case .removed(let slot, let member, let place, let mark):
        return revertRemoval(member, slot, at: place, mark)
      case .moved(let slot, let member, let next, let mark):
        _ = members(slot)
        let many: ToManyState = toManyState(slot)
        let now: ToManyVersion = many.mark
        guard many.knows(member) == true else { return nil }
        let old: NSManagedObject? = many.move(member, before: next)
        many.restoreOrderFlag(mark)
        state.noteChange(slot)
        return .moved(slot, member, old, now)
      }
    }
  }

  /// Removes a member that was added. nil if it is no member any more.
  private final func revertAddition(
    _ member: NSManagedObject, _ slot: Int, from known: MemberPlace, _ mark: ToManyVersion
  ) -> EventChange? {
    let many: ToManyState = toManyState(slot)
    guard isMemberHere(slot, member) else { return nil }
    let now: ToManyVersion = many.mark
    let isLoaded: Bool = many.members != nil
    var place: MemberPlace = many.remove(member)
    // Its recorded position, because unloaded members do not contain it.
    if !isLoaded, place.isStored { place.before = known.before }
    many.restoreOrderFlag(mark)
    state?.noteChange(slot)
    return .removed(slot, member, place, now)
  }

  /// Inserts a member that was removed. nil if it is a member again.
  private final func revertRemoval(
    _ member: NSManagedObject, _ slot: Int, at place: MemberPlace, _ mark: ToManyVersion
  ) -> EventChange? {
    let many: ToManyState = toManyState(slot)
    var place: MemberPlace = place
    // Its position was among members that a save has changed since.
    if !many.isOfNow(mark) { place.isStored = false }
    if many.needsMembers(toInsert: member, at: place) { _ = members(slot) }
    guard !isMemberHere(slot, member) else { return nil }
    let now: ToManyVersion = many.mark
    many.insert(member, at: place)
    many.restoreOrderFlag(mark)
    state?.noteChange(slot)
    return .added(slot, member, place, now)
  }

  private final func restore(_ slot: Int, _ old: SlotValue, of memento: ObjectMemento, _ state: ObjectState) {
    guard old.isUnset, let oldRow = memento.row else {
      state.values[slot] = old
      state.noteChange(slot)
      return
    }
    if oldRow.base == row?.base {
      state.values[slot] = .unset
      state.removeChange(slot)
      return
    }
    // Saved since: the present row holds another value.
    state.values[slot] = value(slot, in: oldRow, of: memento.store)
    state.noteChange(slot)
  }

  /// The value of a slot in a row; a to-one's as its object.
  final func value(_ slot: Int, in row: RowRef, of store: NSPersistentStore?) -> SlotValue {
    guard case .stored(let kind, let word) = runtime.layout.slots[slot].role else { return .null }
    guard kind == .toOne else {
      return (try? row.slotValue(word: word, kind: kind, attribute: runtime.layout.slots[slot].attribute))
        ?? .null
    }
    guard row.hasValue(word), let store, let context = identityMap?.context else {
      return .null
    }
    let target: RowID = row.target(word)
    if store.isInCoordinator { return .object(context.object(target, store: store)) }
    let id = NSManagedObjectID(
      runtime: store.runtime.entities[Int(target.entity)], key: target.key, store: store)
    return .object(context.lookUp(id))
  }

  /// Removes all members from this side's relationships. Returns the changes to undo this.
  final func clearMembers() -> [EventChange] {
    var changes: [EventChange] = []
    for slot in runtime.relationshipSlots where runtime.layout.slots[slot].isToMany {
      let all: [NSManagedObject] = members(slot).objects
      let many: ToManyState = toManyState(slot)
      for member in all {
        let mark: ToManyVersion = many.mark
        changes.append(.removed(slot, member, many.remove(member), mark))
      }
      if !all.isEmpty { state?.noteChange(slot) }
    }
    return changes
  }

  /// Turns an object whose row was deleted into a new one with the same values.
  final func discardRow(_ old: RowRef, of store: NSPersistentStore?) {
    let state: ObjectState = ensureState()
    for slot in 0..<runtime.slotCount {
      if state.values[slot].isUnset, case .stored = runtime.layout.slots[slot].role {
        state.values[slot] = value(slot, in: old, of: store)
      }
      // The store has no members for it any more: all its members are new.
      if let many = state.toMany(slot) {
        state.values[slot] = .object(
          ToManyState(all: many.members ?? many.added, isOrdered: many.isOrdered))
      }
      if !state.values[slot].isUnset, runtime.layout.slots[slot].role != .fetched {
        state.noteChange(slot)
      }
    }
    state.formerVersion = old.version
    row = nil
  }
}
