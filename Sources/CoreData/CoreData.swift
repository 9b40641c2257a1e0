// The module that programs import. It has the name of Apple's, so `import CoreData` needs no change.
//
// Storage, SQL and the engines are not re-exported: their types are internal.

@_exported import CoreDataControllers
@_exported import CoreDataEvaluation
@_exported import CoreDataGraph
@_exported import CoreDataMigration
@_exported import CoreDataModel
@_exported import CoreDataModelChecking
@_exported import CoreDataPredicates
@_exported import Foundation

// Foundation on Linux has classes of these names that can't be used. Without the aliases the names would be
// ambiguous in a file that imports this module; a type declared here has precedence over re-exported ones.

/// The framework's own expression class; see CoreDataPredicates.
public typealias NSExpression = CoreDataPredicates.NSExpression
/// Why a predicate can't be parsed, converted or evaluated. Foundation's type of this name, which evaluating
/// Swift predicates throws, is `FoundationEssentials.PredicateError`.
public typealias PredicateError = CoreDataPredicates.PredicateError
/// The framework's own comparison class; a subclass of Foundation's `NSPredicate`.
public typealias NSComparisonPredicate = CoreDataPredicates.NSComparisonPredicate
/// The framework's own compound class; a subclass of Foundation's `NSPredicate`.
public typealias NSCompoundPredicate = CoreDataPredicates.NSCompoundPredicate
