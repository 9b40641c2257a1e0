import CoreDataPredicates
import Foundation

extension PredicateExpressions.Equal: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .predicate(.compare(try conversion.expression(lhs), .equalTo, try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.NotEqual: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .predicate(.compare(try conversion.expression(lhs), .notEqualTo, try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.Comparison: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .predicate(.compare(try conversion.expression(lhs), comparison, try conversion.expression(rhs)))
  }

  private var comparison: ComparisonOperator {
    switch op {
    case .lessThan: .lessThan
    case .lessThanOrEqual: .lessThanOrEqualTo
    case .greaterThan: .greaterThan
    case .greaterThanOrEqual: .greaterThanOrEqualTo
    }
  }
}
