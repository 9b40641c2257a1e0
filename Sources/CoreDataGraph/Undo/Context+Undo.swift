import CoreDataStorage
import Foundation

// Undo: the state of every object before an event is one action of the undo manager, a list of mementos.
// Performing it reverts the objects and registers the opposite action, over the same objects.
//
//     recordEvent     at the end of an event: an `ObjectMemento` for each changed object, together an `UndoStep`
//     perform         an undo or a redo: first deleted objects return to the context, then each object reverts
//                     (`NSManagedObject.revert`, which changes one side of a relationship at a time)
//     updatePartner   the other side of a relationship, if that object has no memento of its own

extension NSManagedObjectContext {
  final func performUndo() {
    requireQueue("undo() was called")
    endEvent()
    undoManager?.undo()
  }

  final func performRedo() {
    requireQueue("redo() was called")
    endEvent()
    undoManager?.redo()
  }

  final func undoManagerChanged(from old: UndoManager?) {
    guard old !== undoManager else { return }
    undoState.stopObserving()
    old?.removeAllActions(withTarget: self)
    guard let undoManager else { return }
    // Posted on the queue that uses the undo manager, which is the context's.
    weak let context: NSManagedObjectContext? = self
    undoState.observeCheckpoints(of: undoManager) { _ in context?.endEvent() }
  }

  // MARK: Recording

  /// Ends the event of the objects: keeps their former state, for observers and for the undo manager.
  final func recordEvent(of objects: [NSManagedObject]) {
    // What an undo changes it registers itself; what an observer changes meanwhile is not part of that.
    let isOwn: Bool = undoState.isPerforming && !work.isEndingEventInObserver
    let recorder: UndoManager? =
      isOwn || undoManager?.isUndoRegistrationEnabled != true ? nil : undoManager
    let earlier: [ObjectIdentifier: ChangesOfEarlierStep] = undoState.removeChangesOfEarlierSteps()
    var mementos: [ObjectMemento] = []
    for object in objects {
      var changes: [EventChange] = object.state?.finishEvent() ?? []
      if !changes.isEmpty { recordDelivery(of: object, changes) }
      guard recorder != nil else { continue }
      let flags: ObjectFlags = object.flags
      if !earlier.isEmpty, let known = earlier[ObjectIdentifier(object)] {
        if known.hasDeletion { continue }
        changes = changes.indices.filter { !known.places.contains($0) }.map { changes[$0] }
      }
      var memento = ObjectMemento(object: object, life: .stays, changes: changes, row: object.row)
      if flags.contains(.eventInserted) {
        // Merged from elsewhere, or inserted and deleted in one event: nothing to undo.
        guard flags.contains(.inserted), !flags.contains(.deleted) else { continue }
        memento = ObjectMemento(object: object, life: .leaves, changes: [], row: nil)
      } else if flags.contains(.eventDeleted) {
        guard flags.contains(.deleted), flags.isDisjoint(with: [.inaccessible, .remotelyDeleted]) else {
          continue
        }
        memento = ObjectMemento(
          object: object, life: .returns, changes: changes, row: object.row,
          retention: undoState.retention(of: object, in: self))
      } else if changes.isEmpty {
        continue
      }
      mementos.append(memento)
    }
    guard let recorder, !mementos.isEmpty else { return }
    let step = UndoStep(mementos)
    recorder.registerUndo(withTarget: self) { $0.perform(step.mementos) }
  }

  private func recordDelivery(of object: NSManagedObject, _ changes: [EventChange]) {
    guard work.isEndingEventInObserver else { return work.recordDelivery(of: object, changes) }
    // When it is notified, the object has the row that the observer's save writes.
    let own: [EventChange] = changes.map { change in
      guard case .value(let slot, let old) = change, old.isUnset, let row = object.row else { return change }
      return .value(slot, object.value(slot, in: row, of: object.store))
    }
    work.recordDelivery(of: object, own)
  }

  // MARK: Performing

  private func perform(_ mementos: [ObjectMemento]) {
    undoState.begin()
    defer { undoState.end() }
    var forward: [ObjectMemento] = []
    // Objects that return come first, so that relationships find them in the context.
    for memento in mementos where memento.life == .returns { restoreDeleted(memento.object) }
    withObservedValues(of: mementos.map(\.object)) { forward = revertEach(mementos) }
    let opposite = UndoStep(forward.reversed())
    undoManager?.registerUndo(withTarget: self) { $0.perform(opposite.mementos) }
    endEvent()
  }

  /// Returns the mementos of the opposite action.
  private func revertEach(_ mementos: [ObjectMemento]) -> [ObjectMemento] {
    var forward: [ObjectMemento] = []
    forward.reserveCapacity(mementos.count)
    var partners: [Partner] = []
    for memento in mementos {
      let object: NSManagedObject = memento.object
      guard object.identityMap === identityMap, !object.flags.contains(.remotelyDeleted) else { continue }
      object.fireFault()
      let row: RowRef? = object.row
      if memento.life == .leaves { partners += self.partners(of: object) }
      var changes: [EventChange] = object.revert(memento)
      if undoState.hadRemoteDeletions { object.dropRemotelyDeleted() }
      if memento.life == .leaves, row != nil { changes += object.clearMembers() }
      let life: ObjectMemento.Life =
        switch memento.life {
        case .stays: .stays
        case .leaves: .returns
        case .returns: .leaves
        }
      let retention: UndoRetention? =
        memento.retention ?? (life == .returns ? undoState.retention(of: object, in: self) : nil)
      forward.append(
        ObjectMemento(object: object, life: life, changes: changes, row: row, retention: retention))
      announce(memento)
    }
    work.unloadFilteredToManys()
    for memento in mementos where memento.life == .returns && memento.object.row == nil {
      partners += self.partners(of: memento.object)
    }
    for partner in partners { updatePartner(partner) }
    discardFormerOwners(of: mementos)
    return forward
  }

