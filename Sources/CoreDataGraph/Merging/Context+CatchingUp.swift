import CoreDataModel
import CoreDataStorage
import Foundation

// After a merge policy has resolved conflicts of changed rows: objects related to those rows are updated from
// the store, so that to-manys and to-ones agree at once; and deletions that prevail are propagated along the
// relationships that the store has now (Decisions/0033).

extension NSManagedObjectContext {
  /// `related`: the objects that were related to these before the policy replaced their rows or removed them
  /// from relationships.
  final func finishMerging(_ objects: [NSManagedObject], related: [NSManagedObject]) throws {
    // What was given to other owners may have been given back.
    work.unloadFilteredToManys()
    let here: [NSManagedObject] = objects.filter { $0.identityMap === identityMap }
    let merged: [NSManagedObject] = here.filter { !$0.isDeleted }
    // They have just got their rows, so the objects that these refer to may be new here.
    let targets: [NSManagedObject] = merged.flatMap { object in
      object.toOneSlots.flatMap { slot in
        [object.toOneTarget(slot), object.storedPartner(slot)].compactMap { $0 }
      }
    }
    try readNewestRows(related + targets + relatives(of: merged), besides: merged)
    reconcileMembers(of: merged)
    try repeatPropagation(here.filter(\.isToBeDeleted) + deletedTargets(of: merged))
  }

  /// Reads an unchanged object again. If that fails it stays unchanged.
  final func readNewestRow(_ object: NSManagedObject) {
    if parent == nil { _ = try? applyNewestRows(of: [object]) }
  }

  /// Both rows of a one-to-one relationship hold a key, and the rows that a save writes must agree. A merge
  /// or a refresh may have replaced one of them by a newer row, before or after the change here.
  final func reconcilePartners(of changes: PendingChanges) {
    if parent != nil { return }
    for object in changes.all where !object.runtime.oneToOneSlots.isEmpty {
      guard let state = object.state else { continue }
      for (slot, inverse) in object.runtime.oneToOneSlots where state.changed.contains(slot) {
        if !object.isDeleted {
          object.reconcilePartner(slot, inverse)
        } else if !object.propagatesDeletion(slot) {
          continue
        }
        // A partner that the row refers to and the object no longer does must not keep the object's key.
        guard let partner = object.storedPartner(slot), partner !== object.toOneTarget(slot),
          !partner.isDeleted
        else { continue }
        partner.unlinkReferrer(inverse, object)
      }
    }
  }

  // MARK: Unchanged objects

  /// Reads unchanged objects again, then the objects related to each one that the store has changed, and so
  /// on.
  private func readNewestRows(_ objects: [NSManagedObject], besides merged: [NSManagedObject] = []) throws {
    var known: Set<ObjectIdentifier> = Set(merged.map { ObjectIdentifier($0) })
    var wave: [NSManagedObject] = objects
    while !wave.isEmpty {
      wave = try applyNewestRows(of: wave.filter { known.insert(ObjectIdentifier($0)).inserted })
    }
  }

  /// The objects of this context that refer to the others, or that these refer to here or in the store.
  final func relatives(of objects: [NSManagedObject]) -> [NSManagedObject] {
    if objects.isEmpty { return [] }
    let sought: Set<ObjectIdentifier> = Set(objects.map { ObjectIdentifier($0) })
    let targets: [NSManagedObject] = objects.flatMap { object in
      object.runtime.relationshipSlots.flatMap { object.relatives($0) }
    }
    return targets
      + self.objects(leadingTo: objects) { object, slot in
        object.leads(slot) { sought.contains(ObjectIdentifier($0)) }
      }
  }

  /// Replaces the rows of unchanged objects by those that the store has now, and deletes objects without one.
  /// Returns the objects related to those that had other rows.
  private func applyNewestRows(of objects: [NSManagedObject]) throws -> [NSManagedObject] {
    var changed: [NSManagedObject] = []
    var gone: [NSManagedObject] = []
    for object in objects where object.flags.contains(.updated) { clearUpdateIfUnchanged(object) }
    let asked: [NSManagedObject] = objects.filter {
      $0.identityMap === identityMap && $0.store != nil && !$0.hasChanges
        && !$0.flags.contains(.remotelyDeleted)
    }
    for (_, group) in Dictionary(grouping: asked, by: { Home($0) }) {
      guard let store = group[0].store else { continue }
      let root: EntityLayout = store.runtime.entities[group[0].runtime.layout.rootIndex].layout
      var rows: [Int64: RowRef] = [:]
      try store.rows(of: root, keys: group.map(\.key), for: self).forEach { rows[$0.key] = $0 }
      for object in group {
        guard let row = rows[object.key] else {
          gone.append(object)
          continue
        }
        if object.row?.version == row.version { continue }
        if object.row != nil { changed.append(object) }
        apply(row, to: object)
      }
    }
    let related: [NSManagedObject] = relatives(of: changed + gone)
    applyRemoteDeletions(of: gone)
    return related
  }

