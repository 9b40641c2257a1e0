import CoreDataPredicates
import Foundation

extension PredicateExpressions.Arithmetic: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    let function: String =
      switch op {
      case .add: "add:to:"
      case .subtract: "from:subtract:"
      case .multiply: "multiply:by:"
      }
    return try conversion.function(function, lhs, rhs)
  }
}

extension PredicateExpressions.IntDivision: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    try conversion.function("divide:by:", lhs, rhs)
  }
}

extension PredicateExpressions.FloatDivision: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    try conversion.function("divide:by:", lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    try conversion.function("modulus:by:", lhs, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    let operand: ExpressionNode = try conversion.expression(wrapped)
    return .expression(
      .function(target: nil, name: "multiply:by:", arguments: [operand, .constant(.integer(-1))]))
  }
}

extension PredicateConversion {
  fileprivate func function(
    _ name: String, _ left: any PredicateExpression, _ right: any PredicateExpression
  ) throws -> ConvertedNode {
    .expression(
      .function(target: nil, name: name, arguments: [try expression(left), try expression(right)]))
  }
}
