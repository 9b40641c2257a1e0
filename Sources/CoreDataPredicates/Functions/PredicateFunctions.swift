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
  /// The operation of a selector: receives the target's value and the arguments' values, returns a value.
  public typealias Body = @Sendable (_ target: Any?, _ arguments: [Any?]) throws -> Any?

  /// Whether a custom operator is true for the values of its two sides.
  public typealias Comparison = @Sendable (_ left: Any?, _ right: Any?) throws -> Bool

  /// Registers a selector for all predicates of the process, from any thread. It has precedence over a
  /// built-in one of the same name.
  public static func register(_ selector: String, _ body: @escaping Body) {
    registry.register(selector, body)
  }

  /// Registers a comparison operator for all predicates of the process under a selector of one argument:
  ///
  /// ```swift
  /// PredicateFunctions.registerComparison("isMemberOfArray:") { value, array in
  ///   (array as? [String])?.contains { $0 == value as? String } ?? false
  /// }
  /// NSPredicate(format: "name isMemberOfArray: %@", ["Ada", "Grace"])
  /// ```
  ///
  /// Sides without value are passed as nil. With `ANY` or `ALL` the comparison is called for every member. A
  /// predicate with such an operator works in memory only.
  public static func registerComparison(_ selector: String, _ comparison: @escaping Comparison) {
    registry.register(selector) { target, arguments in
      try comparison(target, arguments.first.flatMap { $0 })
    }
  }

  /// Whether the program has registered the selector.
  package static func isRegistered(_ selector: String) -> Bool {
    body(of: selector) != nil
  }

  /// What the program has registered for the selector.
  package static func body(of selector: String) -> Body? { registry.body(selector) }

  /// Selectors whose argument is a key path to read from the target.
  package static let pathReaders: Set<String> = ["valueForKey:", "valueForKeyPath:", "objectForKey:"]

  /// Selectors to suggest for an unknown one.
  package static var selectors: [String] { registry.names + StandardSelectors.usual }

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

  /// Whether some value responds to the selector. Without arguments it names a key, which any value may have.
  static func answers(to selector: String, argumentCount: Int) -> Bool {
    registry.body(selector) != nil
      || (selector.selectorArgumentCount == argumentCount
        && (argumentCount == 0 || StandardSelectors.selectors.contains(selector)))
  }
}
