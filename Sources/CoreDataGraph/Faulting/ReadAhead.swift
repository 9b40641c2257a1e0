import CoreDataStorage
import Foundation

/// What a context has read ahead: of each relationship the batch that was used last, so that memory is
/// bounded by the number of relationships.
struct ReadAhead {
  private struct Place: Hashable {
    let entity: Int
    let slot: Int
  }

  private var batches: [Place: RelationshipBatch] = [:]
  /// The page of faults that was loaded last for a context below, whose objects are not registered here.
  private var page: HeldRows?
  /// The context below that is reading from this one, if one is.
  var asker: NSManagedObjectContext?
  /// The relationships whose faults were explained.
  var explained: Set<String> = []
  /// How many operations of the framework are running whose faults are nobody's mistake.
  var exemptions: Int = 0

  /// The batch that was used last.
  private var last: RelationshipBatch?

  /// The batch of a relationship for the objects of a slab.
  mutating func batch(
    _ slab: RowSlab, _ slot: Int, of runtime: EntityRuntime, _ store: NSPersistentStore
  ) -> RelationshipBatch {
    if let last, last.slot == slot, last.isOf(slab, store), last.entity.layout.family.contains(runtime.index)
    {
      return last
    }
    let declaring: Int = runtime.layout.slots[slot].declaringEntity
    let place = Place(entity: declaring, slot: slot)
    if let known = batches[place], known.isOf(slab, store) {
      last = known
      return known
    }
    let made = RelationshipBatch(runtime.model.entities[declaring], slot, slab, store)
    batches[place] = made
    last = made
    return made
  }

  /// A row that was read ahead.
  func row(of object: NSManagedObject, in store: NSPersistentStore, age: TimeInterval) -> RowRef? {
    for batch in batches.values {
      if let row = batch.rows?.row(of: object, in: store, age: age) { return row }
    }
    return page?.row(of: object, in: store, age: age)
  }

  /// Whether the rows of a slab were read ahead: their objects are about to be used, and need not exist yet.
  func contains(_ slab: RowSlab?) -> Bool {
    guard let slab else { return false }
    return page?.contains(slab) == true || batches.values.contains { $0.rows?.contains(slab) == true }
  }

  mutating func hold(_ page: HeldRows) { self.page = page }

  /// Called when what was read may be outdated, or is not needed any more.
  mutating func removeAll() {
    if !batches.isEmpty { (batches, last) = ([:], nil) }
    page = nil
  }
}

extension NSManagedObjectContext {
  /// Whether objects of a store are read ahead. A program that wants values of age 0 wants each read when it
  /// is needed; so does a store that is called for each object.
  private final func readsAhead(_ store: NSPersistentStore) -> Bool {
    asker.stalenessInterval != 0 && !store.readsOneByOne
  }

  /// The context that is reading: this one, or the one below that reads from it.
  final var asker: NSManagedObjectContext { readAhead.asker ?? self }

  /// Whether a deletion or a save is reading: it needs what the store has now.
  private final var isReadingForChanges: Bool { asker.readFailures != nil }

  // MARK: To-one

  /// Called with the target of a to-one relationship that was read from an object's row: notes which
  /// relationship the target's fault belongs to.
  final func noteTarget(_ target: NSManagedObject, of owner: NSManagedObject, _ slot: Int) {
    guard target.rowBase == nil, target.faultBatch == nil, target.flags.contains(.fault),
      let slab = owner.rowSlab, slab.count > 1, let store = owner.store, readsAhead(store)
    else { return }
    target.faultBatch = readAhead.batch(slab, slot, of: owner.runtime, store)
  }

  // MARK: Rows

  /// A row that was read ahead, for a fault that the row cache can't fill.
  final func rowReadAhead(for object: NSManagedObject, in store: NSPersistentStore) -> RowRef? {
    readAhead.row(of: object, in: store, age: asker.stalenessInterval)
  }

  /// The keys to read with a fault's page: those of the other faults of its relationship. None at the first
  /// fault. Throws if the context refuses a second one.
  final func keysAhead(of object: NSManagedObject, _ batch: RelationshipBatch, page: [Int64]) throws
    -> [Int64]
  {
    batch.rowFaults += 1
    guard batch.rowFaults > 1, readsAhead(batch.store) else { return [] }
    let root: Int = object.runtime.layout.rootIndex
    let own = Set(page)
    var keys: [Int64] = batch.targetKeys(after: object.key).filter { !own.contains($0) }
    if case .stored = batch.entity.layout.slots[batch.slot].role {
      keys = keysOfHeldTargets(keys, batch)
    }
    var ahead: [Int64] = []
    // The row cache is asked for no more keys than are read.
    for key in unloaded(keys.filter { !batch.wasAsked($0) }, root, in: batch.store) {
      if ahead.count == RelationshipBatch.size { break }
      if try batch.store.cachedRow(of: object.runtime.layout, key: key, for: self) == nil {
        ahead.append(key)
      }
    }
    if !ahead.isEmpty { try judge(batch, object, together: ahead.count) }
    batch.noteAsked(ahead)
    return ahead
  }

