import CoreDataModel
import CoreDataStorage
import Foundation

// Relationships, with both sides kept in step at once. `write…` and `add/removeMember` change one side; `set…` and
// `link` change both.

extension NSManagedObject {
  // MARK: To-one

  /// The target, as a fault where it is not loaded. Does no I/O for the target.
  final func toOneTarget(_ slot: Int) -> NSManagedObject? {
    fireFault(slot)
    if let state {
      switch state.values[slot] {
      case .unset: break
      case .object(let object): return object as? NSManagedObject
      default: return nil
      }
    }
    guard case .stored(.toOne, let word) = runtime.layout.slots[slot].role,
      let row, row.hasValue(word), let store, let context = registry?.context
    else { return nil }
    let target: NSManagedObject = context.object(row.target(word), store: store)
    // Kept: reading it again must give the same object, and its loaded values must live as long as this one points at it.
    ensureState().values[slot] = .object(target)
    return target
  }

  /// Sets this side only.
  final func writeToOne(_ slot: Int, _ target: NSManagedObject?) {
    fireFault(slot, .write)
    withObservers(of: slot) {
      let state: ObjectState = ensureState()
      if isRecorded { state.rememberValue(slot) }
      state.values[slot] = target.map { .object($0) } ?? .null
      markChanged(slot)
    }
  }

  /// Sets the target and both inverses: the old target's and the new one's.
  final func setToOne(_ slot: Int, _ target: NSManagedObject?) {
    fireFault(slot, .write)
    let old: NSManagedObject? = toOneTarget(slot)
    if let target { requireFitting(target, slot) }
    withObservers(of: slot) {
      writeToOne(slot, target)
      guard old !== target, !flags.contains(.untracked) else { return }
      maintainInverse(slot, old: old, new: target)
    }
  }

  /// Brings the inverses in step after a to-one changed.
  final func maintainInverse(_ slot: Int, old: NSManagedObject?, new: NSManagedObject?) {
    guard old !== new, let inverse = runtime.layout.slots[slot].inverseSlot else { return }
    if let old { old.unlink(inverse, self) }
    guard let new else { return }
    if new.runtime.layout.slots[inverse].isToMany {
      new.addMember(inverse, self)
    } else {
      // One-to-one: whoever had the new target loses it.
      if let displaced = new.toOneTarget(inverse), displaced !== self { displaced.writeToOne(slot, nil) }
      new.writeToOne(inverse, self)
    }
  }

  /// Removes `object` from this side of a relationship, whatever its cardinality.
  final func unlink(_ slot: Int, _ object: NSManagedObject) {
    if runtime.layout.slots[slot].isToMany {
      removeMember(slot, object)
    } else if toOneTarget(slot) === object {
      writeToOne(slot, nil)
    }
  }

  // MARK: To-many

  /// The to-many state, without loading members.
  final func toManyState(_ slot: Int) -> ToManyState {
    fireFault(slot)
    let state: ObjectState = ensureState()
    if let known = state.toMany(slot) { return known }
    // An object without row has no members anywhere else.
    let made = ToManyState(members: row == nil ? ObjectList() : nil)
    state.values[slot] = .object(made)
    return made
  }

  /// The members, loaded if need be; in order for an ordered relationship.
  final func members(_ slot: Int) -> ObjectList {
    let many: ToManyState = toManyState(slot)
    if let members = many.members { return members }
    guard let context = registry?.context, store != nil,
      case .toMany = runtime.layout.slots[slot].role
    else {
      many.load([])
      return many.members ?? ObjectList()
    }
    do {
      many.load(try context.loadMembers(of: self, slot: slot))
    } catch {
      fatalError(
        """
        CoreData could not load \(runtime.layout.name).\(runtime.layout.slots[slot].name) of '\(objectID)': \(error)
        """)
    }
    return many.members ?? ObjectList()
  }

  /// Adds to this side only, at the end.
  ///
  /// - Parameter isCertain: it is known not to be a member, loaded or not.
  final func addMember(_ slot: Int, _ object: NSManagedObject, isCertain: Bool = true) {
    _ = changeMembers(slot, object, isAdded: true, isCertain: isCertain)
  }

