import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// Child contexts. A child uses its parent as a root context uses a store: objects are read from the parent's,
// unsaved changes included, and saving passes the changes to it. Rows are shared; values that the parent has
// set over a row are copied, with ids in place of objects, because objects belong to one context each.

/// A value that is passed between contexts.
enum CarriedValue {
  case attribute(SlotValue)
  case toOne(NSManagedObjectID?)
  case toMany([NSManagedObjectID])
}

/// An object in the state of the parent.
struct CarriedObject: @unchecked Sendable {
  // Sendable: ids, rows that no one changes any more, and immutable values.
  let id: NSManagedObjectID
  let row: RowRef?
  /// Values that differ from the row.
  var values: [(slot: Int, value: CarriedValue)] = []
  /// Not loaded in the parent: only the id is available.
  var isFault = false
}

/// A changed object that is passed to the parent.
private struct PushedObject: @unchecked Sendable {
  // Sendable: as CarriedObject.
  let id: NSManagedObjectID
  var values: [(slot: Int, value: CarriedValue)] = []
  var edits:
    [(slot: Int, added: [NSManagedObjectID], removed: [NSManagedObjectID], order: [NSManagedObjectID]?)] =
      []
}

// MARK: Reading from the parent

extension NSManagedObjectContext {
  /// What a child receives of an object of this context; nil if the object is deleted.
  final func carry(_ object: NSManagedObject, loading: Bool) throws -> CarriedObject? {
    if loading { try object.fulfillFault() }
    if object.isDeleted || object.flags.contains(.inaccessible) { return nil }
    var carried = CarriedObject(id: object.objectID, row: object.row)
    if object.isFault {
      carried.isFault = !object.hasSource
      if object.state?.base == nil { return carried }
    }
    let state: ObjectState? = object.state
    for (number, slot) in object.runtime.layout.slots.enumerated() {
      let value: SlotValue = state?.values[number] ?? .unset
      switch slot.role {
      case .stored(.toOne, _):
        if !value.isUnset || object.row == nil {
          carried.values.append((number, .toOne(value.target?.objectID)))
        }
      case .stored:
        if !value.isUnset || object.row == nil {
          carried.values.append((number, .attribute(value.isUnset ? .null : value)))
        }
      case .toMany:
        // Values that are not loaded here are read by the child when it needs them.
        let many: ToManyState? = state?.toMany(number)
        if object.row == nil || many?.isChanged == true && many?.members != nil {
          carried.values.append((number, .toMany(object.members(number).map(\.objectID))))
        }
      case .transient, .fetched, .composite: continue
      }
    }
    return carried
  }

  /// Applies the parent's state of an object to the object here; what was changed here stays.
  private func apply(_ carried: CarriedObject, to object: NSManagedObject) {
    // The object was looked up by an earlier id, because this context did not exist yet when the new one was
    // announced.
    if object.key != carried.id.key {
      let old: Int64 = object.key
      rename(object, carried.id)
      if object.key == carried.id.key { propagatePermanentIDs([old: carried.id]) }
    }
    let seen: ObservedValues? = object.observedValues()
    defer { object.notifyObservers(since: seen) }
    object.row = carried.row
    let old: ObjectState? = object.state
    let state = ObjectState(values: Array(repeating: .unset, count: object.runtime.slotCount))
    var base: [SlotValue] = state.values
    for (slot, value) in carried.values {
      switch value {
      case .attribute(let value): (state.values[slot], base[slot]) = (value, value)
      case .toOne(let id):
        let value: SlotValue = id.map { .object(self.lookUp($0)) } ?? .null
        (state.values[slot], base[slot]) = (value, value)
      case .toMany(let ids):
        state.values[slot] = .object(
          ToManyState(
            members: ObjectList(ids.map { self.lookUp($0) }),
            isOrdered: object.runtime.layout.slots[slot].relationship?.isOrdered == true))
      }
    }
    if !carried.values.isEmpty || carried.row == nil { state.base = base }
    keepChanges(of: old, in: state, object)
    object.state = state.base == nil && old == nil ? nil : state
    for slot in state.changed.members where state.toMany(slot)?.members == nil { object.unloadMembers(slot) }
  }

