import CoreDataPredicates
import Foundation

/// `&&` and `||`, handled alike.
private protocol LogicalJunction {
  var junction: CompoundKind { get }
  var left: any PredicateExpression { get }
  var right: any PredicateExpression { get }
}

extension LogicalJunction {
  /// Longer chains would be nested deeper than databases can parse.
  private static var longestNested: Int { 50 }

  /// A chain `a && b && c` nests to the left, as it does in Swift. A long one becomes one compound.
  fileprivate func join(_ conversion: PredicateConversion) throws -> ConvertedNode {
    var rights: [any PredicateExpression] = [right]
    var first: any PredicateExpression = left
    while let next = first as? any LogicalJunction, next.junction == junction {
      rights.append(next.right)
      first = next.left
    }
    let members: [PredicateNode] = try ([first] + rights.reversed()).map { try conversion.predicate($0) }
    if members.count > Self.longestNested { return .predicate(.compound(junction, members)) }
    return .predicate(members.dropFirst().reduce(members[0]) { .compound(junction, [$0, $1]) })
  }
}

extension PredicateExpressions.Conjunction: ConvertiblePredicateExpression, LogicalJunction {
  fileprivate var junction: CompoundKind { .and }
  fileprivate var left: any PredicateExpression { lhs }
  fileprivate var right: any PredicateExpression { rhs }

  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode { try join(conversion) }
}

extension PredicateExpressions.Disjunction: ConvertiblePredicateExpression, LogicalJunction {
  fileprivate var junction: CompoundKind { .or }
  fileprivate var left: any PredicateExpression { lhs }
  fileprivate var right: any PredicateExpression { rhs }

  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode { try join(conversion) }
}

extension PredicateExpressions.Negation: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .predicate(.compound(.not, [try conversion.predicate(wrapped)]))
  }
}

extension PredicateExpressions.Conditional: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .expression(
      .conditional(
        try conversion.predicate(test), try conversion.expression(trueBranch),
        try conversion.expression(falseBranch)))
  }
}
