import CoreDataPredicates
import Foundation

/// Makes the classes of predicates, expressions and sort descriptors able to evaluate, in every program that
/// is linked with this module; see ``Evaluator``.
extension Evaluator: EvaluatorFactory {
  package func predicate(_ node: PredicateNode) -> any EvaluablePredicate { PredicateProgram(node) }
  package func expression(_ node: ExpressionNode) -> any EvaluableExpression { ExpressionProgram(node) }

  package func comparison(
    by term: SortTerm, comparator: Comparator?, selector: Selector?
  ) -> any ObjectComparison {
    KeyComparison(by: term, comparator: comparator, selector: selector)
  }

  package func comparison(by path: AnyKeyPath, _ term: SortTerm) -> any ObjectComparison {
    KeyPathComparison(by: path, term)
  }
}
