import CoreData
import CoreDataPredicates
import CoreDataStorage
import Foundation
import ProgramStores
import TestSupport
import Testing

/// The store kinds that the behaviour suite runs over.
public enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case sqlite, sqliteInMemory, inMemory, xml, binary
  /// Stores as programs write them: `ListStore` and `RecordStore`.
  case atomic, incremental

  /// Those of the suites that run over stores of any kind: in a soak all that the framework implements, else
  /// the two that differ most. Stores that are one file are the store in memory with a format.
  public static let allCases: [StoreKind] =
    Soak.isOn ? [.sqlite, .inMemory, .xml, .binary] : [.sqlite, .inMemory]
  /// For the suites in which the kind could make a difference: `make store-table` prints what each of their
  /// tests came to with each kind.
  public static let every: [StoreKind] = [
    .sqlite, .sqliteInMemory, .inMemory, .xml, .binary, .atomic, .incremental,
  ]
  /// Those that the framework reads and writes row by row. An incremental store of a program executes
  /// requests itself: it answers dictionaries, compares decimals, checks uniqueness constraints and derives
  /// attributes, or does not; the framework passes the request on.
  public static let computing: [StoreKind] = every.filter { $0 != .incremental }
  /// Those whose objects the framework numbers: a program's store names its objects by reference objects,
  /// with URIs and ids of their own (`ReferenceTests`).
  public static let numbering: [StoreKind] = every.filter { !$0.isOfProgram }
  /// Those whose fetches read values. A fetch from an incremental store returns ids: its objects are faults
  /// without a row.
  public static let fetchingRows: [StoreKind] = every.filter { $0 != .incremental }
  /// Those that keep composite attributes.
  public static let composite: [StoreKind] = [.sqlite, .inMemory]

  public var testDescription: String { rawValue }

  public var type: String {
    switch self {
    case .sqlite, .sqliteInMemory: NSSQLiteStoreType
    case .inMemory: NSInMemoryStoreType
    case .xml: NSXMLStoreType
    case .binary: NSBinaryStoreType
    case .atomic: Self.atomicType
    case .incremental: Self.incrementalType
    }
  }

  private static let atomicType: String = registered(ListStore.self, ListStore.storeType)
  private static let incrementalType: String = registered(RecordStore.self, RecordStore.storeType)

  private static func registered(_ storeClass: NSPersistentStore.Type, _ type: String) -> String {
    NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: type)
    return type
  }

  /// The number of the first object.
  public var firstKey: Int { self == .xml ? 102 : 1 }

  /// Whether the store is one file, read and written as a whole.
  public var isAtomic: Bool { self == .xml || self == .binary }

  /// Whether the store is of a class of the program, which names its objects.
  public var isOfProgram: Bool { self == .atomic || self == .incremental }

  /// The place of a store in a folder; nil if the kind has no files.
  public func url(_ name: String, in folder: TemporaryFolder) -> URL? {
    switch self {
    case .inMemory: nil
    case .sqliteInMemory: URL(fileURLWithPath: "/dev/null")
    default: folder.file("\(name).\(rawValue)")
    }
  }
}

/// A coordinator over one fresh store, and contexts above it.
public final class Stack {
  public let folder: TemporaryFolder
  public let kind: StoreKind
  public let coordinator: NSPersistentStoreCoordinator
  public let store: NSPersistentStore
  /// The first context; `run` works in it.
  public let context: NSManagedObjectContext
  /// What happened to the objects of `context`, as text.
  public let journal = Journal()

  public convenience init(_ kind: StoreKind, model: NSManagedObjectModel = World.shared) throws {
    try self.init(setting: StoreSetting(kind), model: model)
  }

  public init(setting: StoreSetting, model: NSManagedObjectModel = World.shared) throws {
    kind = setting.kind
    folder = try TemporaryFolder()
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    store = try setting.addStore(to: coordinator, in: folder)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.userInfo["journal"] = journal
  }

  /// Another context of the same coordinator.
  public func other() -> NSManagedObjectContext {
    let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    made.persistentStoreCoordinator = coordinator
    return made
  }