  final func removeMember(_ slot: Int, _ object: NSManagedObject) {
    _ = changeMembers(slot, object, isAdded: false)
  }

  /// Adds or removes a member on this side and records it; false if there was nothing to do.
  private final func changeMembers(
    _ slot: Int, _ object: NSManagedObject, isAdded: Bool, isCertain: Bool = true
  ) -> Bool {
    fireFault(slot, .write)
    guard isChange(slot, object, isAdded: isAdded) else { return false }
    return withObservers(of: slot) {
      let many: ToManyState = toManyState(slot)
      let before: ObjectList? = isRecorded && isOrdered(slot) ? members(slot) : nil
      guard isAdded ? many.add(object, isCertain: isCertain) : many.remove(object) else { return false }
      if let before {
        state?.rememberOrder(slot, before)
      } else if isRecorded {
        state?.event.append(isAdded ? .added(slot, object) : .removed(slot, object))
      }
      markChanged(slot)
      return true
    }
  }

  /// Whether there is something to add or remove, for observers, who are to be told before. Without any it shows when it is done.
  private final func isChange(_ slot: Int, _ object: NSManagedObject, isAdded: Bool) -> Bool {
    guard flags.contains(.observed) else { return true }
    let many: ToManyState = toManyState(slot)
    if let members = many.members { return members.contains(object) != isAdded }
    return isAdded ? !many.added.contains(object) : !many.removed.contains(object)
  }

  private final func isOrdered(_ slot: Int) -> Bool {
    runtime.layout.slots[slot].relationship?.isOrdered == true
  }

  /// Adds a member and sets its side.
  final func link(_ slot: Int, _ object: NSManagedObject) {
    requireFitting(object, slot)
    fireFault(slot, .write)
    guard isChange(slot, object, isAdded: true) else { return }
    // What is a member already must not be remembered as added. A to-one inverse tells without loading; elsewhere an undo manager is
    // worth loading for, since it would take the member out again.
    var isCertain: Bool = true
    if let inverse = runtime.layout.slots[slot].inverseSlot, object.runtime.layout.slots[inverse].isToOne {
      guard object.toOneTarget(inverse) !== self else { return }
    } else if registry?.context?.undoManager != nil {
      _ = members(slot)
    } else {
      isCertain = !toManyState(slot).isUncertain(of: object)
    }
    withObservers(of: slot) {
      guard changeMembers(slot, object, isAdded: true, isCertain: isCertain), !flags.contains(.untracked)
      else { return }
      linkInverse(slot, object, isCertain: isCertain)
    }
  }

  /// Removes a member and clears its side.
  final func unlinkMember(_ slot: Int, _ object: NSManagedObject) {
    // Whether it is a member must be known: taking out what is not in would be remembered as a change.
    if let inverse = runtime.layout.slots[slot].inverseSlot, object.runtime.layout.slots[inverse].isToOne {
      guard object.toOneTarget(inverse) === self else { return }
    } else {
      _ = members(slot)
    }
    guard isChange(slot, object, isAdded: false) else { return }
    withObservers(of: slot) {
      guard changeMembers(slot, object, isAdded: false), !flags.contains(.untracked),
        let inverse = runtime.layout.slots[slot].inverseSlot
      else { return }
      object.unlink(inverse, self)
    }
  }

  final func linkInverse(_ slot: Int, _ object: NSManagedObject, isCertain: Bool) {
    guard let inverse = runtime.layout.slots[slot].inverseSlot else { return }
    if object.runtime.layout.slots[inverse].isToMany {
      object.addMember(inverse, self, isCertain: isCertain)
    } else {
      let previous: NSManagedObject? = object.toOneTarget(inverse)
      guard previous !== self else { return }
      previous?.removeMember(slot, object)
      object.writeToOne(inverse, self)
    }
  }

