import CoreDataPredicates

// Foundation on Linux has empty classes of these names.
typealias NSExpression = CoreDataPredicates.NSExpression
typealias NSCompoundPredicate = CoreDataPredicates.NSCompoundPredicate
