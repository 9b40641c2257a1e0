/// The names that Foundation off Apple's platforms has too, as shells or as other types. A module whose files
/// import both Foundation and CoreData declares once which are meant: publicly, since public declarations of
/// it may mention them, and by the module that has them, since a program can have a type named CoreData.
public enum AmbiguousNames {
  /// The text of a source file that says so. It belongs once into each module.
  public static let source: String = """
    // This file was automatically generated and should not be edited. Foundation has types of these names
    // too.

    #if !canImport(ObjectiveC)
      public import CoreData

      public typealias NSExpression = CoreDataPredicates.NSExpression
      public typealias NSComparisonPredicate = CoreDataPredicates.NSComparisonPredicate
      public typealias NSCompoundPredicate = CoreDataPredicates.NSCompoundPredicate
      typealias PredicateError = CoreDataPredicates.PredicateError
    #endif

    """
}
