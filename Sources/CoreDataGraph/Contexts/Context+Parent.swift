import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// Child contexts. What a store is for a root context, the parent is for a child: objects are read from the
// parent's, unsaved changes included, and saving hands the changes over to it. Rows are shared; what the
// parent has set over a row travels as values, objects in them as ids, since objects belong to
// one context each.

/// A value on its way from one context to another.
enum CarriedValue {
  case attribute(SlotValue)
  case toOne(NSManagedObjectID?)
  case toMany([NSManagedObjectID])
}

/// An object as the parent has it.
struct CarriedObject: @unchecked Sendable {
  // Sendable: ids, rows that no one changes any more, and immutable values.
  let id: NSManagedObjectID
  let row: RowRef?
  /// What the row does not tell.
  var values: [(slot: Int, value: CarriedValue)] = []
  /// Not loaded there: only the id is known.
  var isFault = false
}

/// A changed object on its way up.
private struct PushedObject: @unchecked Sendable {
  // Sendable: as CarriedObject.
  let id: NSManagedObjectID
  var values: [(slot: Int, value: CarriedValue)] = []
  var edits:
    [(slot: Int, added: [NSManagedObjectID], removed: [NSManagedObjectID], order: [NSManagedObjectID]?)] =
      []
}

// MARK: Down: reading

extension NSManagedObjectContext {
  /// What a child gets of an object here; nil when it is deleted.
  private func carry(_ object: NSManagedObject, loading: Bool) throws -> CarriedObject? {
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
        // What is not loaded here the child asks for when it wants it.
        let many: ToManyState? = state?.toMany(number)
        if object.row == nil || many?.isChanged == true && many?.members != nil {
          carried.values.append((number, .toMany(object.members(number).map(\.objectID))))
        }
      case .transient, .fetched, .composite: continue
      }
    }
    return carried
  }

  /// Gives an object here what the parent has of it; what was changed here stays.
  private func apply(_ carried: CarriedObject, to object: NSManagedObject) {
    // Looked up by an id that it had before this context was there to be told.
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
      // The parent's members, with what was added and removed here.
      let stored: ToManyState? = state.toMany(number)
      many.unload()
      if let members = stored?.members { many.load(members.objects) }
      state.values[number] = .object(many)
    }
    state.event = old.event
  }

  final func load(_ object: NSManagedObject, from parent: NSManagedObjectContext) throws {
    let id: NSManagedObjectID = object.objectID
    let carried: CarriedObject? = try reading(parent) {
      try parent.carry(parent.lookUp(id), loading: true)
    }
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
    return members.map { self.object(for: $0) }
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

  /// The objects that the parent does not have any more.
  final func missing(among objects: [NSManagedObject], in parent: NSManagedObjectContext) -> [NSManagedObject]
  {
    let ids: [NSManagedObjectID] = objects.map(\.objectID)
    let gone: Set<NSManagedObjectID> = parent.runAndWait {
      let theirs: [NSManagedObject] = ids.map { parent.lookUp($0) }
      let isGone: (NSManagedObject) -> Bool = { $0.isDeleted || $0.flags.contains(.inaccessible) }
      let missing: [NSManagedObject] = parent.missing(among: theirs.filter { !isGone($0) })
      return Set((theirs.filter(isGone) + missing).map(\.objectID))
    }
    return zip(objects, ids).filter { gone.contains($1) }.map(\.0)
  }

  /// The object here for one of the parent's; what is loaded here stays as it is.
  private func object(for carried: CarriedObject, refresh: Bool = false) -> NSManagedObject {
    let object: NSManagedObject = self.lookUp(carried.id)
    restoreRemotelyDeleted(object)
    let isNew: Bool = object.isFault && !object.hasSource
    if !carried.isFault, isNew || (refresh && !object.hasChanges) { apply(carried, to: object) }
    return object
  }

  /// Fetches through the parent, which counts its own unsaved changes in; those of this context are
  /// laid on top.
  final func fetchObjects(_ scope: ResolvedFetch, from parent: NSManagedObjectContext) throws
    -> [NSManagedObject]
  {
    var request: FetchParameters = scope.request.withIDs()
    request.resultType = .managedObjectResultType
    if !scope.pending.isEmpty || scope.residual != nil {
      request.limit = 0
      request.offset = 0
    }
    if let residual = scope.residual {
      request.predicate = residual.stored.map { makePredicate($0.mapConstants(FetchParameters.ids)) }
    }
    let asked = Transfer(value: request)
    let found: [CarriedObject] = try reading(parent) {
      try parent.fetchObjects(asked.value).compactMap { try parent.carry($0, loading: false) }
    }
    var objects: [NSManagedObject] = found.map { object(for: $0, refresh: scope.request.refreshes) }
    objects = try scope.matches(objects)
    if !scope.pending.isEmpty || scope.residual != nil { objects = try scope.finish(objects) }
    if !scope.request.returnsObjectsAsFaults {
      for object in objects { try object.fulfillFault() }
    }
    return objects
  }
}

