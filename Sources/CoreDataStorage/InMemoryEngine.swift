import CoreDataModel
import Foundation

/// A store in memory, which ends with the engine.
///
/// The whole state is one value under one lock. A reader copies the value (a few retains), releases the lock
/// and reads its copy: it sees the state before or after a save, never a part of one. A save first checks its
/// plan, changing nothing, and then applies it in place; a part is copied only if a reader still holds the
/// old state.
///
/// Cost: a save is linear in what it changes. A fetch scans every row of the hierarchy, unless it asks for
/// given rows or for those of given owners (`InMemoryIndexUse`); `rows` and `members` look rows up by key.
package final class InMemoryEngine: StoreEngine, @unchecked Sendable {
  // Sendable: `state`, `storedMetadata`, `modelMetadata` and `isClosed` are accessed under `lock` only; the
  // rest is immutable.

  package let layout: ModelLayout
  package let identifier: String
  package let readOnlyReason: ReadOnlyReason?
  package var rowFreshness: RowFreshness { .alwaysInMemory }

  private let schema: InMemorySchema
  private let lock = NSLock()
  private var state: InMemoryState
  private var storedMetadata: [String: Any]
  private var modelMetadata: [String: Any]?
  /// The entities of the store's configuration; nil for all.
  private let entityNames: Set<String>?
  private var isClosed = false

  /// An empty store. Throws `StoreError.unsupportedModel` if the model has a constraint that no
  /// store can keep.
  package init(
    layout: ModelLayout, identifier: String = UUID().uuidString, metadata: [String: Any] = [:],
    isReadOnly: Bool = false, hasOneKeySequence: Bool = false, entityNames: Set<String>? = nil
  ) throws {
    self.layout = layout
    self.entityNames = entityNames
    self.identifier = identifier
    readOnlyReason = isReadOnly ? .requested : nil
    schema = try InMemorySchema(layout: layout, hasOneKeySequence: hasOneKeySequence)
    state = InMemoryState(schema: schema)
    storedMetadata = metadata
  }

  // MARK: Metadata

  package var metadata: [String: Any] {
    lock.withLock {
      let own: [String: Any] = modelMetadata ?? makeModelMetadata()
      modelMetadata = own
      return storedMetadata.merging(own) { $1 }
    }
  }

  /// What programs ask a store for that wants to know whether it fits a model. Made when it is asked for:
  /// hashing a model costs more than opening a store in memory.
  private func makeModelMetadata() -> [String: Any] {
    typealias Key = StoreMetadata.Key
    let fresh: StoreMetadata = .fresh(type: "InMemory", model: layout.model, entityNames: entityNames)
    var own: [String: Any] = fresh.values.filter { key, _ in
      [Key.hashes, Key.hashesVersion, Key.identifiers, Key.framework].contains(key)
    }
    (own[Key.type], own[Key.uuid]) = ("InMemory", identifier)
    return own
  }

  /// Metadata takes effect when it is set.
  package var hasUnsavedMetadata: Bool { false }

  package func setMetadata(_ metadata: [String: Any]) throws {
    if isReadOnly { throw StoreError.readOnly(url: nil, .requested) }
    try lock.withLock {
      if isClosed { throw StoreError.closed }
      storedMetadata = metadata
    }
  }

  // MARK: Reading

  /// The current state, for as long as the caller holds it.
  func snapshot() throws -> InMemoryState {
    try lock.withLock {
      if isClosed { throw StoreError.closed }
      return state
    }
  }

  package func fetch(_ plan: FetchPlan) throws -> RowBatch {
    let rows: [RowRef] = try InMemoryQuery(plan, snapshot()).run()
    StoreTally.note(rows: rows.count)
    return batch(of: rows, layout: plan.entity)
  }

  package func fetchIDs(_ plan: FetchPlan) throws -> [RowID] {
    let ids: [RowID] = try InMemoryQuery(plan, snapshot()).run().map(\.id)
    StoreTally.note(rows: ids.count)
    return ids
  }

  package func count(_ plan: FetchPlan) throws -> Int {
    var unordered: FetchPlan = plan
    // Only the count is needed; the order is still checked.
    try InMemoryQuery(plan, snapshot()).checkOrder()
    unordered.order = []
    StoreTally.note(rows: 1)
    return try InMemoryQuery(unordered, snapshot()).run().count
  }

  package func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch {
    let table: InMemoryRowTable = try snapshot().table(of: layout)
    let rows: [RowRef] = keys.compactMap(table.row)
    StoreTally.note(rows: rows.count)
    return batch(of: rows, layout: layout)
  }

  package func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]] {
    let state: InMemoryState = try snapshot()
    let members: [[RowID]] = owners.map { state.members(of: $0, slot: slot) }
    StoreTally.note(rows: members.reduce(0) { $0 + $1.count })
    return members
  }

  package func members(of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [RowID]) throws
    -> [RowID]
  {
    let state: InMemoryState = try snapshot()
    return candidates.filter { state.isMember($0, of: owner, slot: slot) }
  }

  private func batch(of rows: [RowRef], layout: EntityLayout) -> RowBatch {
    guard !rows.isEmpty else { return RowBatch() }
    let root: EntityLayout = self.layout.entities[layout.rootIndex]
    let perSlab: Int = max(1, RowSlab.targetSizeInBytes / root.familyRowSize)
    var slabs: [RowSlab] = []
    var slab = RowSlab(layout: root, family: true, rowCapacity: min(rows.count, perSlab))
    for row in rows {
      if slab.isFull {
        slabs.append(slab)
        slab = RowSlab(layout: root, family: true, rowCapacity: perSlab)
      }
      _ = slab.appendCopy(of: row, layout: self.layout.entities[row.entity])
    }
    slabs.append(slab)
    return RowBatch(slabs: slabs)
  }

  // MARK: Saving

  package func allocateKeys(for entity: EntityLayout, count: Int) throws -> Int64 {
    try writing { state in state.allocateKeys(root: entity.rootIndex, count: count) }
  }

  package func save(_ plan: consuming SavePlan) throws -> SaveOutcome {
    var plan: SavePlan = plan
    let keys: NewKeys = try writing { state in
      try state.check(plan)
      let keys = NewKeys(for: plan) { root, count in state.allocateKeys(root: root, count: count) }
      plan.assignKeys(keys, of: layout)
      state.apply(plan)
      return keys
    }
    return SaveOutcome(written: plan, keys: keys)
  }

  /// A save whose new state `write` writes to a file before it becomes the store's. Nothing changes if that
  /// throws. Readers go on meanwhile; the caller lets nobody else write.
  func save(_ plan: consuming SavePlan, writing write: (InMemoryState) throws -> Void) throws -> SaveOutcome {
    var plan: SavePlan = plan
    var next: InMemoryState = try snapshot()
    try next.check(plan)
    let keys = NewKeys(for: plan) { root, count in next.allocateKeys(root: root, count: count) }
    plan.assignKeys(keys, of: layout)
    next.apply(plan)
    try write(next)
    try lock.withLock {
      if isClosed { throw StoreError.closed }
      state = next
    }
    return SaveOutcome(written: plan, keys: keys)
  }

  /// The same for code that needs not the new state but the plan that led to it.
  package func save(_ plan: consuming SavePlan, before commit: () throws -> Void) throws -> SaveOutcome {
    try save(plan, writing: { (_: InMemoryState) in try commit() })
  }

  /// Fills an empty store. `requiresUniqueness`: whether equal values of a uniqueness constraint are an
  /// error.
  package func load(_ plan: consuming SavePlan, highestKey: Int64, requiresUniqueness: Bool = true) throws {
    try lock.withLock {
      try state.check(plan, requiresUniqueness: requiresUniqueness)
      state.apply(plan)
      state.useUp(keysTo: highestKey)
    }
  }

  package func checkWritable() throws { try writing { _ in } }

  private func writing<Result>(_ body: (inout InMemoryState) throws -> Result) throws -> Result {
    if isReadOnly { throw StoreError.readOnly(url: nil, .requested) }
    return try lock.withLock {
      if isClosed { throw StoreError.closed }
      return try body(&state)
    }
  }

  package func explain(_ plan: FetchPlan) throws -> ExplainedStatement? {
    try InMemoryQuery(plan, snapshot()).checkOrder()
    return nil
  }

  package func close() throws {
    lock.withLock {
      isClosed = true
      state = InMemoryState(schema: schema)
    }
  }

  /// Numbers of slabs and rows held for a hierarchy, unused rows included; for tests.
  func storage(of root: EntityLayout) -> (slabs: Int, rows: Int) {
    lock.withLock { state.table(of: root).storage }
  }
}
