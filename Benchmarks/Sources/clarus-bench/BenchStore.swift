import CoreData

/// The common set-up of all suites: a model, a container over one file.
enum BenchStore {
  /// A model that the build has compiled, with its generated classes: `Items`, `People` or `Folders`.
  static func model(_ name: String) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(contentsOf: Bundle.module.bundleURL.appendingPathComponent("\(name).mom"))
      .model
  }

  static func open(_ url: URL, _ model: NSManagedObjectModel) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Benchmark", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  static func close(_ container: NSPersistentContainer) throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}
