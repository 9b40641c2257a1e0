import Foundation

/// The operations that `FUNCTION(target, 'selector:', …)` and custom comparison operators can name.
///
/// Linux has no selectors, so there is a closed table of the usual ones; programs add their own:
///
/// ```swift
/// PredicateFunctions.register("distanceFrom:") { target, arguments in … }
/// NSPredicate(format: "FUNCTION(place, 'distanceFrom:', %@) < 1000", here)
/// ```
///
/// ## Topics
/// - ``register(_:_:)``
/// - ``registerComparison(_:_:)``
public enum PredicateFunctions {
  /// What a selector does: gets the target's value and the arguments' values, returns a value.
  public typealias Body = @Sendable (_ target: Any?, _ arguments: [Any?]) throws -> Any?

  /// Whether a custom operator holds between the values of its two sides.
  public typealias Comparison = @Sendable (_ left: Any?, _ right: Any?) throws -> Bool

  /// Makes a selector known to all predicates of the process, from any thread. It goes before a built-in one
  /// of the same name.
  public static func register(_ selector: String, _ body: @escaping Body) {
    registry.register(selector, body)
  }

  /// Makes a comparison operator known to all predicates of the process under a selector of one argument:
  ///
  /// ```swift
  /// PredicateFunctions.registerComparison("isMemberOfArray:") { value, array in
  ///   (array as? [String])?.contains { $0 == value as? String } ?? false
  /// }
  /// NSPredicate(format: "name isMemberOfArray: %@", ["Ada", "Grace"])
  /// ```
  ///
  /// Sides without value are handed over as nil. With `ANY` or `ALL` the comparison is asked for every
  /// member. A predicate with such an operator works in memory only.
  public static func registerComparison(_ selector: String, _ comparison: @escaping Comparison) {
    registry.register(selector) { target, arguments in
      try comparison(target, arguments.first.flatMap { $0 })
    }
  }

  /// The order of two values by a method that gives a `ComparisonResult`; nil comes first.
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

  /// Whether the program has registered the selector.
  static func isRegistered(_ selector: String) -> Bool {
    registry.body(selector) != nil
  }

  /// Selectors whose argument is a key path to read from the target.
  package static let pathReaders: Set<String> = ["valueForKey:", "valueForKeyPath:", "objectForKey:"]

  /// Selectors to suggest for one that nobody answers to.
  package static var selectors: [String] { registry.names + SelectorDispatch.usual }

  private static let registry: Registry = .init()

  private final class Registry: @unchecked Sendable {
    // `lock` guards `bodies`.
    private let lock: NSLock = .init()
    private var bodies: [String: Body] = [:]

    func register(_ selector: String, _ body: @escaping Body) {
      lock.withLock { bodies[selector] = body }
    }

    var names: [String] { lock.withLock { Array(bodies.keys) } }

    func body(_ selector: String) -> Body? {
      lock.withLock { bodies[selector] }
    }
  }

  /// Whether some value answers to the selector. Without arguments it names a key, which anything may have.
  static func answers(to selector: String, argumentCount: Int) -> Bool {
    registry.body(selector) != nil
      || (selector.selectorArgumentCount == argumentCount
        && (argumentCount == 0 || SelectorDispatch.selectors.contains(selector)))
  }

  static func send(
    _ selector: String, to target: PredicateValue, _ arguments: [PredicateValue]
  ) throws -> PredicateValue {
    if let body = registry.body(selector) {
      return PredicateValue(normalizing: try body(target.objectValue, arguments.map(\.objectValue)))
    }
    // A message to nil is answered with nil.
    if target.isNull, selector != "isEqual:" { return .null }
    guard selector.selectorArgumentCount == arguments.count,
      let result = try SelectorDispatch.send(selector, to: target, arguments)
    else {
      // An object without the value is no mistake in the predicate.
      if arguments.contains(where: \.isNull), SelectorDispatch.usual.contains(selector) { return .null }
      throw PredicateError.evaluation(
        "Nothing answers to the selector \(selector) with \(arguments.count) arguments on \(target.kindName). "
          + "Register it with PredicateFunctions.register(_:_:).")
    }
    return result
  }
}
