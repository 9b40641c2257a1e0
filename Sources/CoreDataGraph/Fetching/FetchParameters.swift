import CoreDataModel
import CoreDataPredicates
import CoreDataRuntime
import CoreDataStorage
import Foundation

/// A fetch request without its result type, as the graph uses it.
///
/// A class, because a structure of so many references is expensive to copy. It does not change once it is
/// passed on: code that needs another one changes a `copy()`.
final class FetchParameters {
  let entity: NSEntityDescription?
  /// Nil if there is an entity with a name.
  let entityName: String?
  let batchSize: Int
  let includesSubentities: Bool
  let includesPropertyValues: Bool
  let returnsObjectsAsFaults: Bool
  let returnsDistinctResults: Bool
  let refreshes: Bool
  let propertiesToFetch: [Any]
  let affectedStores: [NSPersistentStore]?
  /// The original request, for stores implemented by the program.
  let origin: NSPersistentStoreRequest
  // Only the code that makes a copy changes these, so there is no overlapping access.
  @exclusivity(unchecked) var predicate: NSPredicate?
  @exclusivity(unchecked) var sortDescriptors: [NSSortDescriptor]
  @exclusivity(unchecked) var limit: Int
  @exclusivity(unchecked) var offset: Int
  @exclusivity(unchecked) var resultType: NSFetchRequestResultType
  @exclusivity(unchecked) var includesPendingChanges: Bool
  @exclusivity(unchecked) var propertiesToGroupBy: [Any]
  @exclusivity(unchecked) var havingPredicate: NSPredicate?
  @exclusivity(unchecked) var prefetchedKeyPaths: [String]

  init<T>(_ request: NSFetchRequest<T>) {
    entity = request.entity
    entityName = entity?.name == nil ? request.entityName : nil
    predicate = request.predicate
    sortDescriptors = request.sortDescriptors ?? []
    // Negative numbers mean what 0 means.
    limit = max(0, request.fetchLimit)
    offset = max(0, request.fetchOffset)
    batchSize = max(0, request.fetchBatchSize)
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
    origin = request
  }

  private init(_ other: FetchParameters) {
    entity = other.entity
    entityName = other.entityName
    predicate = other.predicate
    sortDescriptors = other.sortDescriptors
    limit = other.limit
    offset = other.offset
    batchSize = other.batchSize
    resultType = other.resultType
    includesSubentities = other.includesSubentities
    includesPropertyValues = other.includesPropertyValues
    returnsObjectsAsFaults = other.returnsObjectsAsFaults
    includesPendingChanges = other.includesPendingChanges
    returnsDistinctResults = other.returnsDistinctResults
    refreshes = other.refreshes
    propertiesToFetch = other.propertiesToFetch
    propertiesToGroupBy = other.propertiesToGroupBy
    havingPredicate = other.havingPredicate
    prefetchedKeyPaths = other.prefetchedKeyPaths
    affectedStores = other.affectedStores
    origin = other.origin
  }

  func copy() -> FetchParameters { FetchParameters(self) }
}

extension FetchParameters {
  var isGrouped: Bool { !propertiesToGroupBy.isEmpty || havingPredicate != nil }

  /// The entity in a model: by name, since a request may carry the description of an equal model.
  func runtime(in model: ModelRuntime) throws -> EntityRuntime {
    if let own = entity.flatMap(model.ownRuntime(of:)) { return own }
    let name: String? = entity?.name ?? entityName
    if let runtime = name.flatMap(model.runtime(named:)) { return runtime }
    throw GraphError.unknownEntity(name, model.layout.entities.map(\.name))
  }

  /// Throws for a predicate or a sort descriptor from an archive whose evaluation has not been allowed.
  func checkEvaluationAllowed() throws {
    try predicate?.checkEvaluationAllowed()
    for descriptor in sortDescriptors { try descriptor.checkEvaluationAllowed() }
  }

  /// The order in a form that stores can evaluate; nil if it uses a comparator of the program.
  var storeOrder: [FetchOrder]? {
    var order: [FetchOrder] = []
    for descriptor in sortDescriptors {
      guard let term = descriptor.sortTerm, let key = term.key else { return nil }
      order.append(FetchOrder(keyPath: key, ascending: term.ascending, comparison: term.comparison))
    }
    return order
  }

