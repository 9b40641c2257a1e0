import CoreDataModel
import CoreDataPredicates

/// All rows of one entity, sub-entities not included, read a page at a time in the order of their keys: a
/// store of any size costs 8 bytes of memory a row, and one page.
package struct RowScan {
  package let entity: EntityLayout
  /// In ascending order.
  package let keys: [Int64]
  private let source: any StoreOperations

  /// The number of rows of a page.
  package static let pageSize: Int = 500

  package init(_ entity: EntityLayout, in source: any StoreOperations) throws {
    self.entity = entity
    self.source = source
    if entity.isAbstract {
      keys = []
      return
    }
    var plan = FetchPlan(entity: entity)
    plan.includesSubentities = false
    keys = try source.fetchIDs(plan).map(\.key).sorted()
  }

  /// Rows whose keys are known.
  package init(_ entity: EntityLayout, keys: [Int64], in source: any StoreOperations) {
    self.entity = entity
    self.keys = keys
    self.source = source
  }

  package var count: Int { keys.count }

  package func id(_ place: Int) -> RowID { RowID(entity: entity.index, key: keys[place]) }

  /// Ranges of places in `keys`.
  package func forEachPage(of size: Int = pageSize, _ body: (Range<Int>) throws -> Void) rethrows {
    for start in stride(from: 0, to: keys.count, by: size) {
      try body(start..<min(start + size, keys.count))
    }
  }

  package func ids(_ places: Range<Int>) -> [RowID] { places.map(id) }

  /// The rows of a page, in the order of their keys; rows that were deleted since are left out. Throws
  /// `StoreError.missingValue` as a fetch does.
  package func rows(_ places: Range<Int>) throws -> [RowRef] {
    var plan = FetchPlan(entity: entity, predicate: ObjectReference.isAmong(ids(places)))
    plan.includesSubentities = false
    var rows: [RowRef] = []
    rows.reserveCapacity(places.count)
    try source.fetch(plan).forEach { rows.append($0) }
    return rows.sorted { $0.key < $1.key }
  }

  /// The members of a to-many relationship of each object of a page.
  package func members(_ places: Range<Int>, slot: Int) throws -> [[RowID]] {
    try source.members(of: entity, slot: slot, owners: ids(places))
  }
}

extension ObjectReference {
  /// `SELF IN` these rows.
  package static func isAmong(_ ids: some Sequence<RowID>) -> PredicateNode {
    let references: [PredicateValue] = ids.map { .object(ObjectBox(ObjectReference(id: $0))) }
    return .comparison(
      ComparisonNode(left: .evaluatedObject, right: .constant(.array(references)), comparison: .in))
  }
}