  private func keepChanges(of old: ObjectState?, in state: ObjectState, _ object: NSManagedObject) {
    guard let old else { return }
    for (number, slot) in object.runtime.layout.slots.enumerated() {
      if slot.role == .transient || (old.changed.contains(number) && !slot.isToMany) {
        state.values[number] = old.values[number]
      }
      guard old.changed.contains(number) else { continue }
      state.noteChange(number)
      guard let many = old.toMany(number) else { continue }
      // The parent's members, with those added and removed here.
      let stored: ToManyState? = state.toMany(number)
      many.unload()
      if let members = stored?.members { many.load(members.objects) }
      state.values[number] = .object(many)
    }
    state.event = old.event
  }

  final func load(_ object: NSManagedObject, from parent: NSManagedObjectContext) throws {
    let id: NSManagedObjectID = object.objectID
    let faults: FaultBatch? = object.faultBatch
    let carried: CarriedObject? = try reading(parent) {
      let theirs: NSManagedObject = parent.lookUp(id)
      if let faults { parent.join(theirs, to: faults) }
      return try parent.carry(theirs, loading: true)
    }
    object.faultBatch = nil
    guard let carried else { return }
    restoreRemotelyDeleted(object)
    apply(carried, to: object)
  }

  final func reload(_ object: NSManagedObject, from parent: NSManagedObjectContext) throws {
    let id: NSManagedObjectID = object.objectID
    let carried: CarriedObject? = try reading(parent) {
      try parent.carry(parent.lookUp(id), loading: true)
    }
    guard let carried else {
      object.insertFlags(.inaccessible)
      noteEvent(.eventInvalidated, of: object)
      return
    }
    apply(carried, to: object)
    object.awakeQuietly { object.awake(fromSnapshotEvents: .refresh) }
  }

  final func loadMembers(of object: NSManagedObject, slot: Int, from parent: NSManagedObjectContext) throws
    -> [NSManagedObject]
  {
    let id: NSManagedObjectID = object.objectID
    let members: [CarriedObject] = try reading(parent) {
      let theirs: NSManagedObject = parent.lookUp(id)
      try theirs.fulfillFault()
      return try theirs.members(slot).compactMap { try parent.carry($0, loading: false) }
    }
    let objects: [NSManagedObject] = members.map { self.object(for: $0) }
    var relationship: RelationshipBatch?
    if let slab = object.rowSlab, let store = object.store, slab.count > 1 {
      relationship = readAhead.batch(slab, slot, of: object.runtime, store)
    }
    if let destination = object.runtime.layout.slots[slot].destination {
      makePages(
        of: objects, destination, size: NSManagedObjectContext.memberPageSize, relationship: relationship)
    }
    return objects
  }

  /// Makes faults from the parent load together, as those from a store do.
  private func makePages(
    of objects: [NSManagedObject], _ entity: Int, size: Int, relationship: RelationshipBatch? = nil
  ) {
    var faults: [NSManagedObject] = []
    func end() {
      guard let store = faults.first?.store else { return }
      let batch = FaultBatch(
        layout: store.runtime.entities[entity].layout, store: store, keys: faults.map(\.key),
        relationship: relationship?.store === store ? relationship : nil)
      for object in faults { object.faultBatch = batch }
      faults = []
    }
    for object in objects where object.isFault && !object.hasSource {
      guard let store = object.store, !store.readsOneByOne else { continue }
      if let first = faults.first, first.store !== store || faults.count == size { end() }
      faults.append(object)
    }
    end()
  }

  /// Makes an object here part of what a fault of a child belongs to.
  private func join(_ object: NSManagedObject, to faults: FaultBatch) {
    guard object.isFault, object.rowBase == nil, object.faultBatch == nil, object.store === faults.store
    else { return }
    let relationship: RelationshipBatch? = faults.relationship.flatMap { theirs in
      theirs.slab.map { readAhead.batch($0, theirs.slot, of: theirs.entity, theirs.store) }
    }
    object.faultBatch =
      faults.keys.isEmpty
      ? relationship
      : FaultBatch(
        layout: faults.layout, store: faults.store, keys: faults.keys, relationship: relationship)
  }

  final func storedMembers(
    of object: NSManagedObject, slot: Int, among objects: [NSManagedObject],
    from parent: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    let id: NSManagedObjectID = object.objectID
    let asked: [NSManagedObjectID] = objects.map(\.objectID)
    let found: Set<NSManagedObjectID> = try reading(parent) {
      let theirs: NSManagedObject = parent.lookUp(id)
      try theirs.fulfillFault()
      return Set(asked.filter { theirs.isMember(slot, parent.lookUp($0)) })
    }
    return zip(objects, asked).filter { found.contains($1) }.map(\.0)
  }

