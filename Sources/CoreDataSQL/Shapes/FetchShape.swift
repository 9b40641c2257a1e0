import CoreDataPredicates
import CoreDataStorage

/// What a statement returns for the rows of a plan.
package enum FetchResult: UInt8, Sendable {
  case rows, ids, count
}

/// A fetch plan without the values of its parameters: plans of one shape have one statement, bound to
/// different values.
///
///     entity, sub-entities, result, order, predicate's shape, limit or not, offset or not      bytes
///     the predicate's parameters, limit, offset                                                parameters
package struct FetchShape: Sendable {
  package let key: ShapeKey
  package let parameters: [PredicateValue]

  /// Longer shapes are compiled for one fetch and not kept.
  private static let longestKey: Int = 1 << 14

  /// nil if the predicate has no shape.
  package init?(_ plan: FetchPlan, _ result: FetchResult) {
    var bytes: [UInt8] = []
    var parameters: [PredicateValue] = []
    if let predicate = plan.predicate {
      guard let shape = plan.shape ?? PredicateShape(predicate),
        shape.key.bytes.count <= Self.longestKey
      else { return nil }
      bytes = shape.key.bytes
      parameters = shape.parameters
    }
    // The order comes last, so that the predicate's bytes, which contain their own length, need not be
    // copied.
    for term in plan.order {
      bytes.append(term.ascending ? 1 : 0)
      bytes.append(contentsOf: term.comparison.rawValue.utf8)
      bytes.append(0)
      withUnsafeBytes(of: term.keyPath.utf8.count) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: term.keyPath.utf8)
    }
    bytes.append(UInt8(truncatingIfNeeded: plan.order.count))
    bytes.append(UInt8(truncatingIfNeeded: plan.entity.index))
    bytes.append(UInt8(truncatingIfNeeded: plan.entity.index >> 8))
    bytes.append(UInt8(truncatingIfNeeded: plan.entity.index >> 16))
    var flags: UInt8 = result.rawValue
    if plan.includesSubentities { flags |= 4 }
    if plan.predicate != nil { flags |= 8 }
    if plan.limit > 0 {
      flags |= 16
      parameters.append(.integer(Int64(plan.limit)))
    }
    if plan.offset > 0 {
      flags |= 32
      parameters.append(.integer(Int64(plan.offset)))
    }
    bytes.append(flags)
    key = ShapeKey(bytes)
    self.parameters = parameters
  }
}
