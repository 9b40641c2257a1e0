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
    known = KnownModels(of: store.coordinator.managedObjectModel)
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
    for stage in manager.stages {
      let checksums: [String] = stage.checksums
      guard let last = checksums.last, let place = order.firstIndex(of: last) else { continue }
      guard let here = order.firstIndex(of: try checksum()), place > here, here < end else { continue }
      switch stage {
      case let stage as NSCustomMigrationStage: try run(stage)
      case let stage as NSLightweightMigrationStage:
        try migrate(to: try model(place > end ? target : last, stage))
      default: continue
      }
    }
  }

  private func run(_ stage: NSCustomMigrationStage) throws {
    let current: NSManagedObjectModel = try stage.currentModel.resolve()
    let next: NSManagedObjectModel = try stage.nextModel.resolve()
    if let handler = stage.willMigrateHandler {
      try withContainer(current) { try handler(manager, stage) }
    }
    try migrate(to: next)
    if let handler = stage.didMigrateHandler {
      try withContainer(next) { try handler(manager, stage) }
    }
  }

  private func migrate(to model: NSManagedObjectModel) throws {
    try AutomaticMigration(store, known: known).run(to: model)
  }

  /// The manager's container for a handler: the store alone, with one version.
  private func withContainer(_ model: NSManagedObjectModel, _ body: () throws -> Void) throws {
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

  /// The model of a lightweight stage's version.
  private func model(_ checksum: String, _ stage: NSMigrationStage) throws -> NSManagedObjectModel {
    if store.coordinator.managedObjectModel.versionChecksum == checksum {
      return store.coordinator.managedObjectModel
    }
    if let found = known.model(checksum: checksum) { return found }
    for case let other as NSCustomMigrationStage in manager.stages {
      for reference in [other.currentModel, other.nextModel] where reference.versionChecksum == checksum {
        return try reference.resolve()
      }
    }
    throw MigrationFailure.stage(
      "The model of checksum \(checksum)\(stage.label.map { " in the stage '\($0)'" } ?? "") was not found.",
      advice: "Add this version to the bundle, or begin a custom stage with a reference to it.")
  }
}

extension NSMigrationStage {
  fileprivate var checksums: [String] {
    switch self {
    case let stage as NSLightweightMigrationStage: stage.versionChecksums
    case let stage as NSCustomMigrationStage:
      [stage.currentModel.versionChecksum, stage.nextModel.versionChecksum]
    default: []
    }
  }
}
