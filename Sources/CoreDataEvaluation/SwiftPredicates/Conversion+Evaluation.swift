import CoreDataPredicates
import Foundation

// A predicate or expression inside another one: its variables are bound to the values it is evaluated with.

extension PredicateExpressions.ExpressionEvaluate: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    guard let inner = conversion.value(of: expression) else {
      throw conversion.unsupported(
        self, "the expression must be known", "Capture it outside the predicate")
    }
    repeat conversion.bind((each inner.variable).key, to: try conversion.expression(each input))
    return try conversion.convert(inner.expression)
  }
}

#if !canImport(Darwin)

  extension PredicateExpressions.PredicateEvaluate: ConvertiblePredicateExpression {
    package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
      guard let inner = conversion.value(of: predicate) else {
        throw conversion.unsupported(
          self, "the predicate must be known", "Capture it outside this predicate")
      }
      repeat conversion.bind((each inner.variable).key, to: try conversion.expression(each input))
      return try conversion.convert(inner.expression)
    }
  }

#endif
