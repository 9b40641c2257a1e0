import Foundation

typealias Test = @Sendable (EvaluationContext) throws -> Bool

/// A predicate made ready for evaluating it many times: compiled to closures at the first evaluation, so that operators, options,
/// key paths, patterns and lists are looked at once and not once an object.
package final class PredicateProgram: @unchecked Sendable {
  // `lock` guards `compiled`; `node` is immutable.
  private let lock: NSLock = .init()
  private let node: PredicateNode
  private var compiled: Test?

  package init(_ node: PredicateNode) {
    self.node = node
  }

  /// Whether the predicate holds for the object.
  ///
  /// - Throws: ``PredicateError``, and whatever ``KeyValueReadable/readValue(forKey:)`` throws.
  package func evaluate(_ object: Any?, variables: [String: Any]? = nil) throws -> Bool {
    try test(EvaluationContext(object: object, bindings: variables, locals: nil))
  }

  /// The objects for which the predicate holds, in order.
  package func filter<Objects: Sequence>(
    _ objects: Objects, variables: [String: Any]? = nil
  ) throws -> [Objects.Element] {
    let test: Test = self.test
    return try objects.filter { try test(EvaluationContext(object: $0, bindings: variables, locals: nil)) }
  }

  var test: Test {
    lock.withLock {
      if let compiled { return compiled }
      let test: Test = Compiler.compile(node)
      compiled = test
      return test
    }
  }
}

/// An expression made ready for evaluating it many times.
package final class ExpressionProgram: @unchecked Sendable {
  // `lock` guards `compiled`; `node` is immutable.
  private let lock: NSLock = .init()
  private let node: ExpressionNode
  private var compiled: CompiledExpression?

  package init(_ node: ExpressionNode) {
    self.node = node
  }

  /// The value for the object, as Foundation hands values around.
  ///
  /// - Throws: ``PredicateError``, and whatever ``KeyValueReadable/readValue(forKey:)`` throws.
  package func evaluate(_ object: Any?, variables: [String: Any]? = nil) throws -> Any? {
    let result: Any? = try expression.raw(EvaluationContext(object: object, bindings: variables, locals: nil))
    if result is NSNull { return nil }
    return (result as? PredicateValue).map(\.anyValue) ?? result
  }

  /// The normalised value for the object.
  ///
  /// - Throws: as ``evaluate(_:variables:)``.
  package func value(_ object: Any?, variables: [String: Any]? = nil) throws -> PredicateValue {
    try expression.value(EvaluationContext(object: object, bindings: variables, locals: nil))
  }

  private var expression: CompiledExpression {
    lock.withLock {
      if let compiled { return compiled }
      let expression: CompiledExpression = Compiler.compile(node)
      compiled = expression
      return expression
    }
  }
}
