import CoreDataModel
import CoreDataStorage
import Foundation

// Relationships; both sides are always kept consistent. `write…` and `add/removeMember` change one side;
// `set…` and `link` change both. No function here loads all members to change one: see `ToManyState`.

extension NSManagedObject {
  // MARK: To-one

  /// The target, as a fault if it is not loaded. Does no I/O for the target.
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
      let row, row.hasValue(word), let store, let context = identityMap?.context
    else { return nil }
    let target: NSManagedObject = context.object(row.target(word), store: store)
    // The row is older than the deletion.
    if target.flags.contains(.remotelyDeleted) { return nil }
    if target.rowBase == nil { context.noteTarget(target, of: self, slot) }
    // Stored: the next read must return the same object, and its loaded values must be retained as long as
    // this object refers to it.
    ensureState().values[slot] = .object(target)
    return target
  }

  /// Sets this side only.
  final func writeToOne(_ slot: Int, _ target: NSManagedObject?) {
    fireFault(slot, .write)
    withObservers(of: slot) {
      let state: ObjectState = ensureState()
      if isRecorded { state.recordOldValue(slot) }
      state.values[slot] = target.map { .object($0) } ?? .null
      markChanged(slot)
    }
  }

  /// Whether this object was set to refer to another object, or to none, instead of `owner`, which still
  /// refers to it in `slot`: a newer row of a deleted owner may refer to a target that the program has given
  /// to another one.
  final func hasLeft(_ owner: NSManagedObject, _ slot: Int) -> Bool {
    guard let inverse = owner.runtime.layout.slots[slot].inverseSlot, runtime.layout.slots[inverse].isToOne,
      state?.changed.contains(inverse) == true
    else { return false }
    return toOneTarget(inverse) !== owner
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

  /// Updates the inverses after a to-one has changed.
  final func maintainInverse(_ slot: Int, old: NSManagedObject?, new: NSManagedObject?) {
    guard old !== new, let inverse = runtime.layout.slots[slot].inverseSlot else { return }
    if let old { old.unlink(inverse, self) }
    guard let new else { return }
    if new.runtime.layout.slots[inverse].isToMany {
      new.addMember(inverse, self)
    } else {
      // One-to-one: the object that had the new target loses it.
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

  /// Removes `object`, which refers to this object, from this side. If the row contradicts that it is
  /// outdated and read again: no reference to `object` must stay in the store. The row of a changed object is
  /// not read again; the save detects the conflict.
  final func unlinkReferrer(_ slot: Int, _ object: NSManagedObject) {
    // The target first: reading it fires the fault, whose row may come from the cache and be outdated, too.
    if runtime.layout.slots[slot].isToOne, toOneTarget(slot) !== object, row != nil {
      identityMap?.context?.readNewestRow(self)
    }
    unlink(slot, object)
  }

  // MARK: To-many

  /// The to-many state, without loading members.
  final func toManyState(_ slot: Int) -> ToManyState {
    fireFault(slot)
    let state: ObjectState = ensureState()
    if let known = state.toMany(slot) { return known }
    // An object without a row has no stored members.
    let made = ToManyState(members: row == nil ? ObjectList() : nil, isOrdered: isOrdered(slot))
    state.values[slot] = .object(made)
    return made
  }

  /// The members, loaded if need be; in order for an ordered relationship.
  final func members(_ slot: Int) -> ObjectList {
    let many: ToManyState = toManyState(slot)
    if let members = many.members { return members }
    guard let context = identityMap?.context, store != nil,
      case .toMany = runtime.layout.slots[slot].role
    else {
      many.load([])
      return many.members ?? ObjectList()
    }
    // What could not be read is read again at the next access.
    guard
      let stored = readingIfPossible(
        slot, else: [], { try context.membersAhead(of: self, slot: slot) })
    else { return many.added }
    load(slot, stored)
    return many.members ?? ObjectList()
  }

  /// The members without the changes made here; in the store's order for an ordered relationship.
  final func committedMembers(_ slot: Int) -> ObjectList {
    var list: ObjectList = members(slot)
    let many: ToManyState = toManyState(slot)
    for object in many.added { list.remove(object) }
    for object in many.removed { list.append(object) }
    guard many.isOrdered, many.isChanged, row != nil || identityMap?.context?.parent != nil,
      let context = identityMap?.context
    else { return list }
    // Changes of the order are not recorded with the members.
    let stored: [NSManagedObject] = reading(slot, else: []) { try context.loadMembers(of: self, slot: slot) }
    return ObjectList(stored.filter { list.indexes($0) } + list.objects)
  }

  /// Sets the members that the store has.
  final func load(_ slot: Int, _ stored: [NSManagedObject]) {
    let many: ToManyState = toManyState(slot)
    if many.load(stored, except: { isSeparated($0, slot) }) {
      identityMap?.context?.work.recordFiltering(of: many)
    }
  }

  /// Whether a member of the store has left this relationship here before this side was read: it was deleted,
  /// and its side of the relationship cleared, or it was given to another owner. Another context may have
  /// stored it here after that.
  private final func isSeparated(_ member: NSManagedObject, _ slot: Int) -> Bool {
    if member.flags.contains(.updated), toManyState(slot).knows(member) == nil, member.hasLeft(self, slot) {
      return true
    }
    guard member.flags.isSuperset(of: [.deleted, .propagated]),
      let inverse = runtime.layout.slots[slot].relationship?.inverseRelationship, inverse.isToMany
    else { return false }
    return inverse.deleteRule != .noActionDeleteRule && inverse.deleteRule != .denyDeleteRule
  }

  /// Whether an object is a member. Reads the store only if neither side contains the answer, and then for
  /// this one object.
  final func isMember(_ slot: Int, _ object: NSManagedObject) -> Bool {
    if let known = toManyState(slot).knows(object) { return known }
    guard let inverse = runtime.layout.slots[slot].inverseSlot else { return isMemberHere(slot, object) }
    if object.runtime.layout.slots[inverse].isToOne { return object.toOneTarget(inverse) === self }
    return object.state?.toMany(inverse)?.knows(self) ?? isMemberHere(slot, object)
  }

  /// The same for this side only: the other one may be about to change.
  final func isMemberHere(_ slot: Int, _ object: NSManagedObject) -> Bool {
    toManyState(slot).knows(object) ?? !storedMembers(slot, among: [object]).isEmpty
  }

  /// Those of the objects that the store has as members.
  final func storedMembers(_ slot: Int, among objects: [NSManagedObject]) -> [NSManagedObject] {
    let asked: [NSManagedObject] = objects.filter { !$0.flags.contains(.inserted) }
    guard !asked.isEmpty, !flags.contains(.inserted), case .toMany = runtime.layout.slots[slot].role,
      let context = identityMap?.context
    else { return [] }
    return reading(slot, else: []) { try context.storedMembers(of: self, slot: slot, among: asked) }
  }

  /// The store may have other members by now: they are read again at the next access. Additions and removals
  /// here stay, except those that the store already has; these are read now, because the next change depends
  /// on them.
  final func unloadMembers(_ slot: Int) {
    guard let many = state?.toMany(slot) else { return }
    many.unload()
    if many.added.isEmpty && many.removed.isEmpty { return }
    let asked = ObjectList(many.added.objects + many.removed.objects)
    var stored = ObjectList(storedMembers(slot, among: asked.objects))
    many.leaveOut(doneIn: &stored)
  }

  /// Reading a relationship can't throw. `nothing`: the result where a program's store could not read it, and
  /// the context treats such objects as deleted; also in a deletion and a save, which throws the reason.
  private final func reading<Result>(_ slot: Int, else nothing: Result, _ body: () throws -> Result)
    -> Result
  {
    readingIfPossible(slot, else: nothing, body) ?? nothing
  }

  /// The same; nil if a deletion or a save collects the failure.
  private final func readingIfPossible<Result>(
    _ slot: Int, else nothing: Result, _ body: () throws -> Result
  ) -> Result? {
    do {
      return try body()
    } catch {
      if let store, store.readsOneByOne, let context = identityMap?.context,
        context.shouldHandleInaccessibleFault(
          self, for: objectID, triggeredByProperty: runtime.layout.slots[slot].property)
      {
        store.report(error, objectID)
        return nothing
      }
      if let failures = identityMap?.context?.readFailures {
        failures.add(self, slot, error)
        return nil
      }
      fatalError(
        """
        CoreData could not load \(runtime.layout.name).\(runtime.layout.slots[slot].name) of '\(objectID)': \(error)
        """)
    }
  }

  /// The number of members, if possible without creating objects for them.
  final func memberCount(_ slot: Int) -> Int {
    let many: ToManyState = toManyState(slot)
    guard let stored = storedMemberIDs(slot) else { return members(slot).count }
    // The union of both: another context may have stored what was added or removed here.
    let known: Set<ObjectIdentifier> = Set(stored.known.map { ObjectIdentifier($0) })
    let gone: Int = stored.known.count { !(many.knows($0) ?? !isSeparated($0, slot)) }
    return stored.ids.count - gone + many.added.filter { !known.contains(ObjectIdentifier($0)) }.count
  }

  /// How many members are not to be deleted, if possible without creating objects for those that are not
  /// loaded.
  final func remainingMemberCount(_ slot: Int) -> Int {
    guard let stored = storedMemberIDs(slot),
      !stored.known.contains(where: { $0.flags.contains(.remotelyDeleted) })
    else {
      return members(slot).reduce(0) { $0 + ($1.isDeleted ? 0 : 1) }
    }
    let many: ToManyState = toManyState(slot)
    let known: Set<ObjectIdentifier> = Set(stored.known.map { ObjectIdentifier($0) })
    let gone: Int = stored.known.count { $0.isDeleted || !(many.knows($0) ?? !isSeparated($0, slot)) }
    let new: [NSManagedObject] = many.added.filter {
      !known.contains(ObjectIdentifier($0)) && !$0.isDeleted
    }
    return stored.ids.count - gone + new.count
  }

  /// Whether the context may have objects among the members of a relationship that is not loaded: only these
  /// are updated when this object is deleted.
  final func mayKnowMembers(_ slot: Int) -> Bool {
    guard let context = identityMap?.context, let store,
      let destination = runtime.layout.slots[slot].destination
    else { return false }
    return context.identityMap.hasObjects(
      store: store.ordinal, root: store.runtime.layout.entities[destination].rootIndex)
  }

  /// The members whose side must be changed when this object is deleted: all that are loaded, otherwise those
  /// that are registered with the context. Creates no objects for the others: the store deletes their pairs
  /// together with the row. A store that a program implements gets each object that changes instead.
  final func knownMembers(_ slot: Int) -> [NSManagedObject] {
    if store?.referenceMap != nil { return members(slot).objects }
    let many: ToManyState = toManyState(slot)
    if many.members == nil, identityMap?.context?.parent == nil, !mayKnowMembers(slot) {
      return many.added.objects
    }
    guard let stored = storedMemberIDs(slot) else { return members(slot).objects }
    let known: [NSManagedObject] = stored.known.filter {
      // A fault without values has nothing that could be wrong.
      many.knows($0) == nil && !($0.flags.contains(.fault) && $0.row == nil)
    }
    return known + many.added.objects
  }

  /// The store's members of a relationship that is not loaded, and those of them that have objects; nil: use
  /// `members`.
  private final func storedMemberIDs(_ slot: Int) -> (ids: [RowID], known: [NSManagedObject])? {
    guard toManyState(slot).members == nil, let context = identityMap?.context, context.parent == nil,
      let store,
      let destination = runtime.layout.slots[slot].destination,
      case .toMany = runtime.layout.slots[slot].role
    else { return nil }
    let ids: [RowID] = reading(slot, else: []) {
      try context.storedMemberIDs(of: self, slot: slot, in: store)
    }
    let root: Int = store.runtime.layout.entities[destination].rootIndex
    return (ids, ids.compactMap { context.identityMap.object(store: store.ordinal, root: root, key: $0.key) })
  }

  /// Loads the members of all relationships, as faults.
  final func loadToManys() {
    for slot in runtime.relationshipSlots where runtime.layout.slots[slot].isToMany { _ = members(slot) }
  }

  /// Adds to this side only, at the end. The object must not be a member.
  final func addMember(_ slot: Int, _ object: NSManagedObject) {
    fireFault(slot, .write)
    guard toManyState(slot).knows(object) != true else { return }
    withObservers(of: slot) {
      let many: ToManyState = toManyState(slot)
      guard many.knows(object) != true else { return }
      if isRecorded { state?.event.append(.added(slot, object, .end, many.mark)) }
      many.insert(object)
      markChanged(slot)
    }
  }

  /// Removes from this side only. The object must be a member.
  final func removeMember(_ slot: Int, _ object: NSManagedObject) {
    fireFault(slot, .write)
    guard toManyState(slot).knows(object) != false else { return }
    withObservers(of: slot) {
      let many: ToManyState = toManyState(slot)
      guard many.knows(object) != false else { return }
      let mark: ToManyVersion = many.mark
      // An undo after a save needs its position.
      let isAsked: Bool = many.members == nil && many.isOrdered && many.knows(object) == nil && isUndoable
      let next: NSManagedObject? = isAsked ? storedSuccessor(slot, object, many) : nil
      var place: MemberPlace = many.remove(object)
      if let next { place.before = next }
      if isRecorded { state?.event.append(.removed(slot, object, place, mark)) }
      markChanged(slot)
    }
  }

  private final var isUndoable: Bool {
    isRecorded && identityMap?.context?.undoManager?.isUndoRegistrationEnabled == true
  }

  /// The member after one that only the store has.
  private final func storedSuccessor(_ slot: Int, _ object: NSManagedObject, _ many: ToManyState)
    -> NSManagedObject?
  {
    // Each such query scans the members from the start: if many are removed it is cheaper to load them all.
    guard let context = identityMap?.context, let store, context.parent == nil, many.removed.count < 8 else {
      _ = members(slot)
      return nil
    }
    let leftOut = Set(many.removed.map { RowID(entity: $0.runtime.index, key: $0.key) })
    let next: RowID? = reading(slot, else: nil) {
      try context.tally.counting {
        try store.pinnedOperations(for: StoreCaller(context)).member(
          of: runtime.layout, slot: slot, owner: RowID(entity: runtime.index, key: key),
          after: RowID(entity: object.runtime.index, key: object.key), leftOut: leftOut)
      }
    }
    return next.map { context.object($0, store: store) } ?? many.added.first
  }

  private final func isOrdered(_ slot: Int) -> Bool {
    runtime.layout.slots[slot].relationship?.isOrdered == true
  }

  /// Adds a member and sets its side.
  final func link(_ slot: Int, _ object: NSManagedObject) {
    requireFitting(object, slot)
    fireFault(slot, .write)
    // An object that is already a member must not be recorded as added.
    guard !isMember(slot, object) else { return }
    withObservers(of: slot) {
      addMember(slot, object)
      guard !flags.contains(.untracked) else { return }
      linkInverse(slot, object)
    }
  }

  /// Removes a member and clears its side.
  final func unlinkMember(_ slot: Int, _ object: NSManagedObject) {
    fireFault(slot, .write)
    // Removing an object that is no member would be recorded as a change.
    guard fits(object, slot), isMember(slot, object) else { return }
    withObservers(of: slot) {
      removeMember(slot, object)
      guard !flags.contains(.untracked), let inverse = runtime.layout.slots[slot].inverseSlot else { return }
      object.unlinkReferrer(inverse, self)
    }
  }

  final func linkInverse(_ slot: Int, _ object: NSManagedObject) {
    guard let inverse = runtime.layout.slots[slot].inverseSlot else { return }
    if object.runtime.layout.slots[inverse].isToMany {
      object.addMember(inverse, self)
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
    guard isOrdered(slot), !members(slot).elementsEqual(wanted, by: ===) else { return }
    withObservers(of: slot) {
      let many: ToManyState = toManyState(slot)
      let mark: ToManyVersion = many.mark
      for move in many.reorder(wanted) where isRecorded {
        state?.event.append(.moved(slot, move.object, move.before, mark))
      }
      markChanged(slot)
    }
  }

  /// Moves one member of an ordered relationship before another; nil: to the end.
  final func moveMember(_ slot: Int, _ object: NSManagedObject, before next: NSManagedObject?) {
    guard isOrdered(slot), members(slot).contains(object), object !== next else { return }
    withObservers(of: slot) {
      let many: ToManyState = toManyState(slot)
      let mark: ToManyVersion = many.mark
      let old: NSManagedObject? = many.move(object, before: next)
      if isRecorded { state?.event.append(.moved(slot, object, old, mark)) }
      markChanged(slot)
    }
  }

  /// Sets this side's members only (primitive access).
  final func writeMembers(_ slot: Int, _ objects: [NSManagedObject]) {
    let wanted = ObjectList(objects)
    let old: ObjectList = members(slot)
    let many: ToManyState = toManyState(slot)
    let keep: Set<ObjectIdentifier> = Set(wanted.map { ObjectIdentifier($0) })
    for object in old where !keep.contains(ObjectIdentifier(object)) { _ = many.remove(object) }
    for object in wanted where many.knows(object) != true { many.insert(object) }
    if isOrdered(slot) { _ = many.reorder(wanted) }
  }

  /// Records changes of the members by primitive access, for undo.
  final func recordMembers(_ slot: Int, before: [NSManagedObject]) {
    guard isRecorded, let state else { return }
    let now: ObjectList = members(slot)
    var list = ObjectList(before)
    let kept: Set<ObjectIdentifier> = Set(now.map { ObjectIdentifier($0) })
    for object in before where !kept.contains(ObjectIdentifier(object)) {
      let place = MemberPlace(before: isOrdered(slot) ? list.successor(of: object) : nil, isStored: false)
      list.remove(object)
      state.event.append(.removed(slot, object, place, .none))
    }
    for object in now where list.append(object) { state.event.append(.added(slot, object, .end, .none)) }
    guard isOrdered(slot) else { return }
    for move in list.arrange(like: now) {
      state.event.append(.moved(slot, move.object, move.before, .none))
    }
  }

  /// Whether an object is of the destination entity of a relationship.
  final func fits(_ other: NSManagedObject, _ slot: Int) -> Bool {
    // Entities of an equal model in another instance have the same indexes but are not compared.
    guard other.runtime.model === runtime.model, let wanted = runtime.layout.slots[slot].destination else {
      return true
    }
    return runtime.model.layout.entities[wanted].family.contains(other.runtime.index)
  }

  /// Stops if an object of another entity or context is to become a target.
  private final func requireFitting(_ other: NSManagedObject, _ slot: Int) {
    if !fits(other, slot), let wanted = runtime.layout.slots[slot].destination {
      fatalError(
        """
        Unacceptable type of value for relationship: property = "\(runtime.layout.slots[slot].name)" of \
        \(runtime.layout.name); desired type = \(runtime.model.layout.entities[wanted].name); given type = \
        \(other.runtime.layout.name); value = \(other.objectID). Set an object of that entity or of its sub-entities.
        """)
    }
    guard let mine = identityMap, let theirs = other.identityMap, mine !== theirs else { return }
    fatalError(
      """
      Illegal attempt to establish a relationship '\(runtime.layout.slots[slot].name)' between objects in different \
      contexts (source = \(objectID), destination = \(other.objectID)). Fetch the destination in the source's context: \
      context.object(with: other.objectID).
      """)
  }

  // MARK: Public methods

  /// Whether a relationship's members (or target) are not loaded yet. Does not load them.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    let slot: Int = requireSlot(key)
    guard runtime.layout.slots[slot].relationship != nil else { return false }
    if flags.contains(.fault) { return true }
    if runtime.layout.slots[slot].isToMany { return row != nil && state?.toMany(slot)?.members == nil }
    return toOneTarget(slot)?.isFault ?? false
  }

  /// The ids of a relationship's target or members, without creating objects if they are not loaded.
  public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    let slot: Int = requireSlot(key)
    guard runtime.layout.slots[slot].relationship != nil else { return [] }
    fireFault(slot, .read)
    if runtime.layout.slots[slot].isToMany { return members(slot).map(\.objectID) }
    return toOneTarget(slot).map { [$0.objectID] } ?? []
  }
}
