import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Migrates a store file to the model of the coordinator that is adding it: by statements in place if the
/// store can do that and the one step is inferred, else object by object.
///
/// Object by object, the new store is made in a hidden folder beside the file and takes its place when it is
/// complete: in one transaction for SQLite files, by a rename for files that are written as wholes. Until
/// then, and after an error, the file is as it was. It keeps its UUID and the program's metadata. If the
/// process is killed, the next migration goes on after the last step that was complete (`MigrationJournal`).
struct AutomaticMigration {
  let store: OutdatedStore
  let known: KnownModels
  /// The mapping model to use in place of those that are found.
  var mapping: NSMappingModel?
  /// Whether to undo a migration: what the newer version, the store's, calls by another name keeps its
  /// values.
  var goesDown: Bool = false
  /// Whether an inferred way to an earlier version than the store's is refused unless ``goesDown`` says so:
  /// on it what was renamed since would be lost.
  var refusesEarlier: Bool = false
  /// Whether a step that lacks nothing but values of required attributes is shown instead of refused.
  var showsUnfinished: Bool = false
  var verifiesValues: Bool = false
  /// Called with the number of objects that are done, and of all; what it throws ends the migration.
  var note: ((_ done: Int, _ total: Int) throws -> Void)?

  init(_ store: OutdatedStore, known: KnownModels? = nil) {
    self.store = store
    self.known = known ?? KnownModels(of: store.coordinator.managedObjectModel)
  }

  func run() throws {
    try exclusively {
      let steps: [MigrationStep] = try steps()
      // A process that was killed after the new store had taken its place has left files.
      steps.isEmpty ? StagingFolder(for: store.url).discard() : try run(steps)
    }
  }

  /// Migrates to another version than the coordinator's; lightly.
  func run(to model: NSManagedObjectModel) throws {
    try exclusively {
      guard let source = try source(ifNot: model, of: nil) else { return }
      var step = try MigrationStep(inferredFrom: ModelDifference(from: source.model, to: model))
      step.isReadByObjects = source.isByObjects
      try run([step])
    }
  }

  /// The steps to the coordinator's model; none if the store has it already.
  func steps() throws -> [MigrationStep] {
    let model: NSManagedObjectModel = store.coordinator.managedObjectModel
    guard let source = try source(ifNot: model, of: store.configuration) else {
      try requireNoMapping(from: model)
      return []
    }
    var steps: [MigrationStep] = try steps(from: source.model, to: try destinationModel())
    steps[0].isReadByObjects = source.isByObjects
    return steps
  }

  /// Throws if the store has the model already and the given mapping model leads to it from a version with
  /// the same hashes: whether the store was migrated by it nothing tells, and twice is not once.
  private func requireNoMapping(from model: NSManagedObjectModel) throws {
    guard let mapping, mapping.leads(from: model, to: model) else { return }
    throw MigrationFailure.stage(
      "The store \(store.url.path) has the version hashes of \(known.title(of: model)) already, and the mapping model "
        + "\(mapping.file.map { "\($0.path) " } ?? "")leads to it from a version with the same ones, so that nothing tells whether "
        + "the store was migrated by it before.",
      advice:
        "Give an attribute whose values it changes a hash modifier in the new version (`clarus model set MODEL "
        + "Entity.attribute --hash-modifier 2`), and make the mapping model anew; or run it once, with an NSMigrationManager."
    )
  }