  private func apply(_ row: RowRef, to object: NSManagedObject) {
    let seen: ObservedValues? = object.observedValues()
    defer { object.notifyObservers(since: seen) }
    object.row = row
    if object.isFault { return }
    object.discardValues(except: SlotSet())
    object.awakeQuietly { object.awake(fromSnapshotEvents: .mergePolicy) }
    noteEvent(.eventRefreshed, of: object)
  }

  // MARK: To-manys and to-ones

  /// If the inverse is a to-one, the to-one decides: recorded changes of a to-many that contradict its
  /// members are removed, and to-ones of the members of merged objects are recorded on both sides.
  private func reconcileMembers(of merged: [NSManagedObject]) {
    let known: Set<ObjectIdentifier> = Set(merged.map { ObjectIdentifier($0) })
    for object in work.inserted + work.updated
    where object.hasChanges && !object.isDeleted && object.identityMap === identityMap {
      for slot in object.runtime.relationshipSlots {
        guard let inverse = object.inverseToOne(slot) else { continue }
        guard object.runtime.layout.slots[slot].isToMany else {
          if let target = object.toOneTarget(slot), known.contains(ObjectIdentifier(target)),
            target.toOneTarget(inverse) !== object
          {
            object.writeToOne(slot, nil)
          }
          continue
        }
        object.reconcileMembers(slot, inverse)
      }
      clearUpdateIfUnchanged(object)
    }
    for object in merged {
      for slot in object.toOneSlots { object.reconcileTarget(slot) }
    }
  }

  // MARK: Deletions that prevail

  /// The deleted objects that rows of others now refer to: their deletions are propagated to these.
  private func deletedTargets(of merged: [NSManagedObject]) -> [NSManagedObject] {
    merged.flatMap { object in
      object.toOneSlots.compactMap { slot in
        guard let inverse = object.runtime.layout.slots[slot].inverseSlot,
          let target = object.toOneTarget(slot), target.isToBeDeleted
        else { return nil }
        target.state?.toMany(inverse)?.discardRemoval(of: object)
        return target
      }
    }
  }

  /// The object has a newer row, so its save meets no conflict. If it is deleted, the objects that the row
  /// refers to must follow now; if not, the row may refer to a deleted object.
  final func repeatPropagation(refreshed object: NSManagedObject) throws {
    if parent != nil || work.deleted.isEmpty { return }
    let concerned: [NSManagedObject] = object.isDeleted ? [object] : deletedTargets(of: [object])
    try repeatPropagation(concerned.filter { $0.isToBeDeleted && $0.flags.contains(.propagated) })
  }

  /// Propagates deletions again, because the store has other members by now. The save checks Deny again.
  private func repeatPropagation(_ objects: [NSManagedObject]) throws {
    if objects.isEmpty { return }
    for object in objects {
      for slot in object.toOneSlots {
        object.state?.values[slot] = .unset
        object.state?.removeChange(slot)
      }
      object.reloadMembers()
    }
    try readNewestRows(
      objects.flatMap { object in object.runtime.relationshipSlots.flatMap { object.referrers($0) } })
    for object in objects { object.dropForeignMembers() }
    propagateDeletes()
    for object in objects {
      addToDeletion(of: object) {
        work.repeatPropagation(of: object)
        propagateDeletes()
      }
    }
  }
}

extension NSManagedObject {
  fileprivate final var toOneSlots: [Int] {
    runtime.relationshipSlots.filter { runtime.layout.slots[$0].isToOne }
  }

  /// The objects whose rows hold a reference to this one.
  fileprivate final func referrers(_ slot: Int) -> [NSManagedObject] {
    guard inverseToOne(slot) != nil else { return [] }
    return runtime.layout.slots[slot].isToMany ? members(slot).objects : toOneTarget(slot).map { [$0] } ?? []
  }

  /// Removes members that got another owner here.
  fileprivate final func dropForeignMembers() {
    for slot in runtime.relationshipSlots where runtime.layout.slots[slot].isToMany {
      guard let inverse = inverseToOne(slot) else { continue }
      toManyState(slot).drop(where: { $0.toOneTarget(inverse) !== self })
    }
  }

