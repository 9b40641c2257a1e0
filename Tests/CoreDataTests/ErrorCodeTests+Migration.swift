import CoreData
import Foundation
import StackSupport
import TestSupport

extension ErrorCodeTests {
  private static func model(_ attributes: [String], _ change: (NSEntityDescription) -> Void = { _ in })
    -> NSManagedObjectModel
  {
    let thing = World.entity("Thing", attributes.map { World.attribute($0, .stringAttributeType) })
    thing.managedObjectClassName = nil
    change(thing)
    let model = NSManagedObjectModel()
    model.entities = [thing]
    return model
  }

  /// A closed store with two objects whose names are equal.
  private static func makeStore(_ type: String = NSSQLiteStoreType) throws -> URL {
    let url: URL = try TemporaryFolder().file("old.store")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(["name"]))
    let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for _ in 0..<2 {
        NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context).setValue(
          "one", forKey: "name")
      }
      try context.save()
    }
    try coordinator.remove(store)
    return url
  }

  private static func add(
    _ url: URL, _ model: NSManagedObjectModel, type: String = NSSQLiteStoreType, infers: Bool = true,
    _ more: [AnyHashable: Any] = [:]
  ) throws {
    let options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: infers,
    ]
    _ = try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: options.merging(more) { $1 })
  }

  private static func migrate(_ url: URL, to target: URL, _ change: (NSEntityMapping) -> Void) throws {
    let (old, new) = (model(["name"]), model(["name", "note"]))
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    mapping.entityMappings.forEach(change)
    try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
      from: url, type: .sqlite, mapping: mapping, to: target, type: .sqlite)
  }

  static let migrations: [Sample] = [
    Sample("NSMigrationError", 134110, ["Thing", "nome"]) {
      let url: URL = try makeStore()
      try migrate(url, to: url.appendingPathExtension("new")) {
        $0.attributeMappings?.first?.valueExpression = NSExpression(format: "$source.nome")
      }
    },
    Sample("NSMigrationConstraintViolationError", 134111, ["old.store", "Thing", "name"]) {
      try add(try makeStore(), model(["name"]) { $0.uniquenessConstraints = [["name"]] })
    },
    Sample("NSMigrationCancelledError", 134120, ["old.store"]) {
      let url: URL = try makeStore()
      let progress = Progress(totalUnitCount: 1)
      progress.cancel()
      progress.becomeCurrent(withPendingUnitCount: 1)
      defer { progress.resignCurrent() }
      try add(url, model(["name", "note"]))
    },
    Sample("NSMigrationMissingSourceModelError", 134130, ["old.store", "Thing"]) {
      try add(try makeStore(NSXMLStoreType), model(["note"]), type: NSXMLStoreType)
    },
    Sample("NSMigrationMissingMappingModelError", 134140, ["old.store"]) {
      try add(try makeStore(), model(["name", "note"]), infers: false)
    },
    Sample("NSMigrationManagerSourceStoreError", 134150, ["none.store"]) {
      let folder = try TemporaryFolder()
      try migrate(folder.file("none.store"), to: folder.file("new.store")) { _ in }
    },
    Sample("NSMigrationManagerDestinationStoreError", 134160, ["old.store"]) {
      let url: URL = try makeStore()
      try migrate(url, to: url) { _ in }
    },
    Sample("NSEntityMigrationPolicyError", 134170, ["Nowhere.Policy", "Thing"]) {
      let url: URL = try makeStore()
      try migrate(url, to: url.appendingPathExtension("new")) {
        $0.entityMigrationPolicyClassName = "Nowhere.Policy"
      }
    },
    Sample("NSInferredMappingModelError", 134190, ["Thing.code"]) {
      let code = World.attribute("code", .stringAttributeType, optional: false)
      try add(try makeStore(), model(["name"]) { $0.properties.append(code) })
    },
    Sample("NSManagedObjectModelReferenceNotFoundError", 134504, ["mistyped"]) {
      let (old, new) = (model(["name"]), model(["name", "note"]))
      let stages = NSStagedMigrationManager([
        NSLightweightMigrationStage([old.versionChecksum, "mistyped", new.versionChecksum])
      ])
      try add(try makeStore(), new, [NSPersistentStoreStagedMigrationManagerOptionKey: stages])
    },
    Sample("NSStagedMigrationBackwardMigrationError", 134506, ["old.store"]) {
      let (old, new) = (model(["name"]), model(["name", "note"]))
      let url: URL = try makeStore()
      try add(url, new)
      let stages = NSStagedMigrationManager([
        NSLightweightMigrationStage([old.versionChecksum, new.versionChecksum])
      ])
      try add(url, old, [NSPersistentStoreStagedMigrationManagerOptionKey: stages])
    },
  ]
}
