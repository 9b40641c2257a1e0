import CoreDataPredicates
import Foundation

extension SortTerm {
  /// The order of two values, nulls first, direction applied. As in a database URLs are ordered by their
  /// texts, objects by their keys.
  ///
  /// - Throws: ``PredicateError`` for values that have no order.
  package func order(_ left: PredicateValue, _ right: PredicateValue) throws -> ComparisonResult {
    let result: ComparisonResult = try Self.ascendingOrder(
      Self.comparable(left), Self.comparable(right), comparison, key)
    return ascending ? result : NumberComparison.reversed(result)
  }

  private static func comparable(_ value: PredicateValue) -> PredicateValue {
    switch value {
    case .url(let url): .string(url.absoluteString)
    case .object(let box): (box.value as? any KeyedObject).map { .integer($0.primaryKey) } ?? value
    default: value
    }
  }

  private static func ascendingOrder(
    _ left: PredicateValue, _ right: PredicateValue, _ comparison: StringComparison, _ key: String?
  ) throws -> ComparisonResult {
    switch (left, right) {
    case (.string(let a), .string(let b)): return StringMatching.compare(a, b, by: comparison)
    default: break
    }
    if left.isNull || right.isNull {
      return left.isNull ? (right.isNull ? .orderedSame : .orderedAscending) : .orderedDescending
    }
    if let result = ValueComparison.order(left, right) ?? nanOrder(left, right) { return result }
    throw PredicateError.evaluation(
      "Can't sort by \(key ?? "the objects themselves"): there is no order between \(left.kindName) and "
        + "\(right.kindName). Sort by an attribute, or give the sort descriptor a comparator.")
  }

  /// NaN sorts before all numbers: without a total order sorting would give arbitrary results.
  private static func nanOrder(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult? {
    guard let a = NumberComparison.double(left), let b = NumberComparison.double(right) else { return nil }
    if a.isNaN { return b.isNaN ? .orderedSame : .orderedAscending }
    return b.isNaN ? .orderedDescending : nil
  }
}

/// An object that represents a row.
package protocol KeyedObject {
  /// The row's key. Objects without a row come after all others.
  var primaryKey: Int64 { get }
}
