import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// One migration of a manager: both stores, the pairs of objects, the three passes.
final class MigrationStack {
  unowned let manager: NSMigrationManager
  let source: MigrationSide
  let destination: MigrationSide
  private(set) var currentMapping: NSEntityMapping?

  private let sourcePlace: StorePlace
  private let destinationFiles: DestinationFiles
  private var mappings: [PreparedMapping] = []
  private var placeByMapping: [ObjectIdentifier: Int] = [:]
  /// The pairs of objects by the name of their mapping.
  private var tables: [String: InstanceTable] = [:]
  /// The pairs of the present page: new objects have no number before they are saved.
  private var page = PageAssociations()
  private let progress = Progress(totalUnitCount: 1000)
  /// One for each object and pass.
  private var unitsDone: Int = 0
  private var unitsOfAll: Int = 0
  /// The destination's objects, from when a policy asks for all of them.
  private var kept: [NSManagedObject]?
  /// The number of objects that are in memory at a time.
  private static let objectsAtATime: Int = 500

  init(manager: NSMigrationManager, from sourcePlace: StorePlace, to destinationPlace: StorePlace) throws {
    self.manager = manager
    self.sourcePlace = sourcePlace
    do {
      source = try MigrationSide(
        sourcePlace, manager.sourceModel,
        options: [NSReadOnlyPersistentStoreOption: true, CreatesStoreIfMissingOption: false])
    } catch {
      throw MigrationFailure.sourceStore(sourcePlace.url, ErrorMessage.reason(of: error))
    }
    do {
      (destinationFiles, destination) = try Self.destination(at: destinationPlace, manager.destinationModel)
    } catch {
      source.close()
      if let failure = error as? MigrationFailure { throw failure }
      throw MigrationFailure.destinationStore(destinationPlace.url, ErrorMessage.reason(of: error))
    }
    destination.context.savesUnvalidated = true
    destination.context.willReadRegisteredObjects = { [unowned self] in keepObjects() }
    note(unfinished: true)
  }

  private static func destination(at place: StorePlace, _ model: NSManagedObjectModel) throws
    -> (DestinationFiles, MigrationSide)
  {
    let files = try DestinationFiles(place, model: model)
    do {
      // A program that wants no empty store in place of a missing one wants the migrated one.
      return (files, try MigrationSide(files.place, model, options: [CreatesStoreIfMissingOption: true]))
    } catch {
      files.discard()
      throw error
    }
  }

  func close() {
    source.close()
    destination.close()
  }

  /// Called after an error.
  func discardDestination() {
    destination.context.reset()
    destination.close()
    destinationFiles.discard()
  }

  /// Called after the last save.
  func publishDestination() throws {
    destination.close()
    try destinationFiles.publish()
  }

  private func note(unfinished: Bool) {
    var metadata: [String: Any] = destination.store.metadata ?? [:]
    metadata[DestinationFiles.unfinishedKey] = unfinished ? true : nil
    destination.store.metadata = metadata
  }

  func preparedMapping(_ mapping: NSEntityMapping) -> PreparedMapping? {
    placeByMapping[ObjectIdentifier(mapping)].map { mappings[$0] }
  }

  // MARK: Passes

  func migrate(_ model: NSMappingModel) throws {
    try checkRemovals(model)
    for mapping in model.entityMappings ?? [] where mapping.mappingType != .removeEntityMappingType {
      placeByMapping[ObjectIdentifier(mapping)] = mappings.count
      mappings.append(try PreparedMapping(mapping, from: source.model, to: destination.model))
    }
    for mapping in mappings { unitsOfAll += try mapping.source.map { try count($0) * 2 } ?? 0 }
    if manager.verifiesValues { unitsOfAll += unitsOfAll / 2 }
    for mapping in mappings {
      try run(mapping) {
        try mapping.policy.begin(mapping.mapping, with: manager)
        try forEachSourcePage(of: mapping) { objects in
          for object in objects {
            try mapping.policy.createDestinationInstances(
              forSource: object, in: mapping.mapping, manager: manager)
            try throwIfCancelled()
          }
        }
        try mapping.policy.endInstanceCreation(forMapping: mapping.mapping, manager: manager)
      }
    }
    for mapping in mappings {
      try run(mapping) {
        try forEachPair(of: mapping) { objects in
          for object in objects {
            try mapping.policy.createRelationships(
              forDestination: object, in: mapping.mapping, manager: manager)
            try throwIfCancelled()
          }
        }
        try mapping.policy.endRelationshipCreation(forMapping: mapping.mapping, manager: manager)
      }
    }
    for mapping in mappings {
      try run(mapping) {
        try mapping.policy.performCustomValidation(forMapping: mapping.mapping, manager: manager)
        try mapping.policy.end(mapping.mapping, manager: manager)
      }
    }
    kept = nil
    destination.context.willReadRegisteredObjects = nil
    try validate()
    if manager.verifiesValues { for mapping in mappings { try verify(mapping) } }
    try copyMetadata()
    note(unfinished: false)
    try endPage()
    note(1)
  }