  /// Replaces all members; `objects` gives the order of an ordered relationship.
  final func setMembers(_ slot: Int, _ objects: [NSManagedObject]) {
    fireFault(slot, .write)
    for object in objects { requireFitting(object, slot) }
    let old: ObjectList = members(slot)
    let wanted = ObjectList(objects)
    let keep: Set<ObjectIdentifier> = Set(wanted.map { ObjectIdentifier($0) })
    let had: Set<ObjectIdentifier> = Set(old.map { ObjectIdentifier($0) })
    withObservers(of: slot) {
      for object in old where !keep.contains(ObjectIdentifier(object)) { unlinkMember(slot, object) }
      for object in wanted where !had.contains(ObjectIdentifier(object)) { link(slot, object) }
      reorder(slot, wanted)
    }
  }

  /// Gives an ordered relationship's members a new order.
  final func reorder(_ slot: Int, _ wanted: ObjectList) {
    guard isOrdered(slot) else { return }
    let many: ToManyState = toManyState(slot)
    let now: [NSManagedObject] = many.members?.objects ?? []
    guard !now.elementsEqual(wanted.objects, by: ===) else { return }
    withObservers(of: slot) {
      if isRecorded, let members = many.members { state?.rememberOrder(slot, members) }
      many.members = wanted
      many.isReordered = true
      markChanged(slot)
    }
  }

  /// Sets this side's members only (primitive access); what changed is recorded for saving.
  final func writeMembers(_ slot: Int, _ objects: [NSManagedObject]) {
    let wanted = ObjectList(objects)
    let old: ObjectList = members(slot)
    let many: ToManyState = toManyState(slot)
    let keep: Set<ObjectIdentifier> = Set(wanted.map { ObjectIdentifier($0) })
    for object in old where !keep.contains(ObjectIdentifier(object)) { _ = many.remove(object) }
    for object in wanted { _ = many.add(object, isCertain: true) }
    if isOrdered(slot), !old.elementsEqual(wanted, by: ===) {
      many.members = wanted
      many.isReordered = true
    }
    if !flags.contains(.untracked) { state?.changed.insert(slot) }
  }

  /// Stops when an object of another entity or context is to become a target.
  private final func requireFitting(_ other: NSManagedObject, _ slot: Int) {
    // Entities of an equal model in another instance have the same indexes but are not compared.
    if other.runtime.model === runtime.model, let wanted = runtime.layout.slots[slot].destination,
      !runtime.model.layout.entities[wanted].family.contains(other.runtime.index)
    {
      fatalError(
        """
        Unacceptable type of value for relationship: property = "\(runtime.layout.slots[slot].name)" of \
        \(runtime.layout.name); desired type = \(runtime.model.layout.entities[wanted].name); given type = \
        \(other.runtime.layout.name); value = \(other.objectID). Set an object of that entity or of its sub-entities.
        """)
    }
    guard let mine = registry, let theirs = other.registry, mine !== theirs else { return }
    fatalError(
      """
      Illegal attempt to establish a relationship '\(runtime.layout.slots[slot].name)' between objects in different \
      contexts (source = \(objectID), destination = \(other.objectID)). Fetch the destination in the source's context: \
      context.object(with: other.objectID).
      """)
  }

  // MARK: Public questions

  /// Whether a relationship's members (or target) are still to be loaded. Does not load them.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    let slot: Int = requireSlot(key)
    guard runtime.layout.slots[slot].relationship != nil else { return false }
    if flags.contains(.fault) { return true }
    if runtime.layout.slots[slot].isToMany { return row != nil && state?.toMany(slot)?.members == nil }
    return toOneTarget(slot)?.isFault ?? false
  }

  /// The ids of a relationship's target or members, without making objects of them where they are not loaded.
  public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    let slot: Int = requireSlot(key)
    guard runtime.layout.slots[slot].relationship != nil else { return [] }
    fireFault(slot, .read)
    if runtime.layout.slots[slot].isToMany { return members(slot).map(\.objectID) }
    return toOneTarget(slot).map { [$0.objectID] } ?? []
  }
}
