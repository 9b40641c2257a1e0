import CoreData

/// A stack over a store file.
public enum ToDoStore {
  /// A container over the store at `url`, loaded: XML for a file named `….xml`, else SQLite. The store is
  /// created when there is none, and migrated when an earlier version of the program wrote it.
  ///
  /// - Throws: the error of opening the store.
  public static func open(_ url: URL) throws -> NSPersistentContainer {
    // Finds ToDo.momd, compiled from ToDo.xcdatamodeld, among the program's resources.
    try load(NSPersistentContainer(name: "ToDo"), url)
  }

  /// The same for a model that lies elsewhere, with mapping models beside it.
  ///
  /// - Throws: the error of opening the store, or of reading the model.
  public static func open(_ url: URL, model file: URL) throws -> NSPersistentContainer {
    let model = try NSManagedObjectModel.load(contentsOf: file).model
    return try load(NSPersistentContainer(name: "ToDo", managedObjectModel: model), url)
  }

  /// The compiled model with all its versions, among the program's resources.
  public static var models: URL { Bundle.module.bundleURL.appendingPathComponent("ToDo.momd") }

  private static func load(_ container: NSPersistentContainer, _ url: URL) throws -> NSPersistentContainer {
    let description = NSPersistentStoreDescription(url: url)
    if url.pathExtension == "xml" { description.type = NSXMLStoreType }
    container.persistentStoreDescriptions = [description]
    // Unless a description asks otherwise, stores are loaded before `loadPersistentStores` returns.
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }
}
