import CoreDataPredicates
import CoreDataStorage

/// Databases have limits of their own on nesting, which are far below those of predicates.
enum PredicateDepth {
  /// The number of levels that are compiled; a hundred levels of parentheses already overflow the stack of
  /// SQLite's parser.
  private static let limit: Int = 200

  static func check(_ predicate: PredicateNode) throws {
    guard predicate.depth > limit else { return }
    throw StoreError.unsupported(
      part: "\(Printer.print(predicate).prefix(60))…", reason: "it nests deeper than a statement of SQL can",
      advice: "Join its parts in one AND or OR, use IN for alternatives, or filter the fetched objects")
  }
}
