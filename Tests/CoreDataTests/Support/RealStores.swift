import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport

/// The collection of real files, which is not part of the repository.
enum RealStores {
  static let folder: URL? = SharedFiles.fixtures.map { $0.appendingPathComponent("stores-sqlite") }

  /// The stores that carry their model, by path below the collection.
  static let withModel: [String] = {
    guard let folder else { return [] }
    return SharedFiles.stores.filter { path in
      let url: URL = folder.appendingPathComponent(path)
      return ((try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)) ?? nil) != nil
    }
  }()

  /// A copy with its journal, for tests that write: without the history that would make it
  /// read-only, unless asked for.
  static func copy(_ path: String, to folder: TemporaryFolder, keepsHistory: Bool = false) throws -> URL {
    guard let source = self.folder?.appendingPathComponent(path) else { throw CocoaError(.fileNoSuchFile) }
    let target: URL = folder.file(source.lastPathComponent)
    for suffix in ["", "-wal", "-shm"] {
      guard let data = FileManager.default.contents(atPath: source.path + suffix) else { continue }
      try data.write(to: URL(fileURLWithPath: target.path + suffix))
    }
    if !keepsHistory { try dropHistory(target) }
    return target
  }

  private static func dropHistory(_ url: URL) throws {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    guard try queue.read({ try $0.tableExists("ACHANGE") }) else { return }
    try queue.write { database in
      for table in ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"] {
        try database.execute(sql: "DROP TABLE IF EXISTS \(table)")
      }
      try database.execute(sql: "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
    }
  }

  /// The model a store carries, ready for a coordinator: classes that this process does not have become plain
  /// ones, and where the store holds only some of its entities, these are the configuration "Held".
  static func model(at url: URL) throws -> (model: NSManagedObjectModel, configuration: String?) {
    guard
      let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)?.copy()
        as? NSManagedObjectModel
    else {
      throw CocoaError(.fileReadCorruptFile)
    }
    for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
    let metadata: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url)
    guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data],
      Set(hashes.keys) != Set(model.entitiesByName.keys)
    else { return (model, nil) }
    model.setEntities(model.entities.filter { hashes[$0.name ?? ""] != nil }, forConfigurationName: "Held")
    return (model, "Held")
  }

  static func open(
    _ url: URL, _ change: (NSManagedObjectModel) -> Void = { _ in }
  ) throws -> NSManagedObjectContext {
    let (model, configuration) = try model(at: url)
    change(model)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: configuration, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}

extension NSManagedObjectContext {
  /// The concrete entities that the store holds.
  var heldEntities: [NSEntityDescription] {
    let model: NSManagedObjectModel? = persistentStoreCoordinator?.managedObjectModel
    let held: [NSEntityDescription] =
      model?.entities(forConfigurationName: "Held") ?? model?.entities ?? []
    return held.filter { !$0.isAbstract }.sorted { $0.name ?? "" < $1.name ?? "" }
  }
}