  private func steps(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> [MigrationStep]
  {
    let infers: Bool = store.isSet(NSInferMappingModelAutomaticallyOption)
    let path = MigrationPath(known: known, infers: infers, url: store.url, chosen: mapping)
    func found(_ steps: () throws -> [MigrationStep]) throws -> [MigrationStep] {
      do {
        return try steps()
      } catch {
        guard showsUnfinished, error.ofCocoa?.code.rawValue == NSInferredMappingModelError,
          let step = path.unfinishedStep(from: source, to: destination, isDown: goesDown)
        else { throw error }
        return [step]
      }
    }
    if goesDown, mapping == nil {
      return try found { [try path.stepDown(from: source, to: destination)] }
    }
    var steps: [MigrationStep] = try found { try path.steps(from: source, to: destination) }
    for place in steps.indices {
      steps[place].rivals = path.rivals(of: steps[place])
      steps[place].unreadable = path.unreadable(for: steps[place])
    }
    if refusesEarlier, steps.allSatisfy(\.isInferred) {
      try path.requireNotEarlier(destination, than: source)
    }
    return steps
  }

  /// Holds the store's lock meanwhile. Throws if the store can't be migrated at all.
  func exclusively(_ body: () throws -> Void) throws {
    guard StoreRegistry.fileKind(ofType: store.type) != nil else {
      throw MigrationFailure.programStore(store.url, type: store.type)
    }
    if store.isSet(NSReadOnlyPersistentStoreOption) {
      throw MigrationFailure.sourceStore(
        store.url,
        "It has another model and was added read-only, so it can't be migrated. "
          + (store.mismatch.map { "\($0)" } ?? ""))
    }
    // The new store would take the place of a file that nobody may write.
    if let file = ForbiddenFile.first(ofStoreAt: store.url, writing: true), !file.isFolder {
      throw MigrationFailure.sourceStore(store.url, file.sentence)
    }
    let lock = try MigrationLock(of: store.url)
    defer { lock.release() }
    // The new store would have no history, or one with a gap.
    if try StoreRegistry.inspect(store.url, countsRows: false, options: store.options).hasHistory {
      throw MigrationFailure.historyKept(store.url)
    }
    try body()
  }

  // MARK: Models

  /// The entities that the store is to hold.
  private func destinationModel() throws -> NSManagedObjectModel {
    let model: NSManagedObjectModel = store.coordinator.managedObjectModel
    if let reason = model.entities.lazy.compactMap(\.mixedKinds).first {
      throw MigrationFailure.unusableModel(reason)
    }
    guard let names = model.heldEntityNames(ofConfiguration: store.configuration) else { return model }
    return try model.restricted(to: names)
  }

  private func source(ifNot wanted: NSManagedObjectModel, of configuration: String?) throws
    -> SourceModelSearch.Found?
  {
    try SourceModelSearch(store: store, known: known).find(ifNot: wanted, of: configuration)
  }

  // MARK: Steps

  private func run(_ steps: [MigrationStep]) throws {
    let staging = StagingFolder(for: store.url)
    // After an error nothing is left. A process that is killed leaves what the next one goes on with.
    defer { staging.discard() }
    if let inPlace = try InPlaceStep.choice(steps, of: store, counting: false).step {
      return try inPlace.run(verifies: verifiesValues, note: note)
    }
    settle(steps[0].source)
    let before: StoreContents.Stamp? = staging.exists ? .settled(store.url) : .init(of: store.url)
    var journal = try MigrationJournal(steps, of: store, verifies: verifiesValues)
    let replacement = try UnchangedReplacement(of: store)
    defer { replacement.end() }
    // A save between the journal's digest and the beginning of the replacement is in no store that was made.
    if let before, StoreContents.Stamp(of: store.url) == before {
      journal.completed = completed(of: steps, in: staging, journal)
    }
    if journal.completed == 0 { try staging.begin(journal) }
    while journal.completed < steps.count {
      try replacement.explainingErrors {
        try run(steps[journal.completed], number: journal.completed + 1, in: staging)
      }
      journal.completed += 1
      try staging.complete(journal)
    }
    try replacement.complete(with: staging.made(byStep: steps.count))
  }

  /// Makes the store of a step from that of the one before.
  private func run(_ step: MigrationStep, number: Int, in staging: StagingFolder) throws {
    let source: URL = number == 1 ? store.url : staging.made(byStep: number - 1)
    let made: URL = staging.made(byStep: number)
    try staging.prepare(step: number)
    let manager: NSMigrationManager = step.manager(of: store, known)
    if verifiesValues { manager.verifiesValues = true }
    manager.noteObjects = note
    try manager.migrateStore(
      from: source, sourceType: store.type, options: step.sourceOptions(store), with: step.mapping,
      toDestinationURL: made, destinationType: store.type, destinationOptions: store.options)
    if step.isInferred {
      try step.requireEqualCounts(
        from: StoreRegistry.inspect(source, options: store.options), to: StoreRegistry.inspect(made))
    }
    var metadata: [String: Any] = try metadata(of: made)
    metadata[NSStoreUUIDKey] = try self.metadata(of: store.url)[NSStoreUUIDKey]
    try NSPersistentStoreCoordinator.setMetadata(
      metadata, forPersistentStoreOfType: store.type, at: made, options: nil)
  }

  private func metadata(of url: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: store.type, at: url, options: store.options)
  }

