import CoreDataStorage

/// The entities of a store with the numbers of their own rows.
enum EntityCounts {
  /// In the store's order, without abstract entities.
  static func own(of engine: any StoreEngine, among names: Set<String>?) throws -> [(
    name: String, count: Int
  )] {
    try engine.layout.entities
      .filter { !$0.isAbstract && names?.contains($0.name) ?? true }
      .map { entity in
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        return (entity.name, try engine.count(plan))
      }
  }

  static func json(_ counts: [(name: String, count: Int)]) -> JSONText {
    .array(counts.map { .object([("name", .string($0.name)), ("count", .integer(Int64($0.count)))]) })
  }
}
