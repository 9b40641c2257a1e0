/// The names that Foundation off Apple's platforms has too, as shells or as other types. A module whose files
/// import both Foundation and CoreData declares once which are meant.
public enum AmbiguousNames {
  /// The text of a source file that says so. It belongs once into each module.
  public static let source: String = """
    // This file was automatically generated and should not be edited. Foundation has types of these names
    // too.

    #if !canImport(ObjectiveC)
      import CoreData

      typealias NSExpression = CoreData.NSExpression
      typealias NSComparisonPredicate = CoreData.NSComparisonPredicate
      typealias NSCompoundPredicate = CoreData.NSCompoundPredicate
      typealias PredicateError = CoreData.PredicateError
    #endif

    """
}
