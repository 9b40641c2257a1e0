import Foundation

/// The type that connects the classes of this module to the evaluator, which is in `CoreDataEvaluation`, a
/// module above.
///
/// `CoreDataEvaluation` declares that this type conforms to ``EvaluatorFactory``. The runtime finds the
/// conformance in every program that is linked with that module, so nothing has to be installed or called
/// first (Decisions/0065).
package struct Evaluator: Sendable {
  /// Looked up once, when the first predicate, expression or sort descriptor is made.
  static let factory: any EvaluatorFactory = linkedFactory(Evaluator()) ?? MissingEvaluator.shared

  /// The parameter hides the type from the optimizer, which sees no conformance in this module.
  @inline(never)
  private static func linkedFactory(_ value: Any) -> (any EvaluatorFactory)? {
    value as? any EvaluatorFactory
  }
}

/// What makes the parts of predicates, expressions and sort descriptors that evaluate.
package protocol EvaluatorFactory: Sendable {
  func predicate(_ node: PredicateNode) -> any EvaluablePredicate
  func expression(_ node: ExpressionNode) -> any EvaluableExpression
  /// - Parameters:
  ///   - comparator: compares the values of the key in place of the term's comparison.
  ///   - selector: the registered method that compares them in its place.
  func comparison(
    by term: SortTerm, comparator: Comparator?, selector: Selector?
  ) -> any ObjectComparison
  /// Compares by the value of a Swift key path. The key path's name is the term's key.
  func comparison(by path: AnyKeyPath, _ term: SortTerm) -> any ObjectComparison
}

/// A predicate that can be evaluated. What making it costs is deferred to the first evaluation.
package protocol EvaluablePredicate: AnyObject, Sendable {
  /// Whether the predicate holds for the object.
  ///
  /// - Throws: ``PredicateError``, and whatever `KeyValueReadable.readValue(forKey:)` throws.
  func evaluate(_ object: Any?, variables: [String: Any]?) throws -> Bool
  /// As ``evaluate(_:variables:)`` for callers that can't throw: values of kinds that an operation never
  /// takes count as nil.
  ///
  /// - Throws: everything else that ``evaluate(_:variables:)`` throws.
  func evaluateLeniently(_ object: Any?, variables: [String: Any]?) throws -> Bool
}

/// An expression that can be evaluated.
package protocol EvaluableExpression: AnyObject, Sendable {
  /// The value for the object, as programs get it. What the expression assigns goes into `context`.
  ///
  /// - Throws: as ``EvaluablePredicate/evaluate(_:variables:)``.
  func evaluate(_ object: Any?, variables: [String: Any]?, context: NSMutableDictionary?) throws -> Any?
  /// As ``evaluate(_:variables:context:)`` for callers that can't throw: values of kinds that an operation
  /// never takes count as nil.
  ///
  /// - Throws: everything else that ``evaluate(_:variables:context:)`` throws.
  func evaluateLeniently(
    _ object: Any?, variables: [String: Any]?, context: NSMutableDictionary?
  ) throws -> Any?
}

/// The order of objects by one sort descriptor.
package protocol ObjectComparison: AnyObject {
  /// - Throws: ``PredicateError`` for a key that an object doesn't have and for values without order.
  func compare(_ left: Any, _ right: Any) throws -> ComparisonResult
}

/// The evaluator of a program that is linked without `CoreDataEvaluation`: each evaluation is an error.
final class MissingEvaluator: EvaluatorFactory, EvaluablePredicate, EvaluableExpression, ObjectComparison {
  static let shared: MissingEvaluator = .init()

  static let error: PredicateError = .unsupported(
    "Nothing can be evaluated or compared: this program has the module CoreDataPredicates, which reads and writes "
      + "predicates, and not CoreDataEvaluation. Import CoreData, or add CoreDataEvaluation to the target's dependencies."
  )

  func predicate(_ node: PredicateNode) -> any EvaluablePredicate { self }
  func expression(_ node: ExpressionNode) -> any EvaluableExpression { self }
  func comparison(
    by term: SortTerm, comparator: Comparator?, selector: Selector?
  ) -> any ObjectComparison { self }
  func comparison(by path: AnyKeyPath, _ term: SortTerm) -> any ObjectComparison { self }

  func evaluate(_ object: Any?, variables: [String: Any]?) throws -> Bool { throw Self.error }
  func evaluateLeniently(_ object: Any?, variables: [String: Any]?) throws -> Bool { throw Self.error }
  func evaluate(
    _ object: Any?, variables: [String: Any]?, context: NSMutableDictionary?
  ) throws -> Any? { throw Self.error }
  func evaluateLeniently(
    _ object: Any?, variables: [String: Any]?, context: NSMutableDictionary?
  ) throws -> Any? { throw Self.error }
  func compare(_ left: Any, _ right: Any) throws -> ComparisonResult { throw Self.error }
}
