import CoreDataPredicates

/// A type that can be the request of `FETCH(request, context, countOnly)`: the graph's fetch request conforms
/// to it.
package protocol FetchExpressionRequest {
  /// The objects, or their number.
  ///
  /// - Parameter context: the value of the expression's second operand.
  /// - Throws: whatever the fetch throws, and an error if the value is no context.
  func fetchExpressionValue(in context: Any?, countOnly: Bool) throws -> Any?
}