  private func run(_ mapping: PreparedMapping, _ body: () throws -> Void) throws {
    currentMapping = mapping.mapping
    defer { currentMapping = nil }
    try throwIfCancelled()
    try body()
    try endPage()
  }

  /// Inference removes an entity that has become abstract, for which there must be no objects.
  private func checkRemovals(_ model: NSMappingModel) throws {
    let removed: [NSEntityMapping] = (model.entityMappings ?? []).filter(\.isInferredRemoval)
    if removed.isEmpty { return }
    let difference = ModelDifference(from: source.model, to: destination.model)
    for mapping in removed {
      guard let entity = mapping.sourceEntityName.flatMap({ source.model.entitiesByName[$0] }),
        let successor = difference.entity(forSource: entity)?.destination, successor.isAbstract
      else { continue }
      let count: Int = try count(entity)
      if count > 0 {
        throw MigrationFailure.mapping(
          mapping.name ?? "",
          reason:
            "the source has \(count) objects of \(entity.name ?? ""), and \(successor.name ?? "") is abstract "
            + "in the destination model",
          advice: "Map them to another entity with a mapping model, or keep the entity concrete.")
      }
    }
  }

  private func count(_ entity: NSEntityDescription) throws -> Int {
    try source.context.count(for: try sourceRequest(entity.name ?? "", "TRUEPREDICATE"))
  }

  private func advance(by count: Int) throws {
    unitsDone += count
    // Policies may make more objects than there were.
    if unitsOfAll > 0 { note(min(0.99, Double(unitsDone) / Double(unitsOfAll))) }
    try manager.noteObjects?(min(unitsDone, unitsOfAll), unitsOfAll)
  }

  private func note(_ part: Double) {
    manager.note(progress: Float(part))
    progress.completedUnitCount = Int64(part * 1000)
  }

  private func throwIfCancelled() throws {
    if progress.isCancelled { throw MigrationFailure.cancelled(sourcePlace.url) }
    try manager.throwIfCancelled()
  }

  // MARK: Pages

  /// Saves what was made and changed, and releases both sides' objects.
  private func endPage() throws {
    try requireUnchangedSource()
    if kept != nil { kept? += destination.context.insertedObjects }
    do {
      try destination.context.save()
    } catch let error as CocoaError where error.code == .managedObjectConstraintMerge {
      throw ErrorMessage(
        "The migrated objects violate a uniqueness constraint of the destination model: \(ErrorMessage.reason(of: error))",
        advice: "Remove the duplicates from the source first, or merge them in a migration policy."
      ).cocoaError(NSMigrationConstraintViolationError, [NSUnderlyingErrorKey: error])
    }
    for (mapping, pairs) in page.byMapping {
      for pair in pairs {
        tables[mapping, default: InstanceTable()].add(pair.source.objectID, pair.destination.objectID)
      }
    }
    page = PageAssociations()
    // Values of relationships keep objects in memory, in cycles.
    if kept == nil { destination.context.refreshAllObjects() }
    source.context.refreshAllObjects()
  }

