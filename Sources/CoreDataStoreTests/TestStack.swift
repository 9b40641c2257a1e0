import CoreData
import Foundation

/// A coordinator over one new store, and short words for what tests do with it.
final class TestStack: @unchecked Sendable {
  // Sendable: `coordinator` is replaced by `reopen` only, which no test calls while others use the stack.

  let store: StoreUnderTest
  let model: NSManagedObjectModel
  private(set) var coordinator: NSPersistentStoreCoordinator
  private let folder: URL
  private let url: URL

  init(_ store: StoreUnderTest) throws {
    self.store = store
    model = LibraryModel.make(store.features)
    folder = FileManager.default.temporaryDirectory.appending(path: "store-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = try store.place(folder)
    coordinator = try Self.open(store, model, url)
  }

  private static func open(_ store: StoreUnderTest, _ model: NSManagedObjectModel, _ url: URL) throws
    -> NSPersistentStoreCoordinator
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: store.type, configurationName: nil, at: url, options: store.options)
    return coordinator
  }

  /// Removes the store and adds it again, in a new coordinator.
  func reopen() throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    coordinator = try Self.open(store, model, url)
  }

  func end() {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
    try? FileManager.default.removeItem(at: folder)
  }

  var opened: NSPersistentStore {
    get throws { try require(coordinator.persistentStores.first, "store") }
  }

  /// Another new context.
  func context(parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
    let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    if let parent { made.parent = parent } else { made.persistentStoreCoordinator = coordinator }
    return made
  }

  /// Runs a block in a new context.
  @discardableResult
  func run<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
    let context: NSManagedObjectContext = context()
    return try context.performAndWait { try body(context) }
  }

  /// Runs a block in a new context and saves it.
  @discardableResult
  func save<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
    try run { context in
      let result: Result = try body(context)
      try context.save()
      return result
    }
  }

  /// Runs a block in a new context; then once more, in a store that was added again, if that has the same
  /// objects.
  func runTwice(_ body: (NSManagedObjectContext) throws -> Void) throws {
    try run(body)
    guard store.features.contains(.persistence) else { return }
    try reopen()
    try run(body)
  }

  /// The titles of the stored books, in the order of a fetch.
  func titles(where format: String? = nil, _ arguments: [Any] = [], sort: [String] = ["title"]) throws
    -> [String]
  {
    try run { try $0.titles(where: format, arguments, sort: sort) }
  }

  /// Inserts books of these titles and saves.
  @discardableResult
  func books(_ titles: String...) throws -> [NSManagedObjectID] {
    let made: [NSManagedObject] = try save { context in
      titles.map { context.make("Book", ["title": $0]) }
    }
    return made.map(\.objectID)
  }
}

extension NSManagedObjectContext {
  func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  func request<Result>(
    _ entity: String, where format: String? = nil, _ arguments: [Any] = [], sort: [String] = []
  ) -> NSFetchRequest<Result> {
    let request = NSFetchRequest<Result>(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
    request.sortDescriptors = sort.map { key in
      let isDescending: Bool = key.hasPrefix("-")
      return NSSortDescriptor(key: isDescending ? String(key.dropFirst()) : key, ascending: !isDescending)
    }
    return request
  }

  func objects(_ entity: String, where format: String? = nil, _ arguments: [Any] = [], sort: [String] = [])
    throws -> [NSManagedObject]
  {
    try fetch(request(entity, where: format, arguments, sort: sort))
  }

  func titles(where format: String? = nil, _ arguments: [Any] = [], sort: [String] = ["title"]) throws
    -> [String]
  {
    try objects("Book", where: format, arguments, sort: sort).map { $0.text("title") }
  }

  /// The one object of an entity.
  func one(_ entity: String, where format: String? = nil, _ arguments: [Any] = []) throws -> NSManagedObject {
    let found: [NSManagedObject] = try objects(entity, where: format, arguments)
    try expect(found.count, 1, "the number of objects of \(entity)")
    return found[0]
  }
}

extension NSManagedObject {
  func text(_ key: String) -> String { value(forKey: key) as? String ?? "nil" }

  func target(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }

  /// The texts of a key of a relationship's members, sorted; in their order for ordered relationships.
  func texts(of relationship: String, _ key: String) -> [String] {
    if let ordered = value(forKey: relationship) as? NSOrderedSet {
      return ordered.array.compactMap { ($0 as? NSManagedObject)?.text(key) }
    }
    let members: NSSet? = value(forKey: relationship) as? NSSet
    return (members?.allObjects ?? []).compactMap { ($0 as? NSManagedObject)?.text(key) }.sorted()
  }
}
