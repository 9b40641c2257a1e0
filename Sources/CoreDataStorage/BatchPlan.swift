import CoreDataModel
import CoreDataPredicates
import Foundation

/// Rows to insert, update or delete without objects: the plan of a batch request. Closed, as a `FetchPlan`
/// is.
package struct BatchPlan: Sendable {
  package enum Operation: Sendable {
    /// New rows under provisional keys, as in a `SavePlan`.
    case insert(RowBatch)
    /// Slots of the entity with the expressions of their new values. The rows' versions rise by one.
    case update([(slot: Int, value: ExpressionNode)])
    /// Delete rules are not applied by the store; to-one references to the rows become nil.
    case delete

    package var name: String {
      switch self {
      case .insert: "a batch insertion"
      case .update: "a batch update"
      case .delete: "a batch deletion"
      }
    }
  }

  package var operation: Operation
  package var entity: EntityLayout
  package var includesSubentities: Bool = true
  /// The rows to change; nil for all. Not used for insertions.
  package var predicate: PredicateNode?
  /// The author of the change, for the store's history.
  package var author: SaveAuthor
  /// Whether the outcome is to contain the rows' ids.
  package var returnsIDs: Bool = false

  package init(_ operation: Operation, of entity: EntityLayout, author: SaveAuthor) {
    self.operation = operation
    self.entity = entity
    self.author = author
  }
}

/// The result of a batch.
package struct BatchOutcome: Sendable {
  package var count: Int
  /// The ids, if the plan wants them.
  package var ids: [RowID]?

  package init(count: Int, ids: [RowID]? = nil) {
    self.count = count
    self.ids = ids
  }
}