extension FetchParameters {
  /// The request with ids in place of objects: for another context.
  func withIDs() -> FetchParameters {
    var request: FetchParameters = self
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

// MARK: Up: saving

extension NSManagedObjectContext {
  /// Makes the changes of this context the parent's. All or nothing: what can fail is done before anything is
  /// changed there.
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
    for slot in state.changed.members where object.runtime.brief[slot].role == .transient {
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
        // An object of this context has no business in another one.
        if value.isUnset || value.attributeValue(kind: .transformable) is NSManagedObject { continue }
        pushed.values.append((number, .attribute(value)))
      case .fetched, .composite: continue
      }
    }
    return pushed
  }

  /// A child's changes arrive.
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

  /// Lists first, each as the child has changed it, in its order; then to-ones and the other sides of both.
  /// The child had both sides in step with what it knew, but the objects here may have got other partners
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
  /// What was handed to the parent is what is.
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
    state.forgetChanges()
  }
}

// MARK: Ids

// A saved object has a new id in its context at once. Contexts below hear of it before that context runs
// anything else, so before an object can reach them under the new id; they rename their own objects on their
// own queues, before they look for any (Decisions/0019). So a context never has two objects for one row.

extension NSManagedObjectContext {
  /// What is asked of the parent, answered with ids that this context knows.
  private func reading<Result>(_ parent: NSManagedObjectContext, _ body: () throws -> Result) throws -> Result
  {
    let result: Result = try parent.runAndWait(body)
    applyPermanentIDs()
    return result
  }

  /// The ids that objects are about to get, by the keys under which children may know them.
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

  /// Lets all contexts below know which ids objects have got.
  final func propagatePermanentIDs(_ ids: [Int64: NSManagedObjectID]) {
    if ids.isEmpty { return }
    permanentIDs.record(ids)
    announce(ids)
  }

  /// To grandchildren directly: an id may come to them by other ways than through the child.
  private func announce(_ ids: [Int64: NSManagedObjectID]) {
    for child in children.all {
      let isFirst: Bool = child.permanentIDs.announce(ids)
      child.announce(ids)
      if isFirst { child.performIfAlive { $0.applyPermanentIDs() } }
    }
  }

  /// Gives objects the ids that the contexts above have announced. Nothing is to be looked up before.
  final func applyPermanentIDs() {
    if parent == nil { return }
    let ids: [Int64: NSManagedObjectID] = permanentIDs.removeAnnounced()
    if ids.isEmpty { return }
    for (key, id) in ids {
      let root: Int = id.runtime.layout.rootIndex
      if let object = identityMap.object(store: 0, root: root, key: key) { rename(object, id) }
    }
    // What was on its way up or down still goes by the old keys. Children may have met such objects since
    // they were told.
    propagatePermanentIDs(ids)
  }

  private func rename(_ object: NSManagedObject, _ id: NSManagedObjectID) {
    guard object.key < 0, let store = id.store, object.identityMap === identityMap else { return }
    let root: Int = object.runtime.layout.rootIndex
    // Another context of the coordinator can have read the row, and a program have brought its id here, while
    // the save was under way.
    guard identityMap.object(store: store.ordinal, root: root, key: id.key) == nil else { return }
    identityMap.remove(object, store: 0, root: root, key: object.key)
    object.store = store
    object.key = id.key
    object.cachedID = nil
    identityMap.insert(object, store: store.ordinal, root: root, key: id.key)
  }

  /// Permanent ids for objects that came from the parent with temporary ones.
  final func obtainParentsIDs(for objects: [NSManagedObject]) throws {
    guard let parent, !objects.isEmpty else { return }
    let ids: [NSManagedObjectID] = objects.map(\.objectID)
    // The parent tells its children.
    try reading(parent) {
      try parent.obtainIDs(for: ids.map { parent.lookUp($0) })
    }
  }
}
