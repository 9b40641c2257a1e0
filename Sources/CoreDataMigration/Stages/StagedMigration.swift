import CoreDataControllers
import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Runs the stages of an ``NSStagedMigrationManager`` that a store has not gone through yet.
struct StagedMigration {
  private let store: OutdatedStore
  private let manager: NSStagedMigrationManager
  private let known: KnownModels

  init(_ store: OutdatedStore, _ manager: NSStagedMigrationManager) {
    self.store = store
    self.manager = manager
    // Only SQLite stores carry their model: for others the stages may be the one place that has it. A
    // reference that can't be resolved is an error when its stage is run.
    let named: [NSManagedObjectModel] = manager.references.compactMap { try? $0.resolve() }
    known = KnownModels(of: store.coordinator.managedObjectModel).including(named)
  }

  /// The versions in the order of the stages, each once.
  private var order: [String] {
    var all: [String] = []
    for stage in manager.stages {
      for checksum in stage.checksums where all.last != checksum { all.append(checksum) }
    }
    return all
  }

  func run() throws {
    let order: [String] = order
    let target: String = store.coordinator.managedObjectModel.versionChecksum
    guard Set(order).count == order.count else {
      throw MigrationFailure.stage(
        "The stages name a version twice: they must describe one order of versions.",
        advice: "Let each stage begin with the version that the one before ends with.")
    }
    guard let end = order.firstIndex(of: target) else {
      throw MigrationFailure.stage(
        "The model that \(store.url.path) is added with (checksum \(target)) is in none of the stages.",
        advice: "Add a stage that ends with it.")
    }
    let present: String = try checksum()
    if present == target { return }
    guard let start = order.firstIndex(of: present) else {
      throw MigrationFailure.missingSourceModel(
        store.url, "Its model has the checksum \(present), which is in none of the stages.")
    }
    if start > end {
      throw MigrationFailure.backward(
        "The store \(store.url.path) has a later version than the model that it is added with, and stages do not go back."
      )
    }
    try requireModels(of: order[start...end].dropFirst().dropLast())
    for stage in manager.stages {
      guard let last = stage.checksums.last, let place = order.firstIndex(of: last),
        let here = order.firstIndex(of: try checksum()), place > here, here < end
      else { continue }
      switch stage {
      case let stage as NSCustomMigrationStage:
        // From the end of the stage before, lightly.
        let first: String = stage.currentModel.versionChecksum
        if let beginning = order.firstIndex(of: first), beginning > here {
          try migrate(store, to: try model(first, stage))
          if beginning == end { return }
        }
        try run(stage)
      case let stage as NSLightweightMigrationStage:
        try migrate(store, to: try model(place > end ? target : last, stage))
      default: continue
      }
    }
  }

  private func run(_ stage: NSCustomMigrationStage) throws {
    let (current, next): (NSManagedObjectModel, NSManagedObjectModel) = (
      try resolve(stage.currentModel, stage), try resolve(stage.nextModel, stage)
    )
    guard stage.willMigrateHandler != nil || stage.didMigrateHandler != nil else {
      return try migrate(store, to: next)
    }
    try StageCopy(of: store).run { copy in
      if let handler = stage.willMigrateHandler {
        try call(handler, "willMigrateHandler", stage, copy, current)
      }
      do {
        try withMigrationErrors { try migrate(copy, to: next) }
      } catch {
        throw MigrationFailure.failedStage(
          "\(stage.title), \(store.url.path)",
          reason: MigrationFailure.text(of: error).replacingOccurrences(
            of: copy.url.path, with: store.url.path),
          underlying: error)
      }
      if let handler = stage.didMigrateHandler { try call(handler, "didMigrateHandler", stage, copy, next) }
    }
  }

  private func migrate(_ store: OutdatedStore, to model: NSManagedObjectModel) throws {
    try AutomaticMigration(store, known: known).run(to: model)
  }

  private func call(
    _ handler: NSCustomMigrationStage.Handler, _ name: String, _ stage: NSCustomMigrationStage,
    _ copy: OutdatedStore, _ model: NSManagedObjectModel
  ) throws {
    try withContainer(copy, model) {
      do {
        try handler(manager, stage)
      } catch {
        throw MigrationFailure.failedStage(
          "\(stage.title), \(store.url.path)",
          reason: "Its \(name) has thrown an error: \(MigrationFailure.text(of: error))", underlying: error)
      }
    }
  }

