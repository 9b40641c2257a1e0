import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// A whole stack: model, coordinator, stores, and a context for the main queue.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Shop")
/// container.loadPersistentStores { description, error in
///   if let error { fatalError("\(error)") }
/// }
/// let items = try container.viewContext.fetch(NSFetchRequest<Item>(entityName: "Item"))
/// ```
///
/// See Apple's page
/// [NSPersistentContainer](https://developer.apple.com/documentation/coredata/nspersistentcontainer).
nonisolated open class NSPersistentContainer: NSObject, @unchecked Sendable {
  // Sendable: immutable except for the descriptions, which are set up before the container is shared.

  private let ownName: String
  private let ownModel: NSManagedObjectModel
  private let ownCoordinator: NSPersistentStoreCoordinator
  private let ownContext: NSManagedObjectContext

  open var name: String { ownName }
  open var managedObjectModel: NSManagedObjectModel { ownModel }
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator { ownCoordinator }
  /// The context of the main queue.
  open var viewContext: NSManagedObjectContext { ownContext }
  /// The stores that `loadPersistentStores` opens; one SQLite store `<name>.sqlite` in
  /// ``defaultDirectoryURL()`` unless set.
  open var persistentStoreDescriptions: [NSPersistentStoreDescription]

  /// Loads the model called `name` (`.momd`, `.mom`, `.xcdatamodeld` or `.xcdatamodel`) from the main bundle,
  /// its resource bundles, or the folder of the executable. A missing model stops the program with the places
  /// searched; to handle that, load it with `NSManagedObjectModel.load(contentsOf:)` and pass it to
  /// ``init(name:managedObjectModel:)``.
  public convenience init(name: String) {
    self.init(name: name, managedObjectModel: ModelSearch.model(named: name))
  }

  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    // Not the properties, which a subclass may override.
    ownName = name
    ownModel = model
    ownCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    ownContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    ownContext.persistentStoreCoordinator = ownCoordinator
    ownContext.name = "viewContext"
    persistentStoreDescriptions = [
      NSPersistentStoreDescription(
        url: Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite"))
    ]
  }

  /// The folder of stores unless a description has another URL: in the application-support folder of the
  /// user, named after the program. Created when a store is loaded.
  open class func defaultDirectoryURL() -> URL {
    let base: URL =
      FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
      ?? FileManager.default.temporaryDirectory
    return base.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
  }

  /// Opens the described stores, and calls the handler once for each: before this returns, or later for
  /// descriptions with `shouldAddStoreAsynchronously`. An error does not stop the other stores.
  ///
  /// Called on the main queue, this calls the handler there too, so do not block the main thread until the
  /// call.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      if let folder = description.folderOfNewStore, !FileManager.default.fileExists(atPath: folder.path) {
        do {
          try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
          let cause = error as NSError
          let message = ErrorMessage(
            "The folder \(folder.path) for the store \(description.url?.lastPathComponent ?? "") can't be created: "
              + ErrorMessage.reason(of: error),
            advice: "Create it, or give the store's description a URL in a folder that permits writing.")
          block(description, message.cocoaError(cause.code, cause.userInfo))
          continue
        }
      }
      persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
    }
  }

  /// A context with a queue of its own, for work off the main queue.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs a block with a new background context on that context's queue. The block is not isolated to the
  /// actor in whose code it is written, see ``NSManagedObjectContext/perform(_:)``.
  @preconcurrency open func performBackgroundTask(
    _ block: @escaping @Sendable (NSManagedObjectContext) -> Void
  ) {
    let context: NSManagedObjectContext = newBackgroundContext()
    context.perform { block(context) }
  }

  /// The same, suspending until the block has run; returns or rethrows the block's result.
  @preconcurrency public final func performBackgroundTask<T, E: Error>(
    isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (NSManagedObjectContext) throws(E) -> T
  ) async throws(E) -> T {
    let context: NSManagedObjectContext = newBackgroundContext()
    return try await context.perform(schedule: .enqueued) { () throws(E) -> T in try block(context) }
  }
}
