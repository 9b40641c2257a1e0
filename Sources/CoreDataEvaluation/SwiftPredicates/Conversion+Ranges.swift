import CoreDataPredicates
import Foundation

// Ranges are no operands: only `contains` converts them.

extension PredicateExpressions.RangeExpressionContains: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .predicate(try conversion.contains(range, element))
  }
}

extension PredicateConversion {
  /// `range.contains(element)`
  func contains(
    _ range: any PredicateExpression, _ element: any PredicateExpression
  ) throws -> PredicateNode {
    let value: ExpressionNode = try expression(element)
    if let written = range as? any WrittenRange {
      return within(value, try expression(written.first), try expression(written.last), written.isClosed)
    }
    guard let bounds = self.value(of: range) as? any BoundedRange else { throw unsupported(range) }
    let low: ExpressionNode? = try bounds.low.map { .constant(try Self.constant($0)) }
    let high: ExpressionNode? = try bounds.high.map { .constant(try Self.constant($0)) }
    switch (low, high) {
    case (let low?, let high?): return within(value, low, high, bounds.isClosed)
    case (let low?, nil): return .compare(value, .greaterThanOrEqualTo, low)
    case (nil, let high?): return .compare(value, bounds.isClosed ? .lessThanOrEqualTo : .lessThan, high)
    case (nil, nil): return .constant(true)
    }
  }

  private func within(
    _ value: ExpressionNode, _ low: ExpressionNode, _ high: ExpressionNode, _ isClosed: Bool
  ) -> PredicateNode {
    if isClosed {
      if case .constant(let low) = low, case .constant(let high) = high {
        return .compare(value, .between, .constant(.array([low, high])))
      }
      return .compare(value, .between, .aggregate([low, high]))
    }
    return .compound(
      .and, [.compare(value, .greaterThanOrEqualTo, low), .compare(value, .lessThan, high)])
  }
}

/// A range made by `...` or `..<` inside the predicate.
private protocol WrittenRange {
  var first: any PredicateExpression { get }
  var last: any PredicateExpression { get }
  var isClosed: Bool { get }
}

extension PredicateExpressions.ClosedRange: WrittenRange {
  fileprivate var first: any PredicateExpression { lower }
  fileprivate var last: any PredicateExpression { upper }
  fileprivate var isClosed: Bool { true }
}

extension PredicateExpressions.Range: WrittenRange {
  fileprivate var first: any PredicateExpression { lower }
  fileprivate var last: any PredicateExpression { upper }
  fileprivate var isClosed: Bool { false }
}

/// A range that was captured.
private protocol BoundedRange {
  var low: Any? { get }
  var high: Any? { get }
  /// Whether the upper bound belongs to the range.
  var isClosed: Bool { get }
}

extension Range: BoundedRange {
  fileprivate var low: Any? { lowerBound }
  fileprivate var high: Any? { upperBound }
  fileprivate var isClosed: Bool { false }
}

extension ClosedRange: BoundedRange {
  fileprivate var low: Any? { lowerBound }
  fileprivate var high: Any? { upperBound }
  fileprivate var isClosed: Bool { true }
}

extension PartialRangeFrom: BoundedRange {
  fileprivate var low: Any? { lowerBound }
  fileprivate var high: Any? { nil }
  fileprivate var isClosed: Bool { false }
}

extension PartialRangeThrough: BoundedRange {
  fileprivate var low: Any? { nil }
  fileprivate var high: Any? { upperBound }
  fileprivate var isClosed: Bool { true }
}

extension PartialRangeUpTo: BoundedRange {
  fileprivate var low: Any? { nil }
  fileprivate var high: Any? { upperBound }
  fileprivate var isClosed: Bool { false }
}
