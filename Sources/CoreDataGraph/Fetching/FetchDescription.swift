import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A fetch request without its result type: what the graph works with.
struct FetchDescription {
  var entity: NSEntityDescription?
  var entityName: String?
  var predicate: NSPredicate?
  var sortDescriptors: [NSSortDescriptor]
  var limit: Int
  var offset: Int
  var batchSize: Int
  var resultType: NSFetchRequestResultType
  var includesSubentities: Bool
  var includesPropertyValues: Bool
  var returnsObjectsAsFaults: Bool
  var includesPendingChanges: Bool
  var returnsDistinctResults: Bool
  var refreshes: Bool
  var propertiesToFetch: [Any]
  var propertiesToGroupBy: [Any]
  var havingPredicate: NSPredicate?
  var prefetchedKeyPaths: [String]
  var affectedStores: [NSPersistentStore]?

  init<T>(_ request: NSFetchRequest<T>) {
    entity = request.entity
    entityName = request.entityName
    predicate = request.predicate
    sortDescriptors = request.sortDescriptors ?? []
    limit = request.fetchLimit
    offset = request.fetchOffset
    batchSize = request.fetchBatchSize
    resultType = request.resultType
    includesSubentities = request.includesSubentities
    includesPropertyValues = request.includesPropertyValues
    returnsObjectsAsFaults = request.returnsObjectsAsFaults
    includesPendingChanges = request.includesPendingChanges
    returnsDistinctResults = request.returnsDistinctResults
    refreshes = request.shouldRefreshRefetchedObjects
    propertiesToFetch = request.propertiesToFetch ?? []
    propertiesToGroupBy = request.propertiesToGroupBy ?? []
    havingPredicate = request.havingPredicate
    prefetchedKeyPaths = request.relationshipKeyPathsForPrefetching ?? []
    affectedStores = request.affectedStoresStorage as? [NSPersistentStore]
  }
}

extension FetchDescription {
  var isGrouped: Bool { !propertiesToGroupBy.isEmpty || havingPredicate != nil }

  /// The entity in a model: by name, since a request may carry the description of an equal model.
  func runtime(in model: ModelRuntime) throws -> EntityRuntime {
    let names: [String] = model.layout.entities.map(\.name)
    guard let name = entity?.name ?? entityName else { throw GraphError.unknownEntity(nil, names) }
    guard let runtime = model.runtime(named: name) else { throw GraphError.unknownEntity(name, names) }
    return runtime
  }

  /// Throws every problem of the predicate with the entity, before a store is asked.
  func checkPredicate(for runtime: EntityRuntime) throws {
    guard let errors = predicate?.predicateNode().errors(for: runtime.layout.entity), !errors.isEmpty else {
      return
    }
    throw GraphError.predicate(errors)
  }

  /// The order in a store's terms; nil when a comparator of the program's own takes part.
  var storeOrder: [FetchOrder]? {
    var order: [FetchOrder] = []
    for descriptor in sortDescriptors {
      guard let term = descriptor.sortTerm, let key = term.key else { return nil }
      order.append(FetchOrder(keyPath: key, ascending: term.ascending, comparison: term.comparison))
    }
    return order
  }

  /// The plan for one store, without order, limit and offset.
  func plan(_ runtime: EntityRuntime, store: NSPersistentStore) throws -> FetchPlan {
    var plan = FetchPlan(entity: runtime.layout)
    plan.includesSubentities = includesSubentities
    plan.predicate = try predicate.map { try FetchDescription.close($0, store: store) }
    return plan
  }

  /// The predicate with managed objects replaced by references to rows of one store.
  static func close(_ predicate: NSPredicate, store: NSPersistentStore) throws -> PredicateNode {
    try predicate.structureNode().resolvingFetches().mapConstants { try close($0, store: store) }
  }

  static func close(_ value: PredicateValue, store: NSPersistentStore) throws -> PredicateValue {
    switch value {
    case .object(let box):
      let id: NSManagedObjectID
      switch box.value {
      case let object as NSManagedObject: id = object.objectID
      case let given as NSManagedObjectID: id = given
      default: return value
      }
      let known: Bool = !id.isTemporaryID && id.storeIdentifier == store.identifier
      // The entity by name: the id may stem from another coordinator on the same file.
      let index: Int = store.runtime.runtime(named: id.runtime.layout.name)?.index ?? id.runtime.index
      return .object(ObjectBox(ObjectReference(id: known ? RowID(entity: index, key: id.key) : nil)))
    case .array(let members): return .array(try members.map { try close($0, store: store) })
    case .set(let members): return .set(Set(try members.map { try close($0, store: store) }))
    default: return value
    }
  }

  /// A constant with the objects that ids in it stand for.
  static func objects(for value: PredicateValue, in context: NSManagedObjectContext) -> PredicateValue {
    switch value {
    case .object(let box):
      guard let id = box.value as? NSManagedObjectID else { return value }
      return .object(ObjectBox(context.object(with: id)))
    case .array(let members): return .array(members.map { objects(for: $0, in: context) })
    case .set(let members): return .set(Set(members.map { objects(for: $0, in: context) }))
    default: return value
    }
  }
}
