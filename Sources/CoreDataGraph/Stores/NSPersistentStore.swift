import CoreDataModel
import CoreDataStorage
import Foundation

/// A store that a coordinator has opened: one file, or one set of rows in memory.
///
/// See Apple's page [NSPersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstore).
open class NSPersistentStore: NSObject, @unchecked Sendable {
  // Sendable: immutable but for metadata, which the engine guards, and the weak coordinator.

  final let engine: any StoreEngine
  final let runtime: ModelRuntime
  /// Distinguishes the stores of a process in identity maps; 0 stands for objects without a store.
  final let ordinal: Int
  private let storeType: String

  public final let configurationName: String
  public final let options: [AnyHashable: Any]?
  public final internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  /// The file; nil for a store in memory.
  public final let url: URL?

  init(
    coordinator: NSPersistentStoreCoordinator, engine: any StoreEngine, ordinal: Int, type: String,
    configuration: String?, url: URL?, options: [AnyHashable: Any]?
  ) {
    self.engine = engine
    self.ordinal = ordinal
    runtime = coordinator.runtime
    storeType = type
    configurationName = configuration ?? "PF_DEFAULT_CONFIGURATION_NAME"
    self.options = options
    self.url = url
    super.init()
    persistentStoreCoordinator = coordinator
  }

  /// One of the `NS…StoreType` constants.
  public final var type: String { storeType }
  /// The store's UUID, upper case.
  public final var identifier: String { engine.identifier }
  public final var isReadOnly: Bool { engine.isReadOnly }

  /// The metadata: Apple's keys and the program's own. Setting it is written with the next save; the keys for type, UUID and
  /// version hashes are kept right by the store.
  public final var metadata: [String: Any]! {
    get { engine.metadata }
    set {
      do {
        try engine.setMetadata(newValue ?? [:])
      } catch {
        fatalError(
          "The metadata of \(self) can't be set: \(error). Metadata holds property list values only.")
      }
    }
  }

  /// False once the store was removed (or its coordinator is gone).
  final var isInCoordinator: Bool { persistentStoreCoordinator != nil }

  /// Whether the store's configuration holds an entity.
  final func holds(_ runtime: EntityRuntime) -> Bool {
    guard let entities = self.runtime.layout.model.entities(forConfigurationName: configurationName) else {
      return true
    }
    return entities.contains { $0.name == runtime.layout.name }
  }

  open override var description: String {
    "<NSPersistentStore \(storeType) \(url?.path ?? "in memory") \(identifier)>"
  }
}

extension NSPersistentStore {
  /// A store type, in the modern spelling.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    public static let xml = StoreType(rawValue: NSXMLStoreType)
  }
}