  /// What a policy does to the objects of the source would be lost without a word.
  private func requireUnchangedSource() throws {
    let context: NSManagedObjectContext = source.context
    guard context.hasChanges else { return }
    let changed: (String, Set<NSManagedObject>)? = [
      ("deleted", context.deletedObjects), ("inserted", context.insertedObjects),
      ("changed", context.updatedObjects),
    ].first { !$0.1.isEmpty }
    let object: NSManagedObject? = changed?.1.min { "\($0.objectID)" < "\($1.objectID)" }
    let policy: String =
      currentMapping?.entityMigrationPolicyClassName.map { "The policy \($0)" } ?? "A policy"
    throw MigrationFailure.mapping(
      currentMapping?.name ?? "",
      reason: "\(policy) has \(changed?.0 ?? "changed") the source object "
        + "\(object.map { "\($0.objectID)" } ?? ""), and a migration leaves its source as it is",
      advice:
        "Change the destination's objects. What is not to be migrated, leave out: make no destination object."
    )
  }

  /// A policy asks the destination's context for all its objects, often to find one that it has made: nothing
  /// is released from now on, and what was is read again.
  private func keepObjects() {
    if kept != nil { return }
    kept = []
    for entity in destination.model.entities where !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.includesPendingChanges = false
      request.returnsObjectsAsFaults = false
      // The look-up can't throw. The context has what this can't read as faults.
      kept? += (try? destination.context.fetch(request)) ?? []
    }
  }

  private func forEachSourcePage(of mapping: PreparedMapping, _ body: ([NSManagedObject]) throws -> Void)
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

  /// The destination objects that the mapping has made, by pages, each object once.
  private func forEachPair(of mapping: PreparedMapping, _ body: ([NSManagedObject]) throws -> Void) throws {
    guard let pairs = tables[mapping.name]?.pairs, !pairs.isEmpty else { return }
    let isNeeded: Bool =
      !mapping.relationships.isEmpty || type(of: mapping.policy) != NSEntityMigrationPolicy.self
    if !isNeeded { return try advance(by: pairs.count) }
    let relationships: [String] = mapping.source.map { Array($0.relationshipsByName.keys) } ?? []
    var seen = Set<InstanceNumber>()
    let isOneToOne: Bool = type(of: mapping.policy) == NSEntityMigrationPolicy.self
    for start in stride(from: 0, to: pairs.count, by: Self.objectsAtATime) {
      let part = pairs[start..<min(start + Self.objectsAtATime, pairs.count)]
      let wanted: [InstanceNumber] =
        isOneToOne
        ? part.map(\.destination) : part.map(\.destination).filter { seen.insert($0).inserted }
      // Held while the page is processed, so that its faults are fired together.
      let sources: [NSManagedObject] = try source.objects(part.map(\.source), prefetching: relationships)
      try withExtendedLifetime(sources) { try body(try destination.objects(wanted)) }
      try endPage()
      try advance(by: part.count)
    }
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

  // MARK: Validation

  /// Validates every object of the destination, as a save of new objects would.
  private func validate() throws {
    var failures: [any Error] = []
    for entity in destination.model.entities where !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>()
      request.entity = entity
      request.includesSubentities = false
      let numbers: [InstanceNumber] = try destination.context.objectIDs(request).map(\.instance)
      for start in stride(from: 0, to: numbers.count, by: Self.objectsAtATime) {
        try throwIfCancelled()
        let page = numbers[start..<min(start + Self.objectsAtATime, numbers.count)]
        for object in try destination.objects(Array(page)) {
          do { try object.validateSaved() } catch { failures.append(error) }
          if failures.count >= 100 { break }
        }
        destination.context.refreshAllObjects()
      }
    }
    guard let first = failures.first else { return }
    let text: String = failures.prefix(5).map { ErrorMessage.reason(of: $0) }.joined(separator: " ")
    let error = first as NSError
    if failures.count == 1 { throw first }
    throw ErrorMessage(
      "\(failures.count)\(failures.count >= 100 ? " or more" : "") migrated objects are not valid in the destination model. \(text)",
      advice: "Give the values in the mapping model or in a policy."
    ).cocoaError(
      NSValidationMultipleErrorsError, [NSDetailedErrorsKey: failures, NSUnderlyingErrorKey: error])
  }

  /// Reads what the default policy has made of a mapping's objects again and compares it with the source.
  private func verify(_ mapping: PreparedMapping) throws {
    guard type(of: mapping.policy) == NSEntityMigrationPolicy.self, let pairs = tables[mapping.name]?.pairs
    else {
      return
    }
    currentMapping = mapping.mapping
    defer { currentMapping = nil }
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

  /// The program's metadata of the source goes with its objects.
  private func copyMetadata() throws {
    guard var metadata = source.store.metadata else { return }
    for key in [
      NSStoreUUIDKey, NSStoreTypeKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
    ] {
      metadata[key] = nil
    }
    destination.store.metadata = metadata.merging(destination.store.metadata ?? [:]) { $1 }
  }
}

