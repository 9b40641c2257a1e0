import CoreData

/// A stack over a store file.
public enum ToDoStore {
  /// A container over the SQLite store at `url`, loaded. The store is created when there is none.
  ///
  /// - Throws: the error of opening the store.
  public static func open(_ url: URL) throws -> NSPersistentContainer {
    // Finds ToDo.xcdatamodeld among the program's resources.
    let container = NSPersistentContainer(name: "ToDo")
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    // Unless a description asks otherwise, stores are loaded before `loadPersistentStores` returns.
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }
}
