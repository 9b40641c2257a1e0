import CoreDataStorage
import Foundation

/// The result of a fetch as ids: twelve bytes a row, eight if all rows are of one entity and store.
struct FetchedIDs {
  private var keys: [Int64] = []
  /// For each row the index of its entity and the place of its store in `stores`; empty as long as all rows
  /// have those of `first`.
  private var kinds: [Kind] = []
  private var first = Kind(entity: 0, store: 0)
  private(set) var stores: [NSPersistentStore] = []
  /// Objects without a row: those that are new in a context.
  fileprivate(set) var unsaved: [Int: NSManagedObject] = [:]

  private struct Kind: Equatable {
    var entity: Int32
    var store: UInt16

    init(entity: Int32, store: Int) {
      self.entity = entity
      self.store = UInt16(truncatingIfNeeded: store)
    }
  }

  var count: Int { keys.count }

  init() {}

  init(_ ids: [RowID], in store: NSPersistentStore) {
    keys.reserveCapacity(ids.count)
    append(ids, in: store)
  }

  mutating func append(_ ids: [RowID], in store: NSPersistentStore) {
    let place: Int = place(of: store)
    for id in ids { append(id.key, Kind(entity: id.entity, store: place)) }
  }

  /// Appends an object: its id, or itself if it has no row.
  mutating func append(_ object: NSManagedObject) {
    guard let store = object.store, object.key > 0 else {
      unsaved[keys.count] = object
      append(0, keys.isEmpty ? first : kind(keys.count - 1))
      return
    }
    append(object.key, Kind(entity: Int32(truncatingIfNeeded: object.runtime.index), store: place(of: store)))
  }

  /// Appends a member of another result.
  mutating func append(_ other: FetchedIDs, _ place: Int) {
    if let object = other.unsaved[place] { return append(object) }
    let kind: Kind = other.kind(place)
    let store: Int = self.place(of: other.stores[Int(kind.store)])
    append(other.keys[place], Kind(entity: kind.entity, store: store))
  }

  private mutating func append(_ key: Int64, _ kind: Kind) {
    if keys.isEmpty { first = kind }
    if kinds.isEmpty, kind != first { kinds = Array(repeating: first, count: keys.count) }
    if !kinds.isEmpty { kinds.append(kind) }
    keys.append(key)
  }

  private mutating func place(of store: NSPersistentStore) -> Int {
    if let known = stores.firstIndex(where: { $0 === store }) { return known }
    stores.append(store)
    return stores.count - 1
  }

  private func kind(_ place: Int) -> Kind { kinds.isEmpty ? first : kinds[place] }

  // MARK: Reading

  func id(_ place: Int) -> RowID { RowID(entity: Int(kind(place).entity), key: keys[place]) }

  /// The store of a member that has a row.
  func store(_ place: Int) -> NSPersistentStore { stores[Int(kind(place).store)] }

  func objectID(_ place: Int) -> NSManagedObjectID {
    if !unsaved.isEmpty, let object = unsaved[place] { return object.objectID }
    let id: RowID = id(place)
    let store: NSPersistentStore = store(place)
    return NSManagedObjectID(runtime: store.runtime.entities[Int(id.entity)], key: id.key, store: store)
  }

  var objectIDs: [NSManagedObjectID] { (0..<count).map { objectID($0) } }

  /// The members of a range that have rows of one store, as large as possible; nil if the first has none.
  func run(at start: Int, upTo end: Int) -> (ids: [RowID], store: NSPersistentStore)? {
    if unsaved[start] != nil { return nil }
    let store: NSPersistentStore = store(start)
    var ids: [RowID] = []
    var place: Int = start
    while place < end, unsaved[place] == nil, self.store(place) === store {
      ids.append(id(place))
      place += 1
    }
    return (ids, store)
  }

  /// The keys of the members of a range, if all members of the list have rows of one store: then these are of
  /// one hierarchy, as a fetch is.
  func rows(in range: Range<Int>) -> (keys: [Int64], store: NSPersistentStore, root: EntityLayout)? {
    guard !range.isEmpty, unsaved.isEmpty, stores.count == 1, let store = stores.first else { return nil }
    let entities: [EntityRuntime] = store.runtime.entities
    let root: Int = entities[Int(kind(range.lowerBound).entity)].layout.rootIndex
    return (Array(keys[range]), store, entities[root].layout)
  }

  /// The positions of those of the objects that are members.
  func places(of objects: [NSManagedObject]) -> [ObjectIdentifier: Int] {
    var result: [ObjectIdentifier: Int] = [:]
    var wanted: [Int64: [NSManagedObject]] = [:]
    for object in objects where object.store != nil && object.key > 0 {
      wanted[object.key, default: []].append(object)
    }
    for (place, key) in keys.enumerated() where unsaved[place] == nil {
      guard let candidates = wanted[key] else { continue }
      for object in candidates
      where object.store === store(place)
        && object.runtime.layout.rootIndex
          == store(place).runtime.entities[Int(kind(place).entity)].layout.rootIndex
      {
        result[ObjectIdentifier(object)] = place
      }
    }
    for (place, object) in unsaved { result[ObjectIdentifier(object)] = place }
    return result
  }

  /// The entities of the members.
  func runtimes() -> [EntityRuntime] {
    var seen: Set<Int> = []
    var result: [EntityRuntime] = []
    func note(_ runtime: EntityRuntime) {
      if seen.insert(runtime.index).inserted { result.append(runtime) }
    }
    for object in unsaved.values { note(object.runtime) }
    let rows: Int = kinds.isEmpty && !keys.isEmpty && unsaved.count < count ? 1 : kinds.count
    var last: Kind?
    for place in 0..<rows where unsaved[place] == nil || kinds.isEmpty {
      let kind: Kind = kind(place)
      if kind == last { continue }
      last = kind
      note(stores[Int(kind.store)].runtime.entities[Int(kind.entity)])
    }
    return result
  }
}

