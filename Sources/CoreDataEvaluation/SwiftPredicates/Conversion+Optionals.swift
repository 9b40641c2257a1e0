import CoreDataPredicates
import Foundation

extension PredicateExpressions.OptionalFlatMap: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    // A captured optional is constant: `if let least { $0.price > least } else { true }`.
    if let known = conversion.value(of: wrapped) {
      guard let value = known else { return .expression(.constant(.null)) }
      conversion.bind(variable, toValue: value)
      return try conversion.convert(transform)
    }
    let wrapped: ExpressionNode = try conversion.expression(self.wrapped)
    conversion.bind(variable.key, to: wrapped)
    return .expression(
      .unlessNil(wrapped, try conversion.expression(transform), otherwise: .constant(.null)))
  }
}

extension PredicateExpressions.NilCoalesce: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    switch try conversion.convert(lhs) {
    case .predicate(let predicate): return .predicate(predicate)
    case .expression(.constant(let value)):
      return value.isNull ? try conversion.convert(rhs) : .expression(.constant(value))
    case .expression(let value):
      return .expression(.unlessNil(value, value, otherwise: try conversion.expression(rhs)))
    }
  }
}

/// A predicate can't stop at nil: the value stays nil, and a comparison with it is false.
extension PredicateExpressions.ForcedUnwrap: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .expression(try conversion.expression(inner))
  }
}

extension ExpressionNode {
  /// `TERNARY(value != nil, then, otherwise)`
  static func unlessNil(
    _ value: ExpressionNode, _ then: ExpressionNode, otherwise: ExpressionNode
  ) -> ExpressionNode {
    .conditional(.compare(value, .notEqualTo, .constant(.null)), then, otherwise)
  }
}