  // MARK: Going on

  /// How many of the steps a process that was killed has completed, so that they need not be done again.
  func completed(of steps: [MigrationStep]) -> Int {
    let staging = StagingFolder(for: store.url)
    guard !steps.isEmpty, staging.journal != nil,
      let journal = try? MigrationJournal(steps, of: store, verifies: verifiesValues)
    else { return 0 }
    return completed(of: steps, in: staging, journal)
  }

  private func completed(
    of steps: [MigrationStep], in staging: StagingFolder, _ journal: MigrationJournal
  ) -> Int {
    guard let begun = staging.journal, journal.continues(begun),
      let made = try? metadata(of: staging.made(byStep: begun.completed)),
      let own = try? metadata(of: store.url),
      made[NSStoreUUIDKey] as? String == own[NSStoreUUIDKey] as? String,
      steps[begun.completed - 1].destination.isConfiguration(
        withName: nil, compatibleWithStoreMetadata: made)
    else { return 0 }
    return begun.completed
  }

  /// Has SQLite write the log that a killed process has left into the file, or roll its journal back, so that
  /// the file's contents can be compared with what they were. If it can't, the migration begins anew.
  private func settle(_ model: NSManagedObjectModel) {
    guard store.type == NSSQLiteStoreType, StoreContents.hasLog(store.url) else { return }
    let place = StorePlace(store.url, store.type, store.options)
    try? MigrationSide(place, model, options: [CreatesStoreIfMissingOption: false]).close()
  }
}

extension MigrationStep {
  /// What an inferred mapping model copies, it copies whole: every entity has as many rows as before. Reads
  /// the files anew, not through the contexts that wrote them.
  fileprivate func requireEqualCounts(from source: StoreInspection, to destination: StoreInspection) throws {
    for mapping in mapping.entityMappings ?? [] {
      guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { continue }
      let (before, after) = (source.rows(of: from), destination.rows(of: to))
      if before != after {
        throw MigrationFailure.mapping(
          mapping.name,
          reason: "the source has \(before) objects of \(from), and \(after) of \(to) were made",
          advice: "The store was left as it is.")
      }
    }
  }
}

extension StoreInspection {
  func rows(of entity: String) -> Int { entities.first { $0.name == entity }?.rows ?? 0 }
}

extension NSManagedObjectModel {
  /// A model of some of the entities: those of a configuration. Throws if others are needed with them.
  func restricted(to names: Set<String>) throws -> NSManagedObjectModel {
    if names == Set(entities.compactMap(\.name)) { return self }
    guard let copy = copy() as? NSManagedObjectModel else { return self }
    copy.entities = copy.entities.filter { names.contains($0.name ?? "") }
    let missing: [String] = copy.entities.flatMap { entity in
      [entity.superentity?.name] + entity.relationshipsByName.values.map(\.destinationEntity?.name)
    }.compactMap(\.self).filter { !names.contains($0) }
    let added: [String] = copy.entities.compactMap(\.name).filter { !names.contains($0) }
    guard missing.isEmpty, added.isEmpty else {
      throw MigrationFailure.stage(
        "The store holds the entities \(names.sorted().joined(separator: ", ")), which can't be migrated without "
          + "\(Set(missing + added).sorted().joined(separator: ", ")).",
        advice: MigrationWords.text(
          command: "Let the program that has the configurations of the model migrate it.",
          program: "Let the configuration contain them too, or migrate the store with an NSMigrationManager.")
      )
    }
    return copy
  }
}