  /// A context of another coordinator over the same file: what it saves is, to this stack,
  /// another process's doing.
  public func stranger() throws -> NSManagedObjectContext {
    let second = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
    _ = try second.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("World.sqlite"),
      options: store.options)
    let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    made.persistentStoreCoordinator = second
    return made
  }

  /// The titles of the stored items.
  public func titles(_ predicate: NSPredicate? = nil) throws -> [String?] {
    try elsewhere { try $0.all(Item.self, "Item", predicate, sort: ["title"]).map(\.title) }
  }

  /// The number of stored objects of an entity.
  public func count(_ entity: String) throws -> Int {
    try elsewhere { try $0.count(for: $0.request(NSManagedObject.self, entity)) }
  }

  public func run<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
    try context.performAndWait { try body(context) }
  }

  /// Runs in a context that has seen nothing yet.
  public func elsewhere<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
    let context: NSManagedObjectContext = other()
    return try context.performAndWait { try body(context) }
  }
}

/// Collects what objects are told, and runs what a test wants to happen inside callbacks.
public final class Journal: NSObject {
  public var lines: [String] = []
  public var onWillSave: ((NSManagedObject) -> Void)?
  public var onDidSave: ((NSManagedObject) -> Void)?
  public var onAwakeFromFetch: ((NSManagedObject) -> Void)?

  public func count(_ line: String) -> Int { lines.count { $0 == line } }
}

/// Records the notifications of one object while it lives.
public final class Recorder: @unchecked Sendable {
  // Sendable: observers run on the queue that posts, which is the one that reads what was received.
  public private(set) var received: [Notification] = []
  private var tokens: [NSObjectProtocol] = []

  public init(_ names: [Notification.Name], of object: AnyObject, then: ((Notification) -> Void)? = nil) {
    for name in names {
      nonisolated(unsafe) let then = then
      tokens.append(
        NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [weak self] in
          self?.received.append($0)
          then?($0)
        })
    }
  }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

  public var names: [Notification.Name] { received.map(\.name) }

  public func objects(_ key: String, at place: Int = 0) -> Set<NSManagedObject> {
    guard place < received.count else { return [] }
    return received[place].userInfo?[key] as? Set<NSManagedObject> ?? []
  }
}

extension NSManagedObjectContext {
  /// Fetches by entity name, with a predicate and sort keys (`-key` for descending).
  public func all<T: NSManagedObject>(
    _ type: T.Type = T.self, _ entity: String, _ predicate: NSPredicate? = nil, sort: [String] = []
  ) throws -> [T] {
    try fetch(request(type, entity, predicate, sort: sort))
  }

  public func request<T: NSFetchRequestResult>(
    _ type: T.Type = T.self, _ entity: String, _ predicate: NSPredicate? = nil, sort: [String] = []
  ) -> NSFetchRequest<T> {
    let request = NSFetchRequest<T>(entityName: entity)
    request.predicate = predicate
    request.sortDescriptors = sort.map { key in
      NSSortDescriptor(
        key: key.hasPrefix("-") ? String(key.dropFirst()) : key, ascending: !key.hasPrefix("-"))
    }
    return request
  }

  public func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  public func item(_ title: String?, _ category: Category? = nil) -> Item {
    let item = Item(context: self)
    item.title = title
    if let category { item.category = category }
    return item
  }

  public func category(_ name: String) -> Category {
    let category = Category(context: self)
    category.name = name
    return category
  }
}

/// Runs `body` and gives the `CocoaError`-domain code that it throws; 0 when it throws nothing.
public func codeThrown(_ body: () throws -> Void) -> Int {
  do {
    try body()
    return 0
  } catch let error as NSError {
    return error.domain == NSCocoaErrorDomain ? error.code : -1
  }
}

/// The error that `body` throws.
public func errorThrown(_ body: () throws -> Void) -> NSError? {
  do {
    try body()
    return nil
  } catch {
    return error as NSError
  }
}

public func url(_ text: String) -> URL {
  guard let url = URL(string: text) else { preconditionFailure("\(text) is no URL") }
  return url
}
