// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import Foundation

/// The kind of an ``NSFetchRequestExpression``.
public let NSFetchRequestExpressionType: CoreDataPredicates.NSExpression.ExpressionType = .fetchRequest

/// An expression whose value is the result of a fetch, in formats `FETCH(request, context, countOnly)`:
///
/// ```swift
/// let seniors = NSFetchRequestExpression.expression(
///   forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context), countOnly: false)
/// NSPredicate(format: "SELF IN %@", seniors)
/// ```
///
/// The request runs each time the expression is evaluated. In the predicate of a fetch it runs once, before
/// the store executes the fetch, if its operands are constants. The request's offset is then ignored.
nonisolated open class NSFetchRequestExpression: CoreDataPredicates.NSExpression {
  private var parts: (request: ExpressionNode, context: ExpressionNode, countOnly: Bool) {
    guard case .fetch(let request, let context, let countOnly) = expressionNode() else {
      preconditionFailure("Made with a fetch, and never changed.")
    }
    return (request, context, countOnly == .constant(.bool(true)))
  }

  private init(request: ExpressionNode, context: ExpressionNode, countOnly: Bool) {
    super.init(
      node: .fetch(request: request, context: context, countOnly: .constant(.bool(countOnly))))
  }

  /// Nil unless the archive holds a fetch.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    guard case .fetch = expressionNode() else { return nil }
  }

  /// The objects that the request finds, or with `countOnly` their number.
  ///
  /// - Parameters:
  ///   - fetch: an expression whose value is an `NSFetchRequest`.
  ///   - context: an expression whose value is an `NSManagedObjectContext`.
  open class func expression(
    forFetch fetch: CoreDataPredicates.NSExpression, context: CoreDataPredicates.NSExpression,
    countOnly countFlag: Bool
  ) -> CoreDataPredicates.NSExpression {
    NSFetchRequestExpression(
      request: fetch.expressionNode(), context: context.expressionNode(), countOnly: countFlag)
  }

  /// The expression of the request.
  open var requestExpression: CoreDataPredicates.NSExpression { NSExpression(node: parts.request) }
  /// The expression of the context.
  open var contextExpression: CoreDataPredicates.NSExpression { NSExpression(node: parts.context) }
  /// Whether the value is the number of objects.
  open var isCountOnlyRequest: Bool { parts.countOnly }
}

extension NSFetchRequest: FetchExpressionRequest {
  package func fetchExpressionValue(in context: Any?, countOnly: Bool) throws -> Any? {
    guard let context = context as? NSManagedObjectContext else {
      throw GraphError.unsupported(
        "FETCH without a context",
        advice: "Its second operand must be an NSManagedObjectContext, passed with %@.")
    }
    let request: NSFetchRequest<ResultType> = fetchOffset == 0 ? self : withoutOffset()
    return countOnly ? try context.count(for: request) : try context.fetch(request)
  }

  private func withoutOffset() -> NSFetchRequest<ResultType> {
    let request = copy() as! NSFetchRequest<ResultType>
    request.fetchOffset = 0
    return request
  }
}

extension PredicateNode {
  /// The tree with its fetches, which a store could not execute, replaced by their results. Those that need a
  /// variable or a row's values stay.
  func resolvingFetches() throws -> PredicateNode {
    try mapExpressions { expression in
      guard case .fetch(.constant, .constant, .constant) = expression else { return expression }
      return .constant(try ExpressionProgram(expression).value(nil))
    }
  }
}
