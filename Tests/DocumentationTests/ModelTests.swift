import CoreData
import Testing

@MainActor @Suite struct ModelTests {
  @Test func `a model is read by its path, and used`() throws {
    let url: URL = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Examples/ToDo/Sources/ToDo/ToDo.xcdatamodeld")
    // snippet read
    guard let model = NSManagedObjectModel(contentsOf: url) else { fatalError("no model at \(url.path)") }
    let container = NSPersistentContainer(name: "Shop", managedObjectModel: model)
    // end
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: container.viewContext)
    item.setValue("Lamp", forKey: "title")
    try container.viewContext.save()
    #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 1)
  }
}
