import CoreData
import Testing

/// A module on the main actor by default: classes of managed objects stay usable in blocks of any context.
@Suite
struct MainActorDefaultTests {
  @Test func `objects are made, read and changed in a background context`() async throws {
    let store = TaskStore()
    try await store.add(["b", "a"])
    #expect(store.titles == ["a", "b"])
    #expect(store.loaded)
  }
}

final class Errand: NSManagedObject {
  private static let titleKey = ManagedKey("title")
  static let entityName: String = "Errand"

  var title: String? {
    get { managedValue(Self.titleKey) }
    set { setManagedValue(newValue, Self.titleKey) }
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    title = "untitled"
  }

  class func fetchRequest() -> NSFetchRequest<Errand> { NSFetchRequest(entityName: entityName) }

  static func makeModel() -> NSManagedObjectModel {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    let entity = NSEntityDescription()
    entity.name = entityName
    entity.managedObjectClassName = NSStringFromClass(Errand.self)
    entity.properties = [title]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }
}

final class TaskStore {
  let container = NSPersistentContainer(name: "Errands", managedObjectModel: Errand.makeModel())
  private(set) var titles: [String] = []
  private(set) var loaded: Bool = false

  init() {
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in
      self.loaded = error == nil
    }
  }

  func add(_ titles: [String]) async throws {
    let background: NSManagedObjectContext = container.newBackgroundContext()
    try await background.perform {
      for title in titles {
        let errand = Errand(context: background)
        #expect(errand.title == "untitled")
        errand.title = title
      }
      try background.save()
    }
    let count: Int = try await container.performBackgroundTask { context in
      try context.fetch(Errand.fetchRequest()).map { $0.title ?? "" }.count
    }
    #expect(count == 2)
    try background.performAndWait { try background.save() }
    let request: NSFetchRequest<Errand> = Errand.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Errand.title, ascending: true)]
    self.titles = try container.viewContext.fetch(request).compactMap(\.title)
  }
}
