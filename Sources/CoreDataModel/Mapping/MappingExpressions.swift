import CoreDataPredicates
import Foundation

/// The expressions of mapping models, as Xcode's compiler and inference write them.
enum MappingExpressions {
  private typealias NSExpression = CoreDataPredicates.NSExpression

  /// The variables that value expressions may use.
  static let source: ExpressionNode = .variable("source")
  static let manager: ExpressionNode = .variable("manager")

  /// `FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", entity, predicate),
  /// $manager.sourceContext, NO)`
  static func objects(of entity: String, where predicate: String = "TRUEPREDICATE")
    -> CoreDataPredicates.NSExpression
  {
    NSExpression(
      node: .fetch(
        request: call(
          "fetchRequestForSourceEntityNamed:predicateString:",
          [.constant(.string(entity)), .constant(.string(predicate))]),
        context: .path(manager, "sourceContext"), countOnly: .constant(.bool(false))))
  }

  /// The predicate of an expression that ``objects(of:where:)`` makes; nil for any other.
  static func predicate(
    of expression: CoreDataPredicates.NSExpression, forObjectsOf entity: String
  ) -> String? {
    guard case .fetch(.function(_, _, let arguments), _, _) = expression.expressionNode(),
      arguments.count == 2, case .constant(.string(let predicate)) = arguments[1],
      objects(of: entity, where: predicate) == expression
    else { return nil }
    return predicate
  }

  /// `$source.path`
  static func value(_ path: String) -> CoreDataPredicates.NSExpression {
    NSExpression(node: .path(source, path))
  }

  /// The value, or another one in the place of nil.
  static func value(_ path: String, orElse other: Any) -> CoreDataPredicates.NSExpression {
    let value: ExpressionNode = .path(source, path)
    let isNil: PredicateNode = .comparison(
      ComparisonNode(left: value, right: .constant(.null), comparison: .equalTo))
    return NSExpression(node: .conditional(isNil, .constant(PredicateValue(constant: other)), value))
  }

  /// What the mapping has made of the objects at the end of a path.
  static func destinations(of path: String, mappedBy mapping: String) -> CoreDataPredicates.NSExpression {
    NSExpression(
      node: call(
        "destinationInstancesForEntityMappingNamed:sourceInstances:",
        [.constant(.string(mapping)), .path(source, path)]))
  }

  /// What any mapping has made of the objects of a relationship, whichever of their entities they have.
  static func destinations(of relationship: String) -> CoreDataPredicates.NSExpression {
    NSExpression(
      node: call(
        "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
        [.constant(.string(relationship)), .path(source, relationship)]))
  }

  private static func call(_ selector: String, _ arguments: [ExpressionNode]) -> ExpressionNode {
    .function(target: manager, name: selector, arguments: arguments)
  }
}