  /// The partner that was set here refers to this object too, unless another object was set there: then that
  /// one counts.
  fileprivate final func reconcilePartner(_ slot: Int, _ inverse: Int) {
    guard let partner = toOneTarget(slot), !partner.isDeleted else { return }
    // Its row already refers to this object, so it would not be written, while this one's row does not: the
    // row may be outdated.
    if row != nil, targetInRow(slot) !== partner, partner.targetInRow(inverse) === self {
      identityMap?.context?.readNewestRow(partner)
    }
    let other: NSManagedObject? = partner.toOneTarget(inverse)
    if other === self { return }
    if other != nil, partner.state?.changed.contains(inverse) == true {
      writeToOne(slot, nil)
    } else {
      other?.unlinkReferrer(slot, partner)
      partner.writeToOne(inverse, self)
    }
  }

  fileprivate final func propagatesDeletion(_ slot: Int) -> Bool {
    let rule: NSDeleteRule? = runtime.layout.slots[slot].relationship?.deleteRule
    return rule == .nullifyDeleteRule || rule == .cascadeDeleteRule
  }

  /// The slot of the inverse, if that is a to-one.
  fileprivate final func inverseToOne(_ slot: Int) -> Int? {
    guard let inverse = runtime.layout.slots[slot].relationship?.inverseRelationship, !inverse.isToMany else {
      return nil
    }
    return runtime.layout.slots[slot].inverseSlot
  }

  /// The objects of this context that a relationship refers to, here or in the store.
  fileprivate final func relatives(_ slot: Int) -> [NSManagedObject] {
    if runtime.layout.slots[slot].isToOne {
      return [state?.values[slot].target, targetInRow(slot)].compactMap { $0 }
    }
    guard row != nil || state != nil, !flags.contains(.remotelyDeleted) else { return [] }
    return knownMembers(slot)
  }

  /// Removes recorded additions and removals that the members' to-ones contradict.
  fileprivate final func reconcileMembers(_ slot: Int, _ inverse: Int) {
    guard let many = state?.toMany(slot), many.isChanged else { return }
    let stray: [NSManagedObject] = many.added.filter { $0.isDeleted || $0.toOneTarget(inverse) !== self }
    let back: [NSManagedObject] = many.pairs.removed.filter {
      !$0.isDeleted && $0.toOneTarget(inverse) === self
    }
    if stray.isEmpty, back.isEmpty { return }
    withObservers(of: slot) {
      for member in stray { many.discardAddition(of: member) }
      for member in back { many.discardRemoval(of: member) }
    }
    identityMap?.context?.noteEvent(.eventRefreshed, of: self)
  }

  /// The object that the row refers to for a one-to-one relationship. No object is made for a row that was
  /// deleted: every look-up would find that out again, and notify observers.
  fileprivate final func storedPartner(_ slot: Int) -> NSManagedObject? {
    guard inverseToOne(slot) != nil, case .stored(.toOne, let word) = runtime.layout.slots[slot].role,
      let row, row.hasValue(word), let store, let context = identityMap?.context
    else { return nil }
    if let known = targetInRow(slot) { return known.flags.contains(.remotelyDeleted) ? nil : known }
    let id: RowID = row.target(word)
    let root: Int = store.runtime.entities[Int(id.entity)].layout.rootIndex
    let layout: EntityLayout = store.runtime.entities[root].layout
    guard let found = try? store.rows(of: layout, keys: [id.key], for: context).first else { return nil }
    let partner: NSManagedObject = context.object(id, store: store)
    partner.row = found
    return partner
  }

  /// Records on the other side where a to-one differs from the store.
  fileprivate final func reconcileTarget(_ slot: Int) {
    guard let inverse = runtime.layout.slots[slot].inverseSlot else { return }
    let target: NSManagedObject? = toOneTarget(slot).flatMap { $0.isDeleted ? nil : $0 }
    if inverseToOne(slot) != nil {
      if let target {
        let other: NSManagedObject? = target.toOneTarget(inverse)
        if other == nil { target.writeToOne(inverse, self) } else if other !== self { writeToOne(slot, nil) }
      }
      // Both rows of a one-to-one relationship hold a key.
      if let stored = storedPartner(slot), stored !== toOneTarget(slot), !stored.isDeleted,
        stored.toOneTarget(inverse) === self
      {
        stored.writeToOne(inverse, nil)
      }
      return
    }
    let stored: NSManagedObject? = targetInRow(slot)
    if stored === target { return }
    if let target, target.toManyState(inverse).knows(self) != true { target.addMember(inverse, self) }
    if let stored, !stored.isDeleted, stored.runtime.layout.slots[inverse].isToMany {
      stored.removeMember(inverse, self)
    }
  }
}
