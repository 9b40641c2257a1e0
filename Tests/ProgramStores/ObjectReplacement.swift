import CoreData
import Foundation

/// Predicates of requests name objects of the calling context, or ids. A store that evaluates them over
/// objects of a context of its own puts those in their place.
struct ObjectReplacement {
  /// The context whose objects the predicate is evaluated over.
  let context: NSManagedObjectContext

  func predicate(_ predicate: NSPredicate) -> NSPredicate {
    switch predicate {
    case let compound as CoreData.NSCompoundPredicate:
      CoreData.NSCompoundPredicate(
        type: compound.compoundPredicateType,
        subpredicates: compound.subpredicates.map(self.predicate))
    case let comparison as CoreData.NSComparisonPredicate
    where !comparesIDs(comparison.leftExpression) && !comparesIDs(comparison.rightExpression):
      CoreData.NSComparisonPredicate(
        leftExpression: expression(comparison.leftExpression),
        rightExpression: expression(comparison.rightExpression),
        modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
        options: comparison.options)
    default: predicate
    }
  }

  private func comparesIDs(_ expression: CoreData.NSExpression) -> Bool {
    expression.expressionType == .keyPath && expression.keyPath.hasSuffix("objectID")
  }

  private func expression(_ expression: CoreData.NSExpression) -> CoreData.NSExpression {
    switch expression.expressionType {
    case .constantValue: CoreData.NSExpression(forConstantValue: value(expression.constantValue))
    case .aggregate:
      CoreData.NSExpression(
        forAggregate: (expression.collection as? [CoreData.NSExpression] ?? []).map(self.expression))
    case .subquery:
      CoreData.NSExpression(
        forSubquery: self.expression(expression.collection as? CoreData.NSExpression ?? expression),
        usingIteratorVariable: expression.variable, predicate: predicate(expression.predicate))
    default: expression
    }
  }

  private func value(_ value: Any?) -> Any? {
    switch value {
    case let object as NSManagedObject: object.objectID.isTemporaryID ? object : mine(object.objectID)
    case let id as NSManagedObjectID: mine(id)
    case let set as NSSet: NSSet(array: set.allObjects.compactMap(self.value))
    case let list as NSOrderedSet: NSOrderedSet(array: list.array.compactMap(self.value))
    case let list as [Any]: list.compactMap(self.value)
    case let set as Set<AnyHashable>: NSSet(array: set.compactMap { self.value($0.base) })
    default: value
    }
  }

  private func mine(_ id: NSManagedObjectID) -> NSManagedObject { context.object(with: id) }
}
