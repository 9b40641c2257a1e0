import CoreDataModel
import CoreDataPredicates
import Foundation

/// A managed object (or its id) inside a predicate, in the form that stores use.
///
/// The graph replaces every object constant of a predicate by one of these (wrapped in
/// `PredicateValue.object`) before it passes a plan to a store. `id` is nil for an object this store does not
/// hold (not saved yet, or of another store): it equals nothing.
package final class ObjectReference: Sendable, Hashable, CustomStringConvertible {
  package let id: RowID?
  package init(id: RowID?) { self.id = id }
  package static func == (left: ObjectReference, right: ObjectReference) -> Bool { left.id == right.id }
  package func hash(into hasher: inout Hasher) { hasher.combine(id) }
  package var description: String { id.map { "<object p\($0.key)>" } ?? "<unsaved object>" }
}

/// A class inside a predicate (`SELF isKindOfClass: Manager`), in the form that stores use: the entities
/// whose objects are of that class. The graph replaces every class constant by one of these before it passes
/// a plan to a store.
package struct EntityFamily: ObjectFamily, Hashable, CustomStringConvertible {
  /// Indexes in the model.
  package let entities: Set<Int>
  package let description: String

  package init(_ entities: Set<Int>, className: String) {
    self.entities = entities
    description = className
  }

  package func contains(_ object: Any) -> Bool {
    (object as? any StoredRow).map { entities.contains(Int($0.id.entity)) } ?? false
  }
}

/// An object that represents a row in predicates that a store evaluates in memory.
package protocol StoredRow: AnyObject {
  var id: RowID { get }
}

/// One term of an order.
package struct FetchOrder: Sendable, Hashable {
  package var keyPath: String
  package var ascending: Bool
  package var comparison: StringComparison

  package init(keyPath: String, ascending: Bool = true, comparison: StringComparison = .plain) {
    self.keyPath = keyPath
    self.ascending = ascending
    self.comparison = comparison
  }
}

/// A fetch, fully decided before any store is accessed.
///
/// The predicate is closed: variables are substituted, managed objects replaced by `ObjectReference`, blocks
/// and custom selectors absent. The compiler of the engine checks key paths against `entity`.
package struct FetchPlan: Sendable {
  package var entity: EntityLayout
  /// Whether rows of sub-entities are included.
  package var includesSubentities: Bool
  package var predicate: PredicateNode? {
    get { storedPredicate }
    set { (storedPredicate, shape) = (newValue, nil) }
  }
  private var storedPredicate: PredicateNode?
  /// The predicate's shape, if the code that made the plan had it. Computing it costs a walk over the
  /// predicate.
  package private(set) var shape: PredicateShape?
  /// nil sorts before every value when ascending.
  package var order: [FetchOrder]
  /// 0: no limit.
  package var limit: Int
  package var offset: Int

  package init(
    entity: EntityLayout, includesSubentities: Bool = true, predicate: PredicateNode? = nil,
    shape: PredicateShape? = nil, order: [FetchOrder] = [], limit: Int = 0, offset: Int = 0
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    storedPredicate = predicate
    self.shape = shape
    self.order = order
    self.limit = limit
    self.offset = offset
  }
}

/// An attribute of an index that does not exist.
package struct IndexedSlot: Sendable, Equatable {
  package let slot: Int
  package let ascending: Bool

  package init(slot: Int, ascending: Bool = true) {
    self.slot = slot
    self.ascending = ascending
  }
}

/// The statement an engine would run for a plan, for display.
package struct ExplainedStatement: Sendable, Equatable {
  package var sql: String
  /// The bound values, printed.
  package var bindings: [String]
  /// The lines of the database's own query plan.
  package var queryPlan: [String]

  package init(sql: String, bindings: [String], queryPlan: [String]) {
    self.sql = sql
    self.bindings = bindings
    self.queryPlan = queryPlan
  }
}
