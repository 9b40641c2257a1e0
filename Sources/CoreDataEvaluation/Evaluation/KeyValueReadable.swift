import CoreDataPredicates
import Foundation

/// An object whose properties predicates and sort descriptors can read by name.
///
/// Linux has no key-value coding: `NSManagedObject` and rows conform to this instead. Dictionaries and
/// Foundation's collections need no conformance; objects of other classes are read through `Mirror`, stored
/// properties only and slowly.
public protocol KeyValueReadable {
  /// The value of one property; nil if it has none.
  ///
  /// - Throws: if the object has no such key. The error reaches the caller of
  ///   `NSPredicate.evaluateThrowing(with:substitutionVariables:)` unchanged.
  func readValue(forKey key: String) throws -> Any?
}

/// An object whose properties a model defines. They have precedence over the keys that every object has: an
/// attribute may be called `self` or `objectID`.
package protocol ModelledObject {
  func hasProperty(named name: String) -> Bool
}