  /// The plan for one store. Managed objects in the predicate become references to its rows, classes the
  /// entities of their objects; a predicate with a known `shape` contains none.
  func plan(
    _ runtime: EntityRuntime, predicate: PredicateNode?, shape: PredicateShape? = nil,
    order: [FetchOrder] = [], limit: Int = 0, offset: Int = 0, store: NSPersistentStore
  ) throws -> FetchPlan {
    let closed: PredicateNode? =
      shape == nil ? predicate?.mapConstants { FetchParameters.close($0, store: store) } : predicate
    return FetchPlan(
      entity: runtime.layout, includesSubentities: includesSubentities, predicate: closed, shape: shape,
      order: order, limit: limit, offset: offset)
  }

  static func close(_ value: PredicateValue, store: NSPersistentStore) -> PredicateValue {
    switch value {
    case .object(let box):
      let id: NSManagedObjectID
      switch box.value {
      case let object as NSManagedObject: id = object.objectID
      case let given as NSManagedObjectID: id = given
      case let entity as NSEntityDescription: return own(entity, store.runtime) ?? value
      case let type as NSManagedObject.Type: return .object(ObjectBox(family(of: type, store.runtime)))
      default: return value
      }
      // An id from before a migration names the object that the new store has.
      var key: Int64? = id.isTemporaryID || id.storeIdentifier != store.uuid ? nil : id.key
      if key == nil, !id.isTemporaryID, let place = store.persistentStoreCoordinator?.place(of: id),
        place.store === store
      {
        key = place.key
      }
      // The entity is looked up by name: the id may come from another coordinator over the same file.
      let index: Int = store.runtime.runtime(named: id.runtime.layout.name)?.index ?? id.runtime.index
      return .object(ObjectBox(ObjectReference(id: key.map { RowID(entity: index, key: $0) })))
    case .array(let members): return .array(members.map { close($0, store: store) })
    case .set(let members): return .set(Set(members.map { close($0, store: store) }))
    default: return value
    }
  }

  /// The entities whose objects are of a class.
  private static func family(of type: NSManagedObject.Type, _ model: ModelRuntime) -> EntityFamily {
    let entities: [EntityRuntime] = model.entities.filter {
      ClassAncestry.isClass($0.objectClass, below: type)
    }
    return EntityFamily(Set(entities.map(\.index)), className: "\(type)")
  }

  /// A predicate for objects of a context: ids and objects of other contexts in it become the context's own,
  /// as a store would treat them as the same rows, and so do the ids that it reads.
  ///
  /// `namesIDs`: whether `objectID` is not the name of a property.
  static func bind(
    _ predicate: PredicateNode, to context: NSManagedObjectContext, namesIDs: Bool
  ) -> PredicateNode {
    let bound: PredicateNode = predicate.mapConstants { bind($0, to: context) }
    return namesIDs ? bound.mapExpressions(objectForID) : bound
  }

  /// Replaces `author.objectID` by `author`.
  private static func objectForID(_ expression: ExpressionNode) -> ExpressionNode {
    let key: String = "objectID"
    switch expression {
    case .keyPath(key): return .evaluatedObject
    case .keyPath(let path) where path.hasSuffix(".\(key)"):
      return .keyPath(String(path.dropLast(key.count + 1)))
    case .path(let target, key): return target
    case .path(let target, let path) where path.hasSuffix(".\(key)"):
      return .makePath(target, String(path.dropLast(key.count + 1)))
    default: return expression
    }
  }

  /// A constant of such a predicate.
  static func bind(_ value: PredicateValue, to context: NSManagedObjectContext) -> PredicateValue {
    switch value {
    case .object(let box):
      switch box.value {
      case let id as NSManagedObjectID: return .object(ObjectBox(context.lookUp(id)))
      case let object as NSManagedObject
      where object.identityMap !== context.identityMap && object.store != nil:
        return .object(ObjectBox(context.lookUp(object.objectID)))
      case let entity as NSEntityDescription:
        return context.persistentStoreCoordinator.flatMap { own(entity, $0.runtime) } ?? value
      default: return value
      }
    case .array(let members): return .array(members.map { bind($0, to: context) })
    case .set(let members): return .set(Set(members.map { bind($0, to: context) }))
    default: return value
    }
  }

  /// A model's own description of an entity: a predicate may contain that of an equal model.
  private static func own(_ entity: NSEntityDescription, _ model: ModelRuntime) -> PredicateValue? {
    guard let own = entity.name.flatMap(model.runtime(named:))?.layout.entity else { return nil }
    return .object(ObjectBox(own))
  }
}
