import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// Prefetching: relationships of many objects are loaded at once, level by level of each key path.
//
//     to-one                                 one statement: the rows of the targets
//     to-many whose inverse is a to-one      one statement: the rows whose inverse is one of the owners
//     ordered and many-to-many               two: the members' ids, and the rows of those that are not loaded
//
// Lists of more than 500 owners, or 1,000 rows, take several of each.

extension NSManagedObjectContext {
  /// Loads the named relationships of all objects.
  final func prefetch(_ keyPaths: [String], of objects: [NSManagedObject], _ runtime: EntityRuntime) throws {
    // Relationships that key paths have in common are loaded once.
    var loaded: [String: [NSManagedObject]] = [:]
    for path in keyPaths {
      var level: [NSManagedObject] = objects
      var entity: EntityRuntime = runtime
      var done: String = ""
      for name in path.split(separator: ".").map(String.init) {
        guard let slot = entity.layout.slotByName[name],
          let destination = entity.layout.slots[slot].destination
        else {
          throw GraphError.unknownKey(name, entity.layout)
        }
        done += ".\(name)"
        if let known = loaded[done] {
          level = known
        } else {
          level = try prefetch(slot, of: level, entity)
          loaded[done] = level
        }
        entity = entity.model.entities[destination]
      }
    }
  }

  /// Loads one relationship, and returns the objects that it leads to.
  private final func prefetch(_ slot: Int, of objects: [NSManagedObject], _ entity: EntityRuntime) throws
    -> [NSManagedObject]
  {
    if entity.layout.slots[slot].isToOne {
      let targets: [NSManagedObject] = ObjectList(objects.compactMap { $0.toOneTarget(slot) }).objects
      try loadFaults(targets)
      return targets
    }
    try loadMembers(slot, of: objects, entity, withRows: true)
    return ObjectList(objects.flatMap { $0.members(slot).objects }).objects
  }

  /// Loads the members of one relationship of all objects, as far as they are not loaded; with their rows, or
  /// as faults.
  final func loadMembers(
    _ slot: Int, of objects: [NSManagedObject], _ entity: EntityRuntime, withRows: Bool
  ) throws {
    let waiting: [NSManagedObject] = objects.filter {
      $0.store != nil && $0.toManyState(slot).members == nil
    }
    if let parent {
      try prefetchMembers(slot, of: waiting, from: parent)
    } else {
      for (store, group) in Self.byStore(waiting) {
        try prefetchMembers(slot, of: group, entity, store, withRows: withRows)
      }
    }
    guard withRows else { return }
    var faults: [NSManagedObject] = []
    for object in objects {
      for member in object.members(slot) where member.isWithoutRow { faults.append(member) }
    }
    try loadFaults(faults)
  }

  static func byStore(_ objects: [NSManagedObject]) -> [(NSPersistentStore, [NSManagedObject])] {
    Dictionary(grouping: objects.filter { $0.store != nil }, by: { $0.store?.ordinal ?? 0 })
      .sorted { $0.key < $1.key }.compactMap { _, group in group[0].store.map { ($0, group) } }
  }

  private final func prefetchMembers(
    _ slot: Int, of owners: [NSManagedObject], _ entity: EntityRuntime, _ store: NSPersistentStore,
    withRows: Bool
  ) throws {
    let operations: any StoreOperations = try store.pinnedOperations(for: StoreCaller(self))
    if withRows, let inverse = Self.plainInverse(of: slot, entity), operations.fetchesRows {
      for start in stride(from: 0, to: owners.count, by: RelationshipBatch.size) {
        let part = owners[start..<min(owners.count, start + RelationshipBatch.size)]
        try loadMembers(slot, of: Array(part), entity, inverse, operations, store)
      }
      return
    }
    let members: [[RowID]] = try tally.counting {
      try operations.members(
        of: entity.layout, slot: slot, owners: owners.map { RowID(entity: $0.runtime.index, key: $0.key) })
    }
    let destination: Int = entity.layout.slots[slot].destination ?? entity.index
    for (object, ids) in zip(owners, members) {
      object.load(
        slot,
        self.objects(
          for: ids, store: store, layout: store.runtime.entities[destination].layout,
          pageSize: NSManagedObjectContext.memberPageSize))
    }
  }

  /// The inverse of a to-many relationship, if the members' rows say who their owner is, and nothing else
  /// about the relationship is stored.
  private static func plainInverse(of slot: Int, _ entity: EntityRuntime) -> (slot: Int, word: Int)? {
    let described: PropertySlot = entity.layout.slots[slot]
    guard let inverse = described.inverseSlot, let destination = described.destination,
      described.relationship?.isOrdered == false,
      case .stored(.toOne, let word) = entity.model.entities[destination].layout.slots[inverse].role
    else { return nil }
    return (inverse, word)
  }

