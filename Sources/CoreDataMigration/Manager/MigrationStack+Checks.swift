import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// What has to hold before, during and after the passes.

extension MigrationStack {
  /// Inference removes an entity that has become abstract, for which there must be no objects.
  func checkRemovals(_ model: NSMappingModel) throws {
    let removed: [NSEntityMapping] = (model.entityMappings ?? []).filter(\.isInferredRemoval)
    if removed.isEmpty { return }
    let difference = ModelDifference(from: source.model, to: destination.model)
    for mapping in removed {
      guard let entity = mapping.sourceEntityName.flatMap({ source.model.entitiesByName[$0] }),
        let successor = difference.entity(forSource: entity)?.destination, successor.isAbstract
      else { continue }
      let count: Int = try count(entity)
      if count > 0 {
        throw StoreError.migration(
          url: subject.store, .abstractRows(entity: successor.name ?? "", count: Int64(count)))
      }
    }
  }

  /// What a policy does to the objects of the source would be lost without a word.
  func requireUnchangedSource() throws {
    let context: NSManagedObjectContext = source.context
    guard context.hasChanges else { return }
    let changed: (String, Set<NSManagedObject>)? = [
      ("deleted", context.deletedObjects), ("inserted", context.insertedObjects),
      ("changed", context.updatedObjects),
    ].first { !$0.1.isEmpty }
    let object: NSManagedObject? = changed?.1.min { "\($0.objectID)" < "\($1.objectID)" }
    throw MigrationFailure.mapping(
      currentMapping?.name ?? "",
      reason: "\(policyTitle) has \(changed?.0 ?? "changed") the source object "
        + "\(object.map { "\($0.objectID)" } ?? ""), and a migration leaves its source as it is",
      advice:
        "Change the destination's objects. What is not to be migrated, leave out: make no destination object."
    )
  }

  /// As errors name the present mapping's.
  private var policyTitle: String {
    currentMapping?.entityMigrationPolicyClassName.map { "The policy \($0)" } ?? "A policy"
  }

  /// Objects that are not saved are lost when a policy resets the destination's context.
  func requireKeptDestination() throws {
    let context: NSManagedObjectContext = destination.context
    defer { resets = context.resetCount }
    guard context.resetCount != resets, let object = associations.droppedObject else { return }
    throw MigrationFailure.mapping(
      currentMapping?.name ?? "",
      reason:
        "\(policyTitle) has reset the destination context, and an object of \(object.entity.name ?? "") that was not saved "
        + "is lost",
      advice: "Save the context before, or leave reset() out: the manager releases the objects of each page.")
  }

  /// Validates every object of the destination, as a save of new objects would.
  func validate() throws {
    var failures = InvalidObjects()
    for entity in destination.model.entities where !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>()
      request.entity = entity
      request.includesSubentities = false
      let numbers: [InstanceNumber] = try destination.context.objectIDs(request).map(\.instance)
      for start in stride(from: 0, to: numbers.count, by: Self.objectsAtATime) {
        try throwIfCancelled()
        let page = numbers[start..<min(start + Self.objectsAtATime, numbers.count)]
        for object in try destination.objects(Array(page)) {
          do { try object.validateSaved() } catch { failures.add(error, of: object) }
        }
        destination.context.refreshAllObjects()
      }
    }
    if let error = failures.error(of: subject) { throw error }
  }

  /// Reads what the default policy has made of a mapping's objects again and compares it with the source.
  func verify(_ mapping: PreparedMapping) throws {
    if type(of: mapping.policy) != NSEntityMigrationPolicy.self { return }
    let pairs: [InstanceTable.Pair] = associations.pairs(of: mapping.name)
    let relationships: [String] = mapping.source.map { Array($0.relationshipsByName.keys) } ?? []
    for start in stride(from: 0, to: pairs.count, by: Self.objectsAtATime) {
      try throwIfCancelled()
      let part = pairs[start..<min(start + Self.objectsAtATime, pairs.count)]
      let sources: [NSManagedObject] = try source.objects(part.map(\.source), prefetching: relationships)
      let made: [NSManagedObject] = try destination.objects(part.map(\.destination))
      for (from, to) in zip(sources, made) { try verify(to, madeFrom: from, mapping) }
      destination.context.refreshAllObjects()
      source.context.refreshAllObjects()
      try advance(by: part.count)
    }
  }
}
