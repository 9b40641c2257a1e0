import CoreDataPredicates

// Foundation has types of these names too.

typealias PredicateError = CoreDataPredicates.PredicateError
typealias NSExpression = CoreDataPredicates.NSExpression
