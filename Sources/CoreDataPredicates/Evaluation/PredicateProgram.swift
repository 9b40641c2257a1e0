import Foundation

typealias Test = @Sendable (EvaluationContext) throws -> Bool

/// A predicate made ready for evaluating it many times: compiled to closures at the first evaluation, so that operators, options,
/// key paths, patterns and lists are looked at once and not once an object.
package final class PredicateProgram: @unchecked Sendable {
  // `lock` guards `compiled` and `last`; the rest is immutable.
  private let lock: NSLock = .init()
  private let node: PredicateNode
  private let rules: EvaluationRules
  private var compiled: Test?
  /// The reader of the type evaluated last: most collections hold one class.
  private var last: (type: Any.Type, reader: KeyedReader?)?

  package init(_ node: PredicateNode, rules: EvaluationRules = .throwing) {
    self.node = node
    self.rules = rules
  }

  /// Whether the predicate holds for the object.
  ///
  /// - Throws: ``PredicateError``, and whatever ``KeyValueReadable/readValue(forKey:)`` throws.
  package func evaluate(_ object: Any?, variables: [String: Any]? = nil) throws -> Bool {
    let (test, reader): (Test, KeyedReader?) = lock.withLock {
      (lockedTest(), object.flatMap { lockedReader(for: Swift.type(of: $0)) })
    }
    return try test(EvaluationContext(object: object, bindings: variables, reader: reader, rules: rules))
  }

  /// The objects for which the predicate holds, in order.
  package func filter<Objects: Sequence>(
    _ objects: Objects, variables: [String: Any]? = nil
  ) throws -> [Objects.Element] {
    let test: Test = lock.withLock { lockedTest() }
    let context: EvaluationContext = EvaluationContext(object: nil, bindings: variables, rules: rules)
    var last: Any.Type?
    return try objects.filter { object in
      let type: Any.Type = Swift.type(of: object as Any)
      if last != type {
        last = type
        context.reader = ReaderTable.shared.reader(for: type)
      }
      context.object = object
      context.assigned = nil
      return try test(context)
    }
  }

  private func lockedTest() -> Test {
    if let compiled { return compiled }
    let levels: Int = node.depth
    var test: Test = StackRoom.run(levels: levels) { Compiler.compile(node) }
    if levels > StackRoom.shallow {
      test = { [test] context in try StackRoom.run(levels: levels) { try test(context) } }
    }
    compiled = test
    return test
  }

  private func lockedReader(for type: Any.Type) -> KeyedReader? {
    if let last, last.type == type { return last.reader }
    let reader: KeyedReader? = ReaderTable.shared.reader(for: type)
    last = (type, reader)
    return reader
  }
}

/// An expression made ready for evaluating it many times.
package final class ExpressionProgram: @unchecked Sendable {
  // `lock` guards `compiled`; the rest is immutable.
  private let lock: NSLock = .init()
  private let node: ExpressionNode
  private let rules: EvaluationRules
  private var compiled: CompiledExpression?

  package init(_ node: ExpressionNode, rules: EvaluationRules = .throwing) {
    self.node = node
    self.rules = rules
  }

  /// The value for the object, as Foundation hands values around. What the expression assigns goes into `context`.
  ///
  /// - Throws: ``PredicateError``, and whatever ``KeyValueReadable/readValue(forKey:)`` throws.
  package func evaluate(
    _ object: Any?, variables: [String: Any]? = nil, context: NSMutableDictionary? = nil
  ) throws -> Any? {
    let evaluation: EvaluationContext = EvaluationContext(
      object: object, bindings: variables, rules: rules)
    let result: Any? = try expression.raw(evaluation)
    if let context {
      for (name, value) in evaluation.assigned ?? [:] { context[name] = value }
    }
    if result is NSNull { return nil }
    return (result as? PredicateValue).map(\.anyValue) ?? result
  }

  /// The normalised value for the object.
  ///
  /// - Throws: as ``evaluate(_:variables:)``.
  package func value(_ object: Any?, variables: [String: Any]? = nil) throws -> PredicateValue {
    try expression.value(EvaluationContext(object: object, bindings: variables, rules: rules))
  }

  private var expression: CompiledExpression {
    lock.withLock {
      if let compiled { return compiled }
      let levels: Int = node.depth
      var expression: CompiledExpression = StackRoom.run(levels: levels) { Compiler.compile(node) }
      if levels > StackRoom.shallow { expression = expression.withRoom(forLevels: levels) }
      compiled = expression
      return expression
    }
  }
}
