import CoreDataPredicates
import Foundation

extension PredicateFunctions {
  /// The order of two values by a method that returns a `ComparisonResult`; nil comes first.
  static func order(
    _ left: PredicateValue, _ right: PredicateValue, by selector: Selector
  ) throws -> ComparisonResult {
    if left.isNull || right.isNull {
      return left.isNull ? (right.isNull ? .orderedSame : .orderedAscending) : .orderedDescending
    }
    let result: PredicateValue = try send(selector.description, to: left, [right])
    if case .object(let box) = result, let order = box.value as? ComparisonResult { return order }
    guard let number = NumberComparison.integer(result), let order = ComparisonResult(rawValue: Int(number))
    else {
      throw PredicateError.evaluation(
        "The method \(selector) gave \(result.kindName) instead of a ComparisonResult; it can't order values."
      )
    }
    return order
  }

  static func send(
    _ selector: String, to target: PredicateValue, _ arguments: [PredicateValue]
  ) throws -> PredicateValue {
    if case .object(let box) = target, let receiver = box.value as? any MessageReceiver,
      let answer = try receiver.receive(selector, arguments.map(\.objectValue))
    {
      return PredicateValue(normalizing: answer.value)
    }
    if let body = body(of: selector) {
      return PredicateValue(normalizing: try body(target.objectValue, arguments.map(\.objectValue)))
    }
    // A message to nil returns nil.
    if target.isNull, selector != "isEqual:" { return .null }
    guard selector.selectorArgumentCount == arguments.count,
      let result = try SelectorDispatch.send(selector, to: target, arguments)
    else {
      // An object without the value is no mistake in the predicate.
      if arguments.contains(where: \.isNull), StandardSelectors.usual.contains(selector) { return .null }
      throw PredicateError.evaluation(
        "Nothing answers to the selector \(selector) with \(arguments.count) arguments on \(target.kindName). "
          + advice(forMissingSelectorsOf: target))
    }
    return result
  }

  private static func advice(forMissingSelectorsOf target: PredicateValue) -> String {
    if case .object(let box) = target, let receiver = box.value as? any MessageReceiver {
      return receiver.adviceForMissingSelectors
    }
    return "Register it with PredicateFunctions.register(_:_:)."
  }
}