extension NSManagedObjectContext {
  /// The ids of a fetch's result, in order. Ids are read first, and objects only where unsaved changes or
  /// conditions that a store can't evaluate need them: page by page, or a logarithmic number.
  ///
  /// Sorted results of several stores, and those that are sorted by code of the program, have to be compared
  /// object by object: all of them are in memory for the time of this call.
  final func fetchedIDs(_ request: FetchParameters) throws -> FetchedIDs {
    if let parent {
      return try fetchedIDs(
        try ResolvedFetch(request, context: self).keepingClientPredicates(), from: parent)
    }
    return try withScope(request) { scope in
      if scope.needsObjects, !scope.isInOrder {
        var result = FetchedIDs()
        for object in try objects(scope) { result.append(object) }
        return result
      }
      var ids = FetchedIDs()
      for store in scope.stores {
        let found: [RowID] = try tally.counting {
          try store.pinnedOperations(for: scope.caller).fetchIDs(try scope.plan(for: store))
        }
        ids.append(found, in: store)
      }
      guard scope.needsObjects else { return ids }
      ids = try scope.matches(ids, in: scope.stores.first)
      return try scope.pageOfIDs(ids)
    }
  }

  /// The same from the parent, whose unsaved changes count.
  final func fetchedIDs(_ scope: ResolvedFetch, from parent: NSManagedObjectContext) throws -> FetchedIDs {
    guard scope.isInOrder else {
      var result = FetchedIDs()
      for object in try fetchObjects(scope, from: parent) { result.append(object) }
      return result
    }
    let asked = Transfer(value: scope.requestForParent())
    let (found, unsaved): (FetchedIDs, [Int: NSManagedObjectID]) = try reading(parent) {
      let ids: FetchedIDs = parent.withoutDeleted(try parent.fetchedIDs(asked.value))
      return (ids, ids.unsaved.mapValues(\.objectID))
    }
    var ids: FetchedIDs = found
    ids.unsaved = unsaved.mapValues { self.lookUp($0) }
    ids = try scope.matches(ids, in: nil)
    return try scope.pageOfIDs(ids)
  }

  /// The members that a child gets: without those that are deleted here, as they are in a list that leaves
  /// unsaved changes out.
  private final func withoutDeleted(_ ids: FetchedIDs) -> FetchedIDs {
    if work.deleted.isEmpty { return ids }
    let places: [ObjectIdentifier: Int] = ids.places(of: Array(work.deleted))
    let gone = Set(work.deleted.compactMap { places[ObjectIdentifier($0)] })
    if gone.isEmpty { return ids }
    var result = FetchedIDs()
    for place in 0..<ids.count where !gone.contains(place) { result.append(ids, place) }
    return result
  }

  // MARK: Objects of ids

  final func object(_ ids: FetchedIDs, _ place: Int) -> NSManagedObject {
    ids.unsaved[place].map(present) ?? object(ids.id(place), store: ids.store(place))
  }

  /// The object for one that was new when a list was made. A reset puts it outside the context; if it was
  /// saved before, its row is loaded as those of the others are.
  private final func present(_ object: NSManagedObject) -> NSManagedObject {
    if object.identityMap === identityMap || object.isDeleted { return object }
    applyPermanentIDs()
    let id: NSManagedObjectID = object.objectID
    guard let saved = id.isTemporaryID ? permanentIDs[id.key] : id else { return object }
    return lookUp(saved)
  }

  /// The objects of some members, made of their rows, which one statement reads. nil if faults must be made
  /// and looked at one by one: if some are registered or have rows in memory, which need not be read; and for
  /// stores of programs. A member that the store no longer has stays a fault.
  final func objectsOfRows(_ ids: FetchedIDs, _ range: Range<Int>) throws -> [NSManagedObject]? {
    guard parent == nil, let (keys, store, root) = ids.rows(in: range), !store.observesRegistration,
      try store.pinnedOperations(for: StoreCaller(self)).fetchesRows,
      !identityMap.hasObjects(store: store.ordinal, root: root.index, among: keys),
      !store.mayKeepRows(root: root.index, among: keys)
    else { return nil }
    let objects: [NSManagedObject] = self.objects(
      for: try store.rows(of: root, keys: keys, for: self), store: store)
    if objects.count == keys.count, zip(objects, keys).allSatisfy({ $0.key == $1 }) { return objects }
    // In another order, or not all.
    return withExtendedLifetime(objects) { self.objects(ids, range) }
  }

  /// The objects of some members, as faults that are loaded together.
  final func objects(_ ids: FetchedIDs, _ range: Range<Int>) -> [NSManagedObject] {
    var result: [NSManagedObject] = []
    result.reserveCapacity(range.count)
    var place: Int = range.lowerBound
    while place < range.upperBound {
      if let object = ids.unsaved[place] {
        result.append(present(object))
        place += 1
      } else if let (run, store) = ids.run(at: place, upTo: range.upperBound) {
        let root: Int = store.runtime.entities[Int(run[0].entity)].layout.rootIndex
        result += objects(
          for: run, store: store, layout: store.runtime.entities[root].layout, pageSize: run.count,
          restoresDeleted: false)
        place += run.count
      }
    }
    return result
  }
}
