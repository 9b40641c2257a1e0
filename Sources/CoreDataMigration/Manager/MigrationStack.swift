import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// One migration of a manager: both stores, the pairs of objects, the three passes.
final class MigrationStack {
  unowned let manager: NSMigrationManager
  let source: MigrationSide
  private(set) var destination: MigrationSide
  private(set) var currentMapping: NSEntityMapping?

  let sourcePlace: StorePlace
  let subject: MigrationSubject
  private let destinationFiles: DestinationFiles
  private(set) var mappings: [PreparedMapping] = []
  private var placeByMapping: [ObjectIdentifier: Int] = [:]
  var associations = Associations()
  private let progress: Progress
  /// One for each object and pass.
  private var unitsDone: Int = 0
  private var unitsOfAll: Int = 0
  /// The destination's objects, from when a policy asks for all of them.
  private var kept: [NSManagedObject]?
  /// The destination context's, when the page began.
  var resets: Int = 0
  /// The number of objects that are in memory at a time.
  static let objectsAtATime: Int = 500

  init(manager: NSMigrationManager, from sourcePlace: StorePlace, to destinationPlace: StorePlace) throws {
    self.manager = manager
    self.sourcePlace = sourcePlace
    progress =
      manager.isTrial ? .discreteProgress(totalUnitCount: 1000) : Progress(totalUnitCount: 1000)
    let ends: [NSManagedObjectModel] = [manager.sourceModel, manager.destinationModel]
    subject =
      manager.subject
      ?? MigrationSubject(
        store: sourcePlace.url, source: KnownModels.title(manager.sourceModel, among: ends),
        destination: KnownModels.title(manager.destinationModel, among: ends), isInferred: false)
    do {
      source = try MigrationSide(
        sourcePlace, manager.sourceModel,
        options: [NSReadOnlyPersistentStoreOption: true, CreatesStoreIfMissingOption: false])
      try source.store.refuseMisreadValues()
      // Nothing would copy them, and they would be gone.
      if let rows = try source.store.unreachableRows().first {
        throw MigrationFailure.sourceStore(
          subject.store, MigrationProblems.sentence(of: rows, in: subject.store))
      }
    } catch let failure as MigrationFailure {
      throw failure
    } catch {
      throw MigrationFailure.sourceStore(subject.store, MigrationFailure.text(of: error))
    }
    do {
      (destinationFiles, destination) = try Self.destination(at: destinationPlace, manager.destinationModel)
    } catch {
      source.close()
      if let failure = error as? MigrationFailure { throw failure }
      throw MigrationFailure.destinationStore(
        manager.subject?.store ?? destinationPlace.url, MigrationFailure.text(of: error))
    }
    destination.context.savesUnvalidated = true
    resets = destination.context.resetCount
    destination.context.willReadRegisteredObjects = { [unowned self] in keepObjects() }
    note(unfinished: true)
  }

