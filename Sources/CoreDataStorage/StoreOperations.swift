import CoreDataModel
import CoreDataPredicates
import Foundation

/// Fetches, counts, projections, and rows by key.
package protocol RowReading {
  /// Whether fetches return rows at the cost of ids. If not, the graph fetches ids, and reads a row when it
  /// is needed.
  var fetchesRows: Bool { get }
  /// Rows in the plan's order. Throws `StoreError.missingValue` if a value is kept in a file that can't be
  /// read.
  func fetch(_ plan: FetchPlan) throws -> RowBatch
  /// Ids in the plan's order; cheaper than rows. The default implementation takes them from the rows.
  func fetchIDs(_ plan: FetchPlan) throws -> [RowID]
  /// How many rows a fetch would return. The default implementation counts the ids.
  func count(_ plan: FetchPlan) throws -> Int
  /// Throws what a fetch of the plan would throw for its predicate and order, reading as little as the store
  /// can. After a fetch has failed with `StoreError.unsupported` it is called for each part, to find out
  /// which parts the graph has to evaluate. The default implementation counts.
  func check(_ plan: FetchPlan) throws
  /// The rows of a projection: columns, grouped rows, aggregates. Numbers of integer columns are `.integer`,
  /// of Booleans `.bool`, objects are `ObjectReference`s; transformable attributes are their stored bytes.
  func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows
  /// The rows with these keys in the hierarchy of `layout`, in no particular order; keys without a row are
  /// left out. Values in files that can't be read are nil, because faults and deletions must work without
  /// them.
  func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch
  /// The statement that a fetch would run; nil for stores that run none.
  func explain(_ plan: FetchPlan) throws -> ExplainedStatement?
  func explain(_ plan: ProjectionPlan) throws -> ExplainedStatement?
  /// The database's plan for a fetch if the entity's table had an index over some attributes; nil for stores
  /// that have no such plans.
  func queryPlan(of plan: FetchPlan, indexing slots: [IndexedSlot]) throws -> [String]?
  /// Whether the store accepts queries in SQL (`rawRows`).
  var supportsSQL: Bool { get }
  /// The rows of one query in SQL, by names of columns. It can't write.
  func rawRows(_ sql: String, _ values: [PredicateValue]) throws -> [[String: PredicateValue]]
}

extension RowReading {
  package var fetchesRows: Bool { true }

  package func fetchIDs(_ plan: FetchPlan) throws -> [RowID] {
    var ids: [RowID] = []
    try fetch(plan).forEach { ids.append($0.id) }
    return ids
  }

  package func count(_ plan: FetchPlan) throws -> Int { try fetchIDs(plan).count }
  package func check(_ plan: FetchPlan) throws { _ = try count(plan) }
  package func explain(_ plan: FetchPlan) throws -> ExplainedStatement? { nil }
  package func explain(_ plan: ProjectionPlan) throws -> ExplainedStatement? { nil }
  package func queryPlan(of plan: FetchPlan, indexing slots: [IndexedSlot]) throws -> [String]? { nil }
  package var supportsSQL: Bool { false }

  package func rawRows(_ sql: String, _ values: [PredicateValue]) throws -> [[String: PredicateValue]] {
    throw StoreError.unsupported(
      part: sql, reason: "this kind of store takes no SQL",
      advice: "Fetch dictionaries with propertiesToFetch and propertiesToGroupBy; every store takes those.")
  }
}

/// The members of to-many relationships. Owners are of `layout` or its sub-entities; `slot` is a to-many slot
/// of `layout`.
package protocol MemberReading {
  /// The members for several owners at once, in the owners' order; ordered relationships in their order,
  /// others by key.
  func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]]
  /// Those of `candidates` that are members of one owner's relationship, in no particular order. An
  /// implementation should read none of the others; the default one reads all members.
  func members(of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [RowID]) throws -> [RowID]
  /// The member that follows `member` in an owner's ordered relationship, not counting those of `leftOut`;
  /// nil if it is the last one, or no member.
  func member(of layout: EntityLayout, slot: Int, owner: RowID, after member: RowID, leftOut: Set<RowID>)
    throws -> RowID?
}

extension MemberReading {
  package func members(of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [RowID]) throws
    -> [RowID]
  {
    let keys = Set(try members(of: layout, slot: slot, owners: [owner])[0].map(\.key))
    return candidates.filter { keys.contains($0.key) }
  }

  package func member(
    of layout: EntityLayout, slot: Int, owner: RowID, after member: RowID, leftOut: Set<RowID>
  ) throws -> RowID? {
    let members: [RowID] = try members(of: layout, slot: slot, owners: [owner])[0]
    guard let place = members.firstIndex(where: { $0.key == member.key }) else { return nil }
    return members[(place + 1)...].first { !leftOut.contains($0) }
  }
}

/// Keys for rows that are not saved yet.
package protocol KeyAllocating {
  /// Allocates keys that no other row of the hierarchy has or will have; returns the first of them, and the
  /// others follow it.
  func allocateKeys(for root: EntityLayout, count: Int) throws -> Int64
  /// Whether rows of all hierarchies are numbered in one sequence, so that no two rows of the store have the
  /// same key.
  var hasOneKeySequence: Bool { get }
}

extension KeyAllocating {
  package var hasOneKeySequence: Bool { false }
}

/// Writes plans, each of them completely or not at all, also through a crash.
package protocol PlanSaving {
  /// Executes a plan in one transaction, and writes metadata that was set. No code of the program runs
  /// meanwhile: the plan is complete, except for the keys of its new rows.
  ///
  /// Throws `StoreError.conflicts` or `.uniqueness` if the plan does not fit the store any more. If it
  /// throws, nothing has changed and no key is used up. Returns what it wrote.
  func save(_ plan: consuming SavePlan) throws -> SaveOutcome
  /// Throws an error that would stop any save now: the store is closed, read-only, or locked by others.
  func checkWritable() throws
  /// The values of a row of another store that this one can't keep.
  func unwritableValues(of row: RowRef) -> [UnwritableValue]
  /// Inserts, updates or deletes many rows without objects, in one transaction. Throws for stores that don't
  /// support it.
  func execute(_ plan: BatchPlan) throws -> BatchOutcome
}

extension PlanSaving {
  package func unwritableValues(of row: RowRef) -> [UnwritableValue] { [] }

  package func execute(_ plan: BatchPlan) throws -> BatchOutcome {
    throw StoreError.unsupported(
      part: plan.operation.name + " of \(plan.entity.name)",
      reason: "this kind of store offers no batch operations",
      advice: "Fetch the objects, change them and save their context.")
  }
}

/// The operations that the graph calls on a store of any kind: the seam between objects and rows.
///
/// Every operation takes and returns values (plans, rows, ids) and is one call for each batch. A store that a
/// program implements has the same operations; the request and the calling context, which it needs too, are
/// passed when it creates them (`NSPersistentStore.operations(for:)`).
///
/// A row has a key of 64 bits. A store whose rows have other names (texts, UUIDs, URLs) numbers them when it
/// first reads them and keeps both directions for as long as it is open, or permanently if object URIs are to
/// stay valid: only numbers cross this seam. Keys are positive; 0 and below are reserved for the graph.
package protocol StoreOperations: AnyObject, Sendable, RowReading, MemberReading, KeyAllocating, PlanSaving {
  /// The model, numbered. The same for all stores of a coordinator.
  var layout: ModelLayout { get }
}
