import CoreData
import Testing

// snippet class
final class Recipe: NSManagedObject {
  // Apple:  @NSManaged var title: String?
  private static let titleKey = ManagedKey("title")
  var title: String? {
    get { managedValue(Self.titleKey) }
    set { setManagedValue(newValue, Self.titleKey) }
  }

  // Apple:  the generated fetchRequest(), with @nonobjc
  class func fetchRequest() -> NSFetchRequest<Recipe> { NSFetchRequest(entityName: "Recipe") }
}
// end

// snippet generic
protocol Stored: NSManagedObject {
  static var entityName: String { get }
}

extension Stored {
  // Apple:  request as! NSFetchRequest<Self>. Swift's generic classes can't be cast; make the right one.
  static func sorted(by key: String) -> NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
    return request
  }
}

extension Recipe: Stored {
  static var entityName: String { "Recipe" }
}
// end

// snippet transformer
final class TagsTransformer: ValueTransformer {
  // Apple: any init. Here a transformer that a model names is made with init(); give it what it needs by
  // static members.
  override class func allowsReverseTransformation() -> Bool { true }

  override func transformedValue(_ value: Any?) -> Any? {
    (value as? [String]).map { Data($0.joined(separator: "\n").utf8) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(decoding: $0, as: UTF8.self).components(separatedBy: "\n") }
  }
}
// end

@MainActor @Suite struct PortingTests {
  private func makeContext() throws -> NSManagedObjectContext {
    let entity = NSEntityDescription()
    entity.name = "Recipe"
    entity.managedObjectClassName = NSStringFromClass(Recipe.self)
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    let tags = NSAttributeDescription()
    tags.name = "tags"
    tags.attributeType = .transformableAttributeType
    tags.valueTransformerName = "Tags"
    entity.properties = [title, tags]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `requests of a protocol's own type are made, not cast`() throws {
    let context = try makeContext()
    for title in ["Soup", "Bread"] { Recipe(context: context).title = title }
    try context.save()
    #expect(try context.fetch(Recipe.sorted(by: "title")).map(\.title) == ["Bread", "Soup"])
  }

  @Test func `transformers are registered by name`() throws {
    // snippet register
    ValueTransformer.setValueTransformer(TagsTransformer(), forName: NSValueTransformerName("Tags"))
    // end
    let context = try makeContext()
    let recipe = Recipe(context: context)
    recipe.setValue(["hot", "quick"], forKey: "tags")
    try context.save()
    context.refreshAllObjects()
    #expect(recipe.value(forKey: "tags") as? [String] == ["hot", "quick"])
  }

  @Test func `values are arguments`() {
    let id = UUID()
    // snippet arguments
    // As on Apple's platforms: values and objects are arguments, also in lists of C's kind.
    let some = NSPredicate(format: "id == %@ AND name IN %@", id as CVarArg, ["Soup", "Stew"] as CVarArg)
    func matching(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
      withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
    }
    // end
    #expect(some.evaluate(with: ["id": id, "name": "Stew"] as [String: Any]))
    #expect(matching("id == %@", id).evaluate(with: ["id": id]))
  }

  @Test func `stores are backed up, exported and destroyed`() throws {
    let folder: URL = FileManager.default.temporaryDirectory.appendingPathComponent(
      "porting-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (url, backup, export) = (
      folder.appendingPathComponent("Recipes.sqlite"), folder.appendingPathComponent("Backup.sqlite"),
      folder.appendingPathComponent("Export.sqlite")
    )
    let context = try makeContext()
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    try coordinator.remove(coordinator.persistentStores[0])
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    func add(_ title: String) throws {
      Recipe(context: context).title = title
      try context.save()
    }
    func titles() throws -> [String?] { try context.fetch(Recipe.sorted(by: "title")).map(\.title) }
    try add("Soup")
    // snippet backup
    // A backup; the source may be open and written to. Where nothing is yet, "replace" makes a store.
    try coordinator.replacePersistentStore(at: backup, withPersistentStoreFrom: url, type: .sqlite)
    // Putting it back takes the store out of the coordinator: its objects are those of another time.
    try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup, type: .sqlite)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    // end
    try add("Bread")
    #expect(try titles() == ["Bread", "Soup"])
    let store: NSPersistentStore = coordinator.persistentStores[0]
    // snippet export
    // "Save as": the new store has the old one's place, and the objects of contexts are its objects,
    // with new ids.
    let exported = try coordinator.migratePersistentStore(store, to: export, type: .sqlite)
    // end
    #expect(coordinator.persistentStores == [exported])
    #expect(try titles() == ["Bread", "Soup"])
    // snippet destroy
    // Everything goes; an empty file stays, as on Apple's systems. The store leaves the coordinator.
    try coordinator.destroyPersistentStore(at: export, type: .sqlite)
    try coordinator.addPersistentStore(type: .sqlite, at: export)
    // end
    #expect(try titles() == [])
  }

  @Test func `an observer is a closure`() throws {
    let context = try makeContext()
    let recipe = Recipe(context: context)
    var titles: [String?] = []
    // snippet observe
    // Apple:  recipe.addObserver(self, forKeyPath: "title", …), or publisher(for: \.title)
    let observation = recipe.observe(\.title, options: [.new]) { recipe, _ in titles.append(recipe.title) }
    // end
    recipe.title = "Soup"
    observation.invalidate()
    recipe.title = "Bread"
    #expect(titles == ["Soup"])
  }

  @Test func `a notification is received by a closure`() throws {
    let context = try makeContext()
    nonisolated(unsafe) var saves: Int = 0
    // snippet notification
    // Apple: addObserver(self, selector: #selector(contextDidSave), name: .NSManagedObjectContextDidSave,
    // object: context)
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { notification in
      if notification.userInfo?[NSInsertedObjectsKey] != nil { saves += 1 }
    }
    // end
    Recipe(context: context).title = "Soup"
    try context.save()
    NotificationCenter.default.removeObserver(token)
    #expect(saves == 1)
  }

  @Test func `keys are strings`() throws {
    let context = try makeContext()
    Recipe(context: context).title = "Soup"
    // snippet keys
    // Apple: NSSortDescriptor(key: #keyPath(Recipe.title), ascending: true), NSPredicate(format: "%K == %@",
    // #keyPath(Recipe.title), "Soup")
    let request = Recipe.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Recipe.title, ascending: true)]
    request.predicate = NSPredicate(format: "%K == %@", "title", "Soup")
    // end
    #expect(try context.fetch(request).count == 1)
  }
}
