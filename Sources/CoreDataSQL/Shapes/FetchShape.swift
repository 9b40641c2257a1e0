import CoreDataPredicates
import CoreDataStorage

/// What a statement returns for the rows of a plan.
package enum FetchResult: UInt8, Sendable {
  case rows, ids, count
}

/// A fetch plan without the values of its parameters: plans of one shape have one statement, bound to
/// different values.
///
///     entity, sub-entities, result, order, predicate's shape, limit or not, offset or not      key
///     the predicate's parameters, limit, offset                                                parameters
package struct FetchShape: Sendable {
  /// Equal keys mean equal shapes.
  package struct Key: Hashable, Sendable {
    private let predicate: ShapeKey?
    private let order: [FetchOrder]
    private let entity: Int32
    private let flags: UInt8

    fileprivate init(_ predicate: ShapeKey?, order: [FetchOrder], entity: Int, flags: UInt8) {
      self.predicate = predicate
      self.order = order
      self.entity = Int32(truncatingIfNeeded: entity)
      self.flags = flags
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(predicate?.hashOfBytes ?? 0)
      hasher.combine(Int(entity) << 8 | Int(flags))
      if !order.isEmpty { hasher.combine(order) }
    }
  }

  package let key: Key
  package let parameters: [PredicateValue]

  /// Plans with longer predicates are compiled for one fetch, and their statements are not kept.
  private static let longestPredicate: Int = 1 << 14

  /// nil if the predicate has no shape.
  package init?(_ plan: borrowing FetchPlan, _ result: FetchResult) {
    var known: ShapeKey?
    var parameters: [PredicateValue] = []
    if let predicate = plan.predicate {
      guard let shape = plan.shape ?? PredicateShape(predicate),
        shape.key.bytes.count <= Self.longestPredicate
      else { return nil }
      known = shape.key
      parameters = shape.parameters
    }
    var flags: UInt8 = result.rawValue
    if plan.includesSubentities { flags |= 4 }
    if plan.limit > 0 {
      flags |= 8
      parameters.append(.integer(Int64(plan.limit)))
    }
    if plan.offset > 0 {
      flags |= 16
      parameters.append(.integer(Int64(plan.offset)))
    }
    key = Key(known, order: plan.order, entity: plan.entity.index, flags: flags)
    self.parameters = parameters
  }
}
