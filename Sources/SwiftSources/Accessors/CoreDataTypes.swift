/// The classes of this package that a property of a program can have as its type, by the module that declares
/// them. The names of accessors contain the names of these modules.
enum CoreDataTypes {
  static let classes: [String: [String]] = [
    "CoreDataGraph": [
      "NSManagedObject", "NSManagedObjectID", "NSManagedObjectContext", "NSPersistentStore",
      "NSPersistentStoreCoordinator",
    ],
    "CoreDataModel": [
      "NSAttributeDescription", "NSEntityDescription", "NSManagedObjectModel", "NSRelationshipDescription",
    ],
    "CoreDataPredicates": ["NSComparisonPredicate", "NSCompoundPredicate", "NSExpression"],
  ]

  /// Aliases that the umbrella declares because Foundation has classes of these names.
  static let aliases: [String: String] = [
    "NSExpression": "CoreDataPredicates", "NSComparisonPredicate": "CoreDataPredicates",
    "NSCompoundPredicate": "CoreDataPredicates",
  ]
}