  /// The objects that the parent no longer has.
  final func missing(among objects: [NSManagedObject], in parent: NSManagedObjectContext) -> [NSManagedObject]
  {
    let ids: [NSManagedObjectID] = objects.map(\.objectID)
    // By position and not by id: the parent's object may have got its permanent id meanwhile.
    let isMissing: [Bool] = parent.runAndWait {
      let theirs: [NSManagedObject] = ids.map { parent.lookUp($0) }
      let isGone: (NSManagedObject) -> Bool = { $0.isDeleted || $0.flags.contains(.inaccessible) }
      let missing: [NSManagedObject] = parent.missing(among: theirs.filter { !isGone($0) })
      let identities: Set<ObjectIdentifier> = Set(missing.map { ObjectIdentifier($0) })
      return theirs.map { isGone($0) || identities.contains(ObjectIdentifier($0)) }
    }
    return zip(objects, isMissing).filter(\.1).map(\.0)
  }

  /// The object here for an object of the parent; an object that is loaded here stays unchanged.
  final func object(for carried: CarriedObject, refresh: Bool = false) -> NSManagedObject {
    let object: NSManagedObject = self.lookUp(carried.id)
    restoreRemotelyDeleted(object)
    let isNew: Bool = object.isFault && !object.hasSource
    if !carried.isFault, isNew || (refresh && !object.hasChanges) { apply(carried, to: object) }
    return object
  }

  /// Fetches through the parent, which includes its own unsaved changes; those of this context are merged
  /// into the result.
  final func fetchObjects(_ scope: ResolvedFetch, from parent: NSManagedObjectContext) throws
    -> [NSManagedObject]
  {
    let asked = Transfer(value: scope.requestForParent())
    let found: [CarriedObject] = try reading(parent) {
      try parent.fetchObjects(asked.value).compactMap { try parent.carry($0, loading: false) }
    }
    var objects: [NSManagedObject] = found.map { object(for: $0, refresh: scope.request.refreshes) }
    objects = try scope.matches(objects)
    if !scope.pending.isEmpty || scope.residual != nil { objects = try scope.finish(objects) }
    let batchSize: Int = scope.request.batchSize
    let size: Int = batchSize > 0 ? batchSize : NSManagedObjectContext.memberPageSize
    makePages(of: objects, scope.runtime.layout.rootIndex, size: size)
    try prefetch(scope.request.prefetchedKeyPaths, of: objects, scope.runtime)
    if !scope.request.returnsObjectsAsFaults {
      for object in objects { try object.fulfillFault() }
    }
    return objects
  }
}

extension FetchParameters {
  /// The request with ids in place of objects, for use in another context.
  func withIDs() -> FetchParameters {
    let request: FetchParameters = copy()
    request.predicate = predicate.map { given in
      makePredicate(given.predicateNode().mapConstants(FetchParameters.ids))
    }
    return request
  }

  static func ids(for value: PredicateValue) -> PredicateValue {
    switch value {
    case .object(let box):
      return (box.value as? NSManagedObject).map { .object(ObjectBox($0.objectID)) } ?? value
    case .array(let members): return .array(members.map(ids))
    case .set(let members): return .set(Set(members.map(ids)))
    default: return value
    }
  }
}

// MARK: Saving to the parent

extension NSManagedObjectContext {
  /// Passes the changes of this context to the parent. All or nothing: everything that can fail is done
  /// before the parent is changed.
  final func push(_ changes: PendingChanges, _ values: TransformedValues, to parent: NSManagedObjectContext)
    throws
  {
    let inserted: [PushedObject] = changes.inserted.map { pushed($0, isNew: true, values) }
    let updated: [PushedObject] = changes.updated.map { pushed($0, isNew: false, values) }
    let deleted: [NSManagedObjectID] = changes.deleted.map(\.objectID)
    try parent.runAndWait { try parent.receive(inserted, updated, deleted) }
    for object in changes.inserted + changes.updated {
      work.recordSave(of: object)
      object.commitToParent()
    }
  }

