import CoreDataPredicates
import Foundation

/// A comparison of numbers with numeric constants, as closed ranges: `age > 30` is 31 and more.
///
/// Exact: an integer is never compared as a double. Made only of constants for which that holds.
struct NumberTest: Sendable {
  private let integers: NumberSpan<Int64>
  private let doubles: NumberSpan<Double>
  /// Whether everything outside the ranges passes, as for `!=`.
  private let isNegated: Bool
  /// The result for nil.
  let whenNull: Bool

  /// From `low` to `high`; empty if `low` is greater.
  private struct NumberSpan<Bound: Comparable & Sendable>: Sendable {
    var low: Bound
    var high: Bound

    @inline(__always)
    func contains(_ value: Bound) -> Bool { low <= value && value <= high }

    func intersection(_ other: NumberSpan) -> NumberSpan {
      NumberSpan(low: max(low, other.low), high: min(high, other.high))
    }
  }

  @inline(__always)
  func holds(_ value: Int64) -> Bool { integers.contains(value) != isNegated }

  @inline(__always)
  func holds(_ value: Bool) -> Bool { holds((value ? 1 : 0) as Int64) }

  /// NaN is in no range.
  @inline(__always)
  func holds(_ value: Double) -> Bool { doubles.contains(value) != isNegated }

  private static let operators: Set<ComparisonOperator> = [
    .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .between,
  ]

  /// nil for operators and constants of another kind.
  init?(_ comparison: ComparisonOperator, _ constant: PredicateValue) {
    guard Self.operators.contains(comparison) else { return nil }
    if comparison == .between {
      guard case .array(let bounds) = constant, bounds.count == 2,
        let low = NumberTest(.greaterThanOrEqualTo, bounds[0]),
        let high = NumberTest(.lessThanOrEqualTo, bounds[1])
      else { return nil }
      self.init(
        integers: low.integers.intersection(high.integers), doubles: low.doubles.intersection(high.doubles),
        isNegated: false)
      return
    }
    let isNegated: Bool = comparison == .notEqualTo
    let wanted: ComparisonOperator = isNegated ? .equalTo : comparison
    switch constant {
    case .bool(let value): self.init(wanted, (value ? 1 : 0) as Int64, isNegated)
    case .integer(let value): self.init(wanted, value, isNegated)
    case .double(let value): self.init(wanted, value, isNegated)
    default: return nil
    }
  }

  private init(integers: NumberSpan<Int64>, doubles: NumberSpan<Double>, isNegated: Bool) {
    self.integers = integers
    self.doubles = doubles
    self.isNegated = isNegated
    whenNull = isNegated
  }

  private init?(_ comparison: ComparisonOperator, _ constant: Int64, _ isNegated: Bool) {
    // A constant that is no double would need a different rule for doubles.
    guard let double = Double(exactly: constant), let integers = Self.integers(comparison, constant),
      let doubles = Self.doubles(comparison, double)
    else { return nil }
    self.init(integers: integers, doubles: doubles, isNegated: isNegated)
  }

  private init?(_ comparison: ComparisonOperator, _ constant: Double, _ isNegated: Bool) {
    guard let integers = Self.integers(comparison, constant),
      let doubles = Self.doubles(comparison, constant)
    else { return nil }
    self.init(integers: integers, doubles: doubles, isNegated: isNegated)
  }

  private static func integers(_ comparison: ComparisonOperator, _ constant: Int64) -> NumberSpan<Int64>? {
    let nothing: NumberSpan<Int64> = NumberSpan(low: .max, high: .min)
    switch comparison {
    case .lessThan: return constant == .min ? nothing : NumberSpan(low: .min, high: constant - 1)
    case .lessThanOrEqualTo: return NumberSpan(low: .min, high: constant)
    case .greaterThan: return constant == .max ? nothing : NumberSpan(low: constant + 1, high: .max)
    case .greaterThanOrEqualTo: return NumberSpan(low: constant, high: .max)
    case .equalTo: return NumberSpan(low: constant, high: constant)
    default: return nil
    }
  }

  /// The integers on one side of a double, which need not be an integer, nor lie among them.
  private static func integers(_ comparison: ComparisonOperator, _ constant: Double) -> NumberSpan<Int64>? {
    if let whole = Int64(exactly: constant) { return integers(comparison, whole) }
    let isBelow: Bool
    switch comparison {
    case .lessThan, .lessThanOrEqualTo: isBelow = true
    case .greaterThan, .greaterThanOrEqualTo: isBelow = false
    default: return NumberSpan(low: .max, high: .min)
    }
    if constant.isNaN { return NumberSpan(low: .max, high: .min) }
    if constant >= 0x1p63 || constant < -0x1p63 {
      return isBelow == (constant > 0) ? NumberSpan(low: .min, high: .max) : NumberSpan(low: .max, high: .min)
    }
    return isBelow
      ? NumberSpan(low: .min, high: Int64(constant.rounded(.down)))
      : NumberSpan(low: Int64(constant.rounded(.up)), high: .max)
  }

  private static func doubles(_ comparison: ComparisonOperator, _ constant: Double) -> NumberSpan<Double>? {
    let nothing: NumberSpan<Double> = NumberSpan(low: .infinity, high: -.infinity)
    if constant.isNaN { return nothing }
    switch comparison {
    case .lessThan:
      return constant == -.infinity ? nothing : NumberSpan(low: -.infinity, high: constant.nextDown)
    case .lessThanOrEqualTo: return NumberSpan(low: -.infinity, high: constant)
    case .greaterThan:
      return constant == .infinity ? nothing : NumberSpan(low: constant.nextUp, high: .infinity)
    case .greaterThanOrEqualTo: return NumberSpan(low: constant, high: .infinity)
    case .equalTo: return NumberSpan(low: constant, high: constant)
    default: return nil
    }
  }
}
