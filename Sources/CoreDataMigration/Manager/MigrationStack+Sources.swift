import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

// Which objects of the source a mapping reads, page by page.

extension MigrationStack {
  func forEachSourcePage(of mapping: PreparedMapping, _ body: ([NSManagedObject]) throws -> Void)
    throws
  {
    let numbers: [InstanceNumber]
    switch try sourceObjects(of: mapping) {
    case .request(let request):
      let ids: [NSManagedObjectID] = try source.context.objectIDs(request)
      if let wanted = request.entity { try check(ids, areOf: wanted) }
      numbers = ids.map(\.instance)
    case .objects(let objects): numbers = objects.map(\.objectID.instance)
    }
    for start in stride(from: 0, to: numbers.count, by: Self.objectsAtATime) {
      let part: [InstanceNumber] = Array(numbers[start..<min(start + Self.objectsAtATime, numbers.count)])
      try body(try source.objects(part))
      try endPage()
      try advance(by: part.count)
    }
  }

  /// A damaged file may have rows that name an entity of another table.
  private func check(_ ids: [NSManagedObjectID], areOf entity: NSEntityDescription) throws {
    guard let stray = ids.first(where: { !$0.entity.isKindOf(entity: entity) }) else { return }
    throw MigrationFailure.sourceStore(
      sourcePlace.url,
      "The table of \(entity.name ?? "") has a row with the number of another entity: \(stray). "
        + "`clarus check` lists such rows and repairs them.")
  }

  func count(_ entity: NSEntityDescription) throws -> Int {
    try source.context.count(for: try sourceRequest(entity.name ?? "", "TRUEPREDICATE"))
  }

  private enum SourceObjects {
    case request(any AnyFetchRequest)
    case objects([NSManagedObject])
  }

  /// What a mapping's source expression yields; all objects of its entity if it has none.
  private func sourceObjects(of mapping: PreparedMapping) throws -> SourceObjects {
    guard let expression = mapping.mapping.sourceExpression else {
      guard let entity = mapping.source?.name else { return .objects([]) }
      return .request(try sourceRequest(entity, "TRUEPREDICATE"))
    }
    expression.allowEvaluation()
    let variables: NSMutableDictionary = variables(mapping.mapping, mapping.policy)
    do {
      if case .fetch(let request, _, _) = expression.expressionNode(),
        let found = try NSExpression(node: request).expressionValueThrowing(with: nil, context: variables)
          as? any AnyFetchRequest
      {
        return .request(found)
      }
      switch try expression.expressionValueThrowing(with: nil, context: variables) {
      case let objects as [NSManagedObject]: return .objects(objects)
      case let set? where set is NSSet || set is NSOrderedSet:
        return .objects((Members.list(set) ?? []).compactMap { $0 as? NSManagedObject })
      case nil: return .objects([])
      case let other?:
        throw MigrationFailure.mapping(
          mapping.name, reason: "its source expression yields \(type(of: other)), not objects",
          advice: "Use a fetch, or an expression that yields a collection of objects.")
      }
    } catch let failure as MigrationFailure {
      throw failure
    } catch {
      throw MigrationFailure.mapping(
        mapping.name,
        reason: "its source expression \(expression) can't be evaluated: \(MigrationFailure.text(of: error))",
        advice: "Correct the source expression.")
    }
  }

  /// The objects of one entity of the source, without those of its sub-entities, which have their own
  /// mappings.
  func sourceRequest(_ entity: String, _ predicate: String) throws -> NSFetchRequest<NSManagedObject> {
    guard let found = source.model.entitiesByName[entity] else {
      throw MigrationFailure.mapping(
        currentMapping?.name ?? "", reason: "the source model has no entity '\(entity)'",
        advice: NearestNames.advice(for: entity, among: source.model.entities.compactMap(\.name)))
    }
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = found
    request.includesSubentities = false
    if predicate != "TRUEPREDICATE" { request.predicate = try NSPredicate(parsing: predicate) }
    return request
  }
}

extension NSManagedObjectContext {
  /// The ids of the objects that a request finds.
  func objectIDs(_ request: any AnyFetchRequest) throws -> [NSManagedObjectID] {
    let ids = NSFetchRequest<NSManagedObjectID>()
    request.copyContents(into: ids)
    ids.relationshipKeyPathsForPrefetching = nil
    ids.fetchBatchSize = 0
    ids.resultType = .managedObjectIDResultType
    return try fetch(ids)
  }
}
