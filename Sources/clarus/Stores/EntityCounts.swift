import CoreDataGraph
import CoreDataStorage

/// The entities of a store with the numbers of their own rows.
enum EntityCounts {
  /// In the store's order, without abstract entities.
  static func own(of engine: any StoreEngine, among names: Set<String>?) throws -> [(
    name: String, count: Int
  )] {
    try StoreExaminer.counts(of: engine, among: names)
  }

  static func json(_ counts: [(name: String, count: Int)]) -> JSONText {
    .array(counts.map { .object([("name", .string($0.name)), ("count", .integer(Int64($0.count)))]) })
  }
}
