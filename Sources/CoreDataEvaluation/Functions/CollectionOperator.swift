import CoreDataPredicates
import Foundation

/// The operators of key paths that compute one value from a collection's values.
package enum CollectionOperator: String, CaseIterable, Sendable {
  case sum
  case avg
  case min
  case max
  case unionOfObjects
  case distinctUnionOfObjects
  case unionOfArrays
  case distinctUnionOfArrays
  case unionOfSets
  case distinctUnionOfSets

  /// The names after `@` that a key path may contain.
  package static let names: [String] = allCases.map(\.rawValue) + ["count"]

  /// - Parameter values: the value of the path for every member, nil where it has none.
  func collect(_ values: [Any?]) throws -> Any? {
    let values: [PredicateValue] = values.map { PredicateValue(normalizing: $0) }
    let present: [PredicateValue] = values.filter { !$0.isNull }
    switch self {
    // A nil counts as 0 in sum and average.
    case .sum: return try Arithmetic.sum(present, of: "@sum")
    case .avg:
      if values.isEmpty { return PredicateValue.integer(0) }
      return try Arithmetic.divide(Arithmetic.sum(present, of: "@avg"), byCount: values.count)
    case .min: return try extreme(present, .orderedAscending)
    case .max: return try extreme(present, .orderedDescending)
    case .unionOfObjects: return PredicateValue.array(present)
    case .distinctUnionOfObjects: return PredicateValue.array(Self.distinct(present))
    case .unionOfArrays, .unionOfSets: return PredicateValue.array(try joined(present))
    case .distinctUnionOfArrays: return PredicateValue.array(Self.distinct(try joined(present)))
    case .distinctUnionOfSets: return PredicateValue.set(Set(try joined(present)))
    }
  }

  private func extreme(_ values: [PredicateValue], _ wanted: ComparisonResult) throws -> PredicateValue? {
    guard var best = values.first else { return nil }
    for value in values.dropFirst() {
      guard let order = ValueComparison.order(value, best) else {
        throw PredicateError.evaluation("@\(rawValue) can't order \(value.kindName) and \(best.kindName).")
      }
      if order == wanted { best = value }
    }
    return best
  }

  private func joined(_ values: [PredicateValue]) throws -> [PredicateValue] {
    try values.flatMap { value -> [PredicateValue] in
      guard let members = value.elements else {
        throw PredicateError.evaluation("@\(rawValue) joins collections, but found \(value.kindName).")
      }
      return members
    }
  }

  private static func distinct(_ values: [PredicateValue]) -> [PredicateValue] {
    var seen: Set<PredicateValue> = []
    return values.filter { seen.insert($0).inserted }
  }
}