  private func pushed(_ object: NSManagedObject, isNew: Bool, _ values: TransformedValues) -> PushedObject {
    var pushed = PushedObject(id: object.objectID)
    guard let state = object.state else { return pushed }
    var changed: SlotSet =
      isNew ? SlotSet(0..<object.runtime.slotCount) : object.persistentChanges(values)
    for slot in state.changed.members where object.runtime.compactSlots[slot].role == .transient {
      changed.insert(slot)
    }
    for number in changed.members {
      switch object.runtime.layout.slots[number].role {
      case .stored(.toOne, _):
        if !state.values[number].isUnset {
          pushed.values.append((number, .toOne(state.values[number].target?.objectID)))
        }
      case .stored:
        let value: SlotValue = state.values[number]
        if !value.isUnset { pushed.values.append((number, .attribute(object.keptValue(number, value)))) }
      case .toMany:
        guard let many = state.toMany(number), many.isChanged else { continue }
        pushed.edits.append(
          (
            number, many.added.map(\.objectID), many.removed.map(\.objectID),
            many.isReordered ? object.members(number).map(\.objectID) : nil
          ))
      case .transient:
        let value: SlotValue = state.values[number]
        // An object of this context must not be used in another one.
        if value.isUnset || value.attributeValue(kind: .transformable) is NSManagedObject { continue }
        pushed.values.append((number, .attribute(value)))
      case .fetched, .composite: continue
      }
    }
    return pushed
  }

  /// Applies the changes of a child.
  private func receive(_ inserted: [PushedObject], _ updated: [PushedObject], _ deleted: [NSManagedObjectID])
    throws
  {
    let known: [NSManagedObject] = try updated.map { change in
      let object: NSManagedObject = lookUp(change.id)
      try object.fulfillFault()
      if object.isDeleted || object.flags.contains(.inaccessible) {
        throw GraphError.deletedInParent(object.objectID)
      }
      return object
    }
    let made: [NSManagedObject] = inserted.map { makeInserted($0.id) }
    apply(Array(zip(made + known, inserted + updated)))
    for id in deleted { deleteObject(lookUp(id)) }
    endEvent()
  }

  private func makeInserted(_ id: NSManagedObjectID) -> NSManagedObject {
    if let known = lookUpRegistered(id) { return known }
    let object: NSManagedObject = id.runtime.objectClass.init(NewManagedObject(id.entity, nil))
    object.key = id.key
    object.store = id.isTemporaryID ? nil : id.store
    object.identityMap = identityMap
    object.insertFlags(identityMap.marks)
    identityMap.insert(
      object, store: object.store?.ordinal ?? 0, root: id.runtime.layout.rootIndex, key: id.key)
    object.state = ObjectState(values: id.runtime.template)
    noteInsertion(of: object)
    object.insertFlags(.awoken)
    object.awakeFromInsert()
    return object
  }

  /// To-manys first, each with the child's changes, in its order; then to-ones and the other sides of both.
  /// The child had both sides consistent with what it had read, but the objects here may have other partners
  /// since, by changes that are not saved or that the child has not read.
  private func apply(_ changes: [(object: NSManagedObject, pushed: PushedObject)]) {
    var linked: [(owner: NSManagedObject, slot: Int, member: NSManagedObject, isAdded: Bool)] = []
    for (object, pushed) in changes {
      for case (let slot, .attribute(let value)) in pushed.values { object.setSlot(slot, value) }
      for edit in pushed.edits {
        for member in edit.removed.map({ self.lookUp($0) }) where object.isMemberHere(edit.slot, member) {
          object.removeMember(edit.slot, member)
          linked.append((object, edit.slot, member, false))
        }
        for member in edit.added.map({ self.lookUp($0) }) where !object.isMemberHere(edit.slot, member) {
          object.addMember(edit.slot, member)
          linked.append((object, edit.slot, member, true))
        }
        if let order = edit.order {
          object.reorder(edit.slot, ObjectList(order.map { self.lookUp($0) }))
        }
      }
    }
    for (object, pushed) in changes {
      for case (let slot, .toOne(let id)) in pushed.values {
        object.setToOne(slot, id.map { self.lookUp($0) })
      }
    }
    for (owner, slot, member, isAdded) in linked {
      if isAdded {
        owner.linkInverse(slot, member)
      } else if let inverse = owner.runtime.layout.slots[slot].inverseSlot {
        member.unlink(inverse, owner)
      }
    }
  }
}

