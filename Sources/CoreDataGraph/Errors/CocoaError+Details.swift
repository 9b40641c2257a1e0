import CoreDataModel
import Foundation

// The entries of errors' `userInfo`, with types.

extension CocoaError {
  /// The object that a validation error is about.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The name of the property that a validation error is about.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The validation predicate that was false.
  public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }
  /// The value that is not allowed.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
  /// The objects, or their ids, that an error of a save or a fault is about.
  public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
  /// The stores that an error of a save is about.
  public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }
}