  /// Those of the targets that an object refers to which a context holds.
  private final func keysOfHeldTargets(_ keys: [Int64], _ batch: RelationshipBatch) -> [Int64] {
    let wanted = Set(keys)
    guard case .stored(.toOne, let word) = batch.entity.layout.slots[batch.slot].role,
      let slab = batch.slab, !readAhead.contains(slab)
    else { return keys }
    var owners: [(owner: Int64, target: Int64)] = []
    for position in 0..<slab.count {
      let row: RowRef = slab.row(position)
      guard batch.entity.layout.family.contains(row.entity), row.hasValue(word) else { continue }
      let target: Int64 = row.target(word).key
      if wanted.contains(target) { owners.append((row.key, target)) }
    }
    let held: [Bool] = isHeld(owners.map(\.owner), batch.entity.layout.rootIndex, in: batch.store)
    let targets = Set(zip(owners, held).filter(\.1).map(\.0.target))
    return keys.filter { targets.contains($0) }
  }

  /// Whether objects with these keys are registered here or in a context below.
  private final func isHeld(_ keys: [Int64], _ root: Int, in store: NSPersistentStore) -> [Bool] {
    var result: [Bool] = identityMap.withTable(store: store.ordinal, root: root) { table in
      keys.map { table.find($0) != nil }
    }
    for child in children.all {
      for (place, isHeld) in child.isHeld(keys, root, in: store).enumerated() where isHeld {
        result[place] = true
      }
    }
    return result
  }

  /// Those of the keys whose objects here have no row yet.
  private final func unloaded(_ keys: [Int64], _ root: Int, in store: NSPersistentStore) -> [Int64] {
    // Released after the lock: the last reference to an object may be one of these.
    var known: [NSManagedObject] = []
    let result: [Int64] = identityMap.withTable(store: store.ordinal, root: root) { table in
      keys.filter { key in
        guard let object = IdentityMap.find(key, in: table) else { return true }
        known.append(object)
        return object.rowBase == nil && !object.flags.contains(.remotelyDeleted)
      }
    }
    withExtendedLifetime(known) {}
    return result
  }

  // MARK: Members

  /// The stored members of a relationship that the program reads, as faults that are loaded together.
  final func membersAhead(of object: NSManagedObject, slot: Int) throws -> [NSManagedObject] {
    guard parent == nil, let store = object.store,
      let destination = object.runtime.layout.slots[slot].destination,
      readsAhead(store), !isReadingForChanges, let slab = object.rowSlab, slab.count > 1
    else {
      return try loadMembers(of: object, slot: slot)
    }
    faultCounts.faults += 1
    let batch: RelationshipBatch = readAhead.batch(slab, slot, of: object.runtime, store)
    let ids: [RowID]
    if let known = batch.takeMembers(of: object.key, age: asker.stalenessInterval) {
      faultCounts.cacheHits += 1
      ids = known
    } else {
      ids = try readMembers(of: object, batch)
    }
    return objects(
      for: ids, store: store, layout: store.runtime.entities[destination].layout,
      pageSize: NSManagedObjectContext.memberPageSize, relationship: batch)
  }

  private final func readMembers(of object: NSManagedObject, _ batch: RelationshipBatch) throws -> [RowID] {
    batch.relationshipFaults += 1
    let owners: [RowID] = batch.relationshipFaults > 1 ? ownersAhead(of: object, batch) : []
    guard owners.count > 1 else {
      let ids: [RowID] = try storedMemberIDs(of: object, slot: batch.slot, in: batch.store)
      batch.note(ids)
      return ids
    }
    try judge(batch, object, together: owners.count - 1)
    let (changes, time) = (batch.store.changes, ContinuousClock.now)
    let lists: [[RowID]] = try tally.counting {
      try batch.store.pinnedOperations(for: StoreCaller(self)).members(
        of: batch.entity.layout, slot: batch.slot, owners: owners)
    }
    batch.keep(lists, of: owners, changes: changes, time: time)
    return batch.takeMembers(of: object.key, age: -1) ?? lists[0]
  }

  /// The owner, and those read with it whose members are not loaded.
  private final func ownersAhead(of object: NSManagedObject, _ batch: RelationshipBatch) -> [RowID] {
    let all: [RowID] = batch.owners(from: object.key)
    let root: Int = batch.entity.layout.rootIndex
    let held: [Bool] =
      readAhead.contains(batch.slab)
      ? Array(repeating: true, count: all.count) : isHeld(all.map(\.key), root, in: batch.store)
    var known: [NSManagedObject] = []
    let owners: [RowID] = identityMap.withTable(store: batch.store.ordinal, root: root) { table in
      zip(all, held).compactMap { id, isHeld in
        guard isHeld else { return nil }
        if let owner = IdentityMap.find(id.key, in: table) {
          known.append(owner)
          if owner !== object, owner.state?.toMany(batch.slot)?.members != nil { return nil }
        }
        return id
      }
    }
    withExtendedLifetime(known) {}
    let limit: Int = batch.ownerLimit
    if owners.first?.key == object.key { return Array(owners.prefix(limit)) }
    // The object's row was replaced: it is no longer in the slab under this key.
    return [RowID(entity: object.runtime.index, key: object.key)] + owners.prefix(limit - 1)
  }
}