  /// Reads the rows of the members of some owners, and with them who is a member of whom.
  private final func loadMembers(
    _ slot: Int, of owners: [NSManagedObject], _ entity: EntityRuntime, _ inverse: (slot: Int, word: Int),
    _ operations: any StoreOperations, _ store: NSPersistentStore
  ) throws {
    let destination: EntityLayout =
      entity.model.entities[entity.layout.slots[slot].destination ?? entity.index].layout
    let references: [PredicateValue] = owners.map { owner in
      .object(ObjectBox(ObjectReference(id: RowID(entity: owner.runtime.index, key: owner.key))))
    }
    let isOfOne = PredicateNode.comparison(
      ComparisonNode(
        left: .keyPath(destination.slots[inverse.slot].name), right: .constant(.array(references)),
        comparison: .in))
    let rows: RowBatch = try tally.counting {
      try operations.fetch(FetchPlan(entity: destination, predicate: isOfOne))
    }
    var keys: [Int64] = []
    rows.forEach { keys.append($0.hasValue(inverse.word) ? $0.target(inverse.word).key : 0) }
    var members: [Int64: [NSManagedObject]] = [:]
    for (object, owner) in zip(self.objects(for: rows, store: store), keys) {
      object.faultBatch = nil
      members[owner, default: []].append(object)
    }
    for owner in owners { owner.load(slot, (members[owner.key] ?? []).sorted { $0.key < $1.key }) }
  }

  /// Gives objects without a row theirs, all at once.
  final func loadFaults(_ objects: [NSManagedObject]) throws {
    let waiting: [NSManagedObject] = objects.filter(\.isWithoutRow)
    if waiting.isEmpty { return }
    let faults: [NSManagedObject] = ObjectList(waiting).objects
    if let parent { return try loadFaults(faults, from: parent) }
    for (store, all) in Self.byStore(faults) {
      // Those whose rows another context has, such as one below, take no statement.
      let group: [NSManagedObject] = try all.filter { try !fillFromCache($0, store) }
      // Of several hierarchies only if the model's relationship leads to none: each has its own table.
      for (root, part) in Dictionary(grouping: group, by: { $0.runtime.layout.rootIndex })
        .sorted(by: { $0.key < $1.key })
      {
        let layout: EntityLayout = part[0].runtime.model.entities[root].layout
        let rows: RowBatch = try store.rows(of: layout, keys: part.map(\.key), for: self)
        for object in self.objects(for: rows, store: store) { object.faultBatch = nil }
      }
    }
  }
}

extension NSManagedObject {
  /// Whether the values are in the store only.
  fileprivate final var isWithoutRow: Bool {
    flags.contains(.fault) && rowBase == nil && state?.base == nil && store != nil
  }
}

extension NSManagedObjectContext {
  /// Gives a fault the row that the store's row cache has; false if there is none.
  private final func fillFromCache(_ object: NSManagedObject, _ store: NSPersistentStore) throws -> Bool {
    guard !object.flags.contains(.remotelyDeleted),
      let row = try store.cachedRow(of: object.runtime.layout, key: object.key, for: self)
    else { return false }
    object.faultBatch = nil
    object.row = row
    return true
  }
}

// MARK: In child contexts

extension NSManagedObjectContext {
  private final func loadFaults(_ faults: [NSManagedObject], from parent: NSManagedObjectContext) throws {
    let ids: [NSManagedObjectID] = faults.map(\.objectID)
    let carried: [CarriedObject] = try reading(parent) {
      let theirs: [NSManagedObject] = ids.map { parent.lookUp($0) }
      try parent.loadFaults(theirs)
      return try theirs.compactMap { try parent.carry($0, loading: false) }
    }
    for one in carried { object(for: one).faultBatch = nil }
  }

  private final func prefetchMembers(
    _ slot: Int, of owners: [NSManagedObject], from parent: NSManagedObjectContext
  ) throws {
    if owners.isEmpty { return }
    let ids: [NSManagedObjectID] = owners.map(\.objectID)
    let entity: Int = owners[0].runtime.layout.slots[slot].declaringEntity
    let lists: [[CarriedObject]] = try reading(parent) {
      let theirs: [NSManagedObject] = ids.map { parent.lookUp($0) }
      try parent.loadFaults(theirs)
      let runtime: EntityRuntime = theirs[0].runtime.model.entities[entity]
      _ = try parent.prefetch(slot, of: theirs, runtime)
      return try theirs.map { owner in
        try owner.members(slot).compactMap { try parent.carry($0, loading: false) }
      }
    }
    for (owner, list) in zip(owners, lists) { owner.load(slot, list.map { object(for: $0) }) }
  }
}