// MARK: - Objects

extension MigrationStack {
  func associate(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: String) {
    page.add(source, destination, mapping)
  }

  func destinations(_ mapping: String, _ sources: [NSManagedObject]?) -> [NSManagedObject] {
    guard let sources else {
      let saved: [NSManagedObject] =
        tables[mapping].map { $0.pairs.map { destination.object($0.destination) } } ?? []
      return Self.unique(saved + (page.byMapping[mapping] ?? []).map(\.destination))
    }
    let table: InstanceTable? = tables[mapping]
    return Self.unique(
      sources.flatMap { object in
        (table?.destinations(of: object.objectID).map(destination.object) ?? [])
          + page.destinations(mapping, of: object)
      })
  }

  func sources(_ mapping: String, _ destinations: [NSManagedObject]?) -> [NSManagedObject] {
    guard let destinations else {
      let saved: [NSManagedObject] = tables[mapping].map { $0.pairs.map { source.object($0.source) } } ?? []
      return Self.unique(saved + (page.byMapping[mapping] ?? []).map(\.source))
    }
    let table: InstanceTable? = tables[mapping]
    return Self.unique(
      destinations.flatMap { object in
        (table?.sources(of: object.objectID).map(source.object) ?? []) + page.sources(mapping, of: object)
      })
  }

  /// What the mappings of a relationship's destination entity, and of its sub-entities, made from objects.
  func destinations(ofRelationship name: String, _ sources: [NSManagedObject]) throws -> [NSManagedObject] {
    guard
      let target = currentMapping?.sourceEntityName.flatMap({ source.model.entitiesByName[$0] })?
        .relationshipsByName[name]?.destinationEntity
    else {
      throw MigrationFailure.function(
        "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
        "the entity '\(currentMapping?.sourceEntityName ?? "")' has no relationship '\(name)'")
    }
    let names: [String] = mappings.filter { $0.source?.isKindOf(entity: target) ?? false }.map(\.name)
    // In the order of the source objects, because the relationship may be ordered.
    return Self.unique(sources.flatMap { object in names.flatMap { destinations($0, [object]) } })
  }

  private static func unique(_ objects: [NSManagedObject]) -> [NSManagedObject] {
    if objects.count < 2 { return objects }
    var seen = Set<ObjectIdentifier>()
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}

extension NSManagedObjectContext {
  /// The ids of the objects that a request finds.
  fileprivate func objectIDs(_ request: any AnyFetchRequest) throws -> [NSManagedObjectID] {
    let ids = NSFetchRequest<NSManagedObjectID>()
    request.copyContents(into: ids)
    ids.relationshipKeyPathsForPrefetching = nil
    ids.fetchBatchSize = 0
    ids.resultType = .managedObjectIDResultType
    return try fetch(ids)
  }
}

extension MigrationSide {
  func object(_ number: InstanceNumber) -> NSManagedObject {
    context.object(with: store.objectID(entity: Int(number.entity), key: number.key))
  }
}

/// The associations of objects that are not saved yet.
private struct PageAssociations {
  struct Pair {
    let source: NSManagedObject
    let destination: NSManagedObject
  }

  private(set) var byMapping: [String: [Pair]] = [:]
  private var bySource: [String: [ObjectIdentifier: [NSManagedObject]]] = [:]
  private var byDestination: [String: [ObjectIdentifier: [NSManagedObject]]] = [:]

  mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: String) {
    byMapping[mapping, default: []].append(Pair(source: source, destination: destination))
    bySource[mapping, default: [:]][ObjectIdentifier(source), default: []].append(destination)
    byDestination[mapping, default: [:]][ObjectIdentifier(destination), default: []].append(source)
  }

  func destinations(_ mapping: String, of source: NSManagedObject) -> [NSManagedObject] {
    bySource[mapping]?[ObjectIdentifier(source)] ?? []
  }

  func sources(_ mapping: String, of destination: NSManagedObject) -> [NSManagedObject] {
    byDestination[mapping]?[ObjectIdentifier(destination)] ?? []
  }
}