  /// The manager's container for a handler: the store alone, with one version.
  private func withContainer(
    _ store: OutdatedStore, _ model: NSManagedObjectModel, _ body: () throws -> Void
  ) throws {
    guard let own = model.copy() as? NSManagedObjectModel else { return }
    let container = NSPersistentContainer(
      name: store.url.deletingPathExtension().lastPathComponent, managedObjectModel: own)
    let description = NSPersistentStoreDescription(url: store.url)
    description.type = store.type
    for (key, value) in store.options {
      if let key = key as? String, let value = value as? NSObject {
        description.setOption(value, forKey: key)
      }
    }
    description.setOption(nil, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    description.shouldMigrateStoreAutomatically = false
    description.shouldInferMappingModelAutomatically = false
    description.shouldAddStoreAsynchronously = false
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    manager.container = container
    defer {
      manager.container = nil
      for store in container.persistentStoreCoordinator.persistentStores {
        try? container.persistentStoreCoordinator.remove(store)
      }
    }
    try body()
  }

  /// The version of the store now.
  private func checksum() throws -> String {
    let metadata: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: store.type, at: store.url, options: nil)
    let hashes: [String: Data] = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    return VersionHash.checksum(hashes)
  }

  // MARK: Models

  /// The model of a version.
  private func model(_ checksum: String, _ stage: NSMigrationStage) throws -> NSManagedObjectModel {
    if let found = known.model(checksum: checksum) { return found }
    if store.coordinator.managedObjectModel.versionChecksum == checksum {
      return store.coordinator.managedObjectModel
    }
    if let reference = reference(checksum) { return try resolve(reference, stage) }
    throw missing(checksum, stage)
  }

  private func reference(_ checksum: String) -> NSManagedObjectModelReference? {
    manager.references.first { $0.versionChecksum == checksum }
  }

  private func resolve(_ reference: NSManagedObjectModelReference, _ stage: NSMigrationStage) throws
    -> NSManagedObjectModel
  {
    do {
      return try reference.resolve()
    } catch {
      throw MigrationFailure.modelReference(
        "\(stage.title): \(MigrationFailure.text(of: error))",
        advice: "The program has \(versions).")
    }
  }

  /// The versions that the store goes through must exist, or a mistyped one would be passed over silently.
  private func requireModels(of checksums: ArraySlice<String>) throws {
    for case let stage as NSLightweightMigrationStage in manager.stages {
      for checksum in stage.versionChecksums where checksums.contains(checksum) {
        if known.model(checksum: checksum) == nil, reference(checksum) == nil {
          throw missing(checksum, stage)
        }
      }
    }
  }

  private func missing(_ checksum: String, _ stage: NSMigrationStage) -> MigrationFailure {
    .modelReference(
      "\(stage.title) names a version with the checksum \(checksum), and there is no such model.",
      advice: "The program has \(versions). Correct the checksum, or add this version to the bundle.")
  }

  /// The versions that there are, by name and checksum.
  private var versions: String {
    var list: [String] = known.versions.map { "\(known.title(of: $0)) \($0.versionChecksum)" }
    let own: String = store.coordinator.managedObjectModel.versionChecksum
    if known.model(checksum: own) == nil { list.append("the coordinator's model \(own)") }
    return "the versions \(list.joined(separator: ", "))"
  }
}

extension NSStagedMigrationManager {
  /// Those of the stages with code, in their order.
  fileprivate var references: [NSManagedObjectModelReference] {
    stages.compactMap { $0 as? NSCustomMigrationStage }.flatMap { [$0.currentModel, $0.nextModel] }
  }
}

extension NSMigrationStage {
  fileprivate var title: String { label.map { "The stage '\($0)'" } ?? "A stage without label" }

  fileprivate var checksums: [String] {
    switch self {
    case let stage as NSLightweightMigrationStage: stage.versionChecksums
    case let stage as NSCustomMigrationStage:
      [stage.currentModel.versionChecksum, stage.nextModel.versionChecksum]
    default: []
    }
  }
}