  private static func destination(at place: StorePlace, _ model: NSManagedObjectModel) throws
    -> (DestinationFiles, MigrationSide)
  {
    let files = try DestinationFiles(place, model: model)
    do {
      // A program that wants no empty store in place of a missing one wants the migrated one. A store that is
      // written as a whole is so when it has everything: not after each page, and not while a part of it
      // would look like a store.
      let options: [AnyHashable: Any] = [CreatesStoreIfMissingOption: true, FillsBeforeWritingOption: true]
      return (files, try MigrationSide(files.place, model, options: options))
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
    // What is at the place of a store that was not written is another one's.
    let isUnwritten: Bool = destination.store.isUnwritten
    destination.close()
    destinationFiles.discard(isUnwritten: isUnwritten)
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

  /// nil if it is none of the mapping model. Prepared anew if a policy has changed it.
  func preparedMapping(_ mapping: NSEntityMapping) throws -> PreparedMapping? {
    guard let place = placeByMapping[ObjectIdentifier(mapping)] else { return nil }
    if !mappings[place].isCurrent {
      mappings[place] = try PreparedMapping(
        mapping, from: source.model, to: destination.model, policy: mappings[place].policy)
    }
    return mappings[place]
  }

  // MARK: Passes

  func migrate(_ model: NSMappingModel) throws {
    // A value of the one would be set as one of the other, which stops the program.
    for entity in source.model.entities + destination.model.entities {
      if let reason = entity.mixedKinds { throw MigrationFailure.unusableModel(reason) }
    }
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
    let isWrittenAtOnce: Bool = destinationFiles.place.isWrittenAtOnce
    if !isWrittenAtOnce { try verifyValues() }
    try copyMetadata()
    note(unfinished: false)
    destination.store.writeFromNowOn()
    try endPage()
    if isWrittenAtOnce, manager.verifiesValues {
      // Until now the objects were in memory alone: what counts is what the file gives back.
      try advance(by: 0)
      try reopenDestination()
      try verifyValues()
    }
    note(1)
  }

  private func verifyValues() throws {
    guard manager.verifiesValues else { return }
    for mapping in mappings {
      currentMapping = mapping.mapping
      defer { currentMapping = nil }
      try verify(mapping)
    }
  }

  private func reopenDestination() throws {
    let place: StorePlace = destinationFiles.place
    destination.context.reset()
    destination.close()
    do {
      destination = try destination.reopened(
        place, options: [NSReadOnlyPersistentStoreOption: true, CreatesStoreIfMissingOption: false])
    } catch {
      throw MigrationFailure.destinationStore(
        manager.subject?.store ?? place.url,
        "What was written can't be read again: \(MigrationFailure.text(of: error))")
    }
  }

  private func run(_ mapping: PreparedMapping, _ body: () throws -> Void) throws {
    currentMapping = mapping.mapping
    defer { currentMapping = nil }
    try throwIfCancelled()
    try body()
    try endPage()
  }

  func advance(by count: Int) throws {
    unitsDone += count
    // Policies may make more objects than there were.
    if unitsOfAll > 0 { note(min(0.99, Double(unitsDone) / Double(unitsOfAll))) }
    try manager.noteObjects?(min(unitsDone, unitsOfAll), unitsOfAll)
  }

  private func note(_ part: Double) {
    manager.note(progress: Float(part))
    progress.completedUnitCount = Int64(part * 1000)
  }

  func throwIfCancelled() throws {
    if progress.isCancelled { throw MigrationFailure.cancelled(sourcePlace.url) }
    try manager.throwIfCancelled()
  }

  // MARK: Pages

  /// Saves what was made and changed, in memory for stores that are written as wholes, and releases both
  /// sides' objects.
  func endPage() throws {
    try requireUnchangedSource()
    try requireKeptDestination()
    if kept != nil { kept? += destination.context.insertedObjects }
    do {
      try destination.context.save()
    } catch  where error.ofCocoa?.code == .managedObjectConstraintMerge {
      throw repeatedValues(error)
    }
    associations.endPage()
    // Values of relationships keep objects in memory, in cycles.
    if kept == nil { destination.context.refreshAllObjects() }
    source.context.refreshAllObjects()
  }

  /// New objects have no names but their values.
  private func repeatedValues(_ error: any Error) -> CocoaError {
    let conflicts: [Any] = error.ofCocoa?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [Any] ?? []
    let conflict: NSConstraintConflict? = conflicts.lazy.compactMap { $0 as? NSConstraintConflict }.first
    let entity: String =
      (conflict?.databaseObject ?? conflict?.conflictingObjects.first)?.entity.name ?? "one entity"
    let names: [String] = conflict?.constraint ?? []
    let values: String = names.map { "\($0) = \(conflict?.constraintValues[$0] ?? "nil")" }.joined(
      separator: ", ")
    return ErrorMessage(
      "The store \(subject.store.path) can't be migrated from \(subject.source) to \(subject.destination), because several "
        + "objects of \(entity) would have the same \(names.joined(separator: " and ")) (\(values)), which is to be unique.",
      advice:
        "Change or delete the duplicates with the version that the store has, or merge them in a migration policy."
    ).cocoaError(NSMigrationConstraintViolationError, [NSUnderlyingErrorKey: error])
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

  /// The destination objects that the mapping has made, by pages, each object once.
  private func forEachPair(of mapping: PreparedMapping, _ body: ([NSManagedObject]) throws -> Void) throws {
    let pairs: [InstanceTable.Pair] = associations.pairs(of: mapping.name)
    if pairs.isEmpty { return }
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
