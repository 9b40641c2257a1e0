import CoreDataPredicates

extension ComparisonNode {
  /// Whether the quantifier may stand before one value, and then says nothing: `ANY $item.title == 'Soup'`.
  ///
  /// Apple's stores take such comparisons in subqueries, and libraries that build predicates write them
  /// (PredicateQI). Of `SELF` they are a mistake, which the evaluator there refuses too.
  package var takesSingleValue: Bool {
    guard modifier == .any, case .path(.variable, _) = left else { return false }
    return true
  }
}
