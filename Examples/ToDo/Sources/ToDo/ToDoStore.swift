import CoreData

/// The model and a stack over a store file.
public enum ToDoStore {
  /// Where the model lies: the folder Xcode made, copied beside the program.
  public static var modelURL: URL {
    Bundle.module.bundleURL.appendingPathComponent("ToDo.xcdatamodeld")
  }

  /// A container over the SQLite store at `url`, loaded. The store is created when there is none.
  ///
  /// - Throws: what reading the model or opening the store throws.
  public static func open(_ url: URL) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(
      name: "ToDo", managedObjectModel: try NSManagedObjectModel.load(contentsOf: modelURL))
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    // Unless asked otherwise a store loads before `loadPersistentStores` returns.
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }
}
