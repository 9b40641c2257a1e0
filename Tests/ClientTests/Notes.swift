import CoreData

/// A program's model and class, as a Swift 6 module writes them.
final class Note: NSManagedObject {
  private static let textKey = ManagedKey("text")
  private static let rankKey = ManagedKey("rank")

  var text: String? {
    get { managedValue(Self.textKey) }
    set { setManagedValue(newValue, Self.textKey) }
  }
  var rank: Int64 {
    get { managedValue(Self.rankKey) }
    set { setManagedValue(newValue, Self.rankKey) }
  }

  class func fetchRequest() -> NSFetchRequest<Note> { NSFetchRequest(entityName: "Note") }

  static func makeModel() -> NSManagedObjectModel {
    let text = NSAttributeDescription()
    text.name = "text"
    text.attributeType = .stringAttributeType
    text.isOptional = true
    let rank = NSAttributeDescription()
    rank.name = "rank"
    rank.attributeType = .integer64AttributeType
    rank.defaultValue = 0
    let entity = NSEntityDescription()
    entity.name = "Note"
    entity.managedObjectClassName = NSStringFromClass(Note.self)
    entity.properties = [text, rank]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  /// A container that is to load one SQLite store in a folder of its own; `asynchronously`:
  /// on another thread.
  static func makeContainer(asynchronously: Bool = false) -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: makeModel())
    let folder: URL = FileManager.default.temporaryDirectory.appendingPathComponent(
      "notes-\(UUID().uuidString)")
    let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("Notes.sqlite"))
    description.shouldAddStoreAsynchronously = asynchronously
    container.persistentStoreDescriptions = [description]
    return container
  }

  static func loadedContainer() -> NSPersistentContainer {
    let container: NSPersistentContainer = makeContainer()
    container.loadPersistentStores { _, error in
      if let error { fatalError("\(error)") }
    }
    return container
  }
}
