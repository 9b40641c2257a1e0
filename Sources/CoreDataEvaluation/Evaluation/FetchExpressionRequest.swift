import CoreDataPredicates

/// What can stand as the request of `FETCH(request, context, countOnly)`: the graph makes its
/// fetch request one.
package protocol FetchExpressionRequest {
  /// The objects, or their number.
  ///
  /// - Parameter context: the value of the expression's second operand.
  /// - Throws: whatever the fetch throws, and an error that names the context when it is none.
  func fetchExpressionValue(in context: Any?, countOnly: Bool) throws -> Any?
}