extension NSManagedObject {
  /// The values passed to the parent become the object's saved state.
  fileprivate final func commitToParent() {
    let state: ObjectState = ensureState()
    var base: [SlotValue] = state.base ?? Array(repeating: .unset, count: runtime.slotCount)
    for slot in 0..<runtime.slotCount {
      if let many = state.toMany(slot) {
        many.commit()
      } else if case .stored = runtime.layout.slots[slot].role {
        if state.values[slot].isUnset, row == nil { state.values[slot] = .null }
        state.values[slot] = keptValue(slot, state.values[slot])
        base[slot] = state.values[slot]
      }
    }
    state.base = base
    state.removeAllChanges()
  }
}

// MARK: Ids

// A saved object has a new id in its context at once. Contexts below are notified before that context runs
// anything else, so before an object can reach them under the new id; they change the ids of their own
// objects on their own queues, before they look any up (Decisions/0019). So a context never has two objects
// for one row.

extension NSManagedObjectContext {
  /// Reads from the parent, with the result in ids that this context uses.
  final func reading<Result>(_ parent: NSManagedObjectContext, _ body: () throws -> Result) throws -> Result {
    let (result, counts): (Result, StoreTally.Counts) = try parent.runAndWait {
      let before: StoreTally.Counts = parent.tally.counts
      let outer: NSManagedObjectContext? = parent.readAhead.asker
      parent.readAhead.asker = asker
      defer { parent.readAhead.asker = outer }
      return (try parent.throwingReadFailures(body), parent.tally.counts - before)
    }
    tally.counts += counts
    applyPermanentIDs()
    return result
  }

  /// The ids that objects are about to get, by the keys under which children may have them.
  final func newIDs(of objects: [NSManagedObject], keys: [Int64], store: NSPersistentStore) -> [Int64:
    NSManagedObjectID]
  {
    if children.isEmpty { return [:] }
    var ids: [Int64: NSManagedObjectID] = [:]
    for (object, key) in zip(objects, keys) where object.key < 0 {
      ids[object.key] = NSManagedObjectID(runtime: object.runtime, key: key, store: store)
    }
    return ids
  }

  /// Announces the permanent ids of objects to all contexts below.
  final func propagatePermanentIDs(_ ids: [Int64: NSManagedObjectID]) {
    if ids.isEmpty { return }
    permanentIDs.record(ids)
    announce(ids)
  }

  /// Grandchildren are notified directly: they may receive an id in other ways than through the child.
  private func announce(_ ids: [Int64: NSManagedObjectID]) {
    for child in children.all {
      let isFirst: Bool = child.permanentIDs.announce(ids)
      child.announce(ids)
      if isFirst { child.performIfAlive { $0.applyPermanentIDs() } }
    }
  }

  /// Gives objects the ids that the contexts above have announced. Must be called before any object is looked
  /// up.
  final func applyPermanentIDs() {
    if parent == nil { return }
    let ids: [Int64: NSManagedObjectID] = permanentIDs.removeAnnounced()
    if ids.isEmpty { return }
    for (key, id) in ids {
      let root: Int = id.runtime.layout.rootIndex
      if let object = identityMap.object(store: 0, root: root, key: key) { rename(object, id) }
    }
    // What is being passed between contexts still uses the old keys. Children may have got such objects after
    // they were notified.
    propagatePermanentIDs(ids)
  }

  private func rename(_ object: NSManagedObject, _ id: NSManagedObjectID) {
    guard object.key < 0, let store = id.store, object.identityMap === identityMap else { return }
    let root: Int = object.runtime.layout.rootIndex
    // Another context of the coordinator may have read the row, and the program may have used its id here,
    // while the save was in progress.
    guard identityMap.object(store: store.ordinal, root: root, key: id.key) == nil else { return }
    identityMap.remove(object, store: 0, root: root, key: object.key)
    object.store = store
    object.key = id.key
    object.cachedID = nil
    identityMap.insert(object, store: store.ordinal, root: root, key: id.key)
  }

  /// Obtains permanent ids for objects that came from the parent with temporary ones.
  final func obtainParentsIDs(for objects: [NSManagedObject]) throws {
    guard let parent, !objects.isEmpty else { return }
    let ids: [NSManagedObjectID] = objects.map(\.objectID)
    // The parent announces them to its children.
    try reading(parent) {
      try parent.obtainIDs(for: ids.map { parent.lookUp($0) })
    }
  }
}
