import CoreDataPredicates
import Foundation

extension Sequence {
  /// The elements in the order of the descriptors, equal ones in their former order.
  ///
  /// - Throws: ``PredicateError`` for a key that an element doesn't have, and for values without order.
  public func sortedThrowing(using descriptors: [NSSortDescriptor]) throws -> [Element] {
    try sorted { left, right in
      for descriptor in descriptors {
        switch try descriptor.compareThrowing(left, to: right) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      return false
    }
  }

  /// The elements for which the predicate is true.
  ///
  /// - Throws: as `NSPredicate.evaluateThrowing(with:substitutionVariables:)`.
  public func filterThrowing(using predicate: Foundation.NSPredicate) throws -> [Element] {
    try predicate.checkEvaluationAllowed()
    return try PredicateProgram(predicate.predicateNode()).filter(self)
  }
}