  /// Another context may have given an object to another owner while it was to be deleted here: the one that
  /// it had before does not get it back.
  private func discardFormerOwners(of mementos: [ObjectMemento]) {
    let returned: Set<ObjectIdentifier> = Set(
      mementos.lazy.filter { $0.life == .returns }.map { ObjectIdentifier($0.object) })
    if returned.isEmpty { return }
    for memento in mementos {
      for case .removed(let slot, let member, _, _) in memento.changes
      where returned.contains(ObjectIdentifier(member)) && member.identityMap === identityMap {
        guard let inverse = memento.object.runtime.layout.slots[slot].inverseSlot,
          member.runtime.layout.slots[inverse].isToOne, member.toOneTarget(inverse) !== memento.object
        else { continue }
        memento.object.state?.toMany(slot)?.discardAddition(of: member)
      }
    }
  }

  /// A member of an object that returns or leaves, which was no member when that was recorded, and so has no
  /// memento.
  private struct Partner {
    let object: NSManagedObject
    /// The object that returns or leaves, and the relationship that contains it.
    let member: NSManagedObject
    let slot: Int
  }

  private func partners(of object: NSManagedObject) -> [Partner] {
    guard object.identityMap === identityMap else { return [] }
    return object.runtime.relationshipSlots.flatMap { slot -> [Partner] in
      guard object.runtime.layout.slots[slot].isToMany,
        let inverse = object.runtime.layout.slots[slot].inverseSlot,
        object.runtime.layout.slots[slot].relationship?.inverseRelationship?.isToMany == true
      else { return [] }
      return object.knownMembers(slot).map { Partner(object: $0, member: object, slot: inverse) }
    }
  }

  private func updatePartner(_ partner: Partner) {
    let (object, member): (NSManagedObject, NSManagedObject) = (partner.object, partner.member)
    // Objects that are deleted together keep each other as members.
    guard !object.flags.contains(.deleted) else { return }
    let isMember: Bool = !member.flags.contains(.deleted)
    if member.row != nil {
      // The members are those of the store, without deleted ones.
      if let many = object.state?.toMany(partner.slot), many.members != nil, many.knows(member) != isMember {
        many.unload()
      }
      return
    }
    let many: ToManyState = object.toManyState(partner.slot)
    guard (many.knows(member) ?? false) != isMember else { return }
    if isMember { many.insert(member) } else { _ = many.remove(member) }
    object.state?.noteChange(partner.slot)
    noteChange(of: object)
    clearUpdateIfUnchanged(object)
  }

  private func announce(_ memento: ObjectMemento) {
    let object: NSManagedObject = memento.object
    switch memento.life {
    case .leaves:
      removeInserted(object)
      object.awakeQuietly { object.awake(fromSnapshotEvents: .undoInsertion) }
    case .returns:
      clearUpdateIfUnchanged(object)
      object.awakeQuietly { object.awake(fromSnapshotEvents: .undoDeletion) }
    case .stays:
      noteChange(of: object)
      clearUpdateIfUnchanged(object)
      object.awakeQuietly { object.awake(fromSnapshotEvents: .undoUpdate) }
    }
  }

  /// A new object leaves the context at the end of the event, keeping its values and its key; a saved one
  /// will be deleted.
  private func removeInserted(_ object: NSManagedObject) {
    // Objects that referred to it have mementos of their own: delete rules are not applied.
    beginEvent(if: work.recordDeletion(of: object, isPropagated: true))
  }

  private func restoreDeleted(_ object: NSManagedObject) {
    // The row was deleted, as if by a save of this context.
    if object.flags.contains(.remotelyDeleted) { removeDeleted(object) }
    work.undoDeletion(of: object)
    object.removeFlags(.inaccessible)
    if object.identityMap === identityMap {
      noteEvent(.eventInserted, of: object)
      return
    }
    guard object.identityMap == nil else { return }
    object.identityMap = identityMap
    object.insertFlags(identityMap.marks)
    if let row = object.row {
      // Its row was deleted by a save: it returns as a new object with the same values, in the same store.
      let store: NSPersistentStore? = object.store
      object.store = nil
      object.key = IdentityMap.makeTemporaryKey()
      object.cachedID = nil
      if let store { work.assign(object, to: store) }
      identityMap.insert(object, store: 0, root: object.runtime.layout.rootIndex, key: object.key)
      object.discardRow(row, of: store)
    } else {
      identityMap.insert(
        object, store: object.store?.ordinal ?? 0, root: object.runtime.layout.rootIndex, key: object.key)
    }
    noteInsertion(of: object)
  }
}
