/// Names of members that every managed object has.
package enum ObjectMemberNames {
  /// Those of `NSObject` and `NSManagedObject` in Swift, here and on Apple's platforms: a property of one of
  /// these names in a class would override or hide them.
  package static let inSwift: Set<String> = [
    // NSObject
    "autoContentAccessingProxy", "classForCoder", "classForKeyedArchiver", "copy", "debugDescription",
    "description", "hash", "hashValue", "isEqual", "isProxy", "mutableCopy", "observationInfo", "self",
    "superclass", "zone",
    // NSManagedObject
    "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent", "customAccessors",
    "didSave", "didTurnIntoFault", "entity", "faultingState", "fetchRequest", "hasChanges",
    "hasPersistentChangedValues", "isDeleted", "isFault", "isInserted", "isUpdated", "keyPathNames",
    "managedObjectContext", "objectID", "prepareForDeletion", "tracksObservation", "validateForDelete",
    "validateForInsert", "validateForUpdate", "willSave", "willTurnIntoFault",
  ]

  /// Of the former those that Objective-C doesn't have, or not without arguments: Xcode takes them.
  private static let unknownToXcode: Set<String> = [
    "hashValue", "isEqual", "customAccessors", "keyPathNames", "tracksObservation",
  ]

  /// Those that Xcode's model compiler refuses as names of properties.
  package static let refused: Set<String> = inSwift.subtracting(unknownToXcode).union([
    "autorelease", "class", "committedValues", "dealloc", "deleted", "fault", "init", "inserted", "release",
    "retain", "retainCount", "updated",
  ])
}
